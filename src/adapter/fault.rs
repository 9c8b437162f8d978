//! What a provider's error says, in whatever form it comes: JSON of several habits, a page of HTML, plain text.

use serde_json::Value;

/// How much of a provider's text is shown, in characters.
const SHOWN_CHARS: usize = 600;

/// The provider's message in the body of a failed request, on one line; empty when the body says nothing that a person
/// could use. `status` is left to the caller to show; a body that only repeats it says nothing.
pub fn error_text(status: u16, body: &[u8], content_type: Option<&str>) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    let said = match serde_json::from_str::<Value>(text) {
        Ok(value) => message_in(&value),
        Err(_) if text.starts_with('<') || content_type.is_some_and(|kind| kind.contains("html")) => title(text),
        // A stream that begins with its error.
        Err(_) => match text.lines().find_map(|line| line.strip_prefix("data:")) {
            Some(data) => serde_json::from_str(data).ok().as_ref().and_then(message_in),
            None => Some(text.to_owned()),
        },
    };
    let said = said.map(|said| one_line(&said)).unwrap_or_default();
    if said == status.to_string() { String::new() } else { said }
}

/// The message of an error object: `{error: {message}}`, `{error: "…"}`, `{message}`, `{detail}`, `{errors: […]}`, also in
/// a list.
pub fn message_in(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(items) => items.iter().find_map(message_in),
        Value::Object(fields) => {
            let found = ["error", "errors", "message", "msg", "detail", "error_description", "reason", "title"];
            let found = found.iter().find_map(|field| fields.get(*field).and_then(message_in));
            // A router wraps the error of the provider behind it.
            let raw = fields.get("metadata").and_then(|metadata| metadata.get("raw")).and_then(|raw| match raw {
                Value::String(text) => Some(serde_json::from_str(text).ok().and_then(|raw| message_in(&raw))?),
                other => message_in(other),
            });
            match (found, raw) {
                (Some(found), Some(raw)) if found != raw => Some(format!("{found}: {raw}")),
                (found, raw) => found.or(raw),
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn title(page: &str) -> Option<String> {
    // Only ASCII changes, so that the places are those of the page.
    let lower = page.to_ascii_lowercase();
    ["title", "h1"].iter().find_map(|tag| {
        let open = lower.find(&format!("<{tag}"))?;
        let from = open + lower[open..].find('>')? + 1;
        let to = from + lower[from..].find(&format!("</{tag}"))?;
        Some(page[from..to].to_owned()).filter(|text| !text.trim().is_empty())
    })
}

/// On one line, without control characters, of bearable length.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split(|letter: char| letter.is_whitespace() || letter.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_found_in_every_form() {
        let t = |body: &str| error_text(400, body.as_bytes(), None);
        assert_eq!(t(r#"{"error":{"message":"No such model","type":"x","code":404}}"#), "No such model");
        assert_eq!(t(r#"{"error":"model 'x' not found"}"#), "model 'x' not found");
        assert_eq!(t(r#"{"object":"error","message":"too long","code":400}"#), "too long");
        assert_eq!(t(r#"{"message":"Unauthorized","request_id":"7"}"#), "Unauthorized");
        assert_eq!(t(r#"[{"error":{"code":400,"message":"bad schema","status":"INVALID"}}]"#), "bad schema");
        assert_eq!(
            t(r#"{"detail":[{"loc":["body"],"msg":"Extra inputs are not permitted"}]}"#),
            "Extra inputs are not permitted"
        );
        assert_eq!(t(r#"{"detail":"Not Found"}"#), "Not Found");
        assert_eq!(t(r#"{"errors":[{"message":"a"},{"message":"b"}]}"#), "a");
        assert_eq!(
            t(
                r#"{"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"busy\"}}"}}}"#
            ),
            "Provider returned error: busy"
        );
        assert_eq!(t("data: {\"error\":{\"message\":\"late\"}}\n\n"), "late");
        assert_eq!(t("upstream\nconnect  error\x1b[0m"), "upstream connect error [0m");
    }

    #[test]
    fn a_page_is_its_title() {
        let page = b"<!DOCTYPE html>\n<HTML><head><TITLE lang=en>502 Bad\n Gateway</TITLE></head><body>x</body>";
        assert_eq!(error_text(502, page, Some("text/html; charset=utf-8")), "502 Bad Gateway");
        assert_eq!(error_text(502, b"<html><title></title><h1>Down</h1></html>", None), "Down");
        assert_eq!(error_text(502, b"<html><body>x", None), "");
        assert_eq!(error_text(502, "<title>\u{130}</title".as_bytes(), None), "\u{130}");
    }

    #[test]
    fn a_body_that_says_nothing_is_nothing() {
        for body in ["", "  \n", "{}", "[]", "null", "true", "500", r#"{"error":null}"#, r#"{"error":{"code":5}}"#] {
            assert_eq!(error_text(500, body.as_bytes(), Some("application/json")), "", "{body}");
        }
    }

    #[test]
    fn a_long_or_broken_text_is_cut_and_mended() {
        let text = error_text(400, "é".repeat(5000).as_bytes(), None);
        assert_eq!(text.chars().count(), SHOWN_CHARS + 1);
        assert_eq!(error_text(400, b"a\xffb", None), "a\u{fffd}b");
    }
}
