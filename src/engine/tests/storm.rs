//! Surroundings that do everything in random order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use proptest::prelude::*;

use super::hand::*;
use crate::adapter::{EndReason, Item};
use crate::engine::Engine;
use crate::engine::call::STOP_LIMIT_MS;
use crate::engine::effect::{CallEffect, ChatEffect, Effect, LogLevel, Output};
use crate::engine::event::{
    Answer, CallEvent, ChatEvent, ChatId, ChatSettings, Event, OutputOutcome, RequestEvent, RequestId, RequestedCall,
};
use crate::engine::saved::{self, Note, Recorder};
use crate::gate::approvals::Approval;
use crate::gate::judge::Judged;
use crate::gate::pair::{Pair, Want};
use crate::gate::shell::BASH;
use crate::gate::{FACT_LIMIT_MS, Fact, Found};
use crate::message::{Message, Role};
use crate::output::{Keep, Limits};
use crate::tool::{ArgumentsError, CallId, CheckedCall, Copying, Defined, KeptMedia, OwnApproval};

/// The longest that a call waits for anything but the user.
const CALM_STEP_MS: u64 = if STOP_LIMIT_MS > FACT_LIMIT_MS { STOP_LIMIT_MS } else { FACT_LIMIT_MS };

/// A shell that performs effects at random moments with random outcomes, while the user does random things.
struct Storm {
    engine: Engine,
    now_ms: u64,
    choices: VecDeque<u32>,
    /// Replies that must come, in order, as the pump would bring them.
    queue: VecDeque<Event>,
    /// Things that may happen at any time, or never.
    loose: Vec<Event>,
    calls_made: u32,
    asked: BTreeSet<CallId>,
    set_up: BTreeMap<CallId, bool>,
    exits: BTreeMap<CallId, u32>,
    finished: BTreeMap<CallId, u32>,
    added: BTreeMap<CallId, ChatId>,
    turns: BTreeMap<ChatId, i32>,
    closed: BTreeSet<ChatId>,
    stopping: BTreeSet<ChatId>,
    delivered: BTreeSet<(CallId, usize)>,
    /// The copy that calls in a row share, by the call that it was made for.
    kept: BTreeMap<ChatId, CallId>,
    judging: BTreeSet<CallId>,
    saved: BTreeSet<Approval>,
    /// The histories as the effects tell them.
    told: BTreeMap<ChatId, Vec<Arc<Message>>>,
    recorder: Recorder,
    /// The chats as they would be saved.
    files: BTreeMap<ChatId, Vec<u8>>,
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
    fn choose(&mut self, bound: u32) -> u32 {
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

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Addressed { chat, effect } => {
                if let Some(record) = Note::of(&effect).and_then(|note| self.recorder.record(note)) {
                    record.write(self.files.entry(chat).or_default());
                }
                match effect {
                    ChatEffect::Call { call, effect } => self.perform_call(chat, call, effect),
                    effect => self.perform_chat(chat, effect),
                }
            }
            Effect::SaveApproval { approval, .. } => drop(self.saved.insert(approval)),
            Effect::Log { level, text } => assert_ne!(level, LogLevel::Error, "{text}"),
            Effect::Tell { .. } => {}
        }
    }

    fn perform_chat(&mut self, chat: ChatId, effect: ChatEffect) {
        match effect {
            ChatEffect::Call { .. }
            | ChatEffect::HoldInput { .. }
            | ChatEffect::AbortRequest { .. }
            | ChatEffect::FinishRequest { .. }
            | ChatEffect::ShowText { .. }
            | ChatEffect::ShowReasoning { .. }
            | ChatEffect::ShowProviderCall(_)
            | ChatEffect::StartBatch { .. }
            | ChatEffect::Notify(_) => {}
            ChatEffect::TakeInput => {
                let text = (self.choose(4) != 3).then(|| "hello".to_owned());
                self.queue.push_back(Event::chat(chat, ChatEvent::InputTaken { text, typed: None }));
            }
            ChatEffect::StartTurn => *self.turns.entry(chat).or_default() += 1,
            ChatEffect::FinishTurn { .. } => *self.turns.entry(chat).or_default() -= 1,
            ChatEffect::SendRequest { request } => {
                self.check_history(chat);
                self.answer(chat, request);
            }
            ChatEffect::CheckCalls { calls } => {
                let calls = calls.into_iter().map(|call| {
                    let arguments = match self.choose(6) {
                        5 => Err(cut_off()),
                        4 => Err(ArgumentsError::DoesNotFit("no fit".into())),
                        _ => Ok(serde_json::from_str(&call.arguments).unwrap_or_default()),
                    };
                    CheckedCall::new(call.call, arguments)
                });
                let event = Event::chat(chat, ChatEvent::CallsChecked(calls.collect()));
                self.loose.push(event);
            }
            ChatEffect::FinishBatch { .. } => {
                // One without an `on_exit` is just left.
                if let Some(copy) = self.kept.remove(&chat) {
                    assert!(!self.set_up[&copy], "`on_exit` of a shared copy has run by the end of the batch");
                }
            }
            ChatEffect::CloseChat => {
                assert!(self.closed.insert(chat), "a chat closes once");
            }
            ChatEffect::AddMessage { message } => self.told.entry(chat).or_default().push(message),
            ChatEffect::RestoreMessage { .. } | ChatEffect::RestoreCall { .. } => panic!("nothing was saved"),
            ChatEffect::TakeBackMessage => {
                let taken = self.told.entry(chat).or_default().pop();
                assert!(matches!(taken.as_deref(), Some(Message::Llm { calls, .. }) if calls.is_empty()), "{taken:?}");
            }
            ChatEffect::TruncateHistory { kept } => {
                let told = self.told.entry(chat).or_default();
                assert!(matches!(*told[kept], Message::User { visible: true, .. }), "it goes back into the input");
                told.truncate(kept);
            }
            ChatEffect::ClearChat => self.told.entry(chat).or_default().clear(),
        }
    }

    fn perform_call(&mut self, chat: ChatId, call: CallId, effect: CallEffect) {
        match effect {
            CallEffect::AddCall { .. } => {
                assert_eq!(self.added.insert(call, chat), None);
            }
            CallEffect::PrepareCall { copying, .. } => {
                if copying == Copying::Shared {
                    assert!(self.kept.contains_key(&chat), "a copy is shared that was kept");
                } else if copying == Copying::First {
                    let before = self.kept.remove(&chat);
                    assert!(before.is_none_or(|copy| !self.set_up[&copy]), "one row ends before the next begins");
                }
                let event = if self.choose(8) == 7 {
                    // The copy that was kept was set up long ago.
                    let on_exit = copying != Copying::Shared && self.choose(2) == 1;
                    if copying != Copying::Shared {
                        self.set_up.insert(call, on_exit);
                    }
                    Event::call(chat, call, CallEvent::NotPrepared { message: "setup threw".into(), on_exit })
                } else {
                    let bits = self.choose(32);
                    let defines = Defined {
                        success: bits & 1 != 0,
                        error: bits & 2 != 0,
                        rejected: bits & 4 != 0,
                        cancelled: bits & 8 != 0,
                        on_exit: bits & 16 != 0,
                    };
                    if copying != Copying::Shared {
                        self.set_up.insert(call, defines.on_exit);
                    }
                    if copying == Copying::First {
                        self.kept.insert(chat, call);
                    }
                    let approval = [OwnApproval::Run, OwnApproval::Ask, OwnApproval::Function][self.choose(3) as usize];
                    let cmds = self.choose(4) as usize;
                    let timeout_ms = (self.choose(2) == 1).then_some(100);
                    let mut preparation = preparation(cmds, defines, approval, timeout_ms);
                    let bits = self.choose(16);
                    (preparation.gate.protect, preparation.gate.by_command) = (bits & 1 != 0, bits & 2 != 0);
                    (preparation.gate.is_safe, preparation.gate.judge) = (bits & 4 != 0, bits & 8 != 0);
                    (preparation.gate.declares, preparation.gate.has_commands) = (self.choose(4) == 3, bits & 1 != 0);
                    Event::call(chat, call, CallEvent::Prepared(preparation))
                };
                self.queue.push_back(event);
            }
            CallEffect::FindFact { fact } => {
                let answer = self.choose(3) == 1;
                let found = match fact {
                    Fact::OwnApproval => Found::OwnApproval(answer),
                    Fact::CmdString => Found::CmdString(if answer { "ls" } else { "rm" }.to_owned()),
                    Fact::IsSafe => Found::IsSafe(answer),
                    Fact::JudgeContext => Found::JudgeContext(answer),
                    Fact::Rules | Fact::Pairs | Fact::Saved | Fact::Judge => panic!("{fact:?} is not Lua's"),
                };
                let found = (self.choose(3) != 2).then_some(found);
                self.queue.push_back(Event::call(chat, call, CallEvent::FactFound { fact, found }));
            }
            CallEffect::LoadPermissions => {
                // Loaded, or not; at once or late.
                let event = match self.choose(3) {
                    0 => Event::call(chat, call, CallEvent::FactFound { fact: Fact::Rules, found: None }),
                    _ => Event::chat(chat, ChatEvent::PermissionsLoaded(permissions())),
                };
                self.loose.push(event);
            }
            CallEffect::FindPairs { .. } => {
                let values = ["ls", "git push", "rm x", "git status"];
                let some = (0..self.choose(3))
                    .map(|_| Want::new(Pair::new(BASH, values[self.choose(4) as usize]), &permissions().rules))
                    .collect();
                let found = (self.choose(4) != 3).then_some(Found::Pairs(some));
                self.loose.push(Event::call(chat, call, CallEvent::FactFound { fact: Fact::Pairs, found }));
            }
            CallEffect::FindSaved { approvals, .. } => {
                let found = Some(Found::Saved(approvals.iter().all(|approval| self.saved.contains(approval))));
                self.loose.push(Event::call(chat, call, CallEvent::FactFound { fact: Fact::Saved, found }));
            }
            CallEffect::AskJudge => {
                assert!(self.judging.insert(call), "the judge is asked once");
                let judged = match self.choose(4) {
                    0 => Judged::Safe("safe".into()),
                    1 => Judged::Unsafe("unsafe".into()),
                    2 => Judged::Failed("failed".into()),
                    // Never answers: the clock does.
                    _ => return,
                };
                let found = Some(Found::Judge(judged));
                self.loose.push(Event::call(chat, call, CallEvent::FactFound { fact: Fact::Judge, found }));
            }
            CallEffect::EndJudge { .. } => {
                assert!(self.judging.remove(&call), "what ends was begun")
            }
            CallEffect::AskApproval { .. } => {
                assert!(self.asked.insert(call), "a call asks once");
                let answer = match self.choose(6) {
                    0 => Answer::Cancel,
                    1 => Answer::Reject { reason: None },
                    2 => Answer::Always { pattern: None },
                    _ => Answer::Accept,
                };
                let event = Event::call(chat, call, CallEvent::Answered(answer));
                self.loose.push(event);
            }
            CallEffect::RunCmd { cmd, .. } => {
                assert!(!self.stopping.contains(&chat), "a stopped chat runs nothing");
                let before = cmd.checked_sub(1);
                assert!(before.is_none_or(|cmd| self.delivered.contains(&(call, cmd))), "cmds run one after another");
                let succeeded = self.choose(4) != 3;
                let finished = Event::call(chat, call, CallEvent::CmdFinished { cmd, succeeded });
                match self.choose(6) {
                    5 => {
                        self.queue.push_back(Event::call(chat, call, CallEvent::CommandStarted { cmd }));
                        let report = report("printed");
                        self.loose.push(Event::call(chat, call, CallEvent::CommandFinished { cmd, succeeded, report }));
                    }
                    0 => self.queue.push_back(finished),
                    1 => self.loose.push(finished),
                    // Both returns and calls back, twice.
                    2 => {
                        self.queue.push_back(finished.clone());
                        self.loose.push(finished);
                    }
                    // Never answers; the clock or the user ends it.
                    3 => self.loose.push(Event::chat(chat, ChatEvent::CallSkipped)),
                    _ => {
                        self.loose.push(Event::call(chat, call, CallEvent::OutputAdded { content: "early".into() }));
                        self.loose.push(finished);
                    }
                }
            }
            CallEffect::RunOutput { output } => {
                if let Output::Success { cmd } = output {
                    assert!(self.delivered.contains(&(call, cmd)), "a cmd succeeds by its own result");
                }
                for _ in 0..self.choose(3) {
                    self.queue.push_back(Event::call(chat, call, CallEvent::OutputAdded { content: "said".into() }));
                }
                let outcome = match self.choose(4) {
                    3 => OutputOutcome::Threw("thrown".into()),
                    2 => OutputOutcome::Undefined,
                    _ => OutputOutcome::Ran,
                };
                self.queue.push_back(Event::call(chat, call, CallEvent::OutputFinished(outcome)));
                if self.choose(4) == 3 {
                    self.loose.push(Event::call(chat, call, CallEvent::OutputAdded { content: "late".into() }));
                }
            }
            CallEffect::RunExit { shared } => {
                let copy = if shared { self.kept.remove(&chat).expect("a copy was kept") } else { call };
                *self.exits.entry(copy).or_default() += 1;
                self.queue.push_back(Event::call(chat, call, CallEvent::ExitFinished));
            }
            CallEffect::Shorten { content, .. } => {
                let content = content[..1].to_owned();
                self.loose.push(Event::call(
                    chat,
                    call,
                    CallEvent::Shortened { content, file: None, media: KeptMedia::default() },
                ));
            }
            CallEffect::FinishCall { .. } => {
                *self.finished.entry(call).or_default() += 1;
                assert!(!self.judging.contains(&call), "nobody judges a call that is over");
            }
            CallEffect::CloseQuestion | CallEffect::KillJobs { .. } | CallEffect::StoreText { .. } => {}
        }
    }

    fn answer(&mut self, chat: ChatId, request: RequestId) {
        self.loose.push(Event::request(
            chat,
            request,
            RequestEvent::Started {
                tools: Arc::from([tool("one", false), tool("two", true), tool("three", true), once("four")]),
            },
        ));
        let mut items = vec![Item::Text("text".into())];
        for index in 0..self.choose(5) as usize {
            self.calls_made += 1;
            let name = ["one", "two", "three", "unknown", "four", "four", "four"][self.choose(7) as usize].to_owned();
            // Ids are sometimes missing or used before.
            let wire_id = match self.choose(4) {
                0 => String::new(),
                1 => "same".to_owned(),
                _ => format!("id{}", self.calls_made),
            };
            items.push(Item::CallStarted { index, wire_id, name });
            items.push(Item::CallArguments { index, text: format!("{{\"n\":{}}}", self.choose(3)) });
        }
        match self.choose(8) {
            0 => items.push(Item::Failed("overloaded".into())),
            1 => items.push(Item::End { reason: EndReason::Length }),
            _ => {}
        }
        self.loose.push(Event::request(chat, request, RequestEvent::Items(items)));
        let end = match self.choose(5) {
            4 => Event::request(chat, request, RequestEvent::Failed("reset".to_owned().into())),
            _ => Event::request(chat, request, RequestEvent::Finished),
        };
        self.loose.push(end);
    }

    fn check_history(&self, chat: ChatId) {
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
