//! Step 2 of a call: the model's argument text becomes one JSON object, or an error that the model can act on.

use serde::Deserialize;
use serde_json::{Deserializer, Map, Value};

use crate::tool::ArgumentsError;

/// How much of a text an error quotes, in characters.
const QUOTED_CHARS: usize = 80;

/// Decodes the arguments of a call. Empty, blank and `[]` are the empty object (an empty Lua table has no other spelling).
///
/// # Errors
/// [`ArgumentsError::NotAnObject`] for everything else that is not exactly one JSON object: cut off, two objects glued
/// together, another list, a scalar. The text names the position and quotes the start.
pub fn decode(text: &str) -> Result<Value, ArgumentsError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let mut deserializer = Deserializer::from_str(text);
    let value = Value::deserialize(&mut deserializer).map_err(|error| not_an_object(text, &syntax(&error)))?;
    deserializer.end().map_err(|error| {
        let place = place(&error);
        not_an_object(text, &format!("there is more text after the first JSON value, at {place}"))
    })?;
    match value {
        Value::Object(_) => Ok(value),
        Value::Array(items) if items.is_empty() => Ok(Value::Object(Map::new())),
        Value::Array(_) => Err(not_an_object(text, "found a list at line 1 column 1")),
        Value::String(_) => Err(not_an_object(text, "found a string at line 1 column 1")),
        Value::Number(_) => Err(not_an_object(text, "found a number at line 1 column 1")),
        Value::Bool(_) => Err(not_an_object(text, "found a boolean at line 1 column 1")),
        Value::Null => Err(not_an_object(text, "found null at line 1 column 1")),
    }
}

fn syntax(error: &serde_json::Error) -> String {
    if error.is_eof() { format!("the text is cut off at {}", place(error)) } else { error.to_string() }
}

fn place(error: &serde_json::Error) -> String {
    format!("line {} column {}", error.line(), error.column())
}

fn not_an_object(text: &str, problem: &str) -> ArgumentsError {
    ArgumentsError::NotAnObject(format!(
        "The arguments are not one JSON object: {problem}. They start with: {}\nNothing was run. \
         Call the tool again with all arguments in one JSON object.",
        start_of(text)
    ))
}

/// The first characters, on one line.
fn start_of(text: &str) -> String {
    let mut chars = text.trim_start().chars().map(|char| if char.is_control() { ' ' } else { char });
    let mut start: String = chars.by_ref().take(QUOTED_CHARS).collect();
    if chars.next().is_some() {
        start.push('…');
    }
    start
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn refusal(text: &str) -> String {
        match decode(text) {
            Err(ArgumentsError::NotAnObject(message)) => message,
            other => panic!("{text} was not refused: {other:?}"),
        }
    }

    #[test]
    fn r040_empty_blank_and_the_empty_list_are_the_empty_object() {
        for text in ["", "  \n\t ", "[]", " [ ] ", "{}", " { }\n"] {
            assert_eq!(decode(text), Ok(json!({})), "{text:?}");
        }
    }

    #[test]
    fn r028_a_cut_off_object_names_the_position_and_quotes_the_start() {
        let message = refusal(r#"{"path":"#);
        assert!(message.contains("cut off at line 1 column 8"), "{message}");
        assert!(message.contains(r#"start with: {"path":"#), "{message}");
    }

    #[test]
    fn r038_two_glued_objects_are_refused_at_the_second() {
        let message = refusal(r#"{"path":"a.txt"}{"path":"b.txt"}"#);
        assert!(message.contains("more text after the first JSON value, at line 1 column 17"), "{message}");
        assert!(message.contains(r#"{"path":"a.txt"}{"#), "{message}");
    }

    #[test]
    fn lists_and_scalars_are_refused_by_name() {
        for (text, name) in
            [("[1]", "a list"), ("\"a\"", "a string"), ("1", "a number"), ("true", "a boolean"), ("null", "null")]
        {
            assert!(refusal(text).contains(&format!("found {name} at line 1 column 1")), "{text}");
        }
    }

    #[test]
    fn a_syntax_error_says_what_and_where() {
        let message = refusal("{\"a\": 1,\n 'b': 2}");
        assert!(message.contains("line 2 column 2"), "{message}");
        assert!(!message.lines().next().unwrap_or_default().contains('\n'));
    }

    #[test]
    fn a_long_text_is_quoted_in_part() {
        let message = refusal(&format!("{{\"text\": \"{}", "ä".repeat(5000)));
        assert!(message.len() < 500, "{message}");
        assert!(message.contains('…'));
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".*".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(".*", inner, 0..5).prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_object_decodes_to_itself(fields in prop::collection::btree_map(".*", json_value(), 0..6)) {
            let object = Value::Object(fields.into_iter().collect());
            prop_assert_eq!(decode(&object.to_string()), Ok(object));
        }

        #[test]
        fn no_proper_start_of_an_object_is_ever_run(
            fields in prop::collection::btree_map(".*", json_value(), 1..6), cut in any::<prop::sample::Index>()
        ) {
            let text = Value::Object(fields.into_iter().collect()).to_string();
            let mut end = 1 + cut.index(text.len() - 1);
            while !text.is_char_boundary(end) { end -= 1; }
            prop_assert!(decode(&text[..end]).is_err());
        }

        #[test]
        fn what_is_not_an_object_is_refused(value in json_value()) {
            prop_assume!(!value.is_object() && value != json!([]));
            prop_assert!(decode(&value.to_string()).is_err());
        }

        #[test]
        fn arbitrary_text_never_panics(text in "\\PC*") {
            let _ = decode(&text);
        }
    }
}
