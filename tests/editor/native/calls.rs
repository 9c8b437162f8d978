//! The life of a tool call.

use super::{debugging, editor};

#[test]
fn a01_a_tool_is_known_by_its_server_and_its_name_and_gives_its_text() {
    let editor = editor();
    editor.lua("greet() use({ answer('example__greet', { name = 'Ann' }), { text = 'done' } }, { 'example' }) send('go')");
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
