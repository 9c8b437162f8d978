//! What the model is offered: names, groups, dynamic fields, schemas.

use serde_json::Value as Json;

use super::{Editor, editor};
use crate::provider::said;
use crate::support::Value;
use crate::support::server::{Server, stream};

/// A chat with a provider that answers so many requests, offering these tools or groups.
fn provided(editor: &Editor, answers: usize, names: &[&str]) -> Server {
    let server = Server::start((0..answers).map(|_| stream(&said("done"))).collect());
    let names = names.iter().map(|name| Value::from(*name)).collect();
    editor.run_with("provided", vec![server.url.as_str().into(), Value::Array(names)]);
    server
}

/// The functions that a request offers.
fn offered(server: &Server, request: usize) -> Vec<Json> {
    let body = server.received()[request].body.clone();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"].clone()).collect()
}

fn names(server: &Server, request: usize) -> Vec<String> {
    offered(server, request).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a13_n15_dynamic_fields_are_read_once_for_each_request() {
    let editor = editor();
    editor.run("counting_description");
    let server = provided(&editor, 2, &["files"]);
    editor.lua("before = #vim.api.nvim_list_bufs() opened = reads send('one')");
    editor.wait_ended(1);
    assert_eq!(editor.lua_int("return reads - opened"), 1);
    editor.lua("vim.cmd('badd other') after = #vim.api.nvim_list_bufs() send('two')");
    editor.wait_ended(2);
    assert_eq!(editor.lua_int("return reads - opened"), 2);
    let (before, after) = (editor.lua_int("return before"), editor.lua_int("return after"));
    assert_eq!(offered(&server, 0)[0]["description"], format!("search: {before} buffers"));
    assert_eq!(offered(&server, 1)[0]["description"], format!("search: {after} buffers"));
}

#[test]
fn n15_a_tool_that_is_mentioned_is_read_once_for_that_message() {
    let editor = editor();
    editor.lua("reads = 0 serve('s', 't', print, { description = function() reads = reads + 1 return 'x' end })");
    let server = provided(&editor, 1, &[]);
    editor.lua("send('Use @{s__t} and @{s}')");
    editor.wait_ended(1);
    assert_eq!(names(&server, 0), ["s__t"]);
    assert_eq!(editor.lua_int("return reads"), 1);
}

#[test]
fn n15_a_slow_function_is_told_once() {
    let editor = editor();
    editor.lua(
        "serve('s', 't', print, { description = function() local t = vim.uv.hrtime() while vim.uv.hrtime() - t < 6e7 do end return 'x' end })",
    );
    let _server = provided(&editor, 2, &["s"]);
    editor.lua("send('one')");
    editor.wait_ended(1);
    editor.lua("send('two')");
    editor.wait_ended(2);
    assert_eq!(editor.told().matches("takes longer than 50 ms").count(), 1, "{}", editor.told());
}

#[test]
fn a14_n16_a_description_that_fails_is_the_name_and_told_once() {
    let editor = editor();
    editor.lua(
        "serve('s', 'throws', print, { description = function() error('secret reason') end })
         serve('s', 'number', print, { description = function() return 7 end })",
    );
    let server = provided(&editor, 2, &["s"]);
    editor.lua("send('one')");
    editor.wait_ended(1);
    editor.lua("send('two')");
    editor.wait_ended(2);
    for request in 0..2 {
        let tools = offered(&server, request);
        assert_eq!(tools[0]["description"], "throws");
        assert_eq!(tools[1]["description"], "number");
        assert!(!server.received()[request].body.to_string().contains("secret reason"));
    }
    assert_eq!(editor.told().matches("secret reason").count(), 1);
    assert_eq!(editor.told().matches("is not a string").count(), 1);
}

#[test]
fn a16_n17_a_schema_that_fails_is_empty_or_the_last_good_one_and_told_once() {
    let editor = editor();
    editor.run("failing_schemas");
    let server = provided(&editor, 4, &["s", "other"]);
    let bads = ["false", "{ type = 'array' }", "{ type = 'object', properties = { f = print } }", "'text'"];
    for (request, bad) in bads.into_iter().enumerate() {
        editor.lua(&format!("bad = {bad} send('go')"));
        editor.wait_ended(request + 1);
        let tools = offered(&server, request);
        assert_eq!(names(&server, request), ["s__first", "s__later", "other__t"]);
        assert_eq!(tools[0]["parameters"], serde_json::json!({"type": "object", "properties": {}}));
        assert_eq!(tools[1]["parameters"]["properties"]["x"]["type"], "string", "{bad}");
    }
    assert_eq!(editor.told().matches("no schema").count(), 1, "{}", editor.told());
    assert_eq!(editor.told().matches("is no object schema").count(), 2, "{}", editor.told());
    assert_eq!(editor.told().matches("is no JSON").count(), 1, "{}", editor.told());
}

#[test]
fn a17_n18_empty_properties_are_an_object_and_nothing_of_lua_is_sent() {
    let editor = editor();
    editor.lua(
        "serve('s', 'none', print)
         serve('s', 'empty', print, { inputSchema = { type = 'object', properties = {}, required = {} } })
         serve('s', 'meta', print, { inputSchema = setmetatable({ type = 'object', properties = { required = { type = 'object', properties = {}, required = {} } } },
           { __index = { title = 'from a metatable' } }) })",
    );
    let server = provided(&editor, 1, &["s"]);
    editor.lua("send('go')");
    editor.wait_ended(1);
    let body = server.received()[0].body.to_string();
    assert!(!body.contains("metatable") && !body.contains("\"properties\":[]"), "{body}");
    let tools = offered(&server, 0);
    for tool in &tools[..2] {
        assert_eq!(tool["parameters"], serde_json::json!({"type": "object", "properties": {}}));
    }
    let inner = &tools[2]["parameters"]["properties"]["required"];
    assert_eq!(*inner, serde_json::json!({"type": "object", "properties": {}}));
}

#[test]
fn a21_n10_two_servers_of_one_safe_name_are_told_apart() {
    let editor = editor();
    editor.run("one_safe_name");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["first", "second"]);
    assert_eq!(editor.told().matches("a_b__x_y_1").count(), 1, "{}", editor.told());
}

#[test]
fn a22_n12_the_users_own_tool_of_that_name_wins_and_that_is_told_once() {
    let editor = editor();
    editor.run("own_tool");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["own"]);
    editor.lua("send('more')");
    editor.wait_ended(2);
    assert_eq!(editor.told().matches("the native tool neovim__read_file is left out").count(), 1, "{}", editor.told());
}

#[test]
fn a33_n13_n01_a_group_has_what_its_server_has_at_each_request() {
    let editor = editor();
    editor.lua("serve('s', 'one', print) serve('other', 't', print)");
    let server = provided(&editor, 4, &["s"]);
    editor.lua("send('first')");
    editor.wait_ended(1);
    editor.lua("serve('s', 'two', print) serve('other', 'u', print) send('second')");
    editor.wait_ended(2);
    editor.lua("native.remove_tool('s', 'one') send('third')");
    editor.wait_ended(3);
    editor.lua("native.disable('s') send('fourth')");
    editor.wait_ended(4);
    assert_eq!(names(&server, 0), ["s__one"]);
    assert_eq!(names(&server, 1), ["s__one", "s__two"]);
    assert_eq!(names(&server, 2), ["s__two"]);
    assert!(names(&server, 3).is_empty());
}

#[test]
fn a31_n14_a_disabled_tool_is_not_offered_and_a_call_of_it_is_not_found() {
    let editor = editor();
    editor.lua(
        "serve('s', 't', function() ran = true end) serve('s', 'u', print)
         use({ answer('s__t', {}), { text = 'done' } }, { 's' }, { settings = { s = { disabled_tools = { 't' } } } }) send('go')",
    );
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].contains("\"s__t\" not found") && results[0].contains("`s__u`"), "{results:?}");
    assert!(editor.lua_bool("return ran == nil"));
    let code = "for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then return e.data.code end end";
    assert_eq!(editor.lua_text(code), "NOT_FOUND");
    assert!(!editor.lua_bool("return vim.list_contains(require('lathe.tools').names(), 's__t')"));
    assert!(editor.lua_bool("return vim.list_contains(require('lathe.tools').names(), 's__u')"));
}

#[test]
fn n04_custom_instructions_are_in_the_system_prompt_while_the_group_is_in_use() {
    let editor = editor();
    editor.lua(
        "serve('s', 't', print) serve('quiet', 't', print)
         options = { settings = { s = { custom_instructions = { text = 'Be careful with s.' } },
           quiet = { custom_instructions = { text = 'Not this.', disabled = true } } } }",
    );
    let server = provided(&editor, 2, &["s", "quiet"]);
    editor.lua("send('one')");
    editor.wait_ended(1);
    editor.lua("chat.tool_registry:remove('s') send('two')");
    editor.wait_ended(2);
    let bodies: Vec<String> = server.received().iter().map(|request| request.body.to_string()).collect();
    assert!(bodies[0].contains("Be careful with s.") && !bodies[1].contains("Be careful with s."));
    assert!(!bodies[0].contains("Not this."));
    assert_eq!(names(&server, 1), ["quiet__t"]);
}

#[test]
fn n13_the_group_mcp_calls_any_tool_by_name_and_checks_what_it_gets() {
    let editor = editor();
    editor.run("mcp_group");
    editor.wait_ended(1);
    let results = editor.results();
    assert_eq!(results[..2], ["Hello Ann", "Hello Bob"]);
    assert!(results[2].contains("not one JSON object"), "{results:?}");
    assert!(results[3].contains("/name"), "{results:?}");
    assert!(results[4].contains("no tool \"gret\"") && results[4].contains("greet"), "{results:?}");
    assert!(results[5].contains("no server \"exmple\"") && results[5].contains("example"), "{results:?}");
    assert_eq!(results[6], "Resource x://1:\ncontent");
    assert!(results[7].contains("no resource x://2") && results[7].contains("x://1"), "{results:?}");
    assert_eq!(editor.told(), "");
}

#[test]
fn tools_lists_native_tools_and_groups() {
    let editor = editor();
    editor.lua("serve('files', 'search', print, { description = 'Search files' }) approve() vim.cmd('Lathe chat')");
    let lines = editor.lua_text("return table.concat(require('lathe.tools.overview').lines(), '\\n')");
    assert!(lines.contains("files__search") && lines.contains("native") && lines.contains("Search files"), "{lines}");
    assert!(lines.contains("files") && lines.contains("mcp"), "{lines}");
}

#[test]
fn n14_a_tool_that_a_rule_denies_for_every_input_is_not_offered_nor_called_by_name() {
    let editor = editor();
    editor.lua(
        "serve('s', 't', function() ran = true end) serve('s', 'u', print)
         options = {}",
    );
    let server = provided(&editor, 1, &["s"]);
    editor.run("two_tools");
    editor.wait_ended(1);
    assert_eq!(names(&server, 0), ["s__u"]);
    editor.run("denied_by_name");
    editor.wait_ended(1);
    assert_eq!(editor.results().len(), 2);
    assert!(editor.results()[1].contains("not found"), "{:?}", editor.results());
    assert!(editor.lua_bool("return ran == nil"));
}
