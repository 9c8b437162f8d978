//! Keys, `<Plug>` maps, the command `:Lathe`, and windows.

use crate::chat::{self, PRELUDE};
use crate::support::Setup;

#[test]
fn every_action_has_a_plug_map_and_a_subcommand() {
    let editor = chat::editor();
    let names = editor.lua_text(
        "local n = {} for _, m in ipairs(vim.api.nvim_get_keymap('n')) do local s = m.lhs:match('^<Plug>%(Lathe(%a+)%)') \
         if s then n[#n + 1] = s end end table.sort(n) return table.concat(n, ' ')",
    );
    assert_eq!(
        names,
        "Accept Add AlwaysAccept Auto Cancel Chat Clear Close EditLast Help NextHeading PrevHeading Reject Retry Send Skip Stop \
         Toggle ViewAll YankCode"
    );
    editor.lua("open({ { text = 'answered' } }, {}) vim.keymap.set('n', '<F5>', '<Plug>(LatheSend)')");
    editor.input("ihi<Esc><F5>");
    editor.wait_buffer("answered");
    editor.lua("vim.keymap.set('n', '<F6>', '<Plug>(LatheClose)')");
    editor.input("<F6>");
    editor.wait_lua("count('LatheChatClosed') == 1");
    editor.assert_quiet();
}

#[test]
fn the_command_completes_its_subcommands_tools_and_adapters() {
    let editor = chat::editor();
    editor.lua("open({}, { grep = tool('grep', {}), ghost = tool('ghost', {}) })");
    let complete = |text: &str| {
        editor.lua_text(&format!("return table.concat(vim.fn.getcompletion('Lathe {text}', 'cmdline'), ' ')"))
    };
    assert_eq!(complete("s"), "send skip stop");
    assert_eq!(complete("tools g"), "ghost grep");
    assert_eq!(complete("call gr"), "grep");
    assert_eq!(complete("chat adapter=f"), "adapter=fake");
    assert_eq!(complete("zzz"), "");
}

#[test]
fn unknown_subcommands_and_wrong_arguments_are_one_line() {
    let editor = chat::editor();
    editor.lua("told = {} vim.notify = function(text) told[#told + 1] = text end");
    for (command, message) in [
        ("nonsense", "there is no subcommand nonsense"),
        ("call", "usage: "),
        ("call t {", "not a JSON object"),
        ("stop", "there is no chat"),
        ("tools none", "there is no chat"),
        ("chat adapter=nope", ""),
    ] {
        editor.lua("told = {}");
        editor.input(&format!(":Lathe {command}<CR>"));
        if message.is_empty() {
            editor.wait_lua("require('lathe').last_chat()");
        } else {
            editor.wait_lua("#told == 1");
            let told = editor.lua_text("return told[1]");
            assert!(told.contains(message), "{command}: {told}");
        }
    }
    // An adapter that is not there is told where it is needed.
    editor.input("ihi<C-s>");
    editor.wait_buffer("there is no adapter \"nope\"");
}

#[test]
fn a_key_can_be_moved_and_false_leaves_it_to_vim() {
    let editor = chat::editor();
    editor.run("moved_keys");
    assert!(editor.lua_bool("return keys['<F7>'] == 'lathe: Off you go'"));
    assert!(
        editor.lua_bool("return keys['gC'] == nil and keys['q'] == nil and keys['<CR>'] == nil and keys['gX'] ~= nil")
    );
    editor.input("ihi<F8>");
    editor.wait_buffer("answered");
    editor.assert_quiet();
}

#[test]
fn the_running_call_and_the_question_name_the_keys_that_are_set_and_ascii_is_ascii() {
    let editor = chat::editor();
    editor.run("own_keys");
    editor.wait_buffer(":Lathe accept  Accept");
    editor.wait_screen("  <F6> skip");
    let screen = editor.screen().to_string();
    assert!(!screen.contains(|c: char| ('\u{2800}'..'\u{2900}').contains(&c)), "{screen}");
    editor.assert_quiet();
}

#[test]
fn without_any_key_the_help_says_so() {
    let editor = chat::editor();
    editor.run("no_keys");
    editor.input(":Lathe help<CR>");
    editor.wait_lua("#told == 1 and told[1]:find('no keys are set')");
    editor.assert_quiet();
}

#[test]
fn q_records_a_macro_unless_something_runs() {
    let editor = chat::editor();
    editor.lua("open({ { text = 'x', hang = true } }, {})");
    editor.input("<Esc>qa");
    editor.wait_lua("vim.fn.reg_recording() == 'a'");
    editor.input("Gohello<Esc>q");
    editor.wait_lua("vim.fn.reg_recording() == '' and vim.fn.getreg('a') ~= ''");
    editor.input("@a");
    editor.wait_until("the macro", || editor.buffer().matches("hello").count() == 2);
    editor.lua("chat:submit()");
    editor.wait_buffer("x");
    editor.input("q");
    editor.wait_lua("count('LatheChatStopped') == 1");
    assert_eq!(editor.lua_text("return vim.fn.reg_recording()"), "");
    editor.assert_quiet();
}

#[test]
fn headings_are_walked_and_the_help_shows_the_keys() {
    let editor = chat::editor();
    editor.lua("open({ { text = 'one\\n\\n## Me\\n\\nnot a heading of ours' } }, {}) send('go')");
    editor.wait_ended(1);
    editor.input("<Esc>G[[[[");
    editor.wait_lua("vim.api.nvim_get_current_line() == '## Lathe (Scripted)'");
    editor.input("]]");
    editor.wait_lua("vim.api.nvim_get_current_line() == '## Me' and vim.fn.line('.') > 9");
    editor.input("g?");
    editor.wait_screen("Stop the chat");
    editor.wait_screen("Answer: always accept");
    editor.input("q");
    editor.wait_screen_without("Answer: always accept");
}

#[test]
fn every_layout_shows_the_chat_and_closing_its_window_keeps_it() {
    for layout in ["vertical", "horizontal", "float", "buffer", "tab"] {
        let editor = Setup::default().size(100, 30).start();
        editor.lua(PRELUDE);
        editor.run_with("layout", vec![layout.into()]);
        editor.input(":Lathe<CR>");
        editor.wait_screen("## Me");
        editor.input("ihello<C-s>");
        editor.wait_screen("answered");
        editor.input("<Esc>:Lathe toggle<CR>");
        editor.wait_screen_without("answered");
        editor.input(":Lathe toggle<CR>");
        editor.wait_screen("answered");
        if layout != "buffer" {
            editor.input(":close<CR>");
            editor.wait_screen_without("answered");
            editor.input(":Lathe toggle<CR>");
            editor.wait_screen("answered");
        }
        assert_eq!(editor.lua_int("return require('lathe.core').lib.counts().chats"), 1, "{layout}");
        editor.assert_quiet();
    }
}

#[test]
fn tiny_screens_and_many_windows_are_no_trouble() {
    let editor = Setup::default().size(12, 5).start();
    editor.lua(PRELUDE);
    editor.lua("open({ { text = ('words '):rep(100) } }, {}) send('go')");
    editor.wait_ended(1);
    editor.resize(100, 40);
    editor.lua("for _ = 1, 5 do vim.cmd('vsplit') end vim.cmd('tab split') send('again')");
    editor.input("<Esc>g?");
    editor.wait_ended(2);
    editor.input("<Esc>:tabonly<CR>:only<CR>");
    editor.wait_lua("#vim.api.nvim_list_wins() == 1");
    editor.assert_no_fault();
}

#[test]
fn in_the_command_line_window_a_chat_waits_and_windows_with_a_fixed_buffer_keep_it() {
    let editor = chat::editor();
    editor.lua("open({}, {}, { hidden = true })");
    editor.input("q:");
    editor.wait_lua("vim.fn.getcmdwintype() == ':'");
    editor.input("<Esc>:Lathe toggle<CR>:let g:typed = 1<CR>");
    editor.wait_lua("vim.g.typed == 1");
    assert!(editor.lua_bool("return not chat:is_visible()"));
    editor.input(":q<CR>");
    editor.wait_lua("chat:is_visible() and vim.api.nvim_get_current_buf() == chat.bufnr");
    // A window of a chat that must not show another one.
    editor.lua("vim.wo.winfixbuf = true first = chat open({}, {})");
    assert!(editor.lua_bool("return first:is_visible() and chat:is_visible()"));
    // The last window of all.
    editor.lua("vim.wo.winfixbuf = true");
    editor.input(":only<CR>:Lathe toggle<CR>:let g:typed = 2<CR>");
    editor.wait_lua("vim.g.typed == 2");
    editor.assert_quiet();
}
