//! Worker threads: they start when they are first needed, keep the one alarm clock, and what runs on them can be ended.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use once_cell::sync::Lazy;
use tokio::runtime::{Builder, Handle};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::Runtime;
use super::inbox::Inbox;
use crate::engine::event::Event;
use crate::error::Error;
use crate::schema;

/// How many threads do requests and checks.
const WORKERS: usize = 2;

/// A day: longer than any time limit, shorter than what the clock cannot add.
const FAR_MS: u64 = 86_400_000;

static CLOCK: Lazy<Instant> = Lazy::new(Instant::now);

/// Milliseconds on a clock that never goes back, from its first use in this process.
pub fn now_ms() -> u64 {
    u64::try_from(CLOCK.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The requests that run, each with what ends it.
#[derive(Clone)]
pub(super) struct Running<Id>(pub(super) Arc<Mutex<HashMap<Id, AbortHandle>>>);

impl<Id> Default for Running<Id> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

pub(super) struct Workers {
    pub(super) handle: Handle,
    pub(super) tokio: Mutex<Option<tokio::runtime::Runtime>>,
    alarm: Arc<watch::Sender<Option<u64>>>,
}

impl Runtime {
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

    pub(super) fn workers(&self) -> Result<&Workers, Error> {
        if self.shut_down.load(Ordering::Acquire) {
            return Err(Error::ShutDown);
        }
        self.workers.get_or_try_init(|| Workers::start(Arc::clone(&self.inbox)))
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

impl<Id: Copy + Eq + std::hash::Hash + Send + 'static> Running<Id> {
    /// Runs an answer, unless one runs for this request. It ends the request with an event of its own; where it panics,
    /// `panicked` does.
    pub(super) fn start(
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

    pub(super) fn abort(&self, request: Id) {
        if let Some(task) = lock(&self.0).remove(&request) {
            task.abort();
        }
    }

    pub(super) fn abort_all(&self) {
        lock(&self.0).drain().for_each(|(_, task)| task.abort());
    }
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

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing in this file panics half-way through a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
