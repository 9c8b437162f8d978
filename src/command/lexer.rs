//! Finds the placeholders of a command text and says in which place of the shell's grammar each one stands.
//! It knows just enough of the grammar for that: no values, no output, and what the shell would refuse is not its business.

mod commands;
mod expansions;
mod heredocs;

use std::collections::HashMap;
use std::ops::Range;

use self::heredocs::Heredoc;
use super::{CommandError, Place};

/// Deeper nesting than this is refused: each level is a level of the stack.
const MAX_DEPTH: usize = 100;

/// Shells disagree on a few constructs; a text is read both ways and both readings have to give the same script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// dash, busybox: `$'` and `$[` are a literal `$`.
    Posix,
    /// bash: `$'…'` knows escapes, `$[…]` is arithmetic, `'` pairs in `"${x:-'…'}"`.
    Bash,
}

/// A placeholder and the place where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// Bytes of the text that it takes up.
    pub span: Range<usize>,
    /// Bytes of the text that are its name; in backquotes they may hold escapes, hence not a part of the text.
    pub name: Vec<u8>,
    pub place: Place,
    /// The shell evaluates what stands here, so only an integer is safe.
    pub number: bool,
    /// How many levels of backquotes are around it.
    pub backquotes: u32,
    /// How many runs of `commands` are around it, to find those of one `[[ … ]]`.
    level: usize,
}

/// The body of an unquoted here-document in which placeholders stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Body {
    pub span: Range<usize>,
    pub delimiter: Vec<u8>,
    pub strip_tabs: bool,
}

/// What the lexer found, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub edits: Vec<Edit>,
    pub bodies: Vec<Body>,
}

/// Reads `text`, in which the bytes of `verbatim` hold no placeholders; `is_name` knows the names of placeholders,
/// none of which is longer than `longest` bytes.
pub(super) fn read(
    text: &[u8],
    verbatim: &[Range<usize>],
    longest: usize,
    is_name: &dyn Fn(&[u8]) -> bool,
    reading: Reading,
) -> Result<Found, CommandError> {
    let whole = Text { bytes: text.to_vec(), offsets: None };
    let mut lexer = Lexer {
        command: text,
        is_name,
        longest,
        verbatim,
        reading,
        found: Found::default(),
        pending: Vec::new(),
        outer_waits: false,
        cut_off: false,
        double_parens: false,
        looking: 0,
        depth: 0,
        level: 0,
        backquotes: 0,
        arithmetic: HashMap::new(),
    };
    lexer.commands(&whole, 0, text.len(), None, Mode::Commands)?;
    Ok(lexer.found)
}

/// A text that the shell reads as a whole: the command, or what is left of backquotes without their escapes.
struct Text {
    bytes: Vec<u8>,
    /// Where each byte stands in the command, and its end; None when it is the command itself.
    offsets: Option<Vec<usize>>,
}

impl Text {
    fn source(&self, at: usize) -> usize {
        self.offsets.as_ref().map_or(at, |offsets| offsets[at])
    }

    fn at(&self, at: usize, end: usize) -> Option<u8> {
        if at < end { self.bytes.get(at).copied() } else { None }
    }

    fn starts_with(&self, at: usize, end: usize, wanted: &[u8]) -> bool {
        self.bytes[at..end].starts_with(wanted)
    }
}

/// What a run of words is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Commands,
    /// Inside `[[ … ]]`.
    Test,
    /// Words without keywords: an array, an extended pattern.
    List,
}

struct Lexer<'a> {
    is_name: &'a dyn Fn(&[u8]) -> bool,
    longest: usize,
    verbatim: &'a [Range<usize>],
    command: &'a [u8],
    reading: Reading,
    found: Found,
    pending: Vec<Heredoc>,
    /// A here-document of the text around a `$(…)` waits for its newline.
    outer_waits: bool,
    /// Something reached the end of the text before its own end.
    cut_off: bool,
    /// Inside `((` or `$((` that isn't arithmetic: bash reads it twice, and not always alike.
    double_parens: bool,
    /// Above zero while only looking ahead: nothing is recorded, nothing refused.
    looking: usize,
    depth: usize,
    level: usize,
    backquotes: u32,
    /// Whether the `((` at this offset of the command is arithmetic, so that looking ahead stays cheap when nested.
    arithmetic: HashMap<usize, bool>,
}

type Next = Result<usize, CommandError>;

impl Lexer<'_> {
    /// The name of the placeholder at `at`, and the position after it.
    fn placeholder(&self, text: &Text, at: usize, end: usize) -> Option<(Range<usize>, usize)> {
        if !text.starts_with(at, end, b"${") {
            return None;
        }
        let from = at + 2;
        let until = end.min(from + self.longest + 1);
        let length = text.bytes[from.min(until)..until].iter().position(|&byte| byte == b'}')?;
        let name = from..from + length;
        let source = text.source(at);
        let verbatim = self.verbatim.iter().any(|range| range.contains(&source));
        (!verbatim && (self.is_name)(&text.bytes[name.clone()])).then_some((name, from + length + 1))
    }

    /// Reads the placeholder at `at`, if there is one, and gives the position after it.
    fn take(
        &mut self,
        text: &Text,
        at: usize,
        end: usize,
        place: Place,
        number: bool,
    ) -> Result<Option<usize>, CommandError> {
        let Some((name, next)) = self.placeholder(text, at, end) else { return Ok(None) };
        if self.looking > 0 {
            return Ok(Some(next));
        }
        if place == Place::Nowhere {
            let why = "in a `${…}` that shells read differently";
            return Err(CommandError::Misplaced { name: text.bytes[name].to_vec(), why });
        }
        if self.double_parens {
            let why = "in `((…) …)`, which shells read differently: put a space between the parentheses";
            return Err(CommandError::Misplaced { name: text.bytes[name].to_vec(), why });
        }
        self.found.edits.push(Edit {
            span: text.source(at)..text.source(next),
            name: text.bytes[name].to_vec(),
            place,
            number: number || place == Place::Arithmetic,
            backquotes: self.backquotes,
            level: self.level,
        });
        Ok(Some(next))
    }

    /// Shells would read the text differently, or nothing sensible can stand here.
    fn unclear(&self, text: &Text, at: usize, what: &'static str) -> Result<(), CommandError> {
        if self.looking > 0 {
            return Ok(());
        }
        let line = 1 + self.command[..text.source(at)].iter().filter(|&&byte| byte == b'\n').count();
        Err(CommandError::Unclear { line, what })
    }

    /// Refuses the placeholders between `at` and `end`, where the shell replaces nothing.
    fn no_placeholders(&self, text: &Text, at: usize, end: usize, why: &'static str) -> Result<(), CommandError> {
        if self.looking > 0 {
            return Ok(());
        }
        match (at..end).find_map(|at| self.placeholder(text, at, end)) {
            Some((name, _)) => Err(CommandError::Misplaced { name: text.bytes[name].to_vec(), why }),
            None => Ok(()),
        }
    }

    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T, CommandError>) -> Result<T, CommandError> {
        if self.depth >= MAX_DEPTH {
            return Err(CommandError::TooDeep);
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// `'…'`, from after the opening quote.
    fn single(&mut self, text: &Text, mut at: usize, end: usize) -> Next {
        while let Some(byte) = text.at(at, end) {
            if byte == b'\'' {
                return Ok(at + 1);
            }
            at = self.take(text, at, end, Place::Single, false)?.unwrap_or(at + 1);
        }
        self.cut_off = true;
        Ok(end)
    }

    /// `"…"`, from after the opening quote.
    fn double(&mut self, text: &Text, mut at: usize, end: usize, place: Place, number: bool) -> Next {
        while let Some(byte) = text.at(at, end) {
            match byte {
                b'"' => return Ok(at + 1),
                b'\\' => at = end.min(at + 2),
                b'$' | b'`' => at = self.expansion(text, at, end, place, number)?,
                _ => at += 1,
            }
        }
        self.cut_off = true;
        Ok(end)
    }
}

/// The name that `word` assigns to, when it starts with `name=`, `name+=` or `name[…]=`.
pub(super) fn assigned_name(word: &[u8]) -> Option<&[u8]> {
    let name = name_length(word);
    let mut rest = &word[name..];
    if rest.first() == Some(&b'[') {
        rest = &rest[rest.iter().position(|&byte| byte == b']')? + 1..];
    }
    (name > 0 && (rest.starts_with(b"=") || rest.starts_with(b"+="))).then(|| &word[..name])
}

fn name_length(word: &[u8]) -> usize {
    if word.first().is_some_and(u8::is_ascii_digit) {
        return 0;
    }
    word.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}
