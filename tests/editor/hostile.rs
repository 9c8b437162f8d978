//! What tools, models, users and other plugins do that nobody would expect. It may fail; the rest must go on.

use crate::chat::editor;

#[test]
fn a_notify_that_is_a_callable_table_gets_the_messages() {
    let editor = editor();
    editor.lua(
        "told = {}
         vim.notify = setmetatable({}, { __call = function(_, text) told[#told + 1] = text end })
         require('lathe').setup({ unheard = 1 })",
    );
    editor.wait_lua("(told[1] or ''):find('unheard: unknown option')");
    editor.assert_quiet();
}

#[test]
fn a_long_name_or_label_with_nul_bytes_is_shown() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("t", {}, ("n\0"):rep(300), {}), { text = "done" } }, {
          t = tool("t", { function() return { status = "success", data = "ran" } end }, {
            output = { cmd_string = function() return ("é\0"):rep(300) end },
          }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    let results = editor.results();
    assert_eq!(results[0], "ran");
    assert!(results[1].ends_with("not found. Available tools: `t`"), "{results:?}");
    editor.wait_buffer("✓ t  é");
    editor.assert_quiet();
}
