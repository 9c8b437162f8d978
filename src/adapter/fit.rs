//! Makes an author's schema one that OpenAI takes as the parameters of a function. What is sent may be looser than what the
//! author wrote: lathe checks every call against the author's own schema.

mod closed;

pub use closed::StrictTools;
use serde_json::{Map, Value, json};

use crate::schema::normalise;

/// Words that may not stand at the top of the parameters.
const NOT_AT_THE_TOP: &[&str] = &["allOf", "anyOf", "const", "else", "enum", "if", "not", "oneOf", "then"];

/// How long a chain of references at the top may be.
const MAX_REFERENCES: usize = 8;

/// The parameters as an object schema without the forms that make the provider refuse the whole request.
///
/// # Errors
/// Why no such schema can be made; the tool cannot be offered then.
pub fn parameters(author: &Value) -> Result<Value, String> {
    let mut schema = object_schema(author)?;
    schema.insert("type".to_owned(), json!("object"));
    loosen_top(&mut schema);
    if !schema.entry("properties").or_insert_with(|| json!({})).is_object() {
        return Err("its `properties` are not an object".to_owned());
    }
    let mut schema = Value::Object(schema);
    add_items(&mut schema);
    Ok(schema)
}

/// The parameters as their author wrote them, as an object schema, for a provider that takes all of JSON Schema (R051).
///
/// # Errors
/// As [`parameters`].
pub fn whole(author: &Value) -> Result<Value, String> {
    let mut schema = object_schema(author)?;
    schema.insert("type".to_owned(), json!("object"));
    if !schema.entry("properties").or_insert_with(|| json!({})).is_object() {
        return Err("its `properties` are not an object".to_owned());
    }
    Ok(Value::Object(schema))
}

/// The words of a schema of an object.
fn object_schema(author: &Value) -> Result<Map<String, Value>, String> {
    let mut schema = match normalise(author.clone()) {
        Value::Null | Value::Bool(true) => Map::new(),
        Value::Object(schema) => schema,
        other => return Err(format!("its parameters are {}, not a schema", kind_of(&other))),
    };
    inline_reference(&mut schema);
    match schema.get("type") {
        None => {}
        Some(Value::String(one)) if one == "object" => {}
        Some(Value::Array(types)) if types.iter().any(|one| one == "object") => {}
        Some(other) => return Err(format!("its parameters must be of type \"object\", not {other}")),
    }
    Ok(schema)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Schemas made by a program often have only a `$ref` at the top.
fn inline_reference(schema: &mut Map<String, Value>) {
    for _ in 0..MAX_REFERENCES {
        let Some(Value::String(reference)) = schema.shift_remove("$ref") else { return };
        let target = reference.strip_prefix('#').and_then(|pointer| find(schema, pointer)).cloned();
        for (keyword, value) in target.into_iter().flatten() {
            schema.entry(keyword).or_insert(value);
        }
    }
}

fn find<'a>(schema: &'a Map<String, Value>, pointer: &str) -> Option<&'a Map<String, Value>> {
    let mut steps = pointer.strip_prefix('/')?.split('/').map(|step| step.replace("~1", "/").replace("~0", "~"));
    let mut at = schema.get(&steps.next()?)?;
    for step in steps {
        at = at.get(&step)?;
    }
    at.as_object()
}

/// Removes the words that may not stand at the top. The model still sees every property that a branch describes.
fn loosen_top(schema: &mut Map<String, Value>) {
    for word in NOT_AT_THE_TOP {
        let Some(removed) = schema.shift_remove(*word) else { continue };
        let branches = match removed {
            Value::Array(branches) if matches!(*word, "allOf" | "anyOf" | "oneOf") => branches,
            branch @ Value::Object(_) if matches!(*word, "then" | "else") => vec![branch],
            _ => continue,
        };
        for branch in branches {
            let Value::Object(mut branch) = branch else { continue };
            inline_branch(schema, &mut branch);
            if let Some(Value::Object(properties)) = branch.remove("properties")
                && let Value::Object(known) = schema.entry("properties").or_insert_with(|| json!({}))
            {
                for (name, property) in properties {
                    known.entry(name).or_insert(property);
                }
            }
            if *word == "allOf"
                && let Some(Value::Array(names)) = branch.remove("required")
                && let Value::Array(required) = schema.entry("required").or_insert_with(|| json!([]))
            {
                for name in names {
                    if !required.contains(&name) {
                        required.push(name);
                    }
                }
            }
        }
    }
}

fn inline_branch(schema: &Map<String, Value>, branch: &mut Map<String, Value>) {
    if let Some(Value::String(reference)) = branch.get("$ref")
        && let Some(target) = reference.strip_prefix('#').and_then(|pointer| find(schema, pointer))
    {
        *branch = target.clone();
    }
}

/// A list without a schema of its items is refused, strict or not.
fn add_items(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    let is_list = match keywords.get("type") {
        Some(Value::String(one)) => one == "array",
        Some(Value::Array(types)) => types.iter().any(|one| one == "array"),
        _ => false,
    };
    if is_list && !keywords.contains_key("items") {
        keywords.insert("items".to_owned(), json!({}));
    }
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(map)) => {
                map.values_mut().for_each(add_items);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => list.iter_mut().for_each(add_items),
            ("items" | "additionalProperties" | "not" | "contains", one) => add_items(one),
            _ => {}
        }
    }
}

/// What the stricter of OpenAI's hosts take: levels of objects, properties, values of enums, letters of all names and
/// values. A schema beyond is sent non-strict.
const MAX_LEVELS: usize = 5;
const MAX_PROPERTIES: usize = 100;
const MAX_VALUES: usize = 500;
const MAX_LETTERS: usize = 15_000;

/// Words that say nothing about the arguments; strict mode does not know them.
const NOTES: &[&str] = &["$comment", "$id", "$schema", "default", "deprecated", "examples", "readOnly", "writeOnly"];

/// Words that strict mode takes as they are.
const TAKEN: &[&str] = &[
    "description",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "title",
];

const FORMATS: &[&str] = &["date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"];

/// The same schema in the form that strict mode demands at every depth (R047): objects closed, all their properties
/// required, the optional ones nullable instead. None: it has something that strict mode cannot say, or that lathe does not
/// know; then it goes out non-strict.
///
/// The nulls that the model sends for optional properties are removed when the call is checked.
pub fn strict(parameters: &Value) -> Option<Value> {
    let mut strict = Strict::default();
    let closed = strict.complete(parameters, 1)?;
    let fits = strict.properties <= MAX_PROPERTIES && strict.values <= MAX_VALUES && strict.letters <= MAX_LETTERS;
    fits.then_some(closed)
}

#[derive(Default)]
struct Strict {
    properties: usize,
    values: usize,
    letters: usize,
}

impl Strict {
    fn complete(&mut self, schema: &Value, level: usize) -> Option<Value> {
        let schema = schema.as_object()?;
        if level > MAX_LEVELS {
            return None;
        }
        if schema.contains_key("$ref") {
            return reference(schema);
        }
        let mut done = Map::new();
        for (word, value) in schema {
            match word.as_str() {
                word if NOTES.contains(&word) => {}
                word if TAKEN.contains(&word) => drop(done.insert(word.to_owned(), value.clone())),
                "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                    done.insert(word.clone(), value.clone());
                }
                // Looking around is beyond the provider's regular expressions.
                "pattern" if value.as_str().is_some_and(|pattern| !pattern.contains("(?")) => {
                    done.insert(word.clone(), value.clone());
                }
                "anyOf" => {
                    let branches = value.as_array().filter(|branches| !branches.is_empty())?;
                    let branches: Option<Vec<Value>> =
                        branches.iter().map(|branch| self.complete(branch, level)).collect();
                    done.insert("anyOf".to_owned(), Value::Array(branches?));
                }
                "enum" => drop(done.insert("enum".to_owned(), self.values(value.as_array()?)?)),
                "const" => drop(done.insert("enum".to_owned(), self.values(std::slice::from_ref(value))?)),
                "$defs" | "definitions" => {
                    let mut all = Map::new();
                    for (name, definition) in value.as_object()? {
                        self.letters += name.len();
                        all.insert(name.clone(), self.complete(definition, level)?);
                    }
                    done.insert(word.clone(), Value::Object(all));
                }
                "type" | "properties" | "required" | "additionalProperties" | "items" => {}
                _ => return None,
            }
        }
        let typed = ["type", "properties", "required", "additionalProperties", "items", "enum", "const"];
        if done.contains_key("anyOf") {
            return (!typed.iter().any(|word| schema.contains_key(*word))).then_some(Value::Object(done));
        }
        let types = types_of(schema, done.get("enum"))?;
        if types.contains(&"object") {
            self.close(schema, &mut done, level)?;
        }
        if types.contains(&"array") {
            done.insert("items".to_owned(), self.complete(schema.get("items")?, level)?);
        }
        done.insert("type".to_owned(), if let [one] = types[..] { json!(one) } else { json!(types) });
        Some(Value::Object(done))
    }

    fn close(&mut self, schema: &Map<String, Value>, done: &mut Map<String, Value>, level: usize) -> Option<()> {
        // An object whose fields are not named cannot be closed.
        if !matches!(schema.get("additionalProperties"), None | Some(Value::Bool(false))) {
            return None;
        }
        let properties = schema.get("properties")?.as_object()?;
        let required: Vec<&str> = match schema.get("required") {
            None => Vec::new(),
            Some(names) => names.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?,
        };
        if required.iter().any(|name| !properties.contains_key(*name)) {
            return None;
        }
        let mut closed = Map::new();
        for (name, property) in properties {
            self.properties += 1;
            self.letters += name.len();
            let property = self.complete(property, level + 1)?;
            let property = if required.contains(&name.as_str()) { property } else { nullable(property) };
            closed.insert(name.clone(), property);
        }
        done.insert("required".to_owned(), json!(closed.keys().collect::<Vec<_>>()));
        done.insert("properties".to_owned(), Value::Object(closed));
        done.insert("additionalProperties".to_owned(), json!(false));
        Some(())
    }

    fn values(&mut self, values: &[Value]) -> Option<Value> {
        self.values += values.len();
        self.letters += values.iter().filter_map(Value::as_str).map(str::len).sum::<usize>();
        (!values.is_empty()).then(|| Value::Array(values.to_vec()))
    }
}

/// A reference may have no words beside it, so a description goes around it.
fn reference(schema: &Map<String, Value>) -> Option<Value> {
    let target = schema.get("$ref")?.as_str()?;
    let local = target == "#" || target.starts_with("#/$defs/") || target.starts_with("#/definitions/");
    let known = |word: &str| matches!(word, "$ref" | "description" | "title") || NOTES.contains(&word);
    if !local || !schema.keys().all(|word| known(word)) {
        return None;
    }
    Some(match schema.get("description") {
        Some(description) => json!({"anyOf": [{"$ref": target}], "description": description}),
        None => json!({"$ref": target}),
    })
}

/// The types of a schema; strict mode wants them said.
fn types_of<'a>(schema: &'a Map<String, Value>, values: Option<&Value>) -> Option<Vec<&'a str>> {
    let values = values.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let types = match schema.get("type") {
        Some(Value::String(one)) => vec![one.as_str()],
        Some(Value::Array(types)) => types.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?,
        Some(_) => return None,
        None if values.is_empty() => return None,
        None if values.iter().all(Value::is_string) => vec!["string"],
        None if values.iter().all(|value| value.is_i64() || value.is_u64()) => vec!["integer"],
        None if values.iter().all(Value::is_boolean) => vec!["boolean"],
        None => return None,
    };
    // Values of another type are refused.
    let fits = |value: &Value| match value {
        Value::Null => types.contains(&"null"),
        Value::Bool(_) => types.contains(&"boolean"),
        Value::Number(_) => types.contains(&"number") || types.contains(&"integer"),
        Value::String(_) => types.contains(&"string"),
        Value::Array(_) | Value::Object(_) => false,
    };
    (!types.is_empty() && values.iter().all(fits)).then_some(types)
}

/// The schema, or null.
fn nullable(mut schema: Value) -> Value {
    let Some(words) = schema.as_object_mut() else { return schema };
    if words.contains_key("$ref") {
        return json!({"anyOf": [schema, {"type": "null"}]});
    }
    if let Some(Value::Array(branches)) = words.get_mut("anyOf") {
        let takes_null = |branch: &Value| match branch.get("type") {
            Some(Value::Array(types)) => types.iter().any(|one| one == "null"),
            one => one == Some(&json!("null")),
        };
        if !branches.iter().any(takes_null) {
            branches.push(json!({"type": "null"}));
        }
        return schema;
    }
    let null = json!("null");
    match words.get_mut("type") {
        Some(Value::Array(types)) if !types.contains(&null) => types.push(null),
        Some(one @ Value::String(_)) if *one != null => *one = Value::Array(vec![one.take(), null]),
        _ => {}
    }
    if let Some(Value::Array(values)) = words.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    schema
}

#[cfg(test)]
mod tests;
