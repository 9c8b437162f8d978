//! Where tools come from, what states they have, and what their options mean.

use std::fs;

use super::{editor, type_and_send};

#[test]
fn cc_tool_is_a_table_a_module_a_file_or_what_a_callback_returns() {
    let editor = editor();
    let config = editor.home.path().join("config/nvim/lua/mine");
    fs::create_dir_all(&config).unwrap();
    let code = |name: &str| {
        format!("return tool('{name}', {{ function() return {{ status = 'success', data = '{name} ran' }} end }})")
    };
    fs::write(config.join("module.lua"), code("module")).unwrap();
    fs::write(editor.home.path().join("file.lua"), code("file")).unwrap();
    editor.run("four_places");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["inline ran", "module ran", "file ran", "called ran"]);
    assert_eq!(editor.lua_int("return #told"), 0);
}

#[test]
fn cc_tool_name_matches_the_schemas_function_and_its_key() {
    let editor = editor();
    editor.lua(
        r#"
        local other = tool("calc", {})
        other.name = "other"
        open({}, { calc = tool("add", {}), other_key = other }, { tools = { "calc", "other_key" } })"#,
    );
    editor.wait_lua("#told == 2");
    let told = editor.lua_text("table.sort(told) return table.concat(told, '|')");
    assert!(told.contains("tool \"calc\": schema[\"function\"].name: is \"add\", must be as in the config"), "{told}");
    assert!(told.contains("tool \"other_key\": name: is \"other\", must be as in the config"), "{told}");
}

#[test]
fn cc_tool_gets_args_and_function_call_with_each_call() {
    let editor = editor();
    editor.run("two_calls");
    editor.wait_ended(1);
    let call = |n: u32| {
        editor.lua_text(&format!("local s = seen[{n}] return vim.json.encode(s[1]) .. s[2].id .. s[2].type .. s[2]['function'].name .. s[2]['function'].arguments"))
    };
    assert_eq!(call(1), "{\"n\":1}afunctiont{\"n\":1}");
    assert_eq!(call(2), "{\"n\":2}bfunctiont{\"n\":2}");
    assert!(editor.lua_bool("return require('lathe.tools').resolve('t').args == nil"), "the definition is untouched");
}

#[test]
fn cc_options_of_the_entry_win_over_those_of_the_tool() {
    let editor = editor();
    editor.run("merged_options");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["{own = 1,require_approval_before = false,timeout = 7000}"]);
}

#[test]
fn a_tool_can_be_registered_and_replaced_while_a_chat_is_open() {
    let editor = editor();
    editor.run("replaceable");
    type_and_send(&editor, "use @{late}");
    editor.wait_ended(1);
    editor.lua("require('lathe').register_tool('late', says('second'))");
    type_and_send(&editor, "again");
    editor.wait_ended(2);
    assert_eq!(editor.results(), ["first", "second"]);
}

#[test]
fn invisible_tools_are_left_out_of_completion_and_can_be_used() {
    let editor = editor();
    editor.lua(
        r#"
        local t = tool("hidden", { function() return { status = "success", data = "ran" } end })
        t.visible = false
        open({ answer("hidden", {}), { text = "done" } }, { hidden = t, shown = tool("shown", {}) }, { tools = {} })"#,
    );
    let names = "return table.concat(require('lathe.command').complete('', 'Lathe tools '), ' ')";
    assert_eq!(editor.lua_text(names), "memory run_command shown");
    type_and_send(&editor, "use @{hidden}");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran"]);
}

#[test]
fn the_list_names_every_tool_with_its_state_and_the_reason() {
    let editor = editor();
    editor.run("states");
    editor.input("<Esc>:Lathe tools<CR>");
    editor.wait_lua("vim.api.nvim_win_get_config(0).relative == 'editor'");
    let lines = editor.buffer();
    for line in [
        "Tools (* offered in this chat)",
        " * offered      lua       offered  offered",
        "   idle         lua       not offered  idle",
        "   off          lua       disabled: enabled = false",
        "   picky        lua       disabled: enabled() says no",
        "   fails        lua       disabled: enabled failed: ",
        "   faulty       lua       faulty: path \"no.such.module\" was not found; tried",
        "   run_command  lua       disabled: false",
        "   both         Two of them  (offered, idle)",
        "   apart\n     idle",
    ] {
        assert!(lines.contains(line), "{line}\n{lines}");
    }
    editor.input("q");
    editor.wait_lua("vim.api.nvim_win_get_config(0).relative == ''");
    assert_eq!(editor.lua_int("return #told"), 0, "{}", editor.lua_text("return table.concat(told)"));
    editor.assert_quiet();
}

#[test]
fn what_the_registry_holds_is_the_chats_own() {
    let editor = editor();
    editor.run("registry");
    editor.wait_ended(1);
    assert_eq!(
        editor.lua_text(
            "return vim.inspect({ registry.flags, registry.in_use, vim.tbl_keys(registry.groups) }, { newline = '', indent = '' })"
        ),
        "{ {tested = true}, {t = true}, { \"g\" } }"
    );
    assert_eq!(editor.lua_text("return require('lathe.tools').resolve('t').schema['function'].name"), "t");
    editor.lua("registry:remove('t')");
    assert!(editor.lua_bool("return registry.in_use.t == nil and registry.schemas.t == nil"));
    assert!(editor.lua_bool("return registry:add('t') and registry.in_use.t"));
    assert!(
        editor.lua_bool("local ok, why = registry:add('none') return not ok and why == 'There is no tool \"none\".'")
    );
}
