//! A call that fails without saying why shows nothing of what another call of the turn has said: neither to the model nor in
//! the chat, in whatever way its tool is written.

use crate::chat;

#[test]
fn an_error_without_data_never_shows_the_data_of_another_call() {
    let editor = chat::editor();
    for (form, tool) in [
        ("the last error", "tool('silent', { cmd })"),
        (
            "all errors",
            "tool('silent', { cmd }, { output = { error = function(self, stderr, meta)
            meta.tools.chat:add_tool_output(self, 'failed: ' .. tostring(stderr[#stderr])) end } })",
        ),
        (
            "older arguments",
            "tool('silent', { cmd }, { output = { error = function(self, agent, cmd, stderr, stdout)
            agent.chat:add_tool_output(self, 'failed: ' .. tostring(stderr[#stderr])) end } })",
        ),
        ("no output functions", "(function() local t = tool('silent', { cmd }) t.output = nil return t end)()"),
        ("handlers once", "tool('silent', { cmd }, { opts = { use_handlers_once = true } })"),
        ("parallel", "tool('silent', { cmd }, { opts = { parallel = true } })"),
    ] {
        for cmd in [
            "function() return { status = 'error' } end",
            "function(_, _, opts) vim.defer_fn(function() opts.output_cb({ status = 'error' }) end, 5) end",
            "function() return { status = 'error', data = nil, more = 'x' } end",
        ] {
            for loud in [
                "function() return { status = 'error', data = 'SAID BY ANOTHER' } end",
                "function() error('SAID BY ANOTHER') end",
                "'echo SAID BY ANOTHER >&2; exit 3'",
            ] {
                editor.run_with("loud_and_silent", vec![cmd.into(), loud.into(), tool.into()]);
                editor.wait_ended(1);
                let results = editor.results();
                assert!(results[0].contains("SAID BY ANOTHER"), "{form}: {results:?}");
                for result in &results[1..] {
                    assert!(!result.contains("SAID BY ANOTHER"), "{form}, {cmd}: {results:?}");
                    assert!(result.contains("Error calling silent"), "{form}, {cmd}: {results:?}");
                }
                let text = editor.chat_text();
                let silent = &text[text.find("silent").unwrap()..];
                assert!(!silent.contains("SAID BY ANOTHER"), "{form}, {cmd}: {text}");
                assert_eq!(editor.messages(), "");
            }
        }
    }
}

#[test]
fn an_error_with_data_is_shown_and_told_with_its_own() {
    let editor = chat::editor();
    editor.run("two_errors");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["Error calling one", "Error calling two"]);
    let text = editor.chat_text();
    assert!(text.contains("Error calling one: first") && text.contains("Error calling two: second"), "{text}");
}
