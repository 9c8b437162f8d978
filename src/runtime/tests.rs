//! Worker threads, requests and the alarm, without an editor.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use super::commands::{CommandCmd, RunError};
use super::requests::request_panicked;
use super::*;
use crate::adapter::Item;
use crate::engine::event::{ChatEvent, Event, Failure, RequestEvent};
use crate::output::Limits;
use crate::tool::{ArgumentsError, CallId, UncheckedCall};

/// Longer than anything here takes on a busy machine; only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(20);

const CHAT: ChatId = ChatId(1);
const REQUEST: RequestId = RequestId(2);

/// A runtime and a main loop that waits for events.
struct Harness {
    runtime: Runtime,
    inbox: Arc<Inbox>,
    woken: Arc<(Mutex<bool>, Condvar)>,
}

fn harness() -> Harness {
    let woken = Arc::new((Mutex::new(false), Condvar::new()));
    let waker = Arc::clone(&woken);
    let inbox = Arc::new(Inbox::new(move || {
        *lock(&waker.0) = true;
        waker.1.notify_all();
    }));
    Harness { runtime: Runtime::new(Arc::clone(&inbox)), inbox, woken }
}

impl Harness {
    fn next(&self) -> Event {
        let started = Instant::now();
        loop {
            if let Some(event) = self.inbox.pop() {
                return event;
            }
            let left = PATIENCE.checked_sub(started.elapsed()).expect("an event in time");
            let woken = lock(&self.woken.0);
            let (mut woken, _) = self.woken.1.wait_timeout_while(woken, left, |woken| !*woken).expect("the lock");
            *woken = false;
        }
    }

    /// Everything up to the end of the request; the items in one list.
    fn answer(&self) -> (Vec<Item>, Event) {
        let mut all = Vec::new();
        loop {
            match self.next() {
                Event::Addressed {
                    chat: CHAT,
                    event: ChatEvent::Request { request: REQUEST, event: RequestEvent::Items(items) },
                } => all.extend(items),
                end => return (all, end),
            }
        }
    }
}

#[track_caller]
fn until(mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "the condition never came true");
        std::thread::yield_now();
    }
}

fn unchecked_call(call: u64, schema: Option<crate::tool::SchemaId>, arguments: &str) -> UncheckedCall {
    UncheckedCall {
        call: CallId(call),
        schema,
        numeric_strings: false,
        keeps_arguments: false,
        arguments: arguments.to_owned(),
        route: None,
    }
}

#[test]
fn calls_are_checked_in_their_order() {
    let harness = harness();
    let schema = Some(harness.runtime.schemas().intern(r#"{"required": ["a"]}"#));
    let calls =
        vec![unchecked_call(1, schema, r#"{"a": 1}"#), unchecked_call(2, schema, "{}"), unchecked_call(3, None, "")];
    harness.runtime.check_calls(CHAT, calls);
    let Event::Addressed { chat: CHAT, event: ChatEvent::CallsChecked(calls) } = harness.next() else {
        panic!("no checked calls")
    };
    assert_eq!(calls.iter().map(|call| call.call).collect::<Vec<_>>(), [CallId(1), CallId(2), CallId(3)]);
    assert_eq!(calls[0].arguments, Ok(json!({"a": 1})));
    assert!(matches!(calls[1].arguments, Err(ArgumentsError::DoesNotFit(_))));
    assert_eq!(calls[2].arguments, Ok(json!({})));
}

#[test]
fn a_scripted_turn_is_played_to_its_end() {
    let harness = harness();
    harness.runtime.start_scripted(CHAT, REQUEST, r#"{"text": "a", "delay_ms": 1, "usage": {"input": 1}}"#.to_owned());
    let (items, end) = harness.answer();
    assert_eq!(items, [Item::Text("a".to_owned()), Item::Usage { input: 1, output: 0 }]);
    assert_eq!(end, Event::request(CHAT, REQUEST, RequestEvent::Finished));
}

#[test]
fn a_scripted_error_fails_the_request_after_its_text() {
    let harness = harness();
    harness.runtime.start_scripted(CHAT, REQUEST, r#"{"text": "a", "error": "overloaded"}"#.to_owned());
    let (items, end) = harness.answer();
    assert_eq!(items, [Item::Text("a".to_owned())]);
    assert_eq!(end, Event::request(CHAT, REQUEST, RequestEvent::Failed("overloaded".to_owned().into())));
}

#[test]
fn a_turn_that_cannot_be_used_fails_the_request() {
    let harness = harness();
    harness.runtime.start_scripted(CHAT, REQUEST, r#"{"txt": "a"}"#.to_owned());
    let Event::Addressed {
        event: ChatEvent::Request { event: RequestEvent::Failed(Failure { message, .. }), .. }, ..
    } = harness.next()
    else {
        panic!("the request did not fail")
    };
    assert!(message.contains("txt"), "{message}");
}

#[test]
fn an_aborted_request_ends_and_is_forgotten() {
    let harness = harness();
    harness.runtime.start_scripted(CHAT, REQUEST, r#"{"text": "a", "hang": true}"#.to_owned());
    assert!(matches!(
        harness.next(),
        Event::Addressed { event: ChatEvent::Request { event: RequestEvent::Items(_), .. }, .. }
    ));
    let task = lock(&harness.runtime.requests.0)[&REQUEST].clone();
    harness.runtime.abort(REQUEST);
    until(|| task.is_finished());
    assert!(lock(&harness.runtime.requests.0).is_empty());
    harness.runtime.abort(REQUEST);
    assert_eq!(harness.inbox.pop(), None);
}

#[test]
fn a_finished_request_is_forgotten() {
    let harness = harness();
    harness.runtime.start_scripted(CHAT, REQUEST, "{}".to_owned());
    assert_eq!(harness.next(), Event::request(CHAT, REQUEST, RequestEvent::Finished));
    until(|| lock(&harness.runtime.requests.0).is_empty());
}

#[test]
fn a_panic_fails_the_request() {
    let harness = harness();
    let workers = harness.runtime.workers().expect("threads");
    harness.runtime.requests.start(
        &workers.handle,
        &harness.inbox,
        REQUEST,
        async { panic!("on purpose") },
        request_panicked(CHAT, REQUEST),
    );
    assert!(matches!(
        harness.next(),
        Event::Addressed {
            chat: CHAT,
            event: ChatEvent::Request { request: REQUEST, event: RequestEvent::Failed { .. } }
        }
    ));
}

#[test]
fn a_request_that_is_started_twice_runs_once() {
    let harness = harness();
    harness.runtime.start_scripted(CHAT, REQUEST, r#"{"text": "a", "delay_ms": 20}"#.to_owned());
    harness.runtime.start_scripted(CHAT, REQUEST, r#"{"text": "b"}"#.to_owned());
    let (items, end) = harness.answer();
    assert_eq!(items, [Item::Text("a".to_owned())]);
    assert_eq!(end, Event::request(CHAT, REQUEST, RequestEvent::Finished));
}

#[test]
fn two_requests_interleave() {
    let harness = harness();
    harness.runtime.start_scripted(CHAT, RequestId(1), r#"{"hang": true}"#.to_owned());
    harness.runtime.start_scripted(CHAT, REQUEST, "{}".to_owned());
    assert_eq!(harness.next(), Event::request(CHAT, REQUEST, RequestEvent::Finished));
}

#[test]
fn the_alarm_rings_at_its_deadline_and_not_before() {
    let harness = harness();
    let deadline_ms = now_ms() + 30;
    harness.runtime.set_alarm(Some(deadline_ms));
    assert_eq!(harness.next(), Event::TimePassed);
    assert!(now_ms() >= deadline_ms);
}

#[test]
fn the_same_deadline_rings_again_when_it_is_set_again() {
    let harness = harness();
    for _ in 0..3 {
        harness.runtime.set_alarm(Some(0));
        assert_eq!(harness.next(), Event::TimePassed);
    }
}

#[test]
fn a_later_deadline_replaces_an_earlier_one_and_none_removes_it() {
    let harness = harness();
    harness.runtime.set_alarm(Some(now_ms() + 1_000_000));
    harness.runtime.set_alarm(Some(u64::MAX));
    harness.runtime.set_alarm(None);
    harness.runtime.set_alarm(Some(0));
    assert_eq!(harness.next(), Event::TimePassed);
    assert_eq!(harness.inbox.pop(), None);
}

#[test]
fn no_alarm_starts_no_thread() {
    let harness = harness();
    harness.runtime.set_alarm(None);
    assert!(harness.runtime.workers.get().is_none());
}

#[test]
fn shutdown_ends_what_hangs_within_its_deadline() {
    let harness = harness();
    harness.runtime.start_scripted(CHAT, REQUEST, r#"{"text": "a", "hang": true}"#.to_owned());
    assert!(matches!(
        harness.next(),
        Event::Addressed { event: ChatEvent::Request { event: RequestEvent::Items(_), .. }, .. }
    ));
    let started = Instant::now();
    harness.runtime.shutdown();
    assert!(started.elapsed() < Duration::from_millis(SHUTDOWN_MS) + PATIENCE / 4);
    assert_eq!(harness.inbox.pop(), None);
}

#[test]
fn after_shutdown_everything_is_answered_and_nothing_starts() {
    let harness = harness();
    harness.runtime.shutdown();
    harness.runtime.check_calls(CHAT, vec![unchecked_call(1, None, "{}")]);
    let Event::Addressed { event: ChatEvent::CallsChecked(calls), .. } = harness.next() else {
        panic!("no checked calls")
    };
    assert!(matches!(calls[0].arguments, Err(ArgumentsError::NotChecked(_))));
    harness.runtime.start_scripted(CHAT, REQUEST, "{}".to_owned());
    assert!(matches!(
        harness.next(),
        Event::Addressed { event: ChatEvent::Request { event: RequestEvent::Failed { .. }, .. }, .. }
    ));
    harness.runtime.set_alarm(Some(0));
    assert!(harness.runtime.workers.get().is_none());
    let command = CommandCmd {
        chat: CHAT,
        call: CallId(1),
        cmd: 0,
        text: b"true".to_vec(),
        env: BTreeMap::new(),
        shell: b"sh".to_vec(),
        cwd: Vec::new(),
        without: Vec::new(),
        kept: Vec::new(),
        background: false,
        limits: Limits::new(output::Keep::HeadTail),
        encoding: None,
    };
    assert!(matches!(harness.runtime.run_command(command), Err(RunError::ShutDown)));
    assert_eq!((harness.runtime.command_count(), harness.inbox.pop()), (0, None));
}
