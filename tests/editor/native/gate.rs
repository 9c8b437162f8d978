//! Approval: what the user's settings of native servers say, through the one gate.

use super::editor;

#[test]
fn n39_the_question_names_server_tool_and_all_arguments_and_always_covers_the_tool() {
    let editor = editor();
    editor.lua(
        "greet() use({ answer('example__greet', { name = 'Ann' }), answer('example__greet', { name = 'Bob' }), { text = 'done' } }, \
         { 'example' }, { auto_approve = false }) send('go')",
    );
    editor.wait_buffer("Run the tool \"greet\" of the server \"example\"?");
    editor.wait_screen("name: Ann");
    assert!(editor.lua_bool("return greeted == nil"));
    editor.input("g1");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["Hello Ann", "Hello Bob"]);
    assert_eq!(editor.lua_int("return count('LatheToolApprovalRequested')"), 1);
}

#[test]
fn a25_n38_a_text_denies_finally_whatever_is_auto_approved() {
    let editor = editor();
    editor.run("denied");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["no private repos"]);
    assert!(editor.lua_bool("return greeted == nil and #asked == 1"));
    let call = "local c = asked[1] return vim.json.encode({ c.action, c.server_name, c.tool_name, c.arguments.name, \
        c.is_auto_approved_in_server, c.needs_confirmation_window, c.uri == nil })";
    assert_eq!(editor.lua_text(call), r#"["use_mcp_tool","example","greet","Ann",true,true,true]"#);
    let ends = "for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then return e.data.status .. e.data.code end end";
    assert_eq!(editor.lua_text(ends), "deniedDENIED");
}

#[test]
fn n38_true_runs_false_and_nil_ask_and_a_failure_asks_and_is_told() {
    for (answer, asks, told) in [
        ("return true", false, ""),
        ("return false", true, ""),
        ("return nil", true, ""),
        ("return 7", true, "returned a number"),
        ("error('broken')", true, "broken"),
    ] {
        let editor = editor();
        editor.lua(&format!(
            "greet() use({{ answer('example__greet', {{ name = 'Ann' }}), {{ text = 'done' }} }}, {{ 'example' }}, {{ \
             auto_approve = function() {answer} end, settings = {{ example = {{ autoApprove = true }} }} }}) send('go')"
        ));
        if asks {
            editor.wait_screen("Run the tool");
            editor.input("g2");
        }
        editor.wait_ended(1);
        assert_eq!(editor.lua_int("return count('LatheToolApprovalRequested')") == 1, asks, "{answer}");
        assert_eq!(editor.results(), ["Hello Ann"]);
        assert!(editor.told().contains(told), "{answer}: {}", editor.told());
    }
}

#[test]
fn n38_without_a_function_the_servers_setting_or_the_general_one_decides() {
    for (options, asks) in [
        ("auto_approve = true", false),
        ("auto_approve = false", true),
        ("auto_approve = false, settings = { example = { autoApprove = true } }", false),
        ("auto_approve = false, settings = { example = { autoApprove = { 'greet' } } }", false),
        ("auto_approve = false, settings = { example = { autoApprove = { 'other' } } }", true),
    ] {
        let editor = editor();
        editor.lua(&format!(
            "greet() use({{ answer('example__greet', {{ name = 'Ann' }}), {{ text = 'done' }} }}, {{ 'example' }}, {{ {options} }}) send('go')"
        ));
        if asks {
            editor.wait_screen("Run the tool");
            editor.input("g2");
        }
        editor.wait_ended(1);
        assert_eq!(editor.lua_int("return count('LatheToolApprovalRequested')") == 1, asks, "{options}");
    }
}

#[test]
fn a26_a_rejection_carries_its_reason_and_the_queue_goes_on() {
    let editor = editor();
    editor.run("two_servers");
    editor.wait_screen("Run the tool");
    editor.input("g3");
    editor.wait_screen("Reason");
    editor.input("wrong dir<CR>");
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].contains("rejected") && results[0].contains("wrong dir"), "{results:?}");
    assert_eq!(results[1], "ran");
    let codes = "local codes = {} for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then \
        codes[#codes + 1] = e.data.code end end return table.concat(codes, ', ')";
    assert_eq!(editor.lua_text(codes), "REJECTED, OK");
}

#[test]
fn n40_a_tool_that_asks_itself_gets_no_question_no_limit_and_the_decision() {
    for approved in [true, false] {
        let editor = editor();
        editor.run_with("asking_itself", vec![approved.into()]);
        editor.wait_lua("finish");
        assert_eq!(editor.lua_bool("return decision"), approved);
        // Well past the limit of other calls.
        editor.lua("vim.defer_fn(function() finish() end, 120)");
        editor.wait_ended(1);
        assert_eq!(editor.results(), ["reviewed"]);
        assert_eq!(editor.lua_int("return count('LatheToolApprovalRequested')"), 0);
    }
}

#[test]
fn n40_a_denial_holds_for_a_tool_that_asks_itself() {
    let editor = editor();
    editor.lua(
        "serve('s', 't', function() ran = true end, { needs_confirmation_window = false })
         use({ answer('s__t', {}), { text = 'done' } }, { 's' }, { auto_approve = function() return 'never' end }) send('go')",
    );
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["never"]);
    assert!(editor.lua_bool("return ran == nil"));
}

#[test]
fn n41_reading_resources_follows_its_own_setting_and_what_the_user_types_never_asks() {
    for asks in [true, false] {
        let editor = editor();
        editor.run_with("reading", vec![(!asks).into()]);
        if asks {
            editor.wait_screen("access_mcp_resource");
            editor.wait_screen("uri: x://1");
            editor.input("g2");
        }
        editor.wait_ended(1);
        assert_eq!(editor.results(), ["Resource x://1:\ncontent"]);
        assert_eq!(editor.lua_int("return count('LatheToolApprovalRequested')"), i64::from(asks));
        assert!(editor.lua_bool("return chat.messages[1].content:find('Resource x://1:\\ncontent', 1, true) ~= nil"));
    }
}

#[test]
fn n13_a_tool_called_by_name_asks_for_itself_and_a_stop_ends_it() {
    let editor = editor();
    editor.run("by_name");
    editor.wait_buffer("Run the tool \"greet\" of the server \"example\"?");
    editor.wait_screen("name: Ann");
    assert!(editor.lua_bool("return greeted == nil"));
    editor.input("g2");
    editor.wait_lua("waiting");
    let results = editor.results();
    assert_eq!(results[0], "Hello Ann");
    assert!(results[1].contains("/name"), "{results:?}");
    editor.lua("chat:stop()");
    editor.wait_lua("cancelled and #results() == 3");
    assert_eq!(editor.lua_int("return greeted"), 1);
    // The history keeps what the model wrote; events tell what ran.
    let called = "return chat.messages[2].tools.calls[1]['function'].name";
    assert_eq!(editor.lua_text(called), "use_mcp_tool");
    let codes = "local codes = {} for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then \
        codes[#codes + 1] = e.data.tool .. ' ' .. e.data.code end end return table.concat(codes, ', ')";
    assert_eq!(editor.lua_text(codes), "example__greet OK, example__greet INVALID_ARGUMENTS, example__waits CANCELLED");
}
