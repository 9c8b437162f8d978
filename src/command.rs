//! Command templates: a text with `${name}` placeholders becomes a script for `sh -c` in which no value is ever syntax.
//! Pure: files are written and processes started elsewhere.

mod lexer;
mod quote;
mod script;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

pub use quote::{join, quote, quote_words};

use lexer::Reading;
use script::Script;

/// What stands between the shell and [`Prepared::script`]. The `--` keeps a text that starts with `-` or `+` from being an option.
pub const SHELL_ARGUMENTS: [&str; 2] = ["-c", "--"];

/// A value or a script longer than this travels through a file: Linux refuses one argument or variable of 128 KiB.
pub const MAX_INLINE_BYTES: usize = 100 * 1024;

/// All that travels in the environment together: macOS takes 1 MiB for the environment and the arguments, Neovim's included.
const MAX_INLINE_TOTAL_BYTES: usize = 256 * 1024;

/// How many words the values of one command may have: each is a shell variable of its own.
pub const MAX_WORDS: usize = 2_000;

/// What a placeholder stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// One word, whatever it holds.
    Word(Vec<u8>),
    /// Several words, like `"$@"`. Where only one can stand (in quotes, in a here-document, in `name=…`, as the target
    /// of a redirection, in `${x:-…}`, `[[ … ]]` and `case`) they are one, joined with spaces, like `"$*"`.
    Words(Vec<Vec<u8>>),
    /// Shell text, put in before the grammar is looked at, even in quotes. Dangerous with anything the model wrote.
    Raw(Vec<u8>),
}

/// A command ready to run: `sh -c -- script` with `variables` in the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// What the shell gets. Without placeholders (and up to [`MAX_INLINE_BYTES`]) it is the text, byte for byte.
    pub script: Vec<u8>,
    /// What the environment of the shell, and only of the shell, has to hold.
    pub variables: Vec<Variable>,
    /// The text with each placeholder replaced by its value, quoted: what the user is asked about and rules judge.
    /// A placeholder in a comment stays as it is.
    pub shown: Vec<u8>,
}

/// A variable of the shell's environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The bytes to carry; no NUL among them.
    pub value: Vec<u8>,
    /// How they travel.
    pub carrier: Carrier,
}

/// How a value reaches the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// The variable holds the value.
    Environment,
    /// The variable holds the path of a file (0600) with exactly the value; the shell reads it before anything else, so
    /// it can be removed when the shell has ended.
    File,
}

/// Why a text can't become a command. Nothing has run then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the variants say what their fields are")]
pub enum CommandError {
    /// The text has a NUL byte.
    #[error("The command contains a NUL byte, which no shell takes: remove it")]
    NulInText,
    /// The value of this placeholder has a NUL byte.
    #[error("The value of ${{{}}} contains a NUL byte, which no shell takes: remove it or pass it in a file", lossy(.name))]
    NulInValue { name: Vec<u8> },
    /// This placeholder stands where a value can't.
    #[error("${{{}}} can't stand {why}", lossy(.name))]
    Misplaced { name: Vec<u8>, why: &'static str },
    /// The shell would compute with the value of this placeholder, and it isn't an integer.
    #[error("${{{}}} stands where the shell computes, so its value must be an integer", lossy(.name))]
    NotAnInteger { name: Vec<u8> },
    /// The lists have too many words.
    #[error("The values of this command have more than {MAX_WORDS} words: pass them in a file")]
    TooManyWords,
    /// Shells disagree about the text at this line (1-based), so that no place is certain.
    #[error("Line {line}: shells disagree on {what}; so ${{…}} can't be replaced safely here")]
    Unclear { line: usize, what: &'static str },
    /// More than a hundred nested constructs.
    #[error("The command is nested too deeply")]
    TooDeep,
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Where in the shell's grammar a placeholder stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Bare in a command, where a list may be several words.
    Words,
    /// Bare where only one word can stand.
    Word,
    /// In double quotes; `brace`: and there in `${x:-…}`, where a `}` would end it.
    Double { brace: bool },
    /// In the pattern of `"${x#…}"`.
    DoublePattern,
    /// In single quotes.
    Single,
    /// In the body of a here-document; `brace`: and there in `${x:-…}`.
    Heredoc { brace: bool },
    /// In `$((…))`.
    Arithmetic,
    /// In something that shells disagree on.
    Nowhere,
}

impl Place {
    fn in_brace(self) -> Self {
        match self {
            Self::Words | Self::Word => Self::Word,
            Self::Double { .. } => Self::Double { brace: true },
            Self::Heredoc { .. } => Self::Heredoc { brace: true },
            Self::DoublePattern => Self::Nowhere,
            same => same,
        }
    }

    fn in_pattern(self) -> Self {
        match self {
            Self::Words | Self::Word => Self::Word,
            Self::Double { .. } => Self::DoublePattern,
            // busybox takes quotes literally in a pattern in a here-document.
            Self::DoublePattern | Self::Heredoc { .. } => Self::Nowhere,
            same => same,
        }
    }

    fn in_quotes(self) -> Self {
        match self {
            Self::Words | Self::Word => Self::Double { brace: false },
            same => same,
        }
    }
}

/// Makes a command of a text and the values of its placeholders.
///
/// A `${name}` whose name `env` has is a placeholder; every other byte of the text is the shell's, `${HOME}`, `${x:-y}`,
/// `\${name}` and `$${name}` (the process id) included. A value never becomes syntax, never is split, and no wildcard in
/// it matches. What a program reads again as shell text (`eval`, the text of an inner `sh -c`, `ssh`, `trap`) is the
/// author's duty: pass the value as an argument there, as in `sh -c 'printf %s "$1"' sh ${name}`.
///
/// # Errors
/// Each variant of [`CommandError`]; a NUL byte counts only in values that are used.
pub fn prepare(text: &[u8], env: &BTreeMap<String, Value>) -> Result<Prepared, CommandError> {
    if text.contains(&0) {
        return Err(CommandError::NulInText);
    }
    let (text, verbatim) = put_raw(text, env)?;
    let is_name = |name: &[u8]| {
        let value = std::str::from_utf8(name).ok().and_then(|name| env.get(name));
        matches!(value, Some(Value::Word(_) | Value::Words(_)))
    };
    let longest = env.keys().map(String::len).max().unwrap_or(0);
    // A text without placeholders is none of our business: whatever it is, the shell gets it.
    if !(0..text.len()).any(|at| placeholder_at(&text, at, longest).is_some_and(|name| is_name(&text[name]))) {
        return Ok(Script::new(&text, env).finish(text.clone(), text.clone()));
    }
    let posix = lexer::read(&text, &verbatim, longest, &is_name, Reading::Posix)?;
    let bash = lexer::read(&text, &verbatim, longest, &is_name, Reading::Bash)?;
    let mut script = Script::new(&text, env);
    let (for_posix, for_bash) = (script.render(&posix)?, script.render(&bash)?);
    if for_posix != for_bash {
        let equal = for_posix.iter().zip(&for_bash).take_while(|(one, other)| one == other).count();
        let line = 1 + for_bash[..equal].iter().filter(|&&byte| byte == b'\n').count();
        return Err(CommandError::Unclear {
            line, what: "the quotes around it (`$'…'`, `$[…]`, or ' in `\"${…}\"`)"
        });
    }
    let shown = script.show(&bash);
    Ok(script.finish(for_bash, shown))
}

/// The name in the `${name}` at `at`, if it has at most `longest` bytes.
fn placeholder_at(text: &[u8], at: usize, longest: usize) -> Option<Range<usize>> {
    let rest = text[at..].strip_prefix(b"${")?;
    let length = rest.iter().take(longest + 1).position(|&byte| byte == b'}')?;
    Some(at + 2..at + 2 + length)
}

/// Puts raw values in, and says where they are. Only a backslash keeps a placeholder from being replaced here.
fn put_raw(text: &[u8], env: &BTreeMap<String, Value>) -> Result<(Vec<u8>, Vec<Range<usize>>), CommandError> {
    let longest = env.keys().map(String::len).max().unwrap_or(0);
    let raw = |name: &[u8]| match std::str::from_utf8(name).ok().and_then(|name| env.get(name)) {
        Some(Value::Raw(value)) => Some(value),
        Some(Value::Word(_) | Value::Words(_)) | None => None,
    };
    let (mut whole, mut verbatim) = (Vec::with_capacity(text.len()), Vec::new());
    let (mut at, mut escaped) = (0, false);
    while at < text.len() {
        if let Some(name) = placeholder_at(text, at, longest).filter(|_| !escaped)
            && let Some(value) = raw(&text[name.clone()])
        {
            if value.contains(&0) {
                return Err(CommandError::NulInValue { name: text[name].to_vec() });
            }
            verbatim.push(whole.len()..whole.len() + value.len());
            whole.extend(value);
            at = name.end + 1;
            continue;
        }
        escaped = text[at] == b'\\' && !escaped;
        whole.push(text[at]);
        at += 1;
    }
    Ok((whole, verbatim))
}
