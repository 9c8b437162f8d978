//! Buffers and windows that go while a chat runs or asks, and what stays for the user.

use super::{chat_events, editor};
use crate::support::script;

#[test]
fn events_of_a_chat_come_once_and_in_order() {
    let editor = editor();
    editor.lua("layout('vertical') chat = require('lathe').chat()");
    editor.wait_lua("count('LatheChatOpened') == 1");
    assert_eq!(editor.lua_int("return count('LatheToolAdded')"), 2);
    editor.lua("vim.cmd('split | tab split') send('go')");
    editor.wait_ended(1);
    editor.lua("vim.cmd('tabclose') vim.cmd('close')");
    editor.input("<Esc>");
    assert_eq!(chat_events(&editor), "Created Opened Submitted Done", "it still shows in a window");
    editor.lua("chat:hide()");
    editor.wait_lua("count('LatheChatHidden') == 1");
    editor.lua("chat:open()");
    editor.wait_lua("count('LatheChatOpened') == 2");
    editor.lua("chat:close()");
    editor.wait_lua("count('LatheChatClosed') == 1");
    assert_eq!(chat_events(&editor), "Created Opened Submitted Done Hidden Opened Hidden Closed");
    // The other ways to end one.
    for (how, is_open) in [("bdelete!", true), ("bwipeout!", true), ("%bwipeout!", true), ("", false)] {
        editor.lua_with(
            "events = {} local hidden = ... chat = require('lathe').chat({ hidden = hidden })",
            vec![(!is_open).into()],
        );
        if is_open {
            editor.wait_lua("count('LatheChatOpened') == 1");
            editor.lua_with("vim.cmd(...)", vec![how.into()]);
        } else {
            editor.lua("chat:close()");
        }
        editor.wait_lua("count('LatheChatClosed') == 1");
        let wanted = if is_open { "Created Opened Hidden Closed" } else { "Created Closed" };
        assert_eq!(chat_events(&editor), wanted, "{how}");
    }
    let ids = editor.lua_text("return vim.iter(events):map(function(e) return tostring(e.data.chat_id == chat.id and e.data.bufnr == chat.bufnr) end):join(' ')");
    assert!(!ids.contains("false"), "{ids}");
    editor.assert_no_fault();
}

#[test]
fn a_chat_whose_buffer_or_window_goes_while_it_runs_ends_or_goes_on_without_a_word() {
    for (how, lives) in [
        ("bdelete!", false),
        ("bwipeout!", false),
        ("bdelete", false),
        ("%bwipeout", false),
        ("close", true),
        ("hide", true),
        ("quit", true),
        ("tabclose", true),
        ("tabonly", true),
        ("only", true),
        ("edit other.txt", true),
        ("enew", true),
        ("tabnew | tabonly", true),
        ("vnew | only", true),
        ("wincmd T", true),
        ("buffer 1", true),
        ("ball", true),
    ] {
        for is_asking in [false, true] {
            let editor = editor();
            editor.lua(
                "layout('vertical', { answer('slow', {}, 'slow', {}), { text = 'the end' } }) \
                 vim.cmd('edit mine.txt | tabedit mine.txt') chat = require('lathe').chat()",
            );
            if is_asking {
                editor.lua("layout('vertical', { answer('asks', {}, 'slow', {}), { text = 'the end' } }) chat:close() chat = require('lathe').chat()");
            }
            editor.lua("send('go')");
            editor.wait_lua(if is_asking { "#chat.questions == 1" } else { "finish" });
            editor.lua_with("vim.cmd('stopinsert') vim.cmd(...)", vec![how.into()]);
            if lives {
                assert!(editor.lua_bool("return chat.is_running and #results() == 0"), "{how}");
                if is_asking {
                    editor.lua("chat:open() vim.cmd.stopinsert()");
                    editor.wait_screen("g2  Accept");
                    editor.input("<Esc>g2");
                    editor.wait_lua("finish");
                }
                editor.lua("local f = finish finish = nil f({ status = 'success', data = 1 })");
                editor.wait_lua("finish");
                editor.lua("finish({ status = 'success', data = 2 })");
                editor.wait_ended(1);
                editor.lua("chat:open()");
                editor.wait_buffer("the end");
                assert!(editor.lua_bool("return paired() and #results() == 2"), "{how}");
            } else {
                editor.wait_until(how, || editor.lua_bool("return count('LatheChatClosed') == chat.id"));
                editor.wait_lua("require('lathe.core').lib.counts().chats == 0");
                assert_eq!(editor.lua_int("return count('LatheChatDone')"), 0, "{how}");
            }
            let told = editor.lua_text("return table.concat(told, '\\n')");
            assert!(!told.contains("rror") && !told.contains("stack"), "{how}: {told}");
            editor.assert_no_fault();
        }
    }
}

#[test]
fn unloading_a_chats_buffer_stops_the_turn_and_keeps_what_was_said() {
    let editor = editor();
    editor.lua(
        "layout('vertical', { answer('slow', {}), { text = 'the end' } }) vim.cmd('edit mine.txt') \
         chat = require('lathe').chat() send('remember this')",
    );
    editor.wait_lua("finish");
    editor.input("<Esc>Gihalf a message<Esc>");
    editor.wait_lua("chat.render:input() == 'half a message'");
    editor.lua("vim.cmd('bunload!')");
    editor.wait_ended(1);
    editor.wait_lua("vim.api.nvim_buf_is_loaded(chat.bufnr)");
    editor.lua("chat:open()");
    editor.wait_buffer("remember this");
    editor.wait_buffer("■ slow");
    assert!(editor.lua_bool("return paired() and #results() == 1 and chat.render:input() == 'half a message'"));
    editor.input("<C-s>");
    editor.wait_buffer("the end");
    assert_eq!(editor.lua_int("return count('LatheChatClosed')"), 0);
    editor.assert_quiet();
}

#[test]
fn nothing_of_the_users_is_lost_by_quitting_or_wiping_while_a_chat_asks() {
    let mut editor = editor();
    editor.lua(
        "layout('vertical', { answer('asks', {}) }) vim.cmd('edit mine.txt') vim.fn.setline(1, 'not written') \
         mine = vim.api.nvim_get_current_buf() chat = require('lathe').chat() send('go')",
    );
    editor.wait_screen("g2  Accept");
    for (command, error) in [("qall", "E37"), ("%bwipeout", "E89")] {
        editor.input(&format!("<Esc>:{command}<CR>"));
        editor.wait_screen(error);
        editor.input("<CR><Esc>");
        assert!(editor.lua_bool("return vim.fn.getbufline(mine, 1)[1] == 'not written' and vim.bo[mine].modified"));
        let messages = editor.messages();
        assert!(!messages.contains("stack") && !messages.contains("lathe"), "{command}: {messages}");
        editor.lua("vim.cmd('messages clear')");
        if command == "%bwipeout" {
            editor.wait_lua("require('lathe.core').lib.counts().chats == 0");
        } else {
            assert!(editor.lua_bool("return #chat.questions == 1 and chat.is_running"));
        }
    }
    // The chat is the last window, and another buffer is modified: Neovim says so and stays.
    editor.lua("chat = require('lathe').chat() vim.cmd('only') send('go')");
    editor.wait_screen("g2  Accept");
    editor.input("<Esc>:q<CR>");
    editor.wait_screen("E37");
    editor.input("<CR><Esc>");
    // The question is void, but the chat is all there.
    editor.wait_lua("not chat.is_running and vim.api.nvim_buf_is_loaded(chat.bufnr)");
    editor.lua("chat:open()");
    editor.wait_buffer("■ asks");
    editor.input("Goand on<Esc>");
    editor.wait_lua("chat.render:input() == 'and on'");
    // With everything written it is left at once.
    editor.lua("vim.api.nvim_buf_call(mine, function() vim.cmd('silent write') end) chat:open()");
    editor.input("<Esc>:qall<CR>");
    assert_eq!(editor.wait_exit(), Some(0));
    assert_eq!(std::fs::read_to_string(editor.home.path().join("mine.txt")).unwrap(), "not written\n");
}

#[test]
fn closing_the_last_window_of_a_chat_leaves_a_usable_editor_in_every_layout() {
    for layout in ["vertical", "horizontal", "float", "buffer", "tab"] {
        let editor = editor();
        editor.lua_with(
            "layout(...) vim.cmd('edit one.txt') chat = require('lathe').chat() vim.cmd('silent! only')",
            vec![layout.into()],
        );
        editor.input(":Lathe toggle<CR>");
        editor.wait_lua("not chat:is_visible()");
        assert!(editor.lua_bool("return #vim.api.nvim_list_wins() >= 1 and vim.bo.filetype ~= 'lathe'"), "{layout}");
        editor.input(":Lathe toggle<CR>");
        editor.wait_lua("chat:is_visible()");
        editor.lua("chat:close()");
        editor.wait_lua("count('LatheChatClosed') == 1");
        editor.wait_lua(
            "#vim.tbl_filter(function(b) return vim.bo[b].filetype == 'lathe' end, vim.api.nvim_list_bufs()) == 0",
        );
        editor.input("ix<Esc>");
        editor.wait_lua("vim.fn.mode() == 'n'");
        editor.assert_quiet();
    }
}

#[test]
fn closing_a_chat_that_shows_in_many_tab_pages_leaves_the_users_windows() {
    let editor = editor();
    editor.run("many_tab_pages");
    editor.wait_lua("count('LatheChatClosed') == 1 and not vim.api.nvim_buf_is_valid(chat.bufnr)");
    editor.lua("vim.cmd('tabdo redraw!') vim.cmd('redrawtabline | tablast')");
    let names = script("shape");
    // A window that was a tab page's last shows what it showed before, or nothing.
    assert_eq!(editor.lua_text(&names), "one.txt | two.txt | two.txt  | three.txt |");
    editor.assert_quiet();
}

#[test]
fn windows_that_keep_their_buffer_and_the_command_line_window_are_left_alone() {
    for layout in ["vertical", "horizontal", "float", "buffer", "tab"] {
        let editor = editor();
        editor.lua_with(
            "layout(...) vim.cmd('edit one.txt') vim.wo.winfixbuf = true chat = require('lathe').chat()",
            vec![layout.into()],
        );
        assert!(editor.lua_bool("return chat:is_visible()"), "{layout}");
        let kept = "vim.iter(vim.api.nvim_list_wins()):any(function(w) return vim.wo[w].winfixbuf and \
            vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(w)), ':t') == 'one.txt' end)";
        assert!(editor.lua_bool(&format!("return {kept}")), "{layout}");
        // Hiding waits for the command-line window as showing does.
        editor.input("<Esc>q:");
        editor.wait_lua("vim.fn.getcmdwintype() == ':'");
        editor.input("<Esc>:Lathe toggle<CR>:Lathe help<CR>:let g:typed = 1<CR>");
        editor.wait_lua("vim.g.typed == 1");
        assert!(editor.lua_bool("return chat:is_visible()"));
        editor.input(":q<CR>");
        editor.wait_lua("not chat:is_visible()");
        editor.wait_screen("Next heading");
        editor.input("q");
        editor.wait_screen_without("Next heading");
        assert!(editor.lua_bool(&format!("return {kept}")), "{layout}");
        editor.assert_quiet();
    }
}
