//! `extends = "cmd_tool"` and the built-in tool on it, `run_command`.

use std::fs;

use super::{connect, editor, type_and_send};
use crate::provider::said;
use crate::support::Editor;
use crate::support::server::{Server, stream};

fn bd() -> Editor {
    let editor = editor();
    editor.run("bd");
    editor
}

#[track_caller]
fn result(editor: &Editor) -> String {
    editor.wait_ended(1);
    let results = editor.results();
    assert_eq!(results.len(), 1, "{results:?}");
    results[0].clone()
}

#[test]
fn cc_cmd_tool_wraps_the_schema_in_a_full_one() {
    let server = Server::start(vec![stream(&said("done"))]);
    let editor = bd();
    connect(
        &editor,
        &server,
        r#"{ bd = bd(), open = bd({ name = "open", schema = { additionalProperties = true } }), bare = bd({ name = "bare", schema = { properties = {} } }) }"#,
        "{}",
    );
    type_and_send(&editor, "use @{bd} @{open}");
    editor.wait_buffer("done");
    let tools = server.received()[0].body["tools"].clone();
    let function = &tools[0]["function"];
    assert_eq!((&function["name"], &function["description"]), (&"bd".into(), &"Prints".into()));
    assert_eq!(
        function["parameters"],
        serde_json::json!({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"], "additionalProperties": false})
    );
    assert_eq!(function["strict"], true);
    assert_eq!(tools[1]["function"]["parameters"]["additionalProperties"], true);
}

#[test]
fn cc_cmd_tool_runs_what_build_cmd_returns_and_shows_it_in_the_question_and_the_label() {
    let editor = bd();
    editor.lua("run(bd({ opts = { require_approval_before = true } }), { word = \"'a  b'; echo c\" })");
    editor.wait_buffer("Run the command `echo 'a  b'; echo c`?");
    assert!(editor.buffer().contains("bd  echo 'a  b'; echo c"), "{}", editor.buffer());
    editor.input("<Esc>g2");
    assert_eq!(result(&editor), "a  b\nc\n");
}

#[test]
fn cc_cmd_tool_tells_how_the_command_failed() {
    let editor = bd();
    editor.lua("run(bd({ build_cmd = function() return 'echo out; echo bad >&2; exit 3' end }))");
    assert_eq!(result(&editor), "The command failed with exit code 3.\nstderr:\nbad\nstdout:\nout\n");
    assert!(editor.lua_bool("return chat.messages[#chat.messages - 1].tools.is_error"));
}

#[test]
fn cc_cmd_tool_own_handlers_and_output_functions_replace_the_matching_defaults() {
    let editor = bd();
    editor.run("own_outputs");
    editor.wait_buffer("Shall it print?");
    assert!(editor.buffer().contains("bd  echo hello"), "the label is the default: {}", editor.buffer());
    editor.input("<Esc>g2");
    assert_eq!(result(&editor), "mine: hello\n");
    assert_eq!(editor.lua_int("return exits"), 1);
    editor.lua(
        "chat:close() run(bd({ handlers = { setup = function(self) self.cmds = { 'echo instead of ' .. self.args.word } end } }))",
    );
    assert_eq!(result(&editor), "instead of hello\n");
}

#[test]
fn cc_cmd_tool_passes_gates_through() {
    let editor = bd();
    editor.lua("run(bd({ gates = { is_safe = function() return 'mine' end, judge_context = function() return 'context' end } }))");
    result(&editor);
    let gates = "local g = require('lathe.tools').resolve('bd').gates return g.is_safe() .. g.judge_context()";
    assert_eq!(editor.lua_text(gates), "minecontext");
}

#[test]
fn cc_cmd_tool_does_not_carry_over_opts_of_the_tools_table() {
    let editor = bd();
    let file = editor.home.path().join("bd.lua");
    fs::write(&file, "return bd({ opts = { require_approval_before = true, timeout = 1 } })").unwrap();
    editor.lua("run({ path = '~/bd.lua', opts = { require_approval_before = false } })");
    assert_eq!(result(&editor), "hello\n");
    editor.lua("chat:close() run({ path = '~/bd.lua', opts = { require_approval_before = true } })");
    editor.wait_buffer("Run the command `echo hello`?");
    editor.lua("chat:stop()");
}

#[test]
fn cc_cmd_tool_takes_a_system_prompt() {
    let editor = bd();
    editor.lua("run(bd({ system_prompt = function(schema) return 'about ' .. schema['function'].name end }))");
    result(&editor);
    let prompts = "return table.concat(require('lathe.chat.system_prompts').prompts(chat), '|')";
    assert_eq!(editor.lua_text(prompts), "about bd");
}

#[test]
fn a_build_cmd_that_fails_is_an_error_result_that_names_the_tool() {
    for (build, told) in [
        ("function() error('no such action') end", "build_cmd failed: "),
        ("function() error({ code = 7 }) end", "code = 7"),
        ("function() end", "build_cmd must return the command as a string, got nil"),
        ("function() return { 'ls' } end", "build_cmd must return the command as a string, got table"),
        ("function() return '  ' end", "build_cmd gave an empty command"),
    ] {
        let editor = bd();
        editor.lua(&format!("run(bd({{ build_cmd = {build} }}))"));
        let result = result(&editor);
        assert!(result.starts_with("Tool \"bd\": setup failed: ") && result.contains(told), "{build}: {result}");
        assert!(!result.contains("traceback"), "{result}");
        editor.assert_quiet();
    }
}

#[test]
fn a_wrong_definition_on_cmd_tool_is_told_by_name() {
    for (entry, fault) in [
        ("{ extends = 'cmd_tool' }", "build_cmd: expected a function, got nil"),
        ("bd({ build_cmd = 'ls' })", "build_cmd: expected a function, got string"),
        ("bd({ schema = 5 })", "schema: expected { properties = …, required = … }, got number"),
        ("bd({ schema = { properties = 5 } })", "schema.properties: expected a table, got number"),
        ("bd({ output = 5 })", "output: expected a table, got number"),
        ("bd({ handlers = { setup = 5 } })", "handlers.setup: expected a function, got number"),
        ("bd({ description = {} })", "description: expected a string, got table"),
        ("bd({ extends = 'edit_file' })", "extends: there is no \"edit_file\", only \"cmd_tool\""),
        ("bd({ name = 'other' })", "name: is \"other\", must be as in the config"),
    ] {
        let editor = bd();
        editor.lua(&format!("open({{ {{ text = 'done' }} }}, {{ bd = {entry} }}) send('go')"));
        editor.wait_ended(1);
        let told = editor.lua_text("return table.concat(told, '|')");
        assert!(told.contains(&format!("tool \"bd\": {fault}")), "{entry}: {told}");
        assert_eq!(editor.lua_int("return #told"), 1, "{told}");
    }
}

#[test]
fn a_command_cancelled_in_the_queue_is_named_too() {
    let editor = bd();
    editor.lua(
        r#"
        open({ answer("bd", { word = "one" }, "bd", { word = "two" }), { text = "done" } }, { bd = bd({ opts = { require_approval_before = true } }) })
        send("go")"#,
    );
    editor.wait_buffer("Run the command `echo one`?");
    editor.input("<Esc>g4");
    editor.wait_ended(1);
    assert_eq!(
        editor.results(),
        ["The user cancelled the command `echo one`", "The user cancelled the command `echo two`"]
    );
    assert!(editor.buffer().contains("bd  echo two"), "{}", editor.buffer());
}

// run_command ---------------------------------------------------------------------------------------------------------

/// A chat whose model calls `run_command` with these arguments.
fn run_command(editor: &Editor, settings: &str, arguments: &str) {
    editor.lua(&format!(
        r#"
        open({{ answer("run_command", {arguments}), {{ text = "done" }} }}, {{ {settings} }}, {{ tools = {{}} }})"#
    ));
    type_and_send(editor, "Use @{run_command}");
}

#[test]
fn run_command_is_there_without_configuration_and_asks() {
    let editor = editor();
    run_command(&editor, "", "{ cmd = 'echo out; echo warned >&2' }");
    editor.wait_buffer("Run the command `echo out; echo warned >&2`?");
    assert!(editor.buffer().contains("run_command  echo out; echo warned >&2"));
    editor.input("g2");
    assert_eq!(result(&editor), "out\nstderr (exit code 0):\nwarned\n");
    assert!(editor.lua_bool("return vim.iter(events):any(function(e) return e.name == 'LatheToolFinished' and e.data.source == 'builtin' end)"));
    assert!(editor.lua_bool("local o = require('lathe.tools').resolve('run_command').opts return o.require_approval_before and o.require_cmd_approval"));
    assert_eq!(editor.lua_int("return #told"), 0);
}

#[test]
fn run_command_tells_exit_codes_and_records_test_runs() {
    for (code, flag) in [(0, "true"), (3, "false")] {
        let editor = editor();
        run_command(
            &editor,
            "run_command = { opts = { require_approval_before = false } }",
            &format!("{{ cmd = 'exit {code}', flag = 'testing' }}"),
        );
        let result = result(&editor);
        assert!(result.contains(&format!("exit code {code}")), "{result}");
        assert_eq!(editor.lua_text("return tostring(chat.tool_registry.flags.testing)"), flag);
    }
}

#[test]
fn run_command_ends_at_its_time_limit_with_what_was_printed() {
    let editor = editor();
    run_command(
        &editor,
        "run_command = { opts = { require_approval_before = false, timeout = 300 } }",
        "{ cmd = 'echo half; sleep 600' }",
    );
    let result = result(&editor);
    assert!(result.contains("timed out after 300 ms") && result.contains("half"), "{result}");
}

#[test]
fn run_command_can_be_set_turned_off_or_replaced() {
    let editor = editor();
    run_command(&editor, "run_command = false", "{ cmd = 'echo x' }");
    assert!(result(&editor).contains("Tool \"run_command\" not found"));
    editor.wait_lua("#told == 1 and told[1]:find('There is no tool', 1, true)");
    editor.lua("chat:close()");

    let own = "run_command = tool('run_command', { function() return { status = 'success', data = 'mine' } end })";
    let editor = super::editor();
    run_command(&editor, own, "{}");
    assert_eq!(result(&editor), "mine");
    let source = "return require('lathe.tools').look_up('run_command').kind";
    assert_eq!(editor.lua_text(source), "lua");

    let editor = super::editor();
    editor.lua("require('lathe').setup({ interactions = { chat = { tools = { run_command = { opts = { safe_commands = {} } } } } } })");
    assert!(editor.lua_bool(
        "local o = require('lathe.tools').resolve('run_command').opts return o.require_approval_before and #o.safe_commands == 0"
    ));
}

#[test]
fn a_safe_command_is_one_of_which_every_part_is_listed() {
    let editor = editor();
    editor.run("is_safe");
    assert!(editor.lua_bool("return is_safe('ls') and is_safe('make test', { 'make test' })"));
    for unsafe_one in [
        "'ls; touch x'",
        "'ls && touch x'",
        "'ls\\ntouch x'",
        "'ls | tee x'",
        "'ls -'",
        "'ls --'",
        "'-- ls'",
        "'rm -- f.txt'",
        "'env ls'",
        "'LS'",
        "''",
        "' '",
        "'--'",
        "nil",
        "5",
        "{ 'ls' }",
        "'ls > x'",
        "'ls `touch x`'",
        "'', { '' }",
        "'ls', 'ls'",
        "'ls', {}",
        "'ls', { ls = true }",
        "'lsof', { 'ls' }",
    ] {
        assert!(!editor.lua_bool(&format!("return is_safe({unsafe_one}) or false")), "{unsafe_one}");
    }
}
