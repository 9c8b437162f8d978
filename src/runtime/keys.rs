//! The keys of adapters: the commands that print them, and their values, which no command of a tool gets to see.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::http::Secrets;
use super::process::{Command, Exit, Outcome, Processes, Running, Secret, Stop, Withheld};
use crate::engine::event::{ChatId, RequestId};
use crate::output::{Keep, Limits, Spill};
use crate::tool::CallId;

/// How long a command may take.
const LIMIT: Duration = Duration::from_secs(30);

/// How much of what a command prints is looked at.
const MAX_BYTES: usize = 64 * 1024;

/// How much of a failed command's stderr is shown.
const SHOWN_LINES: usize = 3;
const SHOWN_CHARS: usize = 200;

/// Who waits for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// A request to the provider.
    Request(RequestId),
    /// A request to the judge, about this call.
    Judge(CallId),
    /// The user, for a list of models.
    User,
}

/// A command that prints a key: `cmd:…` of an adapter's `env`.
#[derive(Clone, Debug)]
pub struct KeyCommand {
    /// The chat that needs it.
    pub chat: ChatId,
    /// What it is needed for.
    pub waiting: Waiting,
    /// Shell text.
    pub text: String,
    /// Variables that it does not get.
    pub without: Vec<String>,
    /// What it gets in any case.
    pub kept: Vec<String>,
}

/// The keys, and the commands that run.
#[derive(Clone, Default)]
pub struct Keys(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    last: u64,
    running: HashMap<u64, (ChatId, Waiting, Running)>,
    known: HashMap<String, Known>,
    /// The same, for commands of tools.
    secrets: Arc<[Secret]>,
}

/// What is known of a value.
#[derive(Default)]
struct Known {
    in_part: bool,
    /// The commands that have printed it: they may have read it in a variable, and will read it there again.
    printed_by: Vec<String>,
}

impl Keys {
    /// Takes note of values that commands must not see. Not all are keys: whatever an adapter resolves is one.
    pub fn add(&self, values: impl IntoIterator<Item = String>) {
        let mut state = lock(&self.0);
        values.into_iter().for_each(|value| state.add(value, true, None));
    }

    /// The same for what is said to a server in headers and in the URL, where also other words are.
    pub(super) fn add_sent(&self, secrets: &Secrets) {
        let mut state = lock(&self.0);
        secrets.values().for_each(|value| state.add(value.to_owned(), false, None));
    }

    /// The values.
    pub fn secrets(&self) -> Arc<[Secret]> {
        Arc::clone(&lock(&self.0).secrets)
    }

    /// Runs a command. `done` is called on another thread, always, with the key or with what the user is told.
    pub fn run(
        &self,
        processes: &Processes,
        command: KeyCommand,
        done: impl FnOnce(Result<String, String>) + Send + 'static,
    ) {
        let KeyCommand { chat, waiting, text, without, kept } = command;
        let (number, secrets) = {
            let mut state = lock(&self.0);
            state.last += 1;
            (state.last, state.secrets_for(&text))
        };
        let process = Command {
            withheld: Withheld {
                names: without.into_iter().map(Into::into).collect(),
                secrets,
                kept: kept.into_iter().map(Into::into).collect(),
            },
            limits: Limits { max_bytes: MAX_BYTES, ..Limits::new(Keep::HeadTail) },
            // What it leaves behind, such as an agent, is of use to the next one.
            background: true,
            // It may ask for a password in a way of its own.
            is_quiet: false,
            limit: Some(LIMIT),
            spill: Spill::default(),
            ..Command::new(text.clone())
        };
        let over = Arc::new(AtomicBool::new(false));
        let (keys, is_over) = (self.clone(), Arc::clone(&over));
        let running = processes.start(process, move |outcome| {
            is_over.store(true, Ordering::SeqCst);
            let found = read(&outcome);
            let handle = {
                let mut state = lock(&keys.0);
                if let Ok(value) = &found {
                    state.add(value.clone(), true, Some(text));
                }
                state.running.remove(&number)
            };
            drop(handle);
            done(found);
        });
        // It may be over by now; then nobody would ever take it out again.
        let mut state = lock(&self.0);
        if !over.load(Ordering::SeqCst) {
            state.running.insert(number, (chat, waiting, running));
        }
    }

    /// Ends the commands that somebody waits for who needs them no more.
    pub fn stop(&self, waiting: Waiting) {
        self.stop_all(|_, who| who == waiting);
    }

    /// Ends the commands of a chat.
    pub fn stop_chat(&self, chat: ChatId) {
        self.stop_all(|whose, _| whose == chat);
    }

    fn stop_all(&self, is_meant: impl Fn(ChatId, Waiting) -> bool) {
        for (chat, waiting, running) in lock(&self.0).running.values() {
            if is_meant(*chat, *waiting) {
                running.stop(Stop::User);
            }
        }
    }
}

impl State {
    fn add(&mut self, value: String, in_part: bool, printed_by: Option<String>) {
        if value.is_empty() {
            return;
        }
        let is_new = !self.known.contains_key(&value);
        let known = self.known.entry(value).or_default();
        let is_more = in_part && !known.in_part;
        known.in_part |= in_part;
        known.printed_by.extend(printed_by.filter(|text| !known.printed_by.contains(text)));
        if is_new || is_more {
            self.secrets = self.list(|_| true);
        }
    }

    /// What a command of this text must not see.
    fn secrets_for(&self, text: &String) -> Arc<[Secret]> {
        self.list(|known| !known.printed_by.contains(text))
    }

    fn list(&self, is_meant: impl Fn(&Known) -> bool) -> Arc<[Secret]> {
        let meant = self.known.iter().filter(|(_, known)| is_meant(known));
        meant.map(|(value, known)| Secret { value: value.clone(), in_part: known.in_part }).collect()
    }
}

/// The key, or what is wrong. What was printed to stdout may be half a key and is never told.
fn read(outcome: &Outcome) -> Result<String, String> {
    let value = outcome.stdout.text.trim();
    let what = match &outcome.exit {
        Exit::Code(0) if outcome.stdout.truncated.is_some() => "the command printed more than a key".to_owned(),
        Exit::Code(0) if !value.is_empty() => return Ok(value.to_owned()),
        Exit::Code(code) => format!("the command gave no value (exit code {code})"),
        Exit::Signal(name) => format!("the command was ended by the signal {name}"),
        Exit::Stopped(Stop::TimedOut { .. }) => format!("the command took longer than {} s", LIMIT.as_secs()),
        Exit::Stopped(Stop::User | Stop::EditorExit) => "the command was stopped".to_owned(),
        Exit::NotStarted(error) => error.to_string(),
    };
    let printed = Secrets::new(value.split_whitespace().map(str::to_owned));
    let said = printed.hide(outcome.stderr.text.clone());
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(SHOWN_LINES)..].iter().map(|line| shortened(line));
    let last: Vec<String> = last.collect();
    Err(if last.is_empty() { what } else { format!("{what}: {}", last.join("\n")) })
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Whole after every statement.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
