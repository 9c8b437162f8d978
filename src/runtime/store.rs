//! Chats on disk: the one thread that writes them, and what the main loop hands to it. Files are opened, listed and read in
//! `store/files.rs`; what a record is, is `saved.rs`'s business.

mod files;
mod writer;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use once_cell::sync::OnceCell;

pub use files::{CopyReason, Entry, Loaded, StoreError};
use files::{Keep, Place};
use writer::{Disk, Writing};

use super::inbox::Inbox;
use crate::engine::effect::Effect;
use crate::engine::event::{ChatEvent, ChatId, Event, Saving};
use crate::engine::restore::{Look, Restored};
use crate::engine::saved::{Meta, Note, Record, Recorder};
use crate::tool::CallId;

/// How long [`Store::finish`] waits for what is not written yet, at most.
pub const FINISH_MS: u64 = 500;

/// While much happens the writer looks for more so often, instead of being woken for each record: a wake-up costs the main
/// loop more than all the rest.
const LINGER: Duration = Duration::from_millis(2);

/// The chats that are saved. Each method is cheap; files are touched on other threads only.
pub struct Store {
    inbox: Arc<Inbox>,
    folder: OnceCell<PathBuf>,
    known: Mutex<Known>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Known {
    recorder: Recorder,
    /// What was told last of each chat that is saved.
    chats: HashMap<ChatId, Meta>,
    /// How many files were named.
    named: u64,
    has_thread: bool,
}

/// What the writer is to do.
enum Task {
    /// Save a new chat, from its first message on.
    Begin {
        chat: ChatId,
        writing: Box<Writing>,
    },
    /// A chat is something else now.
    Meta {
        chat: ChatId,
        meta: Meta,
    },
    Record {
        chat: ChatId,
        record: Record,
    },
    /// Nothing more comes of a chat.
    Close {
        chat: ChatId,
    },
    /// Say when all before is done.
    Barrier(Sender<()>),
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    tasks: Vec<Task>,
    /// The writer waits: it must be woken.
    is_waiting: bool,
    is_ending: bool,
    /// The writer is gone.
    is_done: bool,
}

impl Store {
    /// A store without a folder, which saves nothing. Starts nothing.
    pub fn new(inbox: Arc<Inbox>) -> Self {
        Self { inbox, folder: OnceCell::new(), known: Mutex::default(), shared: Arc::default() }
    }

    /// Names the folder of the files. The first call counts.
    pub fn keep_in(&self, folder: PathBuf) {
        let _ = self.folder.set(folder);
    }

    /// Has a chat saved from now on, or tells what has changed about it. Returns the name of its file, without an ending,
    /// when it is new.
    pub fn save(&self, chat: ChatId, meta: Meta) -> Option<String> {
        let folder = self.folder.get()?;
        let mut known = lock(&self.known);
        if let Some(last) = known.chats.get_mut(&chat) {
            if *last != meta {
                last.clone_from(&meta);
                self.shared.push(Task::Meta { chat, meta });
            }
            return None;
        }
        let id = known.name();
        known.chats.insert(chat, meta.clone());
        let writing = Writing::new(Place::new(folder, &id), now_s(), meta);
        self.begin(known, chat, writing);
        Some(id)
    }

    /// Goes on saving a chat that was read from a file, there or in a copy. Returns the name of its file and the chat.
    /// `wanted`: whether anything is to be written.
    pub fn go_on(&self, chat: ChatId, loaded: Loaded, wanted: bool) -> (Option<String>, Restored) {
        let Loaded { id, place, saved, keep, .. } = loaded;
        let Some(folder) = self.folder.get().filter(|_| wanted) else { return (None, saved.restored) };
        let mut known = lock(&self.known);
        known.chats.insert(chat, saved.meta);
        let (id, writing) = match keep {
            Keep::Same(sink) => (id, Writing::go_on(place, sink)),
            Keep::Copy(bytes) => {
                let id = known.name();
                let place = Place::new(folder, &id);
                (id, Writing::copy(place, bytes))
            }
        };
        self.begin(known, chat, writing);
        for record in saved.made {
            self.shared.push(Task::Record { chat, record });
        }
        (Some(id), saved.restored)
    }

    fn begin(&self, mut known: MutexGuard<Known>, chat: ChatId, writing: Writing) {
        if !known.has_thread {
            let (shared, inbox) = (Arc::clone(&self.shared), Arc::clone(&self.inbox));
            let writer = move || run(&shared, &inbox, &mut files::create);
            match std::thread::Builder::new().name("lathe-store".into()).spawn(writer) {
                Ok(_) => known.has_thread = true,
                Err(error) => {
                    known.chats.remove(&chat);
                    let saving = Saving::NoThread { reason: error.to_string() };
                    return self.inbox.push(Event::chat(chat, ChatEvent::SavingChanged(saving)));
                }
            }
        }
        self.shared.push(Task::Begin { chat, writing: Box::new(writing) });
    }

    /// Saves what an effect means for its chat's file, before it is performed.
    pub fn record(&self, effect: &Effect) {
        let Effect::Addressed { chat, effect } = effect else { return };
        let Some(note) = Note::of(effect) else { return };
        let mut known = lock(&self.known);
        if !known.chats.contains_key(chat) {
            return;
        }
        if note == Note::Closed {
            known.chats.remove(chat);
            self.shared.push(Task::Close { chat: *chat });
        } else if let Some(record) = known.recorder.record(note) {
            self.shared.push(Task::Record { chat: *chat, record });
        }
    }

    /// Saves how a call looks that is over.
    pub fn look(&self, chat: ChatId, call: CallId, look: Look) {
        if let Some(record) = lock(&self.known).recorder.look(call, look) {
            self.shared.push(Task::Record { chat, record });
        }
    }

    /// Lists the chats that are saved, newest first. `done` is called on another thread.
    pub fn list(&self, done: impl FnOnce(Result<Vec<Entry>, StoreError>) + Send + 'static) {
        self.elsewhere(files::list, done);
    }

    /// Reads a chat: one of [`Store::list`] by its id, or any file by its absolute path. `done` is called on another thread.
    pub fn load(&self, wanted: String, done: impl FnOnce(Result<Loaded, StoreError>) + Send + 'static) {
        self.elsewhere(move |folder| files::load(folder, &wanted), done);
    }

    /// Does something with the folder on another thread, once all that came before is written.
    fn elsewhere<T: 'static>(
        &self,
        act: impl FnOnce(&std::path::Path) -> Result<T, StoreError> + Send + 'static,
        done: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) {
        let Some(folder) = self.folder.get().cloned() else { return done(Err(StoreError::NoFolder)) };
        // A file that was just closed must not be found locked, nor a new one be missing.
        let (reached, barrier) = mpsc::channel();
        if lock(&self.known).has_thread {
            self.shared.push(Task::Barrier(reached));
        }
        let thread = std::thread::Builder::new().name("lathe-saved".into());
        // The closure is lost where no thread can be started; whoever waits for `done` hears of that when it is dropped.
        let _ = thread.spawn(move || {
            // Ends with an error where there is no writer.
            let _ = barrier.recv();
            done(catch_unwind(AssertUnwindSafe(|| act(&folder))).unwrap_or(Err(StoreError::Panicked)));
        });
    }

    /// Writes what is not written yet, for good, within [`FINISH_MS`].
    pub fn finish(&self) {
        if !lock(&self.known).has_thread {
            return;
        }
        let mut queue = lock(&self.shared.queue);
        queue.is_ending = true;
        self.shared.changed.notify_all();
        let limit = Duration::from_millis(FINISH_MS);
        drop(self.shared.changed.wait_timeout_while(queue, limit, |queue| !queue.is_done));
    }
}

impl Known {
    fn name(&mut self) -> String {
        self.named += 1;
        format!("{}-{}-{}", now_s(), std::process::id(), self.named)
    }
}

impl Shared {
    fn push(&self, task: Task) {
        let mut queue = lock(&self.queue);
        if queue.is_done {
            return;
        }
        let is_urgent = matches!(task, Task::Barrier(_));
        queue.tasks.push(task);
        if queue.is_waiting || is_urgent {
            queue.is_waiting = false;
            self.changed.notify_all();
        }
    }

    /// What is to be done, and whether that is the last of it. Waits until there is something, or until `due`. `is_busy`:
    /// there was something the last time.
    fn take(&self, due: Option<Instant>, is_busy: bool) -> (Vec<Task>, bool) {
        let mut queue = lock(&self.queue);
        if is_busy && !queue.is_ending {
            (queue, _) = self.changed.wait_timeout(queue, LINGER).unwrap_or_else(PoisonError::into_inner);
        }
        while queue.tasks.is_empty() && !queue.is_ending {
            queue.is_waiting = true;
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                break;
            }
            // A day stands for no limit.
            let left = left.unwrap_or(Duration::from_secs(86_400));
            (queue, _) = self.changed.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner);
        }
        queue.is_waiting = false;
        (std::mem::take(&mut queue.tasks), queue.is_ending)
    }
}

/// Says that the writer is gone, however that came.
struct Gone<'a>(&'a Shared);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        let mut queue = lock(&self.0.queue);
        queue.is_done = true;
        // Barriers go with them: nobody waits for ever.
        queue.tasks.clear();
        self.0.changed.notify_all();
    }
}

/// The writer.
fn run(shared: &Shared, inbox: &Inbox, disk: Disk) {
    let _gone = Gone(shared);
    let mut chats: HashMap<ChatId, Writing> = HashMap::new();
    let mut is_busy = false;
    loop {
        let (tasks, is_ending) = shared.take(chats.values().filter_map(Writing::due).min(), is_busy);
        is_busy = !tasks.is_empty();
        let (mut closed, mut barriers) = (Vec::new(), Vec::new());
        for task in tasks {
            match task {
                Task::Begin { chat, writing } => {
                    chats.insert(chat, *writing);
                }
                Task::Meta { chat, meta } => {
                    chats.get_mut(&chat).into_iter().for_each(|writing| writing.set_meta(meta.clone()));
                }
                Task::Record { chat, record } => {
                    if let Some(writing) = chats.get_mut(&chat) {
                        writing.take(record, Instant::now());
                        // What waits for the disk is bounded, and this disk may well take it.
                        if writing.holds_much() {
                            tell(inbox, chat, writing, disk, false);
                        }
                    }
                }
                Task::Close { chat } => closed.push(chat),
                Task::Barrier(reached) => barriers.push(reached),
            }
        }
        for (chat, writing) in &mut chats {
            let is_last = is_ending || closed.contains(chat);
            tell(inbox, *chat, writing, disk, is_last);
        }
        for chat in closed {
            chats.remove(&chat);
        }
        // Whoever waits may have gone.
        for reached in barriers {
            let _ = reached.send(());
        }
        if is_ending {
            return;
        }
    }
}

/// Writes what waits of a chat, and tells what the user should know.
fn tell(inbox: &Inbox, chat: ChatId, writing: &mut Writing, disk: Disk, is_last: bool) {
    let saving = writing.flush(disk, Instant::now(), is_last);
    for saving in writing.take_cuts().into_iter().chain(saving) {
        inbox.push(Event::chat(chat, ChatEvent::SavingChanged(saving)));
    }
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics half-way through a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
