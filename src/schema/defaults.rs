//! Defaults of a schema, filled in where a call leaves a field out: only for tools whose author asked for it (N-25).

use serde_json::Value;

use super::normalise;

/// The arguments with the defaults of missing fields, at every depth that `properties` and `items` describe.
pub fn fill(schema: &str, mut arguments: Value) -> Value {
    // A schema that is no JSON has no validator either, and is told there.
    if let Ok(schema) = serde_json::from_str(schema) {
        fill_value(&normalise(schema), &mut arguments);
    }
    arguments
}

fn fill_value(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, schema) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                // Null is how some models say that they leave a field out.
                if fields.get(name).is_none_or(|given| given.is_null() && !takes_null(schema))
                    && let Some(default) = schema.get("default")
                {
                    fields.insert(name.clone(), default.clone());
                }
                if let Some(field) = fields.get_mut(name) {
                    fill_value(schema, field);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| fill_value(schema, item));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn takes_null(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(name)) => name == "null",
        Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn n25_missing_fields_get_their_defaults_at_every_depth_and_given_ones_stay() {
        let schema = json!({"type": "object", "properties": {
            "n": {"type": "integer", "default": 2},
            "given": {"default": 1},
            "gone": {"type": "integer", "default": 3},
            "deep": {"type": "object", "properties": {"x": {"default": [1]}}},
            "list": {"type": "array", "items": {"type": "object", "properties": {"y": {"default": "z"}}}},
            "made": {"type": "object", "default": {}, "properties": {"w": {"default": true}}},
        }})
        .to_string();
        let given = json!({"given": 7, "gone": null, "deep": {}, "list": [{}, {"y": "own"}, 3]});
        let wanted = json!({
            "given": 7, "gone": 3, "deep": {"x": [1]}, "list": [{"y": "z"}, {"y": "own"}, 3], "n": 2, "made": {"w": true}
        });
        assert_eq!(fill(&schema, given), wanted);
        assert_eq!(fill("no schema", json!({"a": 1})), json!({"a": 1}));
    }
}
