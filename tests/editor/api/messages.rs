//! `chat.messages`, and how messages and results get into it.

use serde_json::json;

use super::editor;
use crate::provider::{delta, said};
use crate::support::server::{Server, stream};

#[test]
fn messages_have_the_documented_shape() {
    let editor = editor();
    editor.run("two_turns");
    editor.wait_ended(1);
    let shape = |n: u32| {
        let shown = editor.run_with("shape", vec![n.into()]);
        shown.as_str().unwrap().to_owned()
    };
    assert_eq!(editor.lua_int("return #chat.messages"), 6);
    assert_eq!(shape(1), r#"{ _meta = "table", content = "be brief", opts = { visible = false }, role = "system" }"#);
    assert_eq!(shape(2), r#"{ _meta = "table", content = "go", opts = { visible = true }, role = "user" }"#);
    assert_eq!(
        shape(3),
        r#"{ _meta = "table", content = "calling", opts = { visible = true }, reasoning = { content = "thinking" }, role = "llm", tools = { calls = { { ["function"] = { arguments = '{"a": 1}', name = "t" }, id = "c1", type = "function" }, { ["function"] = { arguments = "{}", name = "t" }, id = "string", type = "function" } } } }"#
    );
    assert_eq!(
        shape(4),
        r#"{ _meta = "table", content = "ran", opts = { visible = true }, role = "tool", tools = { call_id = "c1", is_error = false } }"#
    );
    assert_eq!(
        shape(5),
        r#"{ _meta = "table", content = "string", opts = { visible = true }, role = "tool", tools = { call_id = "string", is_error = true } }"#
    );
    assert!(editor.lua_bool("return paired()"));
    editor.assert_quiet();
}

#[test]
fn writing_to_messages_has_no_effect_on_what_is_sent() {
    let call = |n: u32| {
        let function = json!({"name": "t", "arguments": format!("{{\"n\":{n}}}")});
        let call = json!({"index": 0, "id": format!("call_{n}"), "type": "function", "function": function});
        stream(&[
            delta(json!({"tool_calls": [call]})),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ])
    };
    let server = Server::start(vec![call(1), stream(&said("one")), call(2), stream(&said("two"))]);
    let editor = editor();
    editor.run_with("forging", vec![server.url.as_str().into()]);
    editor.wait_ended(1);
    editor.lua("chat.messages[1] = nil chat.messages = {} chat.messages = nil");
    editor.lua("chat.messages = chat.messages or {} send('again')");
    editor.wait_ended(2);
    editor.wait_buffer("two");
    let sent = server.received().pop().unwrap().body;
    let sent: Vec<String> =
        sent["messages"].as_array().unwrap().iter().map(|m| format!("{}: {}", m["role"], m["content"])).collect();
    let sent = sent.join("|").replace('"', "");
    let wanted = "user: go|assistant: null|tool: ran|assistant: one|user: again|assistant: null|tool: ran";
    assert!(sent.ends_with(wanted) && !sent.contains("forged"), "{sent}");
    editor.assert_quiet();
}

#[test]
fn add_tool_output_takes_both_forms_and_shows_what_it_is_told() {
    let editor = editor();
    editor.run("two_forms");
    editor.wait_ended(1);
    let results = editor.results();
    assert_eq!(results[..5], ["model a", "model b", "both c", "model d", "model e"]);
    assert_eq!(results[5], "{ 1, 2 }");
    assert_eq!(results[6..], ["one\n\ntwo\n\nthree", "(no output)"]);
    let shown = editor.buffer();
    for text in ["user a", "user b", "both c", "{ 1, 2 }", "one", "three", "user h"] {
        assert!(shown.contains(&format!("\n  {text}\n")), "{text}: {shown}");
    }
    for text in ["model", "two"] {
        assert!(!shown.contains(text), "{text}: {shown}");
    }
    editor.assert_quiet();
}

#[test]
fn output_that_belongs_to_no_call_is_dropped_quietly() {
    let editor = editor();
    editor.lua("open({ { text = 'fine' } }, {})");
    for tool in
        ["nil", "5", "{}", "{ function_call = 5 }", "{ function_call = {} }", "{ function_call = { id = 'x' } }"]
    {
        editor.lua(&format!("chat:add_tool_output({tool}, 'x')"));
    }
    editor.lua("send('go')");
    editor.wait_ended(1);
    editor.assert_quiet();
}

#[test]
fn execute_runs_calls_after_those_that_are_open_and_their_results_are_sent() {
    let editor = editor();
    editor.run("executing");
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return table.concat(order, ' ')"), "outer last inner1 inner2");
    assert_eq!(editor.results(), ["outer", "last", "inner1", "inner2"]);
    assert!(editor.lua_bool("return paired() and chat.messages[#chat.messages].content == 'done'"));
    // Outside of a turn.
    editor.lua("chat.adapter.turns = { { text = 'more' } } chat.adapter.position = 0 chat.tools:execute(chat, { { name = 'inner' } })");
    editor.wait_ended(2);
    editor.wait_buffer("more");
    assert!(editor.lua_bool("return paired()"));
    editor.assert_quiet();
}

#[test]
fn messages_from_outside_join_after_open_calls_and_show_unless_hidden() {
    let editor = editor();
    editor.run("from_outside");
    editor.wait_ended(1);
    assert!(editor.lua_bool("return paired()"));
    let said = editor.lua_text(
        "local all = {} for _, m in ipairs(chat.messages) do all[#all + 1] = m.role .. ':' .. m.content end return table.concat(all, '|')",
    );
    assert_eq!(said, "user:go|llm:|tool:ran|user:seen|user:unseen|user:all of a file|llm:done");
    let shown = editor.buffer();
    for text in ["seen", "a.lua", "only shown", "done"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert!(!shown.contains("unseen") && !shown.contains("all of a file"), "{shown}");
    editor.lua("chat:add_message({ role = 'llm', content = 'said by a plugin' })");
    editor.wait_buffer("said by a plugin");
    editor.assert_quiet();
}

#[test]
fn system_prompts_of_tools_groups_and_chats_are_sent_once_and_not_shown() {
    let editor = editor();
    editor.run("prompts");
    editor.wait_ended(1);
    let said = editor.lua_text(
        "local all = {} for _, m in ipairs(sent) do if m.role == 'system' then all[#all + 1] = m.content end end return table.concat(all, '|')",
    );
    assert_eq!(said, "chat prompt of fake|prompt of a|prompt of b|prompt of c|prompt of the group");
    assert!(!editor.buffer().contains("prompt of"), "{}", editor.buffer());
    assert_eq!(
        editor.lua_text("local n = vim.tbl_keys(chat.tool_registry.in_use) table.sort(n) return table.concat(n, ' ')"),
        "a b c"
    );
    editor.lua("chat.tool_registry:remove('g') chat.tool_registry:remove('never')");
    assert_eq!(editor.lua_text("return table.concat(vim.tbl_keys(chat.tool_registry.in_use), ' ')"), "c");
    editor.assert_quiet();
}
