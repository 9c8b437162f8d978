//! JSON that goes out letter by letter, as the model wrote it: numbers in a form that would change when they are read and
//! written again. In a body it is an object with one field of a name that nobody uses.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

const NAME: &str = "\u{0}";

/// Arguments as an object. Those of the history are one; of another one nothing is sent.
pub fn object(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(_)) if must_stay(arguments) => {
            Value::Object(Map::from_iter([(NAME.to_owned(), Value::String(arguments.to_owned()))]))
        }
        Ok(object @ Value::Object(_)) => object,
        Ok(_) | Err(_) => Value::Object(Map::new()),
    }
}

/// The JSON text of a body.
pub fn text(body: &Value) -> String {
    // All keys are strings, and nothing in here fails to serialize.
    serde_json::to_string(&Rendered(body)).unwrap_or_default()
}

/// Whether a number in it would be written in other letters, or a text be taken for one of ours.
fn must_stay(json: &str) -> bool {
    let bytes = json.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let end = end_of_string(bytes, at + 1);
                if json[at..end].contains("\\u0000") {
                    return true;
                }
                at = end;
            }
            b'-' | b'0'..=b'9' => {
                let is_in = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                let length = bytes[at..].iter().take_while(|byte| is_in(byte)).count();
                let number = &json[at..at + length];
                let written = serde_json::from_str::<Value>(number).map(|number| number.to_string());
                if !written.is_ok_and(|written| written == number) {
                    return true;
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    false
}

/// The place after the string that goes on at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'\\' => 2,
            b'"' => return at + 1,
            _ => 1,
        };
    }
    bytes.len()
}

struct Rendered<'a>(&'a Value);

impl Serialize for Rendered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) => match as_written(fields) {
                Some(raw) => raw.serialize(serializer),
                None => {
                    let mut map = serializer.serialize_map(Some(fields.len()))?;
                    for (name, value) in fields {
                        map.serialize_entry(name, &Rendered(value))?;
                    }
                    map.end()
                }
            },
            Value::Array(values) => {
                let mut list = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    list.serialize_element(&Rendered(value))?;
                }
                list.end()
            }
            other => other.serialize(serializer),
        }
    }
}

/// The text that stands for an object. It is one JSON value, whoever put it there.
fn as_written(fields: &Map<String, Value>) -> Option<Box<RawValue>> {
    let text = fields.get(NAME)?.as_str().filter(|_| fields.len() == 1)?;
    RawValue::from_string(text.to_owned()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_go_out_in_the_letters_of_the_model() {
        for arguments in [
            r#"{"n":1e5}"#,
            r#"{"a":[1.10, -0, 12345678901234567890123, {"b":1E+2}], "c" : "1e5"}"#,
            "{\"a\\u0000\": 1.0e1}",
            r#"{"\u0000":"x"}"#,
        ] {
            let body = json!({"input": object(arguments)});
            assert_eq!(text(&body), format!("{{\"input\":{arguments}}}"));
        }
        assert_eq!(object(r#"{"n": 1.5, "s": "1e5 \" 2E9"}"#), json!({"n": 1.5, "s": "1e5 \" 2E9"}));
        for none in ["", "[1e5]", "{", "1e5"] {
            assert_eq!(object(none), json!({}), "{none}");
        }
    }

    #[test]
    fn what_only_looks_like_ours_goes_out_as_json() {
        for odd in [json!({"\u{0}": "{"}), json!({"\u{0}": 5}), json!({"\u{0}": "1", "a": 1})] {
            assert_eq!(serde_json::from_str::<Value>(&text(&odd)).ok(), Some(odd));
        }
    }

    proptest! {
        #[test]
        fn every_object_means_the_same_as_it_is_written(texts in prop::collection::vec("[a-z\"\\\\0-9é]{0,6}", 1..4), number in any::<f64>()) {
            let arguments = json!({"a": texts, "n": [number, {"m": 3}]}).to_string();
            let body = json!({"input": object(&arguments)});
            prop_assert_eq!(text(&body), format!("{{\"input\":{arguments}}}"));
        }
    }
}
