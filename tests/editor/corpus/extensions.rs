//! Extensions: how they are found and set up, what they add, and the events that they live on.

use std::fs;

use super::compatible;
use crate::support::{Editor, repository, script};

/// Sets up with these extensions and opens a chat whose model makes these calls.
fn set_up(editor: &Editor, extensions: &str, calls: &str) {
    editor.run_with("set_up", vec![extensions.into(), calls.into()]);
}

#[test]
fn spinners_hear_the_events_that_they_were_made_for() {
    let editor = compatible();
    editor.lua("tools = {}");
    set_up(
        &editor,
        "spinner = { callback = corpus('extensions', 'spinner'), opts = { on_event = function(name) if name == 'RequestStarted' then was_active = true end end } }",
        "'calculator_agent', { left = 2, right = 2, operation = 'multiply' }",
    );
    editor.run("spinner");
    editor.wait_lua("is_asking()");
    editor.input("<Esc>g2");
    assert_eq!(editor.turn_over(), ["4"]);
    assert!(editor.lua_bool("return was_active and not spinner.is_active()"));
    let log = editor.lua_text("return table.concat(spinner.log(), ' ')");
    let mut at = 0;
    for name in [
        "ChatCreated",
        "ChatOpened",
        "ToolAdded",
        "ChatSubmitted",
        "RequestStarted",
        "RequestFinished",
        "ToolsStarted",
        "ToolApprovalRequested",
        "ToolApprovalFinished",
        "ToolStarted",
        "ToolFinished",
        "ToolsFinished",
        "RequestStarted",
        "RequestStreaming",
        "RequestFinished",
        "ChatDone",
    ] {
        let found = log[at..].find(name).unwrap_or_else(|| panic!("no {name} after byte {at} of {log}"));
        at += found + name.len();
    }
    assert!(editor.lua_bool(&script("last_events")));
    // One that ends early, and one that is closed.
    editor.lua("chat:close()");
    editor.wait_lua("vim.list_contains(spinner.log(), 'ChatClosed')");
}

#[test]
fn extensions_add_tools_and_groups_and_take_others_away() {
    let editor = compatible();
    set_up(
        &editor,
        "tool_adder = { callback = function() return corpus('extensions', 'tool_adder') end, opts = { prefix = 'greet' } }",
        "'greet_hello', { who = 'you' }, 'greet_bye', {}",
    );
    editor.lua("send('Use @{greet}')");
    editor.wait_lua("is_asking()");
    editor.input("<Esc>g2");
    assert_eq!(editor.turn_over(), ["hello you", "bye all"]);
    assert_eq!(
        editor.lua_text("return table.concat(require('codecompanion').extensions.tool_adder.words(), ' ')"),
        "hello bye"
    );
    assert!(editor.lua_bool("return not chat.tool_registry:knows('run_command')"));
}

#[test]
fn extensions_may_replace_the_whole_table_of_tools() {
    let editor = compatible();
    set_up(&editor, "hub_tools = { callback = corpus('extensions', 'hub_tools') }", "'hub_read', { uri = 'a://b' }");
    editor.lua("send('Use @{hub}')");
    assert_eq!(editor.turn_over(), ["read a://b"]);
    assert!(editor.lua_bool("return chat.tool_registry:knows('run_command')"), "what was there stays");
    assert_eq!(editor.told_all(), "");
}

#[test]
fn extensions_add_keys_to_chats_and_tools_to_each() {
    let editor = compatible();
    set_up(
        &editor,
        "chat_keys = { callback = corpus('extensions', 'chat_keys'), opts = { key = 'gT' } }",
        "'titles', {}",
    );
    assert!(editor.lua_bool("return chat.tool_registry.in_use.titles"));
    editor.input("<Esc>gT");
    editor.wait_lua("picked == chat");
    editor.lua("send('go')");
    assert_eq!(editor.turn_over(), [format!("picked for {}", editor.lua_int("return chat.id"))]);
    assert!(editor.lua_bool("return require('codecompanion').extensions.chat_keys.title_of(chat.bufnr) == chat.title"));
    assert!(editor.lua_text("return shown()").contains("titles"), "a tool added by code is shown");
}

#[test]
fn extensions_are_found_by_name_in_the_runtime_path_and_can_be_registered_later() {
    let editor = compatible();
    let folder = editor.home.path().join("plugin_of_others/lua/codecompanion/_extensions/greeter");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(repository().join("tests/corpus/extensions/tool_adder.lua"), folder.join("init.lua")).unwrap();
    editor.lua("vim.opt.runtimepath:append(vim.env.HOME .. '/plugin_of_others')");
    set_up(
        &editor,
        "greeter = { opts = { prefix = 'g' } }, off = { enabled = false, callback = 'no.such.module' }, sick = { callback = function() error('ill') end }, lost = {}",
        "'g_hello', {}",
    );
    editor.lua(
        r#"
        local cc = require("codecompanion")
        cc.register_extension("later", { setup = function(opts) later_opts = opts end, exports = { answer = function() return 42 end } })"#,
    );
    assert_eq!(editor.lua_int("return require('codecompanion').extensions.later.answer()"), 42);
    assert!(editor.lua_bool(
        "return type(later_opts) == 'table' and vim.tbl_isempty(require('codecompanion').extensions.unknown)"
    ));
    editor.lua("send('Use @{g_hello}')");
    assert_eq!(editor.turn_over(), ["hello all"]);
    let told = editor.told_all();
    assert!(told.contains("extensions.sick") && told.contains("ill"), "{told}");
    assert!(told.contains("extensions.lost") && !told.contains("extensions.off"), "{told}");
}
