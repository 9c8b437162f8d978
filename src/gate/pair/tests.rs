//! What calls want, and what the rules of the decision table say to it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;

use super::super::finder::pairs;
use super::super::path::{self, Disk, Places, Resolved, WildPiece, normal};
use super::super::rule::{EXTERNAL_DIRECTORY, Layer, Pattern, Source, defaults};
use super::super::shell::{self, Script};
use super::*;

fn places() -> Places {
    Places {
        session: "/w/p".into(),
        worktree: "/w/p".into(),
        home: "/home/me".into(),
        real: vec!["/w/p".into(), "/w/p".into()],
        readable: vec!["/state/output".into()],
    }
}

/// Links of the tests: `l` leads to `/etc`, `secret.txt` to `prod.env`.
fn resolve(path: &Path) -> Resolved {
    let links: HashMap<PathBuf, PathBuf> =
        [("/w/p/l", "/etc"), ("/w/p/secret.txt", "prod.env")].iter().map(|(a, b)| (a.into(), b.into())).collect();
    let real = path::real(path, &|path| links.get(path).cloned()).unwrap_or_default();
    let is_folder = ["/etc", "/w/p", "/w/p/src", "/w"].iter().any(|folder| real == Path::new(folder));
    Resolved { lexical: normal(path), real, is_folder }
}

/// A disk with nothing but those links; wildcards find them, too.
struct Links;

impl Disk for Links {
    fn resolve(&self, path: &Path) -> Resolved {
        resolve(path)
    }

    fn expand(&self, base: &Path, pieces: &[WildPiece]) -> Option<Vec<PathBuf>> {
        let finds_all = base == Path::new("/w/p") && pieces.last() == Some(&WildPiece::Many);
        let start = pieces.first().map_or("", |piece| if let WildPiece::Text(text) = piece { text } else { "" });
        let links = ["l", "secret.txt"].into_iter().filter(|name| finds_all && name.starts_with(start));
        Some(links.map(|name| base.join(name)).collect())
    }
}

fn rules(list: &[(&str, &str, &str)]) -> Rules {
    let source = Arc::new(Source { layer: Layer::Setup, agent: None, place: "setup()".to_owned(), line: None });
    let own = list.iter().map(|(key, pattern, word)| Rule {
        key: Pattern::key(key),
        pattern: Pattern::value(pattern, "/home/me"),
        action: Action::read(word).expect("an action of the test"),
        source: Arc::clone(&source),
    });
    Rules::new(defaults("/home/me").into_iter().chain(own).collect())
}

fn wants(key: &str, values: &[&str]) -> Wants {
    let values = values.iter().map(|value| (*value).to_owned()).collect();
    Wants { key: key.to_owned(), values, ..Wants::default() }
}

/// The strictest that the rules say to a call: "none" when nothing that counts is said to some part of it.
fn verdict(rules: &Rules, wants: &Wants) -> &'static str {
    let pairs = pairs(wants, &places(), &Links);
    let rulings: Vec<_> = pairs.iter().map(|pair| pair.judge(rules)).collect();
    let strictest = rulings.iter().max_by_key(|ruling| ruling.rank());
    strictest.map_or("allow", |ruling| ruling.action.map_or("none", Action::as_str))
}

pub fn bash(list: &[(&str, &str)], text: &str) -> &'static str {
    let list: Vec<_> = list.iter().map(|(pattern, action)| (BASH, *pattern, *action)).collect();
    verdict(&rules(&list), &wants(BASH, &[text]))
}

/// What is asked about.
fn asked(list: &[(&str, &str)], text: &str) -> Vec<String> {
    let list: Vec<_> = list.iter().map(|(pattern, action)| (BASH, *pattern, *action)).collect();
    let rules = rules(&list);
    let pairs = pairs(&wants(BASH, &[text]), &places(), &Links);
    let asks = pairs.iter().filter(|pair| pair.judge(&rules).action == Some(Action::Ask));
    asks.map(|pair| format!("{} {}", pair.key, pair.value)).collect()
}

#[test]
fn rows_1_to_8_git_and_other_programs() {
    let first = [("*", "ask"), ("git *", "allow")];
    assert_eq!(bash(&first, "git status"), "allow", "row 1");
    assert_eq!(bash(&first, "git"), "allow", "row 2");
    assert_eq!(bash(&first, "gitk --all"), "ask", "row 3");
    assert_eq!(bash(&[("git *", "allow"), ("*", "ask")], "git status"), "ask", "row 4");
    let push = [("*", "ask"), ("git *", "allow"), ("git push *", "deny")];
    assert_eq!(bash(&push, "git push origin main"), "deny", "row 5");
    assert_eq!(bash(&push, "git status && git push"), "deny", "row 6");
    assert_eq!(bash(&push, "git status; npm test"), "ask", "row 7");
    assert_eq!(asked(&push, "git status; npm test"), ["bash npm test"], "row 7 asks about one");
    assert_eq!(bash(&push, "git log | head -5"), "ask", "row 8");
}

#[test]
fn rows_9_to_12_how_patterns_match() {
    assert_eq!(bash(&[("*", "ask"), ("ls*", "allow")], "lsof -i"), "allow", "row 9");
    assert_eq!(bash(&[("*", "ask"), ("ls *", "allow")], "lsof -i"), "ask", "row 10");
    assert_eq!(bash(&[("*", "ask"), ("grep", "allow")], "grep foo a.txt"), "ask", "row 11");
    assert_eq!(bash(&[("*", "deny"), ("npm test", "allow")], "npm test -- -u"), "deny", "row 12");
    assert!(rules(&[(BASH, "*", "deny"), (BASH, "npm test", "allow")]).hiding(BASH).is_none(), "row 12 stays listed");
}

#[test]
fn rows_13_to_18_what_hides_in_a_shell_text() {
    let rm = [("*", "allow"), ("rm *", "deny")];
    for (row, text) in [
        (13, "echo $(rm -rf x)"),
        (14, "sudo rm -rf /"),
        (14, "timeout 5 sudo rm x"),
        (15, "bash -c 'rm -rf x'"),
        (15, "find . -exec rm {} \\;"),
        (16, "FOO=1 rm x"),
        (16, "\"rm\" -rf x"),
        (16, "(rm x)"),
        (16, "rm x &"),
    ] {
        assert_eq!(bash(&rm, text), "deny", "row {row}: {text}");
    }
    assert_eq!(bash(&rm, "rmdir x"), "allow", "row 17");
    assert_eq!(bash(&rm, "eval \"$CMD\""), "ask", "row 18");
}

#[test]
fn rows_19_to_23_redirections_errors_and_folders() {
    let echo = rules(&[(BASH, "echo *", "allow"), (EDIT, "*", "deny")]);
    assert_eq!(verdict(&echo, &wants(BASH, &["echo hi > out.txt"])), "deny", "row 19");
    assert_eq!(verdict(&echo, &wants(BASH, &["echo hi > /dev/null 2>&1"])), "allow", "row 19, and what is free");
    assert_eq!(bash(&[("ls *", "allow")], "ls (("), "ask", "row 20");
    assert_eq!(bash(&[("*", "allow")], "ls (("), "allow", "row 20 with a rule for everything");
    assert_eq!(bash(&[("*", "allow"), ("rm *", "deny")], "ls (("), "ask", "it may hide what is denied");
    assert_eq!(bash(&[("rm *", "deny"), ("*", "allow")], "ls (("), "allow", "nothing is denied any more");
    assert_eq!(bash(&[("*", "ask"), ("ls ?", "allow")], "ls a"), "allow", "row 21");
    assert_eq!(bash(&[("*", "ask"), ("ls ?", "allow")], "ls ab"), "ask", "row 21");
    assert_eq!(bash(&[("*", "ask"), ("echo [ab]", "allow")], "echo a"), "ask", "row 22");
    assert_eq!(asked(&[("*", "ask")], "cd src"), [""; 0], "row 23");
    assert_eq!(asked(&[("*", "ask")], "cd .."), ["external_directory /w/*"], "row 23");
}

#[test]
fn rows_24_to_30_paths() {
    let docs = rules(&[(EDIT, "*", "deny"), (EDIT, "docs/*.md", "allow")]);
    assert_eq!(verdict(&docs, &wants(EDIT, &["docs/sub/b.md"])), "allow", "row 24");
    assert_eq!(verdict(&docs, &wants(EDIT, &["/w/p/docs/b.md"])), "allow", "row 24, the same file");
    let late = rules(&[(EDIT, "src/*", "allow"), (EDIT, "*", "deny")]);
    assert_eq!(verdict(&late, &wants(EDIT, &["src/a.ts"])), "deny", "row 25");
    assert!(late.hiding(EDIT).is_some(), "row 25 removes the tools");
    let read = |list: &[(&str, &str, &str)], path: &str| verdict(&rules(list), &wants("read", &[path]));
    assert_eq!(read(&[], "config/prod.env"), "ask", "row 26");
    assert_eq!(read(&[], ".env.local"), "ask", "row 26");
    assert_eq!(read(&[], ".env.example"), "none", "row 26: what is built in allows nothing by itself");
    assert_eq!(read(&[], "secret.txt"), "ask", "a link to a secret is one");
    let projects = [(EXTERNAL_DIRECTORY, "~/projects/*", "allow"), ("read", "*", "allow")];
    assert_eq!(read(&projects, "~/projects/x/a.txt"), "allow", "row 27");
    assert_eq!(read(&projects, "~/other/a"), "ask", "row 28");
    let literal = [(EXTERNAL_DIRECTORY, "/some/~/x/*", "allow"), ("read", "*", "allow")];
    assert_eq!(read(&literal, "/some/~/x/a"), "allow", "row 29");
    let pairs = pairs(&wants("read", &["l/passwd"]), &places(), &Links);
    assert_eq!((pairs[0].key.as_str(), pairs[0].value.as_str()), (EXTERNAL_DIRECTORY, "/etc/*"), "row 30");
    assert_eq!(read(&[], "l/passwd"), "ask", "row 30");
    assert_eq!(read(&[("read", "*", "deny")], "/state/output/x"), "allow", "whole outputs are always readable");
}

#[test]
fn rows_31_to_38_other_keys_and_layers() {
    let deploy = rules(&[("deploy", "*", "ask"), ("deploy", "staging", "allow")]);
    assert_eq!(verdict(&deploy, &wants("deploy", &["staging"])), "allow", "row 31");
    assert_eq!(verdict(&deploy, &wants("deploy", &["production"])), "ask", "row 31");
    let both = pairs(&wants("deploy", &["staging", "production"]), &places(), &Links);
    let asks: Vec<_> = both.iter().filter(|pair| pair.judge(&deploy).action == Some(Action::Ask)).collect();
    assert_eq!(asks.len(), 1, "row 32");
    assert_eq!(asks[0].value, "production", "row 32");
    let strict = rules(&[("deploy", "*", "ask"), ("deploy", "prod*", "deny")]);
    assert_eq!(verdict(&strict, &wants("deploy", &["staging", "production"])), "deny", "row 33");
    assert_eq!(verdict(&rules(&[]), &wants("deploy", &["x"])), "none", "row 34: who asked then asks");
    assert_eq!(verdict(&rules(&[("*", "*", "ask"), ("mcp_*", "*", "allow")]), &wants("mcp_x", &[])), "allow", "row 35");
    assert_eq!(verdict(&rules(&[(BASH, "*", "allow"), ("*", "*", "deny")]), &wants(BASH, &["ls"])), "deny", "row 36");
    let all = rules(&[("*", "*", "allow")]);
    for wants in [wants(BASH, &["rm -rf /"]), wants("read", &["/etc/.env"]), wants("x", &[])] {
        assert_eq!(verdict(&all, &wants), "allow", "row 37");
    }
}

#[test]
fn r001_and_r002_what_a_rule_for_the_first_command_does_not_let_through() {
    let ls = [("*", "ask"), ("ls*", "allow")];
    for text in ["ls; touch x", "ls && touch x", "ls\ntouch x", "ls | tee x", "ls & touch x"] {
        assert_eq!(bash(&ls, text), "ask", "{text}");
    }
    assert_eq!(bash(&[("*", "ask")], "rm -- f.txt"), "ask");
    assert_eq!(bash(&[("*", "ask")], "ls -"), "ask");
}

#[test]
fn r005_wrappers_and_redirections_do_not_get_round_rules() {
    let rm = [("*", "allow"), ("rm *", "deny")];
    for text in ["env A=1 rm f", "nice rm f", "xargs rm < l", "/bin/rm f", "r\\m f", "busybox rm f"] {
        assert_eq!(bash(&rm, text), "deny", "{text}");
    }
    for text in ["python3 -c 'import os; os.remove(\"f\")'", "perl -e 'unlink f'", "echo rm f | sh", "$(echo rm) f"] {
        assert_eq!(bash(&rm, text), "ask", "{text}");
    }
    assert_eq!(asked(&[("*", "allow")], "echo x > ../out"), ["external_directory /w/*"]);
    let edits = pairs(&wants(BASH, &["echo x > ../out"]), &places(), &Links);
    assert!(edits.iter().any(|pair| pair.key == EDIT && pair.value == "/w/out"), "{edits:?}");
}

#[test]
fn p65_a_path_counts_from_wherever_the_shell_may_have_gone() {
    assert_eq!(asked(&[("*", "allow")], "cd src && cat ../a"), ["external_directory /w/*"], "cd may have failed");
    assert_eq!(asked(&[("*", "allow")], "cd src && cat a"), [""; 0]);
    assert_eq!(asked(&[("*", "allow")], "cat l/passwd"), ["external_directory /etc/*"]);
    assert_eq!(asked(&[("*", "allow")], "cat $X"), ["external_directory $X"]);
    let everywhere = rules(&[(BASH, "*", "allow"), (EXTERNAL_DIRECTORY, "*", "allow")]);
    assert_eq!(verdict(&everywhere, &wants(BASH, &["cat $X"])), "allow");
    let many = (0..9).map(|n| format!("cd d{n};")).collect::<String>() + "rm x";
    assert_eq!(bash(&[("*", "allow")], &many), "ask", "too many folders to tell");
}

#[test]
fn where_there_is_no_rule_for_shells_the_tool_decides() {
    assert_eq!(bash(&[], "eval \"$X\""), "none");
    assert_eq!(bash(&[], "ls (("), "none");
    assert_eq!(bash(&[], "ls"), "none");
    assert_eq!(bash(&[], ""), "allow", "nothing is run");
}

fn any_text() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "ls",
        "git status",
        "rm x",
        "echo hi",
        "npm test",
        "$(rm y)",
        "`git push`",
        "> f",
        "> ../f",
        "2>&1",
        "'a b'",
        "\"$X\"",
        "sudo",
        "env A=1",
        "eval",
        "sh -c 'rm z'",
        "cd ..",
        "cat /etc/x",
        "#",
        "((",
    ]);
    let glue = prop::sample::select(vec![" ", "; ", " && ", " | ", "\n", " & "]);
    prop::collection::vec((part, glue), 1..6)
        .prop_map(|parts| parts.iter().map(|(part, glue)| format!("{part}{glue}")).collect())
}

fn any_rules() -> impl Strategy<Value = Rules> {
    let pattern = prop::sample::select(vec![
        "*",
        "ls *",
        "ls*",
        "git *",
        "git push *",
        "rm *",
        "rm",
        "echo *",
        "npm test",
        "? *",
    ]);
    let action = prop::sample::select(vec!["allow", "ask", "deny"]);
    prop::collection::vec((pattern, action), 0..5)
        .prop_map(|list| rules(&list.iter().map(|(pattern, action)| (BASH, *pattern, *action)).collect::<Vec<_>>()))
}

fn rank(word: &str) -> usize {
    ["allow", "none", "ask", "deny"].iter().position(|other| *other == word).expect("a verdict")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_verdict_never_gets_weaker_when_more_is_run(rules in any_rules(), one in any_text(), two in any_text()) {
        let alone = verdict(&rules, &wants(BASH, &[&one]));
        let both = verdict(&rules, &wants(BASH, &[&format!("{one}\n{two}")]));
        // What was not understood alone may be understood with more behind it, when a rule for everything decided.
        let understood = |text: &str| matches!(shell::parse(text), Script::Parsed(_) | Script::Empty);
        if understood(&one) && understood(&format!("{one}\n{two}")) {
            prop_assert!(rank(both) >= rank(alone), "{:?}: {} and then {:?}: {}", one, alone, two, both);
        }
    }
}
