//! Tools that require modules of the other plugin, when they are loaded or while they run.

use super::compatible;
use crate::support::{Editor, Value};

/// Opens a chat through the other plugin's own `setup`, with the files named as tools, each found by a function.
fn set_up(editor: &Editor, calls: &str, names: &[&str], more: &str) {
    let names = names.iter().map(|name| Value::from(*name)).collect();
    editor.run_with("set_up", vec![calls.into(), Value::Array(names), more.into()]);
}

#[test]
fn modules_that_a_tool_requires_when_it_is_loaded_are_there() {
    let editor = compatible();
    editor.lua(
        "vim.api.nvim_create_autocmd('User', { pattern = 'CodeCompanionNotesAdded', callback = function(event) note = event.data.text end })",
    );
    set_up(&editor, "'notes', { text = 'milk' }, 'notes', { text = 'eggs' }", &["notes"], "");
    editor.wait_lua("is_asking()");
    editor.input("<Esc>g2");
    editor.wait_lua("#results() == 1 and is_asking()");
    editor.input("g3no eggs<CR>");
    assert_eq!(editor.turn_over(), ["user: milk (false)", "The user wants no notes, with the reason: \"no eggs\""]);
    assert_eq!(editor.lua_text("return note"), "milk");
}

#[test]
fn helpers_that_a_tool_requires_while_it_runs_are_there() {
    let editor = compatible();
    let home = editor.home.path().to_str().unwrap().to_owned();
    set_up(&editor, &format!("'buffer_reader', {{ folder = [[{home}]] }}"), &["buffer_reader"], "");
    assert_eq!(editor.turn_over(), ["first\nsecond\n|true false|note.txt true|true|first\nsecond|2 true false|```"]);
}

#[test]
fn a_tool_asks_a_model_by_itself() {
    let editor = compatible();
    set_up(
        &editor,
        "'summarizer', { text = 'long', adapter = 'side' }, 'summarizer', { text = 'long', adapter = 'broken' }, 'send_request', { question = 'why?' }",
        &["summarizer", "send_request"],
        "",
    );
    let results = editor.turn_over();
    assert_eq!(results[0], "In short: short");
    assert!(results[1].starts_with("No summary: ") && results[1].contains("no power"), "{results:?}");
    assert_eq!(results[2].trim(), "short");
    assert!(editor.lua_bool("return requests_done >= 1"));
    assert_eq!(
        editor
            .lua_text("return vim.iter(asked_aside):map(function(m) return m.role .. ':' .. m.content end):join('|')"),
        "user:why?"
    );
    assert_eq!(editor.lua_int("return count('LatheChatCreated')"), 1, "a request aside is no chat of the user's");
}

#[test]
fn what_config_holds_can_be_walked_extended_added_to_and_taken_away() {
    let editor = compatible();
    set_up(&editor, "'text_upper', { text = 'a' }", &["notes"], "");
    editor.run("walk");
    assert_eq!(editor.lua_text("return table.concat(names, ' ')"), "groups memory notes opts run_command");
    assert!(editor.lua_bool("return merged.notes.callback ~= nil and merged.extra.description == 'e'"));
    assert!(
        editor.lua_bool("return config.nothing_of_that_name == nil and config.interactions.chat.no_such_thing == nil")
    );
    let log = editor.lua_text("return table.concat(vim.fn.readfile(require('lathe.log').path), '\\n')");
    assert_eq!(log.matches("nothing_of_that_name").count(), 1, "{log}");
    assert_eq!(log.matches("no_such_thing").count(), 1, "{log}");
    // Added, found, replaced, taken away.
    editor.run("add_and_take");
    let names = |list: &str| editor.lua_text(&format!("return table.concat({list}, ' ')"));
    assert_eq!(names("before"), "memory notes run_command text text_length text_lower text_upper");
    assert_eq!(names("after"), "memory notes text text_length text_upper");
    // The same table after another `setup`, with what was added by code.
    editor.lua(
        r#"
        held = config.interactions.chat.tools
        require("codecompanion").setup({ interactions = { chat = { tools = { fresh = { callback = corpus("tools", "jira") } } } } })"#,
    );
    assert!(editor.lua_bool(
        "return held.fresh ~= nil and held.notes == nil and held.text_upper ~= nil and held.run_command == nil"
    ));
    assert!(editor.lua_bool("return not vim.list_contains(require('lathe.tools').names(), 'run_command')"));
}

#[test]
fn features_schemas_and_fields_that_others_read_are_there() {
    let editor = compatible();
    set_up(&editor, "'jira', { key = 'A-1' }", &["jira"], "");
    editor.turn_over();
    assert!(editor.lua_bool(
        r#"
        local cc = require("codecompanion")
        return cc.has("function-calling") and cc.has({ "chat", "extensions" }) and not cc.has("xml-tools") and not cc.has({ "chat", "nothing" })"#
    ));
    assert!(editor.lua_bool(
        "return chat.tool_registry:loaded() and type(chat.settings) == 'table' and type(chat.opts) == 'table'"
    ));
    assert!(editor.lua_bool(
        "return chat.cycle == 2 and vim.islist(chat.context_items) and chat.ui:is_visible() and chat.ui:is_active()"
    ));
    assert!(
        editor.lua_bool("return chat.ui.chat_bufnr == chat.bufnr and chat.ui.winnr == vim.fn.bufwinid(chat.bufnr)")
    );
    editor.lua("chat:add_context({ role = 'user', content = 'the file' }, 'test', '<file>a.lua</file>')");
    assert_eq!(
        editor.lua_text("return chat.context_items[1].id .. ' ' .. chat.context_items[1].source"),
        "<file>a.lua</file> test"
    );
    editor.lua("chat.ui:hide()");
    editor.wait_lua("not chat.ui:is_visible()");
    editor.lua("chat.ui:open()");
    editor.wait_lua("chat.ui:is_visible()");
    // Registered by code, for one chat and for all.
    editor.run("by_code");
    assert!(editor.lua_bool("return chat.tool_registry.in_use.text_upper and chat.tool_registry.groups.pair ~= nil"));
    editor.lua("chat.tool_registry:remove_group('pair')");
    assert!(
        editor.lua_bool("return chat.tool_registry.groups.pair == nil and not chat.tool_registry.in_use.text_upper")
    );
}

#[test]
fn approvals_and_system_prompt_arguments_are_those_of_the_other_plugin() {
    let editor = compatible();
    editor.run("approved");
    assert_eq!(editor.turn_over(), ["A: open"], "what code has approved is not asked about");
    assert!(editor.lua_bool(
        "return approvals:is_approved(chat.bufnr, { tool_name = 'jira' }) and not approvals:is_approved(chat.bufnr)"
    ));
    assert!(editor.lua_bool("return type(prompt_args.ctx.date) == 'string' and type(prompt_args.ctx.nvim_version) == 'string' and prompt_args.ctx.language == 'English'"));
    editor.lua("approvals:toggle_yolo_mode(chat.bufnr)");
    assert!(editor.lua_bool("return chat.is_auto and approvals:is_approved(chat.bufnr)"));
    editor.lua("approvals:reset(chat.bufnr)");
    editor.wait_lua("not approvals:is_approved(chat.bufnr, { tool_name = 'jira' }) and not chat.is_auto");
}

#[test]
fn options_that_code_changes_in_an_entry_count_at_once() {
    let editor = compatible();
    set_up(&editor, "'jira', { key = 'A-1' }, 'jira', { key = 'A-2' }", &["jira"], "");
    assert_eq!(editor.turn_over(), ["A-1: open", "A-2: open"]);
    editor.run("older_option");
    editor.wait_lua("is_asking() and shown():find('Look up A-3', 1, true)");
    editor.input("<Esc>g2");
    editor.wait_lua("#results() == 3");
}
