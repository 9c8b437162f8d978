//! What Anthropic refuses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Verdict, each_schema, list, name, object, only, parameters, refuse, text, text_block, unique};

/// The most places that may be marked for the cache.
const MAX_MARKS: usize = 4;

/// The body without its marks for the cache, which may stand anywhere but on thinking.
fn without_marks(value: &mut Value, marks: &mut usize) -> Verdict {
    match value {
        Value::Object(fields) => {
            if fields.remove("cache_control").is_some() {
                *marks += 1;
                if fields.get("type").is_some_and(|kind| kind == "thinking") {
                    return refuse("cache_control cannot be set for thinking blocks");
                }
            }
            fields.values_mut().try_for_each(|value| without_marks(value, marks))
        }
        Value::Array(values) => values.iter_mut().try_for_each(|value| without_marks(value, marks)),
        _ => Ok(()),
    }
}

/// Anthropic's messages. `signature`: what all thinking must hold.
pub fn anthropic(body: &Value, signature: &str) -> Verdict {
    let (mut body, mut marks) = (body.clone(), 0);
    without_marks(&mut body, &mut marks)?;
    if marks > MAX_MARKS {
        return refuse("A maximum of 4 blocks with cache_control may be provided");
    }
    unmarked(&body, signature)
}

fn unmarked(body: &Value, signature: &str) -> Verdict {
    let known = [
        "model",
        "max_tokens",
        "messages",
        "system",
        "tools",
        "tool_choice",
        "stream",
        "thinking",
        "container",
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
                    only(block, &["type", "id", "name", "input", "caller"], kind)?;
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
            only(tool, &["name", "description", "input_schema", "strict", "eager_input_streaming"], "tool")?;
            parameters(&tool["input_schema"])?;
            if tool["strict"] == true {
                closed(&tool["input_schema"])?;
            }
        }
    }
    unique(body["tools"].as_array().into_iter().flatten().map(|tool| &tool["name"]))
}

/// A strict tool: every object is closed.
fn closed(schema: &Value) -> Verdict {
    each_schema(schema, &|schema| match schema.get("properties") {
        Some(_) if schema["additionalProperties"] != false => refuse("strict: additionalProperties must be false"),
        _ => Ok(()),
    })
}
