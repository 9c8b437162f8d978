//! The exports that native servers need. All answer at once; what takes long is queued.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use mlua::{Lua, Table, Value};

use super::fields::{Fields, integer_argument};
use super::{Exports, string};
use crate::engine::event::{CallEvent, ChatId, Event};
use crate::error::Error;
use crate::media::{self, Given, Kind};
use crate::tool::CallId;
use crate::tool::names;
use crate::uri;

impl Exports<'_> {
    /// Names, URIs and media.
    pub(super) fn native(&self) -> mlua::Result<()> {
        self.add("keep_media", |_, pump, table: Value| {
            let fields = Fields::new("keep_media", table)?;
            let folder = PathBuf::from(OsString::from_vec(fields.bytes("folder")?));
            fields.finish()?;
            pump.runtime.keep_media(folder);
            Ok(Value::Nil)
        })?;
        self.add("add_media", |_, pump, (chat, call, table): (Value, Value, Value)| {
            let (chat, call) =
                (integer_argument("add_media", "chat", &chat)?, integer_argument("add_media", "call", &call)?);
            let fields = Fields::new("add_media", table)?;
            let media = Given {
                kind: kind(&fields)?,
                data: fields.bytes("data")?,
                mime: fields.optional_text("mime")?,
                uri: fields.optional_text("uri")?,
            };
            fields.finish()?;
            pump.push(Event::call(ChatId(chat), CallId(call), CallEvent::MediaAdded(media)));
            Ok(Value::Nil)
        })?;
        self.add("native_media", |lua, _, table: Value| {
            let fields = Fields::new("native_media", table)?;
            let media = media::read(kind(&fields)?, fields.bytes("data")?, fields.optional_text("mime")?);
            fields.finish()?;
            let export = "native_media";
            let result = table_of(lua, export)?;
            set(&result, export, "data", string(lua, export, &media::encode(&media.bytes))?)?;
            set(&result, export, "mime", string(lua, export, &media.mime)?)?;
            Ok(Value::Table(result))
        })?;
        self.add("native_match", |lua, _, table: Value| {
            let fields = Fields::new("native_match", table)?;
            let (uri, templates) = (fields.text("uri")?, fields.texts("templates")?);
            fields.finish()?;
            let found = templates
                .iter()
                .enumerate()
                .find_map(|(index, template)| Some((index, uri::Template::parse(template).read(&uri)?)));
            let Some((index, values)) = found else { return Ok(Value::Nil) };
            let export = "native_match";
            let (result, params) = (table_of(lua, export)?, table_of(lua, export)?);
            for (name, value) in values {
                set(&params, export, &name, string(lua, export, &value)?)?;
            }
            set(&result, export, "index", super::number(index as u64 + 1))?;
            set(&result, export, "params", Value::Table(params))?;
            Ok(Value::Table(result))
        })?;
        self.add("native_names", |lua, _, table: Value| {
            let export = "native_names";
            let fields = Fields::new(export, table)?;
            let prefix = fields.text("prefix")?;
            // Joined texts: hundreds of names, one by one, would take longer than all else.
            let servers = fields.texts("servers")?;
            fields.finish()?;
            let servers: Vec<(String, Vec<String>)> = servers
                .iter()
                .map(|server| {
                    let mut names = server.split('\0').map(str::to_owned);
                    (names.next().unwrap_or_default(), names.collect())
                })
                .collect();
            let result = table_of(lua, export)?;
            for (group, tools) in names::groups(&servers).into_iter().zip(names::assign(&prefix, &servers)) {
                let server = table_of(lua, export)?;
                let joined = |collisions: bool| {
                    let names = tools.iter().filter(|tool| tool.collides || !collisions);
                    names.map(|tool| tool.name.as_str()).collect::<Vec<_>>().join("\n")
                };
                set(&server, export, "group", string(lua, export, &group)?)?;
                set(&server, export, "tools", string(lua, export, &joined(false))?)?;
                set(&server, export, "collisions", string(lua, export, &joined(true))?)?;
                push(&result, export, Value::Table(server))?;
            }
            Ok(Value::Table(result))
        })
    }
}

fn kind(fields: &Fields) -> Result<Kind, Error> {
    let kinds = [("image", Kind::Image), ("audio", Kind::Audio), ("blob", Kind::Blob)];
    fields.word("kind", &kinds, "\"image\", \"audio\" or \"blob\"")
}

fn lua_error(export: &'static str) -> impl FnOnce(mlua::Error) -> Error {
    move |error| Error::Lua { export, source: error.into() }
}

fn table_of(lua: &Lua, export: &'static str) -> Result<Table, Error> {
    lua.create_table().map_err(lua_error(export))
}

fn set(table: &Table, export: &'static str, name: &str, value: Value) -> Result<(), Error> {
    table.raw_set(name, value).map_err(lua_error(export))
}

fn push(table: &Table, export: &'static str, value: Value) -> Result<(), Error> {
    table.raw_push(value).map_err(lua_error(export))
}
