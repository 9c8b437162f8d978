//! Patterns, layers, and which rule decides.

use proptest::prelude::*;

use super::*;

fn source(layer: Layer) -> Arc<Source> {
    Arc::new(Source { layer, agent: None, place: format!("{layer:?}"), line: None })
}

fn rule(layer: Layer, key: &str, pattern: &str, action: Action) -> Rule {
    Rule { key: Pattern::key(key), pattern: Pattern::value(pattern, "/home/me"), action, source: source(layer) }
}

fn rules(list: &[(&str, &str)]) -> Rules {
    let rules = list
        .iter()
        .map(|(pattern, word)| rule(Layer::Setup, "bash", pattern, Action::read(word).expect("an action of the test")));
    Rules::new(rules.collect())
}

fn t(list: &[(&str, &str)], value: &str) -> Option<Action> {
    rules(list).find("bash", &[&Value::from(value)]).action
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
        rules.idle().iter().map(|(rule, by)| (rule.pattern.text.clone(), by.pattern.text.clone())).collect::<Vec<_>>()
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
        Rules::new(rules).find(key, &[&Value::from(value)]).rule.map(|rule| (rule.action, rule.settles()))
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
