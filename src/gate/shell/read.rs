//! Reads words from the syntax tree: takes quotes away, and finds what in a word is not known.

use std::iter::Peekable;
use std::str::Chars;

use tree_sitter::Node;

use super::printed::{Printed, prints};
use super::tree::raw;
use super::word::{Found, Hole, Kind, Piece, Word};

/// Reads a word.
pub fn word(node: Node, text: &str) -> Word {
    let mut reader = Reader { text, pieces: Vec::new() };
    reader.add(node);
    reader.finish()
}

/// A piece while its word is read: braces are only understood when the word is whole.
enum Part {
    Piece(Piece),
    /// A brace, a bracket or a comma without quotes, which may be a part of a list or of a wildcard.
    Mark(char),
}

struct Reader<'t> {
    text: &'t str,
    pieces: Vec<Part>,
}

impl<'t> Reader<'t> {
    fn raw(&self, node: Node) -> &'t str {
        raw(node, self.text)
    }

    fn push_text(&mut self, text: &str) {
        if let Some(Part::Piece(Piece::Text(last))) = self.pieces.last_mut() {
            last.push_str(text);
        } else {
            self.pieces.push(Part::Piece(Piece::Text(text.to_owned())));
        }
    }

    fn push(&mut self, piece: Piece) {
        self.pieces.push(Part::Piece(piece));
    }

    fn add(&mut self, node: Node) {
        let raw = self.raw(node);
        match node.kind() {
            "word" | "number" | "extglob_pattern" | "test_operator" | "variable_name" | "file_descriptor" | "regex"
                if node.named_child_count() == 0 =>
            {
                self.add_bare(raw);
            }
            "raw_string" => {
                self.push_text(raw.strip_prefix('\'').and_then(|raw| raw.strip_suffix('\'')).unwrap_or(raw))
            }
            "ansi_c_string" => match decode(raw) {
                Some(text) => self.push_text(&text),
                None => self.add_hole(Kind::Any, true, raw),
            },
            "string" => self.add_string(node),
            "concatenation" => self.add_children(node),
            "brace_expression" => self.add_bare(raw),
            _ => self.add_expansion(node, false),
        }
    }

    fn add_hole(&mut self, kind: Kind, is_quoted: bool, written: &str) {
        self.push(Piece::Hole(Hole { kind, is_quoted, written: written.to_owned() }));
    }

    fn add_expansion(&mut self, node: Node, is_quoted: bool) {
        let raw = self.raw(node);
        match node.kind() {
            "simple_expansion" => self.add_parameter(raw.trim_start_matches('$'), is_quoted, raw),
            "expansion" => match raw.strip_prefix("${").and_then(|raw| raw.strip_suffix('}')) {
                Some(inside) => self.add_parameter(inside, is_quoted, raw),
                None => self.add_hole(Kind::Any, is_quoted, raw),
            },
            "arithmetic_expansion" => self.add_hole(Kind::Number, is_quoted, raw),
            "process_substitution" => self.add_hole(Kind::Descriptor, true, raw),
            "command_substitution" => match printed(node, self.text) {
                Printed::Folder => self.push(Piece::Here(raw.to_owned())),
                Printed::Number => self.add_hole(Kind::Number, is_quoted, raw),
                Printed::Numbers => self.add_hole(Kind::Numbers, is_quoted, raw),
                Printed::Name => self.add_hole(Kind::Name, is_quoted, raw),
                Printed::Names(words) if !is_quoted => {
                    self.push(Piece::Choices { words, may_vanish: true, written: raw.to_owned() });
                }
                Printed::Names(_) | Printed::Any => self.add_hole(Kind::Any, is_quoted, raw),
            },
            _ => self.add_hole(Kind::Any, is_quoted, raw),
        }
    }

    /// What stands behind the `$`, without braces.
    fn add_parameter(&mut self, inside: &str, is_quoted: bool, written: &str) {
        let name = inside.strip_suffix('?').or_else(|| inside.split_once(":?").map(|(name, _)| name)).unwrap_or(inside);
        if matches!(inside, "?" | "#" | "$" | "!") || (inside.starts_with('#') && is_name(&inside[1..])) {
            self.add_hole(Kind::Number, is_quoted, written);
        } else if is_name(name) {
            let (name, written) = (name.to_owned(), written.to_owned());
            self.push(Piece::Variable { name, is_quoted, written });
        } else {
            // Arrays and the parameters themselves may be no word at all, in quotes too.
            let is_list = inside.contains('@');
            self.add_hole(Kind::Any, is_quoted && !is_list, written);
        }
    }

    /// Children by their own kind, what is between them as text without quotes.
    fn add_children(&mut self, node: Node) {
        let mut at = node.start_byte();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor).filter(Node::is_named) {
            // The grammar cuts plain text into words that a shell does not know.
            if matches!(child.kind(), "word" | "number" | "extglob_pattern") && child.named_child_count() == 0 {
                continue;
            }
            self.add_bare(self.text.get(at..child.start_byte()).unwrap_or_default());
            self.add(child);
            at = child.end_byte();
        }
        self.add_bare(self.text.get(at..node.end_byte()).unwrap_or_default());
    }

    fn add_string(&mut self, node: Node) {
        // `$"…"` is the same, but for a `$` that some shells leave.
        let sign = usize::from(self.raw(node).starts_with('$')) + 1;
        let start = node.start_byte() + sign;
        let end = node.end_byte().saturating_sub(1).max(start);
        let mut at = start;
        let mut cursor = node.walk();
        self.push_text("");
        for child in node.children(&mut cursor).filter(|child| child.is_named() && child.kind() != "string_content") {
            self.add_quoted(self.text.get(at..child.start_byte()).unwrap_or_default());
            self.add_expansion(child, true);
            at = child.end_byte();
        }
        self.add_quoted(self.text.get(at..end).unwrap_or_default());
    }

    /// Text inside of double quotes.
    fn add_quoted(&mut self, raw: &str) {
        let mut result = String::with_capacity(raw.len());
        let mut letters = raw.chars();
        while let Some(letter) = letters.next() {
            if letter != '\\' {
                result.push(letter);
                continue;
            }
            match letters.next() {
                Some(next @ ('$' | '`' | '"' | '\\')) => result.push(next),
                Some('\n') => {}
                Some(next) => result.extend(['\\', next]),
                None => result.push('\\'),
            }
        }
        self.push_text(&result);
    }

    /// Text without quotes; what is escaped stands for itself.
    fn add_bare(&mut self, raw: &str) {
        let mut rest = raw;
        if self.pieces.is_empty() && rest.starts_with('~') {
            let end = rest.find('/').unwrap_or(rest.len());
            match &rest[..end] {
                "~" => self.push(Piece::Home("~".to_owned())),
                other => self.add_hole(Kind::Any, true, other),
            }
            rest = &rest[end..];
        }
        while let Some(letter) = rest.chars().next() {
            let mut length = letter.len_utf8();
            match letter {
                '\\' => {
                    let next = rest[1..].chars().next();
                    length += next.map_or(0, char::len_utf8);
                    if next != Some('\n') {
                        self.push_text(if next.is_some() { &rest[1..length] } else { "\\" });
                    }
                }
                '*' | '?' => self.push(Piece::Wild(letter.to_string(), Found::Here)),
                '[' if set(rest).is_some() => {
                    let set = set(rest).unwrap_or_default();
                    length = set.len();
                    self.push(Piece::Wild(set.to_owned(), Found::Here));
                }
                // The list of alternatives of an extended wildcard.
                '(' => {
                    self.add_hole(Kind::Any, true, rest);
                    length = rest.len();
                }
                '{' | '}' | ',' | '[' | ']' => self.pieces.push(Part::Mark(letter)),
                _ => self.push_text(&rest[..length]),
            }
            rest = &rest[length..];
        }
    }

    fn finish(mut self) -> Word {
        // What stands in brackets may be quoted, and still is one character that a wildcard finds.
        let mark = |letter: char| move |part: &Part| matches!(part, Part::Mark(mark) if *mark == letter);
        while let Some(open) = self.pieces.iter().position(mark('['))
            && let Some(length) = self.pieces[open..].iter().position(mark(']'))
        {
            let written = self.pieces[open..=open + length].iter().map(Part::shown).collect();
            let wild = Part::Piece(Piece::Wild(written, Found::Here));
            self.pieces.splice(open..=open + length, [wild]);
        }
        let is_empty = |part: &Part| matches!(part, Part::Piece(Piece::Text(text)) if text.is_empty());
        if !self.pieces.iter().all(is_empty) {
            self.pieces.retain(|part| !is_empty(part));
        }
        let word = |parts: &[Part]| Word { pieces: joined(parts) };
        let Some((open, close)) = braces(&self.pieces) else { return word(&self.pieces) };
        let inside = &self.pieces[open + 1..close];
        let written: String = self.pieces[open..=close].iter().map(Part::shown).collect();
        let words = sequence(&written).unwrap_or_else(|| {
            let mut words = vec![word(&self.pieces[open..=close])]; // for shells to which it is text
            words.extend(inside.split(|part| matches!(part, Part::Mark(','))).map(word));
            words
        });
        let mut pieces = joined(&self.pieces[..open]);
        pieces.push(Piece::Choices { words, may_vanish: false, written });
        // A second list is one too many to tell.
        let rest = &self.pieces[close + 1..];
        match braces(rest) {
            None => pieces.extend(joined(rest)),
            Some(_) => {
                let written = rest.iter().map(Part::shown).collect();
                pieces.push(Piece::Hole(Hole { kind: Kind::Any, is_quoted: true, written }));
            }
        }
        Word { pieces }
    }
}

impl Part {
    fn shown(&self) -> String {
        match self {
            Self::Piece(piece) => piece.shown().to_owned(),
            Self::Mark(letter) => letter.to_string(),
        }
    }
}

/// Pieces, with marks that are no list as the text that they are.
fn joined(parts: &[Part]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for part in parts {
        let text = match part {
            Part::Piece(Piece::Text(text)) => text.clone(),
            Part::Mark(letter) => letter.to_string(),
            Part::Piece(piece) => {
                pieces.push(piece.clone());
                continue;
            }
        };
        match pieces.last_mut() {
            Some(Piece::Text(last)) => last.push_str(&text),
            _ => pieces.push(Piece::Text(text)),
        }
    }
    pieces
}

/// The first `{` that begins a list, and its `}`.
fn braces(parts: &[Part]) -> Option<(usize, usize)> {
    let mark = |at: usize, letter: char| matches!(&parts[at], Part::Mark(mark) if *mark == letter);
    for open in (0..parts.len()).filter(|at| mark(*at, '{')) {
        let (mut depth, mut has_comma) = (0, false);
        for at in open..parts.len() {
            depth += usize::from(mark(at, '{'));
            has_comma |= depth == 1 && mark(at, ',');
            depth -= usize::from(mark(at, '}'));
            if depth == 0 {
                let is_range = parts[open..at].iter().any(|part| part.shown().contains(".."));
                if has_comma || is_range {
                    return Some((open, at));
                }
                break;
            }
        }
    }
    None
}

/// The words of `{1..5}` and `{a..e}`, and the text for shells to which it is that. None: it is a list of another kind.
fn sequence(written: &str) -> Option<Vec<Word>> {
    let inside = written.strip_prefix('{')?.strip_suffix('}')?;
    let (first, last) = inside.split_once("..")?;
    let is_number = |text: &str| text.split("..").all(|number| number.parse::<i32>().is_ok());
    let is_letter = |text: &str| text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let text = Word::literal(written);
    if is_number(first) && is_number(last) {
        return Some(vec![text, Word::hole(Kind::Number, true, written)]);
    }
    if is_letter(first) && is_letter(last) {
        let (from, until) = (first.bytes().next()?, last.bytes().next()?);
        let letters = from.min(until)..=from.max(until);
        return Some(
            [text].into_iter().chain(letters.map(|letter| Word::literal(&char::from(letter).to_string()))).collect(),
        );
    }
    None
}

/// A text in which only wildcards mean something.
pub fn wildcards(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['*', '?', '[']) {
        let wild = set(&rest[at..]).unwrap_or(&rest[at..=at]);
        pieces.push(Piece::Text(rest[..at].to_owned()));
        pieces.push(if wild == "[" { Piece::Text(wild.to_owned()) } else { Piece::Wild(wild.to_owned(), Found::Here) });
        rest = &rest[at + wild.len()..];
    }
    pieces.push(Piece::Text(rest.to_owned()));
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    pieces
}

/// A `[…]` at the beginning of a text.
fn set(text: &str) -> Option<&str> {
    let skipped = text.strip_prefix('[')?.trim_start_matches(['!', '^']);
    let skipped = skipped.strip_prefix(']').unwrap_or(skipped);
    let end = skipped.find(|letter: char| letter == ']' || letter.is_whitespace())?;
    skipped[end..].starts_with(']').then(|| &text[..text.len() - skipped.len() + end + 1])
}

/// Whether a text is the name of a variable.
pub fn is_name(text: &str) -> bool {
    let is_letter = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    !text.is_empty() && text.chars().all(is_letter) && !text.starts_with(|letter: char| letter.is_ascii_digit())
}

/// The text of `$'…'`. None: it holds what shells make different things of.
fn decode(raw: &str) -> Option<String> {
    let inside = raw.strip_prefix("$'")?.strip_suffix('\'')?;
    let mut bytes = Vec::with_capacity(inside.len());
    let mut letters = inside.chars().peekable();
    let mut push = |letter: char| bytes.extend(letter.encode_utf8(&mut [0; 4]).bytes());
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            push(letter);
            continue;
        }
        // What is no ASCII is a byte, and a part of a character.
        let ascii = |value: u32| u8::try_from(value).ok().filter(u8::is_ascii).map(char::from);
        let decoded = match letters.next()? {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            own @ ('\\' | '\'' | '"' | '?') => own,
            'x' => ascii(digits(&mut letters, "", 16, 2)?)?,
            'u' => char::from_u32(digits(&mut letters, "", 16, 4)?)?,
            'U' => char::from_u32(digits(&mut letters, "", 16, 8)?)?,
            first @ '0'..='7' => ascii(digits(&mut letters, &first.to_string(), 8, 3)?)?,
            _ => return None,
        };
        if decoded == '\0' {
            return None;
        }
        push(decoded);
    }
    String::from_utf8(bytes).ok()
}

/// Reads a number of at most so many digits, of which the first may have been read.
fn digits(letters: &mut Peekable<Chars>, first: &str, base: u32, most: usize) -> Option<u32> {
    let mut digits = first.to_owned();
    while digits.len() < most {
        match letters.next_if(|letter| letter.is_digit(base)) {
            Some(letter) => digits.push(letter),
            None => break,
        }
    }
    u32::from_str_radix(&digits, base).ok()
}

/// What is known of what a substitution prints.
fn printed(node: Node, text: &str) -> Printed {
    let mut cursor = node.walk();
    let statements: Vec<_> = node.named_children(&mut cursor).collect();
    match &statements[..] {
        [pipeline] if pipeline.kind() == "pipeline" => {
            let mut cursor = pipeline.walk();
            let stages: Vec<_> = pipeline.named_children(&mut cursor).collect();
            prints_of(&stages, text)
        }
        [_] => prints_of(&statements, text),
        _ => Printed::Any,
    }
}

/// What is known of what the last of some commands in a pipeline prints.
pub fn prints_of(stages: &[Node], text: &str) -> Printed {
    let stages: Option<Vec<_>> = stages.iter().map(|stage| simple_words(*stage, text)).collect();
    stages.map_or(Printed::Any, |stages| prints(&stages))
}

/// The words of a simple command that sets no variable.
fn simple_words(node: Node, text: &str) -> Option<Vec<Word>> {
    let body = (node.kind() == "redirected_statement").then(|| node.child_by_field_name("body"));
    let command = body.map_or(Some(node), |body| body)?;
    if command.kind() != "command" {
        return None;
    }
    let mut cursor = command.walk();
    let mut words = Vec::new();
    for child in command.named_children(&mut cursor) {
        match child.kind() {
            "command_name" => words.push(word(child.child(0)?, text)),
            "file_redirect" | "herestring_redirect" | "comment" => {}
            "variable_assignment" => return None,
            _ => words.push(word(child, text)),
        }
    }
    Some(words)
}
