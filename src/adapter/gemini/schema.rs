//! JSON Schema in the few words that Google's API knows (R051). What is lost here is still checked when a call comes.

use std::cell::Cell;

use serde_json::{Map, Value, json};

/// How deep a schema goes before it is cut: the API has no references, and circles have no end.
const MAX_DEPTH: usize = 8;

/// How many schemas one becomes at most: references put in again and again multiply.
const MAX_SCHEMAS: usize = 1_000;

/// Words that mean the same there.
const TAKEN: &[&str] = &[
    "description",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "pattern",
    "title",
];

/// The schema in the provider's words: types one by one, null as `nullable`, `const` as an `enum` of one value, references
/// put in; words that it does not know are dropped.
pub fn translate(schema: &Value) -> Value {
    Translation { root: schema, left: Cell::new(MAX_SCHEMAS) }.translate(schema, 0)
}

struct Translation<'a> {
    root: &'a Value,
    left: Cell<usize>,
}

impl Translation<'_> {
    fn translate(&self, schema: &Value, depth: usize) -> Value {
        let left = self.left.get();
        let Some(words) = schema.as_object().filter(|_| depth < MAX_DEPTH && left > 0) else {
            // True, or too deep: anything.
            return json!({"type": "STRING"});
        };
        self.left.set(left - 1);
        if let Some(target) = words.get("$ref").and_then(Value::as_str) {
            let found = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)).cloned();
            let mut found = found.unwrap_or_else(|| json!({}));
            if let (Some(description), Value::Object(found)) = (words.get("description"), &mut found) {
                found.insert("description".to_owned(), description.clone());
            }
            return self.translate(&found, depth + 1);
        }
        let mut done = Map::new();
        for word in TAKEN {
            if let Some(value) = words.get(*word) {
                done.insert((*word).to_owned(), value.clone());
            }
        }
        if let Some(branches) = ["anyOf", "oneOf"].iter().find_map(|word| words.get(*word)?.as_array()) {
            return self.branches(branches, done, depth);
        }
        if let Some(parts) = words.get("allOf").and_then(Value::as_array) {
            let mut merged = words.clone();
            merged.shift_remove("allOf");
            parts.iter().for_each(|part| merge(&mut merged, &self.resolved(part)));
            return self.translate(&Value::Object(merged), depth + 1);
        }
        let (types, nullable) = types_of(words);
        if nullable {
            done.insert("nullable".to_owned(), Value::Bool(true));
        }
        match types[..] {
            [] => self.typed(words, guess(words), &mut done, depth),
            [one] => self.typed(words, one, &mut done, depth),
            _ => {
                let branches = types.iter().map(|one| {
                    let mut branch = Map::new();
                    self.typed(words, one, &mut branch, depth);
                    Value::Object(branch)
                });
                done.insert("anyOf".to_owned(), branches.collect());
            }
        }
        Value::Object(done)
    }

    fn resolved(&self, schema: &Value) -> Value {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        target.and_then(|pointer| self.root.pointer(pointer)).unwrap_or(schema).clone()
    }

    fn branches(&self, branches: &[Value], mut done: Map<String, Value>, depth: usize) -> Value {
        let is_null = |branch: &Value| branch["type"] == "null" || branch.get("const") == Some(&Value::Null);
        let mut others: Vec<Value> = Vec::new();
        for branch in branches.iter().filter(|branch| !is_null(branch)) {
            others.push(self.translate(branch, depth + 1));
        }
        if branches.iter().any(is_null) {
            done.insert("nullable".to_owned(), Value::Bool(true));
        }
        if let [Value::Object(one)] = &mut others[..] {
            for (word, value) in std::mem::take(one) {
                done.entry(word).or_insert(value);
            }
        } else if others.is_empty() {
            done.insert("type".to_owned(), json!("STRING"));
        } else {
            done.insert("anyOf".to_owned(), Value::Array(others));
        }
        Value::Object(done)
    }

    /// The words that belong to one type.
    fn typed(&self, words: &Map<String, Value>, one: &str, done: &mut Map<String, Value>, depth: usize) {
        let one = if matches!(one, "string" | "number" | "integer" | "boolean" | "array" | "object") {
            one
        } else {
            "string"
        };
        done.insert("type".to_owned(), json!(one.to_ascii_uppercase()));
        match one {
            "string" => {
                // Only texts can be enumerated.
                let constant = words.get("const").map(std::slice::from_ref);
                let values = words.get("enum").and_then(Value::as_array).map(Vec::as_slice).or(constant);
                let values: Vec<&str> =
                    values.into_iter().flatten().filter_map(Value::as_str).filter(|value| !value.is_empty()).collect();
                if !values.is_empty() {
                    done.insert("format".to_owned(), json!("enum"));
                    done.insert("enum".to_owned(), json!(values));
                } else if words.get("format").and_then(Value::as_str) == Some("date-time") {
                    done.insert("format".to_owned(), json!("date-time"));
                }
            }
            "array" => {
                let first = words.get("prefixItems").and_then(Value::as_array).and_then(|items| items.first());
                let items = words.get("items").filter(|items| items.is_object()).or(first);
                let items = items.map_or_else(|| json!({"type": "STRING"}), |items| self.translate(items, depth + 1));
                done.insert("items".to_owned(), items);
            }
            "object" => self.object(words, done, depth),
            _ => {}
        }
    }

    fn object(&self, words: &Map<String, Value>, done: &mut Map<String, Value>, depth: usize) {
        let Some(properties) = words.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty()) else {
            return;
        };
        let translated = properties.iter().map(|(name, property)| (name.clone(), self.translate(property, depth + 1)));
        let translated: Map<String, Value> = translated.collect();
        let required = words.get("required").and_then(Value::as_array).into_iter().flatten();
        // A name that is no property is refused.
        let required: Vec<&str> =
            required.filter_map(Value::as_str).filter(|name| translated.contains_key(*name)).collect();
        if !required.is_empty() {
            done.insert("required".to_owned(), json!(required));
        }
        done.insert("properties".to_owned(), Value::Object(translated));
    }
}

/// Adds what another schema demands besides.
fn merge(words: &mut Map<String, Value>, other: &Value) {
    for (word, value) in other.as_object().into_iter().flatten() {
        match (words.get_mut(word), value) {
            (Some(Value::Object(own)), Value::Object(more)) => {
                for (name, value) in more {
                    own.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
            (Some(Value::Array(own)), Value::Array(more)) if word == "required" => own.extend(more.iter().cloned()),
            (Some(_), _) => {}
            (None, value) => drop(words.insert(word.clone(), value.clone())),
        }
    }
}

/// The types but null, and whether null is one.
fn types_of(words: &Map<String, Value>) -> (Vec<&str>, bool) {
    let types: Vec<&str> = match words.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let in_values = words.get("enum").and_then(Value::as_array).is_some_and(|values| values.contains(&Value::Null));
    let nullable = types.contains(&"null") || in_values || words.get("nullable") == Some(&Value::Bool(true));
    (types.into_iter().filter(|one| *one != "null").collect(), nullable)
}

/// The type of a schema that names none.
fn guess(words: &Map<String, Value>) -> &'static str {
    let value = words.get("const").or_else(|| words.get("enum")?.as_array()?.first());
    match value {
        Some(Value::Bool(_)) => return "boolean",
        Some(Value::Number(number)) => return if number.is_f64() { "number" } else { "integer" },
        Some(Value::Array(_)) => return "array",
        Some(Value::Object(_)) => return "object",
        Some(Value::Null | Value::String(_)) | None => {}
    }
    if words.contains_key("properties") {
        "object"
    } else if words.contains_key("items") || words.contains_key("prefixItems") {
        "array"
    } else if words.contains_key("minimum") || words.contains_key("maximum") {
        "number"
    } else {
        "string"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r051_words_that_the_api_lacks_are_translated_or_dropped() {
        let given = json!({
            "$schema": "x", "additionalProperties": false,
            "properties": {"a": {"type": ["string", "null"]}, "m": {"const": "k"}},
        });
        let wanted = json!({
            "type": "OBJECT",
            "properties": {
                "a": {"nullable": true, "type": "STRING"},
                "m": {"type": "STRING", "format": "enum", "enum": ["k"]},
            },
        });
        assert_eq!(translate(&given), wanted);
    }

    #[test]
    fn every_form_has_one_in_the_provider_s_words() {
        let t = |given: Value, wanted: Value| assert_eq!(translate(&given), wanted, "{given}");
        t(json!({"type": ["string", "integer"]}), json!({"anyOf": [{"type": "STRING"}, {"type": "INTEGER"}]}));
        t(json!({"anyOf": [{"type": "number"}, {"type": "null"}]}), json!({"nullable": true, "type": "NUMBER"}));
        t(
            json!({"oneOf": [{"type": "boolean"}, {"type": "array"}], "description": "d"}),
            json!({"description": "d", "anyOf": [{"type": "BOOLEAN"}, {"type": "ARRAY", "items": {"type": "STRING"}}]}),
        );
        t(json!({"enum": [1, 2]}), json!({"type": "INTEGER"}));
        t(json!({"enum": ["a", null]}), json!({"nullable": true, "type": "STRING", "format": "enum", "enum": ["a"]}));
        t(json!({"type": "string", "format": "uri", "minLength": 1}), json!({"minLength": 1, "type": "STRING"}));
        t(json!({"type": "object"}), json!({"type": "OBJECT"}));
        t(json!(true), json!({"type": "STRING"}));
        t(
            json!({"type": "object", "properties": {"a": {}}, "required": ["a", "gone"]}),
            json!({"type": "OBJECT", "required": ["a"], "properties": {"a": {"type": "STRING"}}}),
        );
        t(
            json!({"allOf": [{"properties": {"a": {"type": "integer"}}}, {"$ref": "#/$defs/b"}],
                "$defs": {"b": {"properties": {"b": {"type": "string"}}, "required": ["b"]}}}),
            json!({"type": "OBJECT", "required": ["b"],
                "properties": {"a": {"type": "INTEGER"}, "b": {"type": "STRING"}}}),
        );
    }

    #[test]
    fn references_are_put_in_and_circles_end() {
        let given = json!({
            "type": "object", "properties": {"next": {"$ref": "#"}, "one": {"$ref": "#/$defs/one", "description": "d"}},
            "$defs": {"one": {"type": "integer"}},
        });
        let translated = translate(&given);
        assert_eq!(translated["properties"]["one"], json!({"description": "d", "type": "INTEGER"}));
        assert!(!translated.to_string().contains("$ref"));
        let tree = json!({"$ref": "#/$defs/t", "$defs": {
            "t": {"type": "object", "properties": {"a": {"$ref": "#/$defs/t"}, "b": {"$ref": "#/$defs/t"}, "c": {"$ref": "#"}}},
        }});
        assert!(translate(&tree).to_string().len() < 100_000);
    }
}
