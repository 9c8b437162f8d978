//! The library in a real Neovim: its exports, the pump, the guards, the end. The performers are stand-ins written here.

use std::time::{Duration, Instant};

use crate::support::{Editor, Setup, at_best, script};

fn started() -> Editor {
    let editor = Editor::start();
    editor.run("start");
    editor.lua("lib.start(performers) chat = open()");
    editor
}

#[test]
fn unknown_missing_and_wrong_fields_are_named() {
    let editor = Editor::start();
    editor.run("start");
    editor.lua("function fault(f, ...) local ok, err = pcall(f, ...) assert(not ok) return tostring(err) end");
    for (call, message) in [
        ("lib.start, {}", "start: the field `take_input` is missing"),
        ("lib.start, vim.tbl_extend('error', performers, { extra = print })", "start: there is no field `extra`"),
        (
            "lib.start, vim.tbl_extend('force', performers, { log = 1 })",
            "start: `log` must be a function, not the number 1",
        ),
        ("lib.submit", "submit: `argument` must be a table, not nil"),
        ("lib.submit, {}", "submit: the field `chat` is missing"),
        ("lib.submit, { chat = 1.5 }", "submit: `chat` must be a whole number, not the number 1.5"),
        ("lib.submit, { chat = '1' }", "submit: `chat` must be a whole number, not a string"),
        ("lib.submit, { chat = 1, x = 1 }", "submit: there is no field `x`"),
        ("lib.finish_cmd, 1, 1, 0, true", "finish_cmd: `cmd` must be a number from 1, not 0"),
        ("lib.add_output, 1, 1, {}", "add_output: `content` must be a string, not a table"),
        ("lib.tool_set, { tools = { a = 1 } }", "tool_set: `tools` must be a list without gaps and names, not a table"),
        ("lib.tool_set, { tools = { { name = 't' } } }", "tool_set: the field `tools[1].numeric_strings` is missing"),
    ] {
        assert_eq!(editor.lua_text(&format!("return fault({call})")), format!("lathe_core: {message}"));
    }
}

#[test]
fn arguments_are_what_vim_json_decode_gives() {
    let editor = started();
    editor.run("decoded");
    editor.wait_lua("#find('finish_call') == 1");
    assert!(editor.lua_bool("return same(told('prepare_call').arguments, vim.json.decode(text))"));
}

#[test]
fn a_schema_from_an_empty_table_and_a_number_in_a_string_work() {
    let editor = started();
    editor.run("empty_schema");
    editor.wait_lua("#find('finish_call') == 2");
    assert_eq!(editor.lua_text("return told('prepare_call').arguments.n"), "5");
    assert_eq!(editor.lua_int("return #find('prepare_call')"), 1);
    let content = editor.lua_text("return told('finish_call', 2).message");
    assert!(content.contains("/n: type"), "{content}");
}

#[test]
fn exports_work_in_a_fast_event() {
    let editor = started();
    editor.run("fast_event");
    editor.wait_lua("#find('send_request') == 1");
    assert!(editor.lua_bool("return was_fast"));
}

#[test]
fn a_panic_leaves_the_editor_alive_with_one_message_and_pumping() {
    let editor = started();
    editor.wait_lua("idle()");
    editor.lua("lib.panic()");
    editor.wait_lua("#find('log') == 1");
    assert_eq!(editor.lua_text("return find('log')[1][2]"), "error");
    assert!(editor.lua_text("return find('log')[1][3]").contains("asked for by a test"));
    editor.lua("act.take_input = function() return { text = 'hi' } end lib.submit({ chat = chat })");
    editor.wait_lua("#find('send_request') == 1");
    assert_eq!(editor.messages(), "");
}

#[test]
fn a_panic_of_another_thread_is_in_the_log_with_its_place() {
    let editor = started();
    editor.lua("lib.panic(true)");
    editor.wait_lua("#find('log') == 1");
    assert_eq!(editor.lua_text("return find('log')[1][2]"), "error");
    let text = editor.lua_text("return find('log')[1][3]");
    assert!(text.starts_with("panic at src/bridge.rs:") && text.ends_with(": asked for by a test"), "{text}");
    assert_eq!(editor.messages(), "");
}

#[test]
fn a_throw_of_any_performer_ends_in_a_result_and_the_turn_goes_on() {
    for performer in ["prepare_call", "run_cmd", "run_output", "run_exit", "find_fact", "ask_approval", "add_call"] {
        let editor = started();
        editor.run("answering");
        editor.lua(&format!("act.{performer} = function() error('thrown on purpose') end"));
        editor.lua(
            "lib.request_calls({ chat = chat, calls = { { name = 't', arguments = '' } }, tools = tools(), submit = false })",
        );
        editor.wait_lua("#find('finish_turn') == 1");
        assert_eq!(editor.lua_int("return #find('finish_call')"), 1, "{performer}");
        let faults = editor.lua_text("return vim.inspect(find('log'))");
        assert!(faults.contains("thrown on purpose"), "{performer}: {faults}");
    }
}

#[test]
fn a_throw_of_the_log_itself_is_the_end_of_it() {
    let editor = started();
    editor.lua("act.log = function() error('thrown on purpose') end lib.panic()");
    editor.wait_lua("#find('log') == 1 and idle()");
    assert_eq!(editor.messages(), "");
}

#[test]
fn a_tool_that_waits_for_other_calls_does_not_stop_the_pump() {
    let editor = started();
    editor.run("waiting");
    editor.wait_lua("#find('finish_turn') == 2");
    assert!(editor.lua_bool("return waited"));
}

#[test]
fn a_burst_of_events_is_worked_off_in_slices() {
    let editor = started();
    editor.wait_lua("idle()");
    editor.watch_loop();
    editor.lua(
        r#"
        act.log = function() local start = vim.uv.hrtime() while vim.uv.hrtime() - start < 20e3 do end end
        for _ = 1, 10000 do lib.add_output(chat, 1, "late") end
        "#,
    );
    editor.wait_lua("idle()");
    assert_eq!(editor.lua_int("return #find('log')"), 10_000);
    // 200 ms of work: in one piece the loop would not have turned at all.
    let turned = editor.gaps().count();
    assert!(turned >= 10, "the loop turned {turned} times");
}

#[test]
fn a_library_that_was_loaded_in_a_coroutine_outlives_it() {
    let editor = Editor::start();
    editor.lua(&format!(
        "coroutine.wrap(function() (function(...) {} end)() lib.start(performers) end)()",
        script("start")
    ));
    editor.run("collected");
    editor.wait_lua("#find('finish_turn') == 1");
    assert_eq!(editor.lua_text("return tostring(inside)"), "main");
}

#[test]
fn quitting_while_a_request_hangs_takes_no_time_and_no_error() {
    for shut_down in [true, false] {
        at_best(Duration::from_millis(1500), || {
            let mut editor = Setup::default().start();
            editor.run("start");
            editor.run("hanging_request");
            editor.wait_lua("#find('show_text') == 1");
            if shut_down {
                editor.run("shut_down_early");
            }
            let start = Instant::now();
            assert_eq!(editor.quit(), Some(0));
            start.elapsed()
        });
    }
}

#[test]
fn what_performers_return_is_read_strictly_and_the_field_is_named() {
    for (performer, given, fault) in [
        ("prepare_call", "{}", "prepare_call: the field `cmds` is missing"),
        ("prepare_call", "{ cmds = {} }", "prepare_call: the field `approval` is missing"),
        (
            "prepare_call",
            "{ cmds = {}, approval = 'yes' }",
            "prepare_call: `approval` must be \"run\", \"ask\" or \"function\", not \"yes\"",
        ),
        ("prepare_call", "{ cmds = {}, approval = 'run', extra = 1 }", "prepare_call: there is no field `extra`"),
        (
            "prepare_call",
            "{ cmds = { { runner = 'nobody' } }, approval = 'run' }",
            "prepare_call: `cmds[1].runner` must be \"lua\", \"command\", \"built_in\" or \"remote\", not \"nobody\"",
        ),
        ("prepare_call", "{ message = 1 }", "prepare_call: `message` must be a string, not the number 1"),
        ("prepare_call", "{ cmds = {}, approval = 'run', judge = 1 }", "prepare_call: `judge` must be a boolean"),
        ("run_cmd", "{}", "run_cmd: returned table where a boolean or nil is wanted"),
        ("finish_call", "{ state = 'success' }", "finish_call: the field `head` is missing"),
    ] {
        let editor = started();
        editor.lua(&format!("act.{performer} = function() return {given} end call()"));
        editor.wait_lua("#find('finish_turn') == 1");
        let faults = editor.lua_text("return vim.inspect(find('log'))").replace("\\\"", "\"");
        assert!(faults.contains(fault), "{performer} {given}: {faults}");
        assert_eq!(editor.lua_int("return #find('finish_call')"), 1, "{performer} {given}");
    }
}

#[test]
fn what_a_call_would_do_to_files_is_in_its_question_and_what_it_did_in_its_end() {
    let editor = started();
    editor.run("changing");
    editor.wait_lua("#find('finish_call') == 1");
    assert!(editor.lua_bool("return vim.deep_equal(told('ask_approval').changes, ready.changes)"));
    assert!(editor.lua_bool("return vim.deep_equal(told('finish_call').changes, { { path = 'b', after = 'z' } })"));
}

#[test]
fn the_runner_decides_who_performs_a_cmd() {
    for (runner, performer, said) in [
        ("{ runner = 'lua' }", "run_cmd", "Executed t"),
        ("{ runner = 'command' }", "run_cmd", "Executed t"),
        (
            "{ runner = 'built_in', name = 'x' }",
            "begin_cmd",
            "Error calling t\n\nThere is no built-in \"x\". Nothing was run.",
        ),
        (
            "{ runner = 'remote', name = 'y' }",
            "begin_cmd",
            "Error calling t\n\nThere is no program \"y\" that could run this. Nothing was run.",
        ),
    ] {
        let editor = started();
        editor.lua(&format!("ready.cmds = {{ {runner} }} call()"));
        editor.wait_lua("#find('finish_turn') == 1");
        assert_eq!(editor.lua_int(&format!("return #find('{performer}')")), 1, "{runner}");
        assert_eq!(editor.lua_int("return #find('begin_cmd') + #find('run_cmd')"), 1, "{runner}");
        assert_eq!(editor.run("result").as_str(), Some(said), "{runner}");
    }
}
