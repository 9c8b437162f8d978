//! The cmds of a tool, its handlers and its output functions.

use crate::chat::editor;

#[test]
fn a_typed_message_runs_the_calculator_and_shows_5000() {
    let editor = editor();
    editor.lua("vim.notify = function() end");
    editor.lua("dofile(vim.api.nvim_get_runtime_file('examples/calculator.lua', false)[1])");
    editor.input(":Lathe chat<CR>");
    editor.wait_screen("## Me");
    editor.input("iUse the @{calculator} tool for 100*50<C-s>");
    editor.wait_screen("5000");
    editor.wait_ended(1);
    editor.wait_screen("calculator");
    editor.lua("chat = require('lathe').last_chat()");
    assert_eq!(editor.results(), ["5000"]);
    assert!(editor.lua_bool("return paired()"));
    let call = "local call = chat.messages[#chat.messages - 2].tools.calls[1]['function'] local args = vim.json.decode(call.arguments) \
                return ('%s %d %d %s'):format(call.name, args.num1, args.num2, args.operation)";
    assert_eq!(editor.lua_text(call), "calculator 100 50 multiply");
    editor.wait_screen("✓ calculator");
}

#[test]
fn cmds_run_one_after_another_each_with_the_result_of_the_one_before() {
    let editor = editor();
    editor.run("steps");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["1string\n\n2string\n\n3table"]);
    assert_eq!(
        editor.lua_text("return vim.json.encode(seen)"),
        r#"[[1,true,"steps",true,true],"one",["two","one",2]]"#
    );
    editor.assert_quiet();
}

#[test]
fn setup_and_on_exit_run_once_around_everything_and_receive_the_tool() {
    let editor = editor();
    editor.run("order");
    editor.wait_ended(1);
    assert_eq!(
        editor.lua_text("return table.concat(order, ', ')"),
        "env 1, setup ttrue, cmd, success function, exit ttrue"
    );
}

#[test]
fn output_functions_left_out_have_the_documented_defaults() {
    let editor = editor();
    editor.run("without_outputs");
    editor.wait_screen("Run the \"asked\" tool?");
    editor.input("g3");
    editor.input("<CR>");
    editor.wait_ended(1);
    assert_eq!(
        editor.results(),
        ["Executed good", "Error calling bad", "Error calling thrown", "The user rejected the asked tool"]
    );
}

#[test]
fn an_output_function_that_adds_nothing_gives_the_stand_in_and_late_output_is_dropped() {
    let editor = editor();
    editor.run("adds_nothing");
    editor.wait_ended(1);
    editor.wait_lua("late");
    assert_eq!(editor.results(), ["The call of the t tool did not complete: the tool gave no result"]);
    assert!(!editor.buffer().contains("late"));
    editor.assert_quiet();
}

#[test]
fn the_first_result_counts_and_the_rest_is_dropped() {
    let editor = editor();
    editor.run("first_result");
    editor.wait_ended(1);
    editor.wait_lua("late == 2");
    let results = editor.results();
    assert_eq!(results[..3], ["called back", "first", "before the throw"]);
    assert!(results[3].contains("\"ok\"") && results[3].contains("status"), "{results:?}");
}

#[test]
fn output_cb_works_in_a_fast_event() {
    let editor = editor();
    editor.run("fast_event");
    editor.wait_ended(1);
    assert!(editor.lua_bool("return fast"));
    assert_eq!(editor.results(), ["from a timer"]);
    editor.assert_quiet();
}
