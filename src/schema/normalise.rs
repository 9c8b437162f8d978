//! Author schemas come from Lua tables, where the empty table may be written `[]` although an object is meant.
//! This file puts that right; whether the result is a good schema is the validator's business.

use jsonschema::Draft;
use serde_json::{Map, Value};

/// Keywords whose value is one subschema.
const SUBSCHEMA: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords whose value is a list of subschemas.
const SUBSCHEMA_LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];

/// Keywords whose value is an object of subschemas.
const SUBSCHEMA_MAP: &[&str] =
    &["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// Returns the schema with `[]` read as `{}` wherever a schema or an object of schemas is meant, `{}` read as `[]`
/// where a list is meant, and without a `$schema` that no draft of JSON Schema has (it could only be fetched).
/// Values that are data (`const`, `default`, `enum`, `examples`) stay as they are.
pub fn normalise(schema: Value) -> Value {
    match object_if_empty(schema) {
        Value::Object(keywords) => {
            let mut keywords: Map<String, Value> =
                keywords.into_iter().map(|(keyword, value)| normalise_keyword(keyword, value)).collect();
            if has_unknown_draft(&keywords) {
                keywords.shift_remove("$schema");
            }
            Value::Object(keywords)
        }
        other => other,
    }
}

fn normalise_keyword(keyword: String, value: Value) -> (String, Value) {
    let name = keyword.as_str();
    let value = if SUBSCHEMA.contains(&name) {
        match value {
            // Before 2020-12 `items` may be a list of schemas.
            Value::Array(items) if !items.is_empty() => Value::Array(items.into_iter().map(normalise).collect()),
            other => normalise(other),
        }
    } else if SUBSCHEMA_LIST.contains(&name) {
        match value {
            Value::Array(items) => Value::Array(items.into_iter().map(normalise).collect()),
            other => other,
        }
    } else if SUBSCHEMA_MAP.contains(&name) {
        match object_if_empty(value) {
            Value::Object(map) => {
                Value::Object(map.into_iter().map(|(key, value)| (key, entry(name, value))).collect())
            }
            other => other,
        }
    } else if name == "dependentRequired" {
        object_if_empty(value)
    } else if name == "required" {
        match value {
            Value::Object(map) if map.is_empty() => Value::Array(Vec::new()),
            other => other,
        }
    } else {
        value
    };
    (keyword, value)
}

/// An entry of an object of schemas. In `dependencies` a list is a list of names.
fn entry(keyword: &str, value: Value) -> Value {
    if keyword == "dependencies" && value.is_array() { value } else { normalise(value) }
}

fn object_if_empty(value: Value) -> Value {
    match value {
        Value::Array(items) if items.is_empty() => Value::Object(Map::new()),
        other => other,
    }
}

fn has_unknown_draft(keywords: &Map<String, Value>) -> bool {
    keywords.get("$schema").is_some_and(|uri| {
        let alone: Map<String, Value> = [("$schema".to_owned(), uri.clone())].into_iter().collect();
        !uri.is_string() || Draft::default().detect(&Value::Object(alone)) == Draft::Unknown
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn empty_lists_become_objects_where_an_object_is_meant() {
        let cases = [
            (json!([]), json!({})),
            (json!({"properties": []}), json!({"properties": {}})),
            (json!({"properties": {"any": []}}), json!({"properties": {"any": {}}})),
            (json!({"$defs": [], "definitions": []}), json!({"$defs": {}, "definitions": {}})),
            (json!({"patternProperties": {"^a": []}}), json!({"patternProperties": {"^a": {}}})),
            (json!({"items": []}), json!({"items": {}})),
            (json!({"items": {"properties": []}}), json!({"items": {"properties": {}}})),
            (json!({"items": [[], {"not": []}]}), json!({"items": [{}, {"not": {}}]})),
            (json!({"additionalProperties": []}), json!({"additionalProperties": {}})),
            (json!({"anyOf": [[], {"type": "null"}]}), json!({"anyOf": [{}, {"type": "null"}]})),
            (json!({"dependentSchemas": {"a": []}}), json!({"dependentSchemas": {"a": {}}})),
            (json!({"dependentRequired": []}), json!({"dependentRequired": {}})),
            (json!({"required": {}}), json!({"required": []})),
        ];
        for (given, wanted) in cases {
            assert_eq!(normalise(given.clone()), wanted, "{given}");
        }
    }

    #[test]
    fn lists_and_data_stay() {
        for schema in [
            json!({"required": []}),
            json!({"enum": [[], {}]}),
            json!({"const": [], "default": [], "examples": []}),
            json!({"dependencies": {"a": [], "b": ["c"]}}),
            json!({"dependentRequired": {"a": []}}),
            json!({"type": []}),
            json!({"items": false, "additionalProperties": true}),
            json!(true),
            json!({"x-own": []}),
        ] {
            assert_eq!(normalise(schema.clone()), schema);
        }
    }

    #[test]
    fn a_property_may_have_a_keyword_as_its_name() {
        let schema =
            json!({"properties": {"properties": {"type": "array", "default": []}, "required": {"type": "null"}}});
        assert_eq!(normalise(schema.clone()), schema);
        let schema = json!({"properties": {"enum": []}});
        assert_eq!(normalise(schema), json!({"properties": {"enum": {}}}));
    }

    #[test]
    fn only_a_draft_that_exists_is_kept() {
        let known = json!({"$schema": "http://json-schema.org/draft-07/schema#"});
        assert_eq!(normalise(known.clone()), known);
        assert_eq!(normalise(json!({"$schema": "x", "type": "object"})), json!({"type": "object"}));
    }

    #[test]
    fn normalising_twice_changes_nothing_more() {
        let once = normalise(json!({"properties": {"a": [], "b": {"items": [], "$defs": []}}, "allOf": [[]]}));
        assert_eq!(normalise(once.clone()), once);
    }
}
