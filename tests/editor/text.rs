//! The chat's text: what the user types is theirs, what the model writes is out of their undo, and nothing that a model or
//! a tool gives breaks the buffer.

use crate::chat::{self, PRELUDE};
use crate::support::{Editor, Setup, script};

fn editor() -> Editor {
    chat::editor()
}

#[test]
fn undo_never_removes_what_the_model_wrote() {
    let editor = editor();
    editor.run("streaming");
    editor.lua("streaming()");
    editor.input("igo<C-s>");
    editor.wait_lua("go_on");
    editor.wait_buffer("third");
    editor.input("<Esc>Gotyped one<Esc>otyped two<Esc>");
    editor.wait_lua("input() == 'typed one\\ntyped two'");
    editor.input("uuuuuuuuuu<C-r><C-r>uuuuuuuu:undo 0<CR>");
    editor.input(":let g:done = 1<CR>");
    editor.wait_lua("vim.g.done == 1");
    let shown = editor.buffer();
    for text in ["go", "first\nsecond\nthird", "## Lathe (Scripted)", "· t"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert!(!shown.contains("typed"), "the user's own text can be undone: {shown}");
    editor.input("Gotyped three<Esc>");
    editor.wait_lua("input() == 'typed three'");
    editor.lua("go_on({ status = 'success', data = 'result' })");
    editor.wait_ended(1);
    editor.input("<Esc>uuuuuuuuuuuu:silent! earlier 1h<CR>:let g:done = 2<CR>");
    editor.wait_lua("vim.g.done == 2");
    let shown = editor.buffer();
    for text in ["first\nsecond\nthird", "✓ t", "result", "fourth\n## Me\nfifth"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    editor.lua("chat.adapter.turns = function() return { text = 'still works' } end");
    editor.input("Gonext<C-s>");
    editor.wait_buffer("still works");
    editor.assert_no_fault();
}

#[test]
fn what_is_typed_while_the_model_writes_survives_and_the_cursor_stays_in_it() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("t", {}), { text = "done" } }, { t = tool("t", { function(_, _, opts) go_on = opts.output_cb end }) })
        function input() return chat.render:input() or "" end"#,
    );
    editor.input("igo<C-s>");
    editor.wait_lua("go_on");
    // The way of the model's text into the buffer, as often as it is written there.
    editor.run("writing_model");
    editor.input("Go");
    let mut typed = String::new();
    for n in 0..60 {
        let word = format!("w{n} ");
        editor.input(&word);
        typed.push_str(&word);
        let seen = editor.lua_int("return vim.api.nvim_buf_line_count(0)");
        editor.wait_until("more text", || editor.lua_int("return vim.api.nvim_buf_line_count(0)") > seen);
        if n % 10 == 9 {
            editor.input("x<BS>yz<C-w>");
            editor.input("<CR>");
            typed.truncate(typed.len() - 1);
            typed.push_str(" \n");
        }
    }
    editor.input("end");
    typed.push_str("end");
    editor.wait_buffer("end");
    editor.lua("timer:close()");
    let lines = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(lines(&editor.lua_text("return input()")), lines(&typed));
    assert!(
        editor
            .lua_bool("return vim.fn.mode() == 'i' and vim.fn.line('.') == vim.fn.line('$') and vim.fn.col('.') == 4")
    );
    assert!(editor.buffer().contains("word line\nword word"), "{}", editor.buffer());
    editor.input("<Esc>");
    editor.lua("go_on({ status = 'success', data = 'result' })");
    editor.wait_ended(1);
    editor.wait_buffer("end");
    editor.assert_quiet();
}

#[test]
fn a_cursor_in_the_history_is_left_where_it_is() {
    let editor = editor();
    editor.run("streaming");
    editor.lua("streaming()");
    editor.input("igo<C-s>");
    editor.wait_lua("go_on");
    editor.wait_buffer("third");
    editor.input("<Esc>gg/second<CR>ll");
    editor.wait_lua("vim.fn.getline('.') == 'second' and vim.fn.col('.') == 3");
    editor.lua("go_on({ status = 'success', data = 'result' })");
    editor.wait_ended(1);
    assert!(editor.lua_bool("return vim.fn.getline('.') == 'second' and vim.fn.col('.') == 3"));
    editor.assert_quiet();
}

#[test]
fn whatever_a_tool_gives_is_shown_safely_and_reaches_the_model() {
    let editor = editor();
    editor.run("outputs");
    editor.wait_ended(1);
    editor.wait_buffer("done");
    assert_eq!(editor.lua_int("return #results()"), 13);
    // What the model gets is what the tool said; bytes that are not UTF-8 become replacement characters.
    assert!(editor.lua_bool(&script("check_results")));
    assert!(editor.lua_bool("return paired() and chat.render:input() == nil"), "the input is empty and separate");
    let longest = editor.lua_int("local n = 0 for _, l in ipairs(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)) do n = math.max(n, #l) end return n");
    assert!(longest <= 52_000, "{longest}");
    assert!(editor.lua_int("return vim.api.nvim_buf_line_count(chat.bufnr)") < 2_500);
    editor.input("<Esc>GoAnd now?");
    editor.wait_lua("chat.render:input() == 'And now?'");
    editor.assert_quiet();
}

#[test]
fn whatever_the_model_writes_stays_in_the_history() {
    let editor = editor();
    editor.run("texts");
    for n in 1..=9 {
        editor.lua(&format!("send('message {n}')"));
        editor.wait_ended(n);
        assert!(editor.lua_bool("return chat.render:input() == nil"), "{n}");
        // Bytes that are no UTF-8 cannot be sent.
        let is_kept = format!(
            "local text = texts[{n}] return text:find('\\255') or chat.messages[#chat.messages].content == text"
        );
        assert!(editor.lua(&is_kept).as_bool() != Some(false), "{n}");
    }
    let users = "local n = 0 for _, m in ipairs(chat.messages) do if m.role == 'user' then n = n + 1 end end return n";
    assert_eq!(editor.lua_int(users), 9);
    editor.input("<Esc>Gomine");
    editor.wait_lua("chat.render:input() == 'mine'");
    editor.assert_quiet();
}

#[test]
fn names_of_any_length_and_content_in_calls_are_shown_safely() {
    let editor = editor();
    editor.run("names");
    editor.wait_ended(1);
    editor.wait_buffer("done");
    assert!(editor.lua_bool("return paired() and #results() == 7 and chat.render:input() == nil"));
    editor.assert_quiet();
}

#[test]
fn the_input_survives_whatever_the_user_does_to_the_buffer() {
    let editor = editor();
    editor.lua("open({}, {}) chat.adapter.turns = function(m) return { text = 'answer to ' .. m[#m].content } end");
    for (n, keys) in [
        (1, "<Esc>ggdGione<C-s>"),
        (2, "<Esc>Gkkddotwo<C-s>"),
        (3, "<Esc>:%s/.*//<CR>Gothree<C-s>"),
        (4, "<Esc>ggVGcfour<C-s>"),
        (5, "<Esc>:%d<CR>ifive<Esc>:undo<CR>:redo<CR>A<C-s>"),
        (6, "<Esc>gg:m$<CR>Gosix<C-s>"),
        (7, "<Esc>:sort<CR>Goseven<C-s>"),
    ] {
        editor.input(keys);
        editor.wait_ended(n);
        let last = editor.lua_text("return chat.messages[#chat.messages - 1].content");
        let word = ["one", "two", "three", "four", "five", "six", "seven"][n - 1];
        assert!(last.ends_with(word), "{n}: {last:?}");
        editor.wait_buffer(&format!("answer to {last}"));
        assert!(editor.lua_bool("return chat.render:input() == nil"), "{n}: {}", editor.buffer());
    }
    editor.assert_no_fault();
}

#[test]
fn a_long_output_does_not_hold_the_editor() {
    let editor = Setup::default().size(100, 40).start();
    editor.lua(PRELUDE);
    editor.lua(
        r#"
        open({ answer("t", {}), { text = "done" } }, {
          t = tool("t", { function() return { status = "success", data = ("some words in a line\n"):rep(400000) } end }),
        })"#,
    );
    editor.watch_loop();
    editor.lua("send('go')");
    editor.wait_ended(1);
    editor.wait_buffer("done");
    let gaps = editor.gaps();
    // A debug build on a busy machine: what matters is that no work grows with the output.
    assert!(gaps.max_ms() < 500.0, "{:?}", gaps.max_ms());
    editor.assert_quiet();
}

#[test]
fn a_very_long_line_of_the_model_goes_on_in_the_next_and_nothing_of_it_is_lost() {
    let editor = editor();
    editor.run("long_line");
    editor.wait_ended(1);
    let check = script("check_long_line");
    editor.wait_until("all of it is shown", || editor.lua_bool(&check));
    editor.assert_quiet();
}

#[test]
fn edit_in_a_chat_loses_no_text_and_stops_what_runs() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("wait", {}), { text = "the end" } }, { wait = tool("wait", { function() started = true end }) })
        send("go")"#,
    );
    editor.wait_lua("started");
    editor.wait_buffer("wait");
    editor.input("<Esc>Gohalf a draft<Esc>:edit!<CR>");
    editor.wait_ended(1);
    editor.wait_buffer("■ wait");
    editor.wait_lua("vim.treesitter.highlighter.active[chat.bufnr] ~= nil");
    let text = editor.buffer();
    for part in ["go", "■ wait", "half a draft"] {
        assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
    }
    editor.input(":edit!<CR>");
    editor.wait_until("the text is there again", || editor.buffer() == text);
    assert!(editor.lua_bool("return not chat.is_closing and chat.render:input() == 'half a draft'"));
    editor.input("<CR>");
    editor.wait_buffer("the end");
    editor.assert_quiet();
}
