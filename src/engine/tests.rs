//! The engine as a whole: written conversations, and a shell that does everything in random order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::adapter::{EndReason, ProviderCall};
use crate::gate::pair::{BASH, Pair, Want};
use crate::gate::rule::{Action, Layer, Pattern, Rule, Rules, Source};
use crate::gate::{Cause, FACT_LIMIT_MS};
use crate::message::{Call, Opaque};
use crate::saved::{self, Recorder};
use crate::tool::{ArgumentsError, Defined, GateSettings, OwnApproval};
use crate::turn::call::STOP_LIMIT_MS;

const ALL: Defined = Defined { success: true, error: true, rejected: true, cancelled: true, on_exit: true };

fn tool(name: &str, parallel: bool) -> OfferedTool {
    OfferedTool {
        name: name.into(),
        schema: None,
        numeric_strings: false,
        parallel,
        handlers_once: false,
        reach: crate::tool::Reach::Direct,
    }
}

/// A tool whose calls in a row share their handlers.
fn once(name: &str) -> OfferedTool {
    OfferedTool { handlers_once: true, ..tool(name, true) }
}

fn preparation(cmds: usize, defines: Defined, approval: OwnApproval, timeout_ms: Option<u64>) -> Preparation {
    Preparation { cmds, defines, gate: GateSettings::new(approval), timeout_ms }
}

/// A chat driven by hand: `say` what happened, read `effects`.
struct Hand {
    engine: Engine,
    chat: ChatId,
    now_ms: u64,
}

impl Hand {
    fn new() -> Self {
        Self::with(ChatSettings::default())
    }

    fn with(settings: ChatSettings) -> Self {
        let mut engine = Engine::default();
        let chat = engine.next_chat();
        engine.handle(0, Event::ChatOpened { chat, settings });
        engine.handle(0, Event::PermissionsLoaded { chat, permissions: Arc::default() });
        Self { engine, chat, now_ms: 0 }
    }

    fn say(&mut self, event: Event) -> Vec<Effect> {
        self.engine.handle(self.now_ms, event)
    }

    /// Sends `text` and answers with these calls, all with checked arguments. Returns the effects of the check.
    fn calls(&mut self, text: &str, calls: &[(&str, &str, Result<Value, ArgumentsError>)]) -> Vec<Effect> {
        let chat = self.chat;
        self.say(Event::Submitted { chat });
        let effects = self.say(Event::InputTaken { chat, text: Some(text.into()), typed: None });
        self.answer(&effects, calls)
    }

    fn answer(&mut self, effects: &[Effect], calls: &[(&str, &str, Result<Value, ArgumentsError>)]) -> Vec<Effect> {
        let chat = self.chat;
        let request = request_of(effects);
        let tools = Arc::from([tool("calculator", false), tool("glob", true), tool("grep", true), once("edit")]);
        self.say(Event::RequestStarted { chat, request, tools });
        let items = calls.iter().enumerate().flat_map(|(index, (id, name, arguments))| {
            let text = arguments.as_ref().map_or_else(|_| "{\"path\":".to_owned(), Value::to_string);
            let (wire_id, name) = ((*id).to_owned(), (*name).to_owned());
            [Item::CallStarted { index, wire_id, name }, Item::CallArguments { index, text }]
        });
        self.say(Event::RequestItems { chat, request, items: items.collect() });
        let effects = self.say(Event::RequestFinished { chat, request });
        let unchecked = effects.iter().find_map(|effect| match effect {
            Effect::CheckCalls { calls, .. } => Some(calls.clone()),
            _ => None,
        });
        let checked = unchecked.expect("calls are checked").into_iter().zip(calls);
        let calls = checked.map(|(call, (_, _, arguments))| CheckedCall::new(call.call, arguments.clone()));
        let calls = calls.collect();
        self.say(Event::CallsChecked { chat, calls })
    }

    /// Prepares and runs a call with one cmd that succeeds and adds `content`.
    fn finish(&mut self, call: CallId, content: &str) -> Vec<Effect> {
        let chat = self.chat;
        let preparation = preparation(1, Defined { success: true, ..Defined::default() }, OwnApproval::Run, None);
        self.say(Event::CallPrepared { chat, call, preparation });
        self.succeed(call, content)
    }

    fn succeed(&mut self, call: CallId, content: &str) -> Vec<Effect> {
        let chat = self.chat;
        self.say(Event::CmdFinished { chat, call, cmd: 0, succeeded: true });
        self.say(Event::OutputAdded { chat, call, content: content.into() });
        self.say(Event::OutputFinished { chat, call, outcome: OutputOutcome::Ran })
    }

    fn results(&self) -> Vec<(String, String, bool)> {
        let history = self.engine.history(self.chat).expect("the chat is there");
        let tools = history.messages().iter().filter_map(|message| match message.as_ref() {
            Message::Tool { wire_id, content, is_error, .. } => Some((wire_id.clone(), content.clone(), *is_error)),
            _ => None,
        });
        tools.collect()
    }
}

fn request_of(effects: &[Effect]) -> RequestId {
    let found = effects.iter().find_map(|effect| match effect {
        Effect::SendRequest { request, .. } => Some(*request),
        _ => None,
    });
    found.expect("a request is sent")
}

fn prepared(effects: &[Effect]) -> Vec<CallId> {
    let calls = effects.iter().filter_map(|effect| match effect {
        Effect::PrepareCall { call, .. } => Some(*call),
        _ => None,
    });
    calls.collect()
}

fn sends(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::SendRequest { .. }))
}

fn asks(effects: &[Effect]) -> Option<(Question, usize)> {
    effects.iter().find_map(|effect| match effect {
        Effect::AskApproval { question, rest, .. } => Some((question.clone(), *rest)),
        _ => None,
    })
}

/// Some rules: `ls` runs, `git push` does not, what else `git` does is asked about.
fn permissions() -> Arc<Permissions> {
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
fn own_question(tool: &str) -> Question {
    let remember = vec![Approval::new(tool, None)];
    Question { remember, ..Question::once(Cause::OwnApproval, None, Scope::Chat) }
}

fn ended(effects: &[Effect]) -> Option<TurnEnd> {
    effects.iter().find_map(|effect| match effect {
        Effect::FinishTurn { end, .. } => Some(*end),
        _ => None,
    })
}

fn cut_off() -> ArgumentsError {
    ArgumentsError::NotAnObject("incomplete".into())
}

#[test]
fn a_call_runs_and_its_result_goes_back() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.calls("100*50", &[("c1", "calculator", Ok(json!({"num1": 100})))]);
    let call = prepared(&effects)[0];
    assert_eq!(
        effects,
        vec![
            Effect::AddMessage {
                chat,
                message: Arc::new(Message::Llm {
                    content: String::new(),
                    reasoning: String::new(),
                    calls: vec![Call {
                        wire_id: "c1".into(),
                        name: "calculator".into(),
                        arguments: "{\"num1\":100}".into(),
                        extra: None,
                    }],
                    opaque: None,
                }),
            },
            Effect::AddCall {
                chat,
                call,
                wire_id: "c1".into(),
                name: "calculator".into(),
                arguments: "{\"num1\":100}".into(),
                runs: None,
            },
            Effect::StartBatch { chat, calls: 1 },
            Effect::PrepareCall { chat, call, arguments: json!({"num1": 100}), copying: Copying::Own },
        ]
    );
    let effects = hand.finish(call, "5000");
    let message =
        Arc::new(Message::Tool { wire_id: "c1".into(), content: "5000".into(), is_error: false, attachments: vec![] });
    assert_eq!(
        effects[0],
        Effect::FinishCall { chat, call, status: CallStatus::Success, content: None, duration_ms: 0, message }
    );
    assert!(sends(&effects));
    assert_eq!(hand.results(), vec![("c1".into(), "5000".into(), false)]);
}

#[test]
fn r026_cancel_at_the_question_answers_every_queued_call_and_sends_nothing() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let arguments = || Ok(json!({"cmd": "ls"}));
    let effects = hand
        .calls("ls", &[("c1", "calculator", arguments()), ("c2", "grep", arguments()), ("c3", "glob", arguments())]);
    let call = prepared(&effects)[0];
    let effects = hand.say(Event::CallPrepared {
        chat,
        call,
        preparation: preparation(1, Defined { on_exit: true, ..Defined::default() }, OwnApproval::Ask, None),
    });
    assert_eq!(asks(&effects), Some((own_question("calculator"), 2)));
    let effects = hand.say(Event::ApprovalAnswered { chat, call, answer: Answer::Cancel });
    assert!(effects.contains(&Effect::RunExit { chat, call, shared: false }));
    let mut effects = hand.say(Event::ExitFinished { chat, call });
    for _ in 0..2 {
        let queued = effects.iter().find_map(|effect| match effect {
            Effect::RunOutput { call, output: Output::Cancelled, .. } => Some(*call),
            _ => None,
        });
        let call = queued.expect("a queued call is cancelled through its output function");
        effects = hand.say(Event::OutputFinished { chat, call, outcome: OutputOutcome::Undefined });
    }
    assert_eq!(ended(&effects), Some(TurnEnd::Cancelled));
    let cancelled = |id: &str, name: &str| (id.into(), format!("The user cancelled the {name} tool"), false);
    assert_eq!(hand.results(), vec![cancelled("c1", "calculator"), cancelled("c2", "grep"), cancelled("c3", "glob")]);
    hand.say(Event::Submitted { chat });
    assert!(sends(&hand.say(Event::InputTaken { chat, text: Some("hi".into()), typed: None })));
}

#[test]
fn r028_a_call_with_cut_off_arguments_leaves_its_siblings_alone() {
    let mut hand = Hand::new();
    let effects = hand.calls(
        "read",
        &[
            ("c1", "calculator", Ok(json!({"path": "a"}))),
            ("c2", "calculator", Err(cut_off())),
            ("c3", "calculator", Ok(json!({"path": "b"}))),
        ],
    );
    let effects = hand.finish(prepared(&effects)[0], "a");
    let effects = hand.finish(prepared(&effects)[0], "b");
    assert!(sends(&effects));
    assert_eq!(
        hand.results(),
        vec![
            ("c1".into(), "a".into(), false),
            ("c2".into(), "incomplete".into(), true),
            ("c3".into(), "b".into(), false)
        ]
    );
    let history = hand.engine.history(hand.chat).expect("the chat is there").messages();
    let Message::Llm { calls, .. } = history[1].as_ref() else { panic!("the second message is the model's") };
    let texts: Vec<_> = calls.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(texts, ["{\"path\":\"a\"}", "{}", "{\"path\":\"b\"}"]);
}

#[test]
fn arguments_that_nobody_looked_at_do_not_go_back_to_the_provider() {
    let mut hand = Hand::new();
    let effects = hand.calls("read", &[("c1", "calculator", Err(ArgumentsError::NotChecked("a fault".into())))]);
    assert!(sends(&effects));
    assert_eq!(hand.results(), vec![("c1".into(), "a fault".into(), true)]);
    let history = hand.engine.history(hand.chat).expect("the chat is there").messages();
    let Message::Llm { calls, .. } = history[1].as_ref() else { panic!("the second message is the model's") };
    assert_eq!(calls[0].arguments, "{}");
}

#[test]
fn r030_an_unknown_tool_is_answered_with_the_names_that_exist() {
    let mut hand = Hand::new();
    let effects = hand.calls("x", &[("c9", "no_such_tool", Ok(json!({})))]);
    assert!(sends(&effects));
    assert_eq!(
        hand.results(),
        vec![(
            "c9".into(),
            "Tool \"no_such_tool\" not found. Available tools: `calculator`, `glob`, `grep`, `edit`".into(),
            true
        )]
    );
}

#[test]
fn no_result_repeats_a_long_name_of_an_unknown_tool() {
    let long = "x".repeat(1_000_000);
    let mut hand = Hand::new();
    let calls = [("a", "calculator", Ok(json!({}))), ("b", long.as_str(), Ok(json!({})))];
    let effects = hand.calls("x", &calls);
    let (chat, call) = (hand.chat, prepared(&effects)[0]);
    let effects = hand.say(Event::CallPrepared {
        chat,
        call,
        preparation: preparation(1, Defined::default(), OwnApproval::Ask, None),
    });
    assert!(asks(&effects).is_some());
    let effects = hand.say(Event::ApprovalAnswered { chat, call, answer: Answer::Cancel });
    let call = effects.iter().find_map(|effect| match effect {
        Effect::RunOutput { call, .. } => Some(*call),
        _ => None,
    });
    let call = call.expect("its own words for a cancel are asked for");
    hand.say(Event::OutputFinished { chat, call, outcome: OutputOutcome::Undefined });
    assert_eq!(hand.results()[1].1, format!("The user cancelled the {}… tool", "x".repeat(100)));

    let mut hand = Hand::new();
    let mut effects = hand.calls("x", &[("a", long.as_str(), Ok(json!({})))]);
    for id in ["b", "c"] {
        effects = hand.answer(&effects, &[(id, long.as_str(), Ok(json!({})))]);
    }
    assert!(hand.results().iter().all(|(_, content, _)| content.len() < 300));
    let name = format!("{}…", "x".repeat(100));
    assert!(effects.contains(&Effect::Notify { chat: hand.chat, notice: Notice::RepeatedCall { name } }));
}

#[test]
fn r034_parallel_results_stay_in_call_order_whatever_finishes_first() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let arguments = |pattern: &str| Ok(json!({"pattern": pattern}));
    let effects = hand.calls(
        "glob",
        &[("g1", "glob", arguments("*.a")), ("g2", "glob", arguments("*.b")), ("g3", "glob", arguments("*.c"))],
    );
    let mut calls = prepared(&effects);
    let defines = Defined { success: true, ..Defined::default() };
    for at in 0..3 {
        let call = calls[at];
        let preparation = preparation(1, defines, OwnApproval::Run, None);
        let effects = hand.say(Event::CallPrepared { chat, call, preparation });
        calls.extend(prepared(&effects));
    }
    for at in [2, 0, 1] {
        hand.succeed(calls[at], &format!("result {}", at + 1));
    }
    assert_eq!(
        hand.results(),
        vec![
            ("g1".into(), "result 1".into(), false),
            ("g2".into(), "result 2".into(), false),
            ("g3".into(), "result 3".into(), false)
        ]
    );
}

#[test]
fn r036_an_output_function_that_throws_gives_one_error_result() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
    let call = prepared(&effects)[0];
    hand.say(Event::CallPrepared { chat, call, preparation: preparation(2, ALL, OwnApproval::Run, None) });
    hand.say(Event::CmdFinished { chat, call, cmd: 0, succeeded: true });
    hand.say(Event::OutputFinished { chat, call, outcome: OutputOutcome::Threw("boom".into()) });
    assert!(sends(&hand.say(Event::ExitFinished { chat, call })));
    let said = "An output function of the tool `calculator` failed: boom";
    assert_eq!(hand.results(), vec![("c1".into(), said.into(), true)]);
}

#[test]
fn r041_empty_arguments_go_back_as_an_object() {
    for text in ["", "  ", "[]"] {
        let mut hand = Hand::new();
        let chat = hand.chat;
        hand.say(Event::Submitted { chat });
        let effects = hand.say(Event::InputTaken { chat, text: Some("list".into()), typed: None });
        let request = request_of(&effects);
        hand.say(Event::RequestStarted { chat, request, tools: Arc::from([tool("list_buffers", false)]) });
        let items = vec![
            Item::CallStarted { index: 0, wire_id: "c1".into(), name: "list_buffers".into() },
            Item::CallArguments { index: 0, text: text.into() },
        ];
        hand.say(Event::RequestItems { chat, request, items });
        let effects = hand.say(Event::RequestFinished { chat, request });
        let Some(Effect::CheckCalls { calls, .. }) = effects.last() else { panic!("calls are checked") };
        let calls = vec![CheckedCall::new(calls[0].call, Ok(json!({})))];
        let effects = hand.say(Event::CallsChecked { chat, calls });
        assert!(effects.iter().any(|e| matches!(e, Effect::AddCall { arguments, .. } if arguments == "{}")));
    }
}

#[test]
fn calls_without_id_or_with_a_used_one_get_their_own() {
    let mut hand = Hand::new();
    let arguments = || Ok(json!({}));
    let effects = hand.calls("x", &[("c", "grep", arguments()), ("c", "grep", arguments()), ("", "grep", arguments())]);
    let ids: BTreeSet<_> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::AddCall { wire_id, .. } => Some(wire_id.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len(), 3);
    assert!(ids.contains("c") && !ids.contains(""));
}

/// A chat that waits for the answer to `hi`.
fn asked() -> (Hand, RequestId) {
    let mut hand = Hand::new();
    let chat = hand.chat;
    hand.say(Event::Submitted { chat });
    let effects = hand.say(Event::InputTaken { chat, text: Some("hi".into()), typed: None });
    let request = request_of(&effects);
    (hand, request)
}

#[test]
fn a_request_that_starts_after_the_stop_is_ended() {
    for gone in [false, true] {
        let (mut hand, request) = asked();
        let chat = hand.chat;
        hand.say(if gone { Event::ChatClosed { chat } } else { Event::ChatStopped { chat } });
        let effects = hand.say(Event::RequestStarted { chat, request, tools: Arc::from([]) });
        assert!(effects.contains(&Effect::AbortRequest { chat, request }), "{effects:?}");
    }
}

#[test]
fn an_error_in_the_middle_of_an_answer_keeps_the_text_and_the_chat_goes_on() {
    let (mut hand, request) = asked();
    let chat = hand.chat;
    let call = Item::CallStarted { index: 0, wire_id: "c1".into(), name: "glob".into() };
    let items = vec![Item::Text("Half".into()), call, Item::Failed("overloaded".into()), Item::Text("late".into())];
    let message =
        Arc::new(Message::Llm { content: "Half".into(), reasoning: String::new(), calls: vec![], opaque: None });
    assert_eq!(
        hand.say(Event::RequestItems { chat, request, items }),
        vec![
            Effect::ShowText { chat, text: "Half".into() },
            Effect::AbortRequest { chat, request },
            Effect::FinishRequest { chat, request, failed: true, usage: None },
            Effect::AddMessage { chat, message },
            Effect::Notify { chat, notice: Notice::RequestFailed("overloaded".into()) },
            Effect::FinishTurn { chat, end: TurnEnd::Failed },
        ]
    );
    let late = hand.say(Event::RequestFinished { chat, request });
    assert!(matches!(late[..], [Effect::Log { level: LogLevel::Debug, .. }]));
    hand.say(Event::Submitted { chat });
    assert!(sends(&hand.say(Event::InputTaken { chat, text: Some("again".into()), typed: None })));
}

#[test]
fn an_answer_that_was_cut_off_says_so() {
    for (reason, notice) in [
        (EndReason::Length, Some(Notice::LengthStop)),
        (EndReason::ContentFilter, Some(Notice::ContentFilter)),
        (EndReason::Stop, None),
        (EndReason::Other("odd".into()), None),
    ] {
        let (mut hand, request) = asked();
        let chat = hand.chat;
        let items = vec![Item::Text("Half".into()), Item::End { reason }];
        hand.say(Event::RequestItems { chat, request, items });
        let effects = hand.say(Event::RequestFinished { chat, request });
        let told = effects.iter().find_map(|effect| match effect {
            Effect::Notify { notice, .. } => Some(notice.clone()),
            _ => None,
        });
        assert_eq!(told, notice);
        assert_eq!(ended(&effects), Some(TurnEnd::Done));
    }
}

#[test]
fn r052_what_a_provider_sends_with_a_call_is_kept_with_it() {
    let (mut hand, request) = asked();
    let chat = hand.chat;
    let extra = |extra: Value| Item::CallExtra { index: 0, extra };
    let items = vec![
        Item::CallStarted { index: 0, wire_id: "c1".into(), name: "glob".into() },
        extra(json!({"a": "S1"})),
        extra(json!({"b": 2})),
    ];
    hand.say(Event::RequestItems { chat, request, items });
    let effects = hand.say(Event::RequestFinished { chat, request });
    let checked = effects.iter().find_map(|effect| match effect {
        Effect::CheckCalls { calls, .. } => Some(CheckedCall::new(calls[0].call, Ok(json!({})))),
        _ => None,
    });
    hand.say(Event::CallsChecked { chat, calls: vec![checked.expect("a call is checked")] });
    let history = hand.engine.history(chat).expect("the chat is there");
    let kept = history.messages().iter().find_map(|message| match message.as_ref() {
        Message::Llm { calls, .. } => Some(calls[0].extra.clone()),
        _ => None,
    });
    assert_eq!(kept, Some(Some(json!({"a": "S1", "b": 2}))));
}

#[test]
fn what_a_provider_wants_back_is_kept_with_its_answer_and_what_it_ran_is_shown() {
    let (mut hand, request) = asked();
    let chat = hand.chat;
    let opaque = Opaque { adapter: "a".into(), model: "m".into(), data: json!({"signature": "S1"}) };
    let ran = ProviderCall { name: "web_search".into(), label: "rust".into(), ..ProviderCall::default() };
    let items = vec![
        Item::Ran(ran.clone()),
        Item::Text("So.".into()),
        Item::Opaque(opaque.clone()),
        Item::End { reason: EndReason::Stop },
    ];
    let effects = hand.say(Event::RequestItems { chat, request, items });
    assert!(effects.contains(&Effect::ShowProviderCall { chat, call: ran }));
    hand.say(Event::RequestFinished { chat, request });
    let history = hand.engine.history(chat).expect("the chat is there");
    assert!(matches!(history.last(), Some(Message::Llm { opaque: Some(kept), .. }) if *kept == opaque));
}

#[test]
fn an_answer_that_pauses_goes_on_by_itself_but_not_for_ever() {
    let (mut hand, mut request) = asked();
    let chat = hand.chat;
    let opaque = Opaque { adapter: "a".into(), model: "m".into(), data: json!({}) };
    let mut pauses = 0;
    loop {
        let items = vec![Item::Opaque(opaque.clone()), Item::End { reason: EndReason::Paused }];
        hand.say(Event::RequestItems { chat, request, items });
        let effects = hand.say(Event::RequestFinished { chat, request });
        if ended(&effects).is_some() {
            break;
        }
        pauses += 1;
        let next = effects.iter().find_map(|effect| match effect {
            Effect::SendRequest { request, .. } => Some(*request),
            _ => None,
        });
        request = next.expect("it is sent again");
    }
    assert_eq!(pauses, 20);
    let history = hand.engine.history(chat).expect("the chat is there");
    let kept = history.messages().iter().filter(|message| matches!(message.as_ref(), Message::Llm { .. }));
    assert_eq!(kept.count(), 21);
}

#[test]
fn r071_a_call_that_never_answers_ends_at_its_limit_and_the_clock_stands_still_in_questions() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({}))), ("c2", "calculator", Ok(json!({"n": 2})))]);
    let call = prepared(&effects)[0];
    let preparation = preparation(1, Defined::default(), OwnApproval::Ask, Some(1_000));
    hand.say(Event::CallPrepared { chat, call, preparation });
    assert_eq!(hand.engine.next_deadline_ms(), None);
    hand.now_ms = 50_000;
    hand.say(Event::ApprovalAnswered { chat, call, answer: Answer::Accept });
    assert_eq!(hand.engine.next_deadline_ms(), Some(51_000));
    hand.now_ms = 50_999;
    assert_eq!(hand.say(Event::TimePassed), vec![]);
    hand.now_ms = 51_000;
    let effects = hand.say(Event::TimePassed);
    assert_eq!(effects[0], Effect::KillJobs { chat, call, why: KillReason::TimedOut { limit_ms: 1_000 } });
    assert_eq!(prepared(&effects).len(), 1, "the queue goes on");
    assert_eq!(
        hand.results(),
        vec![("c1".into(), "Error calling calculator: it timed out after 1000 ms".into(), true)]
    );
    let late = hand.say(Event::CmdFinished { chat, call, cmd: 0, succeeded: true });
    assert!(matches!(late[..], [Effect::Log { .. }]));
}

#[test]
fn what_commands_printed_is_told_where_no_output_function_speaks() {
    enum Ran {
        Command(bool, &'static str),
        Function(bool),
    }
    use Ran::{Command, Function};
    let speaks = Defined { success: true, error: true, ..Defined::default() };
    for (ran, defines, said) in [
        (vec![Command(true, "one"), Command(true, "two")], Defined::default(), "Executed calculator\n\none\n\ntwo"),
        (
            vec![Command(true, "one"), Command(false, "code 3")],
            Defined::default(),
            "Error calling calculator\n\ncode 3",
        ),
        (vec![Command(true, "one"), Function(true)], Defined::default(), "Executed calculator"),
        (vec![Function(true), Command(true, "two")], Defined::default(), "Executed calculator\n\ntwo"),
        (vec![Command(true, "one"), Function(false)], Defined::default(), "Error calling calculator"),
        (vec![Command(false, "code 3")], speaks, "said by the tool"),
    ] {
        let mut hand = Hand::new();
        let chat = hand.chat;
        let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
        let call = prepared(&effects)[0];
        let preparation = preparation(ran.len(), defines, OwnApproval::Run, None);
        hand.say(Event::CallPrepared { chat, call, preparation });
        for (cmd, ran) in ran.into_iter().enumerate() {
            match ran {
                Function(succeeded) => drop(hand.say(Event::CmdFinished { chat, call, cmd, succeeded })),
                Command(succeeded, text) => {
                    hand.say(Event::CommandStarted { chat, call, cmd });
                    hand.say(Event::CommandFinished { chat, call, cmd, succeeded, text: text.into() });
                }
            }
        }
        if defines.error {
            hand.say(Event::OutputAdded { chat, call, content: "said by the tool".into() });
            hand.say(Event::OutputFinished { chat, call, outcome: OutputOutcome::Ran });
        }
        assert_eq!(hand.results()[0].1, said);
    }
}

#[test]
fn r082_skip_ends_only_the_running_call() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({}))), ("c2", "calculator", Ok(json!({"n": 2})))]);
    let call = prepared(&effects)[0];
    hand.say(Event::CallPrepared { chat, call, preparation: preparation(1, ALL, OwnApproval::Run, None) });
    let effects = hand.say(Event::CallSkipped { chat });
    assert_eq!(
        effects,
        vec![Effect::KillJobs { chat, call, why: KillReason::User }, Effect::RunExit { chat, call, shared: false }]
    );
    let effects = hand.say(Event::ExitFinished { chat, call });
    let effects = hand.finish(prepared(&effects)[0], "second");
    assert!(sends(&effects));
    assert_eq!(hand.results()[0].1, "Stopped by the user before the calculator tool was done");
    assert_eq!(hand.results()[1].1, "second");
}

#[test]
fn r078_what_a_stopped_command_printed_is_in_the_result_whatever_ends_it() {
    for (event, said) in [
        ("skip", "half"),
        ("stop", "cancelled by its own words\n\nhalf"),
        ("clock", "Error calling calculator\n\nhalf"),
    ] {
        let mut hand = Hand::new();
        let chat = hand.chat;
        let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
        let call = prepared(&effects)[0];
        let defines = Defined { cancelled: true, ..Defined::default() };
        let preparation = preparation(1, defines, OwnApproval::Run, Some(500));
        hand.say(Event::CallPrepared { chat, call, preparation });
        hand.say(Event::CommandStarted { chat, call, cmd: 0 });
        let effects = match event {
            "skip" => hand.say(Event::CallSkipped { chat }),
            "stop" => hand.say(Event::ChatStopped { chat }),
            _ => {
                hand.now_ms = 500;
                hand.say(Event::TimePassed)
            }
        };
        let why = if event == "clock" { KillReason::TimedOut { limit_ms: 500 } } else { KillReason::User };
        assert_eq!(effects, vec![Effect::KillJobs { chat, call, why }]);
        let text = "half".to_owned();
        let effects = hand.say(Event::CommandFinished { chat, call, cmd: 0, succeeded: false, text });
        if effects.contains(&Effect::RunOutput { chat, call, output: Output::Cancelled }) {
            hand.say(Event::OutputAdded { chat, call, content: "cancelled by its own words".into() });
            hand.say(Event::OutputFinished { chat, call, outcome: OutputOutcome::Ran });
        }
        assert_eq!(hand.results()[0].1, said, "{event}");
    }
}

#[test]
fn r153_the_third_equal_call_asks_and_auto_answers_do_not_stick() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let mut effects = hand.calls("read", &[("r1", "calculator", Ok(json!({"path": "a", "n": 1})))]);
    for round in 1..=4 {
        let call = prepared(&effects)[0];
        let defines = Defined { success: true, ..Defined::default() };
        let preparation = preparation(1, defines, OwnApproval::Run, None);
        effects = hand.say(Event::CallPrepared { chat, call, preparation });
        if round >= 3 {
            let question = Question::once(Cause::DoomLoop, None, Scope::Chat);
            assert_eq!(asks(&effects), Some((question, 0)), "round {round}");
            hand.say(Event::ApprovalAnswered { chat, call, answer: Answer::Always { pattern: None } });
        } else {
            assert_eq!(asks(&effects), None, "round {round}");
        }
        effects = hand.succeed(call, "text");
        // The order of the keys does not make another call of it.
        let again = if round % 2 == 0 { json!({"path": "a", "n": 1}) } else { json!({"n": 1, "path": "a"}) };
        effects = hand.answer(&effects, &[("r", "calculator", Ok(again))]);
    }
}

#[test]
fn r153_a_call_that_cannot_run_is_not_repeated_for_ever() {
    let mut hand = Hand::new();
    let mut effects = hand.calls("read", &[("r1", "calculator", Err(cut_off()))]);
    assert!(sends(&effects));
    effects = hand.answer(&effects, &[("r2", "calculator", Err(cut_off()))]);
    assert!(sends(&effects));
    effects = hand.answer(&effects, &[("r3", "calculator", Err(cut_off()))]);
    assert!(!sends(&effects));
    assert_eq!(ended(&effects), Some(TurnEnd::Held));
    assert!(
        effects
            .contains(&Effect::Notify { chat: hand.chat, notice: Notice::RepeatedCall { name: "calculator".into() } })
    );
}

#[test]
fn what_is_typed_meanwhile_goes_out_with_the_results_and_stays_after_a_stop() {
    for stop in [false, true] {
        let mut hand = Hand::new();
        let chat = hand.chat;
        let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
        let call = prepared(&effects)[0];
        let preparation = preparation(1, Defined { success: true, ..Defined::default() }, OwnApproval::Ask, None);
        hand.say(Event::CallPrepared { chat, call, preparation });
        assert_eq!(hand.say(Event::Submitted { chat }), vec![Effect::HoldInput { chat, waiting: true }]);
        assert_eq!(hand.say(Event::Submitted { chat }), vec![]);
        if stop {
            let effects = hand.say(Event::ChatStopped { chat });
            assert!(effects.contains(&Effect::HoldInput { chat, waiting: false }));
            assert_eq!(ended(&effects), Some(TurnEnd::Stopped));
        } else {
            hand.say(Event::ApprovalAnswered { chat, call, answer: Answer::Accept });
            let effects = hand.succeed(call, "1");
            assert!(effects.contains(&Effect::TakeInput { chat }) && !sends(&effects));
            assert!(sends(&hand.say(Event::InputTaken { chat, text: Some("also".into()), typed: None })));
            let history = hand.engine.history(chat).expect("the chat is there").messages();
            assert_eq!(
                *history[3],
                Message::User { content: "also".into(), visible: true, typed: None, attachments: vec![] }
            );
        }
    }
}

#[test]
fn auto_submit_settings_decide_by_outcome_and_rejected_counts_as_success() {
    for (auto_submit_success, auto_submit_errors) in [(true, false), (false, true)] {
        let settings = ChatSettings { auto_submit_success, auto_submit_errors, ..ChatSettings::default() };
        let mut hand = Hand::with(settings.clone());
        let effects = hand.calls("x", &[("c1", "calculator", Err(cut_off()))]);
        assert_eq!(sends(&effects), auto_submit_errors);
        let mut hand = Hand::with(settings);
        let chat = hand.chat;
        let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
        let call = prepared(&effects)[0];
        let preparation = preparation(1, Defined::default(), OwnApproval::Ask, None);
        hand.say(Event::CallPrepared { chat, call, preparation });
        let reason = Some("wrong dir".to_owned());
        let effects = hand.say(Event::ApprovalAnswered { chat, call, answer: Answer::Reject { reason } });
        assert_eq!(sends(&effects), auto_submit_success);
        assert_eq!(hand.results()[0].1, "The user rejected the calculator tool: wrong dir");
        assert_eq!(ended(&effects), (!auto_submit_success).then_some(TurnEnd::Held));
        // An empty message sends what is held.
        if !auto_submit_success {
            hand.say(Event::Submitted { chat });
            assert!(sends(&hand.say(Event::InputTaken { chat, text: None, typed: None })));
        }
    }
}

#[test]
fn half_an_answer_of_a_failed_request_is_taken_back_when_it_is_sent_again() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    hand.say(Event::Submitted { chat });
    let request = request_of(&hand.say(Event::InputTaken { chat, text: Some("hello".into()), typed: None }));
    hand.say(Event::RequestItems { chat, request, items: vec![Item::Text("half".into())] });
    let effects = hand.say(Event::RequestFailed { chat, request, message: "reset".into() });
    assert_eq!(ended(&effects), Some(TurnEnd::Failed));
    hand.say(Event::Submitted { chat });
    let effects = hand.say(Event::InputTaken { chat, text: None, typed: None });
    assert_eq!(effects[0], Effect::TakeBackMessage { chat });
    assert!(sends(&effects));
    let history = hand.engine.history(chat).expect("the chat is there").messages();
    assert_eq!(history.len(), 1);
    // A whole answer stays.
    let request = request_of(&effects);
    hand.say(Event::RequestItems { chat, request, items: vec![Item::Text("whole".into())] });
    hand.say(Event::RequestFinished { chat, request });
    hand.say(Event::Submitted { chat });
    let effects = hand.say(Event::InputTaken { chat, text: None, typed: None });
    assert_eq!(effects, vec![Effect::Notify { chat, notice: Notice::NothingToSend }]);
}

#[test]
fn a_message_given_after_a_failed_request_is_not_taken_back() {
    for given_before in [false, true] {
        let (mut hand, request) = asked();
        let chat = hand.chat;
        let given =
            Event::MessageGiven { chat, role: Role::Llm, content: "given".into(), visible: true, attachments: vec![] };
        let failed = Event::RequestFailed { chat, request, message: "reset".into() };
        let (first, second) = if given_before { (given, failed) } else { (failed, given) };
        hand.say(first);
        hand.say(second);
        hand.say(Event::Submitted { chat });
        let effects = hand.say(Event::InputTaken { chat, text: None, typed: None });
        assert_eq!(effects, vec![Effect::Notify { chat, notice: Notice::NothingToSend }]);
    }
}

#[test]
fn requested_calls_that_a_failed_turn_drops_are_logged_by_name() {
    let (mut hand, request) = asked();
    let chat = hand.chat;
    let call = RequestedCall { wire_id: String::new(), name: "glob".into(), arguments: String::new() };
    hand.say(Event::CallsRequested { chat, calls: vec![call], tools: Arc::from([]), submit: false });
    let effects = hand.say(Event::RequestFailed { chat, request, message: "reset".into() });
    let logged = |effect: &Effect| matches!(effect, Effect::Log { text, .. } if text.ends_with("ended: glob"));
    assert!(effects.iter().any(logged), "{effects:?}");
}

#[test]
fn a_retry_takes_the_last_answer_back_and_runs_no_tool_again() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    assert_eq!(hand.say(Event::Retried { chat }), vec![Effect::Notify { chat, notice: Notice::NothingToSend }]);
    let effects = hand.calls("100*50", &[("c1", "calculator", Ok(json!({"num1": 100})))]);
    assert_eq!(hand.say(Event::Retried { chat }), vec![Effect::Notify { chat, notice: Notice::StillRunning }]);
    let request = request_of(&hand.finish(prepared(&effects)[0], "5000"));
    hand.say(Event::RequestItems { chat, request, items: vec![Item::Text("It is 5000.".into())] });
    hand.say(Event::RequestFinished { chat, request });
    let effects = hand.say(Event::Retried { chat });
    assert_eq!(effects[..2], [Effect::TakeBackMessage { chat }, Effect::StartTurn { chat }]);
    let request = request_of(&effects);
    assert_eq!(hand.results(), vec![("c1".into(), "5000".into(), false)]);
    // One that failed before it said anything is sent again as it was.
    hand.say(Event::RequestFailed { chat, request, message: "overloaded".into() });
    let effects = hand.say(Event::Retried { chat });
    assert_eq!(effects[0], Effect::StartTurn { chat });
    assert!(sends(&effects));
}

#[test]
fn editing_the_last_message_forgets_it_and_what_came_of_it() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let nothing = vec![Effect::Notify { chat, notice: Notice::NothingToEdit }];
    assert_eq!(hand.say(Event::LastMessageTaken { chat }), nothing);
    hand.say(Event::MessageGiven {
        chat,
        role: Role::User,
        content: "context".into(),
        visible: false,
        attachments: vec![],
    });
    assert_eq!(hand.say(Event::LastMessageTaken { chat }), nothing, "what the user does not see is not theirs");
    let effects = hand.calls("100*50", &[("c1", "calculator", Ok(json!({"num1": 100})))]);
    assert_eq!(hand.say(Event::LastMessageTaken { chat }), vec![Effect::Notify { chat, notice: Notice::StillRunning }]);
    hand.finish(prepared(&effects)[0], "5000");
    hand.say(Event::ChatStopped { chat });
    assert_eq!(hand.say(Event::LastMessageTaken { chat }), vec![Effect::CutHistory { chat, kept: 1 }]);
    assert_eq!(hand.engine.history(chat).map(|history| history.messages().len()), Some(1));
    assert_eq!(hand.say(Event::LastMessageTaken { chat }), nothing);
}

#[test]
fn a_restored_chat_comes_back_in_order_and_goes_on_with_a_valid_request() {
    let message = |message: Message| Arc::new(message);
    let call = |id: &str| Call { wire_id: id.into(), name: "glob".into(), arguments: "{}".into(), extra: None };
    let user = message(Message::User { content: "go".into(), visible: true, typed: None, attachments: vec![] });
    let calls = vec![call("c1"), call("c2")];
    let llm = message(Message::Llm { content: String::new(), reasoning: String::new(), calls, opaque: None });
    let result = |id: &str| {
        message(Message::Tool {
            wire_id: id.into(),
            content: format!("result of {id}"),
            is_error: false,
            attachments: vec![],
        })
    };
    let mut history = History::default();
    for message in [&user, &llm, &result("c2"), &result("c1")] {
        history.push_shared(Arc::clone(message));
    }
    let look = Look { state: "success".into(), head: "glob  *".into(), ..Look::default() };
    let looks = [("c2".to_owned(), look.clone())].into();
    let restored = Restored { history, looks, unknown: vec!["glob".into(); 2], ..Restored::default() };
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.say(Event::ChatRestored { chat, restored: restored.clone() });
    let shown = |message: &Arc<Message>| Effect::RestoreMessage { chat, message: Arc::clone(message) };
    let shown_call = |index, id: &str, look| {
        let (message, result) = (Arc::clone(&llm), result(id));
        Effect::RestoreCall { chat, message, index, result, look }
    };
    let text = "The chat was interrupted. 2 calls had started, and what was done is not known: glob.";
    assert_eq!(
        effects,
        vec![
            shown(&user),
            shown(&llm),
            shown_call(0, "c1", None),
            shown_call(1, "c2", Some(look)),
            shown(&result("c1")),
            shown(&result("c2")),
            Effect::Notify { chat, notice: Notice::Restored(text.into()) },
        ]
    );
    assert!(matches!(hand.say(Event::ChatRestored { chat, restored })[..], [Effect::Log { .. }]), "it is not empty");
    // An id that a saved call has is not given again.
    let effects = hand.calls("more", &[("c1", "glob", Ok(json!({})))]);
    let given = effects.iter().find_map(|effect| match effect {
        Effect::AddCall { wire_id, .. } => Some(wire_id.as_str()),
        _ => None,
    });
    assert_eq!(given, Some("call_lathe_1"));
}

#[test]
fn half_an_answer_that_was_saved_is_taken_back_when_it_is_asked_for_again() {
    let mut history = History::default();
    history.push(Message::User { content: "go".into(), visible: true, typed: None, attachments: vec![] });
    history.push(Message::Llm { content: "half".into(), reasoning: String::new(), calls: Vec::new(), opaque: None });
    let mut hand = Hand::new();
    let chat = hand.chat;
    let restored = Restored { history, interrupted: true, ..Restored::default() };
    hand.say(Event::ChatRestored { chat, restored });
    hand.say(Event::Submitted { chat });
    let effects = hand.say(Event::InputTaken { chat, text: None, typed: None });
    assert_eq!(effects[0], Effect::TakeBackMessage { chat });
    assert!(sends(&effects));
}

#[test]
fn stop_during_setup_still_runs_on_exit() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
    let call = prepared(&effects)[0];
    assert_eq!(hand.say(Event::ChatStopped { chat }), vec![]);
    let effects =
        hand.say(Event::CallPrepared { chat, call, preparation: preparation(1, ALL, OwnApproval::Run, None) });
    assert_eq!(effects, vec![Effect::RunOutput { chat, call, output: Output::Cancelled }]);
    let effects = hand.say(Event::OutputFinished { chat, call, outcome: OutputOutcome::Ran });
    assert_eq!(effects, vec![Effect::RunExit { chat, call, shared: false }]);
    assert_eq!(ended(&hand.say(Event::ExitFinished { chat, call })), Some(TurnEnd::Stopped));
}

#[test]
fn p70_a_result_over_the_limits_is_cut_before_it_joins_the_history() {
    let limits = Limits { max_lines: 3, max_bytes: 10, ..Limits::new(Keep::Head) };
    let mut hand = Hand::with(ChatSettings { limits: limits.clone(), ..ChatSettings::default() });
    let effects = hand.calls(
        "x",
        &[
            ("c1", "glob", Ok(json!({"n": 1}))),
            ("c2", "glob", Ok(json!({"n": 2}))),
            ("c3", "glob", Ok(json!({"n": 3}))),
            ("c4", "glob", Ok(json!({"n": 4}))),
        ],
    );
    let chat = hand.chat;
    let first = prepared(&effects)[0];
    let [second, third, fourth] = [1, 2, 3].map(|after| CallId(first.0 + after));
    let effects = hand.finish(first, "12345\n7890a");
    let content = "12345\n7890a".to_owned();
    assert!(effects.contains(&Effect::CutContent { chat, call: first, content, limits, media: vec![] }), "{effects:?}");
    // Each is prepared as soon as the one before is decided.
    hand.finish(second, "12345\n7890");
    assert_eq!(hand.results(), [], "exactly at the limit is not cut, and waits for the one before");
    let effects = hand.finish(third, "1\n2\n3\n");
    assert!(effects.iter().any(|effect| matches!(effect, Effect::CutContent { .. })), "four lines");
    // A stop while it is cut loses nothing of it.
    let late = Event::OutputAdded { chat, call: third, content: "late".into() };
    assert!(matches!(hand.say(late)[..], [Effect::Log { level: LogLevel::Debug, .. }]));
    hand.say(Event::ChatStopped { chat });
    hand.say(Event::ContentCut { chat, call: third, content: "cut 3".into(), media: KeptMedia::default() });
    assert_eq!(hand.results(), []);
    let effects =
        hand.say(Event::ContentCut { chat, call: first, content: "cut 1".into(), media: KeptMedia::default() });
    let texts: Vec<_> = hand.results().into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(texts, ["cut 1", "12345\n7890", "cut 3"]);
    assert_eq!(ended(&effects), None, "the fourth is still being prepared");
    let ready = preparation(0, Defined::default(), OwnApproval::Run, None);
    hand.say(Event::CallPrepared { chat, call: fourth, preparation: ready });
    let effects =
        hand.say(Event::ContentCut { chat, call: fourth, content: "cut 4".into(), media: KeptMedia::default() });
    assert_eq!(ended(&effects), Some(TurnEnd::Stopped));
}

/// A chat in auto mode with a prepared call of a guarded tool that the judge may be asked about.
fn guarded() -> (Hand, CallId, Vec<Effect>) {
    let mut hand = Hand::new();
    let chat = hand.chat;
    hand.say(Event::AutoSet { chat, auto: true });
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({}))), ("c2", "calculator", Ok(json!({"n": 2})))]);
    let call = prepared(&effects)[0];
    let mut preparation = preparation(1, Defined::default(), OwnApproval::Ask, Some(1_000));
    (preparation.gate.by_command, preparation.gate.judge) = (true, true);
    let effects = hand.say(Event::CallPrepared { chat, call, preparation });
    assert_eq!(effects, vec![Effect::FindFact { chat, call, fact: Fact::JudgeContext }]);
    let effects = hand.fact(call, Found::JudgeContext(true));
    (hand, call, effects)
}

impl Hand {
    fn fact(&mut self, call: CallId, found: Found) -> Vec<Effect> {
        self.say(Event::FactFound { chat: self.chat, call, fact: found.fact(), found: Some(found) })
    }
}

#[test]
fn a_judge_that_never_answers_counts_as_ask_after_30_s_and_the_question_says_so() {
    let (mut hand, call, effects) = guarded();
    let chat = hand.chat;
    assert_eq!(effects, vec![Effect::AskJudge { chat, call }]);
    assert_eq!(hand.engine.next_deadline_ms(), Some(30_000));
    hand.now_ms = 29_999;
    assert_eq!(hand.say(Event::TimePassed), vec![]);
    hand.now_ms = 30_000;
    let judged = Some(Judged::Failed("no answer in 30 s".into()));
    let need = Effect::FindFact { chat, call, fact: Fact::CmdString };
    assert_eq!(hand.say(Event::TimePassed), vec![Effect::EndJudge { chat, call, judged }, need]);
    let late = hand.fact(call, Found::Judge(Judged::Safe("late".into())));
    assert!(matches!(late[..], [Effect::Log { level: LogLevel::Debug, .. }]), "{late:?}");
    let effects = hand.fact(call, Found::CmdString("rm x".into()));
    let remember = vec![Approval::new("calculator", Some("rm x".into()))];
    let note = Some("judge failed: no answer in 30 s".to_owned());
    let question = Question { remember, ..Question::once(Cause::AutoMode, note, Scope::Chat) };
    assert_eq!(asks(&effects), Some((question, 1)));
    // What is late now says nothing about the open question either.
    let late = hand.fact(call, Found::Judge(Judged::Safe("late".into())));
    assert!(matches!(late[..], [Effect::Log { level: LogLevel::Debug, .. }]), "{late:?}");
    assert_eq!(hand.engine.next_deadline_ms(), None, "a question has no limit");
    hand.now_ms = 90_000;
    hand.say(Event::ApprovalAnswered { chat, call, answer: Answer::Accept });
    assert_eq!(hand.engine.next_deadline_ms(), Some(91_000), "neither the judge's time nor the user's is the tool's");
}

#[test]
fn a_stop_while_the_judge_thinks_ends_that_and_its_answer_runs_nothing() {
    let (mut hand, call, _) = guarded();
    let chat = hand.chat;
    let effects = hand.say(Event::ChatStopped { chat });
    assert_eq!(effects[0], Effect::EndJudge { chat, call, judged: None });
    let effects = hand.fact(call, Found::Judge(Judged::Safe("late".into())));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::RunCmd { .. })), "{effects:?}");
}

#[test]
fn a_verdict_counts_only_while_auto_mode_is_on() {
    for auto in [true, false] {
        let (mut hand, call, _) = guarded();
        let chat = hand.chat;
        assert_eq!(hand.say(Event::AutoSet { chat, auto }), vec![]);
        let judged = Judged::Safe("reads".into());
        let effects = hand.fact(call, Found::Judge(judged.clone()));
        let next = if auto {
            Effect::RunCmd { chat, call, cmd: 0 }
        } else {
            Effect::FindFact { chat, call, fact: Fact::CmdString }
        };
        assert_eq!(effects, vec![Effect::EndJudge { chat, call, judged: Some(judged) }, next]);
    }
}

#[test]
fn r016_an_approval_that_is_taken_back_asks_again() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let mut effects = hand.calls("x", &[("c", "calculator", Ok(json!({"n": 1})))]);
    for (round, expected) in [(1, true), (2, false), (3, true)] {
        let call = prepared(&effects)[0];
        let defines = Defined { success: true, ..Defined::default() };
        let preparation = preparation(1, defines, OwnApproval::Ask, None);
        effects = hand.say(Event::CallPrepared { chat, call, preparation });
        assert_eq!(asks(&effects), expected.then(|| (own_question("calculator"), 0)), "round {round}");
        if expected {
            hand.say(Event::ApprovalAnswered { chat, call, answer: Answer::Always { pattern: None } });
        }
        effects = hand.succeed(call, "text");
        effects = hand.answer(&effects, &[("c", "calculator", Ok(json!({"n": round + 1})))]);
        if round == 2 {
            let approval = Approval::new("calculator", None);
            assert_eq!(hand.engine.approvals(), vec![(chat, approval.clone(), 0)]);
            hand.say(Event::ApprovalForgotten { chat, approval });
            assert_eq!(hand.engine.approvals(), vec![]);
        }
    }
}

#[test]
fn approvals_for_a_project_are_saved_and_looked_up_there_and_nowhere_else() {
    let project: Arc<str> = Arc::from("/project");
    let mut hand = Hand::with(ChatSettings { project: Some(Arc::clone(&project)), ..ChatSettings::default() });
    let chat = hand.chat;
    let effects = hand.calls("x", &[("c1", "calculator", Ok(json!({})))]);
    let call = prepared(&effects)[0];
    let preparation = preparation(1, Defined::default(), OwnApproval::Ask, None);
    let approval = Approval::new("calculator", None);
    let look_up = Effect::FindSaved { chat, call, project: Arc::clone(&project), approvals: vec![approval.clone()] };
    assert_eq!(hand.say(Event::CallPrepared { chat, call, preparation }), vec![look_up]);
    let effects = hand.fact(call, Found::Saved(false));
    let question = Question { remember: vec![approval.clone()], scope: Scope::Project, ..own_question("calculator") };
    assert_eq!(asks(&effects), Some((question, 0)));
    let effects = hand.say(Event::ApprovalAnswered { chat, call, answer: Answer::Always { pattern: None } });
    assert!(effects.contains(&Effect::SaveApproval { project, approval }), "{effects:?}");
    assert_eq!(hand.engine.approvals(), vec![]);
}

fn copying(effects: &[Effect]) -> Option<(CallId, Copying)> {
    effects.iter().find_map(|effect| match effect {
        Effect::PrepareCall { call, copying, .. } => Some((*call, *copying)),
        _ => None,
    })
}

#[test]
fn calls_in_a_row_of_a_tool_with_use_handlers_once_share_copy_yes_and_exit() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let arguments = |n: u32| Ok(json!({"n": n}));
    let mut effects = hand.calls(
        "x",
        &[
            ("e1", "edit", arguments(1)),
            ("e2", "edit", Err(cut_off())),
            ("e3", "edit", arguments(3)),
            ("e4", "edit", arguments(4)),
        ],
    );
    let defines = Defined { success: true, on_exit: true, ..Defined::default() };
    for (round, expected) in [Copying::First, Copying::Shared, Copying::Shared].into_iter().enumerate() {
        let (call, found) = copying(&effects).expect("the next call is prepared");
        assert_eq!(found, expected);
        let preparation = preparation(1, defines, OwnApproval::Ask, None);
        effects = hand.say(Event::CallPrepared { chat, call, preparation });
        if round == 0 {
            assert_eq!(asks(&effects).map(|(_, rest)| rest), Some(3));
            hand.say(Event::ApprovalAnswered { chat, call, answer: Answer::Accept });
        } else {
            assert_eq!(asks(&effects), None, "the yes is for all of them");
        }
        effects = hand.succeed(call, "edited");
        let exit = Effect::RunExit { chat, call, shared: true };
        assert_eq!(effects.contains(&exit), round == 2, "round {round}: {effects:?}");
        if round == 2 {
            assert!(sends(&hand.say(Event::ExitFinished { chat, call })));
        }
    }
    assert_eq!(hand.results().len(), 4);
}

#[test]
fn the_exit_that_calls_share_waits_for_a_command_that_is_being_stopped() {
    let mut hand = Hand::new();
    let chat = hand.chat;
    let effects = hand.calls("x", &[("e1", "edit", Ok(json!({"n": 1}))), ("e2", "edit", Ok(json!({"n": 2})))]);
    let (call, _) = copying(&effects).expect("a call is prepared");
    hand.say(Event::CallPrepared {
        chat,
        call,
        preparation: preparation(1, Defined { on_exit: true, ..Defined::default() }, OwnApproval::Run, None),
    });
    hand.say(Event::CommandStarted { chat, call, cmd: 0 });
    let effects = hand.say(Event::ChatStopped { chat });
    assert_eq!(effects, vec![Effect::KillJobs { chat, call, why: KillReason::User }]);
    let effects = hand.say(Event::CommandFinished { chat, call, cmd: 0, succeeded: false, text: "half".into() });
    let last = CallId(call.0 + 1);
    assert!(effects.contains(&Effect::RunOutput { chat, call: last, output: Output::Cancelled }), "{effects:?}");
    let effects = hand.say(Event::OutputFinished { chat, call: last, outcome: OutputOutcome::Undefined });
    assert_eq!(effects, vec![Effect::RunExit { chat, call: last, shared: true }]);
    assert_eq!(ended(&hand.say(Event::ExitFinished { chat, call: last })), Some(TurnEnd::Stopped));
}

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
            Event::ChatStopped { chat } if self.engine.is_idle(chat) == Some(false) => {
                self.stopping.insert(chat);
            }
            Event::CmdFinished { call, cmd, .. } | Event::CommandFinished { call, cmd, .. } => {
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
        if let (Some(chat), Some(record)) = (effect.chat(), self.recorder.record(&effect)) {
            assert!(Recorder::may_record(&effect), "{effect:?}");
            record.write(self.files.entry(chat).or_default());
        }
        match effect {
            Effect::TakeInput { chat } => {
                let text = (self.choose(4) != 3).then(|| "hello".to_owned());
                self.queue.push_back(Event::InputTaken { chat, text, typed: None });
            }
            Effect::StartTurn { chat } => *self.turns.entry(chat).or_default() += 1,
            Effect::FinishTurn { chat, .. } => *self.turns.entry(chat).or_default() -= 1,
            Effect::SendRequest { chat, request } => {
                self.check_history(chat);
                self.answer(chat, request);
            }
            Effect::CheckCalls { chat, calls } => {
                let calls = calls.into_iter().map(|call| {
                    let arguments = match self.choose(6) {
                        5 => Err(cut_off()),
                        4 => Err(ArgumentsError::DoesNotFit("no fit".into())),
                        _ => Ok(serde_json::from_str(&call.arguments).unwrap_or_default()),
                    };
                    CheckedCall::new(call.call, arguments)
                });
                let event = Event::CallsChecked { chat, calls: calls.collect() };
                self.loose.push(event);
            }
            Effect::AddCall { chat, call, .. } => {
                assert_eq!(self.added.insert(call, chat), None);
            }
            Effect::PrepareCall { chat, call, copying, .. } => {
                if copying == Copying::Shared {
                    assert!(self.kept.contains_key(&chat), "a copy is shared that was kept");
                } else if copying == Copying::First {
                    let before = self.kept.remove(&chat);
                    assert!(before.is_none_or(|copy| !self.set_up[&copy]), "one run ends before the next begins");
                }
                let event = if self.choose(8) == 7 {
                    // The copy that was kept was set up long ago.
                    let on_exit = copying != Copying::Shared && self.choose(2) == 1;
                    if copying != Copying::Shared {
                        self.set_up.insert(call, on_exit);
                    }
                    Event::CallNotPrepared { chat, call, message: "setup threw".into(), on_exit }
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
                    Event::CallPrepared { chat, call, preparation }
                };
                self.queue.push_back(event);
            }
            Effect::FindFact { chat, call, fact } => {
                let answer = self.choose(3) == 1;
                let found = match fact {
                    Fact::OwnApproval => Found::OwnApproval(answer),
                    Fact::CmdString => Found::CmdString(if answer { "ls" } else { "rm" }.to_owned()),
                    Fact::IsSafe => Found::IsSafe(answer),
                    Fact::JudgeContext => Found::JudgeContext(answer),
                    Fact::Rules | Fact::Pairs | Fact::Saved | Fact::Judge => panic!("{fact:?} is not Lua's"),
                };
                let found = (self.choose(3) != 2).then_some(found);
                self.queue.push_back(Event::FactFound { chat, call, fact, found });
            }
            Effect::LoadPermissions { chat, call } => {
                // Loaded, or not; at once or late.
                let event = match self.choose(3) {
                    0 => Event::FactFound { chat, call, fact: Fact::Rules, found: None },
                    _ => Event::PermissionsLoaded { chat, permissions: permissions() },
                };
                self.loose.push(event);
            }
            Effect::FindPairs { chat, call, .. } => {
                let values = ["ls", "git push", "rm x", "git status"];
                let some = (0..self.choose(3))
                    .map(|_| Want::new(Pair::new(BASH, values[self.choose(4) as usize]), &permissions().rules))
                    .collect();
                let found = (self.choose(4) != 3).then_some(Found::Pairs(some));
                self.loose.push(Event::FactFound { chat, call, fact: Fact::Pairs, found });
            }
            Effect::FindSaved { chat, call, approvals, .. } => {
                let found = Some(Found::Saved(approvals.iter().all(|approval| self.saved.contains(approval))));
                self.loose.push(Event::FactFound { chat, call, fact: Fact::Saved, found });
            }
            Effect::SaveApproval { approval, .. } => drop(self.saved.insert(approval)),
            Effect::AskJudge { chat, call } => {
                assert!(self.judging.insert(call), "the judge is asked once");
                let judged = match self.choose(4) {
                    0 => Judged::Safe("safe".into()),
                    1 => Judged::Unsafe("unsafe".into()),
                    2 => Judged::Failed("failed".into()),
                    // Never answers: the clock does.
                    _ => return,
                };
                let found = Some(Found::Judge(judged));
                self.loose.push(Event::FactFound { chat, call, fact: Fact::Judge, found });
            }
            Effect::EndJudge { call, .. } => assert!(self.judging.remove(&call), "what ends was begun"),
            Effect::AskApproval { chat, call, .. } => {
                assert!(self.asked.insert(call), "a call asks once");
                let answer = match self.choose(6) {
                    0 => Answer::Cancel,
                    1 => Answer::Reject { reason: None },
                    2 => Answer::Always { pattern: None },
                    _ => Answer::Accept,
                };
                let event = Event::ApprovalAnswered { chat, call, answer };
                self.loose.push(event);
            }
            Effect::RunCmd { chat, call, cmd } => {
                assert!(!self.stopping.contains(&chat), "a stopped chat runs nothing");
                let before = cmd.checked_sub(1);
                assert!(before.is_none_or(|cmd| self.delivered.contains(&(call, cmd))), "cmds run one after another");
                let succeeded = self.choose(4) != 3;
                let finished = Event::CmdFinished { chat, call, cmd, succeeded };
                match self.choose(6) {
                    5 => {
                        self.queue.push_back(Event::CommandStarted { chat, call, cmd });
                        let text = "printed".to_owned();
                        self.loose.push(Event::CommandFinished { chat, call, cmd, succeeded, text });
                    }
                    0 => self.queue.push_back(finished),
                    1 => self.loose.push(finished),
                    // Both returns and calls back, twice.
                    2 => {
                        self.queue.push_back(finished.clone());
                        self.loose.push(finished);
                    }
                    // Never answers; the clock or the user ends it.
                    3 => self.loose.push(Event::CallSkipped { chat }),
                    _ => {
                        self.loose.push(Event::OutputAdded { chat, call, content: "early".into() });
                        self.loose.push(finished);
                    }
                }
            }
            Effect::RunOutput { chat, call, output } => {
                if let Output::Success { cmd } = output {
                    assert!(self.delivered.contains(&(call, cmd)), "a cmd succeeds by its own result");
                }
                for _ in 0..self.choose(3) {
                    self.queue.push_back(Event::OutputAdded { chat, call, content: "said".into() });
                }
                let outcome = match self.choose(4) {
                    3 => OutputOutcome::Threw("thrown".into()),
                    2 => OutputOutcome::Undefined,
                    _ => OutputOutcome::Ran,
                };
                self.queue.push_back(Event::OutputFinished { chat, call, outcome });
                if self.choose(4) == 3 {
                    self.loose.push(Event::OutputAdded { chat, call, content: "late".into() });
                }
            }
            Effect::RunExit { chat, call, shared } => {
                let copy = if shared { self.kept.remove(&chat).expect("a copy was kept") } else { call };
                *self.exits.entry(copy).or_default() += 1;
                self.queue.push_back(Event::ExitFinished { chat, call });
            }
            Effect::CutContent { chat, call, content, .. } => {
                let content = content[..1].to_owned();
                self.loose.push(Event::ContentCut { chat, call, content, media: KeptMedia::default() });
            }
            Effect::FinishCall { call, .. } => {
                *self.finished.entry(call).or_default() += 1;
                assert!(!self.judging.contains(&call), "nobody judges a call that is over");
            }
            Effect::FinishBatch { chat, .. } => {
                // One without an `on_exit` is just left.
                if let Some(copy) = self.kept.remove(&chat) {
                    assert!(!self.set_up[&copy], "`on_exit` of a shared copy has run by the end of the batch");
                }
            }
            Effect::CloseChat { chat } => {
                assert!(self.closed.insert(chat), "a chat closes once");
            }
            Effect::Log { level, text } => assert_ne!(level, LogLevel::Error, "{text}"),
            Effect::HoldInput { .. }
            | Effect::AbortRequest { .. }
            | Effect::FinishRequest { .. }
            | Effect::ShowText { .. }
            | Effect::ShowReasoning { .. }
            | Effect::ShowProviderCall { .. }
            | Effect::StartBatch { .. }
            | Effect::CloseQuestion { .. }
            | Effect::KillJobs { .. }
            | Effect::StoreText { .. }
            | Effect::Notify { .. }
            | Effect::Tell { .. } => {}
            Effect::AddMessage { chat, message } => self.told.entry(chat).or_default().push(message),
            Effect::RestoreMessage { .. } | Effect::RestoreCall { .. } => panic!("nothing was saved"),
            Effect::TakeBackMessage { chat } => {
                let taken = self.told.entry(chat).or_default().pop();
                assert!(matches!(taken.as_deref(), Some(Message::Llm { calls, .. }) if calls.is_empty()), "{taken:?}");
            }
            Effect::CutHistory { chat, kept } => {
                let told = self.told.entry(chat).or_default();
                assert!(matches!(*told[kept], Message::User { visible: true, .. }), "it goes back into the input");
                told.truncate(kept);
            }
            Effect::ClearChat { chat } => self.told.entry(chat).or_default().clear(),
        }
    }

    fn answer(&mut self, chat: ChatId, request: RequestId) {
        self.loose.push(Event::RequestStarted {
            chat,
            request,
            tools: Arc::from([tool("one", false), tool("two", true), tool("three", true), once("four")]),
        });
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
        self.loose.push(Event::RequestItems { chat, request, items });
        let end = match self.choose(5) {
            4 => Event::RequestFailed { chat, request, message: "reset".into() },
            _ => Event::RequestFinished { chat, request },
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
            11 => Some(Event::Submitted { chat }),
            12 => Some(match self.choose(9) {
                7 => Event::PermissionsLoaded { chat, permissions: permissions() },
                5 => Event::Retried { chat },
                6 => Event::LastMessageTaken { chat },
                0 => Event::ChatStopped { chat },
                1 => Event::CallSkipped { chat },
                2 => Event::ChatCleared { chat },
                3 if self.choose(4) == 3 => Event::ChatClosed { chat },
                4 => Event::MessageGiven {
                    chat,
                    role: Role::User,
                    content: "given".into(),
                    visible: false,
                    attachments: vec![],
                },
                _ => {
                    let call = RequestedCall { wire_id: String::new(), name: "one".into(), arguments: "{}".into() };
                    let tools = Arc::from([tool("one", false)]);
                    Event::CallsRequested { chat, calls: vec![call], tools, submit: self.choose(2) == 1 }
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
                self.handle(Event::ChatStopped { chat });
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
            storm.handle(Event::ChatOpened { chat, settings });
            chat
        }).collect();
        storm.handle(Event::Submitted { chat: chats[0] });
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
