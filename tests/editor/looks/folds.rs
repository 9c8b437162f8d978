//! What is folded, and that folding moves neither cursor nor view.

use super::{HELPERS, editor, line, opened};
use crate::chat::PRELUDE;
use crate::support::{Editor, Setup, script};

#[test]
fn a_long_output_is_one_line_with_its_facts_until_it_is_unfolded() {
    let editor = opened("open({ answer('t', {}), { text = 'done' } }, { t = said('t', lines(214)) }) send('go')");
    editor.wait_ended(1);
    editor.wait_screen("done");
    let folded = line(&editor, "✓ t");
    assert!(folded.contains("214 lines") && folded.ends_with("  zo"), "{folded}");
    assert_eq!(folded.chars().count(), 80, "the facts stand at the right edge: {folded}");
    assert!(!editor.screen().contains("line 1 of it"), "{}", editor.screen());
    editor.input("<Esc>gg/✓ t<CR>zo");
    editor.wait_screen("line 1 of it");
    assert!(!line(&editor, "✓ t").contains("zo"));
    editor.input("zc");
    editor.wait_screen_without("line 1 of it");
    editor.input("zR");
    editor.wait_screen("line 1 of it");
    editor.assert_quiet();
}

#[test]
fn one_line_that_is_as_long_as_many_is_folded_too() {
    let editor =
        opened("open({ answer('t', {}), { text = 'done' } }, { t = said('t', ('word '):rep(5000)) }) send('go')");
    editor.wait_ended(1);
    editor.wait_screen("done");
    assert!(line(&editor, "✓ t").contains("25 KB") && !editor.screen().contains("word"), "{}", editor.screen());
}

#[test]
fn a_short_output_is_shown_and_with_fold_output_off_a_long_one_too() {
    let editor = opened("open({ answer('t', {}), { text = 'done' } }, { t = said('t', lines(8)) }) send('go')");
    editor.wait_ended(1);
    editor.wait_screen("line 8 of it");
    let editor = editor_without("fold_output");
    editor.wait_ended(1);
    editor.wait_screen("line 12 of it");
    assert_eq!(editor.lua_int("return vim.fn.foldlevel(row_of('line 12 of it'))"), 0);
    editor.assert_quiet();
}

/// A chat with this option off in which the model has thought two lines, called a tool of twelve lines and said so.
fn editor_without(display: &str) -> Editor {
    let editor = editor();
    editor.run_with("without_display", vec![display.into()]);
    editor
}

#[test]
fn no_fold_closes_under_the_cursor() {
    let editor = opened(
        "open({ answer('t', {}), { text = 'done' } }, { t = tool('t', { function(_, _, opts) go_on = opts.output_cb end }) }) \
         send('go')",
    );
    editor.wait_lua("go_on");
    editor.wait_buffer("· t");
    editor.input("<Esc>gg/· t<CR>l");
    editor.wait_lua("vim.fn.col('.') > 1");
    editor.lua("go_on({ status = 'success', data = lines(50) })");
    editor.wait_ended(1);
    assert!(editor.lua_bool("return vim.fn.line('.') == row_of('✓ t') and vim.fn.foldclosed('.') == -1"));
    assert_eq!(editor.lua_int("return vim.fn.foldlevel('.')"), 1, "it can be closed");
    editor.input("zc");
    editor.wait_screen("50 lines");
    editor.assert_quiet();
}

#[test]
fn folding_moves_neither_the_cursor_nor_the_view_of_a_window_that_is_elsewhere_and_one_at_the_end_follows() {
    let editor = opened(
        r#"
        open({ { text = lines(60) }, answer("t", {}, "t", {}), { text = lines(3) } },
          { t = tool("t", { function(_, _, opts) go_on = opts.output_cb end }) })
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.run("two_windows");
    for _ in 0..2 {
        editor.wait_lua("go_on");
        editor.lua("local f = go_on go_on = nil f({ status = 'success', data = lines(500) })");
    }
    editor.wait_ended(2);
    editor.wait_buffer("500 of it");
    editor.lua("vim.cmd('redraw')");
    assert_eq!(editor.lua_text("return view(elsewhere)"), editor.lua_text("return before"));
    // The end is at the end of its window, with nothing empty below it.
    assert!(editor.lua_bool("return vim.fn.line('w$', at_end) == vim.api.nvim_buf_line_count(chat.bufnr)"));
    assert!(
        editor.lua_bool(
            "local top = vim.fn.line('w0', at_end) - 1
         return vim.api.nvim_win_text_height(at_end, { start_row = top }).all >= vim.api.nvim_win_get_height(at_end)"
        ),
        "{}",
        editor.screen()
    );
    for win in ["at_end", "elsewhere"] {
        let folded = format!(
            "return vim.api.nvim_win_call({win}, function() return vim.fn.foldclosed(row_of('✓ t')) == row_of('✓ t') end)"
        );
        assert!(editor.lua_bool(&folded), "{win}");
    }
    editor.assert_quiet();
}

#[test]
fn a_window_opened_later_has_the_folds_too_and_shows_the_end() {
    let editor = editor();
    editor.run("many_calls");
    editor.wait_ended(1);
    editor.lua("chat:open()");
    editor.wait_screen("done");
    editor.wait_screen("20 lines");
    assert!(!editor.screen().contains("of it"), "{}", editor.screen());
    let all = script("folded");
    editor.wait_until("all are folded", || editor.lua_int(&all) == 900);
    // A window that had other folds of it before the text changed.
    editor.lua("chat:hide() send('more')");
    editor.wait_ended(2);
    editor.lua("chat:open()");
    editor.wait_until("all are folded again", || editor.lua_int(&all) == 900);
    editor.assert_quiet();
}

#[test]
fn another_buffer_in_the_chats_window_has_its_own_options() {
    let editor = editor();
    let file = editor.home.path().join("file.txt");
    std::fs::write(&file, "text\n").unwrap();
    editor.run_with("another_buffer", vec![file.to_str().unwrap().into()]);
    assert!(
        editor.lua_bool("return its ~= own and its:find('foldmethod=manual') and its:find('number=false') and true")
    );
    for command in ["'edit ' .. file", "'enew'", "'buffer ' .. vim.fn.fnameescape(file .. '2')"] {
        editor.lua(&format!("vim.cmd({command})"));
        assert_eq!(editor.lua_text("return state()"), editor.lua_text("return own"), "{command}");
        editor.lua("vim.api.nvim_win_set_buf(0, chat.bufnr)");
        assert_eq!(editor.lua_text("return state()"), editor.lua_text("return its"), "{command}");
    }
    // A window that was split off it.
    editor.lua("vim.cmd('split') vim.cmd('edit ' .. file)");
    assert_eq!(editor.lua_text("return state()"), editor.lua_text("return own"));
    editor.assert_quiet();
}

#[test]
fn reasoning_is_one_line_while_it_streams_and_folded_afterwards() {
    let editor = opened(
        r#"
        open({ answer("t", {}), { text = "done" } }, { t = tool("t", { function(_, _, opts) go_on = opts.output_cb end }) })
        send("go")"#,
    );
    editor.wait_lua("go_on");
    // The way of the model's reasoning into the buffer.
    editor.lua(
        "chat.render:add_text('first I think\\nthen I th', 'reasoning') chat.render:add_text('ink again', 'reasoning')",
    );
    editor.wait_screen("then I think again");
    assert!(!editor.buffer().contains("first I think"), "it is virtual text: {}", editor.buffer());
    assert_eq!(editor.buffer().matches("Reasoning").count(), 1);
    editor.lua("chat.render:add_text('the answer', 'text')");
    editor.wait_screen("2 lines  zo");
    editor.wait_screen_without("think again");
    assert!(line(&editor, "· Reasoning").ends_with("2 lines  zo"));
    assert!(
        editor.buffer().contains("· Reasoning\n  first I think\n  then I think again\n\nthe answer"),
        "{}",
        editor.buffer()
    );
    assert!(!editor.screen().contains("I think"), "{}", editor.screen());
    editor.lua("go_on({ status = 'success', data = 'x' })");
    editor.wait_ended(1);
    editor.assert_quiet();
}

#[test]
fn reasoning_is_folded_even_where_output_is_not_and_left_out_when_not_wanted() {
    let editor = editor_without("fold_output");
    editor.wait_ended(1);
    editor.wait_screen("2 lines  zo");
    assert!(!editor.screen().contains("thought"), "{}", editor.screen());
    let editor = editor_without("show_reasoning");
    editor.wait_ended(1);
    editor.wait_buffer("done");
    assert!(!editor.buffer().contains("thought") && !editor.buffer().contains("Reasoning"), "{}", editor.buffer());
    assert_eq!(editor.lua_text("return chat.messages[2].reasoning.content"), "thought one\nthought two");
}

#[test]
fn in_a_narrow_window_the_name_of_a_folded_call_is_worth_more_than_its_facts() {
    let editor = Setup::default().size(36, 24).start();
    editor.lua(PRELUDE);
    editor.lua(HELPERS);
    editor.run("narrow");
    editor.wait_ended(1);
    editor.wait_screen("done");
    let shown = line(&editor, "find_everything");
    assert!(shown.starts_with("✓ find_everything  here  ") && shown.ends_with("100 lines"), "{shown}");
    assert!(line(&editor, "Reasoning").ends_with("2 lines  zo"));
    editor.assert_quiet();
}

#[test]
fn ten_thousand_calls_with_long_output_are_folded_and_do_not_hold_the_editor() {
    let editor = Setup::default().size(100, 40).start();
    editor.lua(PRELUDE);
    editor.lua(HELPERS);
    editor.run("ten_thousand");
    editor.watch_loop();
    editor.lua("send('go')");
    editor.wait_ended(1);
    editor.wait_screen("done");
    let gaps = editor.gaps();
    // A debug build on a busy machine: what matters is that no work grows with what is there.
    assert!(gaps.max_ms() < 500.0, "{:?}", gaps.max_ms());
    editor.wait_screen("12 lines");
    let first_last = "return vim.fn.foldclosed(row_of('✓ t')) > 0 and vim.fn.foldclosed(vim.fn.line('$') - 6) > 0";
    assert!(editor.lua_bool(first_last), "{}", editor.screen());
    editor.assert_quiet();
}
