//! Wakes the main loop from any thread: one libuv handle for the life of the plugin, whose callback only schedules `drain`.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mlua::{Function, Lua, ffi};
use nvim_oxi::libuv::AsyncHandle;

use super::guard;
use crate::error::Error;

/// Coalesces wake-ups: however often it is woken, one `drain` is scheduled at a time.
#[derive(Default)]
pub struct Waker {
    scheduled: AtomicBool,
    handle: Mutex<State>,
}

#[derive(Default)]
enum State {
    /// `start` was not called yet; it schedules the first drain itself.
    #[default]
    New,
    Open(AsyncHandle),
    /// The editor closes the handle with its loop; sending to it afterwards would abort the process.
    Closed,
}

/// What the callback needs to call `vim.schedule(drain)`. Lives on the main thread only.
struct Schedule {
    /// The editor's own Lua thread, null until the first drain ran on it. `require` may run in a coroutine, which must
    /// not be used once it is gone; only a scheduled function is sure to run on the main one.
    main: Cell<*mut ffi::lua_State>,
    /// Registry references.
    schedule: i32,
    drain: i32,
}

thread_local! {
    static SCHEDULE: Cell<Option<&'static Schedule>> = const { Cell::new(None) };
}

impl Waker {
    /// Registers with the editor's loop and schedules the first drain. Main thread only, after `libuv::init`.
    pub fn open(self: &Arc<Self>, lua: &Lua, drain: &Function) -> Result<(), Error> {
        let lua_error = |error: mlua::Error| Error::Lua { export: "start", source: error.into() };
        let vim: mlua::Table = lua.globals().get("vim").map_err(lua_error)?;
        let schedule: Function = vim.get("schedule").map_err(lua_error)?;
        let references = Schedule {
            main: Cell::new(ptr::null_mut()),
            schedule: reference(lua, &schedule).map_err(lua_error)?,
            drain: reference(lua, drain).map_err(lua_error)?,
        };
        // Like the handle, it is needed as long as the process lives.
        SCHEDULE.set(Some(Box::leak(Box::new(references))));

        let waker = Arc::clone(self);
        // nvim-oxi drops an error of the callback, and a panic in it would abort the editor.
        let handle = AsyncHandle::new(move || {
            if !guard::catch(schedule_drain).unwrap_or(false) {
                waker.scheduled.store(false, Ordering::Release);
            }
        });
        *self.lock() = State::Open(handle.map_err(|error| Error::EventLoop(Box::new(error)))?);
        self.scheduled.store(true, Ordering::Release);
        schedule.call::<()>(drain).map_err(lua_error)
    }

    /// Has `drain` called soon. Any thread, any time.
    pub fn wake(&self) {
        if self.scheduled.swap(true, Ordering::AcqRel) {
            return;
        }
        // The lock is held while sending, so that nothing is sent once `close` has returned.
        if let State::Open(handle) = &*self.lock()
            && handle.send().is_err()
        {
            self.scheduled.store(false, Ordering::Release);
        }
    }

    /// Notes that a drain has begun: what is pushed from now on needs another one.
    pub fn begin_drain(&self, lua: &Lua) {
        self.scheduled.store(false, Ordering::Release);
        if let Some(schedule) = SCHEDULE.get()
            && schedule.main.get().is_null()
        {
            // SAFETY: leaves the stack as it was. It fails only without memory for the call; the next drain tries again.
            let _ = unsafe {
                lua.exec_raw::<()>((), |state| {
                    if ffi::lua_pushthread(state) == 1 {
                        schedule.main.set(state);
                    }
                    ffi::lua_pop(state, 1);
                })
            };
        }
    }

    /// Ends it: no drain is scheduled any more.
    pub fn close(&self) {
        *self.lock() = State::Closed;
    }

    /// Whether [`Waker::close`] was called.
    pub fn is_closed(&self) -> bool {
        matches!(*self.lock(), State::Closed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held.
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `vim.schedule(drain)`. False: not now; the drain that `open` scheduled is still to come, or Lua is out of memory.
fn schedule_drain() -> bool {
    let Some(schedule) = SCHEDULE.get() else { return false };
    let main = schedule.main.get();
    if main.is_null() {
        // The first drain, scheduled by `open`, has not run yet and will find everything.
        return false;
    }
    // mlua's own `Function::call` would use the Lua thread on which the module was loaded, which may be gone.
    // SAFETY: the main Lua thread lives as long as the process; this is its OS thread; the stack is left as it was; Lua
    // errors stop at `lua_pcall`; the references are never released.
    unsafe {
        if ffi::lua_checkstack(main, 2) == 0 {
            return false;
        }
        ffi::lua_rawgeti(main, ffi::LUA_REGISTRYINDEX, schedule.schedule.into());
        ffi::lua_rawgeti(main, ffi::LUA_REGISTRYINDEX, schedule.drain.into());
        if ffi::lua_pcall(main, 1, 0, 0) == ffi::LUA_OK {
            return true;
        }
        ffi::lua_pop(main, 1);
        false
    }
}

fn reference(lua: &Lua, function: &Function) -> mlua::Result<i32> {
    let mut reference = 0;
    // SAFETY: `luaL_ref` pops the one argument.
    unsafe { lua.exec_raw::<()>(function, |state| reference = ffi::luaL_ref(state, ffi::LUA_REGISTRYINDEX)) }?;
    Ok(reference)
}
