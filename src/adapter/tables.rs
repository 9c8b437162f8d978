//! JSON that was made from Lua tables: in the same order in every process, so that providers find in their caches what was
//! sent before, and with objects where Lua cannot tell an empty one from an empty list.

use serde_json::{Map, Value};

/// Fields of bodies, tools and schemas that are lists, also when they are empty.
const LISTS: &[&str] = &[
    "allOf",
    "allowed_callers",
    "allowed_domains",
    "allowed_tools",
    "anyOf",
    "blocked_domains",
    "contents",
    "edits",
    "enum",
    "examples",
    "exclude",
    "fallbacks",
    "file_ids",
    "functionDeclarations",
    "function_declarations",
    "ignore",
    "images",
    "include",
    "input",
    "input_examples",
    "messages",
    "modalities",
    "models",
    "oneOf",
    "only",
    "order",
    "parts",
    "plugins",
    "prefixItems",
    "quantizations",
    "required",
    "responseModalities",
    "safetySettings",
    "skills",
    "stop",
    "stopSequences",
    "stop_sequences",
    "tools",
    "transforms",
    "vector_store_ids",
];

/// The value with its keys in order and empty lists as objects, but where a field is known to be a list.
///
/// # Errors
/// The text is not JSON.
pub fn read(text: &str) -> Result<Value, serde_json::Error> {
    let mut value: Value = serde_json::from_str(text)?;
    value.sort_all_objects();
    with_objects(&mut value);
    Ok(value)
}

fn with_objects(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let is_list_schema = types(fields).any(|one| one == "array");
            for (field, value) in fields {
                // A default has the type of its schema.
                let is_list = LISTS.contains(&field.as_str()) || (field == "default" && is_list_schema);
                if !(is_list && is_empty_list(value)) {
                    object_if_empty(value);
                    with_objects(value);
                }
            }
        }
        // A list in a list cannot be told.
        Value::Array(values) => values.iter_mut().for_each(with_objects),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn types(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let (one, several) = match schema.get("type") {
        Some(Value::String(one)) => (Some(one.as_str()), None),
        Some(Value::Array(types)) => (None, Some(types)),
        _ => (None, None),
    };
    one.into_iter().chain(several.into_iter().flatten().filter_map(Value::as_str))
}

fn is_empty_list(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

fn object_if_empty(value: &mut Value) {
    if is_empty_list(value) {
        *value = Value::Object(Map::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(given: &str, wanted: &str) {
        assert_eq!(read(given).expect("JSON").to_string(), wanted, "{given}");
    }

    #[test]
    fn the_empty_table_is_an_object_but_where_a_list_is_known() {
        t(r#"[{"google_search":[]}]"#, r#"[{"google_search":{}}]"#);
        t(r#"{"stop":[],"metadata":[],"tools":[]}"#, r#"{"metadata":{},"stop":[],"tools":[]}"#);
        t(r#"{"properties":[],"required":[],"enum":[]}"#, r#"{"enum":[],"properties":{},"required":[]}"#);
        t(r#"{"a":[[]],"b":[[],1]}"#, r#"{"a":[[]],"b":[[],1]}"#);
    }

    #[test]
    fn a_default_has_the_type_of_its_schema() {
        t(r#"{"default":[],"type":"array"}"#, r#"{"default":[],"type":"array"}"#);
        t(r#"{"default":[],"type":["null","array"]}"#, r#"{"default":[],"type":["null","array"]}"#);
        t(r#"{"default":[],"type":"object"}"#, r#"{"default":{},"type":"object"}"#);
        t(r#"{"default":[]}"#, r#"{"default":{}}"#);
        t(
            r#"{"properties":{"default":{"default":[],"type":"array"}}}"#,
            r#"{"properties":{"default":{"default":[],"type":"array"}}}"#,
        );
    }

    #[test]
    fn keys_are_in_order_at_every_depth_and_lists_in_theirs() {
        t(r#"{"b":[{"z":1,"a":2},3],"a":{"d":1,"c":2}}"#, r#"{"a":{"c":2,"d":1},"b":[{"a":2,"z":1},3]}"#);
        assert!(read("{").is_err());
    }
}
