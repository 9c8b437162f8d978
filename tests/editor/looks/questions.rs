//! How a question looks, and that its answers are always in view.

use super::{HELPERS, editor, opened_by};
use crate::chat::PRELUDE;
use crate::support::Setup;

#[test]
fn a_question_says_what_each_answer_means() {
    let editor = opened_by("three_calls");
    editor.wait_screen("g4");
    for part in [
        "Always accept   remembers every call of t in this chat",
        "with a reason for the model",
        "this and 2 more calls",
    ] {
        assert!(editor.buffer().contains(part), "{part}: {}", editor.buffer());
    }
    let groups = |text: &str| editor.run_with("groups", vec![text.into()]);
    assert_eq!(groups("g3  Reject").as_str(), Some("LatheKey2-4 LatheFact22-49"));
    editor.input("<Esc>g4");
    editor.wait_ended(1);
    let left = editor.lua_int(
        "return #vim.api.nvim_buf_get_extmarks(chat.bufnr, vim.api.nvim_create_namespace('lathe.question'), 0, -1, {})",
    );
    assert_eq!(left, 0, "its colours are gone with it");
}

#[test]
fn r093_the_answers_are_in_view_whatever_the_arguments_and_the_window() {
    for (width, height) in [(80, 24), (36, 24), (120, 40), (80, 16)] {
        let editor = Setup::default().size(width, height).start();
        editor.lua(PRELUDE);
        editor.lua(HELPERS);
        editor.run("long_question");
        editor.wait_ended(1);
        editor.lua("send('go')");
        editor.wait_screen("g4  Cancel");
        let screen = editor.screen();
        for part in [
            "? t",
            "g1  Always accept",
            "remembers every call of t",
            "g2  Accept",
            "g3  Reject",
            "1 more call",
            "gV view all",
        ] {
            assert!(screen.contains(part), "{width}x{height}: {part}\n{screen}");
        }
        assert!(screen.contains("## Me"), "the input is in view: {screen}");
        let rows = editor.lua_int(
            "return vim.api.nvim_win_text_height(0, { start_row = row_of('? t') - 1, end_row = row_of('g4  Cancel') }).all",
        );
        assert!(rows <= i64::from(height / 2) + 2, "{width}x{height}: {rows} rows\n{screen}");
        editor.input("<Esc>g4");
        editor.wait_ended(2);
        editor.assert_quiet();
    }
}

#[test]
fn view_all_shows_the_whole_of_a_question_and_q_closes_it() {
    let editor = opened_by("long_arguments");
    editor.wait_screen("more lines  gV view all");
    editor.input("<Esc>gV");
    editor.wait_buffer("line 300 of it");
    let shown = editor.buffer();
    for part in ["? t\nasks\n", "Arguments\n", "command:\n  line 1 of it\n", "n: 5", "No result yet"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    editor.input("q");
    editor.wait_lua("vim.api.nvim_get_current_buf() == chat.bufnr");
    editor.input("g2");
    editor.wait_ended(1);
    editor.assert_quiet();
}

#[test]
fn an_open_question_fits_its_window_again_when_that_becomes_wider() {
    let editor = editor();
    editor.lua(
        "open({ answer('t', {}) }, { t = tool('t', {}, { opts = { require_approval_before = true } }) })
         vim.cmd('vertical resize 30')
         send('go')",
    );
    editor.wait_lua("chat.questions[1]");
    editor.wait_screen("g3  Reject");
    assert!(!editor.screen().contains("with a reason for the model"), "{}", editor.screen());
    editor.lua("alone()");
    editor.wait_screen("g3  Reject          with a reason for the model");
}
