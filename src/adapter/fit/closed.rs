//! Strict mode where optional properties stay optional: objects are closed, and little else may be said.

use serde_json::{Map, Value, json};

use super::{FORMATS, NOTES};

/// What one request may hold in all its strict tools together.
const MAX_TOOLS: usize = 20;
const MAX_OPTIONAL: usize = 24;
const MAX_UNIONS: usize = 16;

/// The strict tools of one request.
#[derive(Clone, Copy, Debug, Default)]
pub struct StrictTools {
    tools: usize,
    optional: usize,
    unions: usize,
}

impl StrictTools {
    /// The parameters in the form of strict mode (R047). None: they say something that it does not know, or the request is
    /// full; then the tool goes out non-strict, as its author wrote it.
    pub fn close(&mut self, parameters: &Value) -> Option<Value> {
        let mut with = Self { tools: self.tools + 1, ..*self };
        let closed = with.closed(parameters)?;
        let fits = with.tools <= MAX_TOOLS && with.optional <= MAX_OPTIONAL && with.unions <= MAX_UNIONS;
        fits.then(|| {
            *self = with;
            closed
        })
    }

    fn closed(&mut self, schema: &Value) -> Option<Value> {
        let schema = schema.as_object()?;
        let mut done = Map::new();
        for (word, value) in schema {
            let value = match word.as_str() {
                word if NOTES.contains(&word) && word != "default" => continue,
                "default" | "description" | "title" => value.clone(),
                "enum" if value.as_array().is_some_and(|values| !values.iter().any(is_nested)) => value.clone(),
                "const" if !is_nested(value) => value.clone(),
                "format" if value.as_str().is_some_and(|format| format == "uri" || FORMATS.contains(&format)) => {
                    value.clone()
                }
                "minItems" if value == &json!(0) || value == &json!(1) => value.clone(),
                "type" => self.type_word(value)?,
                "anyOf" => {
                    self.unions += 1;
                    let branches = value.as_array().filter(|branches| !branches.is_empty())?;
                    branches.iter().map(|branch| self.closed(branch)).collect::<Option<Value>>()?
                }
                "items" => self.closed(value)?,
                "properties" | "required" => continue,
                "additionalProperties" if value == &Value::Bool(false) => continue,
                _ => return None,
            };
            done.insert(word.clone(), value);
        }
        let is = |kind: &str| match schema.get("type") {
            Some(Value::Array(types)) => types.iter().any(|one| one == kind),
            one => one.is_some_and(|one| one == kind),
        };
        if is("object") {
            self.close_object(schema, &mut done)?;
        }
        let says = ["type", "anyOf", "enum", "const"].iter().any(|word| done.contains_key(*word));
        (says && (!is("array") || done.contains_key("items"))).then_some(Value::Object(done))
    }

    fn type_word(&mut self, types: &Value) -> Option<Value> {
        match types {
            Value::String(_) => {}
            Value::Array(types) if types.iter().all(Value::is_string) => self.unions += 1,
            _ => return None,
        }
        Some(types.clone())
    }

    fn close_object(&mut self, schema: &Map<String, Value>, done: &mut Map<String, Value>) -> Option<()> {
        // An object whose fields are not named cannot be closed.
        let properties = schema.get("properties")?.as_object()?;
        let required: Vec<&str> = match schema.get("required") {
            None => Vec::new(),
            Some(names) => names.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?,
        };
        if required.iter().any(|name| !properties.contains_key(*name)) {
            return None;
        }
        self.optional += properties.keys().filter(|name| !required.contains(&name.as_str())).count();
        let closed: Option<Map<String, Value>> =
            properties.iter().map(|(name, property)| Some((name.clone(), self.closed(property)?))).collect();
        done.insert("properties".to_owned(), Value::Object(closed?));
        if !required.is_empty() {
            done.insert("required".to_owned(), json!(required));
        }
        done.insert("additionalProperties".to_owned(), Value::Bool(false));
        Some(())
    }
}

fn is_nested(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(schema: Value) -> Option<Value> {
        StrictTools::default().close(&schema)
    }

    #[test]
    fn r047_objects_are_closed_and_optional_properties_stay_optional() {
        let inner =
            json!({"type": "array", "items": {"type": "object", "properties": {"b": {"type": ["string", "null"]}}}});
        let given = json!({"type": "object", "properties": {"a": {"type": "number", "description": "n"}, "list": inner}, "required": ["a"]});
        let inner = json!({"type": "array", "items": {"type": "object", "properties": {"b": {"type": ["string", "null"]}}, "additionalProperties": false}});
        let wanted = json!({
            "type": "object", "properties": {"a": {"type": "number", "description": "n"}, "list": inner},
            "required": ["a"], "additionalProperties": false,
        });
        assert_eq!(closed(given), Some(wanted));
        assert!(closed(json!({"type": "object", "properties": {}})).is_some());
    }

    #[test]
    fn r047_what_strict_mode_does_not_know_goes_out_as_it_is() {
        for property in [
            json!({"type": "number", "minimum": 1}),
            json!({"type": "string", "pattern": "^a"}),
            json!({"type": "string", "format": "own"}),
            json!({"type": "object"}),
            json!({"type": "object", "properties": {}, "additionalProperties": true}),
            json!({"type": "array"}),
            json!({"$ref": "#"}),
            json!({"oneOf": [{"type": "string"}]}),
            json!({"enum": [{}]}),
            json!({"description": "anything"}),
            json!({}),
            json!(true),
        ] {
            let schema = json!({"type": "object", "properties": {"a": property}});
            assert_eq!(closed(schema.clone()), None, "{schema}");
        }
    }

    #[test]
    fn r047_a_request_holds_so_many_strict_tools_and_no_more() {
        let mut tools = StrictTools::default();
        let one = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        assert_eq!((0..30).filter(|_| tools.close(&one).is_some()).count(), MAX_TOOLS);
        let mut tools = StrictTools::default();
        let optional = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
        assert_eq!((0..30).filter(|_| tools.close(&optional).is_some()).count(), MAX_OPTIONAL / 2);
        assert!(tools.close(&one).is_some(), "one without optional properties still fits");
    }
}
