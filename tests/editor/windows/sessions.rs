//! Sessions that are written while a chat shows.

use super::editor;
use crate::support::{Editor, Setup, script};

#[test]
fn a_session_written_beside_a_chat_brings_back_the_other_windows_and_no_broken_buffer() {
    let mut editor = editor();
    let session = editor.home.path().join("session.vim");
    editor.lua(
        "layout('vertical') vim.cmd('edit one.txt | split two.txt') chat = require('lathe').chat() other = require('lathe').chat() \
         chat:open() vim.cmd('tabedit three.txt') chat:open() vim.cmd('split') other:open() vim.cmd('tabfirst')",
    );
    editor.input("ihello<C-s>");
    editor.wait_buffer("answered");
    editor.lua_with("vim.cmd('mksession ' .. ...)", vec![session.to_str().unwrap().into()]);
    let shape = script("shape");
    // In the same editor the chats are back where they were.
    editor.lua("before = vim.api.nvim_list_bufs()");
    let before = editor.lua_text(&shape);
    assert_eq!(before, "two.txt one.txt 1 | three.txt 2 1 |");
    editor.input(&format!("<Esc>:silent source {}<CR>", session.display()));
    editor.wait_lua("vim.g.SessionLoad == nil");
    assert_eq!(editor.lua_text(&shape), before);
    assert!(editor.lua_bool("return vim.api.nvim_buf_get_name(chat.bufnr) == 'lathe://1'"));
    assert!(
        editor.lua_bool("return #vim.tbl_filter(function(b) return vim.api.nvim_buf_get_name(b):find('^lathe:') end, vim.api.nvim_list_bufs()) == 2")
    );
    editor.lua("chat:open()");
    editor.input("<Esc>Goagain<C-s>");
    editor.wait_ended(2);
    assert!(!editor.messages().contains('E'), "{}", editor.messages());
    // In a new one they are gone, and nothing of them is left.
    assert_eq!(editor.quit(), Some(0));
    let editor = Setup::default().argument("-S").argument(session.to_str().unwrap()).start();
    editor.wait_lua("vim.g.SessionLoad == nil and vim.fn.bufexists('three.txt') == 1");
    assert_eq!(editor.lua_text(&shape), "two.txt one.txt | three.txt |");
    assert!(editor.lua_bool("return #vim.tbl_filter(function(b) return vim.api.nvim_buf_get_name(b):find('^lathe:') end, vim.api.nvim_list_bufs()) == 0"));
    assert!(editor.lua_bool("return package.loaded['lathe.core'] == nil"), "no library is loaded for that");
    assert_eq!(editor.lua_text("return vim.o.shortmess"), Editor::start().lua_text("return vim.o.shortmess"));
    editor.input(":Lathe chat<CR>");
    editor.wait_screen("## Me");
    editor.assert_no_fault();
}

#[test]
fn a_session_of_nothing_but_a_chat_leaves_an_empty_window() {
    let editor = editor();
    let session = editor.home.path().join("session.vim");
    editor.lua("layout('buffer') chat = require('lathe').chat() vim.cmd('silent! only')");
    editor.lua_with("vim.cmd('mksession ' .. ...)", vec![session.to_str().unwrap().into()]);
    let editor = Setup::default().argument("-S").argument(session.to_str().unwrap()).start();
    editor.wait_lua("vim.g.SessionLoad == nil and vim.v.this_session ~= ''");
    assert!(editor.lua_bool("return #vim.api.nvim_list_wins() == 1 and vim.api.nvim_buf_get_name(0) == ''"));
    editor.assert_no_fault();
}
