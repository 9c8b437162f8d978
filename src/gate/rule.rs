//! Permission rules: patterns, the layers they come from, and which of them decides on a value. What values a call has is
//! told by `shell.rs`, `path.rs` and the tools; how verdicts combine over a whole call by `gate.rs`.

use std::fmt;
use std::sync::Arc;

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

    /// Whether every value that `other` matches is matched by this one too. May miss some, is never wrong.
    fn covers(&self, other: &Self, action: Action, other_action: Action) -> bool {
        // A `*` of the other can only be taken up by a `*` of this one, so it may stand in a value like any character
        // that this one's other parts do not match.
        const ANY: &str = "\u{f8ff}";
        let wide = other.text.replace('*', ANY);
        let bare = other.text.strip_suffix(" *").map(|bare| bare.replace('*', ANY));
        let with_arguments = (other_action > Action::Allow && is_word(&other.text)).then(|| format!("{wide} {ANY}"));
        [Some(wide), bare, with_arguments].into_iter().flatten().all(|value| self.matches(&value, action))
    }
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

    /// Whether the rule's key and pattern match.
    fn matches(&self, key: &str, forms: &[&str]) -> bool {
        self.key.matches(key, Action::Allow) && forms.iter().any(|value| self.pattern.matches(value, self.action))
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

    /// The rule that decides on a value, which may have several forms (P-35, P-38): the last that matches, but an allow
    /// of the project's never over an ask or deny of the user's own (P-34).
    pub fn find(&self, key: &str, forms: &[&str]) -> Option<&Rule> {
        let (mut found, mut own): (Option<&Rule>, Option<&Rule>) = (None, None);
        for rule in &self.0 {
            if !rule.matches(key, forms) || rule.is_beyond_projects(key) {
                continue;
            }
            let layer = rule.source.layer;
            if layer == Layer::Project && rule.action == Action::Allow {
                let stricter = own.filter(|own| own.action > Action::Allow);
                found = stricter.or(Some(rule));
                continue;
            }
            found = Some(rule);
            if !matches!(layer, Layer::Default | Layer::Project) {
                own = Some(rule);
            }
        }
        found
    }

    /// Whether something stricter is said to a part of the key's values behind a rule.
    pub fn narrows(&self, key: &str, rule: &Rule) -> bool {
        let behind = self.0.iter().skip_while(|other| !std::ptr::eq(*other, rule));
        behind.skip(1).any(|later| later.action > Action::Allow && later.key.matches(key, Action::Allow))
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn source(layer: Layer) -> Arc<Source> {
        Arc::new(Source { layer, agent: None, place: format!("{layer:?}"), line: None })
    }

    fn rule(layer: Layer, key: &str, pattern: &str, action: Action) -> Rule {
        Rule { key: Pattern::key(key), pattern: Pattern::value(pattern, "/home/me"), action, source: source(layer) }
    }

    fn rules(list: &[(&str, &str)]) -> Rules {
        let rules = list.iter().map(|(pattern, word)| {
            rule(Layer::Setup, "bash", pattern, Action::read(word).expect("an action of the test"))
        });
        Rules::new(rules.collect())
    }

    fn t(list: &[(&str, &str)], value: &str) -> Option<Action> {
        rules(list).find("bash", &[value]).map(|rule| rule.action)
    }

    use Action::{Allow, Ask, Deny};

    #[test]
    fn p36_patterns_match_whole_values() {
        let m = |pattern: &str, value: &str| Pattern::value(pattern, "/home/me").matches(value, Allow);
        for (pattern, value) in [
            ("git *", "git status"),
            ("git *", "git"),
            ("*", ""),
            ("*", "a\nb/c d"),
            ("a**b", "a/x\ny b"),
            ("ls ?", "ls é"),
            ("echo [ab]", "echo [ab]"),
            ("*a*a*b", "xaaaab"),
            ("?", "€"),
        ] {
            assert!(m(pattern, value), "{pattern} {value}");
        }
        for (pattern, value) in [
            ("git *", "gitk --all"),
            ("ls ?", "ls ab"),
            ("ls ?", "ls "),
            ("echo [ab]", "echo a"),
            ("grep", "grep foo a.txt"),
            ("GIT *", "git status"),
            ("a", "ab"),
            ("", "a"),
            ("*b", "ba"),
        ] {
            assert!(!m(pattern, value), "{pattern} {value}");
        }
    }

    #[test]
    fn r008_a_bare_word_denies_and_asks_with_arguments_but_never_allows_them() {
        for action in [Ask, Deny] {
            let pattern = Pattern::value("terraform", "/");
            assert!(pattern.matches("terraform", action));
            assert!(pattern.matches("terraform apply -auto-approve", action));
            assert!(pattern.matches("terraform\tapply", action));
            assert!(!pattern.matches("terraformx", action));
        }
        assert!(!Pattern::value("terraform", "/").matches("terraform apply", Allow));
        assert!(!Pattern::value("npm test", "/").matches("npm test x", Deny), "two words are what they are");
    }

    #[test]
    fn p37_home_is_expanded_at_the_beginning_and_nowhere_else() {
        let m = |pattern: &str, value: &str| Pattern::value(pattern, "/home/me/").matches(value, Allow);
        assert!(m("~/projects/*", "/home/me/projects/x/a.txt"));
        assert!(m("$HOME/x", "/home/me/x") && m("~", "/home/me") && m("$HOME", "/home/me"));
        assert!(!m("~/projects/*", "/home/me/other/a"));
        assert!(!m("~user/x", "/home/meuser/x") && !m("$HOMEX", "/home/meX"));
        assert!(m("/some/~/x/*", "/some/~/x/a") && !m("/some/~/x/*", "/some//home/me/x/a"));
    }

    #[test]
    fn r009_the_last_match_wins() {
        assert_eq!(t(&[("*", "ask"), ("npm publish *", "deny")], "npm publish --tag x"), Some(Deny));
        assert_eq!(t(&[("npm publish *", "deny"), ("*", "ask")], "npm publish --tag x"), Some(Ask));
        assert_eq!(t(&[("git *", "allow")], "npm test"), None);
    }

    #[test]
    fn r009_a_rule_that_a_later_one_covers_is_reported() {
        let idle = |list: &[(&str, &str)]| {
            let rules = rules(list);
            rules
                .idle()
                .iter()
                .map(|(rule, by)| (rule.pattern.text.clone(), by.pattern.text.clone()))
                .collect::<Vec<_>>()
        };
        let pair = |a: &str, b: &str| vec![(a.to_owned(), b.to_owned())];
        assert_eq!(idle(&[("npm publish *", "deny"), ("*", "ask")]), pair("npm publish *", "*"));
        assert_eq!(idle(&[("*", "ask"), ("npm publish *", "deny")]), []);
        assert_eq!(idle(&[("git *", "allow"), ("git push *", "deny")]), []);
        assert_eq!(idle(&[("git push *", "deny"), ("git *", "allow")]), pair("git push *", "git *"));
        assert_eq!(idle(&[("rm", "deny"), ("rm", "allow")]), [], "a denied word is wider than an allowed one");
        assert_eq!(idle(&[("rm", "allow"), ("rm", "deny")]), pair("rm", "rm"));
        assert_eq!(idle(&[("ls ?", "allow"), ("ls *", "ask")]), pair("ls ?", "ls *"));
        assert_eq!(idle(&[("ls *", "allow"), ("ls ?", "ask")]), []);
    }

    #[test]
    fn p34_a_project_tightens_and_lifts_only_what_is_built_in() {
        let list = |rules: Vec<Rule>, key: &str, value: &str| {
            Rules::new(rules).find(key, &[value]).map(|rule| (rule.action, rule.settles()))
        };
        let global = |action| rule(Layer::Global, "bash", "rm *", action);
        let project = |action| rule(Layer::Project, "bash", "*", action);
        assert_eq!(list(vec![global(Deny), project(Allow)], "bash", "rm x"), Some((Deny, true)), "row 41");
        assert_eq!(list(vec![global(Ask), project(Ask), project(Allow)], "bash", "rm x"), Some((Ask, true)));
        assert_eq!(list(vec![global(Allow), project(Deny)], "bash", "rm x"), Some((Deny, true)));
        assert_eq!(list(vec![project(Allow)], "bash", "rm x"), Some((Allow, false)), "counts as no rule");
        let setup = rule(Layer::Setup, "bash", "rm *", Ask);
        assert_eq!(list(vec![project(Allow), setup], "bash", "rm x"), Some((Ask, true)));
        let default = |key: &str| rule(Layer::Default, key, "*", Ask);
        let allow = |key: &str| rule(Layer::Project, key, "*", Allow);
        assert_eq!(list(vec![default("read"), allow("read")], "read", "a.env"), Some((Allow, false)));
        for key in [EXTERNAL_DIRECTORY, DOOM_LOOP] {
            assert_eq!(list(vec![default(key), allow(key), allow("*")], key, "x"), Some((Ask, true)), "{key}");
        }
    }

    #[test]
    fn p40_a_tool_is_hidden_by_the_last_rule_for_its_key_when_that_denies_everything() {
        let hidden = |rules: Vec<Rule>, key: &str| Rules::new(rules).hiding(key).is_some();
        let setup = |key: &str, pattern: &str, action| rule(Layer::Setup, key, pattern, action);
        assert!(hidden(vec![setup("database", "*", Deny)], "database"));
        assert!(hidden(vec![setup("edit", "src/*", Allow), setup("edit", "*", Deny)], "edit"), "row 25");
        assert!(!hidden(vec![setup("bash", "*", Deny), setup("bash", "echo *", Allow)], "bash"), "row 44");
        assert!(hidden(vec![setup("bash", "ls", Allow), setup("*", "*", Deny)], "bash"));
        assert!(!hidden(vec![setup("*", "*", Deny), setup("mcp_*", "*", Allow)], "mcp_x"));
        let project = rule(Layer::Project, "database", "*", Allow);
        assert!(hidden(vec![rule(Layer::Global, "database", "*", Deny), project.clone()], "database"));
        assert!(!hidden(vec![project], "database"));
    }

    fn piece() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", " ", "*", "?", "/", "é", "\n"]), 0..9)
            .prop_map(|parts| parts.concat())
    }

    /// The plain definition, without any cleverness.
    fn slow(pattern: &[char], value: &[char]) -> bool {
        match pattern.split_first() {
            None => value.is_empty(),
            Some(('*', rest)) => (0..=value.len()).any(|skip| slow(rest, &value[skip..])),
            Some(('?', rest)) => !value.is_empty() && slow(rest, &value[1..]),
            Some((letter, rest)) => value.first() == Some(letter) && slow(rest, &value[1..]),
        }
    }

    proptest! {
        #[test]
        fn matching_is_what_it_is_said_to_be(pattern in piece(), value in piece()) {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(wildcard(&pattern, &value), slow(&letters(&pattern), &letters(&value)));
        }

        #[test]
        fn a_pattern_that_covers_another_matches_all_that_it_matches(
            wide in piece(), narrow in piece(), value in piece(),
            actions in (0usize..3, 0usize..3),
        ) {
            let action = |at: usize| [Allow, Ask, Deny][at];
            let (wide, narrow) = (Pattern::key(&wide), Pattern::key(&narrow));
            let (own, other) = (action(actions.0), action(actions.1));
            if wide.covers(&narrow, own, other) && narrow.matches(&value, other) {
                prop_assert!(wide.matches(&value, own), "{:?} {:?} {:?}", wide, narrow, value);
            }
        }
    }
}
