//! What runs when: commands, functions, their arguments, handlers.

use std::fs;

use super::editor;
use crate::support::{Editor, script};

fn prepared() -> Editor {
    let editor = editor();
    editor.run("noting");
    editor
}

#[track_caller]
fn run(editor: &Editor, code: &str) -> Vec<String> {
    editor.lua(code);
    editor.wait_ended(1);
    editor.results()
}

fn log(editor: &Editor) -> String {
    editor.lua_text("return table.concat(log, '\\n')")
}

#[test]
fn cc_command_is_a_list_of_words_a_string_or_either_with_a_flag() {
    let editor = prepared();
    let results = run(
        &editor,
        r#"run(tool("t", { { "echo", "one", "two" }, "echo three", { cmd = "echo four" }, { cmd = { "echo", "five" }, flag = "f" } }))"#,
    );
    assert_eq!(results, ["one two\n\n\nthree\n\n\nfour\n\n\nfive\n"]);
}

#[test]
fn cc_command_runs_through_the_shell_one_after_another() {
    let editor = prepared();
    let results = run(
        &editor,
        r#"run(tool("t", { "echo a > file && mkdir d", { "cat", "file", "|", "tr", "a", "b" }, "ls -d d" }))"#,
    );
    assert_eq!(results, ["The command succeeded (exit code 0) and printed nothing.\n\nb\n\n\nd\n"]);
}

#[test]
fn cc_command_flag_records_in_the_registry_whether_it_succeeded() {
    let editor = prepared();
    run(&editor, r#"run(tool("t", { { cmd = "true", flag = "good" }, { cmd = "false", flag = "bad" } }))"#);
    assert!(editor.lua_bool("local f = chat.tool_registry.flags return f.good == true and f.bad == false"));
}

#[test]
fn cc_command_that_exits_with_another_code_is_an_error_with_stderr_and_stdout() {
    let editor = prepared();
    let results = run(&editor, r#"run(tool("t", { "echo out; echo bad >&2; exit 3", "touch never" }))"#);
    assert_eq!(results, ["The command failed with exit code 3.\nstderr:\nbad\nstdout:\nout\n"]);
    assert!(!editor.home.path().join("never").exists());
}

#[test]
fn cc_command_timeout_stops_one_that_runs_too_long() {
    let editor = prepared();
    let results = run(&editor, r#"run(tool("t", { "sleep 600" }, { opts = { timeout = 200 } }))"#);
    assert!(results[0].contains("timed out after 200 ms"), "{results:?}");
}

#[test]
fn cc_command_does_not_hold_the_editor() {
    let editor = prepared();
    editor.lua(r#"run(tool("t", { "sleep 600" }))"#);
    editor.wait_lua("chat.is_running and next(chat.calls)");
    editor.watch_loop();
    editor.input("ityped meanwhile<Esc>");
    editor.wait_screen("typed meanwhile");
    assert!(editor.gaps().max_ms() < 500.0);
    editor.lua("chat:stop()");
    editor.wait_ended(1);
}

#[test]
fn cc_env_gets_a_copy_of_the_tool_with_its_args_and_gives_the_values_of_placeholders() {
    let editor = prepared();
    let results = run(&editor, &script("copy_for_env"));
    assert_eq!(results, ["two  words in x;y\n"]);
    assert_eq!(log(&editor), "t two  words t");
    assert!(editor.lua_bool("return require('lathe.tools').resolve('t').mark == nil"));
}

#[test]
fn cc_setup_may_put_commands_made_of_the_arguments_into_cmds() {
    let editor = prepared();
    let results = run(
        &editor,
        r#"run(tool("t", {}, { handlers = { setup = function(self) table.insert(self.cmds, "echo " .. self.args.word) end } }), { word = "built" })"#,
    );
    assert_eq!(results, ["built\n"]);
    assert_eq!(editor.lua_int("return #require('lathe.tools').resolve('t').cmds"), 0);
}

#[test]
fn cc_function_gets_the_tool_system_the_arguments_and_the_options() {
    let editor = prepared();
    let results = run(&editor, &script("two_functions"));
    assert_eq!(log(&editor), "t true 5 true nil function function");
    assert!(results[0].ends_with("\n\nvaluesuccess"), "{results:?}");
}

#[test]
fn cc_function_error_skips_the_remaining_functions() {
    let editor = prepared();
    for failing in [r#"return { status = "error", data = "broken" }"#, r#"error("broken", 0)"#] {
        let results = run(
            &editor,
            &format!(
                r#"if chat then chat:close() end
                run(tool("t", {{ function() return {{ status = "success", data = "first" }} end, function() {failing} end, function() note("never") end }}))"#
            ),
        );
        assert_eq!(results, ["first\n\nbroken"], "{failing}");
        assert_eq!(log(&editor), "", "{failing}");
    }
}

#[test]
fn cc_function_may_give_its_result_later_and_only_the_first_counts() {
    let editor = prepared();
    let results = run(&editor, &script("later"));
    assert_eq!(results, ["first\n\nafter first"]);
}

#[test]
fn cc_function_jobs_are_killed_when_the_chat_stops() {
    let editor = prepared();
    editor.run("job");
    editor.wait_lua("job");
    editor.lua("chat:stop()");
    editor.wait_lua("ended_by == 15");
    editor.wait_ended(1);
}

#[test]
fn cc_schema_arguments_are_decoded_as_vim_json_decode_does() {
    let editor = prepared();
    run(
        &editor,
        r#"
        text = '{"a":null,"b":[],"c":{},"d":1.5,"e":"x","f":[1,{"g":true}]}'
        run(tool("t", { function(_, args) got = args return { status = "success", data = 1 } end }), text)"#,
    );
    assert!(editor.lua_bool("return vim.deep_equal(got, vim.json.decode(text)) and got.a == vim.NIL"));
}

#[test]
fn cc_schema_numbers_may_come_as_text_since_authors_use_tonumber() {
    let editor = prepared();
    let results = run(&editor, &script("numbers_as_text"));
    assert_eq!(results, ["string42"]);
}

#[test]
fn cc_handlers_get_the_tool_and_the_tool_system_with_the_chat() {
    let editor = prepared();
    run(&editor, &script("handlers"));
    assert_eq!(log(&editor), "setup t 5 true true\nprompt_condition t 5 true true\ncmd\non_exit t 5 true true");
}

#[test]
fn cc_handlers_setup_comes_before_the_question() {
    let editor = prepared();
    editor.run("before_the_question");
    editor.wait_buffer("It is set up?");
    editor.input("<Esc>g2");
    editor.wait_ended(1);
    assert_eq!(log(&editor), "setup\nprompt\ncmd\non_exit");
}

#[test]
fn cc_handlers_on_exit_comes_once_after_the_last_function_an_error_or_a_cancel() {
    for (cmd, keys) in [
        ("function() return { status = 'success', data = 1 } end", ""),
        ("function() return { status = 'error', data = 1 } end", ""),
        ("function() error('x') end", ""),
        ("function() end", "<Esc>q"),
        ("'exit 3'", ""),
    ] {
        let editor = prepared();
        editor.run_with("noting_exit", vec![cmd.into()]);
        if !keys.is_empty() {
            editor.wait_lua("next(chat.calls) and chat.calls[next(chat.calls)].started_ns");
            editor.input(keys);
        }
        editor.wait_ended(1);
        assert_eq!(log(&editor), "output\non_exit", "{cmd}");
    }
}

#[test]
fn cc_queue_runs_the_calls_of_an_answer_one_at_a_time() {
    let editor = prepared();
    editor.run("queue");
    editor.wait_ended(1);
    assert_eq!(log(&editor), "start 1\nend 1\nstart 2\nend 2\nstart 3\nend 3");
    assert_eq!(editor.results(), ["1", "2", "3"]);
}

#[test]
fn run_tool_takes_the_same_path_as_a_call_of_the_model() {
    let editor = prepared();
    fs::write(editor.home.path().join("data"), "from a file").unwrap();
    editor.run("run_tool");
    editor.wait_lua("got");
    assert_eq!(editor.lua_text("return got.status .. ' ' .. got.content"), "success from a file");
    assert_eq!(log(&editor), "setup\non_exit");
    editor.lua("got = nil require('lathe').run_tool('none', {}, nil, function(result) got = result end)");
    editor.wait_lua("got");
    assert_eq!(editor.lua_text("return got.content"), "There is no tool \"none\".");
    editor.input(":Lathe call t {\"name\": \"data\"}<CR>");
    editor.wait_screen("t: success\nfrom a file");
}
