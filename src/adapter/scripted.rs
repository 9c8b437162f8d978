//! The codec of the offline provider `scripted`: one turn of JSON becomes the steps of an answer. Who walks the steps, and
//! the waiting in them, is the runtime's business.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::item::Item;

/// One step of a scripted answer.
#[allow(missing_docs, reason = "fields are told by the sentence of their variant")]
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Nothing for a while.
    Wait(Duration),
    /// A piece of the answer.
    Item(Item),
    /// The request fails here, as if a server had answered with this status.
    Fail { message: String, status: Option<u16> },
    /// The answer never ends.
    Hang,
}

/// A turn that cannot be played. The message is for the author of the script.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// Not JSON, not an object, an unknown field or one of the wrong type.
    #[error("The scripted turn cannot be used: {0}")]
    Turn(#[source] serde_json::Error),
    /// `delay_ms` is not a length of time.
    #[error("The scripted turn cannot be used: delay_ms must be a number of milliseconds, not {0}")]
    Delay(f64),
}

/// A turn as it is written. Every field may be left out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    text: Option<String>,
    reasoning: Option<String>,
    chunks: Option<Vec<String>>,
    tool_calls: Option<Vec<Call>>,
    usage: Option<Usage>,
    error: Option<String>,
    status: Option<u16>,
    delay_ms: Option<f64>,
    hang: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    id: Option<String>,
    name: String,
    arguments: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Usage {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
}

/// Decodes one turn: the delay, then reasoning, text, chunks, calls and usage, then the error or the hang. A turn that
/// has neither is complete after its last step.
///
/// # Errors
/// [`ScriptError`] for what is not such a turn; nothing of it is played.
pub fn decode(turn: &str) -> Result<Vec<Step>, ScriptError> {
    let turn = match serde_json::from_str(turn).map_err(ScriptError::Turn)? {
        // The empty Lua table: an answer with nothing in it.
        Value::Array(fields) if fields.is_empty() => return Ok(Vec::new()),
        turn => turn,
    };
    let turn: Turn = serde_json::from_value(turn).map_err(ScriptError::Turn)?;
    let mut steps = Vec::new();
    if let Some(delay_ms) = turn.delay_ms {
        let delay = Duration::try_from_secs_f64(delay_ms / 1000.0).map_err(|_| ScriptError::Delay(delay_ms))?;
        steps.push(Step::Wait(delay));
    }
    let mut item = |item| steps.push(Step::Item(item));
    if let Some(reasoning) = turn.reasoning {
        item(Item::Reasoning(reasoning));
    }
    turn.text.into_iter().chain(turn.chunks.into_iter().flatten()).for_each(|text| item(Item::Text(text)));
    for (index, call) in turn.tool_calls.into_iter().flatten().enumerate() {
        item(Item::CallStarted { index, wire_id: call.id.unwrap_or_default(), name: call.name });
        match call.arguments {
            None => {}
            Some(Value::String(text)) => item(Item::CallArguments { index, text }),
            Some(arguments) => item(Item::CallArguments { index, text: arguments.to_string() }),
        }
    }
    if let Some(Usage { input, output }) = turn.usage {
        item(Item::Usage { input, output });
    }
    if let Some(error) = turn.error {
        steps.push(Step::Fail { message: error, status: turn.status });
    } else if turn.hang == Some(true) {
        steps.push(Step::Hang);
    }
    Ok(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(turn: &str) -> Vec<Item> {
        decode(turn)
            .expect("a turn")
            .into_iter()
            .map(|step| match step {
                Step::Item(item) => item,
                other => panic!("{other:?} is no item"),
            })
            .collect()
    }

    fn text(text: &str) -> Item {
        Item::Text(text.to_owned())
    }

    fn started(index: usize, wire_id: &str, name: &str) -> Item {
        Item::CallStarted { index, wire_id: wire_id.to_owned(), name: name.to_owned() }
    }

    fn arguments(index: usize, text: &str) -> Item {
        Item::CallArguments { index, text: text.to_owned() }
    }

    #[test]
    fn everything_comes_in_the_order_of_an_answer() {
        let turn = r#"{
            "usage": {"input": 12, "output": 3}, "tool_calls": [{"name": "a", "id": "c1", "arguments": {"b": 1, "a": 2}}],
            "chunks": ["!", "?"], "text": "hi", "reasoning": "hm"
        }"#;
        assert_eq!(
            items(turn),
            vec![
                Item::Reasoning("hm".to_owned()),
                text("hi"),
                text("!"),
                text("?"),
                started(0, "c1", "a"),
                arguments(0, r#"{"b":1,"a":2}"#),
                Item::Usage { input: 12, output: 3 },
            ]
        );
    }

    #[test]
    fn arguments_in_a_string_are_the_models_own_text() {
        let turn = r#"{"tool_calls": [{"name": "a", "arguments": "{\"path\":"}, {"name": "b"}, {"name": "c", "arguments": []}]}"#;
        assert_eq!(
            items(turn),
            vec![
                started(0, "", "a"),
                arguments(0, "{\"path\":"),
                started(1, "", "b"),
                started(2, "", "c"),
                arguments(2, "[]"),
            ]
        );
    }

    #[test]
    fn an_error_comes_after_what_came_before_it() {
        let steps = decode(r#"{"error": "overloaded", "status": 529, "text": "a"}"#).expect("a turn");
        assert_eq!(
            steps,
            vec![Step::Item(text("a")), Step::Fail { message: "overloaded".to_owned(), status: Some(529) }]
        );
    }

    #[test]
    fn a_delay_comes_first_and_a_hang_last() {
        let steps = decode(r#"{"hang": true, "text": "a", "delay_ms": 20}"#).expect("a turn");
        assert_eq!(steps, vec![Step::Wait(Duration::from_millis(20)), Step::Item(text("a")), Step::Hang]);
    }

    #[test]
    fn null_and_false_are_not_given() {
        let turn = r#"{"text": null, "hang": false, "tool_calls": null, "error": null, "delay_ms": null}"#;
        assert_eq!(decode(turn).expect("a turn"), vec![]);
    }

    #[test]
    fn an_empty_turn_is_an_empty_answer() {
        for turn in ["{}", "[]"] {
            assert_eq!(decode(turn).expect(turn), vec![]);
        }
    }

    #[test]
    fn unknown_fields_and_wrong_types_are_errors_that_name_them() {
        for (turn, named) in [
            (r#"{"txt": "a"}"#, "txt"),
            (r#"{"tool_calls": [{"name": "a", "args": {}}]}"#, "args"),
            (r#"{"tool_calls": [{}]}"#, "name"),
            (r#"{"usage": {"total": 1}}"#, "total"),
            (r#"{"delay_ms": -1}"#, "delay_ms"),
            (r#"{"text": 1}"#, "expected a string"),
            ("[1]", "The scripted turn cannot be used"),
            ("", "The scripted turn cannot be used"),
        ] {
            let message = decode(turn).expect_err(turn).to_string();
            assert!(message.contains(named), "{message}");
        }
    }
}
