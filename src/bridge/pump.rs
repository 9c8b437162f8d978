//! The pump: event → engine → effects → performers → events, in slices of the main loop. Decides nothing.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mlua::{Function, Lua, Value};

use super::given::PerformError;
use super::guard;
use super::perform::Performers;
use super::replies::Replies;
use super::unfold::Unfolding;
use super::waker::Waker;
use crate::engine::Engine;
use crate::engine::effect::{CallEffect, ChatEffect, Effect, LogLevel};
use crate::engine::event::{ChatEvent, ChatId, ChatSettings, Event};
use crate::error::Error;
use crate::gate::approvals::Approval;
use crate::message::Message;
use crate::runtime::inbox::Inbox;
use crate::runtime::{Runtime, now_ms};
use crate::tool::{CallId, Copying};

/// How long one drain may hold the main loop, but for the one effect that it is performing.
const DRAIN_BUDGET: Duration = Duration::from_millis(3);

/// How long the end of the turns may take when Neovim exits, but for the one effect that is being performed.
const LEAVING_BUDGET: Duration = Duration::from_millis(500);

/// The engine and what is on its way to and from it. One per process, on the main thread.
pub struct Pump {
    engine: RefCell<Engine>,
    effects: RefCell<VecDeque<Effect>>,
    /// The call whose arguments are being turned into Lua.
    preparing: RefCell<Option<Preparing>>,
    /// What is on its way to the engine.
    pub inbox: Arc<Inbox>,
    /// What slow exports answer.
    pub replies: Arc<Replies>,
    /// The fault that was reported last: one that repeats itself is shown once.
    last_fault: RefCell<String>,
    /// What runs off the main loop.
    pub runtime: Runtime,
    /// Wakes the main loop.
    pub waker: Arc<Waker>,
    /// Set by `start`; replaced when the plugin was reloaded.
    performers: RefCell<Option<Rc<Performers>>>,
    /// Gets replies as long as there are no performers: a list of models may be wanted before the first chat.
    early: RefCell<Option<Function>>,
    /// Whether the waker was opened.
    is_open: Cell<bool>,
    /// The next drain panics, for the test of the guard.
    pub panics: Cell<bool>,
}

struct Preparing {
    chat: ChatId,
    call: CallId,
    arguments: Unfolding,
    copying: Copying,
    /// What the engine is told where that fails.
    after_fault: Option<Event>,
}

impl Pump {
    /// A pump that stands still until it has performers.
    pub fn new() -> Self {
        let waker = Arc::new(Waker::default());
        let woken = Arc::clone(&waker);
        let inbox = Arc::new(Inbox::new(move || woken.wake()));
        Self {
            engine: RefCell::default(),
            effects: RefCell::default(),
            preparing: RefCell::default(),
            inbox: Arc::clone(&inbox),
            last_fault: RefCell::default(),
            runtime: Runtime::new(inbox),
            replies: Arc::new(Replies::new(Arc::clone(&waker))),
            waker,
            performers: RefCell::default(),
            early: RefCell::default(),
            is_open: Cell::new(false),
            panics: Cell::new(false),
        }
    }

    /// Has effects performed by `performers` from now on.
    pub fn set_performers(&self, performers: Performers) {
        self.performers.replace(Some(Rc::new(performers)));
    }

    /// Has replies handed to `reply` until there are performers.
    pub fn set_early(&self, reply: Function) {
        self.early.replace(Some(reply));
    }

    /// Has the editor call `drain` when something comes.
    pub fn open(&self, lua: &Lua, drain: &Function) -> Result<(), Error> {
        if !self.is_open.get() {
            self.waker.open(lua, drain)?;
            self.is_open.set(true);
        }
        Ok(())
    }

    /// Queues an event; it is handled by a later drain.
    pub fn push(&self, event: Event) {
        self.inbox.push(event);
    }

    /// A new chat.
    pub fn open_chat(&self, settings: ChatSettings) -> ChatId {
        let chat = self.engine.borrow_mut().next_chat();
        self.push(Event::chat(chat, ChatEvent::Opened(settings)));
        chat
    }

    /// What is approved in each chat, with the time at which it was, in seconds since 1970.
    pub fn approvals(&self) -> Vec<(ChatId, Approval, u64)> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let wall = |since_ms: u64| now.saturating_sub(now_ms().saturating_sub(since_ms) / 1_000);
        let of = |(chat, approval, since_ms)| (chat, approval, wall(since_ms));
        self.engine.borrow().approvals().into_iter().map(of).collect()
    }

    /// The messages of a chat, for a request.
    pub fn messages(&self, chat: ChatId) -> Vec<Arc<Message>> {
        self.engine.borrow().history(chat).map(|history| history.messages().to_vec()).unwrap_or_default()
    }

    /// How many chats there are, and how many events and effects wait.
    pub fn counts(&self) -> (usize, usize, usize) {
        (self.engine.borrow().chat_count(), self.inbox.len(), self.effects.borrow().len())
    }

    /// Works off what is queued, for a slice of time. A performer may get here again: a tool that waits with `vim.wait`
    /// runs the editor's loop.
    pub fn drain(&self, lua: &Lua) {
        if self.waker.is_closed() || !self.is_open.get() {
            return;
        }
        self.waker.begin_drain(lua);
        if self.performers.borrow().is_none() {
            return self.deliver_early(lua);
        }
        if !self.work(lua, Instant::now() + DRAIN_BUDGET) {
            self.waker.wake();
        }
        let alarm = guard::catch(|| self.runtime.set_alarm(self.engine.borrow().next_deadline_ms()));
        if let (Err(panic), Some(performers)) = (alarm, self.performers.borrow().clone()) {
            self.report(&performers, &panic);
        }
    }

    /// Ends all turns, for good: jobs are ended, `on_exit` runs, commands and requests are stopped, chats are saved. Bounded
    /// by twice [`LEAVING_BUDGET`] and what [`Runtime::shutdown`] and `Store::finish` take.
    pub fn shut_down(&self, lua: &Lua) {
        let chats = self.engine.borrow().chats();
        for chat in chats {
            self.push(Event::chat(chat, ChatEvent::Stopped));
        }
        self.work(lua, Instant::now() + LEAVING_BUDGET);
        self.runtime.shutdown();
        // What became of the commands, whose calls may have an `on_exit`. A budget of its own: stubborn ones use up the first.
        self.work(lua, Instant::now() + LEAVING_BUDGET);
        self.runtime.store().finish();
        self.waker.close();
    }

    /// Works off what is queued. False: `until` came before the end of it.
    fn work(&self, lua: &Lua, until: Instant) -> bool {
        loop {
            // Asked for each time: what was performed may have replaced them.
            let Some(performers) = self.performers.borrow().clone() else { return true };
            match guard::catch(|| self.step(lua, &performers, until)) {
                Ok(true) => {}
                Ok(false) => return true,
                Err(panic) => self.report(&performers, &panic),
            }
            if Instant::now() >= until {
                return false;
            }
        }
    }

    /// Performs one effect or handles one event. False: there is neither.
    fn step(&self, lua: &Lua, performers: &Performers, until: Instant) -> bool {
        assert!(!self.panics.take(), "asked for by a test");
        let preparing = self.preparing.borrow_mut().take();
        if let Some(preparing) = preparing {
            self.prepare(lua, performers, preparing, until);
            return true;
        }
        let effect = self.effects.borrow_mut().pop_front();
        let after_fault = effect.as_ref().and_then(Effect::reply_after_fault);
        match effect {
            // What it does is not saved: it says nothing.
            Some(Effect::Addressed {
                chat,
                effect: ChatEffect::Call { call, effect: CallEffect::PrepareCall { arguments, copying } },
            }) => {
                let arguments = Unfolding::new(arguments);
                self.prepare(lua, performers, Preparing { chat, call, arguments, copying, after_fault }, until);
                return true;
            }
            Some(effect) => {
                self.perform(lua, performers, effect, after_fault);
                return true;
            }
            None => {}
        }
        if self.deliver(lua, performers) {
            return true;
        }
        let Some(event) = self.inbox.pop() else { return false };
        let effects = self.engine.borrow_mut().handle(now_ms(), event);
        self.effects.borrow_mut().extend(effects);
        true
    }

    /// Hands the reply of a slow export to Lua. False: there is none.
    fn deliver(&self, lua: &Lua, performers: &Performers) -> bool {
        let Some((number, make)) = self.replies.pop() else { return false };
        // The callback is somebody's code.
        self.wake_for_others();
        let outcome = guard::catch(|| performers.reply(lua, number, make));
        self.reported(performers, outcome);
        true
    }

    /// Hands the replies to Lua that came before there are performers.
    fn deliver_early(&self, lua: &Lua) {
        let Some(reply) = self.early.borrow().clone() else { return };
        while let Some((number, make)) = self.replies.pop() {
            // A callback that throws is told by Lua, which has called it protected; there is no log to write to.
            let _ = guard::catch(|| match make(lua)? {
                Ok(value) => reply.call::<()>((number, value)),
                Err(fault) => reply.call::<()>((number, Value::Nil, fault)),
            });
        }
    }

    /// Turns the arguments of a call into Lua, some of them if they are many; when they are done Lua makes its copy.
    fn prepare(&self, lua: &Lua, performers: &Performers, mut preparing: Preparing, until: Instant) {
        let Preparing { chat, call, copying, .. } = preparing;
        let reply = guard::catch(|| match performers.unfold(lua, &mut preparing.arguments, until)? {
            Some(arguments) => {
                self.wake_for_others();
                performers.prepare(lua, (chat, call), arguments, copying).map(Some)
            }
            None => Ok(None),
        });
        match self.reported(performers, reply) {
            Some(Some(event)) => self.inbox.push_quietly(event),
            Some(None) => *self.preparing.borrow_mut() = Some(preparing),
            None => preparing.after_fault.into_iter().for_each(|event| self.inbox.push_quietly(event)),
        }
    }

    /// What is queued must not wait for a tool that runs the editor's loop to wait for it.
    fn wake_for_others(&self) {
        if !(self.effects.borrow().is_empty() && self.inbox.is_empty() && self.replies.is_empty()) {
            self.waker.wake();
        }
    }

    /// What came of a performer; none: a fault of ours, which was reported.
    fn reported<T>(&self, performers: &Performers, outcome: Result<Result<T, PerformError>, String>) -> Option<T> {
        match outcome {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(error)) => self.report(performers, &error.to_string()),
            Err(panic) => self.report(performers, &panic),
        }
        None
    }

    fn perform(&self, lua: &Lua, performers: &Performers, effect: Effect, after_fault: Option<Event>) {
        if effect.runs_foreign_code() {
            self.wake_for_others();
        }
        self.runtime.store().record(&effect);
        let outcome = guard::catch(|| performers.perform(lua, &self.runtime, effect));
        let reply = self.reported(performers, outcome).unwrap_or(after_fault);
        if let Some(event) = reply {
            self.inbox.push_quietly(event);
        }
    }

    /// Tells the user of a fault of ours, once while it repeats itself.
    fn report(&self, performers: &Performers, fault: &str) {
        let is_new = self.last_fault.replace(fault.to_owned()) != fault;
        let level = if is_new { LogLevel::Error } else { LogLevel::Debug };
        // `log` is a performer too: it may throw, and what it calls may panic.
        let _ = guard::catch(|| performers.log(level, fault));
    }
}
