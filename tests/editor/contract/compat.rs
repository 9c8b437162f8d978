//! `require("lathe.compat.codecompanion").enable()`: code that requires CodeCompanion's modules finds ours.

use std::fs;

use super::{editor, type_and_send};
use crate::support::repository;

#[test]
fn nothing_answers_to_the_name_unless_it_is_enabled() {
    let editor = editor();
    editor.lua("require('lathe').setup({}) require('lathe').chat({ hidden = true })");
    for name in ["codecompanion", "codecompanion.config"] {
        let found = editor.lua_text(&format!("local ok, err = pcall(require, '{name}') return tostring(ok) .. err"));
        assert!(found.starts_with("falsemodule '"), "{found}");
    }
    editor.lua("require('lathe.compat.codecompanion')");
    assert!(!editor.lua_bool("return (pcall(require, 'codecompanion'))"), "loading is not enabling");
}

#[test]
fn the_real_plugin_wins_when_it_is_there() {
    let editor = editor();
    let folder = editor.home.path().join("real/lua/codecompanion");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("init.lua"), "return { real = true }").unwrap();
    editor.lua_with(
        "vim.opt.runtimepath:append(...) require('lathe.compat.codecompanion').enable()",
        vec![editor.home.path().join("real").to_str().unwrap().into()],
    );
    assert!(editor.lua_bool("return require('codecompanion').real"));
    let missing = "local ok, err = pcall(require, 'codecompanion.utils.log') return tostring(ok) .. err";
    assert!(editor.lua_text(missing).starts_with("falsemodule 'codecompanion.utils.log' not found"));
}

#[test]
fn a_config_and_a_tool_of_codecompanion_run_under_their_own_names() {
    let editor = editor();
    let example = fs::read_to_string(repository().join("tests/fixtures/codecompanion/calculator.lua")).unwrap();
    editor.lua("require('lathe.compat.codecompanion').enable()");
    editor.run("turns_of_both");
    editor.lua(&example.replace("require(\"lathe\")", "require(\"codecompanion\")"));
    editor.run("own_tool");
    editor.input(":Lathe chat<CR>");
    editor.wait_screen("## Me");
    editor.lua("chat = require('codecompanion').last_chat()");
    assert!(editor.lua_bool("return chat == require('codecompanion').buf_get_chat(0) and chat == require('codecompanion.strategies.chat').last_chat()"));
    type_and_send(&editor, "Use @{all}");
    editor.wait_buffer("done");
    assert_eq!(editor.results(), ["5", "mine x"]);
    editor.wait_lua("vim.list_contains(told, 'lathe: told by a tool')");
    let log = editor.lua_text("return table.concat(vim.fn.readfile(require('lathe.log').path), '\\n')");
    assert!(log.contains("100% odd"), "{log}");
}

#[test]
fn what_is_not_supported_raises_an_error_that_names_it() {
    let editor = editor();
    editor.lua("require('lathe.compat.codecompanion').enable()");
    for (code, what) in [
        ("require('codecompanion.acp')", "the module codecompanion.acp is not supported"),
        ("require('codecompanion').inline()", "codecompanion.inline is not supported"),
        ("require('codecompanion.utils').scan()", "codecompanion.utils.scan is not supported"),
        ("require('codecompanion.utils.log').set_root()", "codecompanion.utils.log.set_root is not supported"),
        (
            "require('codecompanion.interactions.chat.tools').new()",
            "codecompanion.interactions.chat.tools.new is not supported",
        ),
        ("require('codecompanion.strategies.chat').close()", "codecompanion.strategies.chat.close is not supported"),
    ] {
        let fault = editor.try_lua(code, vec![]).unwrap_err();
        assert!(
            fault.contains(&format!("lathe: {what} by lathe.compat.codecompanion; see `:help lathe-compat`")),
            "{code}: {fault}"
        );
    }
    let cmd_tool = "return require('codecompanion.interactions.chat.tools.builtin.cmd_tool')({ name = 'x', description = 'X', \
        schema = { properties = {} }, build_cmd = function() return 'ls' end }).schema['function'].name";
    assert_eq!(editor.lua_text(cmd_tool), "x");
}
