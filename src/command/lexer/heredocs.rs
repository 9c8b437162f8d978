//! Reads here-documents: their delimiters, how far their bodies go, and what is in them.

use super::{Body, Lexer, Next, Text};
use crate::command::{CommandError, Place};

/// A here-document whose body starts after the next newline.
pub(super) struct Heredoc {
    delimiter: Vec<u8>,
    quoted: bool,
    strip_tabs: bool,
}

impl Lexer<'_> {
    /// The delimiter after `<<`: any quote in it means that the shell replaces nothing in the body.
    pub(super) fn delimiter(&mut self, text: &Text, mut at: usize, end: usize, strip_tabs: bool) -> Next {
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
        if self.double_parens {
            self.unclear(text, start, "a here-document in `((…) …)`: put a space between the parentheses")?;
        }
        if at > start {
            self.pending.push(Heredoc { delimiter, quoted, strip_tabs });
        }
        Ok(at)
    }

    /// The bodies of the here-documents that wait for the newline before `at`.
    pub(super) fn bodies(&mut self, text: &Text, mut at: usize, end: usize, close: Option<u8>) -> Next {
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
