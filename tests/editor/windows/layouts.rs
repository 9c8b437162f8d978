//! Where a chat opens, in each layout, and what its windows look like.

use super::{editor, editor_of};

#[test]
fn a_chat_beside_other_windows_is_readable_and_leaves_them_room() {
    for (columns, chat) in [(200, 90), (120, 54), (80, 50), (76, 50), (60, 34), (30, 20)] {
        let editor = editor_of(columns, 24);
        editor.lua("layout('vertical') chat = require('lathe').chat()");
        let others = columns - chat - 1;
        assert_eq!(editor.lua_text("return widths()"), format!("{others} {chat}"), "{columns} columns");
    }
    // What the user says in columns counts.
    let editor = editor();
    editor.lua("layout('vertical', nil, { width = 30 }) chat = require('lathe').chat()");
    assert_eq!(editor.lua_text("return widths()"), "49 30");
    // It keeps its width when others come and go.
    editor.lua("vim.cmd('wincmd p | vsplit')");
    assert_eq!(editor.lua_int("return vim.api.nvim_win_get_width(vim.fn.bufwinid(chat.bufnr))"), 30);
}

#[test]
fn a_float_is_wide_stays_on_the_screen_and_follows_its_size() {
    let editor = editor();
    editor.lua("layout('float') chat = require('lathe').chat()");
    let config = "local c = vim.api.nvim_win_get_config(vim.fn.bufwinid(chat.bufnr)) \
        return table.concat({ c.width, c.height, c.row, c.col }, ' ')";
    assert_eq!(editor.lua_text(config), "78 16 2 0");
    editor.resize(40, 12);
    editor.wait_until("the new size", || editor.lua_text(config) == "38 7 1 0");
    editor.resize(200, 50);
    editor.wait_until("the new size", || editor.lua_text(config) == "89 37 5 54");
    editor.resize(12, 5);
    editor.wait_until("the new size", || editor.lua_text(config).starts_with("10 1 0 0"));
    editor.assert_no_fault();
}

#[test]
fn toggle_shows_and_hides_in_every_layout_and_comes_back_to_where_the_user_was() {
    for layout in ["vertical", "horizontal", "float", "buffer", "tab"] {
        let editor = editor();
        editor.lua_with("layout(...)", vec![layout.into()]);
        editor.lua("vim.cmd('edit one.txt | tabedit two.txt | split three.txt') chat = require('lathe').chat({ hidden = true })");
        let place =
            "return table.concat({ names(), vim.fn.tabpagenr(), vim.fn.tabpagenr('$'), vim.fn.expand('%:t') }, ' ')";
        let before = editor.lua_text(place);
        assert_eq!(before, "three.txt two.txt 2 2 three.txt");
        for _ in 0..3 {
            editor.input(":Lathe toggle<CR>");
            editor.wait_lua("chat:is_visible() and vim.api.nvim_get_current_buf() == chat.bufnr");
            let shown = editor.lua_text(place);
            let wanted = match layout {
                "buffer" => "1 two.txt 2 2 1",
                "tab" => "1 3 3 1",
                "vertical" | "horizontal" => "three.txt two.txt 1 2 2 1",
                _ => "three.txt two.txt 1 2 2 1",
            };
            assert_eq!(shown, wanted, "{layout}");
            editor.input(":Lathe toggle<CR>");
            editor.wait_lua("not chat:is_visible()");
            assert_eq!(editor.lua_text(place), before, "{layout}");
        }
        editor.assert_quiet();
    }
}

#[test]
fn a_chat_in_a_tab_page_of_its_own_is_found_from_any_other() {
    let editor = editor();
    editor.lua("layout('tab') vim.cmd('edit one.txt') chat = require('lathe').chat()");
    assert_eq!(editor.lua_int("return vim.fn.tabpagenr('$')"), 2);
    editor.input("gt:Lathe toggle<CR>");
    editor.wait_lua("vim.api.nvim_get_current_buf() == chat.bufnr");
    assert_eq!(editor.lua_int("return vim.fn.tabpagenr('$')"), 2);
    // A question of `:Lathe call` or what is added does not take the user there.
    editor.lua("vim.cmd('tabfirst') chat:hide() chat:open({ enter = false })");
    assert!(editor.lua_bool("return vim.fn.tabpagenr() == 1 and vim.fn.expand('%:t') == 'one.txt'"));
    editor.assert_quiet();
}

#[test]
fn without_being_asked_for_a_chat_never_takes_the_users_window() {
    for layout in ["buffer", "tab", "float", "horizontal"] {
        let editor = editor();
        editor.lua_with("layout(...)", vec![layout.into()]);
        editor.lua("vim.cmd('edit one.txt') require('lathe').run_tool('asks', {}, {}, function() end)");
        editor.wait_screen("g2  Accept");
        assert!(
            editor.lua_bool("return vim.fn.expand('%:t') == 'one.txt' and names():find('one.txt') == 1"),
            "{layout}"
        );
        editor.assert_quiet();
    }
}

#[test]
fn a_file_that_is_opened_in_the_chats_window_gets_the_users_own_options() {
    for layout in ["vertical", "horizontal", "float", "buffer", "tab"] {
        let editor = editor();
        editor.lua("vim.o.number = true vim.o.relativenumber = true vim.o.wrap = false vim.o.linebreak = false");
        editor.lua_with("layout(...) chat = require('lathe').chat()", vec![layout.into()]);
        let options = "return vim.inspect({ vim.wo.number, vim.wo.relativenumber, vim.wo.wrap, vim.wo.linebreak, vim.wo.breakindent, \
             vim.wo.smoothscroll, vim.wo.winfixwidth or vim.wo.winfixheight }):gsub('%s', '')";
        let of_chat = editor.lua_text(options);
        assert!(of_chat.starts_with("{false,false,true,true,true,true,"), "{layout}: {of_chat}");
        editor.input(":edit some.txt<CR>");
        editor.wait_lua("vim.fn.expand('%:t') == 'some.txt'");
        assert_eq!(editor.lua_text(options), "{true,true,false,false,false,false,false}", "{layout}");
        // What is set for the file is the file's, what the chat needs is the chat's.
        editor.input(":setlocal nonumber<CR>:buffer #<CR>");
        editor.wait_lua("vim.api.nvim_get_current_buf() == chat.bufnr");
        assert!(editor.lua_text(options).starts_with("{false,false,true,true,true,true,"), "{layout}");
        editor.input(":buffer #<CR>");
        editor.wait_lua("vim.fn.expand('%:t') == 'some.txt'");
        assert_eq!(editor.lua_text(options), "{false,true,false,false,false,false,false}", "{layout}");
        editor.input(":vsplit other.txt<CR>");
        editor.wait_lua("vim.fn.expand('%:t') == 'other.txt'");
        assert_eq!(editor.lua_text(options), "{true,true,false,false,false,false,false}", "{layout}");
        // The chat lives on, and shows in a place of its own.
        editor.lua("chat:open()");
        editor.input("ihi<C-s>");
        editor.wait_buffer("answered");
        editor.assert_quiet();
    }
}

#[test]
fn chats_shown_by_the_users_own_commands_look_like_chats_and_are_taken_out_of_their_windows() {
    let editor = editor();
    editor.lua("layout('vertical') vim.o.number = true vim.cmd('edit one.txt') chat = require('lathe').chat({ hidden = true })");
    editor.lua("vim.cmd('buffer ' .. chat.bufnr)");
    assert!(editor.lua_bool("return vim.wo.wrap and not vim.wo.number and not vim.wo.winfixwidth"));
    // It is the only window: another buffer shows.
    editor.input(":Lathe toggle<CR>");
    editor.wait_lua("not chat:is_visible()");
    assert!(
        editor
            .lua_bool("return #vim.api.nvim_list_wins() == 1 and vim.fn.expand('%:t') == 'one.txt' and vim.wo.number")
    );
    editor.assert_quiet();
}

#[test]
fn an_old_name_of_a_layout_is_told_and_the_default_is_taken() {
    let editor = editor();
    editor.lua("layout('current')");
    editor.wait_lua("#told == 1 and told[1]:find('display.chat.window.layout: expected one of buffer, float, horizontal, tab, vertical')");
    editor.lua("chat = require('lathe').chat()");
    assert!(editor.lua_bool("return chat:is_visible() and #vim.api.nvim_list_wins() == 2"));
}
