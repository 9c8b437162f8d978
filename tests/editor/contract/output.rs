//! Output functions: when each is called, with what, and what is told where one is left out.

use super::editor;
use crate::support::Editor;

fn prepared() -> Editor {
    let editor = editor();
    editor.run("noting");
    editor
}

fn log(editor: &Editor) -> String {
    editor.lua_text("return table.concat(log, '\\n')")
}

#[test]
fn cc_output_success_comes_after_every_function_with_all_data_so_far() {
    let editor = prepared();
    editor.lua("run(answer('t', {}), { t = speaks('t', { ok(1), ok({ 2 }), ok(nil) }) })");
    editor.wait_ended(1);
    assert_eq!(log(&editor), "success { 1 } true 1\nsuccess { 1, { 2 } } true 2\nsuccess { 1, { 2 } } true 3");
    assert_eq!(editor.results(), ["success\n\nsuccess\n\nsuccess"]);
}

#[test]
fn cc_output_lists_are_nil_when_empty() {
    let editor = prepared();
    editor.lua("run(answer('t', {}, 'u', {}), { t = speaks('t', { ok(nil) }), u = speaks('u', { bad(nil) }) })");
    editor.wait_ended(1);
    assert_eq!(log(&editor), "success nil true 1\nerror nil true 1");
}

#[test]
fn cc_output_error_comes_once_with_the_errors_of_the_turn_the_latest_last() {
    let editor = prepared();
    editor.lua("run(answer('t', {}, 'u', {}), { t = speaks('t', { ok(1), bad('first') , ok(2) }), u = speaks('u', { bad('second') }) })");
    editor.wait_ended(1);
    assert_eq!(
        log(&editor),
        "success { 1 } true 1\nerror { \"first\" } true 2\nerror { \"first\", \"second\" } true 1"
    );
    editor
        .lua("log = {} open({ answer('t', {}), { text = 'done' } }, { t = speaks('t', { bad('third') }) }) send('go')");
    editor.wait_ended(2);
    assert_eq!(log(&editor), "error { \"third\" } true 1", "errors of another turn are gone");
}

#[test]
fn cc_output_rejected_gets_the_reason_and_the_next_tool_runs() {
    let editor = prepared();
    editor.lua("run(answer('t', {}, 'u', {}), { t = speaks('t', { ok(1) }, { opts = { require_approval_before = true } }), u = speaks('u', { ok(2) }) })");
    editor.wait_buffer("Run the \"t\" tool?");
    editor.input("<Esc>g3not now<CR>");
    editor.wait_ended(1);
    assert_eq!(log(&editor), "rejected {reason = \"not now\"} true\nsuccess { 2 } true 1");
}

#[test]
fn cc_output_cancelled_is_for_the_tool_and_all_that_are_queued() {
    let editor = prepared();
    editor.lua("run(answer('t', {}, 'u', {}), { t = speaks('t', { ok(1) }, { opts = { require_approval_before = true } }), u = speaks('u', { ok(2) }) })");
    editor.wait_buffer("Run the \"t\" tool?");
    editor.input("<Esc>g4");
    editor.wait_ended(1);
    assert_eq!(log(&editor), "cancelled {} true\ncancelled {} true");
    assert_eq!(editor.results(), ["cancelled", "cancelled"]);
    assert!(editor.lua_bool("return events[#events].data.status == 'cancelled'"), "nothing is sent");
}

#[test]
fn cc_output_prompt_words_the_question_and_cmd_string_the_label() {
    let editor = prepared();
    editor.run("prompt_and_label");
    editor.wait_buffer("? t  label of this, true\n  Really this, true?");
    editor.input("<Esc>g2");
    editor.wait_ended(1);
    assert!(editor.buffer().contains("t  label of this, true"));
}

#[test]
fn cc_output_display_is_shown_and_content_is_for_the_model() {
    let editor = prepared();
    editor.run("displays");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["model 1", "model 2", "model 3", "model 4"]);
    let shown = editor.buffer();
    assert!(shown.contains("\n  user 1\n") && shown.contains("\n  model 2\n"), "{shown}");
    assert!(!shown.contains("model 1") && !shown.contains("model 3") && !shown.contains("model 4"), "{shown}");
}

#[test]
fn cc_output_function_that_adds_nothing_gives_the_stand_in() {
    let editor = prepared();
    editor.lua(
        r#"
        local function silent(name, cmd, what) local t = bare(name, { cmd }) t.output = { [what] = function() end } return t end
        run(answer("t", {}, "u", {}), { t = silent("t", ok(1), "success"), u = silent("u", bad(1), "error") })"#,
    );
    editor.wait_ended(1);
    let stand_in = |name: &str| format!("The call of the {name} tool did not complete: the tool gave no result");
    assert_eq!(editor.results(), [stand_in("t"), stand_in("u")]);
}

#[test]
fn cc_output_defaults_are_as_documented() {
    let editor = prepared();
    editor.run("defaults");
    editor.wait_buffer("? asked\n  Run the \"asked\" tool?");
    editor.input("<Esc>g3too early<CR>");
    editor.wait_buffer("Run the \"left\" tool?");
    editor.input("<Esc>g4");
    editor.wait_ended(1);
    assert_eq!(
        editor.results(),
        [
            "Executed good",
            "Error calling fails",
            "The user rejected the asked tool: too early",
            "The user cancelled the left tool",
            "The user cancelled the queued tool"
        ]
    );
}

#[test]
fn what_a_command_printed_follows_the_default_text() {
    let editor = prepared();
    editor.lua(
        r#"
        run(answer("good", {}, "fails", {}, "mixed", {}), {
          good = bare("good", { "echo one", "echo two >&2" }), fails = bare("fails", { "echo out; exit 3" }),
          mixed = bare("mixed", { "echo hidden", ok("seen") }),
        })"#,
    );
    editor.wait_ended(1);
    assert_eq!(
        editor.results(),
        [
            "Executed good\n\none\n\n\nstderr (exit code 0):\ntwo\n",
            "Error calling fails\n\nThe command failed with exit code 3.\nstdout:\nout\n",
            "Executed mixed"
        ]
    );
    assert!(editor.buffer().contains("Executed good\n"), "{}", editor.buffer());
    editor.assert_quiet();
}
