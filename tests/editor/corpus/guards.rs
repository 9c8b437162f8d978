//! Tools that are guarded by the older name of an option are asked about, in auto mode too.

use super::{compatible, editor, either_way};
use crate::support::Editor;

/// Opens a chat in auto mode whose model makes these calls.
fn play_auto(editor: &Editor, calls: &str, tools: &str) {
    editor.lua(&format!("open({{ answer({calls}), {{ text = 'done' }} }}, {tools}) chat:set_auto(true) send('go')"));
}

#[track_caller]
fn is_asked(editor: &Editor, question: &str) {
    editor.wait_lua(&format!("is_asking() and shown():find([[{question}]], 1, true)"));
}

#[test]
fn allowed_in_yolo_mode_of_a_tool_is_protect() {
    either_way(|editor| {
        play_auto(editor, "'guarded_yolo', {}", "one('guarded_yolo')");
        is_asked(editor, "Run the \"guarded_yolo\" tool?");
        assert!(editor.lua_bool("return yolo_ran == nil"));
        editor.input("<Esc>g2");
        assert_eq!(editor.turn_over(), ["deleted"]);
    });
}

#[test]
fn allowed_in_yolo_mode_of_an_entry_is_protect() {
    either_way(|editor| {
        let entry = "{ calculator_agent = { callback = corpus('tools', 'calculator_agent'), opts = { allowed_in_yolo_mode = false } } }";
        play_auto(editor, "'calculator_agent', { left = 1, right = 2, operation = 'multiply' }", entry);
        is_asked(editor, "Run the \"calculator_agent\" tool?");
        editor.input("<Esc>g2");
        assert_eq!(editor.turn_over(), ["2"]);
        let told = editor.told_all();
        assert_eq!(told.matches("allowed_in_yolo_mode").count(), 1, "{told}");
    });
}

#[test]
fn allowed_in_yolo_mode_of_true_changes_nothing() {
    let editor = editor();
    let entry = "{ calculator_agent = { callback = corpus('tools', 'calculator_agent'), opts = { allowed_in_yolo_mode = true } } }";
    play_auto(&editor, "'calculator_agent', { left = 1, right = 2, operation = 'multiply' }", entry);
    assert_eq!(editor.turn_over(), ["2"]);
}

#[test]
fn requires_approval_and_user_approval_ask() {
    for option in ["requires_approval", "user_approval"] {
        for place in ["entry", "tool"] {
            let editor = editor();
            editor.lua("calculator = corpus('tools', 'calculator_agent')");
            let tools = if place == "entry" {
                format!("{{ calculator_agent = {{ callback = calculator, opts = {{ {option} = true }} }} }}")
            } else {
                editor.lua(&format!("calculator.opts = {{ {option} = true }}"));
                "{ calculator_agent = { callback = calculator } }".into()
            };
            editor.play("'calculator_agent', { left = 1, right = 2, operation = 'multiply' }", &tools);
            is_asked(&editor, "Run the \"calculator_agent\" tool?");
            editor.input("<Esc>g2");
            assert_eq!(editor.turn_over(), ["2"], "{option} in the {place}");
            let told = editor.told_all();
            assert_eq!(told.matches(option).count(), 1, "{told}");
        }
    }
}

#[test]
fn options_of_the_entry_win_whatever_they_are_called() {
    for (entry, tool, asks) in [
        ("require_approval_before = false", "requires_approval = true", false),
        ("requires_approval = false", "require_approval_before = true", false),
        ("requires_approval = true", "require_approval_before = false", true),
        // One table says both: the careful one counts.
        ("requires_approval = true, require_approval_before = false", "", true),
        ("require_approval_before = true, user_approval = false", "", true),
        ("protect = false, allowed_in_yolo_mode = false, require_approval_before = true", "", true),
    ] {
        let editor = editor();
        editor.lua(&format!("calculator = corpus('tools', 'calculator_agent') calculator.opts = {{ {tool} }}"));
        editor.play(
            "'calculator_agent', { left = 1, right = 2, operation = 'multiply' }",
            &format!("{{ calculator_agent = {{ callback = calculator, opts = {{ {entry} }} }} }}"),
        );
        if asks {
            is_asked(&editor, "Run the \"calculator_agent\" tool?");
            editor.input("<Esc>g2");
        }
        assert_eq!(editor.turn_over(), ["2"], "{entry}; {tool}");
        assert_eq!(editor.lua_int("return count('LatheToolApprovalRequested')"), i64::from(asks), "{entry}; {tool}");
    }
}

#[test]
fn older_option_with_a_function_decides() {
    either_way(|editor| {
        editor
            .play("'guarded_function', { path = 'a' }, 'guarded_function', { path = '/b' }", "one('guarded_function')");
        is_asked(editor, "Run the \"guarded_function\" tool?");
        assert_eq!(editor.results(), ["wrote a"]);
        editor.input("<Esc>g2");
        assert_eq!(editor.turn_over(), ["wrote a", "wrote /b"]);
    });
}

#[test]
fn older_option_with_a_table_is_for_prompt_condition() {
    either_way(|editor| {
        editor.play("'guarded_table', { kind = 'buffer' }, 'guarded_table', { kind = 'file' }", "one('guarded_table')");
        is_asked(editor, "Edit the file?");
        assert_eq!(editor.results(), ["edited a buffer"]);
        editor.input("<Esc>g2");
        assert_eq!(editor.turn_over(), ["edited a buffer", "edited a file"]);
    });
}

/// A chat in auto mode with a scripted judge that answers so.
fn judge(editor: &Editor, verdict: &str) {
    editor.run_with("judge", vec![verdict.into()]);
}

#[test]
fn judge_in_yolo_mode_has_the_judge_look_and_asks_when_it_does_not_agree() {
    let editor = editor();
    judge(&editor, r#"{"safe": true, "reason": "harmless"}"#);
    assert_eq!(editor.turn_over(), ["moved a chair"]);
    assert_eq!(editor.lua_int("return count('LatheToolsJudgeFinished')"), 1);
    for verdict in [r#"{"safe": false, "reason": "heavy"}"#, "no idea"] {
        let editor = compatible();
        judge(&editor, verdict);
        is_asked(&editor, "Run the \"judged\" tool?");
        assert!(editor.lua_bool("return judged_ran == nil"));
        editor.input("<Esc>g2");
        assert_eq!(editor.turn_over(), ["moved a chair"]);
    }
}

#[test]
fn unknown_options_of_an_entry_are_told() {
    let editor = editor();
    let results = editor.outcome(
        "'calculator_agent', { left = 1, right = 2, operation = 'multiply' }",
        "{ calculator_agent = { callback = corpus('tools', 'calculator_agent'), opts = { require_aproval_before = true, timeout = 1000 } } }",
    );
    assert_eq!(results, ["2"]);
    let told = editor.told_all();
    assert_eq!(told.matches("require_aproval_before").count(), 1, "{told}");
    assert!(told.contains("calculator_agent") && !told.contains("timeout"), "{told}");
    // What the tool's author has as an option is none of lathe's business.
    let editor = super::editor();
    editor.lua("calculator = corpus('tools', 'calculator_agent') calculator.opts = { digits = 2 }");
    editor.outcome(
        "'calculator_agent', { left = 1, right = 2, operation = 'multiply' }",
        "{ calculator_agent = { callback = calculator, opts = { digits = 3 } } }",
    );
    assert_eq!(editor.told_all(), "");
}
