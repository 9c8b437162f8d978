//! What a rule is held against: text, as far as it is known before it runs, with holes for the rest; and how much of it a
//! pattern matches. Pure arithmetic on patterns: which rule decides is told by `rule.rs`.

/// A value with holes. A hole may turn out to be any text: none, blanks, several words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Value {
    pieces: Vec<Piece>,
    /// It may also be no more than this: what stands behind it may be no word at all.
    short: Option<Box<Self>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Piece {
    Text(String),
    Hole,
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        let mut value = Self::default();
        value.add(text);
        value
    }
}

impl Value {
    /// Something of which nothing is known.
    pub fn hole() -> Self {
        Self { pieces: vec![Piece::Hole], short: None }
    }

    /// Adds text that is known.
    pub fn add(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Text(last)) => last.push_str(text),
            Some(Piece::Hole) | None => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Adds what is not known.
    pub fn add_hole(&mut self) {
        if self.pieces.last() != Some(&Piece::Hole) {
            self.pieces.push(Piece::Hole);
        }
    }

    /// Adds another value.
    pub fn append(&mut self, other: &Self) {
        for piece in &other.pieces {
            match piece {
                Piece::Text(text) => self.add(text),
                Piece::Hole => self.add_hole(),
            }
        }
    }

    /// The same, which may also be no more than `short`.
    pub fn or_only(self, short: Option<Self>) -> Self {
        Self { short: short.map(Box::new), ..self }
    }

    /// The value at its longest, and the short one that it may also be.
    pub fn lengths(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.short.as_deref())
    }

    /// The text, when there is no hole in it.
    pub fn known(&self) -> Option<&str> {
        match &self.pieces[..] {
            _ if self.short.is_some() => None,
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether nothing at all is known.
    pub fn is_hole(&self) -> bool {
        self.pieces[..] == [Piece::Hole]
    }

    /// The parts between the letters at which it is split; without those that are empty.
    pub fn split(&self, at: impl Fn(char) -> bool) -> Vec<Self> {
        let mut parts = vec![Self::default()];
        for symbol in self.symbols() {
            match symbol {
                Symbol::Letter(letter) if at(letter) => parts.push(Self::default()),
                Symbol::Letter(letter) => {
                    parts.last_mut().into_iter().for_each(|part| part.add(letter.encode_utf8(&mut [0; 4])))
                }
                Symbol::Hole => parts.last_mut().into_iter().for_each(Self::add_hole),
            }
        }
        parts.retain(|part| !part.pieces.is_empty());
        parts
    }

    /// For people: `…` where something is not known.
    pub fn shown(&self) -> String {
        let shown = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Hole => "…".to_owned(),
        };
        self.pieces.iter().map(shown).collect()
    }

    fn symbols(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.pieces.iter().flat_map(|piece| {
            let (letters, hole) = match piece {
                Piece::Text(text) => (text.as_str(), None),
                Piece::Hole => ("", Some(Symbol::Hole)),
            };
            letters.chars().map(Symbol::Letter).chain(hole)
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symbol {
    Letter(char),
    Hole,
}

/// One place of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Letter(char),
    /// `?`
    One,
    /// One blank of any kind.
    Blank,
    /// `*`
    Many,
}

/// A pattern that is ready to be held against values with holes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<Place>);

impl Glob {
    /// `*` is any text, `?` one character.
    pub fn new(pattern: &str) -> Self {
        let place = |letter| match letter {
            '*' => Place::Many,
            '?' => Place::One,
            letter => Place::Letter(letter),
        };
        Self(pattern.chars().map(place).collect())
    }

    /// A word with arguments.
    pub fn word_with_arguments(word: &str) -> Self {
        Self(word.chars().map(Place::Letter).chain([Place::Blank, Place::Many]).collect())
    }

    /// Whether some completion of the value, at its longest, matches. Pattern times value steps.
    pub fn may_match(&self, value: &Value) -> bool {
        let end = self.0.len();
        let mut at = vec![false; end + 1];
        at[0] = true;
        self.skip_many(&mut at);
        for symbol in value.symbols() {
            let mut next = vec![false; end + 1];
            match symbol {
                // It is whatever takes the pattern further.
                Symbol::Hole => {
                    let first = at.iter().position(|is_there| *is_there);
                    next[first.unwrap_or(end + 1)..].fill(true);
                }
                Symbol::Letter(letter) => {
                    for (place, _) in at.iter().enumerate().take(end).filter(|(_, is_there)| **is_there) {
                        match self.0[place] {
                            Place::Many => next[place] = true,
                            wanted if wanted.takes(letter) => next[place + 1] = true,
                            Place::Letter(_) | Place::One | Place::Blank => {}
                        }
                    }
                    self.skip_many(&mut next);
                }
            }
            if !next.contains(&true) {
                return false;
            }
            at = next;
        }
        at[end]
    }

    /// A `*` may stand for nothing.
    fn skip_many(&self, at: &mut [bool]) {
        for (place, wanted) in self.0.iter().enumerate() {
            at[place + 1] |= at[place] && *wanted == Place::Many;
        }
    }

    /// Whether every completion of the value, at its longest, matches. Never wrong where it says so; may miss a pattern that is wide
    /// enough only when several of its parts are taken together.
    pub fn surely_matches(&self, value: &Value) -> bool {
        // `?*` and `*?` mean the same; a hole can be taken by the `*` only, on whichever side it stands.
        [true, false].into_iter().any(|ones_first| self.ordered(ones_first).takes_all(value))
    }

    fn ordered(&self, ones_first: bool) -> Self {
        let mut places = self.0.clone();
        let is_wild = |place: &Place| matches!(place, Place::One | Place::Many);
        for run in places.chunk_by_mut(|a, b| is_wild(a) && is_wild(b)) {
            run.sort_by_key(|place| (*place == Place::Many) == ones_first);
        }
        Self(places)
    }

    /// Goes back to the last `*` only: at most pattern times value steps.
    fn takes_all(&self, value: &Value) -> bool {
        let value: Vec<_> = value.symbols().collect();
        let (mut at, mut from) = (0, 0);
        // Where to go on when what follows the last `*` does not fit: behind it, one symbol later.
        let mut retry = None;
        while from < value.len() {
            match (self.0.get(at), value[from]) {
                (Some(Place::Many), _) => {
                    retry = Some((at + 1, from));
                    at += 1;
                    continue;
                }
                (Some(wanted), Symbol::Letter(letter)) if wanted.takes(letter) => {
                    (at, from) = (at + 1, from + 1);
                    continue;
                }
                (Some(_) | None, _) => {}
            }
            let Some((behind, start)) = retry else { return false };
            (at, from) = (behind, start + 1);
            retry = Some((behind, start + 1));
        }
        self.0[at..].iter().all(|place| *place == Place::Many)
    }
}

impl Place {
    fn takes(self, letter: char) -> bool {
        match self {
            Self::Letter(wanted) => wanted == letter,
            Self::One => true,
            Self::Blank => letter.is_whitespace(),
            Self::Many => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOLE: char = '…';

    /// A value in which `…` is a hole.
    fn value(text: &str) -> Value {
        let mut value = Value::default();
        for letter in text.chars() {
            if letter == HOLE { value.add_hole() } else { value.add(letter.encode_utf8(&mut [0; 4])) }
        }
        value
    }

    #[test]
    fn a_pattern_may_match_when_some_completion_does_and_surely_when_all_do() {
        let t = |pattern: &str, text: &str| {
            let glob = Glob::new(pattern);
            (glob.may_match(&value(text)), glob.surely_matches(&value(text)))
        };
        assert_eq!(t("*secrets*", "nl …rets.txt"), (true, false));
        assert_eq!(t("*secrets*", "nl …x"), (true, false));
        assert_eq!(t("*secrets*", "nl secrets…"), (true, true));
        assert_eq!(t("git push *", "git … x"), (true, false));
        assert_eq!(t("git push *", "git status …"), (false, false));
        assert_eq!(t("git *", "git …"), (true, true));
        assert_eq!(t("*", "…"), (true, true));
        assert_eq!(t("?*", "a…"), (true, true));
        assert_eq!(t("*?", "a…"), (true, true));
        assert_eq!(t("?", "…"), (true, false));
        assert_eq!(t("a*b", "…"), (true, false));
        assert_eq!(t("ab", "a…c"), (false, false));
    }

    /// All texts over a small alphabet, up to a length.
    fn texts(length: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..length {
            last = last.iter().flat_map(|text| ["a", "b", " "].map(|letter| format!("{text}{letter}"))).collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    /// The value with each hole filled by each of the texts.
    fn completions(text: &str, fills: &[String]) -> Vec<String> {
        let mut all = vec![String::new()];
        for letter in text.chars() {
            all = if letter == HOLE {
                all.iter().flat_map(|start| fills.iter().map(move |fill| format!("{start}{fill}"))).collect()
            } else {
                all.into_iter().map(|start| format!("{start}{letter}")).collect()
            };
        }
        all
    }

    fn some(letters: &'static [&'static str], length: usize) -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(letters), 0..length).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn may_and_surely_agree_with_all_completions(
            pattern in some(&["a", "b", " ", "*", "?"], 6),
            text in some(&["a", "b", " ", "…"], 5),
        ) {
            // Longer fills than the pattern's own letters bring nothing new, but for `?` behind `*`.
            let fills = texts(if text.matches(HOLE).count() > 1 { 3 } else { 6 });
            let glob = Glob::new(&pattern);
            let matched = completions(&text, &fills).into_iter().map(|one| glob.surely_matches(&Value::from(one.as_str())));
            let matched: Vec<bool> = matched.collect();
            let known = value(&text);
            if text.matches(HOLE).count() <= 1 {
                prop_assert_eq!(glob.may_match(&known), matched.contains(&true));
            } else if matched.contains(&true) {
                prop_assert!(glob.may_match(&known));
            }
            if glob.surely_matches(&known) {
                prop_assert!(!matched.contains(&false));
            }
        }

        #[test]
        fn making_a_text_less_known_makes_no_match_surer_and_none_impossible(
            pattern in some(&["a", "b", " ", "*", "?"], 8),
            parts in prop::collection::vec((some(&["a", "b", " ", "…"], 4), any::<bool>()), 0..5),
        ) {
            let glob = Glob::new(&pattern);
            let known: String = parts.iter().map(|(text, _)| text.as_str()).collect();
            let less: String = parts.iter().map(|(text, keep)| if *keep { text.as_str() } else { "…" }).collect();
            if glob.surely_matches(&value(&less)) {
                prop_assert!(glob.surely_matches(&value(&known)));
            }
            if glob.may_match(&value(&known)) {
                prop_assert!(glob.may_match(&value(&less)));
            }
        }
    }
}
