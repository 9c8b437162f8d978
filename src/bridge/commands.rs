//! Exports for the cmds of calls: commands that run in processes, and what functions tell.

use mlua::Value;

use super::fields::{Fields, boolean_argument, integer_argument, text_argument};
use super::{Exports, chat, given, limits, string};
use crate::engine::event::{CallEvent, ChatId, Event};
use crate::error::Error;
use crate::output::Keep;
use crate::runtime::commands::CommandCmd;
use crate::tool::CallId;

impl Exports<'_> {
    /// Command cmds.
    pub(super) fn commands(&self) -> mlua::Result<()> {
        // Returns why nothing was run; nil: it runs.
        self.add("run_command", |lua, pump, table: Value| {
            let fields = Fields::new("run_command", table)?;
            let number = fields.integer("cmd")?.checked_sub(1).and_then(|cmd| usize::try_from(cmd).ok());
            let command = CommandCmd {
                chat: chat(&fields)?,
                call: CallId(fields.integer("call")?),
                cmd: number.ok_or_else(|| cmd_is_zero("run_command"))?,
                text: fields.bytes("text")?,
                env: fields.env("env")?,
                shell: fields.bytes("shell")?,
                cwd: fields.bytes("cwd")?,
                without: fields.texts("without")?,
                kept: fields.texts("keep")?,
                background: fields.boolean("background")?,
                limits: limits(&fields, Keep::HeadTail)?,
                encoding: fields.optional_text("encoding")?,
            };
            fields.finish()?;
            match pump.runtime.run_command(command) {
                Ok(()) => Ok(Value::Nil),
                Err(error) => string(lua, "run_command", &error.to_string()),
            }
        })?;
        self.add("last_line", |lua, pump, call: Value| {
            let call = CallId(integer_argument("last_line", "call", &call)?);
            pump.runtime.last_line(call).map_or(Ok(Value::Nil), |line| string(lua, "last_line", &line))
        })
    }

    /// What tools call most.
    pub(super) fn hot(&self) -> mlua::Result<()> {
        self.add("finish_cmd", |_, pump, (chat, call, cmd, succeeded): (Value, Value, Value, Value)| {
            let integer = |name, value| integer_argument("finish_cmd", name, value);
            let cmd = integer("cmd", &cmd)?.checked_sub(1).and_then(|cmd| usize::try_from(cmd).ok());
            pump.push(Event::call(
                ChatId(integer("chat", &chat)?),
                CallId(integer("call", &call)?),
                CallEvent::CmdFinished {
                    cmd: cmd.ok_or_else(|| cmd_is_zero("finish_cmd"))?,
                    succeeded: boolean_argument("finish_cmd", "succeeded", &succeeded)?,
                },
            ));
            Ok(Value::Nil)
        })?;
        self.add("add_change", |_, pump, (chat, call, change): (Value, Value, Value)| {
            let integer = |name, value| integer_argument("add_change", name, value);
            let (chat, call) = (ChatId(integer("chat", &chat)?), CallId(integer("call", &call)?));
            let fields = Fields::new("add_change", change)?;
            let change = given::change(&fields)?;
            fields.finish()?;
            pump.push(Event::call(chat, call, CallEvent::ChangeMade(change)));
            Ok(Value::Nil)
        })?;
        self.add("add_output", |_, pump, (chat, call, content): (Value, Value, Value)| {
            pump.push(Event::call(
                ChatId(integer_argument("add_output", "chat", &chat)?),
                CallId(integer_argument("add_output", "call", &call)?),
                CallEvent::OutputAdded { content: text_argument("add_output", "content", &content)? },
            ));
            Ok(Value::Nil)
        })
    }
}

fn cmd_is_zero(export: &'static str) -> Error {
    Error::WrongField { export, field: "cmd".to_owned(), wanted: "a number from 1", given: "0".to_owned() }
}
