//! What the user answers a question, and what is typed meanwhile.

use crate::chat::editor;

#[test]
fn the_four_answers_do_what_they_say() {
    let editor = editor();
    editor.run("four_answers");
    // Always: the second call of t does not ask.
    editor.wait_screen("Run the \"t\" tool?");
    editor.input("g1");
    editor.wait_screen("Run u with 3?");
    // Nothing else answers.
    editor.input("<CR><Esc>");
    assert_eq!(editor.lua_int("return #results()"), 2);
    editor.input("g3");
    editor.wait_screen("Run u with 4?");
    editor.input("g2");
    editor.wait_screen("Run the \"v\" tool?");
    editor.input("g4");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran 1", "ran 2", "declined: wrong dir", "ran 4", "The user cancelled the v tool"]);
    assert_eq!(editor.lua_int("return count('LatheRequestStarted')"), 1, "nothing is sent after a cancel");
    editor.assert_quiet();
}

#[test]
fn what_is_typed_at_a_question_waits_goes_out_with_the_results_and_is_no_answer() {
    let editor = editor();
    editor.run("asking");
    editor.wait_screen("Run the \"t\" tool?");
    editor.input("Goyes, do it<C-s>");
    editor.wait_screen("waits for the tools");
    assert_eq!(editor.lua_int("return #results()"), 0);
    editor.input("<Esc>A at once<Esc>");
    editor.input("g2");
    editor.wait_ended(1);
    editor.wait_buffer("answered both");
    let said = editor.lua_text(
        "local all = {} for _, m in ipairs(chat.messages) do all[#all + 1] = m.role .. ':' .. m.content end return table.concat(all, '|')",
    );
    assert_eq!(said, "user:go|llm:|tool:ran|user:yes, do it at once|llm:answered both");
    editor.assert_quiet();
}

#[test]
fn r153_the_third_identical_call_in_a_row_asks() {
    let editor = editor();
    editor.run("third_call");
    editor.wait_screen("g4");
    assert_eq!(editor.lua_int("return ran"), 2);
    assert!(!editor.screen().contains("g1"), "it cannot be accepted for ever: {}", editor.screen());
    editor.input("g4");
    editor.wait_ended(1);
    assert!(editor.lua_bool("return paired()"));
}
