//! Where panics and errors end: nothing unwinds into the editor, and Lua gets error tables that say who should read them.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};

use mlua::{FromLuaMulti, Function, Lua, Table, Value};

use crate::error::Error;

thread_local! {
    /// The last panic of this thread, with its place; the payload that `catch_unwind` gives knows no place.
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps panics off the terminal, where they would end up in the middle of the editor's screen. The hook is that of our
/// library's own copy of the standard library; nobody else's panics come by. Those of this thread end in [`catch`], those
/// of others have nobody to say where they came from but `elsewhere`.
pub fn keep_panics_off_the_screen(elsewhere: impl Fn(String) + Send + Sync + 'static) {
    let main = std::thread::current().id();
    set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
        let text = format!("panic{place}: {}", payload_text(info.payload()));
        if std::thread::current().id() == main {
            LAST_PANIC.with(|last| last.replace(Some(text)));
        } else {
            elsewhere(text);
        }
    }));
}

/// Runs `work`. A panic in it, also one that a Lua function called by it re-raises, becomes an `Err` that says what and
/// where.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // What `work` was changing may be half changed. The engine is a queue and a map of chats: the worst is one stuck chat.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        LAST_PANIC.with(RefCell::take).unwrap_or_else(|| format!("panic: {}", payload_text(payload.as_ref())))
    })
}

fn payload_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Makes Lua functions of exports. An export that fails raises a table `{ message, audience }` that prints as its message.
pub struct Guard {
    raising: Function,
}

impl Guard {
    /// Loads the few lines of Lua that raise what an export returns: mlua itself can raise only userdata.
    pub fn new(lua: &Lua) -> mlua::Result<Self> {
        let raising = lua
            .load(
                r#"
                local fault = { __tostring = function(self) return self.message end }
                return function(export)
                  return function(a, b, c, d)
                    local err, value = export(a, b, c, d)
                    if err then error(setmetatable(err, fault), 0) end
                    return value
                  end
                end
                "#,
            )
            .set_name("=lathe_core")
            .eval()?;
        Ok(Self { raising })
    }

    /// The Lua function of an export with at most four arguments and one result.
    pub fn export<A: FromLuaMulti>(
        &self,
        lua: &Lua,
        name: &'static str,
        export: impl Fn(&Lua, A) -> Result<Value, Error> + 'static,
    ) -> mlua::Result<Function> {
        let plain = lua.create_function(move |lua, arguments: A| {
            let outcome = catch(|| export(lua, arguments));
            match outcome.unwrap_or_else(|panic| Err(Error::Panicked { export: name, panic })) {
                Ok(value) => Ok((None, value)),
                Err(error) => Ok((Some(fault(lua, &error)?), Value::Nil)),
            }
        })?;
        self.raising.call(plain)
    }
}

fn fault(lua: &Lua, error: &Error) -> mlua::Result<Table> {
    let fault = lua.create_table_with_capacity(0, 2)?;
    fault.raw_set("message", format!("lathe_core: {}", error.with_causes()))?;
    fault.raw_set("audience", error.audience().as_str())?;
    Ok(fault)
}
