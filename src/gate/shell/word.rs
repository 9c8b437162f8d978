//! One word of a shell text: what it is without its quotes, and whether that can be told.

use tree_sitter::Node;

use crate::gate::value::Value;

/// A word, in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// Text that stands for itself.
    Quoted(String),
    /// Text in which blanks, wildcards, braces and `~` mean something.
    Bare(String),
    /// What is put in its place is only known when it runs; as it is written. Without quotes it may be no word, or
    /// several.
    Expansion { text: String, is_quoted: bool },
    /// Some path in a folder, or the folder, which another program puts here.
    Below(String),
}

/// A path in a shell text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathText {
    /// This one, or below it. `~`, `$HOME` and `$PWD` at its beginning stand as `~` and `.`.
    Known(String),
    /// It cannot be told; as it is written.
    Unknown(String),
}

impl Word {
    /// A word that is not known before it runs.
    pub fn unknown() -> Self {
        Self { pieces: vec![Piece::Expansion { text: "…".to_owned(), is_quoted: false }] }
    }

    /// A word that stands for itself.
    pub fn literal(text: &str) -> Self {
        Self { pieces: vec![Piece::Quoted(text.to_owned())] }
    }

    /// Any path in the working folder.
    pub fn here() -> Self {
        Self { pieces: vec![Piece::Below(".".to_owned())] }
    }

    /// Any path in a folder, or the folder itself. None: the folder is not known.
    pub fn below(&self) -> Option<Self> {
        match self.path() {
            PathText::Known(path) => Some(Self { pieces: vec![Piece::Below(path)] }),
            PathText::Unknown(_) => None,
        }
    }

    /// Reads a node of the syntax tree.
    pub fn read(node: Node, text: &str) -> Self {
        let mut word = Self::default();
        word.add(node, text, false);
        word
    }

    fn add(&mut self, node: Node, text: &str, is_quoted: bool) {
        let raw = text.get(node.byte_range()).unwrap_or_default();
        match node.kind() {
            "word" | "number" | "extglob_pattern" | "test_operator" | "variable_name" | "file_descriptor"
                if node.named_child_count() == 0 =>
            {
                self.add_bare(raw);
            }
            "raw_string" => self.pieces.push(Piece::Quoted(raw.trim_matches('\'').to_owned())),
            "string" => self.add_string(node, text),
            "ansi_c_string" => match decode(raw) {
                Some(decoded) => self.pieces.push(Piece::Quoted(decoded)),
                None => self.pieces.push(Piece::Expansion { text: raw.to_owned(), is_quoted: true }),
            },
            "concatenation" => self.add_children(node, text),
            _ => self.pieces.push(Piece::Expansion { text: raw.to_owned(), is_quoted }),
        }
    }

    /// Children by their own kind; what is between them is without quotes.
    fn add_children(&mut self, node: Node, text: &str) {
        let mut at = node.start_byte();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.is_named() {
                self.add_bare(text.get(at..child.start_byte()).unwrap_or_default());
                self.add(child, text, false);
                at = child.end_byte();
            }
        }
        self.add_bare(text.get(at..node.end_byte()).unwrap_or_default());
    }

    fn add_string(&mut self, node: Node, text: &str) {
        let (start, end) = (node.start_byte() + 1, node.end_byte().saturating_sub(1).max(node.start_byte() + 1));
        let mut at = start;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.is_named() && child.kind() != "string_content" {
                self.add_quoted(text.get(at..child.start_byte()).unwrap_or_default());
                self.add(child, text, true);
                at = child.end_byte();
            }
        }
        self.add_quoted(text.get(at..end).unwrap_or_default());
        if self.pieces.is_empty() {
            self.pieces.push(Piece::Quoted(String::new()));
        }
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
        if !result.is_empty() {
            self.pieces.push(Piece::Quoted(result));
        }
    }

    /// Text without quotes; what is escaped stands for itself.
    fn add_bare(&mut self, raw: &str) {
        let mut bare = String::new();
        let mut letters = raw.chars();
        while let Some(letter) = letters.next() {
            if letter != '\\' {
                bare.push(letter);
                continue;
            }
            if !bare.is_empty() {
                self.pieces.push(Piece::Bare(std::mem::take(&mut bare)));
            }
            match letters.next() {
                Some('\n') => {}
                Some(next) => self.pieces.push(Piece::Quoted(next.to_string())),
                None => self.pieces.push(Piece::Quoted("\\".to_owned())),
            }
        }
        if !bare.is_empty() {
            self.pieces.push(Piece::Bare(bare));
        }
    }

    /// Without quotes; expansions as they are written.
    pub fn text(&self) -> String {
        self.pieces.iter().map(Piece::as_str).collect()
    }

    /// The text, when the word stands for nothing else and nothing more than that.
    pub fn as_literal(&self) -> Option<String> {
        let is_plain = |(at, piece): (usize, &Piece)| match piece {
            Piece::Quoted(_) => true,
            Piece::Bare(text) => !text.contains(['*', '?', '[', '{', '}']) && (at > 0 || !text.starts_with('~')),
            Piece::Expansion { .. } | Piece::Below(_) => false,
        };
        self.pieces.iter().enumerate().all(is_plain).then(|| self.text())
    }

    /// The word as far as it is known: with a hole for each expansion, wildcard and list in braces.
    pub fn value(&self) -> Value {
        let mut letters: Vec<(char, bool)> = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Quoted(text) => letters.extend(text.chars().map(|letter| (letter, false))),
                Piece::Bare(text) => letters.extend(text.chars().map(|letter| (letter, true))),
                Piece::Expansion { .. } | Piece::Below(_) => letters.push((HOLE, true)),
            }
        }
        let mut value = Value::default();
        let mut at = 0;
        if let [('~', true), rest @ ..] = &letters[..]
            && !matches!(rest, [] | [('/', _), ..])
        {
            // Somebody's home, the folder before, a number of the list of folders.
            value.add_hole();
            at = 1 + rest.iter().take_while(|(letter, _)| *letter != '/').count();
        }
        while let Some((letter, is_bare)) = letters.get(at).copied() {
            at += 1;
            match (letter, is_bare) {
                (HOLE | '*' | '?', true) => value.add_hole(),
                ('[', true) => match letters[at..].iter().position(|letter| *letter == (']', true)) {
                    Some(length) => (value.add_hole(), at += length + 1).0,
                    None => value.add("["),
                },
                ('{', true) if is_list(&letters[at..]) => {
                    value.add_hole();
                    let last = letters.iter().rposition(|letter| *letter == ('}', true));
                    at = last.map_or(letters.len(), |last| last + 1);
                }
                // The list of alternatives of an extended wildcard.
                ('(', true) => {
                    value.add_hole();
                    at = letters.len();
                }
                (letter, _) => value.add(letter.encode_utf8(&mut [0; 4])),
            }
        }
        value
    }

    /// Whether it may be no word at all, or several.
    fn may_vanish(&self) -> bool {
        let is_loose = |piece: &Piece| match piece {
            Piece::Expansion { text, is_quoted } => !is_quoted || text.contains('@'),
            Piece::Bare(text) => text.starts_with('{'),
            Piece::Quoted(_) | Piece::Below(_) => false,
        };
        !self.pieces.is_empty() && self.value().is_hole() && self.pieces.iter().all(is_loose)
    }

    /// As a path (P-65).
    pub fn path(&self) -> PathText {
        self.known_path().map_or_else(|| PathText::Unknown(self.text()), PathText::Known)
    }

    fn known_path(&self) -> Option<String> {
        let mut path = String::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Quoted(text) => {
                    // A `~` in quotes is a file of that name.
                    let is_tilde = path.is_empty() && text.starts_with('~');
                    path.push_str(if is_tilde { "./" } else { "" });
                    path.push_str(text);
                }
                Piece::Bare(text) => {
                    if text.starts_with('~') && at == 0 && !is_own_home(text, self.pieces.len() == 1) {
                        return None;
                    }
                    if text.contains(['{', '}']) {
                        return None;
                    }
                    if let Some(wild) = text.find(['*', '?', '[']) {
                        path.push_str(&text[..wild]);
                        let rest: String =
                            text[wild..].to_owned() + &Self { pieces: self.pieces[at + 1..].to_vec() }.text();
                        return cut_at_wildcard(path, &rest);
                    }
                    path.push_str(text);
                }
                Piece::Expansion { text, .. } if at == 0 => match text.as_str() {
                    "$HOME" | "${HOME}" => path.push('~'),
                    "$PWD" | "${PWD}" => path.push('.'),
                    _ => return None,
                },
                Piece::Below(text) => path.push_str(text),
                Piece::Expansion { .. } => return None,
            }
        }
        Some(path)
    }
}

/// Stands in a list of letters for what is not known: no text that a shell takes holds it.
const HOLE: char = '\0';

/// Words with single blanks between them, as far as they are known. A word that may vanish takes the blank behind it
/// along; those at the end may be gone with the blank before them.
pub fn joined(words: &[Word]) -> Value {
    let kept = words.len() - words.iter().rev().take_while(|word| word.may_vanish()).count();
    let short = (kept < words.len() && kept > 0).then(|| with_blanks(&words[..kept]));
    with_blanks(words).or_only(short)
}

fn with_blanks(words: &[Word]) -> Value {
    let mut value = Value::default();
    let mut is_first = true;
    for word in words {
        if !std::mem::replace(&mut is_first, false) {
            value.add(" ");
        }
        value.append(&word.value());
        is_first = word.may_vanish();
    }
    value
}

/// Whether what stands behind a `{` makes it a list or a row.
fn is_list(rest: &[(char, bool)]) -> bool {
    let Some(end) = rest.iter().rposition(|letter| *letter == ('}', true)) else { return false };
    let is_row = |pair: &[(char, bool)]| pair[0].0 == '.' && pair[1].0 == '.';
    rest[..end].contains(&(',', true)) || rest[..end].windows(2).any(is_row)
}

/// The text of `$'…'`. None: it holds something that shells read differently.
fn decode(raw: &str) -> Option<String> {
    let inner = raw.strip_prefix("$'")?.strip_suffix('\'')?.as_bytes();
    let mut bytes = Vec::with_capacity(inner.len());
    let mut at = 0;
    while let Some(&byte) = inner.get(at) {
        at += 1;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let escaped = *inner.get(at)?;
        at += 1;
        let (first, radix, most) = match escaped {
            b'0'..=b'7' => (at - 1, 8, 3),
            b'x' => (at, 16, 2),
            b'u' => (at, 16, 4),
            b'U' => (at, 16, 8),
            _ => (at, 10, 0),
        };
        if most > 0 {
            let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
            at = first + inner[first..].iter().take(most).take_while(is_digit).count();
        }
        let number = || u32::from_str_radix(std::str::from_utf8(&inner[first..at]).ok()?, radix).ok();
        match escaped {
            b'a' => bytes.push(7),
            b'b' => bytes.push(8),
            b'e' | b'E' => bytes.push(27),
            b'f' => bytes.push(12),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'v' => bytes.push(11),
            b'\\' | b'\'' | b'"' | b'?' => bytes.push(escaped),
            b'0'..=b'7' | b'x' => bytes.push(u8::try_from(number()?).ok()?),
            b'u' | b'U' => {
                let letter = char::from_u32(number()?)?;
                bytes.extend(letter.encode_utf8(&mut [0; 4]).bytes());
            }
            _ => return None,
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// `~` and `~/…`, not `~somebody`.
fn is_own_home(text: &str, is_all: bool) -> bool {
    text.starts_with("~/") || (text == "~" && is_all)
}

/// The folder in which a wildcard looks. None: what it finds may be elsewhere.
fn cut_at_wildcard(mut path: String, rest: &str) -> Option<String> {
    let folder = path.rfind('/').map_or(0, |at| at + 1);
    // `.*` may find `..`, and a `..` behind a wildcard goes up from wherever that is.
    if path[folder..].starts_with('.') || rest.split('/').any(|part| part == ".." || part.contains('$')) {
        return None;
    }
    path.truncate(folder);
    Some(if path.is_empty() { "./".to_owned() } else { path })
}

impl Piece {
    fn as_str(&self) -> &str {
        match self {
            Self::Quoted(text) | Self::Bare(text) | Self::Expansion { text, .. } | Self::Below(text) => text,
        }
    }
}
