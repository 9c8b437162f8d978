//! Finds the placeholders of a command text and says in which place of the shell's grammar each one stands.
//! It knows just enough of the grammar for that: no values, no output, and what the shell would refuse is not its business.

use std::collections::HashMap;
use std::ops::Range;

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
        double: false,
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

/// A here-document whose body starts after the next newline.
struct Heredoc {
    delimiter: Vec<u8>,
    quoted: bool,
    strip_tabs: bool,
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

/// How far a `case` has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Subject,
    In,
    Pattern { started: bool, parens: usize },
    Body,
}

/// Where in a simple command the next word stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Keywords and assignments are known here.
    Command,
    /// After an assignment: further ones are known, keywords are not.
    Assigned,
    Argument,
    /// After `for` and `select`.
    ForName,
    /// `in` or `do`.
    ForWords,
    /// After `function`.
    FunctionName,
}

/// The state of one run of `commands`.
struct Run {
    mode: Mode,
    position: Position,
    /// Where the current word began.
    word: Option<usize>,
    /// The next word is the target of a redirection.
    redirect: bool,
    cases: Vec<Case>,
    /// In `[[ … ]]`: the first edit of this part of the condition, and whether it compares numbers.
    condition: Option<(usize, bool)>,
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
    double: bool,
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
    // ---- what can be found -------------------------------------------------------------------------------------

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
        if self.double {
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

    // ---- commands ----------------------------------------------------------------------------------------------

    /// Reads commands until `close` (consumed) or `end`.
    fn commands(&mut self, text: &Text, at: usize, end: usize, close: Option<u8>, mode: Mode) -> Next {
        let level = self.level;
        self.level += 1;
        let next = self.nested(|lexer| lexer.run(text, at, end, close, mode));
        self.level = level;
        next
    }

    fn run(&mut self, text: &Text, mut at: usize, end: usize, close: Option<u8>, mode: Mode) -> Next {
        let mut run =
            Run { mode, position: Position::Command, word: None, redirect: false, cases: Vec::new(), condition: None };
        if mode == Mode::Test {
            run.condition = Some((self.found.edits.len(), false));
        }
        while let Some(byte) = text.at(at, end) {
            match byte {
                b'\\' if text.at(at + 1, end) == Some(b'\n') => at += 2,
                b'\\' => {
                    run.begin_word(at);
                    at = end.min(at + 2);
                }
                b'\'' => {
                    run.begin_word(at);
                    at = self.single(text, at + 1, end)?;
                }
                b'"' => {
                    run.begin_word(at);
                    let number = run.is_number(text, at);
                    at = self.double(text, at + 1, end, Place::Double { brace: false }, number)?;
                }
                b'$' | b'`' => {
                    run.begin_word(at);
                    let (place, number) = (run.place(text, at), run.is_number(text, at));
                    at = self.expansion(text, at, end, place, number)?;
                }
                b'#' if run.word.is_none() => {
                    // A placeholder in a comment stays as it is: a value could hold the newline that ends the comment.
                    at = text.bytes[at..end].iter().position(|&byte| byte == b'\n').map_or(end, |length| at + length);
                }
                b' ' | b'\t' => {
                    self.end_word(&mut run, text, at);
                    at += 1;
                }
                b'\n' => {
                    self.end_word(&mut run, text, at);
                    run.new_command();
                    if self.outer_waits && close.is_some() {
                        self.unclear(text, at, "a here-document that starts before a `$(…)` of several lines")?;
                    }
                    at = self.bodies(text, at + 1, end, close)?;
                }
                b';' | b'&' | b'|' => at = self.operator(&mut run, text, at, end),
                b'<' | b'>' => at = self.redirection(&mut run, text, at, end)?,
                b'(' => at = self.open(&mut run, text, at, end)?,
                b')' => {
                    self.end_word(&mut run, text, at);
                    at += 1;
                    match run.cases.last_mut() {
                        Some(Case::Pattern { parens, .. }) if *parens > 0 => *parens -= 1,
                        Some(Case::Pattern { .. }) => {
                            run.set_case(Case::Body);
                            run.new_command();
                        }
                        _ if close == Some(b')') => {
                            self.end_condition(&run);
                            return Ok(at);
                        }
                        _ => run.new_command(),
                    }
                }
                _ => {
                    run.begin_word(at);
                    at += 1;
                }
            }
        }
        self.end_word(&mut run, text, end);
        self.end_condition(&run);
        self.cut_off |= close.is_some();
        Ok(end)
    }

    /// `;`, `&`, `|` and what they are part of.
    fn operator(&mut self, run: &mut Run, text: &Text, at: usize, end: usize) -> usize {
        self.end_word(run, text, at);
        if run.in_test() {
            let double = text.starts_with(at, end, b"&&") || text.starts_with(at, end, b"||");
            self.next_condition(run);
            return at + if double { 2 } else { 1 };
        }
        if matches!(run.cases.last(), Some(Case::Pattern { .. })) {
            return at + 1;
        }
        if run.cases.last() == Some(&Case::Body) {
            for ending in [b";;&".as_slice(), b";;", b";&", b";|"] {
                if text.starts_with(at, end, ending) {
                    run.set_case(Case::Pattern { started: false, parens: 0 });
                    return at + ending.len();
                }
            }
        }
        run.new_command();
        at + 1
    }

    /// `<`, `>` and what they are part of. A `<(…)` is left to [`Self::open`].
    fn redirection(&mut self, run: &mut Run, text: &Text, at: usize, end: usize) -> Next {
        self.end_word(run, text, at);
        if run.in_test() {
            return Ok(at + 1);
        }
        if run.position != Position::Assigned {
            run.position = Position::Argument;
        }
        if text.starts_with(at, end, b"<<<") {
            run.redirect = true;
            return Ok(at + 3);
        }
        if text.starts_with(at, end, b"<<") {
            let strip_tabs = text.at(at + 2, end) == Some(b'-');
            return self.delimiter(text, at + if strip_tabs { 3 } else { 2 }, end, strip_tabs);
        }
        run.redirect = true;
        let two = [b">>".as_slice(), b">|", b">&", b"<&", b"<>"].iter().any(|two| text.starts_with(at, end, two));
        Ok(at + if two { 2 } else { 1 })
    }

    /// An opening parenthesis: a pattern of `case`, arithmetic, an array, a function, or a subshell.
    fn open(&mut self, run: &mut Run, text: &Text, at: usize, end: usize) -> Next {
        if let Some(Case::Pattern { started, parens }) = run.cases.last_mut() {
            if *started || run.word.is_some() {
                *parens += 1;
            }
            *started = true;
            return Ok(at + 1);
        }
        let Some(word) = run.word else {
            if run.redirect {
                // Process substitution: `<(…)` is a word.
                run.begin_word(at);
                return self.substitution(text, at + 1, end);
            }
            let may_compute = !run.in_test() && matches!(run.position, Position::Command | Position::ForName);
            if may_compute && text.at(at + 1, end) == Some(b'(') && self.is_arithmetic(text, at + 2, end)? {
                run.position = if run.position == Position::ForName { Position::ForWords } else { Position::Argument };
                return Ok(self.arithmetic(text, at + 2, end, b')', Place::Word)?.0);
            }
            let mode = if run.in_test() { Mode::Test } else { run.mode };
            self.next_condition(run);
            let double = self.double;
            self.double |= text.at(at + 1, end) == Some(b'(');
            let next = self.commands(text, at + 1, end, Some(b')'), mode);
            self.double = double;
            let next = next?;
            self.next_condition(run);
            if run.mode == Mode::Commands && !run.in_test() {
                run.new_command();
            }
            return Ok(next);
        };
        if text.bytes[word..at].ends_with(b"=") || text.at(at + 1, end) != Some(b')') {
            return self.commands(text, at + 1, end, Some(b')'), Mode::List);
        }
        run.word = None;
        run.new_command();
        Ok(at + 2)
    }

    /// A word ends: keywords are known by their bytes, so a quoted one is none.
    fn end_word(&mut self, run: &mut Run, text: &Text, at: usize) {
        let Some(start) = run.word.take() else { return };
        let word = &text.bytes[start..at];
        if std::mem::take(&mut run.redirect) {
            return;
        }
        if run.in_test() {
            match word {
                b"]]" if run.mode != Mode::Test => {
                    self.end_condition(run);
                    run.condition = None;
                }
                b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge" | b"-v" => {
                    if let Some((_, compares)) = &mut run.condition {
                        *compares = true;
                    }
                }
                _ => {}
            }
            return;
        }
        match run.cases.last().copied() {
            Some(Case::Subject) => run.set_case(Case::In),
            Some(Case::In) if word == b"in" => run.set_case(Case::Pattern { started: false, parens: 0 }),
            Some(Case::In) => {
                run.cases.pop();
            }
            Some(Case::Pattern { started: false, .. }) if word == b"esac" => {
                run.cases.pop();
                run.position = Position::Argument;
            }
            Some(Case::Pattern { parens, .. }) => run.set_case(Case::Pattern { started: true, parens }),
            Some(Case::Body) | None => self.keyword(run, word),
        }
    }

    fn keyword(&mut self, run: &mut Run, word: &[u8]) {
        if run.mode != Mode::Commands {
            return;
        }
        run.position = match (run.position, word) {
            (Position::Command, b"case") => {
                run.cases.push(Case::Subject);
                Position::Argument
            }
            (Position::Command, b"esac") => {
                run.cases.pop();
                Position::Argument
            }
            (Position::Command, b"[[") => {
                run.condition = Some((self.found.edits.len(), false));
                Position::Argument
            }
            (Position::Command, b"for" | b"select") => Position::ForName,
            (Position::ForName, _) => Position::ForWords,
            (Position::ForWords, b"do") => Position::Command,
            (Position::Command, b"function") => Position::FunctionName,
            (Position::FunctionName, _) => Position::Command,
            (
                Position::Command,
                b"!" | b"{" | b"}" | b"if" | b"then" | b"elif" | b"else" | b"fi" | b"while" | b"until" | b"do"
                | b"done" | b"time" | b"coproc",
            ) => Position::Command,
            (Position::Command | Position::Assigned, word) if assigned_name(word).is_some() => Position::Assigned,
            _ => Position::Argument,
        };
    }

    /// A part of a `[[ … ]]` that compares numbers ends: bash evaluates its words as arithmetic, so they must be numbers.
    fn end_condition(&mut self, run: &Run) {
        if let Some((first, true)) = run.condition {
            for edit in &mut self.found.edits[first..] {
                edit.number |= edit.level == self.level;
            }
        }
    }

    fn next_condition(&mut self, run: &mut Run) {
        if run.condition.is_some() {
            self.end_condition(run);
            run.condition = Some((self.found.edits.len(), false));
        }
    }

    // ---- quotes ------------------------------------------------------------------------------------------------

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

    // ---- expansions --------------------------------------------------------------------------------------------

    /// What starts with the `$` or the backquote at `at`. A placeholder here stands in `place`.
    fn expansion(&mut self, text: &Text, at: usize, end: usize, place: Place, number: bool) -> Next {
        if text.bytes[at] == b'`' {
            return self.backquotes(text, at, end, place);
        }
        if let Some(next) = self.take(text, at, end, place, number)? {
            return Ok(next);
        }
        let bare = matches!(place, Place::Words | Place::Word);
        match text.at(at + 1, end) {
            Some(b'(') if text.at(at + 2, end) == Some(b'(') && self.is_arithmetic(text, at + 3, end)? => {
                Ok(self.arithmetic(text, at + 3, end, b')', Place::Arithmetic)?.0)
            }
            Some(b'(') => {
                let double = self.double;
                self.double |= text.at(at + 2, end) == Some(b'(');
                let next = self.substitution(text, at + 2, end);
                self.double = double;
                next
            }
            Some(b'{') => self.nested(|lexer| lexer.parameter(text, at + 2, end, place, number)),
            Some(b'[') if self.reading == Reading::Bash => Ok(self.arithmetic(text, at + 2, end, b']', place)?.0),
            Some(b'\'') if self.reading == Reading::Bash && bare => {
                let mut next = at + 2;
                while text.at(next, end).is_some_and(|byte| byte != b'\'') {
                    next += if text.bytes[next] == b'\\' { 2 } else { 1 };
                }
                self.cut_off |= next >= end;
                self.no_placeholders(text, at + 2, next.min(end), "in $'…', which not every shell knows")?;
                Ok(end.min(next + 1))
            }
            // `$$` is the shell's own: in `$${name}` no placeholder starts.
            Some(b'$' | b'#' | b'?' | b'!' | b'-' | b'*' | b'@') => Ok(at + 2),
            _ => Ok(at + 1),
        }
    }

    /// `$(…)`, from after the parenthesis.
    fn substitution(&mut self, text: &Text, at: usize, end: usize) -> Next {
        let pending = std::mem::take(&mut self.pending);
        let outer_waits = self.outer_waits;
        self.outer_waits |= !pending.is_empty();
        let next = self.commands(text, at, end, Some(b')'), Mode::Commands)?;
        if !self.pending.is_empty() {
            self.unclear(text, at, "a here-document whose `$(…)` ends before its body")?;
        }
        self.pending = pending;
        self.outer_waits = outer_waits;
        Ok(next)
    }

    /// Backquotes: what is inside loses one level of escapes and is then read as commands.
    fn backquotes(&mut self, text: &Text, at: usize, end: usize, place: Place) -> Next {
        let in_quotes = match place {
            Place::Double { .. } | Place::DoublePattern => true,
            Place::Heredoc { .. } => self.reading == Reading::Posix,
            _ => false,
        };
        let mut inner = Text { bytes: Vec::new(), offsets: None };
        let mut offsets = Vec::new();
        let mut next = at + 1;
        while let Some(byte) = text.at(next, end) {
            if byte == b'`' {
                break;
            }
            offsets.push(text.source(next));
            let escaped = text.at(next + 1, end).filter(|&escaped| {
                byte == b'\\' && (matches!(escaped, b'$' | b'`' | b'\\') || escaped == b'"' && in_quotes)
            });
            inner.bytes.push(escaped.unwrap_or(byte));
            next += if escaped.is_some() { 2 } else { 1 };
        }
        offsets.push(text.source(next));
        inner.offsets = Some(offsets);
        self.cut_off |= next >= end;

        let cut_off = self.cut_off;
        let pending = std::mem::take(&mut self.pending);
        let outer_waits = std::mem::take(&mut self.outer_waits);
        self.backquotes += 1;
        self.commands(&inner, 0, inner.bytes.len(), None, Mode::Commands)?;
        self.backquotes -= 1;
        self.outer_waits = outer_waits;
        self.pending = pending;
        self.cut_off = cut_off;
        Ok(end.min(next + 1))
    }

    /// `${…}` that is no placeholder, from after the brace.
    fn parameter(&mut self, text: &Text, mut at: usize, end: usize, place: Place, number: bool) -> Next {
        if matches!(text.at(at, end), Some(b'#' | b'!')) && text.at(at + 1, end) != Some(b'}') {
            at += 1;
        }
        let name = at;
        while text.at(at, end).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            at += 1;
        }
        let is_special = matches!(text.at(at, end), Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!'));
        if at == name && is_special && !text.starts_with(at, end, b"${") {
            at += 1;
        }
        if at > name && text.at(at, end) == Some(b'[') {
            at = self.arithmetic(text, at + 1, end, b']', place.in_brace())?.0;
        }
        let operator = text.at(at, end);
        let after_colon = if operator == Some(b':') { text.at(at + 1, end) } else { operator };
        match (operator, after_colon) {
            (Some(b'}'), _) => Ok(at + 1),
            _ if at == name => self.brace_word(text, at, end, Place::Nowhere, number),
            (_, Some(b'-' | b'=' | b'?' | b'+')) => self.brace_word(text, at, end, place.in_brace(), number),
            (Some(b':'), _) => self.brace_word(text, at, end, place.in_brace(), true),
            (Some(b'#' | b'%' | b'/' | b'^' | b','), _) => self.brace_word(text, at, end, place.in_pattern(), number),
            _ => self.brace_word(text, at, end, Place::Nowhere, number),
        }
    }

    /// The word of a `${…}`, up to its brace.
    fn brace_word(&mut self, text: &Text, mut at: usize, end: usize, place: Place, number: bool) -> Next {
        while let Some(byte) = text.at(at, end) {
            at = match (byte, place) {
                (b'}', _) => return Ok(at + 1),
                (b'\\', _) => end.min(at + 2),
                (b'\'', Place::Words | Place::Word | Place::DoublePattern) => self.single(text, at + 1, end)?,
                (b'\'', Place::Double { .. }) if self.reading == Reading::Bash => {
                    self.paired_quote(text, at + 1, end, place, number)?
                }
                (b'"', Place::Words | Place::Word | Place::Double { .. } | Place::DoublePattern) => {
                    self.double(text, at + 1, end, Place::Double { brace: false }, number)?
                }
                (b'$' | b'`', _) => self.expansion(text, at, end, place, number)?,
                _ => at + 1,
            };
        }
        self.cut_off = true;
        Ok(end)
    }

    /// `'…'` in `"${x:-'…'}"`, which bash pairs (outside its POSIX mode) but otherwise reads like the rest.
    fn paired_quote(&mut self, text: &Text, mut at: usize, end: usize, place: Place, number: bool) -> Next {
        while let Some(byte) = text.at(at, end) {
            at = match byte {
                b'\'' => return Ok(at + 1),
                b'$' | b'`' => self.expansion(text, at, end, place, number)?,
                _ => at + 1,
            };
        }
        self.cut_off = true;
        Ok(end)
    }

    // ---- arithmetic --------------------------------------------------------------------------------------------

    /// Whether the two parentheses before `at` are closed by two: else they are a subshell in another.
    fn is_arithmetic(&mut self, text: &Text, at: usize, end: usize) -> Result<bool, CommandError> {
        let key = text.source(at);
        if let Some(&known) = self.arithmetic.get(&key) {
            return Ok(known);
        }
        let cut_off = self.cut_off;
        self.looking += 1;
        // Quotes count as in commands: that is what it may be.
        let result = self.arithmetic(text, at, end, b')', Place::Word);
        self.looking -= 1;
        self.cut_off = cut_off;
        let (_, closed) = result?;
        self.arithmetic.insert(key, closed);
        Ok(closed)
    }

    /// An arithmetic expression up to `))` or `]`; false when the parentheses don't close together.
    fn arithmetic(
        &mut self,
        text: &Text,
        at: usize,
        end: usize,
        close: u8,
        place: Place,
    ) -> Result<(usize, bool), CommandError> {
        self.nested(|lexer| lexer.expression(text, at, end, close, place))
    }

    fn expression(
        &mut self,
        text: &Text,
        mut at: usize,
        end: usize,
        close: u8,
        place: Place,
    ) -> Result<(usize, bool), CommandError> {
        let open = if close == b')' { b'(' } else { b'[' };
        let quotes_end = matches!(place, Place::Double { .. }) && close == b']';
        let mut depth = 0;
        while let Some(byte) = text.at(at, end) {
            at = match byte {
                b'\\' => end.min(at + 2),
                b'$' | b'`' => self.expansion(text, at, end, place, true)?,
                b'"' if !quotes_end => self.double(text, at + 1, end, place.in_quotes(), true)?,
                b'\'' if !quotes_end => {
                    let next = self.quiet_single(text, at + 1, end);
                    self.no_placeholders(text, at + 1, next, "in '…' of an arithmetic expression")?;
                    next
                }
                byte if byte == open => {
                    depth += 1;
                    at + 1
                }
                byte if byte == close && depth > 0 => {
                    depth -= 1;
                    at + 1
                }
                byte if byte == close && close == b']' => return Ok((at + 1, true)),
                byte if byte == close => {
                    let closed = text.at(at + 1, end) == Some(b')');
                    return Ok((at + if closed { 2 } else { 1 }, closed));
                }
                _ => at + 1,
            };
        }
        self.cut_off = true;
        Ok((end, true))
    }

    fn quiet_single(&mut self, text: &Text, at: usize, end: usize) -> usize {
        let length = text.bytes[at..end].iter().position(|&byte| byte == b'\'');
        self.cut_off |= length.is_none();
        length.map_or(end, |length| at + length + 1)
    }

    // ---- here-documents ----------------------------------------------------------------------------------------

    /// The delimiter after `<<`: any quote in it means that the shell replaces nothing in the body.
    fn delimiter(&mut self, text: &Text, mut at: usize, end: usize, strip_tabs: bool) -> Next {
        loop {
            match text.at(at, end) {
                Some(b' ' | b'\t') => at += 1,
                Some(b'\\') if text.at(at + 1, end) == Some(b'\n') => at += 2,
                _ => break,
            }
        }
        let start = at;
        let (mut delimiter, mut quoted) = (Vec::new(), false);
        while let Some(byte) = text.at(at, end) {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'\\' if text.at(at + 1, end) == Some(b'\n') => at += 2,
                b'\\' => {
                    quoted = true;
                    delimiter.extend(text.at(at + 1, end));
                    at = end.min(at + 2);
                }
                b'\'' => {
                    quoted = true;
                    let next = self.quiet_single(text, at + 1, end);
                    delimiter.extend(&text.bytes[at + 1..(next - 1).max(at + 1)]);
                    at = next;
                }
                b'"' => {
                    quoted = true;
                    at += 1;
                    while let Some(byte) = text.at(at, end).filter(|&byte| byte != b'"') {
                        let escape = byte == b'\\' && matches!(text.at(at + 1, end), Some(b'$' | b'`' | b'"' | b'\\'));
                        at += usize::from(escape);
                        delimiter.push(text.bytes[at]);
                        at += 1;
                    }
                    at = end.min(at + 1);
                }
                b'`' | b'$'
                    if byte == b'`' || matches!(text.at(at + 1, end), Some(b'(' | b'{' | b'\'' | b'"' | b'[')) =>
                {
                    self.unclear(text, at, "an expansion or `$'…'` as the delimiter of a here-document")?;
                    at += 1;
                }
                _ => {
                    delimiter.push(byte);
                    at += 1;
                }
            }
        }
        if self.double {
            self.unclear(text, start, "a here-document in `((…) …)`: put a space between the parentheses")?;
        }
        if at > start {
            self.pending.push(Heredoc { delimiter, quoted, strip_tabs });
        }
        Ok(at)
    }

    /// The bodies of the here-documents that wait for the newline before `at`.
    fn bodies(&mut self, text: &Text, mut at: usize, end: usize, close: Option<u8>) -> Next {
        for heredoc in std::mem::take(&mut self.pending) {
            let (body_end, next) = self.extent(text, at, end, &heredoc)?;
            if body_end == next && close.is_some() {
                self.unclear(text, at, "a here-document without its end in `$(…)`")?;
            }
            if heredoc.quoted {
                let why = "in a quoted here-document, where the shell replaces nothing: leave the delimiter unquoted";
                self.no_placeholders(text, at, body_end, why)?;
            } else {
                self.body(text, at, body_end, heredoc)?;
            }
            at = next;
        }
        Ok(at)
    }

    /// Where the body that starts at `at` ends, and where the text goes on: the same place when no delimiter came.
    fn extent(&self, text: &Text, at: usize, end: usize, heredoc: &Heredoc) -> Result<(usize, usize), CommandError> {
        let mut start = at;
        let mut joined: Option<Vec<u8>> = None;
        while start < end {
            let length = text.bytes[start..end].iter().position(|&byte| byte == b'\n');
            let (line_end, next) = length.map_or((end, end), |length| (start + length, start + length + 1));
            let mut line = &text.bytes[start..line_end];
            if heredoc.strip_tabs {
                line = &line[line.iter().take_while(|&&byte| byte == b'\t').count()..];
            }
            if joined.is_none() && line == heredoc.delimiter {
                // At the very end of the text there is no newline, and still this is the delimiter.
                return Ok((start, next.max(start + 1)));
            }
            let backslashes = line.iter().rev().take_while(|&&byte| byte == b'\\').count();
            let continues = !heredoc.quoted && backslashes % 2 == 1;
            let mut whole = joined.take().unwrap_or_default();
            whole.extend(&line[..line.len() - usize::from(continues)]);
            if continues {
                joined = Some(whole);
            } else if whole.len() > line.len() && whole == heredoc.delimiter {
                self.unclear(text, start, "a delimiter of a here-document over two lines")?;
            }
            start = next;
        }
        Ok((end, end))
    }

    /// An unquoted body.
    fn body(&mut self, text: &Text, start: usize, end: usize, heredoc: Heredoc) -> Result<(), CommandError> {
        if self.looking == 0 {
            self.found.bodies.push(Body {
                span: text.source(start)..text.source(end),
                delimiter: heredoc.delimiter,
                strip_tabs: heredoc.strip_tabs,
            });
        }
        let cut_off = std::mem::take(&mut self.cut_off);
        let pending = std::mem::take(&mut self.pending);
        let mut at = start;
        while let Some(byte) = text.at(at, end) {
            match byte {
                b'\\' => at = end.min(at + 2),
                b'$' | b'`' => at = self.expansion(text, at, end, Place::Heredoc { brace: false }, false)?,
                _ => at += 1,
            }
        }
        self.pending = pending;
        if std::mem::replace(&mut self.cut_off, cut_off) {
            self.unclear(text, start, "a here-document that ends inside a `$(…)`, `${…}` or backquotes")?;
        }
        Ok(())
    }
}

impl Run {
    fn begin_word(&mut self, at: usize) {
        self.word.get_or_insert(at);
    }

    fn new_command(&mut self) {
        self.redirect = false;
        self.position = Position::Command;
    }

    fn set_case(&mut self, case: Case) {
        if let Some(last) = self.cases.last_mut() {
            *last = case;
        }
    }

    fn in_test(&self) -> bool {
        self.condition.is_some()
    }

    /// The place of a placeholder in the current word.
    fn place(&self, text: &Text, at: usize) -> Place {
        let one = self.redirect
            || self.in_test()
            || matches!(self.cases.last(), Some(Case::Subject | Case::In | Case::Pattern { .. }))
            || self.word.is_some_and(|start| assigned_name(&text.bytes[start..at]).is_some());
        if one { Place::Word } else { Place::Words }
    }

    /// In `a[…]=` bash evaluates the index.
    fn is_number(&self, text: &Text, at: usize) -> bool {
        let word = self.word.map_or(b"".as_slice(), |start| &text.bytes[start..at]);
        let name = name_length(word);
        matches!(self.position, Position::Command | Position::Assigned)
            && name > 0
            && word.get(name) == Some(&b'[')
            && !word.contains(&b']')
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
