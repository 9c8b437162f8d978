//! What `gV` and `gy` take from a chat, and which part of it a window shows.

use super::{opened, opened_by};

#[test]
fn view_all_finds_a_finished_call_folded_or_not_and_shows_what_the_model_read() {
    let editor = opened_by("two_calls");
    editor.wait_ended(1);
    editor.wait_buffer("broken");
    let view = |at: &str, parts: &[&str]| {
        editor.lua(&format!("vim.api.nvim_win_set_cursor(0, {{ row_of('{at}'), 0 }})"));
        editor.input("<Esc>gV");
        editor.wait_lua("vim.api.nvim_get_current_buf() ~= chat.bufnr");
        let shown = editor.buffer();
        editor.input("q");
        editor.wait_lua("vim.api.nvim_get_current_buf() == chat.bufnr");
        for part in parts {
            assert!(shown.contains(part), "{at}, {part}: {shown}");
        }
        shown
    };
    let shown = view(
        "✓ long",
        &["✓ long\nsuccess", "a: x", "The whole output is in this file\n/", "line 1 of it\nline 2 of it"],
    );
    assert!(shown.contains(&editor.results()[0]), "all that the model read: {shown}");
    // Inside of the fold as well.
    view("line 17 of it", &["✓ long\nsuccess", "a: x"]);
    let shown = view("✗ short", &["✗ short\nerror", "b: { 1, 2 }", "for the model"]);
    assert!(!shown.contains("for the user"));
    view("for the user", &["✗ short\nerror"]);
    view("Reasoning", &["Reasoning", "\none\ntwo"]);
    view("broken", &["! Scripted: broken"]);
    // Nowhere: a message.
    editor.lua(
        "told = {} vim.notify = function(text) told[#told + 1] = text end vim.api.nvim_win_set_cursor(0, { 1, 0 })",
    );
    editor.input("gV");
    editor.wait_lua("told[1] and told[1]:find('no call here')");
}

#[test]
fn a_call_that_runs_can_be_viewed() {
    let editor = opened(
        "open({ answer('t', { n = 1 }), { text = 'done' } }, { t = tool('t', { 'echo some output; sleep 30' }) }) send('go')",
    );
    editor.wait_screen("some output");
    editor.lua("vim.api.nvim_win_set_cursor(0, { row_of('· t'), 0 })");
    editor.input("<Esc>gV");
    editor.wait_buffer("No result yet; its last line\nsome output");
    assert!(editor.buffer().contains("running") && editor.buffer().contains("n: 1"), "{}", editor.buffer());
    editor.input("q");
    editor.lua("chat:stop()");
    editor.wait_ended(1);
}

#[test]
fn yank_code_takes_the_block_under_the_cursor_else_the_last_one_above_and_never_a_tools() {
    let editor = opened_by("code_blocks");
    editor.wait_ended(1);
    editor.wait_buffer("after");
    let yank = |at: &str, keys: &str, register: &str| {
        editor.lua(&format!(
            "vim.fn.setreg('{register}', 'untouched') vim.api.nvim_win_set_cursor(0, {{ row_of('{at}'), 0 }})"
        ));
        editor.input(keys);
        editor.wait_lua(&format!("vim.fn.getreg('{register}') ~= 'untouched'"));
        editor.lua_text(&format!("return vim.fn.getreg('{register}')"))
    };
    let lua = "local a = 1\n\nreturn a\n";
    assert_eq!(yank("return a", "<Esc>gy", "\""), lua);
    assert_eq!(yank("```lua", "gy", "\""), lua);
    assert_eq!(yank("- item", "gy", "\""), lua);
    assert_eq!(yank("indented", "\"agy", "a"), "```\nindented\n");
    assert_eq!(yank("after", "gy", "\""), "```\nindented\n");
    assert_eq!(yank("of the tool", "gy", "\""), "```\nindented\n");
    editor.lua("vim.api.nvim_win_set_cursor(0, { row_of('First'), 0 })");
    editor.input("gy");
    editor.wait_lua("told[1] and told[1]:find('no code block here or above')");
}

#[test]
fn a_user_at_the_end_sees_the_input_whatever_comes() {
    let editor = opened(
        r#"
        open({ { text = "one" }, { text = lines(500) }, { text = ("word "):rep(3000) }, answer("t", {}), { text = "end" } }, {
          t = said("t", lines(7)),
        })"#,
    );
    for (turn, mode) in [(1, "<Esc>"), (2, "<Esc>"), (3, "Go"), (4, "")] {
        editor.input(mode);
        editor.lua("send('go')");
        editor.wait_ended(turn);
        editor.wait_screen("g? keys");
        editor.lua("vim.cmd('redraw')");
        assert!(editor.lua_bool("return vim.fn.line('w$') == vim.fn.line('$')"), "{turn}: {}", editor.screen());
        if turn > 1 {
            assert!(!editor.screen().contains('~'), "{turn}: nothing is empty below it: {}", editor.screen());
        }
    }
    editor.assert_no_fault();
}

#[test]
fn a_chat_that_fits_its_window_is_shown_from_its_first_line() {
    let editor = opened_by("two_long_results");
    for _ in 0..2 {
        editor.wait_lua("go_on");
        editor.lua("local f = go_on go_on = nil f({ status = 'success', data = lines(100) })");
    }
    editor.wait_ended(1);
    editor.wait_screen("end");
    editor.lua("vim.cmd('redraw')");
    assert!(editor.screen().starts_with("## Me\n"), "{}", editor.screen());
    editor.assert_quiet();
}

#[test]
fn a_long_chat_that_is_read_again_keeps_its_text_and_tells_nothing() {
    let editor = crate::chat::editor();
    editor.run("many_turns");
    editor.wait_ended(1);
    editor.wait_lua(r#"table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), "\n"):find("end")"#);
    let before = editor.chat_text();
    editor.lua(r#"vim.cmd("buffer " .. chat.bufnr .. " | edit!")"#);
    editor.wait_lua(r#"vim.api.nvim_buf_line_count(chat.bufnr) > 40"#);
    assert_eq!(editor.chat_text(), before);
    editor.assert_quiet();
}
