//! The Lua module `lathe_core`: its entry and its table of exports. Only this file and those in `bridge/` know of Lua and of
//! the editor. No export calls a performer: each queues an event, so all are safe in a fast event and at any depth.

mod approvals;
mod chats;
mod commands;
mod fields;
mod files;
mod given;
mod guard;
mod keys;
mod native;
mod perform;
mod permissions;
mod pump;
mod replies;
mod requests;
mod saved;
mod shapes;
mod unfold;
mod waker;

use std::cell::OnceCell;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use mlua::{FromLuaMulti, Lua, Table, Value};

use crate::engine::event::{ChatId, Event};
use crate::error::Error;
use crate::output::{Keep, Limits};
use fields::Fields;
use guard::Guard;
use perform::Performers;
use pump::Pump;

thread_local! {
    /// The one pump. A second `require` after `package.loaded` was emptied gets the same.
    static PUMP: OnceCell<Rc<Pump>> = const { OnceCell::new() };
}

/// `luaopen_lathe_core`
#[mlua::lua_module(name = "lathe_core", skip_memory_check)]
fn open(lua: &Lua) -> mlua::Result<Table> {
    // First of all: nvim-oxi's handles crash before it.
    // SAFETY: the state is that of the editor, and its loop lives as long as the process.
    unsafe { lua.exec_raw::<()>((), |state| nvim_oxi::libuv::init(state.cast())) }?;
    let pump = PUMP.with(|pump| Rc::clone(pump.get_or_init(|| Rc::new(Pump::new()))));
    let inbox = Arc::clone(&pump.inbox);
    guard::keep_panics_off_the_screen(move |text| inbox.push(Event::ThreadPanicked { text }));
    let exports = Exports { lua, pump, guard: Guard::new(lua)?, table: lua.create_table()? };
    exports.fill()?;
    Ok(exports.table)
}

/// The table while it is filled.
struct Exports<'lua> {
    lua: &'lua Lua,
    pump: Rc<Pump>,
    guard: Guard,
    table: Table,
}

impl Exports<'_> {
    fn fill(&self) -> mlua::Result<()> {
        self.table.raw_set("version", env!("CARGO_PKG_VERSION"))?;
        self.table.raw_set("interface", env!("LATHE_INTERFACE"))?;
        self.life()?;
        self.chats()?;
        self.saved_chats()?;
        self.requests()?;
        self.approvals()?;
        self.permissions()?;
        self.commands()?;
        self.keys()?;
        self.files()?;
        self.native()?;
        self.hot()
    }

    /// An export whose arguments are positional.
    fn add<A: FromLuaMulti>(
        &self,
        name: &'static str,
        export: impl Fn(&Lua, &Pump, A) -> Result<Value, Error> + 'static,
    ) -> mlua::Result<()> {
        let pump = Rc::clone(&self.pump);
        let function = self.guard.export(self.lua, name, move |lua, arguments| export(lua, &pump, arguments))?;
        self.table.raw_set(name, function)
    }

    /// An export that takes one table and queues one event.
    fn event(&self, name: &'static str, read: impl Fn(&Fields) -> Result<Event, Error> + 'static) -> mlua::Result<()> {
        self.add(name, move |_, pump, table: Value| {
            let fields = Fields::new(name, table)?;
            let event = read(&fields)?;
            fields.finish()?;
            pump.push(event);
            Ok(Value::Nil)
        })
    }

    /// Start, end, and what looks inside.
    fn life(&self) -> mlua::Result<()> {
        let pump = Rc::clone(&self.pump);
        let drain = self.lua.create_function(move |lua, ()| {
            pump.drain(lua);
            Ok(())
        })?;
        self.table.raw_set("drain", &drain)?;
        let drain_of_replies = drain.clone();
        self.add("start", move |lua, pump, performers: Value| {
            pump.set_performers(Performers::read(lua, performers)?);
            pump.open(lua, &drain)?;
            Ok(Value::Nil)
        })?;
        self.add("start_replies", move |lua, pump, reply: mlua::Function| {
            pump.set_early(reply);
            pump.open(lua, &drain_of_replies)?;
            Ok(Value::Nil)
        })?;
        self.add("keep_outputs", |_, pump, table: Value| {
            let fields = Fields::new("keep_outputs", table)?;
            let folder = PathBuf::from(OsString::from_vec(fields.bytes("folder")?));
            fields.finish()?;
            pump.runtime.keep_outputs(folder);
            Ok(Value::Nil)
        })?;
        self.add("shutdown", |lua, pump, ()| {
            pump.shut_down(lua);
            Ok(Value::Nil)
        })?;
        self.add("counts", |lua, pump, ()| {
            let (chats, events, effects) = pump.counts();
            let commands = pump.runtime.command_count();
            let schemas = pump.runtime.schemas().compiled_count();
            let counts = [
                ("chats", chats),
                ("events", events),
                ("effects", effects),
                ("commands", commands),
                ("schemas", schemas),
            ];
            let counts = lua.create_table_from(counts);
            counts.map(Value::Table).map_err(|error| Error::Lua { export: "counts", source: error.into() })
        })?;
        #[cfg(debug_assertions)]
        self.add("panic", |_, pump, elsewhere: Option<bool>| {
            if elsewhere == Some(true) {
                std::thread::spawn(|| panic!("asked for by a test"));
            } else {
                pump.panics.set(true);
                pump.waker.wake();
            }
            Ok(Value::Nil)
        })?;
        Ok(())
    }
}

fn string(lua: &Lua, export: &'static str, text: &str) -> Result<Value, Error> {
    lua.create_string(text).map(Value::String).map_err(|error| Error::Lua { export, source: error.into() })
}

/// `max_lines` and `max_bytes`.
fn limits(fields: &Fields, keep: Keep) -> Result<Limits, Error> {
    let limit = |field| fields.integer(field).map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(Limits { max_lines: limit("max_lines")?, max_bytes: limit("max_bytes")?, keep })
}

fn chat(fields: &Fields) -> Result<ChatId, Error> {
    fields.integer("chat").map(ChatId)
}

#[allow(clippy::cast_precision_loss, reason = "ids count from 1 and stay far below 2^53")]
fn number(id: u64) -> Value {
    Value::Number(id as f64)
}
