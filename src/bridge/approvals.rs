//! Exports for what lets calls run: auto mode, approvals, the judge.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;

use mlua::{Lua, Table, Value};

use super::fields::Fields;
use super::requests::{provider_request, wire};
use super::{Exports, chat, string};
use crate::engine::event::{ChatEvent, ChatId, Event};
use crate::error::Error;
use crate::gate::approvals::{Approval, Scope};
use crate::gate::judge::Judged;
use crate::message::Message;
use crate::runtime::approvals::{ApprovalsError, SavedApproval};
use crate::runtime::judge::{self, Judge};
use crate::runtime::provider::ProviderRequest;
use crate::tool::CallId;

impl Exports<'_> {
    /// What lets calls run: auto mode, approvals, the judge.
    pub(super) fn approvals(&self) -> mlua::Result<()> {
        self.event("set_auto", |fields| {
            Ok(Event::chat(chat(fields)?, ChatEvent::AutoSet { auto: fields.boolean("auto")? }))
        })?;
        self.add("keep_approvals", |_, pump, table: Value| {
            let fields = Fields::new("keep_approvals", table)?;
            let folder = PathBuf::from(OsString::from_vec(fields.bytes("folder")?));
            fields.finish()?;
            pump.runtime.keep_approvals(&folder);
            Ok(Value::Nil)
        })?;
        // Returns the list, and why a part of it is missing.
        self.add("approvals", |lua, pump, ()| {
            let failed = |error: mlua::Error| Error::Lua { export: "approvals", source: error.into() };
            list(lua, pump.approvals(), pump.runtime.saved_approvals()).map_err(failed)
        })?;
        self.event("approve", |fields| {
            let approval = Approval::new(&fields.text("tool")?, fields.optional_text("value")?);
            Ok(Event::chat(chat(fields)?, ChatEvent::ApprovalGiven(approval)))
        })?;
        self.add("forget_approval", |_, pump, table: Value| {
            let fields = Fields::new("forget_approval", table)?;
            let approval = Approval {
                tool: fields.text("tool")?,
                value: fields.optional_text("value")?,
                is_pattern: fields.optional_boolean("is_pattern")?.unwrap_or(false),
            };
            match fields.optional_text("project")? {
                Some(project) => {
                    fields.finish()?;
                    pump.runtime.forget_approval(Arc::from(project), approval);
                }
                None => {
                    let chat = chat(&fields)?;
                    fields.finish()?;
                    pump.push(Event::chat(chat, ChatEvent::ApprovalForgotten(approval)));
                }
            }
            Ok(Value::Nil)
        })?;
        self.add("ask_judge", |_, pump, table: Value| {
            let fields = Fields::new("ask_judge", table)?;
            let (chat, call) = (chat(&fields)?, CallId(fields.integer("call")?));
            let system = Message::System { content: fields.text("system")? };
            let plain = fields.text("plain_prompt")?;
            let user =
                Message::User { content: fields.text("prompt")?, visible: false, typed: None, attachments: vec![] };
            let judge = match wire(&fields)? {
                None => Judge::Scripted(fields.text("turn")?),
                Some(wire) => {
                    let messages = vec![Arc::new(system), Arc::new(user)];
                    let request = provider_request(&fields, wire, messages, Arc::from([]))?;
                    let request = Box::new(ProviderRequest { answer: Some(&judge::SCHEMA), ..request });
                    Judge::Provider { request, plain: plain.clone() }
                }
            };
            fields.finish()?;
            pump.runtime.ask_judge(chat, call, judge);
            Ok(Value::Nil)
        })?;
        self.event("fail_judge", |fields| {
            let judged = Judged::Failed(judge::one_line(&fields.text("message")?));
            Ok(judge::found(chat(fields)?, CallId(fields.integer("call")?), judged))
        })?;
        // The text of a command with its values put in, quoted; nil: there is no such command.
        self.add("command_text", |lua, _, table: Value| {
            let fields = Fields::new("command_text", table)?;
            let (text, env) = (fields.bytes("text")?, fields.env("env")?);
            fields.finish()?;
            match crate::command::prepare(&text, &env).map(|prepared| String::from_utf8(prepared.shown)) {
                Ok(Ok(shown)) => string(lua, "command_text", &shown),
                Ok(Err(_)) | Err(_) => Ok(Value::Nil),
            }
        })
    }
}

/// The list that the export `approvals` returns: tables with `scope`, `tool`, `value` and `since`, and `chat` or `project`. A
/// field `message` says why those of projects are missing.
fn list(
    lua: &Lua,
    chats: Vec<(ChatId, Approval, u64)>,
    saved: Result<Vec<SavedApproval>, ApprovalsError>,
) -> mlua::Result<Value> {
    let list = lua.create_table()?;
    let entry = |scope: Scope, approval: Approval, since: u64| -> mlua::Result<Table> {
        let Approval { tool, value, is_pattern } = approval;
        let entry = lua.create_table()?;
        entry.raw_set("scope", scope.as_str())?;
        entry.raw_set("tool", tool)?;
        entry.raw_set("value", value)?;
        entry.raw_set("is_pattern", is_pattern)?;
        entry.raw_set("since", since)?;
        list.raw_push(&entry)?;
        Ok(entry)
    };
    for (chat, approval, since) in chats {
        entry(Scope::Chat, approval, since)?.raw_set("chat", chat.0)?;
    }
    match saved {
        Ok(saved) => {
            for saved in saved {
                entry(Scope::Project, saved.approval(), saved.since)?.raw_set("project", saved.project)?;
            }
        }
        Err(error) => list.raw_set("message", error.to_string())?,
    }
    Ok(Value::Table(list))
}
