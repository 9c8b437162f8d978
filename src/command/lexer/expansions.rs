//! Reads what starts with `$` or a backquote, and arithmetic.

use super::{Lexer, Mode, Next, Reading, Text};
use crate::command::{CommandError, Place};

impl Lexer<'_> {
    /// What starts with the `$` or the backquote at `at`. A placeholder here stands in `place`.
    pub(super) fn expansion(&mut self, text: &Text, at: usize, end: usize, place: Place, number: bool) -> Next {
        if text.bytes[at] == b'`' {
            return self.backquotes(text, at, end, place);
        }
        if let Some(next) = self.take(text, at, end, place, number)? {
            return Ok(next);
        }
        let bare = matches!(place, Place::Words | Place::Word | Place::DoublePattern);
        match text.at(at + 1, end) {
            Some(b'(') if text.at(at + 2, end) == Some(b'(') && self.is_arithmetic(text, at + 3, end)? => {
                Ok(self.arithmetic(text, at + 3, end, b')', Place::Arithmetic)?.0)
            }
            Some(b'(') => {
                if text.starts_with(at + 2, end, b"\\\n") {
                    self.unclear(text, at, "a line that is continued after `$(`")?;
                }
                let double_parens = self.double_parens;
                self.double_parens |= text.at(at + 2, end) == Some(b'(');
                let next = self.substitution(text, at + 2, end);
                self.double_parens = double_parens;
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
            Some(b'\'') if matches!(place, Place::Double { brace: true } | Place::Heredoc { brace: true }) => {
                self.unclear(text, at, "`$'` in a quoted `${…}`")?;
                Ok(at + 1)
            }
            Some(b'\\') if text.at(at + 2, end) == Some(b'\n') => {
                self.unclear(text, at, "a line that is continued after `$`")?;
                Ok(at + 3)
            }
            // `$$` is the shell's own: in `$${name}` no placeholder starts.
            Some(b'$' | b'#' | b'?' | b'!' | b'-' | b'*' | b'@') => Ok(at + 2),
            _ => Ok(at + 1),
        }
    }

    /// `$(…)`, from after the parenthesis.
    pub(super) fn substitution(&mut self, text: &Text, at: usize, end: usize) -> Next {
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

    /// Whether the two parentheses before `at` are closed by two: else they are a subshell in another.
    pub(super) fn is_arithmetic(&mut self, text: &Text, at: usize, end: usize) -> Result<bool, CommandError> {
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
    pub(super) fn arithmetic(
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

    pub(super) fn quiet_single(&mut self, text: &Text, at: usize, end: usize) -> usize {
        let length = text.bytes[at..end].iter().position(|&byte| byte == b'\'');
        self.cut_off |= length.is_none();
        length.map_or(end, |length| at + length + 1)
    }
}
