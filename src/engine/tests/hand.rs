//! A chat driven by hand, and short ways to ask what its effects hold.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::adapter::Item;
use crate::engine::Engine;
use crate::engine::effect::{CallEffect, ChatEffect, Effect, TurnEnd};
use crate::engine::event::{
    CallEvent, ChatEvent, ChatId, ChatSettings, Event, OutputOutcome, Report, RequestEvent, RequestId,
};
use crate::engine::outcome::Outcome;
use crate::gate::approvals::{Approval, Scope};
use crate::gate::rule::{Action, Layer, Pattern, Rule, Rules, Source};
use crate::gate::shell::BASH;
use crate::gate::verdict::{Cause, Question};
use crate::gate::{Fact, Found, Permissions};
use crate::message::Message;
use crate::tool::{
    ArgumentsError, CallId, CheckedCall, Copying, Defined, GateSettings, OfferedTool, OwnApproval, Preparation, Runner,
};

pub const ALL: Defined = Defined { success: true, error: true, rejected: true, cancelled: true, on_exit: true };

pub fn tool(name: &str, parallel: bool) -> OfferedTool {
    OfferedTool { name: name.into(), parallel, ..OfferedTool::default() }
}

/// A tool whose calls in a row share their handlers.
pub fn once(name: &str) -> OfferedTool {
    OfferedTool { handlers_once: true, ..tool(name, true) }
}

pub fn preparation(cmds: usize, defines: Defined, approval: OwnApproval, timeout_ms: Option<u64>) -> Preparation {
    let cmds = vec![Runner::Lua; cmds];
    Preparation { cmds, defines, gate: GateSettings::new(approval), timeout_ms, changes: Vec::new() }
}

/// A chat driven by hand: `say` what happened, read `effects`.
pub struct Hand {
    pub engine: Engine,
    pub chat: ChatId,
    pub now_ms: u64,
}

impl Hand {
    pub fn new() -> Self {
        Self::with(ChatSettings::default())
    }

    pub fn with(settings: ChatSettings) -> Self {
        let mut engine = Engine::default();
        let chat = engine.next_chat();
        engine.handle(0, Event::chat(chat, ChatEvent::Opened(settings)));
        engine.handle(0, Event::chat(chat, ChatEvent::PermissionsLoaded(Arc::default())));
        Self { engine, chat, now_ms: 0 }
    }

    pub fn say(&mut self, event: Event) -> Vec<Effect> {
        self.engine.handle(self.now_ms, event)
    }

    pub fn tell(&mut self, event: ChatEvent) -> Vec<Effect> {
        self.say(Event::chat(self.chat, event))
    }

    pub fn tell_request(&mut self, request: RequestId, event: RequestEvent) -> Vec<Effect> {
        self.say(Event::request(self.chat, request, event))
    }

    pub fn tell_call(&mut self, call: CallId, event: CallEvent) -> Vec<Effect> {
        self.say(Event::call(self.chat, call, event))
    }

    /// Sends `text` and answers with these calls, all with checked arguments. Returns the effects of the check.
    pub fn calls(&mut self, text: &str, calls: &[(&str, &str, Result<Value, ArgumentsError>)]) -> Vec<Effect> {
        self.tell(ChatEvent::Submitted);
        let effects = self.tell(ChatEvent::InputTaken { text: Some(text.into()), typed: None });
        self.answer(&effects, calls)
    }

    pub fn answer(&mut self, effects: &[Effect], calls: &[(&str, &str, Result<Value, ArgumentsError>)]) -> Vec<Effect> {
        let request = request_of(effects);
        let tools = Arc::from([tool("calculator", false), tool("glob", true), tool("grep", true), once("edit")]);
        self.tell_request(request, RequestEvent::Started { tools });
        let items = calls.iter().enumerate().flat_map(|(index, (id, name, arguments))| {
            let text = arguments.as_ref().map_or_else(|_| "{\"path\":".to_owned(), Value::to_string);
            let (wire_id, name) = ((*id).to_owned(), (*name).to_owned());
            [Item::CallStarted { index, wire_id, name }, Item::CallArguments { index, text }]
        });
        self.tell_request(request, RequestEvent::Items(items.collect()));
        let effects = self.tell_request(request, RequestEvent::Finished);
        let unchecked = effects.iter().find_map(|effect| match effect {
            Effect::Addressed { effect: ChatEffect::CheckCalls { calls, .. }, .. } => Some(calls.clone()),
            _ => None,
        });
        let checked = unchecked.expect("calls are checked").into_iter().zip(calls);
        let calls = checked.map(|(call, (_, _, arguments))| CheckedCall::new(call.call, arguments.clone()));
        let calls = calls.collect();
        self.tell(ChatEvent::CallsChecked(calls))
    }

    /// Prepares and runs a call with one cmd that succeeds and adds `content`.
    pub fn finish(&mut self, call: CallId, content: &str) -> Vec<Effect> {
        let preparation = preparation(1, Defined { success: true, ..Defined::default() }, OwnApproval::Run, None);
        self.tell_call(call, CallEvent::Prepared(preparation));
        self.succeed(call, content)
    }

    pub fn succeed(&mut self, call: CallId, content: &str) -> Vec<Effect> {
        self.tell_call(call, CallEvent::CmdFinished { cmd: 0, succeeded: true });
        self.tell_call(call, CallEvent::OutputAdded { content: content.into() });
        self.tell_call(call, CallEvent::OutputFinished(OutputOutcome::Ran))
    }

    pub fn results(&self) -> Vec<(String, String, bool)> {
        let history = self.engine.history(self.chat).expect("the chat is there");
        let tools = history.messages().iter().filter_map(|message| match message.as_ref() {
            Message::Tool { wire_id, content, is_error, .. } => Some((wire_id.clone(), content.clone(), *is_error)),
            _ => None,
        });
        tools.collect()
    }
}

/// What is told of a command: that it printed `printed`.
pub fn report(printed: &str) -> Report {
    Report { text: printed.to_owned(), printed: printed.to_owned(), files: Vec::new() }
}

/// What came of the calls that are over now.
pub fn outcomes(effects: &[Effect]) -> Vec<Outcome> {
    let finished = effects.iter().filter_map(|effect| match effect {
        Effect::Addressed {
            effect: ChatEffect::Call { effect: CallEffect::FinishCall { outcome, .. }, .. }, ..
        } => Some(Outcome::clone(outcome)),
        _ => None,
    });
    finished.collect()
}

pub fn request_of(effects: &[Effect]) -> RequestId {
    let found = effects.iter().find_map(|effect| match effect {
        Effect::Addressed { effect: ChatEffect::SendRequest { request, .. }, .. } => Some(*request),
        _ => None,
    });
    found.expect("a request is sent")
}

pub fn prepared(effects: &[Effect]) -> Vec<CallId> {
    let calls = effects.iter().filter_map(|effect| match effect {
        Effect::Addressed { effect: ChatEffect::Call { call, effect: CallEffect::PrepareCall { .. } }, .. } => {
            Some(*call)
        }
        _ => None,
    });
    calls.collect()
}

pub fn sends(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Addressed { effect: ChatEffect::SendRequest { .. }, .. }))
}

pub fn asks(effects: &[Effect]) -> Option<(Question, usize)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Addressed {
            effect: ChatEffect::Call { effect: CallEffect::AskApproval { question, rest, .. }, .. },
            ..
        } => Some((Question::clone(question), *rest)),
        _ => None,
    })
}

/// Some rules: `ls` runs, `git push` does not, what else `git` does is asked about.
pub fn permissions() -> Arc<Permissions> {
    let source = Source { layer: Layer::Setup, agent: None, place: "setup()".into(), line: None };
    let source = Arc::new(source);
    let rule = |(pattern, action)| Rule {
        key: Pattern::key(BASH),
        pattern: Pattern::key(pattern),
        action,
        source: Arc::clone(&source),
    };
    let list = [("ls", Action::Allow), ("git *", Action::Ask), ("git push *", Action::Deny)];
    let rules = Rules::new(list.into_iter().map(rule).collect());
    Arc::new(Permissions { rules, places: crate::gate::path::Places::default() })
}

/// What step 8 of the gate asks.
pub fn own_question(tool: &str) -> Question {
    let remember = vec![Approval::new(tool, None)];
    Question { remember, ..Question::once(Cause::OwnApproval, Scope::Chat) }
}

pub fn ended(effects: &[Effect]) -> Option<TurnEnd> {
    effects.iter().find_map(|effect| match effect {
        Effect::Addressed { effect: ChatEffect::FinishTurn { end, .. }, .. } => Some(*end),
        _ => None,
    })
}

pub fn cut_off() -> ArgumentsError {
    ArgumentsError::NotAnObject("incomplete".into())
}

/// A chat that waits for the answer to `hi`.
pub fn asked() -> (Hand, RequestId) {
    let mut hand = Hand::new();
    hand.tell(ChatEvent::Submitted);
    let effects = hand.tell(ChatEvent::InputTaken { text: Some("hi".into()), typed: None });
    let request = request_of(&effects);
    (hand, request)
}

pub fn copying(effects: &[Effect]) -> Option<(CallId, Copying)> {
    effects.iter().find_map(|effect| match effect {
        Effect::Addressed {
            effect: ChatEffect::Call { call, effect: CallEffect::PrepareCall { copying, .. } },
            ..
        } => Some((*call, *copying)),
        _ => None,
    })
}

/// A chat in auto mode with a prepared call of a guarded tool that the judge may be asked about.
pub fn guarded() -> (Hand, CallId, Vec<Effect>) {
    let mut hand = Hand::new();
    let chat = hand.chat;
    hand.tell(ChatEvent::AutoSet { auto: true });
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({}))), ("c2", "calculator", Ok(json!({"n": 2})))]);
    let call = prepared(&effects)[0];
    let mut preparation = preparation(1, Defined::default(), OwnApproval::Ask, Some(1_000));
    (preparation.gate.by_command, preparation.gate.judge) = (true, true);
    let effects = hand.tell_call(call, CallEvent::Prepared(preparation));
    assert_eq!(effects, vec![Effect::call(chat, call, CallEffect::FindFact { fact: Fact::JudgeContext })]);
    let effects = hand.fact(call, Found::JudgeContext(true));
    (hand, call, effects)
}

impl Hand {
    pub fn fact(&mut self, call: CallId, found: Found) -> Vec<Effect> {
        self.say(Event::call(self.chat, call, CallEvent::FactFound { fact: found.fact(), found: Some(found) }))
    }
}
