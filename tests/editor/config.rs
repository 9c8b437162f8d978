//! What users configure: wrong options and wrong tools are told once by name, and the rest works.

use std::fs;

use crate::chat;
use crate::support::Editor;

fn editor() -> Editor {
    let editor = chat::editor();
    editor.run("listen");
    editor
}

#[test]
fn unknown_options_and_wrong_types_are_told_once_with_their_path_and_the_rest_works() {
    let editor = editor();
    editor.run("wrong_options");
    editor.wait_lua("#told > 0");
    for path in [
        "adapters.http.bad: expected",
        "colour: unknown option",
        "interactions.chat.roles.llm: expected",
        "interactions.chat.sytem_prompt: unknown option",
        "interactions.chat.keymaps.send: expected { modes = { <mode> = key or list of keys } } or false, got \"x\"",
        "interactions.chat.keymaps.teleport: unknown option",
        "interactions.chat.tools.broken: expected",
        "interactions.chat.tools.opts.auto_submit_errors: expected boolean, got \"yes\"",
        "interactions.chat.tools.opts.max_parallel: expected a whole number from 1, got \"4\"",
        "interactions.chat.tools.opts.timeout: expected a number above 0 or false, got \"x\"",
        "interactions.chat.tools.opts.default_tools: expected a list of strings, got \"t\"",
        "interactions.chat.tools.groups.g: expected { tools = list",
        "permission: expected string or table, got 5",
        "display.chat.window.width: expected a number above 0, got \"wide\"",
        "display.icons: expected \"ascii\" or { <state> = text }, got 5",
        "tool_output.max_lines: expected a whole number from 1, got a table",
    ] {
        assert_eq!(
            editor.lua_int(&format!("return times([==[{path}]==])")),
            1,
            "{path}\n{}",
            editor.lua_text("return all_told()")
        );
    }
    assert_eq!(editor.lua_int("return #told"), 1, "one message");
    editor.lua("chat = require('lathe').chat({ tools = { 't' } }) send('go')");
    editor.wait_ended(1);
    editor.wait_buffer("## Ich");
    assert_eq!(editor.results(), ["ran"]);
    assert_eq!(editor.lua_int("return #told"), 1, "{}", editor.lua_text("return all_told()"));
}

#[test]
fn p31_a_bad_rule_is_told_with_its_path() {
    let editor = editor();
    editor.lua("require('lathe').setup({ permission = { bash = { ['git *'] = 'alow' } }, agent = { plan = { permission = 5 } } })");
    editor.wait_lua("#told == 1");
    let told = editor.lua_text("return all_told()");
    for part in ["permission.bash.git *: expected", "got \"alow\": counts as ask", "agent.plan.permission: expected"] {
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn tools_in_a_list_are_told_and_break_nothing() {
    let editor = editor();
    editor.run("lists");
    editor.wait_lua("#told == 1");
    for path in ["adapters.http.1", "interactions.chat.tools.1", "interactions.chat.tools.groups.1"] {
        let message = format!("{path}: expected a name = value, got an item of a list");
        assert!(editor.lua_text("return all_told()").contains(&message), "{message}");
    }
    editor.input(":Lathe tools fi<Tab>");
    editor.wait_screen(":Lathe tools fine");
    editor.input("<C-u>checkhealth lathe<CR>");
    editor.wait_screen("tools: fine, memory, run_command");
}

#[test]
fn what_is_no_table_at_all_is_told() {
    let editor = editor();
    editor.lua("require('lathe').setup('x')");
    editor.wait_lua("#told == 1");
    assert!(editor.lua_text("return told[1]").contains("setup: expected a table, got string"));
    editor.lua("require('lathe').setup()");
    assert_eq!(editor.lua_int("return #told"), 1);
}

/// Values that have the right type and make no sense: a chat opens and works all the same.
#[test]
fn senseless_values_stop_no_chat() {
    for options in [
        "interactions = { chat = { tools = { opts = { max_parallel = 1.5 } } } }",
        "interactions = { chat = { tools = { opts = { max_parallel = -3 } } } }",
        "interactions = { chat = { tools = { opts = { max_parallel = 1/0 } } } }",
        "interactions = { chat = { tools = { opts = { timeout = -5 } } } }",
        "interactions = { chat = { tools = { opts = { timeout = 0.5e300 } } } }",
        "interactions = { chat = { tools = { opts = { timeout = 0/0 } } } }",
        "interactions = { chat = { tools = { opts = { default_tools = { 5, {}, 'none', 't' } } } } }",
        "interactions = { chat = { tools = { opts = { system_prompt = { prompt = function() error('x') end } } } } }",
        "interactions = { chat = { system_prompt = function() error({ code = 1 }) end } }",
        "interactions = { chat = { roles = { user = '', llm = function() error('x') end } } }",
        "interactions = { chat = { roles = { user = 'a\\nb', llm = function() return {} end } } }",
        "interactions = { chat = { keymaps = { send = {}, stop = { modes = 'n' }, skip = { modes = { n = 5 } }, help = { modes = { n = '' } } } } }",
        "interactions = { chat = { keymaps = { clear = { modes = { n = { {} }, zz = 'x' }, desc = {} } } } }",
        "interactions = { chat = { tools = { groups = { g = { tools = 5 }, h = { tools = { 'none', {} }, prompt = 5, opts = 5 } } } } }",
        "display = { icons = 'nerd' }",
        "display = { icons = { success = {}, running = 5, waiting = 'a\\nb' } }",
        "display = { chat = { window = { layout = 'sideways', width = -1 } } }",
        "display = { chat = { window = { layout = 'float', width = 1/0, height = 0 } } }",
        "tool_output = { max_lines = -1, max_bytes = 0 }",
        "tool_output = { max_lines = 0/0, max_bytes = 1/0 }",
    ] {
        let editor = editor();
        editor.run_with("senseless", vec![options.into()]);
        assert!(editor.lua_bool("return ok"), "{options}: {}", editor.lua_text("return vim.inspect(why)"));
        editor.wait_until(options, || {
            let messages = editor.messages();
            assert_eq!(messages.trim(), "", "{options}");
            editor.lua_int("return ended()") == 1
        });
        assert_eq!(editor.results(), ["ran"], "{options}: {}", editor.lua_text("return all_told()"));
        assert_eq!(editor.messages().trim(), "", "{options}");
        let told = editor.lua_text("return all_told()");
        assert!(!told.contains("internal error") && !told.contains("traceback"), "{options}: {told}");
    }
}

#[test]
fn a_wrong_tool_is_told_once_by_name_and_the_others_work() {
    for (entry, fault) in [
        ("{}", "schema: expected a table, got nil"),
        ("{ path = 'no.such.module' }", "no.such.module"),
        ("{ path = '/no/such/file.lua' }", "/no/such/file.lua"),
        ("{ path = 5 }", "path: expected a string, got number"),
        ("{ callback = function() error('thrown') end }", "thrown"),
        ("{ callback = function() error({ code = 7 }) end }", "code = 7"),
        ("{ callback = function() end }", "expected a table, got nil"),
        ("{ extends = 'nothing' }", "extends"),
        ("vim.tbl_extend('force', tool('x', {}), { cmds = 'ls' })", "cmds: expected a list, got string"),
        ("vim.tbl_extend('force', tool('x', {}), { handlers = { setup = 5 } })", "handlers.setup: expected a function"),
        ("vim.tbl_extend('force', tool('x', {}), { output = 'x' })", "output: expected a table"),
        ("vim.tbl_extend('force', tool('x', {}), { opts = 5 })", "opts: expected a table"),
        ("vim.tbl_extend('force', tool('x', {}), { opts = { timeout = 'long' } })", "opts.timeout"),
        ("vim.tbl_extend('force', tool('x', {}), { env = {} })", "env: expected a function"),
        ("tool('y', {})", "name"),
    ] {
        let editor = editor();
        editor.run_with("wrong_tool", vec![entry.into()]);
        editor.wait_ended(1);
        assert_eq!(editor.results(), ["ran"], "{entry}");
        let told = editor.lua_text("return all_told()");
        assert_eq!(editor.lua_int("return times('tool \"x\": ')"), 1, "{entry}: {told}");
        assert!(told.contains(fault) && !told.contains("traceback"), "{entry}: {told}");
        editor.input(":checkhealth lathe<CR>");
        editor.wait_buffer("tools: memory, run_command, t");
        assert!(editor.buffer().contains("tool \"x\": "), "{entry}");
    }
}

#[test]
fn a_schema_that_is_none_is_an_error_of_its_calls_only() {
    let editor = editor();
    editor.run("bad_schema");
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].contains("schema"), "{results:?}");
    assert_eq!(results[1], "ran");
    assert!(editor.lua_bool("return wrong == nil and paired()"));
    assert_eq!(editor.messages().trim(), "");
}

#[test]
fn tools_come_from_modules_files_and_callbacks_but_never_from_the_working_directory() {
    let editor = editor();
    let home = editor.home.path().to_owned();
    let code = |name: &str, from: &str| format!("return found({name:?}, {from:?})");
    // The working directory is a repository with traps of every kind.
    let repository = home.join("repository");
    fs::create_dir_all(repository.join("lua/traps")).unwrap();
    for path in ["lua/traps/a.lua", "lua/trap.lua", "trap.lua", "trap", "lua/traps/init.lua"] {
        fs::write(repository.join(path), code("trap", "repository")).unwrap();
    }
    // What may be found: the config folder, the runtimepath, absolute paths, the home.
    let config = home.join("config/nvim");
    fs::create_dir_all(config.join("lua/mine")).unwrap();
    fs::create_dir_all(config.join("tools")).unwrap();
    fs::write(config.join("lua/mine/module.lua"), code("module", "module")).unwrap();
    fs::write(config.join("tools/relative.lua"), code("relative", "config")).unwrap();
    fs::write(home.join("absolute.lua"), code("absolute", "absolute")).unwrap();
    fs::write(home.join("tilde.lua"), code("tilde", "home")).unwrap();
    editor.run("found");
    editor.run_with("many_places", vec![repository.to_str().unwrap().into(), home.to_str().unwrap().into()]);
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["module", "config", "absolute", "home", "called"]);
    assert!(!editor.lua_text("return loaded").contains("repository"), "{}", editor.lua_text("return loaded"));
    assert_eq!(editor.lua_int("return #told"), 7, "{}", editor.lua_text("return all_told()"));
}

#[test]
fn disabled_tools_are_not_offered() {
    let editor = editor();
    editor.run("disabled");
    editor.wait_ended(1);
    let results = editor.results();
    assert_eq!(results[0], "on");
    for (n, name) in [(1, "off"), (2, "picky"), (3, "broken")] {
        assert!(
            results[n].contains(&format!("Tool \"{name}\" not found")) && results[n].contains("`on`"),
            "{results:?}"
        );
    }
    let told = editor.lua_text("return all_told()");
    assert!(told.contains("tool \"broken\": enabled failed: ") && !told.contains("internal"), "{told}");
}

#[test]
fn mentions_are_whole_words_and_braces_work_anywhere() {
    let editor = editor();
    editor.lua("open({}, { calc = tool('calc', {}), ['my-tool'] = tool('my-tool', {}), groups = { both = { tools = { 'calc', 'my-tool' } } } })");
    for (text, names) in [
        ("Use @calc for it", "calc"),
        ("@calc", "calc"),
        ("(@calc), please", "calc"),
        ("with @calc.", "calc"),
        ("x@{calc}y", "calc"),
        ("@{calc}@{my-tool}", "calc my-tool"),
        ("use @my-tool, @both", "my-tool both"),
        ("\"@calc\" '@calc' *@calc*", "calc calc calc"),
        ("mail me@calc.com", ""),
        ("mail first.last@calc.com", ""),
        ("mail a+b-@calc", ""),
        ("@calculator", ""),
        ("@calc_2 @calc-2", ""),
        ("@calc@example.org", ""),
        ("npm i @calc/core and x/@calc", ""),
        ("@@calc", ""),
        ("@nothing @ @", ""),
        ("jürgenü@calc", ""),
        ("@calcü", ""),
        ("„@calc“ — @calc—", "calc calc"),
    ] {
        let found = editor.lua_with(
            "local _, names = require('lathe.tools.mentions').replace(...) return table.concat(names, ' ')",
            vec![text.into()],
        );
        assert_eq!(found.as_str(), Some(names), "{text}");
    }
    editor.lua("send('try @{nope} and @{calc}')");
    editor.wait_lua("#told > 0 and chat.messages[1]");
    assert_eq!(editor.lua_int("return times('There is no tool or group \"nope\"')"), 1);
    assert_eq!(editor.lua_text("return chat.messages[1].content"), "try @{nope} and the calc tool");
}

#[test]
fn checkhealth_names_the_tools_of_a_group_that_do_not_exist() {
    let editor = editor();
    editor.lua(
        r#"
        local groups = { team = { tools = { "fine", "nope" } } }
        require("lathe").setup({ interactions = { chat = { tools = { fine = tool("fine", {}), groups = groups } } } })"#,
    );
    editor.lua("vim.cmd('checkhealth lathe')");
    editor.wait_lua("vim.bo.filetype == 'checkhealth'");
    let report = editor.buffer();
    assert!(report.contains("group \"team\": there is no tool \"nope\""), "{report}");
    assert!(!report.contains("no tool \"fine\""), "{report}");
}
