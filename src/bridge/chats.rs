//! Exports for chats: what their user and their tools' authors do with them.

use std::sync::Arc;

use mlua::Value;

use super::fields::Fields;
use super::{Exports, chat, limits, number};
use crate::engine::event::{Answer, CallEvent, ChatEvent, ChatSettings, Event};
use crate::message::{Attachment, Role};
use crate::output::Keep;
use crate::tool::CallId;

impl Exports<'_> {
    /// Chats and what is done with them.
    pub(super) fn chats(&self) -> mlua::Result<()> {
        self.add("open_chat", |_, pump, table: Value| {
            let fields = Fields::new("open_chat", table)?;
            let max_parallel = fields.integer("max_parallel")?.max(1);
            let project = fields.optional_bytes("project")?;
            let settings = ChatSettings {
                auto_submit_success: fields.boolean("auto_submit_success")?,
                auto_submit_errors: fields.boolean("auto_submit_errors")?,
                max_parallel: usize::try_from(max_parallel).unwrap_or(usize::MAX),
                limits: limits(&fields, Keep::Head)?,
                project: project.map(|path| Arc::from(folder_name(&path))),
            };
            fields.finish()?;
            Ok(number(pump.open_chat(settings).0))
        })?;
        self.event("submit", |fields| Ok(Event::chat(chat(fields)?, ChatEvent::Submitted)))?;
        self.event("retry", |fields| Ok(Event::chat(chat(fields)?, ChatEvent::Retried)))?;
        self.event("take_last_message", |fields| Ok(Event::chat(chat(fields)?, ChatEvent::LastMessageTaken)))?;
        self.event("stop", |fields| Ok(Event::chat(chat(fields)?, ChatEvent::Stopped)))?;
        self.event("skip", |fields| Ok(Event::chat(chat(fields)?, ChatEvent::CallSkipped)))?;
        self.event("clear", |fields| Ok(Event::chat(chat(fields)?, ChatEvent::Cleared)))?;
        self.event("close_chat", |fields| Ok(Event::chat(chat(fields)?, ChatEvent::Closed)))?;
        self.event("add_message", |fields| {
            let roles = [("user", Role::User), ("system", Role::System), ("llm", Role::Llm)];
            Ok(Event::chat(
                chat(fields)?,
                ChatEvent::MessageGiven {
                    role: fields.word("role", &roles, "\"user\", \"system\" or \"llm\"")?,
                    content: fields.text("content")?,
                    visible: fields.optional_boolean("visible")?.unwrap_or(true),
                    attachments: fields.optional_list("attachments", |picture| {
                        Ok(Attachment { mime: picture.text("mime")?, data: picture.text("data")? })
                    })?,
                },
            ))
        })?;
        self.event("answer", |fields| {
            let (reason, pattern) = (fields.optional_text("reason")?, fields.optional_text("pattern")?);
            let words = [
                ("always", Answer::Always { pattern }),
                ("accept", Answer::Accept),
                ("reject", Answer::Reject { reason }),
                ("cancel", Answer::Cancel),
            ];
            let answer = fields.word("answer", &words, "\"always\", \"accept\", \"reject\" or \"cancel\"")?;
            Ok(Event::call(chat(fields)?, CallId(fields.integer("call")?), CallEvent::Answered(answer)))
        })
    }
}

/// A folder's path as a text. Two folders never have the same one.
fn folder_name(path: &[u8]) -> String {
    match std::str::from_utf8(path) {
        Ok(path) => path.to_owned(),
        Err(_) => format!("bytes:{}", path.escape_ascii()),
    }
}
