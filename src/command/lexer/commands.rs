//! Reads commands: words, operators, redirections and the keywords that matter for where a `)` or a word belongs.

use super::{Lexer, Mode, Next, Text, assigned_name, name_length};
use crate::command::Place;

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

impl Lexer<'_> {
    /// Reads commands until `close` (consumed) or `end`.
    pub(super) fn commands(&mut self, text: &Text, at: usize, end: usize, close: Option<u8>, mode: Mode) -> Next {
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
        if text.starts_with(at + 1, end, b"\\\n") {
            self.unclear(text, at, "a line that is continued after `(`")?;
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
            let double_parens = self.double_parens;
            self.double_parens |= text.at(at + 1, end) == Some(b'(');
            let next = self.commands(text, at + 1, end, Some(b')'), mode);
            self.double_parens = double_parens;
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
