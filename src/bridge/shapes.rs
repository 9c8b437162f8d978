//! What crosses to Lua: tables with named fields. Each is made by `shape!`, whose name stands in `lua/lathe/types.lua` too, as
//! a performer's fields (`show_text`) or as a class (`lathe.Outcome`); a test compares both sides.

use std::os::unix::ffi::OsStrExt;

use mlua::{IntoLua, Lua, Table};

use crate::change::Change;
use crate::engine::effect::{LogLevel, Notice, Output, TurnEnd};
use crate::engine::event::{Failure, Remedy, Retry, Saving};
use crate::engine::outcome::Outcome;
use crate::engine::restore::{Body, Interruption, Look};
use crate::gate::Fact;
use crate::gate::judge::Judged;
use crate::gate::rule::Basis;
use crate::gate::verdict::{Cause, Doubt, Question, RuleReason, RuleText};
use crate::message::{Call, Message};
use crate::tool::Copying;

/// A table with these fields: `shape!(lua, name { field, other: value })`, in a function that returns an `mlua::Result`.
macro_rules! shape {
    ($lua:expr, $name:ident { $($field:ident $(: $value:expr)?),* $(,)? }) => {{
        let table = $lua.create_table_with_capacity(0, [$(stringify!($field)),*].len())?;
        $(table.raw_set(stringify!($field), shape!(@value $field $(, $value)?))?;)*
        table
    }};
    (@value $field:ident) => { $field };
    (@value $field:ident, $value:expr) => { $value };
}
pub(super) use shape;

/// A list of what `make` makes of each item.
fn list<T, R: IntoLua>(
    lua: &Lua,
    items: &[T],
    make: impl Fn(&Lua, &T) -> mlua::Result<R>,
) -> mlua::Result<Option<Table>> {
    if items.is_empty() {
        return Ok(None);
    }
    let list = lua.create_table_with_capacity(items.len(), 0)?;
    for item in items {
        list.raw_push(make(lua, item)?)?;
    }
    Ok(Some(list))
}

/// A message of the history; its calls follow as effects of their own.
pub fn message(lua: &Lua, message: &Message) -> mlua::Result<Table> {
    Ok(match message {
        Message::System { content } => {
            shape!(lua, NewMessage { role: "system", content: content.as_str(), visible: false })
        }
        Message::User { content, visible, typed, attachments: _ } => {
            let (content, typed) = (content.as_str(), typed.as_deref());
            shape!(lua, NewMessage { role: "user", content, visible: *visible, typed })
        }
        Message::Llm { content, reasoning, calls: _, opaque: _ } => {
            let reasoning = Some(reasoning.as_str()).filter(|reasoning| !reasoning.is_empty());
            shape!(lua, NewMessage { role: "llm", content: content.as_str(), visible: true, reasoning })
        }
        Message::Tool { wire_id, content, is_error, attachments: _ } => {
            let (content, call_id) = (content.as_str(), wire_id.as_str());
            shape!(lua, NewMessage { role: "tool", content, visible: true, call_id, is_error: *is_error })
        }
    })
}

/// A call of a saved chat, with its result.
pub fn restored_call(lua: &Lua, call: &Call, result: &Message, look: &Look) -> mlua::Result<Table> {
    let (content, is_error) = match result {
        Message::Tool { content, is_error, .. } => (content.as_str(), *is_error),
        Message::System { .. } | Message::User { .. } | Message::Llm { .. } => ("", false),
    };
    let body = match &look.body {
        // Nothing is known of its looks: the result says most.
        Body::Nothing if look.state.is_empty() => Some(content),
        Body::Nothing => None,
        Body::Result => Some(content),
        Body::Text(text) => Some(text.as_str()),
    };
    let (wire_id, name, arguments) = (call.wire_id.as_str(), call.name.as_str(), call.arguments.as_str());
    let (state, head, fact) = (look.state.as_str(), look.head.as_str(), look.fact.as_deref());
    let files = list(lua, &look.files, |lua, file| lua.create_string(file))?;
    Ok(shape!(lua, RestoredCall { wire_id, name, arguments, is_error, state, head, fact, files, body }))
}

/// What came of a call, and how long it took.
pub fn finished(lua: &Lua, outcome: &Outcome, changes: &[Change], duration_ms: u64) -> mlua::Result<Table> {
    let Outcome { status, default_text, is_unexplained, message, denial, report, printed, media_notes, files } =
        outcome;
    let denial = match denial {
        Some(denial) => {
            let rule = denial.rule.as_ref().map(|rule| rule_text(lua, rule)).transpose()?;
            Some(shape!(lua, Denial { key: denial.key.as_str(), value: denial.value.as_str(), rule }))
        }
        None => None,
    };
    Ok(shape!(
        lua,
        Outcome {
            status: status.as_str(),
            duration_ms,
            default_text: default_text.as_deref(),
            is_unexplained: *is_unexplained,
            message: message.as_deref(),
            denial,
            report: report.as_deref(),
            printed: printed.as_deref(),
            media_notes: media_notes.as_deref(),
            files: list(lua, files, |lua, file| lua.create_string(file.as_os_str().as_bytes()))?,
            changes: list(lua, changes, change)?,
        }
    ))
}

/// A question. `rest`: how many calls *Cancel* would end besides this one.
pub fn question(lua: &Lua, question: &Question, changes: &[Change], rest: usize) -> mlua::Result<Table> {
    let Question { cause, remember, scope, wants, suggestion } = question;
    let remember = list(lua, remember, |lua, approval| {
        Ok(shape!(lua, Remembered { tool: approval.tool.as_str(), value: approval.value.as_deref() }))
    })?;
    if let Some(remember) = &remember {
        remember.raw_set("scope", scope.as_str())?;
    }
    let wants =
        list(lua, wants, |lua, (key, value)| Ok(shape!(lua, Want { key: key.as_str(), value: value.as_str() })))?;
    let cause = cause_of(lua, cause)?;
    let changes = list(lua, changes, change)?;
    Ok(shape!(lua, AskedQuestion { cause, rest, remember, wants, suggestion: suggestion.as_deref(), changes }))
}

fn cause_of(lua: &Lua, cause: &Cause) -> mlua::Result<Table> {
    let kind = match cause {
        Cause::NoRules => "no_rules",
        Cause::Unknown => "unknown",
        Cause::DoomLoop => "doom_loop",
        Cause::Protected => "protected",
        Cause::AutoMode(_) => "auto_mode",
        Cause::Rule(_) => "rule",
        Cause::OwnApproval => "own_approval",
        Cause::OwnApprovalFailed => "own_approval_failed",
    };
    let by_rule = match cause {
        Cause::Rule(reason) => Some(rule_reason(lua, reason)?),
        Cause::NoRules | Cause::Unknown | Cause::DoomLoop | Cause::Protected => None,
        Cause::AutoMode(_) | Cause::OwnApproval | Cause::OwnApprovalFailed => None,
    };
    let (doubt, reason) = match cause {
        Cause::AutoMode(Doubt::Unproven) => (Some("unproven"), None),
        Cause::AutoMode(Doubt::IsSafeFailed) => (Some("is_safe_failed"), None),
        Cause::AutoMode(Doubt::JudgeContextFailed) => (Some("judge_context_failed"), None),
        Cause::AutoMode(Doubt::Judge(Judged::Safe(reason) | Judged::Unsafe(reason))) => (Some("judged"), Some(reason)),
        Cause::AutoMode(Doubt::Judge(Judged::Failed(why))) => (Some("judge_failed"), Some(why)),
        Cause::NoRules | Cause::Unknown | Cause::DoomLoop | Cause::Protected => (None, None),
        Cause::Rule(_) | Cause::OwnApproval | Cause::OwnApprovalFailed => (None, None),
    };
    Ok(shape!(lua, Cause { kind, by_rule, doubt, reason: reason.map(String::as_str) }))
}

/// Why the permission rules ask.
pub fn rule_reason(lua: &Lua, reason: &RuleReason) -> mlua::Result<Table> {
    let RuleReason { rule, basis } = reason;
    let rule = rule.as_ref().map(|rule| rule_text(lua, rule)).transpose()?;
    let (basis, word, about) = match basis {
        Basis::Match => ("match", None, None),
        Basis::MayMatch => ("may_match", None, None),
        Basis::Word(word) => ("word", Some(word.as_str()), None),
        Basis::Unknown(None) => ("unknown", None, None),
        Basis::Unknown(Some(unknown)) => {
            let (kind, about) = unknown.parts();
            ("unknown", Some(kind), about)
        }
    };
    Ok(shape!(lua, RuleReason { rule, basis, word, about }))
}

fn rule_text(lua: &Lua, rule: &RuleText) -> mlua::Result<Table> {
    let (key, pattern, source) = (rule.key.as_str(), rule.pattern.as_str(), rule.source.as_str());
    Ok(shape!(lua, RuleText { key, pattern, source }))
}

/// What a call does to a file.
pub fn change(lua: &Lua, change: &Change) -> mlua::Result<Table> {
    let path = lua.create_string(change.path.as_os_str().as_bytes())?;
    Ok(shape!(lua, Change { path, before: change.before.as_deref(), after: change.after.as_deref() }))
}

/// Something the user should know.
pub fn notice(lua: &Lua, notice: &Notice) -> mlua::Result<Table> {
    Ok(match notice {
        Notice::RequestFailed(failure) => {
            shape!(lua, Notice { kind: "request_failed", failure: failed(lua, failure)? })
        }
        Notice::Request(text) => shape!(lua, Notice { kind: "request", message: text.as_str() }),
        Notice::Retrying(Retry { reason, attempt, of, wait_ms }) => {
            let (attempt, of, wait_ms) = (*attempt, *of, *wait_ms);
            shape!(lua, Notice { kind: "retrying", message: reason.as_str(), attempt, of, wait_ms })
        }
        Notice::Restored(found) => {
            shape!(lua, Notice { kind: "restored", interruption: interruption(lua, found)? })
        }
        Notice::Saving(changed) => shape!(lua, Notice { kind: "saving", saving: saving(lua, changed)? }),
        Notice::NothingToSend => shape!(lua, Notice { kind: "nothing_to_send" }),
        Notice::NothingToSkip => shape!(lua, Notice { kind: "nothing_to_skip" }),
        Notice::NothingToEdit => shape!(lua, Notice { kind: "nothing_to_edit" }),
        Notice::StillRunning => shape!(lua, Notice { kind: "still_running" }),
        Notice::LengthStop => shape!(lua, Notice { kind: "length_stop" }),
        Notice::ContentFilter(why) => shape!(lua, Notice { kind: "content_filter", message: why.as_str() }),
        Notice::Refused(why) => shape!(lua, Notice { kind: "refused", message: why.as_str() }),
        Notice::EndedFor(why) => shape!(lua, Notice { kind: "ended_for", message: why.as_str() }),
        Notice::CallAsText => shape!(lua, Notice { kind: "call_as_text" }),
        Notice::RepeatedCall { name } => shape!(lua, Notice { kind: "repeated_call", tool: name.as_str() }),
    })
}

fn failed(lua: &Lua, failure: &Failure) -> mlua::Result<Table> {
    let Failure { message, status, names_provider } = failure;
    let (message, names_provider) = (message.as_str(), *names_provider);
    Ok(shape!(lua, Failure { message, status: *status, names_provider }))
}

fn interruption(lua: &Lua, found: &Interruption) -> mlua::Result<Table> {
    let Interruption { unknown, not_run, incomplete, skipped } = found;
    let names = |tools: &[String]| lua.create_sequence_from(tools.iter().map(String::as_str));
    let (unknown, not_run) = (names(unknown)?, names(not_run)?);
    Ok(shape!(lua, Interruption { unknown, not_run, incomplete: *incomplete, skipped: *skipped }))
}

fn saving(lua: &Lua, changed: &Saving) -> mlua::Result<Table> {
    Ok(match changed {
        Saving::NoThread { reason } => shape!(lua, Saving { kind: "no_thread", reason: reason.as_str() }),
        Saving::Failed { path, reason, remedy } => {
            let remedy = match remedy {
                Remedy::MakeRoom => "make_room",
                Remedy::MakeWritable => "make_writable",
                Remedy::BeginNew => "begin_new",
                Remedy::Look => "look",
            };
            let (path, reason) = (path.as_str(), reason.as_str());
            shape!(lua, Saving { kind: "failed", path, reason, remedy })
        }
        Saving::Works { path, lost } => shape!(lua, Saving { kind: "works", path: path.as_str(), lost: *lost }),
        Saving::TooLong { bytes, whole: Ok(path) } => {
            shape!(lua, Saving { kind: "too_long", bytes: *bytes, path: path.as_str() })
        }
        Saving::TooLong { bytes, whole: Err(reason) } => {
            shape!(lua, Saving { kind: "too_long", bytes: *bytes, reason: reason.as_str() })
        }
    })
}

/// Which output function to run, cmds counted from 1.
pub fn output(lua: &Lua, output: &Output) -> mlua::Result<Table> {
    Ok(match output {
        Output::Success { cmd } => shape!(lua, OutputToRun { kind: "success", cmd: cmd + 1 }),
        Output::Error { cmd, message } => {
            shape!(lua, OutputToRun { kind: "error", cmd: cmd + 1, message: message.as_deref() })
        }
        Output::Rejected { reason } => shape!(lua, OutputToRun { kind: "rejected", reason: reason.as_deref() }),
        Output::Cancelled => shape!(lua, OutputToRun { kind: "cancelled" }),
    })
}

/// The word for how a turn ended.
pub fn end_word(end: TurnEnd) -> &'static str {
    match end {
        TurnEnd::Done => "done",
        TurnEnd::Stopped => "stopped",
        TurnEnd::Cancelled => "cancelled",
        TurnEnd::Failed => "failed",
        TurnEnd::Held => "held",
    }
}

/// The word for a fact.
pub fn fact_word(fact: Fact) -> &'static str {
    match fact {
        Fact::OwnApproval => "own_approval",
        Fact::CmdString => "cmd_string",
        Fact::IsSafe => "is_safe",
        Fact::JudgeContext => "judge_context",
        // They have effects of their own.
        Fact::Rules => "rules",
        Fact::Wants => "wants",
        Fact::Saved => "saved",
        Fact::Judge => "judge",
    }
}

/// The word for a copy.
pub fn copying_word(copying: Copying) -> &'static str {
    match copying {
        Copying::Own => "own",
        Copying::First => "first",
        Copying::Shared => "shared",
    }
}

/// The word for a level of the log.
pub fn level_word(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Debug => "debug",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    }
}
