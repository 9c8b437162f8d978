//! What the user writes: completion of mentions, `#{buffer}` and `#{selection}`, and `:Lathe add`.

mod completion;
mod mentions;

use crate::chat;
use crate::support::{Editor, Value};

/// A chat with two tools, one of them with a name that needs braces, a group, one tool that is off and one that is not
/// shown; `got()` is what the model read last.
const WORLD: &str = include_str!("input/prelude.lua");

fn editor() -> Editor {
    let editor = chat::editor();
    editor.lua(WORLD);
    editor
}

fn texts(lines: &[&str]) -> Vec<Value> {
    vec![Value::Array(lines.iter().map(|line| Value::from(*line)).collect())]
}

#[test]
fn adding_lines_puts_them_into_the_last_chat_and_leaves_the_user_where_they_are() {
    let editor = editor();
    editor.lua("world({ hidden = true }) chat:close()");
    editor.lua_with("bufnr = file('src/a.lua', ...)", texts(&["one", "two", "three"]));
    editor.input(":2,3Lathe add<CR>");
    editor.wait_lua("require('lathe').last_chat()");
    editor.wait_screen("two");
    assert!(editor.lua_bool("return vim.api.nvim_get_current_buf() == bufnr"));
    let input = editor.lua_text("chat = require('lathe').last_chat() return chat.render:input()");
    assert_eq!(input, "`src/a.lua`, lines 2-3, not saved:\n\n```lua\ntwo\nthree\n```");
    editor.input("ggV:Lathe add<CR>");
    editor.wait_lua("chat.render:input():find('one', 1, true)");
    editor.input(":Lathe add<CR>");
    editor.wait_lua("chat.render:input():find('#{buffer:' .. bufnr .. '}', 1, true)");
    editor.lua("chat:submit()");
    editor.wait_ended(1);
    let got = editor.lua_text("return got()");
    assert!(got.contains("the buffer `src/a.lua`") && got.ends_with("```lua\none\ntwo\nthree\n```"), "{got}");
    assert!(editor.lua_bool("return vim.api.nvim_get_current_buf() == bufnr and vim.fn.mode() == 'n'"));
    // From the chat itself there is no buffer to add.
    editor.lua("chat:open() told = {}");
    editor.input(":Lathe add<CR>");
    editor.wait_lua("#told == 1 and told[1]:find('this is a chat')");
    // Only this subcommand has to do with lines.
    editor.lua("told = {}");
    editor.input(":%Lathe stop<CR>");
    editor.wait_lua("#told == 1 and told[1]:find('no range is allowed')");
}

#[test]
fn what_is_being_selected_is_added_by_a_map_or_from_lua() {
    let editor = editor();
    editor.lua("world({ hidden = true })");
    editor.lua_with("bufnr = file('a.txt', ...)", texts(&["one two three"]));
    editor.lua("vim.keymap.set({ 'n', 'x' }, '<F5>', '<Plug>(LatheAdd)')");
    editor.lua("vim.keymap.set({ 'n', 'x' }, '<F6>', require('lathe').add)");
    editor.input("wve<F5>");
    editor.wait_lua(
        "vim.fn.mode() == 'n' and chat.render:input() == '`a.txt`, line 1, not saved:\\n\\n```text\\ntwo\\n```'",
    );
    assert!(editor.lua_bool("return vim.api.nvim_get_current_buf() == bufnr"));
    editor.wait_lua("told[1] and told[1]:find('added to the chat')");
    editor.input("wviw<F6>");
    editor.wait_lua("chat.render:input():find('```text\\nthree\\n```', 1, true)");
    editor.input("<F6>");
    editor.wait_lua("vim.endswith(chat.render:input(), '\\n#{buffer:' .. bufnr .. '}')");
    assert!(editor.try_lua("require('lathe').add({ range = 3 })", vec![]).unwrap_err().contains("range"));
}

#[test]
fn the_statusline_says_what_goes_on_and_is_empty_without_a_chat() {
    let editor = editor();
    assert_eq!(editor.lua_text("return require('lathe').statusline()"), "");
    assert_eq!(editor.lua_text("return require('lathe').statusline(77)"), "");
    editor.run("statusline");
    // As the help says.
    let help = std::fs::read_to_string(crate::support::repository().join("doc/lathe.txt")).unwrap();
    let code = help.split("*lathe-statusline*").nth(1).unwrap().split(">lua\n").nth(1).unwrap();
    editor.lua(code.split("\n<").next().unwrap());
    editor.lua("chat = require('lathe').chat({ tools = { 'asks' } })");
    assert!(editor.lua_bool("return vim.wo.winbar ~= '' and vim.wo[vim.fn.win_getid(1)].winbar == ''"));
    editor.wait_screen("100% · big-one");
    assert_eq!(editor.lua_text("return require('lathe').statusline()"), "100%% · big-one");
    editor.lua("send('go')");
    editor.wait_screen("100% · big-one  asks 0:0");
    // It goes on by itself.
    let time = || editor.screen().split("asks 0:").nth(1).map(|rest| rest[..2].to_owned());
    let first = time();
    editor.wait_until("another time", || time().is_some_and(|time| Some(time) != first));
    editor.input("<Esc>g2");
    editor.wait_screen("100% · big-one  running 0:0");
    editor.lua("chat:add_buf_message({ role = 'user', content = 'more' }) chat:submit()");
    editor.wait_screen("  queued");
    editor.lua("finish({ status = 'success', data = 1 })");
    editor.wait_ended(1);
    editor.wait_screen("100% · big-one  1.2k/56 tokens");
    editor.wait_screen_without("queued");
    assert!(editor.lua_bool("return require('lathe').statusline(chat.bufnr):find('running') == nil"));
    // From another buffer: the last chat's; of a buffer that is no chat: nothing.
    editor.lua("vim.cmd('vnew')");
    assert!(editor.lua_bool("return require('lathe').statusline() ~= '' and require('lathe').statusline(0) == ''"));
    editor.lua("chat.adapter = setmetatable({}, { __index = function() error('broken') end })");
    assert_eq!(editor.lua_text("return require('lathe').statusline()"), "");
    editor.assert_quiet();
}
