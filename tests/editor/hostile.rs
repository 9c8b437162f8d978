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
