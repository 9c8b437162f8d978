//! Schemas as authors write them, and as the provider takes them.

use proptest::prelude::*;

use super::*;
use crate::schema::Schemas;
use crate::tool::{CallId, UncheckedCall};

fn sent(author: Value) -> Value {
    parameters(&author).expect("parameters")
}

#[test]
fn r041_a_tool_without_parameters_has_an_object_and_never_a_list() {
    let nothing = json!({"type": "object", "properties": {}});
    for author in [json!(null), json!([]), json!({}), json!(true), json!({"type": "object", "properties": []})] {
        assert_eq!(sent(author), nothing);
    }
    assert_eq!(sent(json!({"properties": {"a": []}})), json!({"properties": {"a": {}}, "type": "object"}));
}

#[test]
fn r051_words_of_json_schema_go_out_unchanged() {
    let author = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": false,
        "properties": {"a": {"type": ["string", "null"]}, "m": {"const": "k"}, "o": {"oneOf": [{"type": "null"}]}},
    });
    assert_eq!(sent(author.clone()), author);
}

#[test]
fn parameters_that_are_no_object_are_a_fault_with_a_reason() {
    let t = |author: Value| parameters(&author).expect_err("a fault");
    assert_eq!(t(json!({"type": "string"})), r#"its parameters must be of type "object", not "string""#);
    assert_eq!(t(json!("x")), "its parameters are a string, not a schema");
    assert_eq!(t(json!(false)), "its parameters are a boolean, not a schema");
    assert_eq!(t(json!({"properties": 1})), "its `properties` are not an object");
}

#[test]
fn words_that_are_refused_at_the_top_are_removed_and_their_properties_kept() {
    let author = json!({
        "oneOf": [
            {"properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"$ref": "#/$defs/b"},
        ],
        "allOf": [{"properties": {"c": {"type": "null"}}, "required": ["c"]}],
        "not": {"required": ["x"]},
        "$defs": {"b": {"properties": {"a": {"type": "number"}, "b": {"type": "integer"}}}},
    });
    assert_eq!(
        sent(author),
        json!({
            "$defs": {"b": {"properties": {"a": {"type": "number"}, "b": {"type": "integer"}}}},
            "type": "object",
            "properties": {"c": {"type": "null"}, "a": {"type": "string"}, "b": {"type": "integer"}},
            "required": ["c"],
        })
    );
    let author = json!({"$ref": "#/definitions/x", "definitions": {"x": {"type": "object", "properties": {"a": {}}}}});
    assert_eq!(sent(author)["properties"], json!({"a": {}}));
    // A reference that leads nowhere, or in a circle, ends.
    assert_eq!(sent(json!({"$ref": "#/x"})), json!({"type": "object", "properties": {}}));
    assert!(sent(json!({"$ref": "#/$defs/x", "$defs": {"x": {"$ref": "#/$defs/x"}}})).is_object());
}

#[test]
fn a_list_always_says_what_is_in_it() {
    let author = json!({"properties": {"a": {"type": "array"}, "b": {"items": {"type": ["array", "null"]}}}});
    let sent = sent(author);
    assert_eq!(sent["properties"]["a"], json!({"type": "array", "items": {}}));
    assert_eq!(sent["properties"]["b"]["items"], json!({"type": ["array", "null"], "items": {}}));
}

fn completed(author: Value) -> Option<Value> {
    strict(&sent(author))
}

#[test]
fn r047_a_nested_optional_property_becomes_required_and_nullable() {
    let author = json!({
        "type": "object",
        "properties": {"edits": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "old": {"type": "string"}, "new": {"type": "string"},
                "replaceAll": {"type": "boolean", "default": false, "description": "All?"},
            },
            "required": ["old", "new"],
        }}},
        "required": ["edits"],
    });
    assert_eq!(
        completed(author),
        Some(json!({
            "required": ["edits"],
            "properties": {"edits": {
                "items": {
                    "required": ["old", "new", "replaceAll"],
                    "properties": {
                        "old": {"type": "string"}, "new": {"type": "string"},
                        "replaceAll": {"description": "All?", "type": ["boolean", "null"]},
                    },
                    "additionalProperties": false,
                    "type": "object",
                },
                "type": "array",
            }},
            "additionalProperties": false,
            "type": "object",
        }))
    );
}

#[test]
fn r047_every_form_of_an_optional_property_takes_null() {
    let t = |property: Value| {
        let author = json!({"properties": {"a": property}, "$defs": {"x": {"type": "string"}}});
        completed(author).map(|schema| schema["properties"]["a"].clone())
    };
    assert_eq!(t(json!({"type": "string"})), Some(json!({"type": ["string", "null"]})));
    assert_eq!(t(json!({"type": ["string", "null"]})), Some(json!({"type": ["string", "null"]})));
    assert_eq!(t(json!({"enum": ["a", "b"]})), Some(json!({"enum": ["a", "b", null], "type": ["string", "null"]})));
    assert_eq!(t(json!({"const": 1})), Some(json!({"enum": [1, null], "type": ["integer", "null"]})));
    assert_eq!(
        t(json!({"anyOf": [{"type": "string"}, {"type": "number"}]})),
        Some(json!({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]}))
    );
    assert_eq!(t(json!({"$ref": "#/$defs/x"})), Some(json!({"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}]})));
    assert_eq!(
        t(json!({"$ref": "#/$defs/x", "description": "d"})),
        Some(json!({"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}], "description": "d"}))
    );
}

#[test]
fn r047_what_strict_mode_cannot_say_is_not_strict() {
    for property in [
        json!({}),
        json!({"type": "object"}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"type": "object", "properties": {}, "additionalProperties": true}),
        json!({"type": "object", "properties": {"a": {"type": "null"}}, "patternProperties": {"^x": {}}}),
        json!({"type": "object", "properties": {}, "required": ["b"]}),
        json!({"type": "array"}),
        json!({"type": "string", "minLength": 1}),
        json!({"type": "string", "format": "uri"}),
        json!({"type": "string", "pattern": "^(?!x)"}),
        json!({"allOf": [{"type": "string"}]}),
        json!({"oneOf": [{"type": "string"}]}),
        json!({"anyOf": [{"type": "string"}], "type": "string"}),
        json!({"not": {"type": "string"}}),
        json!({"$ref": "#/properties/a"}),
        json!({"type": "string", "x-own": 1}),
        json!({"type": "string", "enum": ["a", 1]}),
        json!({"enum": ["a", 1]}),
        json!({"enum": (0..600).collect::<Vec<_>>()}),
    ] {
        assert_eq!(completed(json!({"properties": {"a": property}})), None, "{property}");
    }
    let deep = (0..6).fold(json!({"type": "string"}), |inner, _| json!({"type": "object", "properties": {"a": inner}}));
    assert_eq!(completed(deep), None);
    let wide: Map<String, Value> = (0..101).map(|at| (format!("p{at}"), json!({"type": "null"}))).collect();
    assert_eq!(completed(json!({"properties": wide})), None);
}

/// A schema that strict mode can say, and arguments as a strict model sends them: null for each optional property.
fn any_schema() -> impl Strategy<Value = (Value, Value)> {
    let leaf = prop_oneof![
        Just((json!({"type": "string"}), json!("s"))),
        Just((json!({"type": "integer", "minimum": 0, "default": 3}), json!(4))),
        Just((json!({"enum": ["a", "b"]}), json!("b"))),
        Just((json!({"anyOf": [{"type": "boolean"}, {"type": "number"}]}), json!(true))),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|(schema, value)| (json!({"type": "array", "items": schema}), json!([value]))),
            object(inner),
        ]
    })
}

fn object(inner: impl Strategy<Value = (Value, Value)>) -> impl Strategy<Value = (Value, Value)> {
    prop::collection::vec((inner, any::<bool>()), 0..4).prop_map(|fields| {
        let mut properties = Map::new();
        let mut required = Vec::new();
        let mut values = Map::new();
        for (at, ((schema, value), is_required)) in fields.into_iter().enumerate() {
            let name = format!("f{at}");
            properties.insert(name.clone(), schema);
            values.insert(name.clone(), if is_required { value } else { Value::Null });
            if is_required {
                required.push(name);
            }
        }
        (json!({"type": "object", "properties": properties, "required": required}), Value::Object(values))
    })
}

fn is_closed(schema: &Value) -> bool {
    match schema {
        Value::Object(words) => {
            let closed = words.get("properties").and_then(Value::as_object).is_none_or(|properties| {
                words.get("additionalProperties") == Some(&json!(false))
                    && words.get("required") == Some(&json!(properties.keys().collect::<Vec<_>>()))
            });
            closed && words.values().all(is_closed)
        }
        Value::Array(items) => items.iter().all(is_closed),
        _ => true,
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

proptest! {
    #[test]
    fn r047_strict_is_closed_at_all_depths_and_its_nulls_reach_no_tool((author, arguments) in object(any_schema())) {
        if let Some(strict) = completed(author.clone()) {
            prop_assert!(is_closed(&strict), "{strict}");
            let schemas = Schemas::default();
            let check = |schema: &Value| schemas.check(UncheckedCall {
                call: CallId(1),
                schema: Some(schemas.intern(&schema.to_string())),
                numeric_strings: false, keeps_arguments: false,
                arguments: arguments.to_string(), route: None }).arguments;
            prop_assert_eq!(check(&strict), Ok(arguments.clone()));
            prop_assert_eq!(check(&author), Ok(without_nulls(arguments.clone())));
        }
    }
}
