//! System prompts of tools, groups and the tool system, and what mentions become.

use super::editor;
use crate::support::Editor;

#[track_caller]
fn ask(editor: &Editor, text: &str) -> String {
    let before = editor.lua_int("return ended()");
    editor.lua_with("send(...)", vec![text.into()]);
    editor.wait_lua(&format!("ended() > {before}"));
    editor.lua_text("return requests[#requests]")
}

#[test]
fn cc_system_prompt_is_text_or_a_function_of_the_tools_schema() {
    let editor = editor();
    editor.run("setup");
    editor.run("two_prompts");
    assert_eq!(ask(&editor, "hello"), "");
    assert_eq!(ask(&editor, "@{a} and @{b}"), "prompt of a|prompt of b");
    assert_eq!(ask(&editor, "more"), "prompt of a|prompt of b", "once in each request");
    editor.lua("chat.tool_registry:remove('a')");
    assert_eq!(ask(&editor, "more"), "prompt of b");
    assert!(!editor.buffer().contains("prompt of"), "not shown");
}

#[test]
fn the_prompt_of_the_tool_system_gets_all_tools_at_each_request() {
    let editor = editor();
    editor.run("setup");
    editor.run("all_tools");
    assert_eq!(ask(&editor, "hello"), "main on fake|tools: a");
    assert_eq!(ask(&editor, "@b @c"), "main on fake|tools: a b c");
    editor.lua("chat.tool_registry:remove('b')");
    assert_eq!(ask(&editor, "more"), "main on fake|tools: a c");
    editor.lua("chat.tool_registry:remove('a') chat.tool_registry:remove('c')");
    assert_eq!(ask(&editor, "more"), "main on fake", "no tools, no prompt about them");
}

#[test]
fn the_prompt_of_the_tool_system_can_be_off_or_replace_the_main_one() {
    for (settings, without, with) in [
        ("prompt = 'general'", "main", "main|general"),
        ("prompt = 'general', enabled = false", "main", "main"),
        ("prompt = 'general', replace_main_system_prompt = true", "main", "general"),
        ("prompt = 'general', replace_main_system_prompt = true, enabled = false", "main", "main"),
        ("replace_main_system_prompt = true", "main", "main"),
    ] {
        let editor = editor();
        editor.run("setup");
        editor.lua(&format!(
            "setup({{ system_prompt = 'main', tools = {{ a = tool('a', {{}}), opts = {{ system_prompt = {{ {settings} }} }} }} }})"
        ));
        assert_eq!(ask(&editor, "hello"), without, "{settings}");
        assert_eq!(ask(&editor, "@a"), with, "{settings}");
    }
}

#[test]
fn groups_bring_their_prompt_and_can_leave_out_the_others() {
    for (opts, system) in [
        ("", "main|general|own|group of a b, tools a b"),
        ("ignore_system_prompt = true", "general|own|group of a b, tools a b"),
        ("ignore_tool_system_prompt = true", "main|own|group of a b, tools a b"),
        ("ignore_system_prompt = true, ignore_tool_system_prompt = true", "own|group of a b, tools a b"),
    ] {
        let editor = editor();
        editor.run("setup");
        editor.run_with("group", vec![opts.into()]);
        assert_eq!(ask(&editor, "Use @{both} now"), system, "{opts}");
        assert_eq!(editor.lua_text("return user"), "Use a, b tools (both) now");
        assert!(
            editor.lua_bool(
                "local g = chat.tool_registry.groups.both return g.tools[2] == 'b' and g.opts.collapse_tools"
            )
        );
        editor.lua("chat.tool_registry:remove('both')");
        assert_eq!(ask(&editor, "without"), "main", "{opts}");
    }
}

#[test]
fn a_mention_is_replaced_by_the_configured_words() {
    let editor = editor();
    editor.run("setup");
    editor.lua("setup({ tools = { a = tool('a', {}), opts = { tool_replacement_message = 'your ${tool} helper' } } })");
    ask(&editor, "Ask @{a} and @a.");
    assert_eq!(editor.lua_text("return user"), "Ask your a helper and your a helper.");
}

#[test]
fn a_prompt_that_fails_is_told_once_by_name_and_nothing_is_lost() {
    let editor = editor();
    editor.run("setup");
    editor.run("failing");
    assert_eq!(ask(&editor, "@g"), "of b");
    assert_eq!(ask(&editor, "more"), "of b");
    editor.wait_lua("#told >= 3");
    let told = editor.lua_text("return table.concat(told, ' '):gsub('%s+', ' ')");
    assert_eq!(editor.lua_int("return #told"), 3, "{told}");
    for whose in [
        "tools.opts.system_prompt.prompt failed",
        "of the tool \"a\" failed: { code = 7 }",
        "of the group \"g\" failed",
    ] {
        assert!(told.contains(whose), "{whose}: {told}");
    }
    assert!(!told.contains("traceback"), "{told}");
}

#[test]
fn clearing_a_chat_keeps_its_prompt_and_the_tools_in_use() {
    let editor = editor();
    editor.run("setup");
    editor.lua("setup({ system_prompt = 'main', tools = { a = tool('a', {}, { system_prompt = 'of a' }), b = tool('b', {}), opts = { default_tools = { 'a' } } } })");
    assert_eq!(ask(&editor, "@b"), "main|of a");
    editor.lua("chat:clear()");
    editor.wait_lua("#chat.messages == 0");
    assert_eq!(ask(&editor, "again"), "main|of a");
    assert!(editor.lua_bool("return chat.tool_registry.in_use.a and chat.tool_registry.in_use.b"));
}
