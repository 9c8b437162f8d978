//! Tools that a provider runs by itself: an adapter's `available_tools`, with a server that checks what is sent.

use serde_json::{Value, json};

use super::{connect, editor, type_and_send};
use crate::provider::{delta, said};
use crate::support::server::{Reply, Server, stream};

fn calls(name: &str, arguments: &str) -> Reply {
    let call =
        json!({"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    stream(&[delta(json!({"tool_calls": [call]})), end])
}

/// The names and types of the tools in a request.
fn tools_of(server: &Server, request: usize) -> Vec<String> {
    let body = server.received()[request].body.clone();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| tool["function"]["name"].as_str().or(tool["type"].as_str()).unwrap_or("?").to_owned();
    tools.iter().map(name).collect()
}

fn system_of(server: &Server, request: usize) -> Vec<String> {
    let messages = server.received()[request].body["messages"].as_array().cloned().unwrap_or_default();
    let system = messages.iter().filter(|message| message["role"] == "system");
    system.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn cc_adapter_tool_is_added_by_its_callback_and_build_tools_calls_it() {
    // The document's own texts: with its hook, and without one.
    for hook in ["handlers = { request = { build_tools = example('available_tools').build_tools } }", ""] {
        let server = Server::start(vec![stream(&said("one")), stream(&said("two"))]);
        let editor = editor();
        let adapter = format!("{{ available_tools = example('available_tools').available_tools, {hook} }}");
        connect(&editor, &server, "{ mine = tool('mine', {}) }", &adapter);
        type_and_send(&editor, "plain @{mine}");
        editor.wait_buffer("one");
        type_and_send(&editor, "now @{web_search}");
        editor.wait_buffer("two");
        assert_eq!(tools_of(&server, 0), ["mine"], "{hook}");
        let mut both = tools_of(&server, 1);
        both.sort();
        assert_eq!(both, ["mine", "web_search"], "{hook}");
        let sent = server.received()[1].body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
        assert_eq!(sent, "now the web_search tool");
        assert_eq!(editor.lua_int("return #told"), 0);
    }
}

#[test]
fn cc_adapter_tool_reaches_build_tools_as_a_schema_marked_in_its_meta() {
    let server = Server::start(vec![stream(&said("done"))]);
    let editor = editor();
    editor.run("searching");
    connect(&editor, &server, "{ mine = tool('mine', {}) }", "adapter");
    type_and_send(&editor, "@{search} @{mine}");
    editor.wait_buffer("done");
    let seen = editor.lua_text(
        "local s = seen[1] return vim.inspect({ #seen, s.search, s.mine._meta == nil, s.mine['function'].name }, { newline = '', indent = ' ' })",
    );
    assert_eq!(
        seen,
        "{ 1, {  _meta = {   adapter_tool = true  },  description = \"Searches\",  name = \"search\" }, true, \"mine\" }"
    );
}

#[test]
fn build_tools_gets_no_table_of_a_tools_author() {
    let server = Server::start(vec![stream(&said("one")), stream(&said("two"))]);
    let editor = editor();
    editor.run("renaming");
    connect(&editor, &server, "{ mine = tool('mine', {}) }", "adapter");
    type_and_send(&editor, "@{mine}");
    editor.wait_buffer("one");
    type_and_send(&editor, "again");
    editor.wait_buffer("two");
    assert_eq!(tools_of(&server, 1), ["mine"]);
    assert!(editor.lua_bool("local s = require('lathe.tools').resolve('mine').schema['function'] return s.name == 'mine' and s.parameters ~= nil"));
}

#[test]
fn cc_adapter_tool_may_change_the_adapter_and_has_a_system_prompt() {
    let server = Server::start(vec![stream(&said("one")), stream(&said("two"))]);
    let editor = editor();
    editor.run("memory");
    connect(&editor, &server, "{}", "adapter");
    type_and_send(&editor, "hello");
    editor.wait_buffer("one");
    type_and_send(&editor, "@{memory}");
    editor.wait_buffer("two");
    let received = server.received();
    assert_eq!((received[0].header("x-beta"), received[1].header("x-beta")), (None, Some("memory")));
    assert_eq!((system_of(&server, 0), system_of(&server, 1)), (vec![], vec!["about memory".to_owned()]));
    assert_eq!(received[1].body["tools"], json!([{"type": "memory_1", "name": "memory"}]));
}

#[test]
fn cc_adapter_tool_is_enabled_by_a_boolean_or_a_function_of_the_adapter() {
    for (enabled, offered) in [
        ("true", true),
        ("nil", true),
        ("function(adapter) return adapter.name == 'here' end", true),
        ("false", false),
        ("function(adapter) return adapter.model == 'large' end", false),
    ] {
        let server = Server::start(vec![stream(&said("done"))]);
        let editor = editor();
        let adapter = format!(
            "{{ available_tools = {{ search = {{ enabled = {enabled}, callback = function(_, meta) table.insert(meta.tools, {{ type = 'search_1' }}) end }} }} }}"
        );
        // A tool of the configuration with the same name: the provider's wins, unless it is off.
        connect(&editor, &server, "{ search = tool('search', {}) }", &adapter);
        type_and_send(&editor, "@{search}");
        editor.wait_buffer("done");
        assert_eq!(tools_of(&server, 0), [if offered { "search_1" } else { "search" }], "{enabled}");
        let list = editor.lua_text("return table.concat(require('lathe.tools.overview').lines(chat), '\\n')");
        let source = if offered { "provider" } else { "lua     " };
        assert!(list.contains(&format!(" * search       {source}  offered")), "{enabled}: {list}");
    }
}

#[test]
fn cc_adapter_tool_with_a_client_tool_is_run_by_that_entry() {
    let server = Server::start(vec![calls("memory", r#"{"path": "/notes"}"#), stream(&said("done"))]);
    let editor = editor();
    editor.run("client_tool");
    connect(&editor, &server, "tools", "adapter");
    type_and_send(&editor, "use @{memory}");
    editor.wait_buffer("Run the \"memory\" tool?");
    editor.input("<Esc>g2");
    editor.wait_buffer("done");
    assert_eq!(editor.results(), ["memory_here /notes"]);
    assert_eq!(server.received()[0].body["tools"], json!([{"type": "memory_1", "name": "memory"}]), "described once");
    let sources = "local s = {} for _, e in ipairs(events) do if e.name:find('^LatheTool[SFA]') and e.data.tool then s[#s + 1] = e.data.source end end return table.concat(s, ' ')";
    let sources = editor.lua_text(sources);
    assert!(sources.split(' ').count() >= 4 && sources.split(' ').all(|source| source == "provider"), "{sources}");
}

#[test]
fn wrong_tools_of_an_adapter_are_named_and_the_others_are_offered() {
    for (entry, told) in [
        ("5", "adapters.http.here.available_tools.bad: expected a table, got number"),
        ("{}", "available_tools.bad: callback: expected a function, got nil"),
        (
            "{ callback = function() end, enabled = 'yes' }",
            "bad: enabled: expected a boolean or a function, got string",
        ),
        ("{ callback = function() end, enabled = function() error('thrown') end }", "bad: enabled failed: "),
        ("{ callback = function() end, system_prompt = 5 }", "bad: system_prompt: expected a string or a function"),
        ("{ callback = function() end, opts = { client_tool = 'memory' } }", "client_tool: there is no \"memory\""),
        (
            "{ callback = function() end, opts = { client_tool = 'interactions.chat.tools.none' } }",
            "client_tool: there is no \"interactions.chat.tools.none\"",
        ),
        ("{ callback = function() error({ code = 7 }) end }", "code = 7"),
    ] {
        let server = Server::start(vec![stream(&said("done"))]);
        let editor = editor();
        let adapter = format!(
            "{{ available_tools = {{ bad = {entry}, good = {{ callback = function(_, meta) table.insert(meta.tools, {{ type = 'good_1' }}) end }} }} }}"
        );
        connect(&editor, &server, "{}", &adapter);
        type_and_send(&editor, "use @{bad} and @{good}");
        editor.wait_buffer("done");
        assert_eq!(tools_of(&server, 0), ["good_1"], "{entry}");
        let list = "return table.concat(require('lathe.tools.overview').lines(chat), '\\n')";
        let all = editor.lua_text("return table.concat(told, '\\n')")
            + &editor.buffer().replace('\n', " ")
            + &editor.lua_text(list);
        assert!(all.contains(told), "{entry}: {all}");
        assert!(!all.contains("traceback"), "{all}");
        editor.assert_no_fault();
    }
}
