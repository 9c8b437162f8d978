//! Command cmds: a template and its values become a process, its end becomes an event. How text is built is in `command.rs`,
//! how processes live and die in `process.rs`.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tempfile::NamedTempFile;

use super::inbox::Inbox;
use super::process::{self, Processes, Running, Secret, Stop, Withheld};
use crate::command::{self, Carrier, CommandError, Value};
use crate::engine::effect::KillReason;
use crate::engine::event::{CallEvent, ChatId, Event, Report};
use crate::output::{Encoding, Limits, Spill};
use crate::tool::CallId;

/// A command cmd to run.
#[derive(Clone, Debug)]
pub struct CommandCmd {
    /// The chat of the call.
    pub chat: ChatId,
    /// The call.
    pub call: CallId,
    /// Which of its cmds, from 0.
    pub cmd: usize,
    /// Shell text with `${name}` placeholders.
    pub text: Vec<u8>,
    /// What the placeholders stand for.
    pub env: BTreeMap<String, Value>,
    /// The shell.
    pub shell: Vec<u8>,
    /// The working directory; empty: the editor's, which had none when the chat was opened.
    pub cwd: Vec<u8>,
    /// Variables of the editor that the command does not get.
    pub without: Vec<String>,
    /// What it gets though its value is that of a key.
    pub kept: Vec<String>,
    /// Whether what it leaves in the background goes on.
    pub background: bool,
    /// Limits of what the model gets.
    pub limits: Limits,
    /// Label of the output's encoding, as in the WHATWG standard; none: detected.
    pub encoding: Option<String>,
}

/// Why a command cmd was not started. The text is written for the model.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The text and its values do not make a command.
    #[error("{0}. Nothing was run.")]
    Template(#[from] CommandError),
    /// A large value could not be written to a temporary file.
    #[error("A value of the command could not be written to a temporary file: {0}. Nothing was run.")]
    Value(#[source] io::Error),
    /// There is no such encoding.
    #[error("tool_output.encoding: there is no encoding {0:?}. Nothing was run.")]
    Encoding(String),
    /// The editor is on its way out: nobody would end it any more.
    #[error("The editor exits. Nothing was run.")]
    ShutDown,
}

/// The commands that run, by call. A call runs one at a time.
#[derive(Clone, Default)]
pub struct Commands {
    processes: Processes,
    running: Arc<Mutex<HashMap<CallId, Running>>>,
}

impl Commands {
    /// Where they run; other commands may run there as well, to end with them.
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    /// Starts a command, which sees none of the secrets; the whole of a long output goes to `spill` →
    /// [`CallEvent::CommandStarted`], then [`CallEvent::CommandFinished`], always.
    ///
    /// # Errors
    /// Each variant of [`RunError`]; no event follows then.
    pub fn start(
        &self,
        inbox: &Arc<Inbox>,
        spill: Spill,
        secrets: Arc<[Secret]>,
        cmd: CommandCmd,
    ) -> Result<(), RunError> {
        let CommandCmd { chat, call, cmd: number, .. } = cmd;
        let encoding = match &cmd.encoding {
            Some(label) => {
                Some(Encoding::for_label(label.as_bytes()).ok_or_else(|| RunError::Encoding(label.clone()))?)
            }
            None => None,
        };
        let prepared = command::prepare(&cmd.text, &cmd.env)?;
        let mut files = Vec::new();
        let mut variables = Vec::with_capacity(prepared.variables.len());
        for variable in prepared.variables {
            let value = match variable.carrier {
                Carrier::Environment => OsString::from_vec(variable.value),
                Carrier::File => {
                    let file = write(&variable.value).map_err(RunError::Value)?;
                    let path = file.path().as_os_str().to_owned();
                    files.push(file);
                    path
                }
            };
            variables.push((variable.name.into(), value));
        }
        let command = process::Command {
            shell: OsString::from_vec(cmd.shell),
            variables,
            withheld: Withheld {
                names: cmd.without.into_iter().map(Into::into).collect(),
                secrets,
                kept: cmd.kept.into_iter().map(Into::into).collect(),
            },
            cwd: Some(PathBuf::from(OsString::from_vec(cmd.cwd))).filter(|cwd| !cwd.as_os_str().is_empty()),
            background: cmd.background,
            limits: cmd.limits,
            spill,
            encoding,
            ..process::Command::new(prepared.script)
        };
        inbox.push(Event::call(chat, call, CallEvent::CommandStarted { cmd: number }));
        let over = Arc::new(AtomicBool::new(false));
        let (inbox, running, is_over) = (Arc::clone(inbox), Arc::clone(&self.running), Arc::clone(&over));
        let handle = self.processes.start(command, move |outcome| {
            drop(files);
            is_over.store(true, Ordering::SeqCst);
            let handle = lock(&running).remove(&call);
            drop(handle);
            let succeeded = outcome.succeeded();
            let report = Report {
                text: process::render(&outcome),
                printed: process::printed(&outcome),
                files: [outcome.stdout.file, outcome.stderr.file].into_iter().flatten().collect(),
            };
            inbox.push(Event::call(chat, call, CallEvent::CommandFinished { cmd: number, succeeded, report }));
        });
        // It may be over by now; then nobody would ever take it out again.
        let mut running = lock(&self.running);
        if !over.load(Ordering::SeqCst) {
            running.insert(call, handle);
        }
        Ok(())
    }

    /// Ends the command of a call, if one runs. Returns at once.
    pub fn stop(&self, call: CallId, why: KillReason) {
        if let Some(running) = lock(&self.running).get(&call) {
            running.stop(match why {
                KillReason::User => Stop::User,
                KillReason::TimedOut { limit_ms } => Stop::TimedOut { limit_ms },
            });
        }
    }

    /// What the command of a call printed last; none: no command of it runs.
    pub fn last_line(&self, call: CallId) -> Option<String> {
        lock(&self.running).get(&call).map(Running::last_line)
    }

    /// How many commands run, those included that left something in the background.
    pub fn count(&self) -> usize {
        self.processes.count()
    }

    /// Ends all commands and what they left, and waits for it, at most `limit`.
    pub fn stop_all_and_wait(&self, limit: Duration) -> bool {
        self.processes.stop_all_and_wait(limit)
    }
}

/// A file that only the user can read, with exactly these bytes.
fn write(value: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("lathe-").tempfile()?;
    file.write_all(value)?;
    // The shell reads it up to the end; what is not written yet would be missing.
    file.flush()?;
    Ok(file)
}

fn lock(running: &Mutex<HashMap<CallId, Running>>) -> MutexGuard<'_, HashMap<CallId, Running>> {
    // Nothing here panics half-way through a change.
    running.lock().unwrap_or_else(PoisonError::into_inner)
}
