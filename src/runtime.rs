//! Threads and tokio: what must not run on the main loop runs here and answers with an event. No Lua, no decisions.

pub mod approvals;
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
pub mod store;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use once_cell::sync::{Lazy, OnceCell};
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::adapter::Item;
use crate::adapter::scripted::{self, Step};
use crate::engine::effect::KillReason;
use crate::engine::event::{CallEvent, ChatEvent, ChatId, Event, RequestEvent, RequestId};
use crate::error::{Error, OUR_FAULT};
use crate::gate::approvals::Approval;
use crate::gate::judge::Judged;
use crate::gate::pair::Wants;
use crate::gate::{Fact, Found, Permissions};
use crate::media::Given;
use crate::output::{self, Limits, Spill};
use crate::schema::{self, Schemas};
use crate::tool::{ArgumentsError, CallId, CheckedCall, KeptMedia, SchemaId, UncheckedCall};
use approvals::{ApprovalsError, ProjectApprovals, SavedApproval};
use commands::{CommandCmd, Commands, RunError};
use http::{Http, HttpRequest};
use inbox::Inbox;
use judge::Judge;
use keys::{KeyCommand, Keys, Waiting};
use provider::ProviderRequest;
use store::Store;

/// How many threads do requests and checks.
const WORKERS: usize = 2;

/// How long [`Runtime::shutdown`] waits for requests and checks that are in the middle of something, at most.
pub const SHUTDOWN_MS: u64 = 500;

/// How long it waits for commands, at most: they have 500 ms between SIGTERM and SIGKILL.
pub const COMMANDS_SHUTDOWN_MS: u64 = 1_000;

/// A day: longer than any time limit, shorter than what the clock cannot add.
const FAR_MS: u64 = 86_400_000;

static CLOCK: Lazy<Instant> = Lazy::new(Instant::now);

/// Milliseconds on a clock that never goes back, from its first use in this process.
pub fn now_ms() -> u64 {
    u64::try_from(CLOCK.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Worker threads and what runs on them. Threads start when they are first needed.
pub struct Runtime {
    inbox: Arc<Inbox>,
    schemas: Arc<Schemas>,
    requests: Running<RequestId>,
    judges: Running<CallId>,
    approvals: ProjectApprovals,
    commands: Commands,
    keys: Keys,
    http: Arc<Http>,
    store: Store,
    output_folder: OnceCell<PathBuf>,
    media_folder: OnceCell<PathBuf>,
    workers: OnceCell<Workers>,
    shut_down: AtomicBool,
}

/// The requests that run, each with what ends it.
#[derive(Clone)]
struct Running<Id>(Arc<Mutex<HashMap<Id, AbortHandle>>>);

impl<Id> Default for Running<Id> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

struct Workers {
    handle: Handle,
    tokio: Mutex<Option<tokio::runtime::Runtime>>,
    alarm: Arc<watch::Sender<Option<u64>>>,
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

    /// Decodes and checks arguments → [`ChatEvent::CallsChecked`], always.
    pub fn check_calls(&self, chat: ChatId, calls: Vec<UncheckedCall>) {
        match self.workers() {
            Ok(workers) => {
                let (inbox, schemas) = (Arc::clone(&self.inbox), Arc::clone(&self.schemas));
                // A schema may take for ever to check; the workers are for what other chats wait for.
                workers.handle.spawn_blocking(move || {
                    let calls = calls.into_iter().map(|call| check(&schemas, call)).collect();
                    inbox.push(Event::chat(chat, ChatEvent::CallsChecked(calls)));
                });
            }
            Err(error) => {
                let message = format!("The arguments could not be checked: {}.", error.with_causes());
                let calls = calls.into_iter().map(|call| unchecked(call, &message)).collect();
                self.inbox.push(Event::chat(chat, ChatEvent::CallsChecked(calls)));
            }
        }
    }

    /// Plays a scripted turn → [`RequestEvent::Items`]…, then [`RequestEvent::Finished`] or [`RequestEvent::Failed`].
    pub fn start_scripted(&self, chat: ChatId, request: RequestId, turn: String) {
        match self.workers() {
            Ok(workers) => {
                let answer = play(Arc::clone(&self.inbox), chat, request, turn);
                self.requests.start(&workers.handle, &self.inbox, request, answer, request_panicked(chat, request));
            }
            Err(error) => {
                self.inbox.push(Event::request(chat, request, RequestEvent::Failed { message: error.with_causes() }));
            }
        }
    }

    /// Sends a request to a provider; the events are those of [`provider::ask`].
    pub fn start_provider(&self, chat: ChatId, request: RequestId, provider: ProviderRequest) {
        self.add_sent_secrets(&provider.http);
        match self.workers() {
            Ok(workers) => {
                let answer = provider::ask(Arc::clone(&self.http), Arc::clone(&self.inbox), chat, request, provider);
                self.requests.start(&workers.handle, &self.inbox, request, answer, request_panicked(chat, request));
            }
            Err(error) => {
                self.inbox.push(Event::request(chat, request, RequestEvent::Failed { message: error.with_causes() }));
            }
        }
    }

    /// Gets a small document. `done` is called on another thread; an error is for the user.
    pub fn fetch(&self, request: HttpRequest, done: impl FnOnce(Result<Vec<u8>, String>) + Send + 'static) {
        self.add_sent_secrets(&request);
        match self.workers() {
            Ok(workers) => {
                let http = Arc::clone(&self.http);
                workers.handle.spawn(async move { done(provider::fetch(&http, request).await) });
            }
            Err(error) => done(Err(error.with_causes())),
        }
    }

    /// Asks the judge about a call → [`CallEvent::FactFound`], always, unless [`Runtime::abort_judge`] comes first.
    pub fn ask_judge(&self, chat: ChatId, call: CallId, judge: Judge) {
        if let Judge::Provider(provider) = &judge {
            self.add_sent_secrets(&provider.http);
        }
        let failed = |why: String| judge::found(chat, call, Judged::Failed(why));
        match self.workers() {
            Ok(workers) => {
                let asked = judge::ask(Arc::clone(&self.http), Arc::clone(&self.inbox), chat, call, judge);
                self.judges.start(&workers.handle, &self.inbox, call, asked, failed(OUR_FAULT.to_owned()));
            }
            Err(error) => self.inbox.push(failed(error.with_causes())),
        }
    }

    /// Ends what asks the judge about a call, if anything does.
    pub fn abort_judge(&self, call: CallId) {
        self.judges.abort(call);
        self.keys.stop(Waiting::Judge(call));
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

    /// Looks an approval of a project up → [`CallEvent::FactFound`], always.
    pub fn find_approvals(&self, chat: ChatId, call: CallId, project: Arc<str>, approvals: Vec<Approval>) {
        self.approvals.find(&self.inbox, chat, call, project, approvals);
    }

    /// Saves an approval of a project. [`Event::ApprovalsFailed`] tells when that fails.
    pub fn save_approval(&self, project: Arc<str>, approval: Approval) {
        self.approvals.save(&self.inbox, project, approval);
    }

    /// Removes an approval of a project. [`Event::ApprovalsFailed`] tells when that fails.
    pub fn forget_approval(&self, project: Arc<str>, approval: Approval) {
        self.approvals.forget(&self.inbox, project, approval);
    }

    /// Ends a request. It sends nothing more, but for an event that is on its way at this moment.
    pub fn abort(&self, request: RequestId) {
        self.requests.abort(request);
        self.keys.stop(Waiting::Request(request));
    }

    /// Starts a command cmd → [`CallEvent::CommandStarted`], then [`CallEvent::CommandFinished`], always.
    ///
    /// # Errors
    /// Each variant of [`RunError`]; no event follows then.
    pub fn run_command(&self, cmd: CommandCmd) -> Result<(), RunError> {
        if self.shut_down.load(Ordering::Acquire) {
            return Err(RunError::ShutDown);
        }
        self.commands.start(&self.inbox, self.spill(), self.keys.secrets(), cmd)
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

    /// Compiles schemas that will soon be needed. Nothing depends on it: a schema that is not compiled yet is when a call
    /// is checked.
    pub fn compile_schemas(&self, schemas: Vec<SchemaId>) {
        if let (false, Ok(workers)) = (schemas.is_empty(), self.workers()) {
            let known = Arc::clone(&self.schemas);
            workers.handle.spawn_blocking(move || {
                for schema in schemas {
                    // One that makes the compiler panic says so when it is used.
                    let _ = catch_unwind(AssertUnwindSafe(|| known.compile(schema)));
                }
            });
        }
    }

    /// Cuts a result that is too long and saves the whole and its media → [`CallEvent::Shortened`], always.
    pub fn shorten(&self, chat: ChatId, call: CallId, content: String, limits: Limits, media: Vec<Given>) {
        let (inbox, spill, folder) = (Arc::clone(&self.inbox), self.spill(), self.media_folder.get().cloned());
        let cut = move || {
            let cut = catch_unwind(|| output::cut(&content, &limits, &spill).text);
            let content = cut.unwrap_or_else(|_| {
                "The result is too long and could not be cut: an internal error of lathe. It is lost.".to_owned()
            });
            let count = media.len();
            let media = catch_unwind(AssertUnwindSafe(|| media::keep(media, folder.as_deref())));
            let media = media.unwrap_or_else(|_| KeptMedia {
                notes: Some(format!("[{count} files could not be kept: an internal error of lathe. They are lost.]")),
                ..KeptMedia::default()
            });
            inbox.push(Event::call(chat, call, CallEvent::Shortened { content, media }));
        };
        match self.workers() {
            Ok(workers) => drop(workers.handle.spawn_blocking(cut)),
            // Without threads it is slow instead of lost.
            Err(_) => cut(),
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

    /// Finds what a call wants → [`CallEvent::FactFound`], always.
    pub fn find_pairs(&self, chat: ChatId, call: CallId, wants: Wants, permissions: Arc<Permissions>) {
        let inbox = Arc::clone(&self.inbox);
        self.in_background(move || {
            let found = catch_unwind(|| Found::Pairs(permissions::judge(&wants, &permissions).into())).ok();
            inbox.push(Event::call(chat, call, CallEvent::FactFound { fact: Fact::Pairs, found }));
        });
    }

    /// Ends the command of a call, if one runs; its event follows.
    pub fn stop_command(&self, call: CallId, why: KillReason) {
        self.commands.stop(call, why);
    }

    /// What the command of a call printed last; none: no command of it runs.
    pub fn last_line(&self, call: CallId) -> Option<String> {
        self.commands.last_line(call)
    }

    /// How many commands run, those included that left something in the background.
    pub fn command_count(&self) -> usize {
        self.commands.count()
    }

    /// Sets the one alarm clock → [`Event::TimePassed`] at `deadline_ms` of [`now_ms`]. None: no alarm.
    pub fn set_alarm(&self, deadline_ms: Option<u64>) {
        if deadline_ms.is_none() && self.workers.get().is_none() {
            return;
        }
        // Without threads nothing runs that could outlive its time.
        if let Ok(workers) = self.workers() {
            workers.alarm.send_if_modified(|alarm| std::mem::replace(alarm, deadline_ms) != deadline_ms);
        }
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

    fn workers(&self) -> Result<&Workers, Error> {
        if self.shut_down.load(Ordering::Acquire) {
            return Err(Error::ShutDown);
        }
        self.workers.get_or_try_init(|| Workers::start(Arc::clone(&self.inbox)))
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.shutdown();
        self.store.finish();
    }
}

impl Workers {
    fn start(inbox: Arc<Inbox>) -> Result<Self, Error> {
        let tokio = Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("lathe-worker")
            .enable_all()
            .build()
            .map_err(Error::Workers)?;
        let handle = tokio.handle().clone();
        handle.spawn_blocking(schema::warm);
        let alarm = Arc::new(watch::Sender::new(None));
        handle.spawn(ring(Arc::clone(&alarm), inbox));
        Ok(Self { handle, tokio: Mutex::new(Some(tokio)), alarm })
    }
}

fn request_panicked(chat: ChatId, request: RequestId) -> Event {
    Event::request(chat, request, RequestEvent::Failed { message: OUR_FAULT.to_owned() })
}

impl<Id: Copy + Eq + std::hash::Hash + Send + 'static> Running<Id> {
    /// Runs an answer, unless one runs for this request. It ends the request with an event of its own; where it panics,
    /// `panicked` does.
    fn start(
        &self,
        handle: &Handle,
        inbox: &Arc<Inbox>,
        request: Id,
        answer: impl Future<Output = ()> + Send + 'static,
        panicked: Event,
    ) {
        let (requests, inbox) = (self.clone(), Arc::clone(inbox));
        // The lock is held until the request is in the map, so that one that ends at once is found there.
        let mut running = lock(&self.0);
        // An adapter's hook that answers twice must not mix two answers into one.
        if running.contains_key(&request) {
            return;
        }
        let task = handle.spawn(answer);
        running.insert(request, task.abort_handle());
        handle.spawn(async move {
            let outcome = task.await;
            lock(&requests.0).remove(&request);
            if outcome.is_err_and(|error| error.is_panic()) {
                inbox.push(panicked);
            }
        });
    }

    fn abort(&self, request: Id) {
        if let Some(task) = lock(&self.0).remove(&request) {
            task.abort();
        }
    }

    fn abort_all(&self) {
        lock(&self.0).drain().for_each(|(_, task)| task.abort());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in this file panics half-way through a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks one call. A panic in the validator must not leave a chat waiting for ever.
fn check(schemas: &Schemas, call: UncheckedCall) -> CheckedCall {
    let id = call.call;
    catch_unwind(AssertUnwindSafe(|| schemas.check(call))).unwrap_or_else(|_| {
        let text = "The arguments could not be checked: an internal error of lathe. Nothing was run.";
        CheckedCall::new(id, Err(ArgumentsError::NotChecked(text.to_owned())))
    })
}

fn unchecked(call: UncheckedCall, message: &str) -> CheckedCall {
    CheckedCall::new(call.call, Err(ArgumentsError::NotChecked(message.to_owned())))
}

async fn play(inbox: Arc<Inbox>, chat: ChatId, request: RequestId, turn: String) {
    let tell = |item| inbox.push(Event::request(chat, request, RequestEvent::Items(vec![item])));
    inbox.push(match steps(&turn, tell).await {
        Ok(()) => Event::request(chat, request, RequestEvent::Finished),
        Err(message) => Event::request(chat, request, RequestEvent::Failed { message }),
    });
}

/// Walks the steps of a scripted turn. An error is for the user.
async fn steps(turn: &str, mut tell: impl FnMut(Item) + Send) -> Result<(), String> {
    for step in scripted::decode(turn).map_err(|error| error.to_string())? {
        match step {
            Step::Wait(delay) => tokio::time::sleep(delay).await,
            Step::Item(item) => tell(item),
            Step::Fail(message) => return Err(message),
            Step::Hang => std::future::pending().await,
        }
        // A task ends only where it waits: this is where an abort takes effect.
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// The alarm clock. It disarms itself when it rings, so that setting the same deadline again is a new alarm.
async fn ring(alarm: Arc<watch::Sender<Option<u64>>>, inbox: Arc<Inbox>) {
    let mut changes = alarm.subscribe();
    loop {
        let armed = *changes.borrow_and_update();
        let Some(deadline_ms) = armed else {
            if changes.changed().await.is_err() {
                return;
            }
            continue;
        };
        let wait = Duration::from_millis(deadline_ms.saturating_sub(now_ms()).min(FAR_MS));
        match tokio::time::timeout(wait, changes.changed()).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return,
            Err(_) if now_ms() < deadline_ms => {}
            Err(_) => {
                alarm.send_if_modified(|now| {
                    if *now == armed {
                        *now = None;
                    }
                    false
                });
                inbox.push(Event::TimePassed);
            }
        }
    }
}

#[cfg(test)]
mod tests;
