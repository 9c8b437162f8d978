//! Why it cannot be told what a command would run: as data, in words where it is shown.

/// What is not known about a command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Unknown {
    /// Which program it is.
    Program,
    /// What this program runs.
    Inner(String),
    /// What this program is to do: it reads that from elsewhere, or its language is not looked into.
    Input(String),
    /// The text that this program runs.
    Text(String),
    /// Whether this word makes it run something.
    Word(String),
    /// What runs once this variable is set.
    Variable(String),
    /// Which variable this command sets.
    AnyVariable(String),
    /// What this text becomes when a shell evaluates it.
    Evaluated(String),
    /// Whether a file that a wildcard finds is an option that runs something.
    Wildcard,
}

impl Unknown {
    /// What it is, for Lua, and what it is about.
    pub fn parts(&self) -> (&'static str, Option<&str>) {
        match self {
            Self::Program => ("program", None),
            Self::Inner(program) => ("inner", Some(program)),
            Self::Input(program) => ("input", Some(program)),
            Self::Text(program) => ("text", Some(program)),
            Self::Word(word) => ("word", Some(word)),
            Self::Variable(name) => ("variable", Some(name)),
            Self::AnyVariable(command) => ("any_variable", Some(command)),
            Self::Evaluated(text) => ("evaluated", Some(text)),
            Self::Wildcard => ("wildcard", None),
        }
    }
}
