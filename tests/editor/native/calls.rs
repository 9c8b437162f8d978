//! The life of a tool call.

use super::{debugging, editor};
use crate::support::script;

#[test]
fn a01_a_tool_is_known_by_its_server_and_its_name_and_gives_its_text() {
    let editor = editor();
    editor.lua(
        "greet() use({ answer('example__greet', { name = 'Ann' }), { text = 'done' } }, { 'example' }) send('go')",
    );
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["Hello Ann"]);
    assert_eq!(editor.told(), "");
}

#[test]
fn a02_a03_n26_wrong_arguments_are_told_to_the_model_and_nobody_is_asked() {
    let editor = editor();
    editor.lua(
        "greet() use({ answer('example__greet', {}, 'example__greet', { name = 3 }), { text = 'done' } }, \
         { 'example__greet' }, { auto_approve = false }) send('go')",
    );
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].contains("/name") && results[0].contains("required"), "{results:?}");
    assert!(results[1].contains("/name") && results[1].contains("string"), "{results:?}");
    assert!(editor.lua_bool("return greeted == nil"));
    let codes = "local codes = {} for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then \
        codes[#codes + 1] = e.data.code .. ' ' .. e.data.source .. ' ' .. e.data.server end end return table.concat(codes, ', ')";
    assert_eq!(editor.lua_text(codes), "INVALID_ARGUMENTS native example, INVALID_ARGUMENTS native example");
    assert_eq!(editor.lua_int("return count('LatheToolApprovalRequested')"), 0);
}

#[test]
fn a05_n27_a_callback_comes_once_and_later() {
    let editor = editor();
    editor.lua(
        "approve() serve('s', 't', function(_, res) vim.schedule(function() res:text('x'):send() end) end) \
         call('s', 't') during = called",
    );
    editor.wait_called();
    assert_eq!(editor.lua_text("return during .. called .. texts() .. tostring(err)"), "01xnil");
}

#[test]
fn a07_the_first_send_counts_and_later_ones_are_one_line_in_the_log() {
    let editor = debugging();
    editor.lua(
        "approve() serve('s', 't', function(_, res) res:text('a'):send(); res:text('b'):send() end) call('s', 't')",
    );
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "a");
    assert_eq!(editor.lua_text("return log()").matches("after its result was sent").count(), 1);
}

#[test]
fn a06_n32_a_handler_that_never_sends_ends_at_its_limit_and_what_it_sends_later_changes_nothing() {
    let editor = debugging();
    editor.run("never_sends");
    editor.wait_called();
    let ms = editor.lua("return (vim.uv.hrtime() - started) / 1e6").as_f64().unwrap();
    assert!(ms >= 200.0, "{ms}");
    assert_eq!(editor.lua_text("return err.code"), "TIMEOUT");
    assert!(editor.lua_text("return err.message").contains("200 ms"));
    editor.lua("finish()");
    // A second call shows that what came late is not waiting somewhere.
    editor.lua("before = called .. tostring(response) .. fired serve('s', 'other', function() return 'x' end) call('s', 'other')");
    editor.wait_called();
    assert_eq!(editor.lua_text("return before .. called .. texts()"), "1nil11x");
}

#[test]
fn n02_the_limit_of_all_native_calls_is_an_option_and_a_tool_may_have_its_own() {
    let editor = editor();
    editor.run("two_limits");
    editor.wait_called();
    assert!(editor.lua_text("return err.message").contains("100 ms"));
    editor.lua("call('s', 'own')");
    editor.wait_called();
    assert!(editor.lua_text("return err.message").contains("50 ms"));
    editor.lua("require('lathe').setup({ native = { timeuot = 1, also = 2 } })");
    editor.wait_lua("#told == 1");
    assert!(editor.told().contains("native.also: unknown option"), "{}", editor.told());
    assert!(editor.told().contains("native.timeuot: unknown option"), "{}", editor.told());
}

#[test]
fn a08_a09_n30_what_a_handler_may_return() {
    let editor = editor();
    editor.lua("approve() function gives(fn) serve('s', 't', fn, {}) native.remove_tool('s', 't') serve('s', 't', fn) call('s', 't') end");
    for (code, wanted) in [
        ("return res:text('a')", "a"),
        ("return 'x'", "x"),
        ("return { content = { { type = 'text', text = 'y' } } }", "y"),
        ("return { result = { content = { { type = 'text', text = 'z' } } } }", "z"),
        ("return { { type = 'text', text = '1' }, { type = 'text', text = '2' } }", "1|2"),
        ("res:send('sent')", "sent"),
        ("res:text('own'):send({ content = { { type = 'text', text = 'other' } } })", "other"),
        ("res:text('first'):send() return 'second'", "first"),
    ] {
        editor.lua(&format!("gives(function(req, res) {code} end)"));
        editor.wait_called();
        assert_eq!(editor.lua_text("return texts() .. tostring(err)"), format!("{wanted}nil"), "{code}");
    }
    for (code, kind) in [
        ("return 5", "number"),
        ("return true", "boolean"),
        ("return { foo = 1 }", "table"),
        ("return function() end", "function"),
        ("res:send(7)", "number"),
    ] {
        editor.lua(&format!("gives(function(req, res) {code} end)"));
        editor.wait_called();
        assert_eq!(editor.lua_text("return err.code"), "INVALID_RESULT", "{code}");
        let message = editor.lua_text("return err.message");
        assert!(message.contains(kind) && message.contains("\"t\" of the server \"s\" ran"), "{message}");
    }
    assert_eq!(editor.told(), "");
}

#[test]
fn n30_a_tool_that_returns_and_sends_is_told_once_and_the_first_counts() {
    let editor = editor();
    editor.lua(
        "approve() serve('s', 't', function(req, res) vim.schedule(function() res:send('late') late = (late or 0) + 1 end) return 'first' end)
         call('s', 't')",
    );
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "first");
    editor.lua("call('s', 't')");
    editor.wait_lua("late == 2 and #told > 0");
    assert_eq!(editor.told().matches("the tool \"t\" of the server \"s\"").count(), 1, "{}", editor.told());
}

#[test]
fn r119_a_throw_of_nothing_is_told_in_words() {
    let editor = editor();
    editor.lua(
        "serve('s', 't', function() error(nil) end)
         use({ answer('s__t', {}), { text = 'done' } }, { 's' }) send('go')",
    );
    editor.wait_ended(1);
    assert!(editor.results()[0].contains("did not say why"), "{:?}", editor.results());
}

#[test]
fn a10_a_throw_gives_the_model_the_message_and_the_log_the_traceback() {
    let editor = editor();
    editor.run("throwing");
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].contains("boom") && !results[0].contains("traceback"), "{results:?}");
    assert!(results[1].contains("full"), "{results:?}");
    assert!(results[2].contains("in a callback"), "{results:?}");
    assert_eq!(results[3], "stands");
    let log = editor.lua_text("return log()");
    assert!(log.contains("boom") && log.contains("traceback") && log.contains("too late"), "{log}");
    let ends = "local list = {} for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then \
        list[#list + 1] = e.data.status .. ' ' .. e.data.code end end return table.concat(list, ', ')";
    assert_eq!(editor.lua_text(ends), "error HANDLER_ERROR, error HANDLER_ERROR, error HANDLER_ERROR, success OK");
    let failed = "return vim.iter(chat.messages):map(function(m) return m.role == 'tool' and tostring(m.tools.is_error) or nil end):join(' ')";
    assert_eq!(editor.lua_text(failed), "true true true false");
    editor.assert_quiet();
}

#[test]
fn a11_a12_n22_an_error_replaces_what_was_added_and_can_be_sent_again_without_harm() {
    let editor = editor();
    editor.run("failing");
    editor.wait_ended(1);
    let results = editor.results();
    assert_eq!(results[0], "No repo\nDetails: {\n  cwd = \"/x\"\n}");
    assert_eq!(results[1..3], ["e", "e"]);
    assert!(results[3].contains("why = 1"), "{results:?}");
    let failed = "return vim.iter(chat.messages):map(function(m) return m.role == 'tool' and tostring(m.tools.is_error) or nil end):join(' ')";
    assert_eq!(editor.lua_text(failed), "true true true true");
    editor.assert_quiet();
}

#[test]
fn n21_what_is_no_string_is_shown_readably() {
    let editor = editor();
    editor.lua(
        "approve() serve('s', 't', function(_, res) return res:text({ a = 1 }):text(nil):text(2) end) call('s', 't')",
    );
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "{\n  a = 1\n}|nil|2");
}

#[test]
fn n31_bad_items_become_notes_and_nothing_but_bad_ones_is_no_result() {
    let editor = editor();
    editor.run("bad_items");
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].starts_with("good\n[left out: an image item"), "{results:?}");
    assert!(results[0].contains("[left out: a resource item without uri]"), "{results:?}");
    assert!(results[1].contains("cannot be used") && results[1].contains("\"video\""), "{results:?}");
    assert_eq!(results[2], "(no output)");
}

#[test]
fn a15_n24_a_call_is_checked_against_the_schema_that_was_sent() {
    let editor = editor();
    editor.run("changing_schema");
    editor.wait_ended(1);
    let results = editor.results();
    // The schema changed after the first request was listed and before its answer.
    assert_eq!(results[0], "ran a");
    assert!(results[1].contains("/x"), "{results:?}");
    assert_eq!(results[2], "ran b");
}

#[test]
fn n24_no_type_is_coerced_and_formats_are_notes() {
    let editor = editor();
    editor.run("no_coercion");
    editor.wait_called();
    assert_eq!(editor.lua_text("return err.code"), "INVALID_ARGUMENTS");
    editor.lua("call('s', 't', { n = 3.0, at = 'no date' })");
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "number");
}

#[test]
fn a04_n25_defaults_are_notes_unless_they_are_to_be_applied() {
    let editor = editor();
    editor.run("defaults");
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "pnilvim.empty_dict()");
    editor.lua("setup(true)");
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "p1{\n  x = { \"y\" }\n}");
}

#[test]
fn a32_n20_null_of_an_optional_field_is_nil_and_params_are_a_copy() {
    let editor = editor();
    editor.run("nulls");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["niltrue2", "niltrue3"]);
    let arguments = "return chat.messages[#chat.messages - 3].tools.calls[1]['function'].arguments";
    assert_eq!(editor.lua_text(arguments), r#"{"x":null,"list":[null,1]}"#);
}

#[test]
fn n19_the_request_tells_of_the_editor_the_caller_and_the_server() {
    let editor = editor();
    editor.run("request");
    editor.wait_ended(1);
    let facts = script("facts");
    assert_eq!(
        editor.lua_text(&facts),
        r#"[2,true,true,"lua",2,true,true,true,true,1,true,[2,0],1,true,true,"s","lathe",true,true,true,true,"string",[],false]"#
    );
}

#[test]
fn n28_without_a_callback_it_waits_and_in_a_fast_event_it_does_not() {
    let editor = editor();
    editor.run("waiting");
    let code = "local r, e = native.call_tool('s', 'soon') return r.result.content[1].text .. tostring(e)";
    assert_eq!(editor.lua_text(code), "xnil");
    let parsed = "return native.call_tool('s', 'soon', {}, { parse_response = true }).text";
    assert_eq!(editor.lua_text(parsed), "x");
    let never = "approve({ sync_timeout = 50 }) local r, e = native.call_tool('s', 'never') return tostring(r) .. e.code .. e.message";
    assert_eq!(editor.lua_text(never), "nilTIMEOUTno result after 50 ms (native.sync_timeout)");
    let thrown =
        "local r, e = native.call_tool('s', 'throws') return e.code .. tostring(e.traceback ~= nil) .. tostring(e)";
    let thrown = editor.lua_text(thrown);
    assert!(thrown.starts_with("HANDLER_ERRORtrue") && thrown.contains("boom"), "{thrown}");
    editor.run("in_fast_event");
    editor.wait_lua("late");
    assert_eq!(editor.lua_text("return fast .. late"), "INVALID_CALLxfalse");
}

#[test]
fn n29_calls_of_one_chat_run_one_after_another() {
    let editor = editor();
    editor.run("one_after_another");
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return table.concat(order, ', ')"), "begin 1, end 1, begin 2, end 2");
    assert_eq!(editor.results(), ["(no output)", "(no output)"]);
}

#[test]
fn a30_stopping_the_chat_cancels_at_once_and_nothing_comes_later() {
    let editor = editor();
    editor.run("stopped");
    editor.wait_lua("waiting");
    editor.lua("chat:stop()");
    editor.wait_ended(1);
    editor.wait_lua("process_ended");
    assert!(editor.lua_bool("return cancelled and paired()"));
    let results = editor.results();
    assert!(results.len() == 2 && results.iter().all(|text| text.contains("stopped")), "{results:?}");
    let codes = "local codes = {} for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then \
        codes[#codes + 1] = e.data.code end end return table.concat(codes, ', ')";
    assert!(editor.lua_text(codes).starts_with("CANCELLED"));
    assert!(!editor.buffer().contains("late"));
}

#[test]
fn n33_every_call_gets_exactly_one_result_in_every_outcome() {
    let editor = editor();
    editor.run("every_outcome");
    editor.wait_ended(1);
    assert_eq!(editor.results().len(), 7);
    assert!(editor.lua_bool("return paired()"));
    let codes = "local codes = {} for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then \
        codes[#codes + 1] = e.data.code or '-' end end return table.concat(codes, ', ')";
    assert_eq!(editor.lua_text(codes), "OK, HANDLER_ERROR, INVALID_RESULT, TIMEOUT, ERROR, -, INVALID_ARGUMENTS");
}

#[test]
fn a_handler_may_wait_for_another_call() {
    let editor = editor();
    editor.run("nested");
    editor.wait_lua("#results() == 1 and not chat.is_running");
    assert_eq!(editor.results(), ["outer of inner"]);
}

#[test]
fn a_server_may_be_registered_in_a_fast_event() {
    let editor = editor();
    editor.run("registered_in_fast_event");
    editor.wait_lua("done");
    assert!(editor.lua_bool("return made ~= nil and fault == nil"));
    editor.lua("call('fast', 't')");
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "ran");
}
