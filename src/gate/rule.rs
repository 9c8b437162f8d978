//! Permission rules: patterns, the layers they come from, and which of them decides on a value. What values a call has is
//! told by `shell.rs`, `path.rs` and the tools; how verdicts combine over a whole call by `gate.rs`.

use std::fmt;
use std::sync::Arc;

use super::unknown::Unknown;
use super::value::{Glob, Value};

/// What a rule says. Combined by `max`: the strictest wins (P-41).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// It runs.
    Allow,
    /// The user is asked.
    Ask,
    /// It does not run, whatever was approved.
    Deny,
}

impl Action {
    /// The action of a word in a configuration.
    pub fn read(word: &str) -> Option<Self> {
        match word {
            "allow" => Some(Self::Allow),
            "ask" => Some(Self::Ask),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }

    /// The word in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A pattern of a rule: `*` is any run of characters, `?` one character, all else stands for itself (P-36).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    /// With the home directory in place of `~` or `$HOME`.
    expanded: Option<String>,
}

impl Pattern {
    /// A pattern for keys: nothing is expanded.
    pub fn key(text: &str) -> Self {
        Self { text: text.to_owned(), expanded: None }
    }

    /// A pattern for values. `~` and `$HOME` at its beginning are the home directory (P-37).
    pub fn value(text: &str, home: &str) -> Self {
        let rest = ["~", "$HOME"].iter().find_map(|sign| text.strip_prefix(sign));
        let is_home = |rest: &&str| rest.is_empty() || rest.starts_with('/');
        let expanded = rest.filter(is_home).map(|rest| format!("{}{rest}", home.trim_end_matches('/')));
        Self { text: text.to_owned(), expanded }
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is nothing but `*`.
    pub fn is_any(&self) -> bool {
        !self.text.is_empty() && self.text.bytes().all(|byte| byte == b'*')
    }

    /// Whether it matches a whole value, for a rule with this action: a word that denies or asks means the word with
    /// arguments as well, a word that allows does not (P-36, R008).
    pub fn matches(&self, value: &str, action: Action) -> bool {
        let one = |pattern: &str| {
            wildcard(pattern, value)
                || pattern.strip_suffix(" *").is_some_and(|bare| wildcard(bare, value))
                || (action > Action::Allow && is_word(pattern) && starts_with_word(value, pattern))
        };
        one(&self.text) || self.expanded.as_deref().is_some_and(one)
    }

    /// How surely it matches a value that may not be known wholly.
    pub fn fit(&self, value: &Value, action: Action) -> Fit {
        if let Some(known) = value.known() {
            return if self.matches(known, action) { Fit::Surely } else { Fit::Never };
        }
        let globs = |text: &String| {
            let bare = text.strip_suffix(" *").map(Glob::new);
            let arguments = (action > Action::Allow && is_word(text)).then(|| Glob::word_with_arguments(text));
            [Some(Glob::new(text)), bare, arguments].into_iter().flatten()
        };
        let globs: Vec<_> = std::iter::once(&self.text).chain(&self.expanded).flat_map(globs).collect();
        if value.lengths().all(|value| globs.iter().any(|glob| glob.surely_matches(value))) {
            Fit::Surely
        } else if value.lengths().any(|value| globs.iter().any(|glob| glob.may_match(value))) {
            Fit::Maybe
        } else {
            Fit::Never
        }
    }

    /// Whether every value that `other` matches is matched by this one too. May miss some, is never wrong.
    fn covers(&self, other: &Self, action: Action, other_action: Action) -> bool {
        let value = |text: &str| {
            let mut value = Value::default();
            for letter in text.chars() {
                match letter {
                    '*' => value.add_hole(),
                    // Stands for a letter that no pattern spells out.
                    '?' => value.add("\u{f8ff}"),
                    letter => value.add(letter.encode_utf8(&mut [0; 4])),
                }
            }
            value
        };
        let bare = other.text.strip_suffix(" *").map(value);
        let with_arguments =
            (other_action > Action::Allow && is_word(&other.text)).then(|| value(&format!("{} *", other.text)));
        let values = [Some(value(&other.text)), bare, with_arguments];
        values.into_iter().flatten().all(|value| self.fit(&value, action) == Fit::Surely)
    }
}

/// How surely a pattern matches a value with holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// No completion of the value.
    Never,
    /// Some completions.
    Maybe,
    /// All of them.
    Surely,
}

fn is_word(pattern: &str) -> bool {
    !pattern.is_empty() && !pattern.contains(|letter: char| letter.is_whitespace() || letter == '*' || letter == '?')
}

fn starts_with_word(value: &str, word: &str) -> bool {
    value.strip_prefix(word).is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// Whether a pattern matches the whole value. Goes back to the last `*` only: at most pattern times value steps.
fn wildcard(pattern: &str, value: &str) -> bool {
    let (pattern, value) = (pattern.as_bytes(), value.as_bytes());
    let (mut at, mut from) = (0, 0);
    // Where to go on when what follows the last `*` does not fit: behind it, one character later.
    let mut retry = None;
    while from < value.len() {
        match pattern.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, from));
                at += 1;
                continue;
            }
            Some(b'?') => {
                (at, from) = (at + 1, from + character(value, from));
                continue;
            }
            Some(&byte) if byte == value[from] => {
                (at, from) = (at + 1, from + 1);
                continue;
            }
            _ => {}
        }
        let Some((behind, start)) = retry else { return false };
        let next = start + character(value, start);
        (at, from) = (behind, next);
        retry = Some((behind, next));
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// Length of the character that begins at `at`, in bytes.
fn character(value: &[u8], at: usize) -> usize {
    let rest = &value[at + 1..];
    1 + rest.iter().take_while(|byte| **byte & 0xC0 == 0x80).count()
}

/// Where a rule comes from, from the weakest to the strongest (P-33).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Built in (P-39).
    Default,
    /// A file in the user's configuration folder.
    Global,
    /// A file of the project: it may tighten, and lift no more than what is built in (P-34).
    Project,
    /// `setup()`.
    Setup,
    /// `$LATHE_PERMISSION`.
    Environment,
}

/// Where a rule stands, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// How strong it is.
    pub layer: Layer,
    /// The agent that it is for; none: all.
    pub agent: Option<String>,
    /// A file's path, or what else a user knows it by.
    pub place: String,
    /// Line in the file, from 1.
    pub line: Option<usize>,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(agent) = &self.agent {
            write!(f, ", agent {agent}")?;
        }
        Ok(())
    }
}

/// One line that a user wrote: for which tools, for which values, what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Matches the key of a tool, or its name.
    pub key: Pattern,
    /// Matches the value.
    pub pattern: Pattern,
    /// What it says.
    pub action: Action,
    /// Where it stands.
    pub source: Arc<Source>,
}

impl Rule {
    /// Whether an allow of this rule settles a call; one that is built in or the project's does not (P-34).
    pub fn settles(&self) -> bool {
        self.action != Action::Allow || !matches!(self.source.layer, Layer::Default | Layer::Project)
    }

    /// How surely the rule's key and pattern match one of the forms.
    fn fit(&self, key: &str, forms: &[&Value]) -> Fit {
        if !self.key.matches(key, Action::Allow) {
            return Fit::Never;
        }
        forms.iter().map(|value| self.pattern.fit(value, self.action)).max().unwrap_or(Fit::Never)
    }

    /// Whether a project may not allow this.
    fn is_beyond_projects(&self, key: &str) -> bool {
        let allows = self.source.layer == Layer::Project && self.action == Action::Allow;
        allows && (key == EXTERNAL_DIRECTORY || key == DOOM_LOOP)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {} ({})", self.key.text, self.pattern.text, self.action.as_str(), self.source)
    }
}

/// The key for paths outside of the project.
pub const EXTERNAL_DIRECTORY: &str = "external_directory";

/// The key for the third identical call in a row.
pub const DOOM_LOOP: &str = "doom_loop";

/// What holds when nobody says otherwise (P-39).
pub fn defaults(home: &str) -> Vec<Rule> {
    let source = Source { layer: Layer::Default, agent: None, place: "built in".to_owned(), line: None };
    let source = Arc::new(source);
    let list = [
        (EXTERNAL_DIRECTORY, "*", Action::Ask),
        (DOOM_LOOP, "*", Action::Ask),
        ("read", "*.env", Action::Ask),
        ("read", "*.env.*", Action::Ask),
        ("read", "*.env.example", Action::Allow),
    ];
    let rule = |(key, pattern, action)| Rule {
        key: Pattern::key(key),
        pattern: Pattern::value(pattern, home),
        action,
        source: Arc::clone(&source),
    };
    list.into_iter().map(rule).collect()
}

/// What the rules say to one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling<'a> {
    /// None: no rule says anything that counts.
    pub action: Option<Action>,
    /// The rule that decides; none: there is none.
    pub rule: Option<&'a Rule>,
    /// How the rule comes to decide.
    pub basis: Basis,
}

/// How a rule comes to decide on a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// It matches, or no rule does.
    Match,
    /// It may match: part of the value is not known before it runs.
    MayMatch,
    /// It names a program, and this word of it stands in an argument of another one.
    Word(String),
    /// What would run is not known before it runs; what of it, when that can be said.
    Unknown(Option<Unknown>),
}

impl<'a> Ruling<'a> {
    /// Of what no rule needs to allow.
    pub const ALLOWED: Self = Self { action: Some(Action::Allow), rule: None, basis: Basis::Match };

    /// What one rule says; none: there is none.
    pub fn of(rule: Option<&'a Rule>) -> Self {
        Self { action: rule.filter(|rule| rule.settles()).map(|rule| rule.action), rule, basis: Basis::Match }
    }

    /// From the weakest: allowed, nothing said, asked, denied.
    pub fn rank(&self) -> u8 {
        match self.action {
            Some(Action::Allow) => 0,
            None => 1,
            Some(Action::Ask) => 2,
            Some(Action::Deny) => 3,
        }
    }
}

/// What may be said to a value that is not known wholly, the strictest of it.
#[derive(Default)]
struct Outcomes<'a> {
    strictest: Option<Ruling<'a>>,
    differ: bool,
}

impl<'a> Outcomes<'a> {
    fn add(&mut self, rule: Option<&'a Rule>) {
        let new = Ruling::of(rule);
        self.strictest = Some(match self.strictest.take() {
            None => new,
            Some(old) => {
                self.differ |= old.rank() != new.rank();
                if new.rank() > old.rank() { new } else { old }
            }
        });
    }

    fn ruling(self) -> Ruling<'a> {
        let strictest = self.strictest.unwrap_or(Ruling::of(None));
        if !self.differ {
            return strictest;
        }
        // Denied in one case and not in another: nobody but the user can tell.
        let action = strictest.action.map(|action| action.min(Action::Ask));
        Ruling { action, basis: Basis::MayMatch, ..strictest }
    }
}

/// Rules in the order in which they count: the last that matches decides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// Rules, weakest first.
    pub fn new(rules: Vec<Rule>) -> Self {
        Self(rules)
    }

    /// The rules, weakest first.
    pub fn as_slice(&self) -> &[Rule] {
        &self.0
    }

    /// Whether any rule may match this key.
    pub fn concerns(&self, key: &str) -> bool {
        self.0.iter().any(|rule| rule.key.matches(key, Action::Allow))
    }

    /// What is decided on a value, which may have several forms (P-35, P-38). From the last rule back, what may match
    /// counts, and the first that surely matches ends the walk. Where all that count say the same, that is the answer;
    /// where they differ it depends on what is not known yet, and the strictest of them asks. An allow of the project's
    /// never counts over an ask or deny of the user's own (P-34).
    pub fn find(&self, key: &str, forms: &[&Value]) -> Ruling<'_> {
        let mut outcomes = Outcomes::default();
        for (at, rule) in self.0.iter().enumerate().rev() {
            let fit = if rule.is_beyond_projects(key) { Fit::Never } else { rule.fit(key, forms) };
            let by_project = rule.source.layer == Layer::Project && rule.action == Action::Allow;
            match fit {
                Fit::Never => continue,
                Fit::Maybe | Fit::Surely if by_project => self.add_own(&mut outcomes, (at, rule), key, forms),
                Fit::Maybe | Fit::Surely => outcomes.add(Some(rule)),
            }
            if fit == Fit::Surely {
                return outcomes.ruling();
            }
        }
        outcomes.add(None);
        outcomes.ruling()
    }

    /// An allow of the project's, or what the user's own rules before it say that is stricter.
    fn add_own<'r>(&'r self, outcomes: &mut Outcomes<'r>, (at, rule): (usize, &'r Rule), key: &str, forms: &[&Value]) {
        let is_own = |own: &&Rule| !matches!(own.source.layer, Layer::Default | Layer::Project);
        for own in self.0[..at].iter().rev().filter(is_own) {
            let fit = own.fit(key, forms);
            if fit != Fit::Never {
                outcomes.add(Some(if own.action > Action::Allow { own } else { rule }));
            }
            if fit == Fit::Surely {
                return;
            }
        }
        outcomes.add(Some(rule));
    }

    /// The rules behind this one, or all of them, that say something stricter to a part of the key's values.
    pub fn stricter_behind<'r, 'k>(
        &'r self,
        key: &'k str,
        rule: Option<&'k Rule>,
    ) -> impl Iterator<Item = &'r Rule> + use<'r, 'k> {
        let place = rule.and_then(|rule| self.0.iter().position(|other| std::ptr::eq(other, rule)));
        self.0
            .iter()
            .skip(place.map_or(0, |place| place + 1))
            .filter(move |later| later.action > Action::Allow && later.key.matches(key, Action::Allow))
    }

    /// The rule that takes a tool with this key from the model's list: the last one for the key, when it denies
    /// everything (P-40).
    pub fn hiding(&self, key: &str) -> Option<&Rule> {
        let for_key = |rule: &&Rule| rule.key.matches(key, Action::Allow) && !rule.is_beyond_projects(key);
        let last = self.0.iter().rev().find(for_key)?;
        let hides = |rule: &&Rule| rule.pattern.is_any() && rule.action == Action::Deny;
        if hides(&last) {
            return Some(last);
        }
        // The project's allow brings nothing back that the user took away.
        let is_own = |rule: &&Rule| for_key(rule) && rule.source.layer != Layer::Project;
        let by_project = last.source.layer == Layer::Project && last.action == Action::Allow;
        self.0.iter().rev().find(is_own).filter(|_| by_project).filter(hides)
    }

    /// Rules that can never decide anything, each with the later one that covers it (R009).
    pub fn idle(&self) -> Vec<(&Rule, &Rule)> {
        let covered = |at: usize, rule: &Rule| {
            self.0[at + 1..].iter().find(|later| {
                let layers = (rule.source.layer, later.source.layer);
                let may_lift = later.action > Action::Allow || layers.1 != Layer::Project;
                (may_lift || layers.0 == Layer::Project)
                    && later.key.covers(&rule.key, Action::Allow, Action::Allow)
                    && later.pattern.covers(&rule.pattern, later.action, rule.action)
            })
        };
        let written = self.0.iter().enumerate().filter(|(_, rule)| rule.source.layer != Layer::Default);
        written.filter_map(|(at, rule)| Some((rule, covered(at, rule)?))).collect()
    }
}

#[cfg(test)]
mod tests;
