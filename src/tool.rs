//! Tools as the engine sees them: names, schema ids and flags. What a tool does stays in Lua or in a process.

pub mod names;
pub mod router;

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde_json::Value;

use crate::change::Change;
use crate::message::Attachment;

/// How much of a tool's name a text shows, in characters.
const SHOWN_CHARS: usize = 100;

/// A tool's name as texts show it. It may come from the model, which can write anything there, of any length.
pub fn shown(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

/// One tool call, unique in the life of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// A schema text that was handed to the runtime (`schema::Schemas`); equal texts have equal ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SchemaId(pub u64);

/// A tool as it was offered to the model with one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfferedTool {
    /// The name the model uses.
    pub name: String,
    /// The author's schema of the arguments at the time of the request; none: any object fits.
    pub schema: Option<SchemaId>,
    /// Whether a string that is wholly a number passes for a number (tools of the CodeCompanion form).
    pub numeric_strings: bool,
    /// Whether calls of it may overlap with neighbours that may too (`opts.parallel`).
    pub parallel: bool,
    /// Whether calls in a row share one copy, one `setup` and one `on_exit` (`opts.use_handlers_once`). Such calls do not
    /// overlap.
    pub handlers_once: bool,
    /// Whether its arguments are kept while a call runs: for a cmd that is run outside of Lua.
    pub keeps_arguments: bool,
    /// How the model reaches it.
    pub reach: Reach,
}

/// How the model reaches a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Under its own name.
    #[default]
    Direct,
    /// Under its own name, or by that of its server and its own there, through the router.
    ByName {
        /// The server's name.
        server: String,
        /// The tool's name in it.
        tool: String,
    },
    /// It is the router: its arguments name another tool.
    Router,
}

/// A call whose arguments are to be decoded and checked off the main loop.
#[derive(Clone, Debug, PartialEq)]
pub struct UncheckedCall {
    /// The call.
    pub call: CallId,
    /// As in [`OfferedTool`].
    pub schema: Option<SchemaId>,
    /// As in [`OfferedTool`].
    pub numeric_strings: bool,
    /// As in [`OfferedTool`].
    pub keeps_arguments: bool,
    /// The model's own text.
    pub arguments: String,
    /// The tools that the call may name; none: it is no call of the router.
    pub route: Option<Arc<[OfferedTool]>>,
}

/// What checking found.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedCall {
    /// The call.
    pub call: CallId,
    /// The decoded arguments, always an object.
    pub arguments: Result<Value, ArgumentsError>,
    /// Equal for equal arguments, whatever the order of their keys (and for equal faults).
    pub fingerprint: u64,
    /// The tool that it named, when it is a call of the router.
    pub runs: Option<String>,
    /// The arguments for cmds that are run outside of Lua. Copied here, off the main loop.
    pub kept: Option<Arc<Value>>,
}

impl CheckedCall {
    /// What was found for a call. Costs as much as its arguments are long.
    pub fn new(call: CallId, arguments: Result<Value, ArgumentsError>) -> Self {
        let fingerprint = match &arguments {
            Ok(arguments) => fingerprint(arguments),
            Err(error) => hash(&error.to_string()),
        };
        Self { call, arguments, fingerprint, runs: None, kept: None }
    }
}

fn fingerprint(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => hash(&value.to_string()),
        Value::String(text) => hash(&("string", text)),
        Value::Array(items) => items.iter().fold(1, |sum, item| hash(&(sum, fingerprint(item)))),
        Value::Object(fields) => {
            fields.iter().fold(2, |sum: u64, (name, field)| sum.wrapping_add(hash(&(name, fingerprint(field)))))
        }
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Arguments that cannot be used. The text is written for the model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ArgumentsError {
    /// The text is not one JSON object; the history carries `{}` in its place.
    #[error("{0}")]
    NotAnObject(String),
    /// The object does not fit the schema: up to 10 faults with JSON pointers.
    #[error("{0}")]
    DoesNotFit(String),
    /// Nobody looked at them, for a fault of ours; the history carries `{}` in their place, since they may be anything.
    #[error("{0}")]
    NotChecked(String),
}

/// What became of the media of a result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptMedia {
    /// A line for each of them, for model and user: what it is, and where. None: there are none.
    pub notes: Option<String>,
    /// The pictures that may be sent to a model.
    pub attachments: Vec<Attachment>,
}

/// Which copy of its tool a call works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copying {
    /// One of its own.
    Own,
    /// One of its own, kept for the calls that follow.
    First,
    /// The one that was kept: `setup` has run.
    Shared,
}

/// Who runs a cmd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runner {
    /// Lua: it is a function.
    Lua,
    /// A shell, in a process of its own: it is a command.
    Command,
    /// A function of the library, by its name.
    BuiltIn(String),
    /// Another program, by its name.
    Remote(String),
}

/// What Lua tells about a call once its copy is made, `env` and `handlers.setup` have run.
#[derive(Clone, Debug, PartialEq)]
pub struct Preparation {
    /// Who runs its cmds, one after the other.
    pub cmds: Vec<Runner>,
    /// Which output functions the tool defines.
    pub defines: Defined,
    /// What its definition says about the gate.
    pub gate: GateSettings,
    /// Time limit of the call; none: no limit.
    pub timeout_ms: Option<u64>,
    /// What it would do to files, for the question.
    pub changes: Vec<Change>,
}

/// Which optional functions a tool defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Defined {
    /// `output.success`
    pub success: bool,
    /// `output.error`
    pub error: bool,
    /// `output.rejected`
    pub rejected: bool,
    /// `output.cancelled`
    pub cancelled: bool,
    /// `handlers.on_exit`
    pub on_exit: bool,
}

/// Gate step 8 as far as it is known without calling Lua.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnApproval {
    /// Run without a question.
    Run,
    /// Ask.
    Ask,
    /// A function decides: `Fact::OwnApproval` must be found.
    Function,
}

/// What a tool's definition says about the gate, known without calling any of its functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateSettings {
    /// The tool's own approval setting (step 8).
    pub own: OwnApproval,
    /// `protect` of the config entry: auto mode asks, and nothing lifts that.
    pub protect: bool,
    /// `require_cmd_approval` of the config entry: approvals are for one command each.
    pub by_command: bool,
    /// Whether there is `gates.is_safe`.
    pub is_safe: bool,
    /// Whether its definition says what a call wants (`permission`).
    pub declares: bool,
    /// Whether any of its cmds is a command.
    pub has_commands: bool,
    /// Whether the judge may be asked: it is enabled, `opts.judge` is set and there is `gates.judge_context`.
    pub judge: bool,
}

impl GateSettings {
    /// Only the tool's own setting.
    pub fn new(own: OwnApproval) -> Self {
        Self {
            own,
            protect: false,
            by_command: false,
            is_safe: false,
            judge: false,
            declares: false,
            has_commands: false,
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallStatus {
    /// Every cmd succeeded.
    Success,
    /// Unknown tool, unusable arguments, a throw, a cmd that failed.
    Error,
    /// The user said no to this call.
    Rejected,
    /// The user cancelled it, or it was still queued when another was cancelled.
    Cancelled,
    /// The chat was stopped.
    Stopped,
    /// The user ended only this call.
    Skipped,
    /// Its time limit passed.
    TimedOut,
    /// A rule forbids it.
    Denied,
}

impl CallStatus {
    /// The word that Lua, autocommands and the log use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Error => "error",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::Stopped => "stopped",
            Self::Skipped => "skipped",
            Self::TimedOut => "timeout",
            Self::Denied => "denied",
        }
    }

    /// Whether the result is marked as failed for the provider, and whether `auto_submit_errors` decides on the
    /// next request. A rejected call counts as success there.
    pub fn is_failure(self) -> bool {
        match self {
            Self::Error | Self::TimedOut | Self::Denied | Self::Skipped => true,
            Self::Success | Self::Rejected | Self::Cancelled | Self::Stopped => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fingerprints_differ_by_value_and_not_by_the_order_of_keys() {
        let one = fingerprint(&json!({"path": "a", "n": [1, 2, {"x": null}]}));
        assert_eq!(one, fingerprint(&json!({"n": [1, 2, {"x": null}], "path": "a"})));
        for other in [
            json!({"path": "a", "n": [2, 1, {"x": null}]}),
            json!({"path": "a", "n": [1, 2, {"x": false}]}),
            json!({"n": "a", "path": [1, 2, {"x": null}]}),
            json!({"path": "a", "n": "[1,2,{\"x\":null}]"}),
            json!({}),
        ] {
            assert_ne!(one, fingerprint(&other), "{other}");
        }
    }
}
