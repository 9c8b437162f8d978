//! Who runs cmds that are neither functions in Lua nor commands: functions of the library, and other programs. Nobody offers
//! any of either yet.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::Runtime;
use super::inbox::Inbox;
use super::workers::lock;
use crate::change::Change;
use crate::engine::event::{CallEvent, ChatId, Event, Report};
use crate::error::OUR_FAULT;
use crate::tool::CallId;

/// What a cmd gave that ran outside of Lua.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The data of the cmd.
    pub text: String,
    /// What it has done to files.
    pub changes: Vec<Change>,
}

/// A cmd that is a function of the library. It runs off the main loop. An error is written for the model.
pub type BuiltIn = Arc<dyn Fn(&Value) -> Result<Answer, String> + Send + Sync>;

/// The functions that there are, and the cmds that run.
#[derive(Clone, Default)]
pub(super) struct Runners {
    built_ins: Arc<Mutex<HashMap<String, BuiltIn>>>,
    /// By call, which runs one cmd at a time: its chat, and which cmd it is.
    running: Arc<Mutex<HashMap<CallId, (ChatId, usize)>>>,
}

impl Runners {
    fn begin(&self, inbox: &Inbox, chat: ChatId, call: CallId, cmd: usize) {
        lock(&self.running).insert(call, (chat, cmd));
        inbox.push(Event::call(chat, call, CallEvent::CommandStarted { cmd }));
    }

    /// Tells what came of a cmd, unless it was stopped meanwhile.
    fn finish(&self, inbox: &Inbox, call: CallId, answer: Result<Answer, String>) {
        let Some((chat, cmd)) = lock(&self.running).remove(&call) else { return };
        let succeeded = answer.is_ok();
        let Answer { text, changes } = answer.unwrap_or_else(|text| Answer { text, ..Answer::default() });
        for change in changes {
            inbox.push(Event::call(chat, call, CallEvent::ChangeMade(change)));
        }
        let report = Report { printed: text.clone(), text, files: Vec::new() };
        inbox.push(Event::call(chat, call, CallEvent::CommandFinished { cmd, succeeded, report }));
    }

    /// Ends the cmd of a call, if one runs. What it still does is for nothing.
    pub(super) fn stop(&self, inbox: &Inbox, call: CallId) {
        self.finish(inbox, call, Err(String::new()));
    }
}

impl Runtime {
    /// Offers a function as a runner of cmds.
    pub fn add_built_in(&self, name: &str, built_in: BuiltIn) {
        lock(&self.runners.built_ins).insert(name.to_owned(), built_in);
    }

    /// Runs a cmd that is a function of the library → [`CallEvent::CommandStarted`], then [`CallEvent::CommandFinished`],
    /// always.
    pub fn run_built_in(&self, chat: ChatId, call: CallId, cmd: usize, name: &str, arguments: Option<Arc<Value>>) {
        let (runners, inbox) = (self.runners.clone(), Arc::clone(&self.inbox));
        runners.begin(&inbox, chat, call, cmd);
        let built_in = lock(&runners.built_ins).get(name).cloned();
        let built_in = built_in.ok_or_else(|| format!("There is no built-in \"{name}\". Nothing was run."));
        self.in_background(move || {
            let arguments = arguments.unwrap_or_default();
            let run = |built_in: BuiltIn| catch_unwind(AssertUnwindSafe(|| built_in(&arguments)));
            let answer = built_in.and_then(|built_in| run(built_in).unwrap_or_else(|_| Err(OUR_FAULT.to_owned())));
            runners.finish(&inbox, call, answer);
        });
    }

    /// Runs a cmd of another program → [`CallEvent::CommandStarted`], then [`CallEvent::CommandFinished`], always.
    pub fn run_remote(&self, chat: ChatId, call: CallId, cmd: usize, name: &str) {
        self.runners.begin(&self.inbox, chat, call, cmd);
        let nobody = format!("There is no program \"{name}\" that could run this. Nothing was run.");
        self.runners.finish(&self.inbox, call, Err(nobody));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use serde_json::json;

    use super::*;

    const AT: (ChatId, CallId) = (ChatId(1), CallId(2));

    /// A runtime with two functions, and its events.
    fn runtime() -> (Runtime, mpsc::Receiver<()>, Arc<Inbox>) {
        let (woken, wakes) = mpsc::channel();
        let inbox = Arc::new(Inbox::new(move || woken.send(()).unwrap_or_default()));
        let runtime = Runtime::new(Arc::clone(&inbox));
        let change = Change { path: "a".into(), before: None, after: Some("x".into()) };
        runtime.add_built_in(
            "write",
            Arc::new(move |arguments| Ok(Answer { text: arguments.to_string(), changes: vec![change.clone()] })),
        );
        runtime.add_built_in("panic", Arc::new(|_| panic!("on purpose")));
        (runtime, wakes, inbox)
    }

    fn events(wakes: &mpsc::Receiver<()>, inbox: &Inbox, count: usize) -> Vec<CallEvent> {
        let next = || {
            wakes.recv_timeout(std::time::Duration::from_secs(20)).expect("an event in time");
            match inbox.pop() {
                Some(Event::Addressed { event: crate::engine::event::ChatEvent::Call { event, .. }, .. }) => event,
                other => panic!("{other:?}"),
            }
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    fn finished(succeeded: bool, text: &str) -> CallEvent {
        let report = Report { text: text.to_owned(), printed: text.to_owned(), files: vec![] };
        CallEvent::CommandFinished { cmd: 0, succeeded, report }
    }

    #[test]
    fn a_built_in_gets_the_arguments_and_answers_with_text_and_changes() {
        let (runtime, wakes, inbox) = runtime();
        runtime.run_built_in(AT.0, AT.1, 0, "write", Some(Arc::new(json!({"n": 1}))));
        let change = Change { path: "a".into(), before: None, after: Some("x".into()) };
        let expected =
            [CallEvent::CommandStarted { cmd: 0 }, CallEvent::ChangeMade(change), finished(true, "{\"n\":1}")];
        assert_eq!(events(&wakes, &inbox, 3), expected);
    }

    #[test]
    fn whoever_is_not_there_or_panics_is_an_error_for_the_model() {
        let (runtime, wakes, inbox) = runtime();
        let started = || CallEvent::CommandStarted { cmd: 0 };
        runtime.run_built_in(AT.0, AT.1, 0, "no", None);
        let nothing = "There is no built-in \"no\". Nothing was run.";
        assert_eq!(events(&wakes, &inbox, 2), [started(), finished(false, nothing)]);
        runtime.run_built_in(AT.0, AT.1, 0, "panic", None);
        assert_eq!(events(&wakes, &inbox, 2), [started(), finished(false, OUR_FAULT)]);
        runtime.run_remote(AT.0, AT.1, 0, "host");
        let nobody = "There is no program \"host\" that could run this. Nothing was run.";
        assert_eq!(events(&wakes, &inbox, 2), [started(), finished(false, nobody)]);
    }

    #[test]
    fn a_stopped_cmd_ends_at_once_and_its_late_answer_is_not_told() {
        let (runtime, wakes, inbox) = runtime();
        let (go, gone) = (mpsc::channel(), mpsc::channel());
        let (waits, done) = (Mutex::new(go.1), Mutex::new(gone.0));
        runtime.add_built_in(
            "slow",
            Arc::new(move |_| {
                let _ = lock(&waits).recv();
                let _ = lock(&done).send(());
                Ok(Answer::default())
            }),
        );
        runtime.run_built_in(AT.0, AT.1, 0, "slow", None);
        runtime.stop_command(AT.1, crate::engine::effect::KillReason::User);
        assert_eq!(events(&wakes, &inbox, 2), [CallEvent::CommandStarted { cmd: 0 }, finished(false, "")]);
        go.0.send(()).unwrap();
        gone.1.recv().unwrap();
        runtime.shutdown();
        assert_eq!(inbox.pop(), None);
    }
}
