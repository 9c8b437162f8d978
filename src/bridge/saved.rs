//! Exports for saved chats.

use std::cell::RefCell;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use mlua::{Lua, Table, UserData, Value};

use super::fields::Fields;
use super::{Exports, chat, number, string};
use crate::engine::event::{ChatEvent, Event};
use crate::engine::saved::Meta;
use crate::error::Error;
use crate::runtime::store::{CopyReason, Entry, Loaded};

/// A chat that was read, until it goes on. Its file is locked meanwhile.
pub struct LoadedChat(pub RefCell<Option<Loaded>>);

impl UserData for LoadedChat {}

impl Exports<'_> {
    /// What saves chats and brings them back.
    pub(super) fn saved_chats(&self) -> mlua::Result<()> {
        self.add("keep_chats", |_, pump, table: Value| {
            let fields = Fields::new("keep_chats", table)?;
            let folder = PathBuf::from(OsString::from_vec(fields.bytes("folder")?));
            fields.finish()?;
            pump.runtime.store().keep_in(folder);
            Ok(Value::Nil)
        })?;
        self.add("save_chat", |lua, pump, table: Value| {
            let fields = Fields::new("save_chat", table)?;
            let chat = chat(&fields)?;
            let meta = Meta {
                cwd: fields.text("cwd")?,
                adapter: fields.optional_text("adapter")?,
                model: fields.optional_text("model")?,
                tools: fields.texts("tools")?,
                groups: fields.texts("groups")?,
                prompts: fields.texts("prompts")?,
            };
            fields.finish()?;
            let id = pump.runtime.store().save(chat, meta);
            id.map_or(Ok(Value::Nil), |id| string(lua, "save_chat", &id))
        })?;
        self.add("list_chats", |_, pump, ()| {
            let expected = pump.replies.expect();
            let reply = expected.number;
            pump.runtime.store().list(move |listed| {
                expected.give(Box::new(move |lua| match listed {
                    Ok(entries) => list(lua, entries).map(Ok),
                    Err(error) => Ok(Err(error.to_string())),
                }));
            });
            Ok(number(reply))
        })?;
        self.add("load_chat", |_, pump, table: Value| {
            let fields = Fields::new("load_chat", table)?;
            let wanted = fields.text("chat")?;
            fields.finish()?;
            let expected = pump.replies.expect();
            let reply = expected.number;
            pump.runtime.store().load(wanted, move |loaded| {
                expected.give(Box::new(move |lua| match loaded {
                    Ok(loaded) => describe(lua, loaded).map(Ok),
                    Err(error) => Ok(Err(error.to_string())),
                }));
            });
            Ok(number(reply))
        })?;
        self.add("restore_chat", |lua, pump, table: Value| {
            let fields = Fields::new("restore_chat", table)?;
            let (chat, save) = (chat(&fields)?, fields.boolean("save")?);
            let loaded = fields.userdata::<LoadedChat>("loaded", "a loaded chat")?.0.take();
            fields.finish()?;
            let Some(loaded) = loaded else {
                let given = "one that was used".to_owned();
                let field = "loaded".to_owned();
                return Err(Error::WrongField { export: "restore_chat", field, wanted: "a loaded chat", given });
            };
            let (id, restored) = pump.runtime.store().go_on(chat, loaded, save);
            pump.push(Event::chat(chat, ChatEvent::Restored(restored)));
            id.map_or(Ok(Value::Nil), |id| string(lua, "restore_chat", &id))
        })
    }
}

fn list(lua: &Lua, entries: Vec<Entry>) -> mlua::Result<Value> {
    let list = lua.create_table_with_capacity(entries.len(), 0)?;
    for (index, Entry { id, title, cwd, modified }) in entries.into_iter().enumerate() {
        let entry = lua.create_table_with_capacity(0, 4)?;
        entry.raw_set("id", id)?;
        entry.raw_set("title", title)?;
        entry.raw_set("cwd", cwd)?;
        entry.raw_set("modified", number(modified))?;
        list.raw_set(index + 1, entry)?;
    }
    Ok(Value::Table(list))
}

fn describe(lua: &Lua, loaded: Loaded) -> mlua::Result<Value> {
    let table: Table = lua.create_table()?;
    let meta = &loaded.saved.meta;
    table.raw_set("id", loaded.id.as_str())?;
    table.raw_set("cwd", meta.cwd.as_str())?;
    table.raw_set("adapter", meta.adapter.as_deref())?;
    table.raw_set("model", meta.model.as_deref())?;
    table.raw_set("tools", lua.create_sequence_from(meta.tools.iter().map(String::as_str))?)?;
    table.raw_set("groups", lua.create_sequence_from(meta.groups.iter().map(String::as_str))?)?;
    table.raw_set("prompts", lua.create_sequence_from(meta.prompts.iter().map(String::as_str))?)?;
    let copied = loaded.copied.map(|reason| match reason {
        CopyReason::Busy => "busy",
        CopyReason::ReadOnly => "read_only",
        CopyReason::Elsewhere => "elsewhere",
    });
    table.raw_set("copied", copied)?;
    table.raw_set("loaded", lua.create_userdata(LoadedChat(RefCell::new(Some(loaded))))?)?;
    Ok(Value::Table(table))
}
