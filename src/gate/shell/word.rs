//! One word of a shell text: what it is without its quotes, and whether that can be told.

use tree_sitter::Node;

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
    /// What is put in its place is only known when it runs; as it is written.
    Expansion(String),
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
        Self { pieces: vec![Piece::Expansion("…".to_owned())] }
    }

    /// Reads a node of the syntax tree.
    pub fn read(node: Node, text: &str) -> Self {
        let mut word = Self::default();
        word.add(node, text);
        word
    }

    fn add(&mut self, node: Node, text: &str) {
        let raw = text.get(node.byte_range()).unwrap_or_default();
        match node.kind() {
            "word" | "number" | "extglob_pattern" | "test_operator" | "variable_name" | "file_descriptor"
                if node.named_child_count() == 0 =>
            {
                self.add_bare(raw);
            }
            "raw_string" => self.pieces.push(Piece::Quoted(raw.trim_matches('\'').to_owned())),
            "string" => self.add_string(node, text),
            "concatenation" => self.add_children(node, text, Self::add_bare),
            _ => self.pieces.push(Piece::Expansion(raw.to_owned())),
        }
    }

    /// Children by their own kind, what is between them by `gap`.
    fn add_children(&mut self, node: Node, text: &str, gap: fn(&mut Self, &str)) {
        let mut at = node.start_byte();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.is_named() {
                gap(self, text.get(at..child.start_byte()).unwrap_or_default());
                self.add(child, text);
                at = child.end_byte();
            }
        }
        gap(self, text.get(at..node.end_byte()).unwrap_or_default());
    }

    fn add_string(&mut self, node: Node, text: &str) {
        let (start, end) = (node.start_byte() + 1, node.end_byte().saturating_sub(1).max(node.start_byte() + 1));
        let mut at = start;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.is_named() && child.kind() != "string_content" {
                self.add_quoted(text.get(at..child.start_byte()).unwrap_or_default());
                self.add(child, text);
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
        let is_plain = |piece: &Piece| match piece {
            Piece::Quoted(_) => true,
            Piece::Bare(text) => !text.contains(['*', '?', '[', '{', '}']),
            Piece::Expansion(_) => false,
        };
        self.pieces.iter().all(is_plain).then(|| self.text())
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
                Piece::Expansion(text) if at == 0 => match text.as_str() {
                    "$HOME" | "${HOME}" => path.push('~'),
                    "$PWD" | "${PWD}" => path.push('.'),
                    _ => return None,
                },
                Piece::Expansion(_) => return None,
            }
        }
        Some(path)
    }
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
            Self::Quoted(text) | Self::Bare(text) | Self::Expansion(text) => text,
        }
    }
}
