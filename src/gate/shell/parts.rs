//! What there is to judge about a shell text.

use super::word::PathText;
use crate::gate::unknown::Unknown;
use crate::gate::value::Value;

/// A shell text, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Script {
    /// Nothing but blanks and comments.
    Empty,
    /// It cannot be understood: it is judged as one value, and asked about (P-64).
    Unparsable,
    /// It was understood.
    Parsed(Parts),
}

/// The parts of a shell text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Every simple command, those inside of others as well.
    pub commands: Vec<Command>,
    /// Paths that it names.
    pub paths: Vec<PathUse>,
    /// Commands that need no rule: those that go to a folder (P-64).
    pub free: Vec<String>,
    /// Whether the text changes what wildcards find.
    pub changes_wildcards: bool,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// As it is written (P-61), with its redirections; one inside of another as words.
    pub written: String,
    /// As words, as far as they are known before it runs; none: it has none.
    pub value: Option<Value>,
    /// The words with the program's name in place of its path. It can only make a verdict stricter: who allows `ls` does
    /// not allow `/tmp/ls`.
    pub named: Option<Value>,
    /// Words of its arguments, any of which may be a program that it runs.
    pub words: Vec<Value>,
    /// Why it asks, whatever a rule allows: what it runs depends on what is only known when it runs.
    pub doubt: Option<Unknown>,
    /// Whether the same text always is the same command: no variable is in it.
    pub is_told: bool,
    /// Paths with wildcards that, where they find a name that begins with `-`, are options that may run something.
    pub found_options: Vec<PathText>,
}

impl Command {
    /// A command of which nothing else runs.
    pub fn plain(written: &str) -> Self {
        let words = split(&Value::from(written));
        Self {
            written: written.to_owned(),
            value: None,
            named: None,
            words,
            doubt: None,
            is_told: true,
            found_options: Vec::new(),
        }
    }

    /// What rules see of it; the strictest verdict counts.
    pub fn views(&self) -> impl Iterator<Item = Value> + '_ {
        let written = Value::from(self.written.as_str());
        let others = self.value.iter().filter(move |view| view.known() != Some(&self.written)).cloned();
        std::iter::once(written).chain(others)
    }

    /// Whether it asks, whatever a rule allows.
    pub fn is_opaque(&self) -> bool {
        self.doubt.is_some()
    }
}

/// The words in a text of which any might be a program's name: split at all that is no part of one, and at slashes.
pub fn split(text: &Value) -> Vec<Value> {
    text.split(|letter| letter.is_whitespace() || "=,;:'\"`$(){}[]|&<>@/\\!#%".contains(letter))
}

/// A path that is read, written or gone to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathUse {
    /// Which one.
    pub path: PathText,
    /// It is written (P-63).
    pub is_write: bool,
    /// It stands for a folder: the working directory from then on.
    pub is_folder: bool,
}
