//! Requests compared whole.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::build::{build, call_of};
use crate::adapter::names::Names;
use crate::adapter::request::{BuildInput, Built, Dialect, ToolDefinition};
use crate::adapter::testing::{input, llm, result, tool};
use crate::message::{Attachment, Call, Message, NO_RESULT};

fn settings(settings: Value) -> Map<String, Value> {
    settings.as_object().expect("an object").clone()
}

fn build_with(messages: &[Message], tools: &[ToolDefinition], own: Option<&Value>, given: Value) -> Built {
    let messages: Vec<Arc<Message>> = messages.iter().cloned().map(Arc::new).collect();
    build(BuildInput { messages: &messages, tools, tools_override: own, ..input(&settings(given)) })
}

#[test]
fn r055_only_fields_of_the_api_are_sent() {
    let extra = Some(json!({"_index": 0, "id": "x", "function": {}}));
    let call = Call { wire_id: "A".into(), name: "f".into(), arguments: "{}".into(), extra };
    assert_eq!(
        call_of(&call, "A", true, &Names::default()),
        json!({"id": "A", "type": "function", "function": {"name": "f", "arguments": "{}"}})
    );
}

#[test]
fn tools_that_the_provider_knows_follow_the_others_but_not_those_of_a_hook() {
    let (tools, extra) = ([tool("f", json!({"type": "object"}), None)], [json!({"type": "web_search"})]);
    let built = |tools_override| {
        let settings = Map::new();
        build(BuildInput { tools: &tools, tools_override, extra_tools: &extra, ..input(&settings) }).body
    };
    let tools = built(None)["tools"].clone();
    assert_eq!((&tools[0]["function"]["name"], &tools[1]), (&json!("f"), &json!({"type": "web_search"})));
    assert_eq!(built(Some(&json!({"tools": [{"type": "own"}]})))["tools"], json!([{"type": "own"}]));
}

#[test]
fn three_turns_with_tools_are_sent_whole() {
    let number = json!({"type": "number"});
    let tools = [
        tool("calculator", json!({"properties": {"num1": number, "num2": number}, "required": ["num1"]}), Some(true)),
        tool("list_buffers", json!([]), None),
    ];
    let mut history = vec![
        Message::System { content: "Be brief.".into() },
        Message::System { content: "Use tools.".into() },
        Message::User { content: "100*50?".into(), visible: true, typed: None, attachments: vec![] },
    ];
    let mut wanted = vec![
        json!({"role": "system", "content": "Be brief."}),
        json!({"role": "system", "content": "Use tools."}),
        json!({"role": "user", "content": "100*50?"}),
    ];
    let body = |messages: &[Value]| {
        json!({
            "model": "gpt-x", "temperature": 0.5, "stream": true, "stream_options": {"include_usage": true},
            "messages": messages,
            "tools": [
                {"type": "function", "function": {
                    "name": "calculator", "description": "calculator!", "strict": true,
                    "parameters": {
                        "type": "object", "additionalProperties": false, "required": ["num1", "num2"],
                        "properties": {"num1": {"type": "number"}, "num2": {"type": ["number", "null"]}},
                    },
                }},
                {"type": "function", "function": {
                    "name": "list_buffers", "description": "list_buffers!",
                    "parameters": {"type": "object", "properties": {}},
                }},
            ],
        })
    };
    let sent = |history: &[Message]| {
        let built = build_with(history, &tools, None, json!({"model": "gpt-x", "temperature": 0.5}));
        assert_eq!(built.faults, Vec::<String>::new());
        built.body
    };
    assert_eq!(sent(&history), body(&wanted));

    // R041: the arguments are the model's own text, and an empty object stays one.
    let odd = "{ \"num1\":100,\n  \"num2\":5e1, \"num1\":100}";
    history.extend([
        llm("", &[("c1", "calculator", odd), ("c2", "list_buffers", "{}")]),
        result("c1", "5000", true),
        result("c2", "", true),
        llm("It is 5000.", &[]),
        Message::User { content: "And now?".into(), visible: false, typed: None, attachments: vec![] },
    ]);
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    wanted.extend([
        json!({
            "role": "assistant", "content": null,
            "tool_calls": [call("c1", "calculator", odd), call("c2", "list_buffers", "{}")],
        }),
        json!({"role": "tool", "tool_call_id": "c1", "content": "5000"}),
        json!({"role": "tool", "tool_call_id": "c2", "content": ""}),
        json!({"role": "assistant", "content": "It is 5000."}),
        json!({"role": "user", "content": "And now?"}),
    ]);
    assert_eq!(sent(&history), body(&wanted));

    // R026, R030: a call that never ran, and one of a tool that does not exist.
    history.extend([llm("Wait.", &[("c3", "no/such tool", "")]), result("c3", NO_RESULT, true)]);
    let gone = Names::default().wire("no/such tool").into_owned();
    wanted.extend([
        json!({"role": "assistant", "content": "Wait.", "tool_calls": [call("c3", &gone, "{}")]}),
        json!({"role": "tool", "tool_call_id": "c3", "content": NO_RESULT}),
    ]);
    assert_eq!(sent(&history), body(&wanted));
}

#[test]
fn settings_decide_about_the_stream() {
    let t = |given: Value| {
        let Value::Object(mut body) = build_with(&[], &[], None, given).body else { panic!("an object") };
        assert_eq!(body.remove("messages"), Some(json!([])));
        Value::Object(body)
    };
    assert_eq!(t(json!({})), json!({"stream": true, "stream_options": {"include_usage": true}}));
    assert_eq!(t(json!({"stream": false})), json!({"stream": false}));
    assert_eq!(t(json!({"stream_options": false})), json!({"stream": true}));
    assert_eq!(t(json!({"stream_options": null})), json!({"stream": true}));
    assert_eq!(t(json!({"stream_options": {"a": 1}})), json!({"stream": true, "stream_options": {"a": 1}}));
}

#[test]
fn r047_a_tool_that_cannot_be_strict_goes_out_as_its_author_wrote_it() {
    let free = json!({"type": "object", "properties": {"any": {"type": "object"}}});
    let built =
        build_with(&[], &[tool("f", free.clone(), Some(true)), tool("g", free.clone(), Some(false))], None, json!({}));
    for tool in built.body["tools"].as_array().expect("tools") {
        assert_eq!(tool["function"]["parameters"], free);
        assert_eq!(tool["function"].get("strict"), None);
    }
    assert_eq!(built.faults, Vec::<String>::new());
}

#[test]
fn r047_one_bad_tool_is_named_and_the_others_are_offered() {
    let tools = [
        tool("bad", json!({"type": "string"}), None),
        tool("good", json!(null), None),
        tool("good", json!(null), None),
    ];
    let built = build_with(&[], &tools, None, json!({}));
    assert_eq!(built.body["tools"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        built.faults,
        [
            "The tool \"bad\" is not offered: its parameters must be of type \"object\", not \"string\".",
            "The tool \"good\" is not offered: another tool has the same name.",
        ]
    );
}

#[test]
fn the_adapters_own_hook_wins_and_no_tools_is_no_field() {
    let tools = [tool("f", json!(null), None)];
    let sent = |own: Value| build_with(&[], &tools, Some(&own), json!({})).body;
    let own = json!([{"type": "web_search"}]);
    assert_eq!(sent(own.clone())["tools"], own);
    let body = sent(json!({"tools": own, "tool_choice": "required"}));
    assert_eq!((&body["tools"], &body["tool_choice"]), (&own, &json!("required")));
    for none in [json!([]), json!({}), json!(null), json!({"tools": []}), json!({"tools": {}})] {
        assert_eq!(sent(none.clone()).get("tools"), None, "{none}");
    }
    assert_eq!(build_with(&[], &[], None, json!({})).body.get("tools"), None);
}

#[test]
fn an_answer_of_a_form_is_asked_for_where_the_server_takes_that() {
    let schema = json!({"type": "object"});
    let settings = Map::new();
    let format = |dialect: &Dialect| {
        build(BuildInput { answer: Some(&schema), dialect, ..input(&settings) }).body.get("response_format").cloned()
    };
    let wanted = json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema}});
    assert_eq!(format(&Dialect::default()), Some(wanted));
    assert_eq!(format(&Dialect { no_answer_schema: true, ..Dialect::default() }), None);
}

#[test]
fn a19_pictures_follow_the_last_result_of_their_batch_where_the_model_takes_them() {
    let picture = |data: &str| Attachment { mime: "image/png".into(), data: data.into() };
    let result = |id: &str, attachments| {
        Arc::new(Message::Tool { wire_id: id.into(), content: format!("of {id}"), is_error: false, attachments })
    };
    let user = |content: &str| {
        Arc::new(Message::User { content: content.into(), visible: true, typed: None, attachments: vec![] })
    };
    let messages = [
        result("c1", vec![picture("AA=="), picture("BB==")]),
        result("c2", vec![]),
        result("c3", vec![picture("CC==")]),
        user("and?"),
        result("c4", vec![picture("DD==")]),
    ];
    let built = |vision| {
        let settings = settings(json!({}));
        build(BuildInput { messages: &messages, vision, ..input(&settings) }).body["messages"].clone()
    };
    let tool = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": format!("of {id}")});
    let text = |id: &str| json!({"type": "text", "text": format!("From the result of the call {id}:")});
    let image =
        |data: &str| json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}});
    let asked = json!({"role": "user", "content": "and?"});
    assert_eq!(built(false), json!([tool("c1"), tool("c2"), tool("c3"), asked, tool("c4")]));
    assert_eq!(
        built(true),
        json!([
            tool("c1"), tool("c2"), tool("c3"),
            {"role": "user", "content": [text("c1"), image("AA=="), image("BB=="), text("c3"), image("CC==")]},
            asked,
            tool("c4"),
            {"role": "user", "content": [text("c4"), image("DD==")]},
        ])
    );
}
