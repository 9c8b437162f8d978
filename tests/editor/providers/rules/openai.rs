//! What chat completions and compatible servers refuse.

use serde_json::Value;

use super::{Chat, Verdict, function, list, name, only, refuse, text, unique};

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
    known.push("reasoning_effort");
    if !server.is_mistral {
        known.push("max_completion_tokens");
    }
    if !server.is_mistral && !server.takes_no_stream_options {
        known.push("stream_options");
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
                let has_parts = server.is_mistral && message["content"].is_array();
                if calls.is_none_or(Vec::is_empty) && !message["content"].is_string() && !has_parts {
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
                if let Some(reasoning) = server.reasoning
                    && body.get("tools").is_some()
                    && message["reasoning_content"] != reasoning
                {
                    return refuse("The reasoning_content in the thinking mode must be passed back to the API.");
                }
                if calls.is_some()
                    && let Some((field, value)) = server.kept
                    && serde_json::from_str::<Value>(value).ok().as_ref() != message.get(field)
                {
                    return refuse(format!("{field} is {}", message[field]));
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
