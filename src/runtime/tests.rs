//! Worker threads, requests and the alarm, without an editor.

use std::collections::BTreeMap;
use std::sync::Condvar;
use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::adapter::Item;
use crate::tool::CallId;

/// Longer than anything here takes on a busy machine; only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(20);

const CHAT: ChatId = ChatId(1);
const REQUEST: RequestId = RequestId(2);

/// A runtime and a main loop that waits for events.
struct Shell {
    runtime: Runtime,
    inbox: Arc<Inbox>,
    woken: Arc<(Mutex<bool>, Condvar)>,
}

fn shell() -> Shell {
    let woken = Arc::new((Mutex::new(false), Condvar::new()));
    let waker = Arc::clone(&woken);
    let inbox = Arc::new(Inbox::new(move || {
        *lock(&waker.0) = true;
        waker.1.notify_all();
    }));
    Shell { runtime: Runtime::new(Arc::clone(&inbox)), inbox, woken }
}

impl Shell {
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
                Event::RequestItems { chat: CHAT, request: REQUEST, items } => all.extend(items),
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
    UncheckedCall { call: CallId(call), schema, numeric_strings: false, arguments: arguments.to_owned(), route: None }
}

#[test]
fn calls_are_checked_in_their_order() {
    let shell = shell();
    let schema = Some(shell.runtime.schemas().intern(r#"{"required": ["a"]}"#));
    let calls =
        vec![unchecked_call(1, schema, r#"{"a": 1}"#), unchecked_call(2, schema, "{}"), unchecked_call(3, None, "")];
    shell.runtime.check_calls(CHAT, calls);
    let Event::CallsChecked { chat: CHAT, calls } = shell.next() else { panic!("no checked calls") };
    assert_eq!(calls.iter().map(|call| call.call).collect::<Vec<_>>(), [CallId(1), CallId(2), CallId(3)]);
    assert_eq!(calls[0].arguments, Ok(json!({"a": 1})));
    assert!(matches!(calls[1].arguments, Err(ArgumentsError::DoesNotFit(_))));
    assert_eq!(calls[2].arguments, Ok(json!({})));
}

#[test]
fn a_scripted_turn_is_played_to_its_end() {
    let shell = shell();
    shell.runtime.start_scripted(CHAT, REQUEST, r#"{"text": "a", "delay_ms": 1, "usage": {"input": 1}}"#.to_owned());
    let (items, end) = shell.answer();
    assert_eq!(items, [Item::Text("a".to_owned()), Item::Usage { input: 1, output: 0 }]);
    assert_eq!(end, Event::RequestFinished { chat: CHAT, request: REQUEST });
}

#[test]
fn a_scripted_error_fails_the_request_after_its_text() {
    let shell = shell();
    shell.runtime.start_scripted(CHAT, REQUEST, r#"{"text": "a", "error": "overloaded"}"#.to_owned());
    let (items, end) = shell.answer();
    assert_eq!(items, [Item::Text("a".to_owned())]);
    assert_eq!(end, Event::RequestFailed { chat: CHAT, request: REQUEST, message: "overloaded".to_owned() });
}

#[test]
fn a_turn_that_cannot_be_used_fails_the_request() {
    let shell = shell();
    shell.runtime.start_scripted(CHAT, REQUEST, r#"{"txt": "a"}"#.to_owned());
    let Event::RequestFailed { message, .. } = shell.next() else { panic!("the request did not fail") };
    assert!(message.contains("txt"), "{message}");
}

#[test]
fn an_aborted_request_ends_and_is_forgotten() {
    let shell = shell();
    shell.runtime.start_scripted(CHAT, REQUEST, r#"{"text": "a", "hang": true}"#.to_owned());
    assert!(matches!(shell.next(), Event::RequestItems { .. }));
    let task = lock(&shell.runtime.requests.0)[&REQUEST].clone();
    shell.runtime.abort(REQUEST);
    until(|| task.is_finished());
    assert!(lock(&shell.runtime.requests.0).is_empty());
    shell.runtime.abort(REQUEST);
    assert_eq!(shell.inbox.pop(), None);
}

#[test]
fn a_finished_request_is_forgotten() {
    let shell = shell();
    shell.runtime.start_scripted(CHAT, REQUEST, "{}".to_owned());
    assert_eq!(shell.next(), Event::RequestFinished { chat: CHAT, request: REQUEST });
    until(|| lock(&shell.runtime.requests.0).is_empty());
}

#[test]
fn a_panic_fails_the_request() {
    let shell = shell();
    let workers = shell.runtime.workers().expect("threads");
    shell.runtime.requests.start(
        &workers.handle,
        &shell.inbox,
        REQUEST,
        async { panic!("on purpose") },
        request_panicked(CHAT, REQUEST),
    );
    assert!(matches!(shell.next(), Event::RequestFailed { chat: CHAT, request: REQUEST, .. }));
}

#[test]
fn a_request_that_is_started_twice_runs_once() {
    let shell = shell();
    shell.runtime.start_scripted(CHAT, REQUEST, r#"{"text": "a", "delay_ms": 20}"#.to_owned());
    shell.runtime.start_scripted(CHAT, REQUEST, r#"{"text": "b"}"#.to_owned());
    let (items, end) = shell.answer();
    assert_eq!(items, [Item::Text("a".to_owned())]);
    assert_eq!(end, Event::RequestFinished { chat: CHAT, request: REQUEST });
}

#[test]
fn two_requests_interleave() {
    let shell = shell();
    shell.runtime.start_scripted(CHAT, RequestId(1), r#"{"hang": true}"#.to_owned());
    shell.runtime.start_scripted(CHAT, REQUEST, "{}".to_owned());
    assert_eq!(shell.next(), Event::RequestFinished { chat: CHAT, request: REQUEST });
}

#[test]
fn the_alarm_rings_at_its_deadline_and_not_before() {
    let shell = shell();
    let deadline_ms = now_ms() + 30;
    shell.runtime.set_alarm(Some(deadline_ms));
    assert_eq!(shell.next(), Event::TimePassed);
    assert!(now_ms() >= deadline_ms);
}

#[test]
fn the_same_deadline_rings_again_when_it_is_set_again() {
    let shell = shell();
    for _ in 0..3 {
        shell.runtime.set_alarm(Some(0));
        assert_eq!(shell.next(), Event::TimePassed);
    }
}

#[test]
fn a_later_deadline_replaces_an_earlier_one_and_none_removes_it() {
    let shell = shell();
    shell.runtime.set_alarm(Some(now_ms() + 1_000_000));
    shell.runtime.set_alarm(Some(u64::MAX));
    shell.runtime.set_alarm(None);
    shell.runtime.set_alarm(Some(0));
    assert_eq!(shell.next(), Event::TimePassed);
    assert_eq!(shell.inbox.pop(), None);
}

#[test]
fn no_alarm_starts_no_thread() {
    let shell = shell();
    shell.runtime.set_alarm(None);
    assert!(shell.runtime.workers.get().is_none());
}

#[test]
fn shutdown_ends_what_hangs_within_its_deadline() {
    let shell = shell();
    shell.runtime.start_scripted(CHAT, REQUEST, r#"{"text": "a", "hang": true}"#.to_owned());
    assert!(matches!(shell.next(), Event::RequestItems { .. }));
    let started = Instant::now();
    shell.runtime.shutdown();
    assert!(started.elapsed() < Duration::from_millis(SHUTDOWN_MS) + PATIENCE / 4);
    assert_eq!(shell.inbox.pop(), None);
}

#[test]
fn after_shutdown_everything_is_answered_and_nothing_starts() {
    let shell = shell();
    shell.runtime.shutdown();
    shell.runtime.check_calls(CHAT, vec![unchecked_call(1, None, "{}")]);
    let Event::CallsChecked { calls, .. } = shell.next() else { panic!("no checked calls") };
    assert!(matches!(calls[0].arguments, Err(ArgumentsError::NotChecked(_))));
    shell.runtime.start_scripted(CHAT, REQUEST, "{}".to_owned());
    assert!(matches!(shell.next(), Event::RequestFailed { .. }));
    shell.runtime.set_alarm(Some(0));
    assert!(shell.runtime.workers.get().is_none());
    let command = CommandCmd {
        chat: CHAT,
        call: CallId(1),
        cmd: 0,
        text: b"true".to_vec(),
        env: BTreeMap::new(),
        shell: b"sh".to_vec(),
        cwd: Vec::new(),
        without: Vec::new(),
        background: false,
        limits: Limits::new(output::Keep::HeadTail),
        encoding: None,
    };
    assert!(matches!(shell.runtime.run_command(command), Err(RunError::ShutDown)));
    assert_eq!((shell.runtime.command_count(), shell.inbox.pop()), (0, None));
}
