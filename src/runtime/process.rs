//! Shell commands: one process group each, started without a fork of the editor, read in bounded memory, ended whole.
//! Command text is built elsewhere, and what the model reads is written in `render.rs`.
//!
//! Each command has a thread of its own that waits for its pipes, its exit and its stop at once; libuv owns SIGCHLD, so
//! there is no signal handler here. What a command leaves in the background keeps that thread, which reads on to nowhere:
//! closed pipes would end it with SIGPIPE, full ones would block it.

mod child;
mod environment;
mod family;
mod render;
mod spawn;
mod wait;
mod watchdog;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::output::{Encoding, Keep, Limits, Output, Spill};

use environment::environment;
pub use environment::{Secret, Withheld};
pub use render::{printed, render};
use wait::Waker;
use watchdog::Watchdog;

/// Threads that mostly wait; one has its read buffer on the heap.
const STACK_BYTES: usize = 512 * 1024;
/// Each command that runs has two pipes, a handle on its process and a waker. More than this many never run at once.
const MAX_RUNNING: usize = 512;
const FILES_PER_COMMAND: u64 = if cfg!(target_os = "linux") { 4 } else { 6 };
/// How long the exit of the editor waits for commands after it has killed them itself.
const LAST_WAIT: Duration = Duration::from_millis(200);
/// Files that are left to the editor.
const RESERVED_FILES: u64 = 128;

/// A command to run.
#[derive(Clone, Debug)]
pub struct Command {
    /// The shell, looked up in its `PATH`; called with `-c`.
    pub shell: OsString,
    /// What the shell runs, byte for byte; one argument of it, so at most 128 KiB. (`command::prepare` sees to that.)
    pub script: Vec<u8>,
    /// Variables to set. They win over all others.
    pub variables: Vec<(OsString, OsString)>,
    /// Variables of the editor that the command does not get.
    pub withheld: Withheld,
    /// Whether it gets variables that keep programs from asking, paging and painting.
    pub is_quiet: bool,
    /// The working directory; none: the editor's.
    pub cwd: Option<PathBuf>,
    /// Whether what it leaves in the background goes on after it, until the editor exits.
    pub background: bool,
    /// How long it may take.
    pub limit: Option<Duration>,
    /// Limits of stdout and stderr together.
    pub limits: Limits,
    /// Where the raw whole of a long output goes.
    pub spill: Spill,
    /// The encoding of the output; none: detected.
    pub encoding: Option<&'static Encoding>,
}

impl Command {
    /// A command with all defaults.
    pub fn new(script: impl Into<Vec<u8>>) -> Self {
        Self {
            shell: "sh".into(),
            script: script.into(),
            variables: Vec::new(),
            withheld: Withheld::default(),
            is_quiet: true,
            cwd: None,
            background: false,
            limit: None,
            limits: Limits::new(Keep::HeadTail),
            spill: Spill::default(),
            encoding: None,
        }
    }
}

/// Why a command was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The user stopped it, skipped it, or left its chat.
    User,
    /// Its time is over.
    TimedOut {
        /// How long it had.
        limit_ms: u64,
    },
    /// The editor exits.
    EditorExit,
}

impl Stop {
    /// Time between SIGTERM and SIGKILL.
    fn grace(self) -> Duration {
        match self {
            Self::User | Self::TimedOut { .. } => Duration::from_millis(1000),
            Self::EditorExit => Duration::from_millis(500),
        }
    }
}

/// How a command ended.
#[derive(Debug)]
pub enum Exit {
    /// The shell exited with this code.
    Code(i32),
    /// A signal that was not ours ended the shell: its name.
    Signal(String),
    /// It was stopped before its end.
    Stopped(Stop),
    /// It never ran (or, after a fault of ours, not to its end).
    NotStarted(StartError),
}

/// Why a command could not be started. The text is written for the model.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The working directory is not there.
    #[error("The working directory {path:?} does not exist (any more), so nothing was run. Use a folder that exists.")]
    #[allow(missing_docs)]
    FolderMissing { path: PathBuf },
    /// The working directory is something else.
    #[error("The working directory {path:?} is not a folder, so nothing was run. Use a folder.")]
    #[allow(missing_docs)]
    NotAFolder { path: PathBuf },
    /// The working directory cannot be entered.
    #[error(
        "The working directory {path:?} cannot be entered ({source}), so nothing was run. Use another folder, or change its permissions."
    )]
    #[allow(missing_docs)]
    FolderClosed { path: PathBuf, source: io::Error },
    /// The editor's own working directory was deleted.
    #[error(
        "The editor's working directory was deleted or cannot be read ({source}), so nothing was run. Change to another folder first (:cd)."
    )]
    #[allow(missing_docs)]
    NoFolder { source: io::Error },
    /// There is no such shell.
    #[error("There is no shell {shell:?}, so nothing was run. Set tools.opts.shell to one that is installed.")]
    #[allow(missing_docs)]
    NoShell { shell: OsString },
    /// No shell takes this.
    #[error("The command has a NUL byte, which no shell takes, so nothing was run.")]
    NulByte,
    /// A fault of ours, while it ran.
    #[error(
        "lathe.nvim failed while it read the output, so the command was ended. This is a bug; what it did until then is done."
    )]
    Internal,
    /// The system refused.
    #[error("The command could not be started: {source}. Nothing was run.")]
    #[allow(missing_docs)]
    Refused { source: io::Error },
}

/// A process that a command left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its number.
    pub pid: i32,
    /// The name of its program, as the system lists it.
    pub name: String,
}

/// What became of a command.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// What it printed; as far as it got when it was stopped.
    pub stdout: Output,
    /// What it printed as errors and warnings.
    pub stderr: Output,
    /// What was still running in the background after its end and was ended.
    pub ended: Vec<Leftover>,
    /// What still runs in the background.
    pub left: Vec<Leftover>,
    /// From its start to its end.
    pub duration: Duration,
}

impl Outcome {
    fn not_started(error: StartError) -> Self {
        Self::nothing_printed(Exit::NotStarted(error), Duration::ZERO)
    }

    fn nothing_printed(exit: Exit, duration: Duration) -> Self {
        let (stdout, stderr) = (Output::default(), Output::default());
        Self { exit, stdout, stderr, ended: Vec::new(), left: Vec::new(), duration }
    }

    /// Whether the cmd succeeded.
    pub fn succeeded(&self) -> bool {
        matches!(self.exit, Exit::Code(0))
    }
}

/// All commands that run. Clones are the same.
#[derive(Clone, Default)]
pub struct Processes(Arc<Registry>);

#[derive(Default)]
struct Registry {
    state: Mutex<State>,
    changed: Condvar,
    watchdog: Arc<Watchdog>,
}

#[derive(Default)]
struct State {
    next: u64,
    commands: HashMap<u64, Arc<Shared>>,
    /// How many of them count for the limit.
    running: usize,
}

/// What the thread of a command and its handle share.
struct Shared {
    state: Mutex<SharedState>,
    /// Set when its turn has come.
    waker: OnceLock<Waker>,
}

#[derive(Default)]
struct SharedState {
    stop: Option<Stop>,
    last_line: String,
    /// Its processes at the last look.
    living: Vec<family::Process>,
}

/// A command that was started. Dropping it stops the command, like [`Stop::User`].
#[must_use = "dropping it stops the command"]
pub struct Running {
    registry: Arc<Registry>,
    shared: Arc<Shared>,
}

impl Processes {
    /// Runs a command; `on_end` gets its outcome, always and once, on another thread. Returns at once.
    pub fn start(&self, command: Command, on_end: impl FnOnce(Outcome) + Send + 'static) -> Running {
        // Here and not on the thread: Neovim changes its environment on the thread that calls this.
        let environment = environment(&command);
        let shared = Arc::new(Shared { state: Mutex::default(), waker: OnceLock::new() });
        let number = self.0.add(&shared);
        let job = child::Job { command, environment, shared: Arc::clone(&shared), on_end: Box::new(on_end) };
        // Where it can be taken back when there is no thread for it.
        let job = Arc::new(Mutex::new(Some(job)));
        let (registry, thread_job) = (Arc::clone(&self.0), Arc::clone(&job));
        let thread = std::thread::Builder::new().name("lathe-command".into()).stack_size(STACK_BYTES);
        let spawned = thread.spawn(move || {
            let entry = Entry { registry, number, is_running: false };
            let job = lock(&thread_job).take();
            if let Some(job) = job {
                job.run(entry);
            }
        });
        if let Err(source) = spawned {
            self.0.remove(number, false);
            let job = lock(&job).take();
            if let Some(job) = job {
                (job.on_end)(Outcome::not_started(StartError::Refused { source }));
            }
        }
        Running { registry: Arc::clone(&self.0), shared }
    }

    /// How many commands run, those included that left something in the background.
    pub fn count(&self) -> usize {
        lock(&self.0.state).commands.len()
    }

    /// Stops all commands and what they left, and waits for it, at most `limit`; false: something is left. For the
    /// exit of the editor: a second (500 ms until SIGKILL) is enough.
    pub fn stop_all_and_wait(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        let mut state = lock(&self.0.state);
        for shared in state.commands.values() {
            shared.stop(Stop::EditorExit);
        }
        self.0.changed.notify_all();
        state = self.0.wait_until_empty(state, deadline);
        if state.commands.is_empty() {
            return true;
        }
        // Very many, or a machine that is too busy for their threads: nothing may outlive the editor.
        family::kill(state.commands.values().flat_map(|shared| lock(&shared.state).living.clone()).collect());
        self.0.wait_until_empty(state, Instant::now() + LAST_WAIT).commands.is_empty()
    }
}

impl Running {
    /// Ends the command and all it started: SIGTERM, later SIGKILL. Returns at once; the outcome follows. No effect when
    /// it has ended.
    pub fn stop(&self, why: Stop) {
        self.shared.stop(why);
        // It may still wait for its turn.
        drop(lock(&self.registry.state));
        self.registry.changed.notify_all();
    }

    /// What it printed last, for display: at most 200 characters, some 100 ms late.
    pub fn last_line(&self) -> String {
        lock(&self.shared.state).last_line.clone()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop(Stop::User);
    }
}

impl Shared {
    /// The exit of the editor comes on top of every other reason, the first of the others counts.
    fn stop(&self, why: Stop) {
        let mut state = lock(&self.state);
        if state.stop.is_none() || why == Stop::EditorExit {
            state.stop = Some(why);
            drop(state);
            if let Some(waker) = self.waker.get() {
                waker.wake();
            }
        }
    }

    fn stopped(&self) -> Option<Stop> {
        lock(&self.state).stop
    }
}

impl Registry {
    fn wait_until_empty<'a>(&self, mut state: MutexGuard<'a, State>, deadline: Instant) -> MutexGuard<'a, State> {
        while !state.commands.is_empty() {
            let Some(rest) = deadline.checked_duration_since(Instant::now()) else { break };
            state = self.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }

    fn add(&self, shared: &Arc<Shared>) -> u64 {
        let mut state = lock(&self.state);
        state.next += 1;
        let number = state.next;
        state.commands.insert(number, Arc::clone(shared));
        number
    }

    fn remove(&self, number: u64, was_running: bool) {
        let mut state = lock(&self.state);
        state.commands.remove(&number);
        state.running -= usize::from(was_running);
        self.changed.notify_all();
    }
}

/// The place of a command in the registry, held by its thread.
struct Entry {
    registry: Arc<Registry>,
    number: u64,
    is_running: bool,
}

impl Entry {
    /// Waits until there are files for one more command; the reason when it was stopped before that.
    fn wait_for_turn(&mut self, shared: &Shared) -> Result<(), Stop> {
        let most = max_running();
        let mut state = lock(&self.registry.state);
        loop {
            if let Some(why) = shared.stopped() {
                return Err(why);
            }
            if state.running < most {
                state.running += 1;
                self.is_running = true;
                return Ok(());
            }
            state = self.registry.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets another command run: this one only waits for what it left.
    fn give_way(&mut self) {
        if std::mem::take(&mut self.is_running) {
            lock(&self.registry.state).running -= 1;
            self.registry.changed.notify_all();
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.registry.remove(self.number, self.is_running);
    }
}

/// How many commands may run at once, so that the editor can still open files.
fn max_running() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
    let most = files.saturating_sub(RESERVED_FILES) / FILES_PER_COMMAND;
    usize::try_from(most).unwrap_or(MAX_RUNNING).clamp(8, MAX_RUNNING)
}

/// The data behind our locks is whole after every statement.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
