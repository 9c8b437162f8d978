//! What a call wants, as the rules see it: pairs of a key and a value. How they are found in a call, and what the rules
//! say to each. What follows for the whole call is decided in `gate.rs`.

use super::approvals::Approval;
use super::rule::{Action, Basis, Fit, Pattern, Rule, Rules, Ruling};
use super::shell::BASH;
use super::unknown::Unknown;
use super::value::{Glob, Value};

/// The key of everything that writes files.
pub const EDIT: &str = "edit";

/// What a tool says that a call of it wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// The tool's key.
    pub key: String,
    /// The key's values: paths for `read`, `edit` and `list`, shell texts for `bash`. Empty: `*`.
    pub values: Vec<String>,
    /// Paths that are looked at only for whether they are outside of the project.
    pub paths: Vec<String>,
    /// Shell texts that a command tool runs.
    pub commands: Vec<String>,
}

/// One thing that a call wants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The key.
    pub key: String,
    /// What the question shows, and what *Always accept* remembers.
    pub value: String,
    /// Ways to write the value; in each, any form may be matched by a rule. The strictest verdict counts.
    pub views: Vec<Vec<Value>>,
    /// One more way, which can only make the verdict stricter.
    pub named: Option<Value>,
    /// Words of a command's arguments, any of which might be a program that the command runs.
    pub words: Vec<Value>,
    /// What it is at least, whatever a rule allows.
    pub floor: Floor,
    /// Whether equal values are the same thing: a text with a variable in it is not.
    pub is_told: bool,
}

/// How far a rule can allow a pair.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Floor {
    /// Wholly.
    None,
    /// What it is cannot be told before it runs: it is asked, whatever a rule allows.
    Ask(Unknown),
    /// It was not understood: only a rule for everything allows it, and only when no later one takes a part back (P-64).
    AllowAny,
}

/// One thing that a call wants, and what the rules say to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// The key and the value.
    pub pair: Pair,
    /// As in [`Ruling`].
    pub action: Option<Action>,
    /// As in [`Ruling`].
    pub rule: Option<Rule>,
    /// As in [`Ruling`].
    pub basis: Basis,
}

impl Want {
    /// A pair, judged.
    pub fn new(pair: Pair, rules: &Rules) -> Self {
        let Ruling { action, rule, basis } = pair.judge(rules);
        let rule = rule.cloned();
        Self { pair, action, rule, basis }
    }

    /// Whether what is accepted once may be accepted for good: not what is only known when it runs.
    pub fn can_be_remembered(&self) -> bool {
        match self.pair.floor {
            Floor::None => self.pair.is_told && matches!(self.basis, Basis::Match | Basis::Word(_)),
            Floor::Ask(_) => false,
            Floor::AllowAny => self.pair.key == BASH,
        }
    }
}

impl Pair {
    /// A pair of a value that has one form.
    pub fn new(key: &str, value: &str) -> Self {
        Self {
            key: key.to_owned(),
            value: value.to_owned(),
            views: vec![vec![Value::from(value)]],
            named: None,
            words: Vec::new(),
            floor: Floor::None,
            is_told: true,
        }
    }

    /// The approval that an *Always accept* of it stands for.
    pub fn approval(&self) -> Approval {
        Approval::new(&self.key, Some(self.value.clone()))
    }

    /// What the rules say (P-35, P-41, P-61).
    pub fn judge<'r>(&self, rules: &'r Rules) -> Ruling<'r> {
        let of_view = |view: &Vec<Value>| rules.find(&self.key, &view.iter().collect::<Vec<_>>());
        let mut strictest = self.views.iter().map(of_view).reduce(stricter).unwrap_or(Ruling::ALLOWED);
        if let Some(named) = &self.named {
            let ruling = rules.find(&self.key, &[named]);
            if ruling.action > Some(Action::Allow) {
                strictest = stricter(strictest, ruling);
            }
        }
        let may_be_allowed = match &self.floor {
            Floor::None => true,
            Floor::Ask(_) => false,
            Floor::AllowAny => strictest.rule.is_some_and(|rule| {
                rule.pattern.is_any() && rules.stricter_behind(&self.key, Some(rule)).next().is_none()
            }),
        };
        // Where nobody has made a rule, the tool's own setting decides.
        if !may_be_allowed && rules.concerns(&self.key) {
            let why = match &self.floor {
                Floor::Ask(why) => Some(why.clone()),
                Floor::None | Floor::AllowAny => None,
            };
            let asked = Ruling { action: Some(Action::Ask), rule: None, basis: Basis::Unknown(why) };
            // That nothing is known says more than that some rule may match it.
            strictest = if strictest.basis == Basis::MayMatch { asked } else { stricter(strictest, asked) };
        }
        self.named_word(rules, &strictest).unwrap_or(strictest)
    }

    /// A program among the words that a later rule asks about or denies, where the rule that allows the command would
    /// have allowed that program as well: not every program that runs others, and not every option that does, is known.
    fn named_word<'r>(&self, rules: &'r Rules, ruling: &Ruling<'r>) -> Option<Ruling<'r>> {
        if self.words.is_empty() || ruling.action > Some(Action::Allow) {
            return None;
        }
        // Where no rule says anything, whoever decides vouches for every program.
        let vouching = ruling.rule.filter(|_| ruling.action == Some(Action::Allow));
        let mut behind = rules.stricter_behind(&self.key, vouching);
        behind.find_map(|rule| {
            let names = named_by(&rule.pattern)?;
            let mut program = Value::from(names[0]);
            program.add(" ");
            program.add_hole();
            if vouching.is_some_and(|vouching| vouching.pattern.fit(&program, Action::Allow) == Fit::Never) {
                return None;
            }
            let mut words = self.words.iter();
            let is_there = |name: &&str| {
                words.any(|word| {
                    let known = word.known().map(|known| known == *name);
                    known.unwrap_or_else(|| Glob::new(name).may_match(word))
                })
            };
            let basis = || Basis::Word(names.join(" "));
            names.iter().all(is_there).then(|| Ruling { action: Some(Action::Ask), rule: Some(rule), basis: basis() })
        })
    }
}

/// The words with which a rule names a program and what it is to do; none: it names none.
fn named_by(pattern: &Pattern) -> Option<Vec<&str>> {
    let is_literal = |word: &&str| !word.contains(['*', '?']);
    let mut words = pattern.as_str().split_whitespace();
    let program = words.next().filter(is_literal)?;
    let name = program.rsplit('/').next().filter(|name| !name.is_empty())?;
    // Options may stand in any order, and in other spellings.
    let others = words.filter(is_literal).filter(|word| !word.starts_with('-'));
    Some(std::iter::once(name).chain(others).collect())
}

/// The stricter of two; the first where they are equally strict.
fn stricter<'r>(first: Ruling<'r>, second: Ruling<'r>) -> Ruling<'r> {
    if second.rank() > first.rank() { second } else { first }
}

#[cfg(test)]
mod hole_tests;
#[cfg(test)]
mod tests;
