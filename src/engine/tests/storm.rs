//! Surroundings that do everything in random order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use proptest::prelude::*;

use super::hand::*;
use crate::engine::Engine;
use crate::engine::call::STOP_LIMIT_MS;
use crate::engine::event::{CallEvent, ChatEvent, ChatId, ChatSettings, Event, RequestedCall};
use crate::engine::saved::{self, Recorder};
use crate::gate::FACT_LIMIT_MS;
use crate::gate::approvals::Approval;
use crate::message::{Message, Role};
use crate::output::{Keep, Limits};
use crate::tool::CallId;

/// The longest that a call waits for anything but the user.
const CALM_STEP_MS: u64 = if STOP_LIMIT_MS > FACT_LIMIT_MS { STOP_LIMIT_MS } else { FACT_LIMIT_MS };

/// Surroundings that perform effects at random moments with random outcomes (see `storm_performers.rs`), while the user does
/// random things.
pub struct Storm {
    pub engine: Engine,
    pub now_ms: u64,
    pub choices: VecDeque<u32>,
    /// Replies that must come, in order, as the pump would bring them.
    pub queue: VecDeque<Event>,
    /// Things that may happen at any time, or never.
    pub loose: Vec<Event>,
    pub calls_made: u32,
    pub asked: BTreeSet<CallId>,
    pub set_up: BTreeMap<CallId, bool>,
    pub exits: BTreeMap<CallId, u32>,
    pub finished: BTreeMap<CallId, u32>,
    pub added: BTreeMap<CallId, ChatId>,
    pub turns: BTreeMap<ChatId, i32>,
    pub closed: BTreeSet<ChatId>,
    pub stopping: BTreeSet<ChatId>,
    pub delivered: BTreeSet<(CallId, usize)>,
    /// The copy that calls in a row share, by the call that it was made for.
    pub kept: BTreeMap<ChatId, CallId>,
    pub judging: BTreeSet<CallId>,
    pub saved: BTreeSet<Approval>,
    /// The histories as the effects tell them.
    pub told: BTreeMap<ChatId, Vec<Arc<Message>>>,
    pub recorder: Recorder,
    /// The chats as they would be saved.
    pub files: BTreeMap<ChatId, Vec<u8>>,
}

impl Storm {
    fn new(choices: Vec<u32>) -> Self {
        Self {
            engine: Engine::default(),
            now_ms: 0,
            choices: choices.into(),
            queue: VecDeque::new(),
            loose: Vec::new(),
            calls_made: 0,
            asked: BTreeSet::new(),
            set_up: BTreeMap::new(),
            exits: BTreeMap::new(),
            finished: BTreeMap::new(),
            added: BTreeMap::new(),
            turns: BTreeMap::new(),
            closed: BTreeSet::new(),
            stopping: BTreeSet::new(),
            delivered: BTreeSet::new(),
            kept: BTreeMap::new(),
            judging: BTreeSet::new(),
            saved: BTreeSet::new(),
            told: BTreeMap::new(),
            recorder: Recorder::default(),
            files: BTreeMap::new(),
        }
    }

    /// A number below `bound`; 0 once the choices are used up, so that everything ends.
    pub fn choose(&mut self, bound: u32) -> u32 {
        self.choices.pop_front().map_or(0, |choice| choice % bound)
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Addressed { chat, event: ChatEvent::Stopped } if self.engine.is_idle(chat) == Some(false) => {
                self.stopping.insert(chat);
            }
            Event::Addressed { event: ChatEvent::Call { call, event: CallEvent::CmdFinished { cmd, .. } }, .. }
            | Event::Addressed {
                event: ChatEvent::Call { call, event: CallEvent::CommandFinished { cmd, .. } }, ..
            } => {
                self.delivered.insert((call, cmd));
            }
            _ => {}
        }
        let effects = self.engine.handle(self.now_ms, event);
        for effect in effects {
            self.perform(effect);
        }
        self.stopping.retain(|chat| self.engine.is_idle(*chat) == Some(false));
    }

    pub fn check_history(&self, chat: ChatId) {
        let history = self.engine.history(chat).expect("a chat that sends exists");
        let told = self.told.get(&chat).map_or(&[][..], Vec::as_slice);
        assert_eq!(history.messages(), told, "the effects tell the whole history");
        let saved = saved::load(self.files.get(&chat).map_or(&[], Vec::as_slice)).restored;
        assert_eq!(&saved.history, history, "the file tells the whole history");
        assert_eq!((saved.skipped, saved.interrupted, saved.not_run.len() + saved.unknown.len()), (0, false, 0));
        let mut awaited: VecDeque<&str> = VecDeque::new();
        let mut ids = BTreeSet::new();
        for message in history.messages() {
            match message.as_ref() {
                Message::Tool { wire_id, content, .. } => {
                    assert_eq!(awaited.pop_front(), Some(wire_id.as_str()), "results in call order");
                    assert!(!content.is_empty());
                }
                other => {
                    assert!(awaited.is_empty(), "results right after their message");
                    if let Message::Llm { calls, .. } = other {
                        assert!(calls.iter().all(|call| ids.insert(call.wire_id.clone())), "ids are unique");
                        awaited.extend(calls.iter().map(|call| call.wire_id.as_str()));
                    }
                }
            }
        }
        assert!(awaited.is_empty(), "every call has its result");
    }

    /// One step: a reply that is due, something loose in any order, or something the user does.
    fn step(&mut self, chats: &[ChatId]) {
        let chat = chats[self.choose(chats.len() as u32) as usize];
        let event = match self.choose(16) {
            0..=6 if !self.queue.is_empty() => self.queue.pop_front(),
            7..=10 if !self.loose.is_empty() => {
                let at = self.choose(self.loose.len() as u32) as usize;
                Some(self.loose.swap_remove(at))
            }
            11 => Some(Event::chat(chat, ChatEvent::Submitted)),
            12 => Some(match self.choose(9) {
                7 => Event::chat(chat, ChatEvent::PermissionsLoaded(permissions())),
                5 => Event::chat(chat, ChatEvent::Retried),
                6 => Event::chat(chat, ChatEvent::LastMessageTaken),
                0 => Event::chat(chat, ChatEvent::Stopped),
                1 => Event::chat(chat, ChatEvent::CallSkipped),
                2 => Event::chat(chat, ChatEvent::Cleared),
                3 if self.choose(4) == 3 => Event::chat(chat, ChatEvent::Closed),
                4 => Event::chat(
                    chat,
                    ChatEvent::MessageGiven {
                        role: Role::User,
                        content: "given".into(),
                        visible: false,
                        attachments: vec![],
                    },
                ),
                _ => {
                    let call = RequestedCall { wire_id: String::new(), name: "one".into(), arguments: "{}".into() };
                    let tools = Arc::from([tool("one", false)]);
                    Event::chat(
                        chat,
                        ChatEvent::CallsRequested { calls: vec![call], tools, submit: self.choose(2) == 1 },
                    )
                }
            }),
            13 => {
                self.now_ms += u64::from(self.choose(200));
                Some(Event::TimePassed)
            }
            // Something that already happened happens again.
            14 if !self.loose.is_empty() => {
                let at = self.choose(self.loose.len() as u32) as usize;
                Some(self.loose[at].clone())
            }
            _ => self.queue.pop_front(),
        };
        if let Some(event) = event {
            self.handle(event);
        }
    }

    /// Lets everything come to its end: all that is due or loose arrives, then time passes, then the user stops.
    fn calm(&mut self, chats: &[ChatId]) {
        self.choices.clear();
        for _ in 0..100_000 {
            if let Some(event) = self.queue.pop_front() {
                self.handle(event);
            } else if !self.loose.is_empty() {
                let event = self.loose.remove(0);
                self.handle(event);
            } else if self.engine.next_deadline_ms().is_some_and(|at| at <= self.now_ms + CALM_STEP_MS) {
                self.now_ms += CALM_STEP_MS;
                self.handle(Event::TimePassed);
            } else if let Some(&chat) = chats.iter().find(|chat| self.engine.is_idle(**chat).is_some_and(|idle| !idle))
            {
                self.handle(Event::chat(chat, ChatEvent::Stopped));
                assert!(
                    !self.queue.is_empty()
                        || self.engine.is_idle(chat) != Some(false)
                        || self.engine.next_deadline_ms().is_some_and(|at| at <= self.now_ms + CALM_STEP_MS),
                    "a stopped chat waits only for replies that come, and not for long"
                );
            } else {
                return;
            }
        }
        panic!("a turn never ends");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_every_call_gets_one_result_and_every_turn_ends(
        choices in prop::collection::vec(any::<u32>(), 20..600),
        max_parallel in 1usize..4,
    ) {
        let mut storm = Storm::new(choices);
        let chats: Vec<_> = (0..2).map(|number| {
            let chat = storm.engine.next_chat();
            // Some results are too long for this.
            let limits = Limits { max_bytes: 30, ..Limits::new(Keep::Head) };
            let project = (number == 1).then(|| Arc::from("/project"));
            let settings = ChatSettings { max_parallel, limits, project, ..ChatSettings::default() };
            storm.handle(Event::chat(chat, ChatEvent::Opened(settings)));
            chat
        }).collect();
        storm.handle(Event::chat(chats[0], ChatEvent::Submitted));
        while !storm.choices.is_empty() {
            storm.step(&chats);
        }
        storm.calm(&chats);
        for chat in &chats {
            prop_assert_eq!(storm.engine.is_idle(*chat), (!storm.closed.contains(chat)).then_some(true));
            prop_assert_eq!(storm.turns.get(chat).copied().unwrap_or_default(), 0, "turns begin and end in pairs");
            if storm.engine.history(*chat).is_some() {
                storm.check_history(*chat);
            }
        }
        for call in storm.added.keys() {
            prop_assert_eq!(storm.finished.get(call), Some(&1), "{:?} ends once", call);
        }
        for (call, on_exit) in &storm.set_up {
            let exits = storm.exits.get(call).copied().unwrap_or_default();
            prop_assert_eq!(exits, u32::from(*on_exit), "on_exit of {:?}", call);
        }
        prop_assert_eq!(storm.engine.next_deadline_ms(), None);
    }
}
