//! What mentions name, and what is said of names that are not there.

use super::editor;

/// An editor with a chat whose tools are `a`, `b` and `off`, and these groups.
fn with_groups(groups: &str) -> crate::support::Editor {
    let editor = editor();
    editor.run_with("with_groups", vec![groups.into()]);
    editor
}

#[test]
fn unknown_mention_names_the_nearest() {
    let editor = with_groups("calculators = { tools = { 'a' } }");
    editor.lua("send('Use @{calculator} and @{Calculators} and @{quite_another_thing}')");
    editor.wait_ended(1);
    let told = editor.told_all();
    for line in [
        "There is no tool or group \"calculator\". Did you mean @{calculators}?",
        "There is no tool or group \"Calculators\". Did you mean @{calculators}?",
        "There is no tool or group \"quite_another_thing\".",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert_eq!(told.matches("Did you mean").count(), 2, "{told}");
}

#[test]
fn a_tool_wins_over_a_group_of_its_name_and_both_are_told() {
    let editor = with_groups("a = { tools = { 'b' }, prompt = 'the group' }");
    editor.lua("send('Use @{a}')");
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return table.concat(vim.tbl_keys(chat.tool_registry.in_use), ' ')"), "a");
    assert!(editor.lua_bool("return chat.messages[1].content == 'Use the a tool'"));
    let told = editor.told_all();
    assert!(told.contains("both a tool and a group are called a"), "{told}");
    assert_eq!(told.matches("both a tool").count(), 1, "{told}");
}

#[test]
fn groups_whose_tools_are_all_off_are_off() {
    let editor = with_groups("none = { tools = { 'off', 'missing' } }, some = { tools = { 'off', 'a' } }");
    assert_eq!(
        editor.lua_text("return table.concat(require('lathe.tools').names(true), ' ')"),
        "a b memory run_command some"
    );
    editor.lua("send('Use @{none}')");
    editor.wait_ended(1);
    let told = editor.told_all();
    assert!(told.contains("All tools of the group \"none\" are off."), "{told}");
    assert!(
        editor.lua_bool("return next(chat.tool_registry.in_use) == nil and next(chat.tool_registry.groups) == nil")
    );
    let lines = editor.lua_text("return table.concat(require('lathe.tools.overview').lines(chat), '\\n')");
    assert!(lines.contains("disabled: all its tools are off"), "{lines}");
    editor.lua("send('Use @{some}')");
    editor.wait_ended(2);
    assert!(editor.lua_bool("return chat.tool_registry.in_use.a and not chat.tool_registry.in_use.off"));
}

#[test]
fn tools_of_a_group_are_named_in_its_prompt() {
    let editor = with_groups(
        "pair = { tools = { 'a', 'b' }, prompt = 'You have the ${tools} for that' }, one = { tools = { 'a' }, prompt = '${tools}' },
         said = { tools = { 'a', 'b' }, prompt = 'the ${tools} tools' }",
    );
    editor.lua("send('@{pair}. @{one}. @{said}.')");
    editor.wait_ended(1);
    assert_eq!(
        editor.lua_text("return chat.messages[1].content"),
        "You have the a, b tools for that. a tool. the a, b tools."
    );
}

#[test]
fn tools_added_by_code_are_shown_in_the_chat() {
    let editor = with_groups("pair = { tools = { 'a', 'b' } }");
    editor.lua("chat.tool_registry:add('a') chat.tool_registry:add('a') chat.tool_registry:add('pair')");
    editor.wait_lua("shown():find('@{pair}', 1, true)");
    let shown = editor.lua_text("return shown()");
    assert_eq!(shown.matches("> Context: @{a}").count(), 1, "{shown}");
    assert_eq!(shown.matches("> Context: @{pair}").count(), 1, "{shown}");
    // They are no part of what the user sends.
    editor.lua("send('hello')");
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return chat.messages[1].content"), "hello");
}
