//! What OpenAI's responses refuse.

use serde_json::{Value, json};

use super::{Verdict, function, list, name, object, only, refuse, text, unique};

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
                // Text without an id is what others said; parts as the provider makes them have one.
                if item["role"] == "assistant" && item.get("id").is_none() {
                    text(&item["content"], "content")?;
                    continue;
                }
                for content in list(&item["content"], "content")? {
                    let is_picture = content["type"] == "input_image" && item["role"] == "user";
                    if is_picture && !content["detail"].is_string() {
                        return refuse("a picture without detail");
                    }
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
