//! What Gemini refuses.

use serde_json::Value;

use super::{Verdict, list, name, object, only, refuse, text, unique};

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
        for part in parts {
            if part["text"] == "" && part.get("thoughtSignature").is_none() {
                return refuse("contents.parts.data: required oneof field 'data' must have one initialized field");
            }
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
            only(function, &["name", "description", "parametersJsonSchema"], "function")?;
            name(&function["name"], true)?;
            match function.get("parametersJsonSchema") {
                Some(schema) if schema["type"] != "object" || !schema["properties"].is_object() => {
                    return refuse("the schema must describe an object where the properties are the parameters");
                }
                Some(_) | None => {}
            }
        }
        unique(functions.iter().map(|function| &function["name"]))?;
    }
    Ok(())
}
