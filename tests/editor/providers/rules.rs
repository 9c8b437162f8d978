//! What the real providers refuse, as far as their references and their users' reports tell: `Err` is their message. Each
//! rule is broken once in the tests below, so that none of them is empty.

mod anthropic;
mod gemini;
mod ollama;
mod openai;
mod responses;

pub use anthropic::anthropic;
pub use gemini::gemini;
pub use ollama::ollama;
pub use openai::chat;
pub use responses::responses;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

type Verdict = Result<(), String>;

fn refuse<T>(text: impl Into<String>) -> Result<T, String> {
    Err(text.into())
}

fn object<'a>(value: &'a Value, what: &str) -> Result<&'a Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("{what} is no object: {value}"))
}

fn list<'a>(value: &'a Value, what: &str) -> Result<&'a Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("{what} is no list: {value}"))
}

fn text<'a>(value: &'a Value, what: &str) -> Result<&'a str, String> {
    value.as_str().ok_or_else(|| format!("{what} is no string: {value}"))
}

fn only(value: &Value, fields: &[&str], what: &str) -> Verdict {
    match object(value, what)?.keys().find(|field| !fields.contains(&field.as_str())) {
        Some(field) => refuse(format!("{what}: unknown field {field}")),
        None => Ok(()),
    }
}

fn name(value: &Value, first_is_letter: bool) -> Verdict {
    let name = text(value, "name")?;
    let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let begins = !first_is_letter || name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(legal) || !begins {
        return refuse(format!("bad name: {name:?}"));
    }
    Ok(())
}

fn unique<'a>(names: impl Iterator<Item = &'a Value>) -> Verdict {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name.to_string()) {
            return refuse(format!("two tools are named {name}"));
        }
    }
    Ok(())
}

/// Parameters must be an object at the top, without branches there, and lists must say what is in them.
fn parameters(schema: &Value) -> Verdict {
    let words = object(schema, "parameters")?;
    if schema["type"] != "object" {
        return refuse(format!("parameters must be of type object: {schema}"));
    }
    if let Some(word) = ["oneOf", "anyOf", "allOf", "enum", "not"].iter().find(|word| words.contains_key(**word)) {
        return refuse(format!("{word} at the top of the parameters"));
    }
    each_schema(schema, &|schema| {
        if schema["type"] == "array" && !schema["items"].is_object() {
            return refuse(format!("an array without items: {schema}"));
        }
        match schema.get("properties") {
            Some(properties) if !properties.is_object() => refuse("properties must be an object"),
            _ => Ok(()),
        }
    })
}

fn each_schema(schema: &Value, check: &dyn Fn(&Value) -> Verdict) -> Verdict {
    check(schema)?;
    for property in schema["properties"].as_object().into_iter().flat_map(Map::values) {
        each_schema(property, check)?;
    }
    for branch in schema["anyOf"].as_array().into_iter().flatten() {
        each_schema(branch, check)?;
    }
    if schema["items"].is_object() {
        each_schema(&schema["items"], check)?;
    }
    Ok(())
}

/// Strict mode: every object is closed and all its properties are required.
fn strict(schema: &Value) -> Verdict {
    each_schema(schema, &|schema| {
        let Some(properties) = schema["properties"].as_object() else { return Ok(()) };
        if schema["additionalProperties"] != json!(false) {
            return refuse(format!("strict: additionalProperties must be false: {schema}"));
        }
        let required: BTreeSet<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        match properties.keys().find(|name| !required.contains(name.as_str())) {
            Some(name) => refuse(format!("strict: {name} is missing in required")),
            None => Ok(()),
        }
    })
}

/// How servers of chat completions differ.
#[derive(Clone, Copy, Default)]
pub struct Chat {
    pub is_mistral: bool,
    /// It does not know `stream_options`.
    pub takes_no_stream_options: bool,
    /// The reasoning that must come back with every message once there are tools.
    pub reasoning: Option<&'static str>,
    /// A field that must come back as it was sent.
    pub kept: Option<(&'static str, &'static str)>,
}

fn text_block(block: &Value) -> Verdict {
    only(block, &["type", "text", "citations", "cache_control"], "text")?;
    if text(&block["text"], "text")?.trim().is_empty() {
        return refuse("text content blocks must contain non-whitespace text");
    }
    Ok(())
}

fn function(function: &Value) -> Verdict {
    only(function, &["name", "description", "parameters", "strict"], "function")?;
    name(&function["name"], false)?;
    parameters(&function["parameters"])?;
    if function["strict"] == json!(true) { strict(&function["parameters"]) } else { Ok(()) }
}

#[test]
fn each_rule_refuses_what_breaks_it() {
    let is_refused = |verdict: Verdict, with: &str| match verdict {
        Err(message) => assert!(message.contains(with), "{with}: {message}"),
        Ok(()) => panic!("{with}: it was taken"),
    };
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let messages = |messages: Value| json!({"model": "m", "messages": messages});
    let asked = |more: Value| {
        let mut all = vec![json!({"role": "user", "content": "?"})];
        all.extend(more.as_array().unwrap().iter().cloned());
        messages(Value::Array(all))
    };
    let plain = Chat::default();
    let calls = json!({"role": "assistant", "content": null, "tool_calls": [call("a")]});
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "x"});
    assert_eq!(chat(&asked(json!([calls, result])), plain), Ok(()));
    is_refused(chat(&asked(json!([calls])), plain), "the last message");
    is_refused(chat(&asked(json!([calls, {"role": "user", "content": "?"}])), plain), "without results");
    is_refused(chat(&asked(json!([result])), plain), "without its call");
    is_refused(chat(&asked(json!([calls, result])), Chat { is_mistral: true, ..plain }), "bad id");
    let mut thinks =
        asked(json!([calls, result, {"role": "assistant", "content": "x"}, {"role": "user", "content": "?"}]));
    thinks["tools"] =
        json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]);
    thinks["messages"][1]["reasoning_content"] = json!("r");
    is_refused(chat(&thinks, Chat { reasoning: Some("r"), ..plain }), "reasoning_content");
    is_refused(chat(&asked(json!([calls, result])), Chat { kept: Some(("k", "1")), ..plain }), "k is");
    is_refused(chat(&json!({"model": "m", "messages": [], "_x": 1}), plain), "unknown field _x");
    let tool = |function: Value| {
        let mut body = asked(json!([]));
        body["tools"] = json!([{"type": "function", "function": function}]);
        body
    };
    let open = json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {}}}}});
    is_refused(chat(&tool(json!({"name": "a.b", "parameters": open})), plain), "bad name");
    is_refused(chat(&tool(json!({"name": "f", "strict": true, "parameters": open})), plain), "strict");
    is_refused(
        chat(&tool(json!({"name": "f", "parameters": {"type": "object", "properties": []}})), plain),
        "properties",
    );

    let input = |items: Value| json!({"model": "m", "input": items});
    let function_call = json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"});
    is_refused(responses(&input(json!([function_call])), "E"), "No tool output");
    is_refused(responses(&input(json!([{"type": "reasoning", "summary": []}])), "E"), "verified");
    let output =
        |kind: &str| json!({"type": "function_call_output", "call_id": "a", "output": [{"type": kind, "text": "x"}]});
    assert_eq!(responses(&input(json!([function_call, output("input_text")])), "E"), Ok(()));
    is_refused(responses(&input(json!([function_call, output("image_url")])), "E"), "in an output");
    let bare = json!({"model": "m", "input": [], "tools": [{"type": "function", "name": "f", "parameters": open}]});
    is_refused(responses(&bare, "E"), "strict");

    let said = |messages: Value| json!({"model": "m", "max_tokens": 1, "messages": messages});
    let user = json!({"role": "user", "content": [{"type": "text", "text": "?"}]});
    let uses = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]});
    is_refused(anthropic(&said(json!([user, user])), "S"), "alternate");
    is_refused(anthropic(&said(json!([user, uses, user])), "S"), "immediately after");
    let shown = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [
        {"type": "image_url", "image_url": {"url": "data:,"}}]}]});
    is_refused(anthropic(&said(json!([user, uses, shown])), "S"), "in a result");
    let thinks = json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": "X"}]});
    is_refused(anthropic(&said(json!([user, thinks, user])), "S"), "signature");
    is_refused(
        anthropic(&said(json!([{"role": "user", "content": [{"type": "text", "text": " "}]}])), "S"),
        "whitespace",
    );

    let turn = |role: &str, part: Value| json!({"role": role, "parts": [part]});
    let calls = turn("model", json!({"functionCall": {"name": "f", "args": {}}}));
    let contents = |contents: Value| json!({"contents": contents});
    let asks = turn("user", json!({"text": "?"}));
    is_refused(gemini(&contents(json!([asks, calls])), "S"), "thought_signature");
    let signed =
        json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "S"}]});
    is_refused(gemini(&contents(json!([asks, signed, asks])), "S"), "number of function response");
    let empty = json!({"role": "model", "parts": [{"text": ""}]});
    is_refused(gemini(&contents(json!([asks, empty, asks])), "S"), "oneof field");
    let with = |schema: Value| {
        let functions = json!([{"functionDeclarations": [{"name": "f", "parametersJsonSchema": schema}]}]);
        json!({"contents": [asks], "tools": functions})
    };
    is_refused(gemini(&with(json!({"type": "OBJECT", "properties": {}})), "S"), "must describe an object");

    let calls =
        json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]});
    is_refused(ollama(&messages(json!([calls]))), "unmarshal");
    let shown = json!({"role": "tool", "content": "", "tool_name": "f", "images": ["data:image/png;base64,AA=="]});
    is_refused(ollama(&messages(json!([shown]))), "base64");
}
