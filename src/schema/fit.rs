//! Step 3 of a call: whether decoded arguments fit a compiled schema, and if not, why, in words for the model.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind};
use jsonschema::{JsonType, Validator};
use serde_json::{Map, Number, Value};

use crate::tool::ArgumentsError;

/// How many faults the model is shown.
const MAX_FAULTS: usize = 10;

/// How much of a value a fault quotes, in characters.
const QUOTED_CHARS: usize = 100;

/// How much of a pointer a fault tells, in characters: names of fields come from the model.
const POINTER_CHARS: usize = 300;

/// How long a fault may be as a whole, in characters.
const FAULT_CHARS: usize = 2000;

/// In arguments of more values nothing is mended, and only the first fault is told: each value may be a fault.
const MAX_MENDED_VALUES: usize = 100_000;

/// Mending may reveal more to mend (a branch of `anyOf` that fits only then); each round validates everything again.
const MAX_ROUNDS: usize = 8;

/// Checks arguments and returns them as the tool gets them: null removed from optional fields that do not take null, and put
/// where a required field is missing that may be null; numbers in strings accepted where `numeric_strings`, but passed on as
/// they came.
///
/// # Errors
/// [`ArgumentsError::DoesNotFit`] with up to 10 faults.
pub fn fit(validator: &Validator, arguments: Value, numeric_strings: bool) -> Result<Value, ArgumentsError> {
    if validator.is_valid(&arguments) {
        return Ok(arguments);
    }
    if is_huge(&arguments) {
        return match validator.validate(&arguments) {
            Ok(()) => Ok(arguments),
            Err(error) => Err(told(&faults_of(&error, &arguments), "\n- … and perhaps more, in so many values")),
        };
    }
    let mut given = arguments;
    remove_nulls(validator, &mut given);
    add_nulls(validator, &mut given);
    if validator.is_valid(&given) {
        return Ok(given);
    }
    if !numeric_strings {
        return Err(does_not_fit(validator, &given, &given));
    }
    let read = read_numbers(validator, &given);
    if validator.is_valid(&read) { Ok(given) } else { Err(does_not_fit(validator, &read, &given)) }
}

fn is_huge(arguments: &Value) -> bool {
    fn count(value: &Value, left: &mut usize) {
        *left = left.saturating_sub(1);
        match value {
            _ if *left == 0 => {}
            Value::Array(items) => items.iter().for_each(|item| count(item, left)),
            Value::Object(fields) => fields.values().for_each(|field| count(field, left)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut left = MAX_MENDED_VALUES + 1;
    count(arguments, &mut left);
    left == 0
}

/// Removes the nulls that models send for "not given". The validator says which: a null is removed when it is a fault,
/// and put back when the field turns out to be required.
fn remove_nulls(validator: &Validator, arguments: &mut Value) {
    let mut kept: BTreeSet<String> = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        let mut nulls: BTreeSet<String> = BTreeSet::new();
        each_error(validator, arguments, &mut |error| {
            let pointer = error.instance_path().as_str();
            if error.instance().is_null() && !kept.contains(pointer) {
                nulls.insert(pointer.to_owned());
            }
        });
        remove_fields(arguments, &mut nulls);
        if nulls.is_empty() {
            return;
        }
        let required = required_and_missing(validator, arguments);
        for pointer in nulls.intersection(&required) {
            put_field(arguments, pointer, Value::Null);
            kept.insert(pointer.clone());
        }
    }
}

/// Puts null where a required field is missing whose schema names null as one of its values. A schema that takes anything
/// does not name it: there a missing field stays a fault.
fn add_nulls(validator: &Validator, arguments: &mut Value) {
    let mut refused: BTreeSet<String> = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        let missing: BTreeSet<String> =
            required_and_missing(validator, arguments).into_iter().filter(|field| !refused.contains(field)).collect();
        if missing.is_empty() {
            return;
        }
        let takes_null = not_refused(validator, arguments, &missing, &Value::Null);
        let mut takes_all = takes_null.clone();
        for probe in [Value::Bool(true), 0.into(), "".into(), Value::Array(Vec::new()), Value::Object(Map::new())] {
            if !takes_all.is_empty() {
                takes_all = not_refused(validator, arguments, &takes_all, &probe);
            }
        }
        refused
            .extend(missing.iter().filter(|field| !takes_null.contains(*field) || takes_all.contains(*field)).cloned());
        for pointer in missing.difference(&refused) {
            put_field(arguments, pointer, Value::Null);
        }
    }
}

/// The fields that objects must have and do not have, as pointers.
fn required_and_missing(validator: &Validator, arguments: &Value) -> BTreeSet<String> {
    let mut missing: BTreeSet<String> = BTreeSet::new();
    each_error(validator, arguments, &mut |error| {
        if let ValidationErrorKind::Required { property: Value::String(property) } = error.kind() {
            missing.insert(join(error.instance_path().as_str(), property));
        }
    });
    missing
}

/// Those of the fields about which nothing is wrong when they have this value.
fn not_refused(validator: &Validator, arguments: &Value, fields: &BTreeSet<String>, value: &Value) -> BTreeSet<String> {
    let mut with = arguments.clone();
    for pointer in fields {
        put_field(&mut with, pointer, value.clone());
    }
    let mut refused: HashSet<String> = HashSet::new();
    each_error(validator, &with, &mut |error| {
        let pointer = error.instance_path().as_str();
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                refused.extend(unexpected.iter().map(|field| join(pointer, field)));
            }
            _ => _ = refused.insert(pointer.to_owned()),
        }
    });
    fields.iter().filter(|field| !refused.contains(*field)).cloned().collect()
}

/// A copy in which every string that stands where a number is wanted, and is wholly a number, is that number.
fn read_numbers(validator: &Validator, arguments: &Value) -> Value {
    let mut read = arguments.clone();
    for _ in 0..MAX_ROUNDS {
        let mut numbers: Vec<(String, Number)> = Vec::new();
        each_error(validator, &read, &mut |error| {
            if let Value::String(text) = error.instance().as_ref()
                && wants_number(error.kind())
                && let Some(number) = number_in(text)
            {
                numbers.push((error.instance_path().as_str().to_owned(), number));
            }
        });
        if numbers.is_empty() {
            break;
        }
        for (pointer, number) in numbers {
            if let Some(place) = read.pointer_mut(&pointer) {
                *place = Value::Number(number);
            }
        }
    }
    read
}

fn wants_number(kind: &ValidationErrorKind) -> bool {
    match kind {
        ValidationErrorKind::Type { kind: TypeKind::Single(one) } => {
            matches!(one, JsonType::Number | JsonType::Integer)
        }
        ValidationErrorKind::Type { kind: TypeKind::Multiple(types) } => {
            types.contains(JsonType::Number) || types.contains(JsonType::Integer)
        }
        ValidationErrorKind::Enum { options } => {
            options.as_array().is_some_and(|options| options.iter().any(Value::is_number))
        }
        ValidationErrorKind::Constant { expected_value } => expected_value.is_number(),
        _ => false,
    }
}

/// The number that a text is as a whole, in decimal notation. Lua's `tonumber` reads all of these the same way.
fn number_in(text: &str) -> Option<Number> {
    if !text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')) {
        return None;
    }
    if let Ok(integer) = text.parse::<i64>() {
        return Some(integer.into());
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

/// Calls `visit` for each error, those of the branches of `anyOf` and `oneOf` included.
fn each_error(validator: &Validator, arguments: &Value, visit: &mut dyn FnMut(&ValidationError<'_>)) {
    for error in validator.iter_errors(arguments) {
        each_nested(&error, visit);
    }
}

fn each_nested(error: &ValidationError<'_>, visit: &mut dyn FnMut(&ValidationError<'_>)) {
    visit(error);
    for nested in branches(error.kind()).iter().flatten() {
        each_nested(nested, visit);
    }
}

fn branches(kind: &ValidationErrorKind) -> &[Vec<ValidationError<'static>>] {
    match kind {
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => context,
        _ => &[],
    }
}

/// Removes the nulls that are fields of an object; only those stay in `nulls`.
fn remove_fields(arguments: &mut Value, nulls: &mut BTreeSet<String>) {
    let mut by_object: BTreeMap<&str, HashSet<String>> = BTreeMap::new();
    let is_field = |pointer: &str| {
        let parent = pointer.rsplit_once('/').and_then(|(parent, _)| arguments.pointer(parent));
        parent.is_some_and(Value::is_object)
    };
    nulls.retain(|pointer| is_field(pointer));
    for (object, field) in nulls.iter().filter_map(|pointer| pointer.rsplit_once('/')) {
        by_object.entry(object).or_default().insert(unescape(field));
    }
    for (object, nulls) in by_object {
        // All at once: each removal moves the fields behind it.
        if let Some(Value::Object(fields)) = arguments.pointer_mut(object) {
            fields.retain(|field, _| !nulls.contains(field));
        }
    }
}

fn put_field(arguments: &mut Value, pointer: &str, value: Value) {
    if let Some((parent, field)) = pointer.rsplit_once('/')
        && let Some(Value::Object(fields)) = arguments.pointer_mut(parent)
    {
        fields.insert(unescape(field), value);
    }
}

fn join(pointer: &str, field: &str) -> String {
    format!("{pointer}/{}", field.replace('~', "~0").replace('/', "~1"))
}

fn unescape(field: &str) -> String {
    field.replace("~1", "/").replace("~0", "~")
}

/// `checked` is what was validated, `given` the same with the model's own values.
fn does_not_fit(validator: &Validator, checked: &Value, given: &Value) -> ArgumentsError {
    let mut faults: Vec<String> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    for error in validator.iter_errors(checked) {
        for fault in faults_of(&error, given) {
            if seen.insert(fault.clone()) && faults.len() < MAX_FAULTS {
                faults.push(fault);
            }
        }
    }
    let more = match seen.len() - faults.len() {
        0 => String::new(),
        hidden => format!("\n- … and {hidden} more"),
    };
    told(&faults, &more)
}

fn told(faults: &[String], more: &str) -> ArgumentsError {
    let faults: Vec<_> = faults.iter().take(MAX_FAULTS).map(|fault| start_of(fault, FAULT_CHARS)).collect();
    ArgumentsError::DoesNotFit(format!(
        "The arguments do not fit the tool's schema:\n- {}{more}\nNothing was run. Call the tool again with arguments that fit.",
        faults.join("\n- ")
    ))
}

fn faults_of(error: &ValidationError<'_>, given: &Value) -> Vec<String> {
    let pointer = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let field = property.as_str().unwrap_or_default();
            vec![format!("{}: required: the property is missing", shown(&join(pointer, field)))]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|field| {
                let pointer = join(pointer, field);
                let value = given.pointer(&pointer).map(quote).unwrap_or_default();
                format!("{}: {}: there is no such property (given: {value})", shown(&pointer), error.kind().keyword())
            })
            .collect(),
        kind => {
            let mut text = format!("{}: {}: {}", shown(pointer), kind.keyword(), error.masked_with("the value"));
            let options: Vec<String> =
                branches(kind).iter().filter_map(|errors| errors.first()).map(|error| option(pointer, error)).collect();
            if !options.is_empty() {
                text.push_str(&format!(", because {}", options.join("; and ")));
            }
            let value = given.pointer(pointer).unwrap_or(error.instance());
            text.push_str(&format!(" (given: {})", quote(value)));
            vec![text]
        }
    }
}

/// Why one branch of `anyOf` or `oneOf` does not fit.
fn option(at: &str, error: &ValidationError<'_>) -> String {
    let pointer = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            format!("{} is missing", join(pointer, property.as_str().unwrap_or_default()))
        }
        _ if pointer == at => error.masked_with("it").to_string(),
        _ => error.masked_with(pointer).to_string(),
    }
}

fn shown(pointer: &str) -> String {
    if pointer.is_empty() { "(all arguments)".to_owned() } else { start_of(pointer, POINTER_CHARS) }
}

fn quote(value: &Value) -> String {
    start_of(&value.to_string(), QUOTED_CHARS)
}

fn start_of(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
