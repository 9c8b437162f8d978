//! What a call wants, as the rules see it: pairs of a key and a value. How they are found in a call, and what the rules
//! say to each. What follows for the whole call is decided in `gate.rs`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::approvals::Approval;
use super::path::{Places, Resolved, normal};
use super::rule::{Action, Basis, EXTERNAL_DIRECTORY, Fit, Pattern, Rule, Rules, Ruling};
use super::shell::{self, BASH, PathText, PathUse, Script};
use super::value::{Glob, Value};

/// The key of everything that writes files.
pub const EDIT: &str = "edit";

/// Keys whose values are paths (P-38).
const PATH_KEYS: [&str; 3] = ["read", EDIT, "list"];

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
}

/// How far a rule can allow a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Floor {
    /// Wholly.
    None,
    /// What it is cannot be told before it runs: it is asked, whatever a rule allows.
    Ask,
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
        }
    }

    /// The approval that an *Always accept* of it stands for.
    pub fn approval(&self) -> Approval {
        Approval::new(&self.key, Some(self.value.clone()))
    }

    /// Whether equal values are the same thing: a text with something in it that is only known when it runs is not.
    pub fn can_be_remembered(&self) -> bool {
        self.floor == Floor::None || (self.floor == Floor::AllowAny && self.key == BASH)
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
        let may_be_allowed = match self.floor {
            Floor::None => true,
            Floor::Ask => false,
            Floor::AllowAny => strictest
                .rule
                .is_some_and(|rule| rule.pattern.is_any() && rules.stricter_behind(&self.key, rule).next().is_none()),
        };
        // Where nobody has made a rule, the tool's own setting decides.
        if !may_be_allowed && rules.concerns(&self.key) {
            let asked = Ruling { action: Some(Action::Ask), rule: None, basis: Basis::Unknown };
            // That nothing is known says more than that some rule may match it.
            strictest = if strictest.basis == Basis::MayMatch { asked } else { stricter(strictest, asked) };
        }
        self.named_word(rules, &strictest).unwrap_or(strictest)
    }

    /// A program among the words that a later rule asks about or denies, where the rule that allows the command would
    /// have allowed that program as well: not every program that runs others, and not every option that does, is known.
    fn named_word<'r>(&self, rules: &'r Rules, ruling: &Ruling<'r>) -> Option<Ruling<'r>> {
        let vouching = ruling.rule.filter(|_| ruling.action == Some(Action::Allow))?;
        if self.words.is_empty() {
            return None;
        }
        let mut behind = rules.stricter_behind(&self.key, vouching);
        behind.find_map(|rule| {
            let names = named_by(&rule.pattern)?;
            let mut program = Value::from(names[0]);
            program.add(" ");
            program.add_hole();
            if vouching.pattern.fit(&program, Action::Allow) == Fit::Never {
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

/// Finds what a call wants. `resolve` tells where a path leads.
pub fn pairs(wants: &Wants, places: &Places, resolve: &impl Fn(&Path) -> Resolved) -> Vec<Pair> {
    let mut found = Finder { places, resolve, pairs: Vec::new(), seen: HashSet::new() };
    if wants.key == BASH {
        wants.values.iter().for_each(|text| found.shell(text));
    } else if PATH_KEYS.contains(&wants.key.as_str()) {
        wants.values.iter().for_each(|path| found.path(&wants.key, &places.session, path));
    } else {
        wants.values.iter().for_each(|value| found.add(Pair::new(&wants.key, value)));
    }
    if wants.values.is_empty() {
        found.add(Pair::new(&wants.key, "*"));
    }
    wants.paths.iter().for_each(|path| found.outside(&places.session, path, false));
    wants.commands.iter().for_each(|text| found.shell(text));
    found.pairs
}

struct Finder<'a, F> {
    places: &'a Places,
    resolve: &'a F,
    pairs: Vec<Pair>,
    seen: HashSet<Pair>,
}

impl<F: Fn(&Path) -> Resolved> Finder<'_, F> {
    fn add(&mut self, pair: Pair) {
        if self.seen.insert(pair.clone()) {
            self.pairs.push(pair);
        }
    }

    fn resolved(&self, base: &Path, text: &str) -> Resolved {
        let path = self.places.absolute(base, text);
        let resolved = (self.resolve)(&path);
        Resolved { lexical: normal(&path), ..resolved }
    }

    /// A path as the value of a key, and as a path that may be outside.
    fn path(&mut self, key: &str, base: &Path, text: &str) {
        let resolved = self.resolved(base, text);
        if key != EDIT && self.places.is_readable(&resolved) {
            return self.add(Pair { views: Vec::new(), ..Pair::new(key, text) });
        }
        // Outside first (P-57).
        self.outside(base, text, resolved.is_folder);
        let views = [self.places.forms(&resolved.lexical), self.places.forms(&resolved.real)];
        let value = views[0].first().cloned().unwrap_or_default();
        let views = if views[0] == views[1] { &views[..1] } else { &views[..] };
        let views = views.iter().map(|forms| forms.iter().map(|form| Value::from(form.as_str())).collect()).collect();
        self.add(Pair { views, ..Pair::new(key, &value) });
    }

    fn outside(&mut self, base: &Path, text: &str, is_folder: bool) {
        let mut resolved = self.resolved(base, text);
        resolved.is_folder |= is_folder;
        if !self.places.is_inside(&resolved) && !self.places.is_readable(&resolved) {
            self.add(Pair::new(EXTERNAL_DIRECTORY, &self.places.external(&resolved)));
        }
    }

    /// A shell text: its commands, the files that it writes, the paths that it names (P-60 to P-65).
    fn shell(&mut self, text: &str) {
        let parts = match shell::parse(text) {
            Script::Empty => return,
            Script::Unparsable => return self.add(Pair { floor: Floor::AllowAny, ..Pair::new(BASH, text) }),
            Script::Parsed(parts) => parts,
        };
        match self.folders(&parts.paths) {
            Some(bases) => {
                let files = parts.paths.iter().filter(|used| !used.is_folder);
                files.for_each(|used| self.path_use(&bases, used));
            }
            None => self.add(Pair { floor: Floor::AllowAny, ..Pair::new(EXTERNAL_DIRECTORY, text) }),
        }
        for command in parts.commands {
            let floor = if command.is_opaque { Floor::Ask } else { Floor::None };
            let views = command.views().map(|view| vec![view]).collect();
            let (named, words) = (command.named, command.words);
            self.add(Pair { views, named, words, floor, ..Pair::new(BASH, &command.written) });
        }
    }

    /// The folders that a text goes to, and from there all that a relative path in it may be relative to: a `cd` may
    /// come before it, and may have failed. None: too many to tell.
    fn folders(&mut self, paths: &[PathUse]) -> Option<Vec<PathBuf>> {
        const MAX: usize = 64;
        let mut bases = vec![self.places.session.clone()];
        for used in paths.iter().filter(|used| used.is_folder) {
            self.path_use(&bases, used);
            let PathText::Known(text) = &used.path else { continue };
            for at in 0..bases.len() {
                let base = self.places.absolute(&bases[at], text);
                if !bases.contains(&base) {
                    bases.push(base);
                }
            }
            if bases.len() > MAX {
                return None;
            }
        }
        Some(bases)
    }

    fn path_use(&mut self, bases: &[PathBuf], used: &PathUse) {
        match &used.path {
            PathText::Known(text) => {
                for base in bases {
                    if used.is_write {
                        self.path(EDIT, base, text);
                    } else {
                        self.outside(base, text, used.is_folder);
                    }
                }
            }
            // Anywhere: only a rule for every folder allows it (P-65).
            PathText::Unknown(text) => {
                self.add(Pair { floor: Floor::AllowAny, ..Pair::new(EXTERNAL_DIRECTORY, text) });
                if used.is_write {
                    self.add(Pair { floor: Floor::AllowAny, ..Pair::new(EDIT, text) });
                }
            }
        }
    }
}

#[cfg(test)]
mod hole_tests;
#[cfg(test)]
mod tests;
