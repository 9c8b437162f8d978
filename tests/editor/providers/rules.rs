//! What the real providers refuse, as far as their references and their users' reports tell: `Err` is their message. Each
//! rule is broken once in the tests below, so that none of them is empty.

use std::collections::{BTreeMap, BTreeSet};

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
    /// The reasoning that must come back with calls.
    pub reasoning: Option<&'static str>,
    /// A field that must come back as it was sent.
    pub kept: Option<(&'static str, &'static str)>,
}

/// A part of what the user said.
fn chat_part(part: &Value) -> Verdict {
    match text(&part["type"], "type")? {
        "text" => text(&part["text"], "text").map(drop),
        "image_url" if text(&part["image_url"]["url"], "url")?.starts_with("data:image/") => Ok(()),
        other => refuse(format!("{other} in a message of the user")),
    }
}

/// OpenAI's chat completions and those of compatible servers.
pub fn chat(body: &Value, server: Chat) -> Verdict {
    let mut known = vec!["model", "messages", "tools", "stream", "temperature", "max_tokens", "response_format"];
    if !server.is_mistral {
        known.extend(["stream_options", "reasoning_effort", "max_completion_tokens"]);
    }
    only(body, &known, "body")?;
    text(&body["model"], "model")?;
    let mut awaited: Vec<&Value> = Vec::new();
    let mut last = "";
    for message in list(&body["messages"], "messages")? {
        let role = text(&message["role"], "role")?;
        if !awaited.is_empty() && role != "tool" {
            return refuse(format!("tool_calls without results: {awaited:?}"));
        }
        match role {
            "system" | "user" => {
                only(message, &["role", "content"], role)?;
                match message["content"].as_array().filter(|_| role == "user") {
                    Some(parts) => parts.iter().try_for_each(chat_part)?,
                    None => drop(text(&message["content"], "content")?),
                }
                if server.is_mistral && role == "user" && last == "tool" {
                    return refuse("Unexpected role 'user' after role 'tool'");
                }
            }
            "assistant" => {
                let mut fields = vec!["role", "content", "tool_calls"];
                fields.extend(server.reasoning.map(|_| "reasoning_content"));
                fields.extend(server.kept.map(|(field, _)| field));
                only(message, &fields, role)?;
                let calls = message.get("tool_calls").map(|calls| list(calls, "tool_calls")).transpose()?;
                if calls.is_none_or(Vec::is_empty) && !message["content"].is_string() {
                    return refuse("a message of the assistant without content");
                }
                for call in calls.into_iter().flatten() {
                    only(call, &["id", "type", "function"], "call")?;
                    only(&call["function"], &["name", "arguments"], "function")?;
                    name(&call["function"]["name"], false)?;
                    let arguments: Result<Value, _> =
                        serde_json::from_str(text(&call["function"]["arguments"], "arguments")?);
                    if !arguments.is_ok_and(|arguments| arguments.is_object()) {
                        return refuse("arguments are no object");
                    }
                    let id = text(&call["id"], "id")?;
                    let fits = id.len() == 9 && id.chars().all(|letter| letter.is_ascii_alphanumeric());
                    if id.len() > 40 || (server.is_mistral && !fits) {
                        return refuse(format!("bad id {id}"));
                    }
                    awaited.push(&call["id"]);
                }
                if calls.is_some() {
                    if let Some(reasoning) = server.reasoning
                        && message["reasoning_content"] != reasoning
                    {
                        return refuse("The reasoning_content in the thinking mode must be passed back to the API.");
                    }
                    if let Some((field, value)) = server.kept
                        && serde_json::from_str::<Value>(value).ok().as_ref() != message.get(field)
                    {
                        return refuse(format!("{field} is {}", message[field]));
                    }
                }
            }
            "tool" => {
                only(message, &["role", "tool_call_id", "content"], role)?;
                text(&message["content"], "content")?;
                if awaited.is_empty() || *awaited.remove(0) != message["tool_call_id"] {
                    return refuse(format!("a result without its call: {}", message["tool_call_id"]));
                }
            }
            other => return refuse(format!("unknown role {other}")),
        }
        last = role;
    }
    if !awaited.is_empty() || last == "assistant" {
        return refuse("the last message must be the user's or a result");
    }
    for tool in body.get("tools").map(|tools| list(tools, "tools")).transpose()?.into_iter().flatten() {
        only(tool, &["type", "function"], "tool")?;
        function(&tool["function"])?;
    }
    unique(body["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"]["name"]))
}

fn function(function: &Value) -> Verdict {
    only(function, &["name", "description", "parameters", "strict"], "function")?;
    name(&function["name"], false)?;
    parameters(&function["parameters"])?;
    if function["strict"] == json!(true) { strict(&function["parameters"]) } else { Ok(()) }
}

/// OpenAI's responses. `encrypted`: what all reasoning must hold.
pub fn responses(body: &Value, encrypted: &str) -> Verdict {
    let known = [
        "model",
        "input",
        "tools",
        "stream",
        "store",
        "include",
        "reasoning",
        "text",
        "temperature",
        "max_output_tokens",
    ];
    only(body, &known, "body")?;
    let mut awaited: Vec<&Value> = Vec::new();
    let items = list(&body["input"], "input")?;
    for (at, item) in items.iter().enumerate() {
        match text(&item["type"], "type")? {
            "message" => {
                only(item, &["type", "role", "content", "id", "status", "phase"], "message")?;
                let part = if item["role"] == "assistant" { "output_text" } else { "input_text" };
                for content in list(&item["content"], "content")? {
                    let is_picture = content["type"] == "input_image" && item["role"] == "user";
                    if content["type"] != part && !is_picture {
                        return refuse(format!("{} in a message of {}", content["type"], item["role"]));
                    }
                }
                if !awaited.is_empty() && item["role"] != "assistant" {
                    return refuse(format!("No tool output found for function call {}", awaited[0]));
                }
            }
            "reasoning" => {
                only(item, &["type", "id", "summary", "encrypted_content", "content", "status"], "reasoning")?;
                if item["encrypted_content"] != encrypted {
                    return refuse("The encrypted content could not be verified.");
                }
                let next = items.get(at + 1).map(|next| next["type"].clone()).unwrap_or_default();
                if !["message", "function_call", "web_search_call", "reasoning"].iter().any(|kind| next == *kind) {
                    return refuse("Item of type 'reasoning' was provided without its required following item.");
                }
            }
            "function_call" => {
                only(item, &["type", "id", "call_id", "name", "arguments", "status"], "function_call")?;
                name(&item["name"], false)?;
                if text(&item["call_id"], "call_id")?.len() > 64 {
                    return refuse("call_id is too long");
                }
                if item.get("id").is_some() && !items[..at].iter().any(|item| item["type"] == "reasoning") {
                    return refuse("Item of type 'function_call' was provided without its required 'reasoning' item.");
                }
                text(&item["arguments"], "arguments")?;
                awaited.push(&item["call_id"]);
            }
            "function_call_output" => {
                only(item, &["type", "call_id", "output"], "function_call_output")?;
                for part in item["output"].as_array().into_iter().flatten() {
                    match text(&part["type"], "type")? {
                        "input_text" => text(&part["text"], "text")?,
                        "input_image" => text(&part["image_url"], "image_url")?,
                        other => return refuse(format!("{other} in an output")),
                    };
                }
                match awaited.iter().position(|id| **id == item["call_id"]) {
                    Some(at) => drop(awaited.remove(at)),
                    None => return refuse(format!("No tool call found for {}", item["call_id"])),
                }
            }
            "web_search_call" => only(item, &["type", "id", "status", "action"], "web_search_call")?,
            other => return refuse(format!("unknown item {other}")),
        }
    }
    if !awaited.is_empty() {
        return refuse(format!("No tool output found for function call {}", awaited[0]));
    }
    for tool in body.get("tools").map(|tools| list(tools, "tools")).transpose()?.into_iter().flatten() {
        if tool["type"] == "web_search" {
            continue;
        }
        let mut own = object(tool, "tool")?.clone();
        if own.remove("type") != Some(json!("function")) {
            return refuse("a tool of an unknown type");
        }
        // Strict unless it says otherwise.
        own.entry("strict").or_insert(json!(true));
        function(&Value::Object(own))?;
    }
    unique(body["tools"].as_array().into_iter().flatten().filter_map(|tool| tool.get("name")))
}

/// Anthropic's messages. `signature`: what all thinking must hold.
pub fn anthropic(body: &Value, signature: &str) -> Verdict {
    let known = [
        "model",
        "max_tokens",
        "messages",
        "system",
        "tools",
        "tool_choice",
        "stream",
        "thinking",
        "cache_control",
        "output_config",
        "temperature",
    ];
    only(body, &known, "body")?;
    if !body["max_tokens"].is_u64() {
        return refuse("max_tokens: Field required");
    }
    for block in body.get("system").map(|system| list(system, "system")).transpose()?.into_iter().flatten() {
        text_block(block)?;
    }
    let messages = list(&body["messages"], "messages")?;
    let mut awaited: Vec<&Value> = Vec::new();
    let mut served: BTreeSet<String> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        only(message, &["role", "content"], "message")?;
        let wanted = if at % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != wanted {
            return refuse(format!("roles must alternate, beginning with user; message {at} is {}", message["role"]));
        }
        let blocks = list(&message["content"], "content")?;
        if blocks.is_empty() {
            return refuse("all messages must have non-empty content");
        }
        for block in blocks {
            let kind = text(&block["type"], "type")?;
            if !awaited.is_empty() && wanted == "user" && kind != "tool_result" {
                return refuse("`tool_use` ids were found without `tool_result` blocks immediately after");
            }
            match (wanted, kind) {
                (_, "text") => text_block(block)?,
                ("user", "image") if block["source"]["type"] == "base64" => {
                    only(&block["source"], &["type", "media_type", "data"], "source")?;
                }
                ("user", "tool_result") => {
                    only(block, &["type", "tool_use_id", "content", "is_error"], kind)?;
                    for part in block["content"].as_array().into_iter().flatten() {
                        match text(&part["type"], "type")? {
                            "text" => text_block(part)?,
                            "image" if part["source"]["type"] == "base64" => {
                                only(&part["source"], &["type", "media_type", "data"], "source")?;
                            }
                            other => return refuse(format!("{other} in a result")),
                        }
                    }
                    match awaited.iter().position(|id| **id == block["tool_use_id"]) {
                        Some(at) => drop(awaited.remove(at)),
                        None => return refuse(format!("unexpected `tool_use_id` {}", block["tool_use_id"])),
                    }
                }
                ("assistant", "tool_use") => {
                    only(block, &["type", "id", "name", "input"], kind)?;
                    name(&block["name"], false)?;
                    name(&block["id"], false)?;
                    object(&block["input"], "input")?;
                    awaited.push(&block["id"]);
                }
                ("assistant", "thinking") => {
                    only(block, &["type", "thinking", "signature"], kind)?;
                    if block["signature"] != signature {
                        return refuse("Invalid `signature` in `thinking` block");
                    }
                }
                ("assistant", "redacted_thinking") => only(block, &["type", "data"], kind)?,
                ("assistant", "server_tool_use") => {
                    served.insert(block["id"].to_string());
                }
                ("assistant", "web_search_tool_result") => {
                    if !served.remove(&block["tool_use_id"].to_string())
                        || !block["content"][0]["encrypted_content"].is_string()
                    {
                        return refuse("a result of a search without its call or its content");
                    }
                }
                _ => return refuse(format!("{kind} in a message of {wanted}")),
            }
        }
        if wanted == "user" && !awaited.is_empty() {
            return refuse("`tool_use` ids were found without `tool_result` blocks immediately after");
        }
    }
    if !awaited.is_empty() || !served.is_empty() || messages.len() % 2 == 0 {
        return refuse("the conversation must end with a user message");
    }
    let is_open = messages.last().is_some_and(|last| last["content"][0]["type"] == "tool_result");
    if body["thinking"]["type"] == "enabled" && is_open {
        let first = &messages[messages.len() - 2]["content"][0]["type"];
        if first != "thinking" && first != "redacted_thinking" {
            return refuse(format!("Expected `thinking` or `redacted_thinking`, but found {first}"));
        }
    }
    let has_calls = messages.iter().any(|message| message["content"].to_string().contains("tool_use"));
    if has_calls && body.get("tools").is_none() {
        return refuse("Requests which include `tool_use` blocks must define tools");
    }
    for tool in body.get("tools").map(|tools| list(tools, "tools")).transpose()?.into_iter().flatten() {
        name(&tool["name"], false)?;
        if tool.get("type").is_none() {
            only(tool, &["name", "description", "input_schema", "strict"], "tool")?;
            parameters(&tool["input_schema"])?;
        }
    }
    unique(body["tools"].as_array().into_iter().flatten().map(|tool| &tool["name"]))
}

fn text_block(block: &Value) -> Verdict {
    only(block, &["type", "text", "citations", "cache_control"], "text")?;
    if text(&block["text"], "text")?.trim().is_empty() {
        return refuse("text content blocks must contain non-whitespace text");
    }
    Ok(())
}

/// Google's generateContent. `signature`: what the first call of an answer must hold, or the stand-in.
pub fn gemini(body: &Value, signature: &str) -> Verdict {
    let known = ["contents", "systemInstruction", "tools", "toolConfig", "generationConfig"];
    only(body, &known, "body")?;
    let contents = list(&body["contents"], "contents")?;
    let mut awaited: Vec<&Value> = Vec::new();
    let mut last = "";
    for content in contents {
        only(content, &["role", "parts"], "content")?;
        let role = text(&content["role"], "role")?;
        let parts = list(&content["parts"], "parts")?;
        if parts.is_empty() {
            return refuse("contents.parts must not be empty");
        }
        let calls: Vec<&Value> = parts.iter().filter(|part| part.get("functionCall").is_some()).collect();
        let results: Vec<&Value> = parts.iter().filter_map(|part| part.get("functionResponse")).collect();
        if results.len() != awaited.len() {
            return refuse("the number of function response parts must equal the number of function call parts");
        }
        for (result, call) in results.iter().zip(awaited.drain(..)) {
            only(result, &["id", "name", "response"], "functionResponse")?;
            object(&result["response"], "response")?;
            if result["name"] != call["name"] {
                return refuse(format!("a response of {} for a call of {}", result["name"], call["name"]));
            }
        }
        if !results.is_empty() && results.len() != parts.len() {
            return refuse("a function response turn holds only responses");
        }
        if role == "model" && last != "user" {
            return refuse("a model turn comes after a user turn");
        }
        if let Some(first) = calls.first()
            && first["thoughtSignature"] != signature
            && first["thoughtSignature"] != "skip_thought_signature_validator"
        {
            return refuse("Function call is missing a thought_signature");
        }
        for call in calls {
            only(call, &["functionCall", "thoughtSignature"], "part")?;
            only(&call["functionCall"], &["id", "name", "args"], "functionCall")?;
            name(&call["functionCall"]["name"], true)?;
            object(&call["functionCall"]["args"], "args")?;
            awaited.push(&call["functionCall"]);
        }
        last = role;
    }
    if last != "user" || !awaited.is_empty() {
        return refuse("the last turn must be the user's");
    }
    for tool in body.get("tools").map(|tools| list(tools, "tools")).transpose()?.into_iter().flatten() {
        let functions = list(&tool["functionDeclarations"], "functionDeclarations")?;
        for function in functions {
            only(function, &["name", "description", "parameters"], "function")?;
            name(&function["name"], true)?;
            if let Some(parameters) = function.get("parameters") {
                gemini_schema(parameters)?;
            }
        }
        unique(functions.iter().map(|function| &function["name"]))?;
    }
    Ok(())
}

fn gemini_schema(schema: &Value) -> Verdict {
    let known = [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "maxItems",
        "minItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
        "items",
        "minimum",
        "maximum",
    ];
    each_schema(schema, &|schema| {
        only(schema, &known, "schema")?;
        let types = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"];
        match schema.get("type") {
            Some(one) if !types.iter().any(|known| one == *known) => refuse(format!("bad type {one}")),
            None if schema.get("anyOf").is_none() => refuse("a schema without a type"),
            _ if schema["type"] == "OBJECT" && schema["properties"] == json!({}) => {
                refuse("properties: should be non-empty for OBJECT type")
            }
            _ => Ok(()),
        }
    })
}

/// Ollama's chat.
pub fn ollama(body: &Value) -> Verdict {
    only(body, &["model", "messages", "tools", "stream", "think", "format", "options", "keep_alive"], "body")?;
    if text(&body["model"], "model")?.is_empty() {
        return refuse("model is required");
    }
    let mut called: BTreeMap<String, &Value> = BTreeMap::new();
    for message in list(&body["messages"], "messages")? {
        match text(&message["role"], "role")? {
            "system" | "user" => only(message, &["role", "content", "images"], "message")?,
            "assistant" => {
                only(message, &["role", "content", "thinking", "tool_calls"], "message")?;
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    object(&call["function"]["arguments"], "arguments: cannot unmarshal string")?;
                    called.insert(call["id"].to_string(), &call["function"]["name"]);
                }
            }
            "tool" => {
                only(message, &["role", "content", "tool_name", "tool_call_id", "images"], "message")?;
                for picture in message["images"].as_array().into_iter().flatten() {
                    if text(picture, "images")?.starts_with("data:") {
                        return refuse("illegal base64 data");
                    }
                }
                if called.remove(&message["tool_call_id"].to_string()) != Some(&message["tool_name"]) {
                    return refuse("a result without its call");
                }
            }
            other => return refuse(format!("unknown role {other}")),
        }
    }
    if !called.is_empty() {
        return refuse("a call without its result");
    }
    for tool in body.get("tools").map(|tools| list(tools, "tools")).transpose()?.into_iter().flatten() {
        only(&tool["function"], &["name", "description", "parameters"], "function")?;
        text(&tool["function"]["parameters"]["type"], "type")?;
        object(&tool["function"]["parameters"]["properties"], "properties")?;
    }
    Ok(())
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
    is_refused(chat(&asked(json!([calls, result])), Chat { reasoning: Some("r"), ..plain }), "reasoning_content");
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
    is_refused(gemini_schema(&json!({"type": "OBJECT", "properties": {"a": {"const": 1}}})), "unknown field const");

    let calls =
        json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]});
    is_refused(ollama(&messages(json!([calls]))), "unmarshal");
    let shown = json!({"role": "tool", "content": "", "tool_name": "f", "images": ["data:image/png;base64,AA=="]});
    is_refused(ollama(&messages(json!([shown]))), "base64");
}
