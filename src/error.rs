//! What can go wrong at the border to Lua and in starting threads, and who should hear of it. What goes wrong in a tool
//! call is not here: that is a result for the model.

use std::error::Error as StdError;

/// What the user reads where a fault of ours ends a call or a request.
pub const OUR_FAULT: &str = "internal error of lathe, see :Lathe log";

/// Who reads a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The model: it becomes a tool result.
    Model,
    /// The user: it becomes a notification.
    User,
    /// The developer: it goes to the log, and the user is told to look there.
    Developer,
}

impl Audience {
    /// The word that Lua uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::User => "user",
            Self::Developer => "developer",
        }
    }
}

/// An error of an export or of the runtime.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are named by the messages")]
pub enum Error {
    /// A field that an export needs was not given.
    #[error("{export}: the field `{field}` is missing")]
    MissingField { export: &'static str, field: String },
    /// A field that an export does not know was given.
    #[error("{export}: there is no field `{field}`")]
    UnknownField { export: &'static str, field: String },
    /// A field or argument of the wrong type.
    #[error("{export}: `{field}` must be {wanted}, not {given}")]
    WrongField { export: &'static str, field: String, wanted: &'static str, given: String },
    /// A bug: the engine panicked in this export.
    #[error("{export}: {panic}")]
    Panicked { export: &'static str, panic: String },
    /// Lua refused something that cannot fail but for want of memory.
    #[error("{export}")]
    Lua { export: &'static str, source: Box<dyn StdError> },
    /// The editor's event loop takes no handle of ours.
    #[error("cannot register with the editor's event loop")]
    EventLoop(#[source] Box<dyn StdError>),
    /// The system gives us no threads.
    #[error("cannot start worker threads")]
    Workers(#[source] std::io::Error),
    /// The editor is on its way out.
    #[error("lathe is shut down")]
    ShutDown,
}

impl Error {
    /// Who should hear of it.
    pub fn audience(&self) -> Audience {
        match self {
            Self::Workers(_) | Self::EventLoop(_) | Self::ShutDown => Audience::User,
            Self::MissingField { .. }
            | Self::UnknownField { .. }
            | Self::WrongField { .. }
            | Self::Panicked { .. }
            | Self::Lua { .. } => Audience::Developer,
        }
    }

    /// The message with its causes.
    pub fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_follow_the_message() {
        let error = Error::Workers(std::io::Error::other("no more threads"));
        assert_eq!(error.with_causes(), "cannot start worker threads: no more threads");
    }
}
