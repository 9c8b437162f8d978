//! Answers of slow exports: an export returns the number of its reply, another thread makes the reply, and a drain hands it
//! to Lua.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mlua::{Lua, Value};

use super::waker::Waker;
use crate::error::OUR_FAULT;

/// Makes the Lua value of a reply, on the main thread; or says what went wrong, for the user.
pub type Make = Box<dyn FnOnce(&Lua) -> mlua::Result<Result<Value, String>> + Send>;

/// Replies on their way to Lua.
pub struct Replies {
    queue: Mutex<VecDeque<(u64, Make)>>,
    expected: AtomicU64,
    waker: Arc<Waker>,
}

/// A reply that Lua waits for. One that is dropped is a failure, so that nobody waits for ever.
pub struct Expected {
    /// What the export returns.
    pub number: u64,
    replies: Arc<Replies>,
    is_given: bool,
}

impl Replies {
    /// No replies.
    pub fn new(waker: Arc<Waker>) -> Self {
        Self { queue: Mutex::default(), expected: AtomicU64::new(0), waker }
    }

    /// A reply that will come.
    pub fn expect(self: &Arc<Self>) -> Expected {
        let number = self.expected.fetch_add(1, Ordering::Relaxed) + 1;
        Expected { number, replies: Arc::clone(self), is_given: false }
    }

    /// The oldest reply.
    pub fn pop(&self) -> Option<(u64, Make)> {
        self.lock().pop_front()
    }

    /// Whether no reply waits.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn push(&self, number: u64, make: Make) {
        self.lock().push_back((number, make));
        self.waker.wake();
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(u64, Make)>> {
        // Nothing panics while it is held.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Expected {
    /// Gives the reply, on any thread.
    pub fn give(mut self, make: Make) {
        self.is_given = true;
        self.replies.push(self.number, make);
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        if !self.is_given {
            let fault = OUR_FAULT.to_owned();
            self.replies.push(self.number, Box::new(|_| Ok(Err(fault))));
        }
    }
}
