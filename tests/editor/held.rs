//! What the user does while text comes that needs lines to stay where they are: completion, inserts in several lines,
//! operators, prompts, menus of other plugins. Nothing is written meanwhile, and all of it afterwards.

use crate::chat;
use crate::support::Editor;

fn editor() -> Editor {
    let editor = chat::editor();
    editor.run("world");
    editor.input("igo<C-s>");
    editor.wait_lua("go_on");
    editor.lua("write(3)");
    editor.wait_lua("is_all_there()");
    editor.input("<Esc>");
    editor
}

impl Editor {
    /// Text comes: nothing of it is written.
    fn hold_back(&self) {
        self.lua("before = vim.api.nvim_buf_line_count(chat.bufnr) write(5)");
        self.wait_lua("chat.render.is_held");
        self.lua("write(5)");
        assert!(self.lua_bool("return vim.api.nvim_buf_line_count(chat.bufnr) <= before"), "{}", self.buffer());
    }

    /// What the user has typed is this, and all that was held back is written.
    fn assert_draft(&self, draft: &str) {
        self.wait_lua("is_all_there()");
        assert_eq!(self.lua_text("return input()"), draft, "{}", self.buffer());
        self.assert_no_fault();
    }
}

#[test]
fn choosing_from_our_menu_while_text_comes_leaves_the_draft_whole() {
    let editor = editor();
    editor.input("Gouse @");
    editor.wait_lua("vim.fn.pumvisible() == 1");
    editor.hold_back();
    editor.input("ot");
    editor.wait_lua("#vim.fn.complete_info({ 'items' }).items == 1");
    editor.input("<C-n>");
    editor.wait_buffer("@{other}");
    editor.hold_back();
    editor.input("<C-y> now<Esc>");
    editor.wait_lua("vim.fn.mode() == 'n'");
    editor.assert_draft("use @{other} now");
}

#[test]
fn keyword_line_and_omni_completion_while_text_comes_leave_the_draft_whole() {
    for (keys, draft) in [
        ("<C-n>", "alphabet alpha alphabet"),
        ("<C-p>", "alphabet alpha alpha"),
        ("<C-x><C-n>", "alphabet alpha alphabet"),
        ("<C-n><C-n><C-n>", "alphabet alpha alph"),
    ] {
        let editor = editor();
        editor.lua("vim.bo.complete = '.' vim.bo.completeopt = 'menuone'");
        editor.input("Goalphabet alpha alph");
        editor.wait_buffer("alpha alph");
        editor.lua("keys = 0 vim.on_key(function() keys = keys + 1 end)");
        editor.input(keys);
        editor.wait_lua("vim.fn.mode(1):find('^ic')");
        editor.hold_back();
        editor.input(".<Esc>");
        editor.wait_lua("vim.fn.mode() == 'n'");
        editor.assert_draft(&format!("{draft}."));
    }
}

#[test]
fn a_menu_that_is_left_by_sending_sends_what_is_shown() {
    let editor = editor();
    editor.input("Gouse @ot");
    editor.wait_lua("vim.fn.pumvisible() == 1 and #vim.fn.complete_info({ 'items' }).items == 1");
    editor.input("<C-n>");
    editor.wait_buffer("@{other}");
    editor.hold_back();
    editor.input("<C-s>");
    editor.wait_lua("vim.fn.mode() == 'n' and chat.render.held == 'tools'");
    editor.assert_draft("use @{other}");
    editor.lua("go_on({ status = 'success', data = 'result' })");
    editor.wait_ended(1);
    editor.wait_buffer("use @{other}\n\n## Lathe (Scripted)\n\nthe end");
    assert_eq!(editor.lua_text("return input()"), "");
    editor.assert_no_fault();
}

#[test]
fn inserts_in_several_lines_change_their_own_lines() {
    for (keys, after) in [
        ("<C-v>jjIx ", "x one\nx two\nx three\nfour"),
        ("<C-v>jj$A x", "one x\ntwo x\nthree x\nfour"),
        ("<C-v>jjlcx", "xe\nxo\nxree\nfour"),
        ("<C-v>jls", "e\no\nthree\nfour"),
        ("<C-v>jC-", "-\n-\nthree\nfour"),
    ] {
        let editor = editor();
        editor.lua("draft({ 'one', 'two', 'three', 'four' })");
        editor.input("G3k0");
        editor.wait_lua("vim.api.nvim_get_current_line() == 'one'");
        editor.input(keys);
        editor.wait_lua("vim.fn.mode() == 'i'");
        editor.hold_back();
        editor.input("<Esc>");
        editor.assert_draft(after);
        assert!(editor.lua_bool("return vim.fn.mode() == 'n'"));
    }
}

#[test]
fn sending_ends_an_insert_in_several_lines_first() {
    let editor = editor();
    editor.lua("go_on({ status = 'success', data = 'result' })");
    editor.wait_ended(1);
    editor.lua("chat.adapter.turns = function() return { text = 'answered' } end draft({ 'one', 'two' })");
    editor.input("Gk0<C-v>jI- ");
    editor.wait_lua("vim.fn.mode() == 'i' and vim.api.nvim_get_current_line() == '- one'");
    editor.input("<C-s>");
    editor.wait_ended(2);
    assert_eq!(editor.lua_text("return chat.messages[#chat.messages - 1].content"), "- one\n- two");
    editor.assert_no_fault();
}

#[test]
fn a_waiting_operator_takes_the_lines_that_the_user_saw() {
    let editor = editor();
    editor.lua("draft({ 'one', 'two', 'three', 'four' })");
    editor.input("Gkkd");
    editor.wait_lua("vim.fn.mode(1) == 'no'");
    editor.hold_back();
    editor.input("k");
    editor.assert_draft("three\nfour");
}

#[test]
fn a_selection_keeps_its_lines() {
    for (keys, after) in
        [("V", "one\nfour"), ("v$", "one\nfour"), ("<C-v>", "one\nwo\nhree\nfour"), ("gH", "one\nfour")]
    {
        let editor = editor();
        editor.lua("draft({ 'one', 'two', 'three', 'four' })");
        editor.input(&format!("Gkk0{keys}"));
        editor.wait_lua("vim.fn.mode() ~= 'n'");
        editor.hold_back();
        editor.input(if keys == "gH" { "<Down><C-g>d" } else { "jd" });
        editor.wait_lua("vim.fn.mode() == 'n'");
        editor.assert_draft(after);
    }
}

#[test]
fn a_substitution_that_asks_goes_on_where_it_was() {
    let editor = editor();
    editor.lua("draft({ 'one', 'one', 'one', 'four' })");
    // A timer's text comes whatever Neovim waits for.
    editor.lua("timer = vim.uv.new_timer() timer:start(0, 5, vim.schedule_wrap(function() write(1) end))");
    editor.input("G3k:,$s/one/1/c<CR>");
    editor.wait_screen("(y)es/(n)o");
    // Neovim answers nobody before the question is.
    editor.input("y");
    editor.input("nyj");
    editor.wait_lua("vim.fn.mode() == 'n' and input():find('1.one.1')");
    editor.lua("timer:close()");
    editor.assert_draft("1\none\n1\nfour");
}

#[test]
fn a_search_that_is_given_up_leaves_the_cursor_in_its_line() {
    let editor = editor();
    editor.lua("vim.o.incsearch = true draft({ 'one', 'two', 'three', 'four' })");
    editor.input("Gkk/four");
    editor.wait_lua("vim.fn.getcmdline() == 'four'");
    editor.hold_back();
    editor.input("<Esc>x");
    editor.assert_draft("one\nwo\nthree\nfour");
}

#[test]
fn what_may_be_taken_back_ends_where_the_insert_began() {
    for keys in ["A more<C-u>", "A more<C-u><C-u>", "A more<C-w><C-w>", "bi<BS><BS>x", "A<Left>x<C-u>"] {
        let editor = editor();
        editor.lua("draft({ 'one two' }) vim.cmd('stopinsert')");
        editor.input("G$");
        let (start, end) = keys.split_at(keys.find('<').unwrap());
        editor.input(start);
        editor.wait_lua("vim.fn.mode() == 'i'");
        editor.hold_back();
        editor.input(end);
        editor.input("<Esc>");
        editor.wait_lua("vim.fn.mode() == 'n'");
        let plain = Editor::start();
        plain.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'one two' })");
        plain.input(&format!("G${keys}<Esc>"));
        plain.wait_lua("vim.fn.mode() == 'n'");
        editor.assert_draft(plain.buffer().trim_end());
    }
}

#[test]
fn text_comes_while_a_new_line_is_written_and_the_marks_of_the_insert_are_right() {
    let editor = editor();
    editor.input("Gohello");
    editor.wait_buffer("hello");
    editor.lua("write(5)");
    editor.wait_lua("is_all_there()");
    assert!(editor.lua_bool("return vim.fn.mode() == 'i'"));
    editor.input(" you<CR>there<Esc>");
    editor.wait_lua("vim.fn.mode() == 'n'");
    editor.input("`[v`]d");
    editor.assert_draft("");
    assert_eq!(editor.lua_text("return vim.fn.getreg('\"')"), "hello you\nthere");
}

#[test]
fn a_repeated_insert_is_repeated_where_the_cursor_is() {
    let editor = editor();
    editor.lua("draft({ 'one', 'two', 'three' })");
    editor.input("G2kA!<Esc>");
    editor.wait_lua("vim.fn.mode() == 'n'");
    editor.lua("write(5)");
    editor.wait_lua("is_all_there()");
    editor.input("j.");
    editor.wait_buffer("two!");
    editor.lua("write(5)");
    editor.wait_lua("is_all_there()");
    editor.input("j3.");
    editor.assert_draft("one!\ntwo!\nthree!!!");
}

#[test]
fn a_menu_of_another_plugin_inserts_where_it_was_opened() {
    for stand_in in [
        // As nvim-cmp and blink.cmp say that a menu is open.
        "package.loaded.cmp = { visible = function() return menu ~= nil end }",
        "package.loaded['blink.cmp'] = { is_menu_visible = function() return menu ~= nil end }",
        // One that nobody knows: there is a window at the cursor.
        "shows_window = true",
    ] {
        let editor = editor();
        editor.lua(stand_in);
        editor.run("menu");
        editor.input("Gofirst com<F5>");
        editor.wait_lua("menu");
        editor.hold_back();
        editor.input("<F6>");
        editor.wait_lua("menu == nil");
        editor.wait_lua("is_all_there()");
        editor.input(" by me<Esc>");
        editor.wait_lua("vim.fn.mode() == 'n'");
        editor.assert_draft("first completed by me");
    }
}

#[test]
fn a_snippet_keeps_its_places_while_text_comes() {
    let editor = editor();
    editor.input("Go");
    editor.lua("vim.snippet.expand('for ${1:name} in ${2:list} do $1 end$0')");
    editor.wait_buffer("for name in list do name end");
    editor.wait_lua("vim.fn.mode() == 's'");
    editor.lua("write(5)");
    editor.input("x");
    editor.wait_buffer("for x in list");
    editor.lua("write(5) vim.snippet.jump(1)");
    editor.wait_lua("vim.fn.mode() == 's'");
    editor.input("y");
    editor.wait_buffer("in y do");
    editor.lua("write(5) vim.snippet.jump(1)");
    editor.input("!<Esc>");
    editor.wait_lua("vim.fn.mode() == 'n'");
    editor.assert_draft("for x in y do x end!");
}

#[test]
fn the_end_of_a_turn_is_told_while_its_text_is_held_back() {
    let editor = editor();
    editor.lua("draft({ 'one' })");
    editor.input("GA two");
    editor.wait_buffer("one two");
    editor.hold_back();
    editor.lua("go_on({ status = 'success', data = 'result' })");
    editor.wait_ended(1);
    assert!(editor.lua_bool("return vim.fn.mode() == 'i' and chat.render.is_held"));
    editor.input("<Esc>");
    editor.wait_buffer("the end");
    assert_eq!(editor.lua_text("return input()"), "one two");
    editor.assert_no_fault();
}

#[test]
fn a_queued_message_that_is_being_written_goes_out_when_it_is_done() {
    let editor = editor();
    editor.input("Gouse this<C-s>");
    editor.wait_lua("chat.render.held == 'tools'");
    editor.input("A @ot");
    editor.wait_lua("vim.fn.pumvisible() == 1 and #vim.fn.complete_info({ 'items' }).items == 1");
    editor.lua("go_on({ status = 'success', data = 'result' })");
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return input()"), "use this @ot");
    editor.lua("chat.adapter.turns = function() return { text = 'answered' } end");
    editor.input("<C-n><C-y><Esc>");
    editor.wait_ended(2);
    assert_eq!(editor.lua_text("return chat.messages[#chat.messages - 1]._meta.typed"), "use this @{other}");
    editor.assert_no_fault();
}

#[test]
fn what_is_held_back_is_shown_where_it_will_stand() {
    let editor = editor();
    editor.lua("draft({ 'one' })");
    editor.input("GA two");
    editor.wait_buffer("one two");
    editor.lua("chat.render:add_text(('words '):rep(20) .. 'and an', 'text')");
    editor.wait_screen("words and an\n");
    editor.lua("chat.render:add_text(' end.\\n\\nA paragraph', 'text')");
    editor.wait_screen("A paragraph\n");
    let before = editor.screen();
    assert!(editor.lua_bool("return chat.render.is_held == true"), "{}", editor.buffer());
    // The very same lines, when it is written.
    editor.lua("vim.cmd('stopinsert')");
    editor.wait_buffer("A paragraph\n\n## Me\n\none two");
    let chat = |screen: &str| {
        let rows = screen.lines().filter_map(|line| line.split_once('│')).map(|(_, right)| right.trim_end().to_owned());
        rows.filter(|row| !row.contains(" t  ") && !row.ends_with(" t")).collect::<Vec<_>>().join("\n")
    };
    editor.wait_until("the same screen", || chat(&editor.screen()) == chat(&before));
    // More than the window has room for: its end.
    editor.lua("vim.cmd('startinsert!') for i = 1, 100 do chat.render:add_text(('\\nheld %d'):format(i), 'text') end");
    editor.wait_screen("held 100");
    assert!(editor.screen().contains("one two") && !editor.screen().contains("held 50"), "{}", editor.screen());
    editor.input("<Esc>");
    editor.wait_buffer("held 99\nheld 100\n\n## Me\n\none two");
    editor.assert_no_fault();
}
