//! One word of a shell text: which of it is known before it runs, as text for the rules and as a path.

use crate::gate::value::Value;

/// A word, in pieces. Without any it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// In order.
    pub pieces: Vec<Piece>,
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text that stands for itself.
    Text(String),
    /// What a variable holds, as far as the text itself says: rules do not rely on it.
    Held(String),
    /// The home directory, as it is written.
    Home(String),
    /// The working directory, as it is written.
    Here(String),
    /// A wildcard.
    Wild(String, Found),
    /// One of some words, or several of them: a list in braces, the names that a program lists.
    Choices {
        /// What stands in its place.
        words: Vec<Word>,
        /// Whether it may be none of them.
        may_vanish: bool,
        /// As it is written.
        written: String,
    },
    /// A variable.
    Variable {
        /// Its name.
        name: String,
        /// Whether it stands in quotes, and so adds no words.
        is_quoted: bool,
        /// As it is written.
        written: String,
    },
    /// What is only known when it runs.
    Hole(Hole),
}

/// When the files are found that a wildcard stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Where it stands: it is all of them.
    Here,
    /// Before: it is one of them.
    Before,
    /// Before, and what is found is used without quotes: a name with blanks is several words.
    BeforeAndSplit,
}

/// What is only known when it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// What it may be.
    pub kind: Kind,
    /// Whether it stands in quotes, and so adds no words.
    pub is_quoted: bool,
    /// As it is written.
    pub written: String,
}

/// What may stand in place of a [`Hole`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Any,
    /// A number.
    Number,
    /// Numbers, with blanks between them.
    Numbers,
    /// The name of a commit, or of something in the folder that stands before it: no option, no path that leads elsewhere.
    Name,
    /// The path of an open file.
    Descriptor,
}

/// A path in a shell text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathText {
    /// This one, or below it. `~` at its beginning is the home directory.
    Known(String),
    /// All that its wildcards find.
    Wild {
        /// What it is made of.
        pieces: Vec<PathPiece>,
        /// Whether a name with blanks among them is several words.
        splits: bool,
    },
    /// It cannot be told; as it is written.
    Unknown(String),
}

/// A piece of a path with wildcards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathPiece {
    /// Text that stands for itself.
    Text(String),
    /// `*`, `?` or `[…]`.
    Wild(String),
}

/// More words than this in place of one with braces are not looked at.
const MAX_CHOICES: usize = 64;

impl Word {
    /// A word that stands for itself.
    pub fn literal(text: &str) -> Self {
        Self { pieces: vec![Piece::Text(text.to_owned())] }
    }

    /// A word that is not known before it runs.
    pub fn hole(kind: Kind, is_quoted: bool, written: &str) -> Self {
        Self { pieces: vec![Piece::Hole(Hole { kind, is_quoted, written: written.to_owned() })] }
    }

    /// As it is written, without quotes.
    pub fn shown(&self) -> String {
        self.pieces.iter().map(Piece::shown).collect()
    }

    /// The text, when the word stands for nothing else and nothing more than that.
    pub fn as_literal(&self) -> Option<String> {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            _ => None,
        };
        self.pieces.iter().map(text).collect()
    }

    /// The text that it begins with.
    pub fn start(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text) | Piece::Held(text)) => text,
            _ => "",
        }
    }

    /// Whether it may be no word at all.
    pub fn may_vanish(&self) -> bool {
        !self.pieces.is_empty() && self.pieces.iter().all(Piece::may_vanish)
    }

    /// Whether it may be more than one word.
    pub fn may_split(&self) -> bool {
        self.pieces.iter().any(|piece| piece.may_vanish() || matches!(piece, Piece::Wild(..) | Piece::Choices { .. }))
    }

    /// Whether any text may stand in it.
    pub fn has_any(&self) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Hole(Hole { kind: Kind::Any, .. }) | Piece::Variable { .. }))
    }

    /// Whether it may begin with a `-`, and so be an option. What wildcards find is another question.
    pub fn may_be_option(&self) -> bool {
        let first =
            self.pieces.iter().find(|piece| !matches!(piece, Piece::Text(text) | Piece::Held(text) if text.is_empty()));
        first.is_some_and(|piece| match piece {
            Piece::Text(text) | Piece::Held(text) => text.starts_with('-'),
            Piece::Hole(hole) => hole.kind == Kind::Any,
            Piece::Choices { words, .. } => words.iter().any(Self::may_be_option),
            Piece::Variable { .. } => true,
            Piece::Home(_) | Piece::Here(_) | Piece::Wild(..) => false,
        })
    }

    /// What rules see: a hole for all that is not written.
    pub fn value(&self) -> Value {
        self.seen(|piece| matches!(piece, Piece::Text(_)))
    }

    /// The same, with what variables hold.
    pub fn held(&self) -> Value {
        self.seen(|piece| matches!(piece, Piece::Text(_) | Piece::Held(_)))
    }

    fn seen(&self, is_known: impl Fn(&Piece) -> bool) -> Value {
        let mut value = Value::default();
        for piece in &self.pieces {
            match piece {
                piece if is_known(piece) => value.add(piece.shown()),
                Piece::Home(written) if written == "~" => value.add(written),
                _ => value.add_hole(),
            }
        }
        value
    }

    /// With pieces of text that stand side by side as one.
    pub fn merged(self) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        for piece in self.pieces {
            match (pieces.last_mut(), piece) {
                (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
                (_, piece) => pieces.push(piece),
            }
        }
        Self { pieces }
    }

    /// The paths that it may stand for (P-65).
    pub fn paths(&self) -> Vec<PathText> {
        let unknown = || PathText::Unknown(self.shown());
        let mut paths = vec![Vec::new()];
        for (at, piece) in self.pieces.iter().enumerate() {
            let mut next = Vec::new();
            for start in &paths {
                match piece {
                    Piece::Choices { words, .. } => {
                        for word in words {
                            match word.path_pieces(at == 0) {
                                Some(rest) => next.push([start.as_slice(), &rest].concat()),
                                None => return vec![unknown()],
                            }
                        }
                    }
                    piece => match piece.path_piece(at == 0) {
                        Some(rest) => next.push([start.as_slice(), &[rest]].concat()),
                        None => return vec![unknown()],
                    },
                }
            }
            if next.len() > MAX_CHOICES {
                return vec![unknown()];
            }
            paths = next;
        }
        let splits = self.pieces.iter().any(|piece| matches!(piece, Piece::Wild(_, Found::BeforeAndSplit)));
        paths.into_iter().map(|pieces| PathText::of(pieces, splits)).collect()
    }

    fn path_pieces(&self, is_first: bool) -> Option<Vec<PathPiece>> {
        self.pieces.iter().enumerate().map(|(at, piece)| piece.path_piece(is_first && at == 0)).collect()
    }

    /// What follows behind a byte of its text pieces; `at` counts pieces, then bytes.
    pub fn behind(&self, at: usize, byte: usize) -> Self {
        let rest = match &self.pieces[at] {
            Piece::Text(text) | Piece::Held(text) => text.get(byte..).unwrap_or_default(),
            _ => "",
        };
        let first = (!rest.is_empty()).then(|| Piece::Text(rest.to_owned()));
        Self { pieces: first.into_iter().chain(self.pieces[at + 1..].iter().cloned()).collect() }
    }
}

impl Piece {
    /// As it is written, without quotes.
    pub fn shown(&self) -> &str {
        match self {
            Self::Text(text) | Self::Held(text) | Self::Home(text) | Self::Here(text) | Self::Wild(text, _) => text,
            Self::Choices { written, .. } | Self::Variable { written, .. } => written,
            Self::Hole(hole) => &hole.written,
        }
    }

    /// Whether equal texts stand for the same, as far as the text itself can tell: it is no variable's value.
    pub fn is_same(&self) -> bool {
        match self {
            Self::Variable { .. } => false,
            Self::Hole(hole) => {
                hole.written.starts_with("$(") || hole.written.starts_with('`') || hole.kind == Kind::Number
            }
            Self::Choices { words, .. } => words.iter().all(|word| word.pieces.iter().all(Self::is_same)),
            Self::Text(_) | Self::Home(_) | Self::Here(_) | Self::Wild(..) => true,
            Self::Held(_) => false,
        }
    }

    fn may_vanish(&self) -> bool {
        match self {
            Self::Variable { is_quoted, .. } => !is_quoted,
            Self::Hole(hole) => !hole.is_quoted,
            Self::Choices { may_vanish, .. } => *may_vanish,
            Self::Text(_) | Self::Held(_) | Self::Home(_) | Self::Here(_) | Self::Wild(..) => false,
        }
    }

    /// None: it may be any path.
    fn path_piece(&self, is_first: bool) -> Option<PathPiece> {
        let text = |text: &str| Some(PathPiece::Text(text.to_owned()));
        match self {
            Self::Text(known) | Self::Held(known) => text(known),
            Self::Home(_) => text("~"),
            Self::Here(_) => text(if is_first { "." } else { "/" }),
            Self::Wild(wild, _) => Some(PathPiece::Wild(wild.clone())),
            Self::Hole(hole) => match hole.kind {
                Kind::Number | Kind::Numbers => text("0"),
                Kind::Name => text("…"),
                Kind::Descriptor => text("/dev/fd/0"),
                Kind::Any => None,
            },
            Self::Choices { .. } | Self::Variable { .. } => None,
        }
    }
}

impl PathPiece {
    /// As it is written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) | Self::Wild(text) => text,
        }
    }
}

impl PathText {
    fn of(pieces: Vec<PathPiece>, splits: bool) -> Self {
        if pieces.iter().any(|piece| matches!(piece, PathPiece::Wild(_))) {
            return Self::Wild { pieces, splits };
        }
        Self::Known(pieces.iter().map(PathPiece::as_str).collect())
    }
}

/// Words with single blanks between them, as rules see them. A word that may vanish takes the blank behind it along; those
/// at the end may be gone with the blank before them.
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
