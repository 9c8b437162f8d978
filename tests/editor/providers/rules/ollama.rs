//! What Ollama refuses.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Verdict, list, object, only, refuse, text};

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
