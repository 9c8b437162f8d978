//! The older forms of functions: those that get the agent, the command and the output.

use super::{compatible, editor, either_way};

#[test]
fn cc_generation_output_functions_with_agent_and_command_run() {
    either_way(|editor| {
        let calls = "'calculator_agent', { left = 6, right = 7, operation = 'multiply' }, \
            'calculator_agent', { left = 1, right = 0, operation = 'divide' }";
        assert_eq!(editor.outcome(calls, "one('calculator_agent')"), ["42", "Failed: Cannot divide by zero (0)"]);
        assert_eq!(
            editor.lua_text("return table.concat(seen, '; ')"),
            "setup true; on_exit success true; setup true; on_exit error true"
        );
        assert_eq!(editor.lua_text("return statuses()"), "success error");
        assert_eq!(editor.told_all(), "");
    });
}

#[test]
fn cc_generation_cmd_with_output_handler_answers_later() {
    either_way(|editor| {
        let calls =
            "'vector_search', { query = { 'needle', 'hay', 'barn' } }, 'vector_search', { query = vim.empty_dict() }";
        let calls = calls.replace("vim.empty_dict()", "{ 'one' }");
        let results = editor.outcome(&calls, "one('vector_search')");
        assert_eq!(
            results,
            [
                "<path>needle.lua</path><document>about needle</document>\n\n<path>hay.lua</path><document>about hay</document>",
                "<path>one.lua</path><document>about one</document>"
            ]
        );
        let shown = editor.lua_text("return shown()");
        assert!(shown.contains("**vector_search**: 2 files") && !shown.contains("about hay"), "{shown}");
    });
    let editor = editor();
    let failing = "'vector_search', { query = { 'x' } }";
    let results = editor
        .outcome(failing, "one('vector_search', { program = { 'sh', '-c', 'echo no such program >&2; exit 2' } })");
    assert_eq!(results, ["**vector_search**: no such program\n"]);
    let editor = super::editor();
    editor.lua("nothing = { tool_calls = { { name = 'vector_search', arguments = '{\"query\": []}' } } }");
    editor.lua("open({ nothing, { text = 'done' } }, one('vector_search')) send('go')");
    assert_eq!(editor.turn_over(), ["**vector_search**: The query is empty"]);
}

#[test]
fn cc_generation_cmd_with_output_handler_keeps_its_place() {
    either_way(|editor| {
        let results = editor
            .outcome("'web_fetch', { url = 'https://a.b' }, 'web_fetch', { url = 'ftp://a' }", "one('web_fetch')");
        assert_eq!(results, ["200 <p>https://a.b</p>", "fetching failed: unsupported scheme"]);
        assert!(editor.lua_text("return shown()").contains("\n  fetched\n"));
        assert_eq!(editor.lua_text("return statuses()"), "success error");
    });
}

#[test]
fn cc_generation_input_is_the_result_before() {
    either_way(|editor| {
        assert_eq!(editor.outcome("'pipeline_agent', { text = 'a b c' }", "one('pipeline_agent')"), ["A-B-C"]);
    });
}

#[test]
fn cc_generation_chat_of_the_agent_tells_about_itself() {
    either_way(|editor| {
        editor.lua("open({ answer('history_summary', {}), { text = 'done' } }, one('history_summary')) chat.title = 'Mine' send('first words')");
        assert_eq!(editor.turn_over(), ["first words | Mine, cycle 1, 0 items, adapter fake, ?"]);
    });
}

#[test]
fn cc_generation_command_tools_get_the_command_and_its_lines() {
    either_way(|editor| {
        let results = editor.outcome("'git_status', {}, 'git_status', { fails = true }", "one('git_status')");
        assert_eq!(results[0], "printf: 2 lines, last `?? two.lua`\n\nsh: 1 lines, last `branch: main`");
        assert!(results[1].starts_with("printf: 2 lines"), "{results:?}");
        assert!(results[1].contains("sh -c 'echo branch: main; exit ${code}' failed: "), "{results:?}");
        assert!(results[1].contains("branch: main"), "{results:?}");
    });
}

#[test]
fn cc_generation_setup_question_label_and_refusal_get_the_agent() {
    either_way(|editor| {
        editor.play(
            "'test_runner', { cmd = 'echo fine', flag = 'testing' }, 'test_runner', { cmd = 'false' }",
            "one('test_runner')",
        );
        editor.wait_lua("is_asking() and shown():find('Run `echo fine` in chat ' .. chat.id .. '?', 1, true)");
        assert!(
            editor.lua_bool("return shown():find('echo fine #' .. chat.id, 1, true) ~= nil and setup_chat == chat.id")
        );
        editor.input("<Esc>g2");
        editor.wait_lua("is_asking() and shown():find('Run `false` in chat', 1, true)");
        editor.input("g3<CR>");
        assert_eq!(editor.turn_over(), ["echo fine: fine", "The user did not want `false`"]);
        assert!(editor.lua_bool("return chat.tool_registry.flags.testing"));
        assert_eq!(editor.lua_text("return statuses()"), "success rejected");
        let told = editor.told_all();
        assert_eq!(told.matches("requires_approval").count(), 1, "{told}");
    });
}

#[test]
fn cc_generation_arguments_stand_for_the_command_of_a_function() {
    either_way(|editor| {
        let path = editor.home.path().join("made.txt");
        editor.lua_with("path = ...", vec![path.to_str().unwrap().into()]);
        editor.play(
            "'file_writer', { action = 'create', path = path, contents = 'x' }, 'file_writer', { action = 'delete', path = '/no/such/file' }",
            "one('file_writer')",
        );
        editor.wait_lua("is_asking() and shown():find('create the file made.txt?', 1, true)");
        editor.input("<Esc>g2");
        editor.wait_lua("is_asking() and shown():find('delete the file file?', 1, true)");
        editor.input("g2");
        let results = editor.turn_over();
        assert_eq!(results[0], "create: created made.txt");
        assert!(results[1].starts_with("delete of /no/such/file went wrong: "), "{results:?}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "x");
        assert_eq!(editor.lua_int("return exits"), 2);
    });
}

#[test]
fn cc_generation_env_fills_commands() {
    either_way(|editor| {
        let results = editor.outcome("'container', { lang = 'lua 5', code = 'x; y' }", "one('container')");
        assert_eq!(results, ["pull lua 5\nrun lua 5 x; y"]);
    });
}

#[test]
fn cc_generation_state_of_the_agent_can_be_read_and_written() {
    either_way(|editor| {
        assert_eq!(editor.outcome("'state_keeper', { word = 'kept' }", "one('state_keeper')"), ["set up: kept"]);
        assert_eq!(editor.lua_text("return state"), "set up, kept 1, stdout kept, success");
    });
}

#[test]
fn cc_generation_cmd_tool_takes_an_older_output_function() {
    either_way(|editor| {
        let results = editor.outcome("'cmd_tool_agent', { text = 'one two three' }", "one('cmd_tool_agent')");
        assert_eq!(results, ["3 words by `printf %s 'one two three' | wc -w`"]);
    });
}

#[test]
fn cc_generation_functions_with_fewer_parameters_run() {
    either_way(|editor| {
        editor.play("'no_params', {}", "{ no_params = vim.tbl_extend('force', corpus('tools', 'no_params'), { opts = { requires_approval = true } }) }");
        editor.wait_lua(
            "is_asking() and shown():find('What time is it?', 1, true) and shown():find('no_params  clock', 1, true)",
        );
        editor.input("<Esc>g2");
        assert_eq!(editor.turn_over(), ["it is midnight"]);
        assert_eq!(editor.lua_text("return left"), "no_params");
    });
}

#[test]
fn cc_generation_varargs_are_read_as_the_newest() {
    either_way(|editor| {
        editor.run("varargs");
        editor.play("'varargs', {}, 'varargs', { fails = true }, 'asks', {}", "tools");
        editor.wait_lua("is_asking() and shown():find('Run the \"asks\" tool?', 1, true)");
        editor.input("<Esc>g3too late<CR>");
        assert_eq!(editor.turn_over(), ["varargs ran", "bad: varargs ran", "no: too late"]);
        assert!(editor.lua_bool("return seen[1] == 'setup varargs true' and seen[#seen] == 'on_exit asks true'"));
    });
}

#[test]
fn cc_generation_functions_in_wrappers_run_in_either_form() {
    either_way(|editor| {
        let calls = "'scheduled', {}, 'scheduled', { fails = true }, 'scheduled', { silent = true }";
        let results = editor.outcome(calls, "one('scheduled')");
        assert_eq!(results, ["after the timer", "error after the timer", "after the nil"]);
    });
    either_way(|editor| {
        assert_eq!(
            editor.outcome("'guarded_wrapper', { word = 'w' }, 'guarded_wrapper', {}", "one('guarded_wrapper')"),
            ["wrapped w", "wrapped nil"]
        );
        assert!(editor.lua_bool("return caught == nil and wrapped_chat == chat"));
    });
}

#[test]
fn cc_generation_callable_tables_are_functions() {
    either_way(|editor| {
        let results = editor.outcome("'callable', { word = 'a' }, 'callable', { word = 'b' }", "one('callable')");
        assert_eq!(results, ["called with a, call 1", "called with b, call 1"], "each call has a copy of the tool");
        assert!(editor.lua_text("return shown()").contains("callable  object b"));
        assert!(editor.lua_bool("return callable_chat == chat"));
    });
}

#[test]
fn cc_generation_tools_inherit_through_metatables() {
    either_way(|editor| {
        editor.play("'square', { n = 3 }, 'negate', { n = 4 }", "corpus('tools', 'class_tool')");
        editor.wait_lua("is_asking() and shown():find('Let Squaring run?', 1, true)");
        editor.input("<Esc>g2");
        editor.wait_lua("is_asking() and shown():find('Let Negating run?', 1, true)");
        editor.input("g2");
        assert_eq!(editor.turn_over(), ["Squaring gives 9", "Negating gives -4"]);
        assert!(editor.lua_bool("return class_setup == 'Negating in ' .. chat.id"));
    });
}

#[test]
fn cc_generation_tools_made_in_a_loop_run() {
    either_way(|editor| {
        let calls = "'text_upper', { text = 'abc' }, 'text_length', { text = 'abc' }, 'text_lower', { text = 'ABC' }";
        assert_eq!(
            editor.outcome(calls, "corpus('tools', 'tool_family')"),
            ["text_upper: ABC", "text_length: 3", "text_lower: abc"]
        );
    });
}

#[test]
fn cc_generation_second_parameter_is_the_agent_or_the_list() {
    either_way(|editor| {
        let calls = "'two_agent', {}, 'three_agent', {}, 'two_list', {}";
        assert_eq!(
            editor.outcome(calls, "corpus('tools', 'two_params')"),
            ["done for two_agent", "done with a table", "x1\n\nx1"]
        );
    });
}

#[test]
fn cc_generation_names_that_say_nothing_leave_both_readings_open() {
    either_way(|editor| {
        // 'odd_names'
        let calls = "'odd_older', { path = 'p' }, 'odd_newest', { path = 'q' }, 'odd_stripped', { path = 'r' }";
        assert_eq!(
            editor.outcome(calls, "corpus('tools', 'odd_names')"),
            ["chat p found p", "found q; found q, againtrue", "r nil success r"]
        );
    });
}

#[test]
fn cc_generation_unknown_form_from_setup_is_named_before_anything_runs() {
    either_way(|editor| {
        let calls = "'odd_setup', { path = 'cmd' }, 'odd_setup', { path = 'output' }";
        let results = editor.outcome(calls, "corpus('tools', 'odd_names')");
        assert!(results[0].contains("cmds[1]: takes 6 parameters"), "{results:?}");
        assert!(results[1].contains("output.success: takes 6 parameters"), "{results:?}");
        assert!(editor.lua_bool("return odd_ran == nil"));
    });
}

#[test]
fn cc_generation_unknown_form_is_named_when_the_tool_loads() {
    either_way(|editor| {
        editor.lua("open({ answer('unknown_form', {}), { text = 'done' } }, one('unknown_form'))");
        let told = editor.told_all();
        assert!(told.contains("tool \"unknown_form\": output.success: takes 7 parameters"), "{told}");
        editor.lua("send('go')");
        let results = editor.turn_over();
        assert!(results[0].starts_with("Tool \"unknown_form\" not found"), "{results:?}");
        assert!(editor.lua_bool("return unknown_ran == nil"), "nothing runs whose result cannot be told");
    });
}

#[test]
fn cc_generation_reason_of_a_refusal_comes_in_either_form() {
    for (tool, key, result) in [
        ("feedback", "g3not here<CR>", "The user will not plant: not here (function)"),
        ("feedback", "g3<CR>", "The user will not plant (function)"),
        ("feedback", "g4", "Planting was called off (function)"),
        ("feedback_text", "g3not here<CR>", "Not felled. not here"),
        ("feedback_text", "g3<CR>", "Not felled. "),
    ] {
        let editor = compatible();
        editor.play(&format!("'{tool}', {{}}"), &format!("one('{tool}')"));
        editor.wait_lua(&format!("is_asking() and shown():find('Run the \"{tool}\" tool?', 1, true)"));
        editor.input(&format!("<Esc>{key}"));
        assert_eq!(editor.turn_over(), [result]);
    }
    // 'feedback' and 'feedback_text' run without the compatibility modules, too.
    let editor = editor();
    editor.play("'feedback', {}", "one('feedback')");
    editor.wait_lua("is_asking() and shown():find('Run the \"feedback\" tool?', 1, true)");
    editor.input("<Esc>g3later<CR>");
    assert_eq!(editor.turn_over(), ["The user will not plant: later (function)"]);
}
