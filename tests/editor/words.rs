//! What the user reads is made of data: nothing that a tool, a model or a rule says is taken for a sentence of ours.

use crate::chat;
use crate::support::Editor;

/// Rules' patterns with signs that mean something in one language or another, and values that they match.
const PATTERNS: [(&str, &str); 4] = [
    ("old (secret) *", "old (secret) x"),
    ("a \"b\" (c*", "a \"b\" (c d"),
    ("%d [x) $1*", "%d [x) $1"),
    ("ä: rule (setup())*", "ä: rule (setup())"),
];

fn rule(pattern: &str, action: &str, value: &str) -> Editor {
    let editor = chat::editor();
    editor.run_with("rule", vec![pattern.into(), action.into(), value.into()]);
    editor
}

#[test]
fn what_a_tool_says_is_shown_as_it_is_whatever_it_looks_like() {
    let editor = chat::editor();
    editor.run("lookalikes");
    editor.wait_ended(1);
    let buffer = editor.buffer();
    for line in [
        "  denied by rule bash \"rm *\" (setup()): rm -rf x",
        "  What it had printed:",
        "  5 lines",
        "  Error calling t",
        "  400: Invalid schema",
        "  not run",
    ] {
        assert_eq!(buffer.lines().filter(|shown| *shown == line).count(), 2, "{line:?}\n{buffer}");
    }
    assert_eq!(editor.results().len(), 10);
    editor.assert_quiet();
}

#[test]
fn a_rule_that_denies_is_named_to_user_and_model_alike_whatever_signs_are_in_it() {
    for (pattern, value) in PATTERNS {
        let editor = rule(pattern, "deny", value);
        editor.wait_ended(1);
        let named = format!("denied by rule read {pattern:?} (setup())");
        assert_eq!(editor.results(), [format!("{named}: {value}")]);
        editor.wait_screen(&named);
        editor.assert_quiet();
    }
}

#[test]
fn a_rule_that_asks_is_named_whatever_signs_are_in_it() {
    for (pattern, value) in PATTERNS {
        let editor = rule(pattern, "ask", value);
        editor.wait_lua("#chat.questions == 1");
        editor.wait_screen("g2  Accept");
        editor.input("gV");
        editor.wait_screen(&format!("asked by rule read {pattern:?} (setup())"));
        editor.assert_quiet();
    }
}

#[test]
fn what_the_judge_says_is_no_format() {
    let editor = chat::editor();
    for reason in ["100 %s (sure) %1", "%", "ends with \\"] {
        let shown = editor.run_with("judged", vec![reason.into()]);
        assert_eq!(shown.as_str(), Some(format!("judge: \"{reason}\"").as_str()));
    }
}
