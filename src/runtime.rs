//! Threads and tokio: what must not run on the main loop runs here and answers with an event. No Lua, no decisions.

pub mod approvals;
mod calls;
pub mod commands;
pub mod file_lock;
pub mod http;
pub mod inbox;
pub mod judge;
pub mod keys;
pub mod media;
pub mod permissions;
pub mod process;
pub mod provider;
mod requests;
pub mod runners;
mod scripted;
pub mod store;
mod wildcards;
mod workers;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use once_cell::sync::OnceCell;

use crate::engine::event::{ChatId, RequestId};
use crate::error::Error;
use crate::gate::approvals::Approval;
use crate::output::{self, Spill};
use crate::schema::Schemas;
use crate::tool::CallId;
use approvals::{ApprovalsError, ProjectApprovals, SavedApproval};
use commands::Commands;
use http::{Http, HttpRequest};
use inbox::Inbox;
use keys::{KeyCommand, Keys};
use runners::Runners;
use store::Store;
pub use workers::now_ms;
use workers::{Running, Workers, lock};

/// How long [`Runtime::shutdown`] waits for requests and checks that are in the middle of something, at most.
pub const SHUTDOWN_MS: u64 = 500;

/// How long it waits for commands, at most: they have 500 ms between SIGTERM and SIGKILL.
pub const COMMANDS_SHUTDOWN_MS: u64 = 1_000;

/// Worker threads and what runs on them. Threads start when they are first needed.
pub struct Runtime {
    inbox: Arc<Inbox>,
    schemas: Arc<Schemas>,
    requests: Running<RequestId>,
    judges: Running<CallId>,
    approvals: ProjectApprovals,
    commands: Commands,
    runners: Runners,
    keys: Keys,
    http: Arc<Http>,
    store: Store,
    output_folder: OnceCell<PathBuf>,
    media_folder: OnceCell<PathBuf>,
    workers: OnceCell<Workers>,
    shut_down: AtomicBool,
}

impl Runtime {
    /// A runtime that answers to `inbox`. Starts nothing.
    pub fn new(inbox: Arc<Inbox>) -> Self {
        Self {
            store: Store::new(Arc::clone(&inbox)),
            inbox,
            schemas: Arc::default(),
            requests: Running::default(),
            judges: Running::default(),
            approvals: ProjectApprovals::default(),
            commands: Commands::default(),
            runners: Runners::default(),
            keys: Keys::default(),
            http: Arc::default(),
            output_folder: OnceCell::new(),
            media_folder: OnceCell::new(),
            workers: OnceCell::new(),
            shut_down: AtomicBool::new(false),
        }
    }

    /// The chats that are saved.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The schemas that [`Runtime::check_calls`] knows.
    pub fn schemas(&self) -> &Schemas {
        &self.schemas
    }

    /// Names the folder for the approvals of projects. The first call counts.
    pub fn keep_approvals(&self, folder: &Path) {
        self.approvals.keep_in(folder);
    }

    /// The approvals of all projects.
    ///
    /// # Errors
    /// [`ApprovalsError::Read`] and [`ApprovalsError::Broken`].
    pub fn saved_approvals(&self) -> Result<Vec<SavedApproval>, ApprovalsError> {
        self.approvals.list()
    }

    /// Looks an approval of a project up → `CallEvent::FactFound`, always.
    pub fn find_approvals(&self, chat: ChatId, call: CallId, project: Arc<str>, approvals: Vec<Approval>) {
        self.approvals.find(&self.inbox, chat, call, project, approvals);
    }

    /// Saves an approval of a project. `Event::ApprovalsFailed` tells when that fails.
    pub fn save_approval(&self, project: Arc<str>, approval: Approval) {
        self.approvals.save(&self.inbox, project, approval);
    }

    /// Removes an approval of a project. `Event::ApprovalsFailed` tells when that fails.
    pub fn forget_approval(&self, project: Arc<str>, approval: Approval) {
        self.approvals.forget(&self.inbox, project, approval);
    }

    /// Takes note of values that commands must not see.
    pub fn add_secrets(&self, values: Vec<String>) {
        self.keys.add(values);
    }

    /// The same for what a request would tell a server.
    pub fn add_sent_secrets(&self, request: &HttpRequest) {
        self.keys.add_sent(&request.secrets());
    }

    /// Runs a command that prints a key. `done` is called on another thread, always; an error is for the user.
    pub fn run_key_command(&self, command: KeyCommand, done: impl FnOnce(Result<String, String>) + Send + 'static) {
        if self.shut_down.load(Ordering::Acquire) {
            return done(Err(Error::ShutDown.to_string()));
        }
        self.keys.run(self.commands.processes(), command, done);
    }

    /// Ends what belongs to a chat that is closed.
    pub fn end_chat(&self, chat: ChatId) {
        self.keys.stop_chat(chat);
    }

    /// Names the folder for the whole of what is cut, and removes there what is old. The first call counts. Without
    /// one, what is cut is lost.
    pub fn keep_outputs(&self, folder: PathBuf) {
        if self.output_folder.set(folder.clone()).is_ok() {
            // Of no consequence to anybody when it fails: the next editor tries again.
            let sweep = move || drop(output::sweep(&folder));
            let _ = std::thread::Builder::new().name("lathe-sweep".into()).spawn(sweep);
        }
    }

    /// Names the folder in which this editor makes one of its own for media, and removes there what is old. The first call
    /// counts.
    pub fn keep_media(&self, folder: PathBuf) {
        if self.media_folder.set(media::session_folder(&folder)).is_ok() {
            let sweep = move || media::sweep(&folder);
            let _ = std::thread::Builder::new().name("lathe-sweep".into()).spawn(sweep);
        }
    }

    fn spill(&self) -> Spill {
        Spill { folder: self.output_folder.get().cloned() }
    }

    /// Does something that may block, and that answers by itself. Without threads it is slow instead of lost.
    pub fn in_background(&self, job: impl FnOnce() + Send + 'static) {
        match self.workers() {
            Ok(workers) => drop(workers.handle.spawn_blocking(job)),
            Err(_) => job(),
        }
    }

    /// What the command of a call printed last; none: no command of it runs.
    pub fn last_line(&self, call: CallId) -> Option<String> {
        self.commands.last_line(call)
    }

    /// How many commands run, those included that left something in the background.
    pub fn command_count(&self) -> usize {
        self.commands.count()
    }

    /// Ends everything and joins the threads, within [`SHUTDOWN_MS`] and [`COMMANDS_SHUTDOWN_MS`]. Nothing starts
    /// afterwards. Chats are saved until [`Store::finish`]: what has ended is still to be told.
    pub fn shutdown(&self) {
        self.shut_down.store(true, Ordering::Release);
        self.requests.abort_all();
        self.judges.abort_all();
        self.approvals.shutdown();
        self.commands.stop_all_and_wait(Duration::from_millis(COMMANDS_SHUTDOWN_MS));
        if let Some(workers) = self.workers.get()
            && let Some(tokio) = lock(&workers.tokio).take()
        {
            tokio.shutdown_timeout(Duration::from_millis(SHUTDOWN_MS));
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.shutdown();
        self.store.finish();
    }
}

#[cfg(test)]
mod tests;
