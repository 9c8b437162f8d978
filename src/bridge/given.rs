//! What performers return: tables with named fields, strictly read, and single values; and what can be wrong with them.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use mlua::Value;

use super::fields::{Fields, exact_text, text};
use crate::change::Change;
use crate::engine::event::{CallEvent, ChatEvent, OutputOutcome};
use crate::engine::restore::{Body, Look};
use crate::error::Error;
use crate::gate::{Fact, Found};
use crate::message::Message;
use crate::tool::{Defined, GateSettings, OwnApproval, Preparation, Runner};

/// A performer that threw, or returned something that it must not.
#[derive(Debug, thiserror::Error)]
pub enum PerformError {
    /// It threw.
    #[error("{performer}: {source}")]
    Threw {
        /// The performer.
        performer: &'static str,
        /// With the traceback.
        source: mlua::Error,
    },
    /// It returned what no event can be made of.
    #[error("{performer}: returned {given} where {wanted} is wanted")]
    Returned {
        /// The performer.
        performer: &'static str,
        /// What is wanted.
        wanted: &'static str,
        /// What it returned.
        given: String,
    },
    /// The table that it returned does not fit; the message names the performer and the field.
    #[error("returned: {0}")]
    Fields(#[from] Error),
    /// Lua refused the table that it was to get.
    #[error("what it gets cannot be made: {0}")]
    Lua(#[from] mlua::Error),
}

fn returned(performer: &'static str, wanted: &'static str, given: &Value) -> PerformError {
    PerformError::Returned { performer, wanted, given: given.type_name().to_owned() }
}

/// A text, or nothing.
pub fn optional_text(performer: &'static str, given: &Value) -> Result<Option<String>, PerformError> {
    match given {
        Value::Nil => Ok(None),
        other => text(other).map(Some).ok_or_else(|| returned(performer, "a string or nil", other)),
    }
}

/// `lathe.TakenInput`: what was in the input; nothing: it was empty.
pub fn input(given: Value) -> Result<ChatEvent, PerformError> {
    if given.is_nil() {
        return Ok(ChatEvent::InputTaken { text: None, typed: None });
    }
    let fields = Fields::new("take_input", given)?;
    let (text, typed) = (fields.text("text")?, fields.optional_text("typed")?);
    fields.finish()?;
    let typed = typed.filter(|typed| *typed != text);
    Ok(ChatEvent::InputTaken { text: Some(text), typed })
}

/// `lathe.Preparation`, or why there is none.
pub fn preparation(given: Value) -> Result<CallEvent, PerformError> {
    let fields = Fields::new("prepare_call", given)?;
    if let Some(message) = fields.optional_text("message")? {
        let (on_exit, is_denied) = (fields.flag("on_exit")?, fields.flag("is_denied")?);
        fields.finish()?;
        return Ok(if is_denied { CallEvent::Denied { message } } else { CallEvent::NotPrepared { message, on_exit } });
    }
    let cmds = fields.list("cmds", runner)?;
    let own = [("run", OwnApproval::Run), ("ask", OwnApproval::Ask), ("function", OwnApproval::Function)];
    let preparation = Preparation {
        defines: Defined {
            success: fields.flag("success")?,
            error: fields.flag("error")?,
            rejected: fields.flag("rejected")?,
            cancelled: fields.flag("cancelled")?,
            on_exit: fields.flag("on_exit")?,
        },
        gate: GateSettings {
            own: fields.word("approval", &own, "\"run\", \"ask\" or \"function\"")?,
            protect: fields.flag("protect")?,
            by_command: fields.flag("by_command")?,
            is_safe: fields.flag("is_safe")?,
            judge: fields.flag("judge")?,
            declares: fields.flag("declares")?,
            has_commands: cmds.contains(&Runner::Command),
        },
        timeout_ms: fields.optional_integer("timeout_ms")?,
        changes: fields.optional_list("changes", change)?,
        cmds,
    };
    fields.finish()?;
    Ok(CallEvent::Prepared(preparation))
}

/// `lathe.CmdRunner`: who runs a cmd.
fn runner(fields: &Fields) -> Result<Runner, Error> {
    let name = fields.optional_text("name")?.unwrap_or_default();
    let runners = [
        ("lua", Runner::Lua),
        ("command", Runner::Command),
        ("built_in", Runner::BuiltIn(name.clone())),
        ("remote", Runner::Remote(name)),
    ];
    fields.word("runner", &runners, "\"lua\", \"command\", \"built_in\" or \"remote\"")
}

/// `lathe.Change`: what a call does to a file.
pub fn change(fields: &Fields) -> Result<Change, Error> {
    Ok(Change {
        path: OsString::from_vec(fields.bytes("path")?).into(),
        before: fields.optional_text("before")?,
        after: fields.optional_text("after")?,
    })
}

/// What a fact is that Lua found; nil: it could not be found. A command that is no UTF-8 is nobody's to remember: another
/// could look the same.
pub fn fact(fact: Fact, given: &Value) -> Result<Option<Found>, PerformError> {
    let boolean = |found: fn(bool) -> Found| match given {
        Value::Nil => Ok(None),
        Value::Boolean(answer) => Ok(Some(found(*answer))),
        other => Err(returned("find_fact", "a boolean or nil", other)),
    };
    match fact {
        Fact::OwnApproval => boolean(Found::OwnApproval),
        Fact::IsSafe => boolean(Found::IsSafe),
        Fact::JudgeContext => boolean(Found::JudgeContext),
        Fact::CmdString => match given {
            Value::Nil | Value::String(_) => Ok(exact_text(given).map(Found::CmdString)),
            other => Err(returned("find_fact", "a string or nil", other)),
        },
        Fact::Rules | Fact::Wants | Fact::Saved | Fact::Judge => Ok(None),
    }
}

/// Whether a cmd succeeded; nil: it still runs.
pub fn cmd(cmd: usize, given: &Value) -> Result<Option<CallEvent>, PerformError> {
    match given {
        Value::Nil => Ok(None),
        Value::Boolean(succeeded) => Ok(Some(CallEvent::CmdFinished { cmd, succeeded: *succeeded })),
        other => Err(returned("run_cmd", "a boolean or nil", other)),
    }
}

/// `lathe.OutputRun`: what came of an output function; nil: it ran.
pub fn output(given: Value) -> Result<OutputOutcome, PerformError> {
    if given.is_nil() {
        return Ok(OutputOutcome::Ran);
    }
    let fields = Fields::new("run_output", given)?;
    let (is_undefined, error) = (fields.flag("is_undefined")?, fields.optional_text("error")?);
    fields.finish()?;
    Ok(match error {
        // A call that was still queued: what its tool defines was not known.
        None if is_undefined => OutputOutcome::Undefined,
        None => OutputOutcome::Ran,
        Some(error) => OutputOutcome::Threw(error),
    })
}

/// `lathe.CallLook`: how a call looks that is over; nil: it is not saved.
pub fn look(result: &Message, given: Value) -> Result<Option<Look>, PerformError> {
    if given.is_nil() {
        return Ok(None);
    }
    let fields = Fields::new("finish_call", given)?;
    let (state, head, fact) = (fields.text("state")?, fields.text("head")?, fields.optional_text("fact")?);
    let (body, files) = (fields.optional_string("body")?, fields.optional_texts("files")?);
    fields.finish()?;
    let content = if let Message::Tool { content, .. } = result { content.as_str() } else { "" };
    let body = match body {
        None => Body::Nothing,
        // Mostly: it is not copied.
        Some(body) if *body.as_bytes() == *content.as_bytes() => Body::Result,
        Some(body) => Body::Text(body.to_string_lossy()),
    };
    Ok(Some(Look { state, head, fact, files, body }))
}
