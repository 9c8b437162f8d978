//! Step 3 of a call: whether decoded arguments fit a compiled schema, and if not, why, in words for the model.

use std::collections::BTreeSet;

use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind};
use jsonschema::{JsonType, Validator};
use serde_json::{Number, Value};

use crate::tool::ArgumentsError;

/// How many faults the model is shown.
const MAX_FAULTS: usize = 10;

/// How much of a value a fault quotes, in characters.
const QUOTED_CHARS: usize = 100;

/// Mending may reveal more to mend (a branch of `anyOf` that fits only then); each round validates everything again.
const MAX_ROUNDS: usize = 8;

/// Checks arguments and returns them as the tool gets them: null removed from optional fields that do not take null,
/// numbers in strings accepted where `numeric_strings`, but passed on as they came.
///
/// # Errors
/// [`ArgumentsError::DoesNotFit`] with up to 10 faults.
pub fn fit(validator: &Validator, arguments: Value, numeric_strings: bool) -> Result<Value, ArgumentsError> {
    if validator.is_valid(&arguments) {
        return Ok(arguments);
    }
    let mut given = arguments;
    remove_nulls(validator, &mut given);
    if validator.is_valid(&given) {
        return Ok(given);
    }
    if !numeric_strings {
        return Err(does_not_fit(validator, &given, &given));
    }
    let read = read_numbers(validator, &given);
    if validator.is_valid(&read) { Ok(given) } else { Err(does_not_fit(validator, &read, &given)) }
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
        nulls.retain(|pointer| remove_field(arguments, pointer));
        if nulls.is_empty() {
            return;
        }
        let mut required: BTreeSet<String> = BTreeSet::new();
        each_error(validator, arguments, &mut |error| {
            if let ValidationErrorKind::Required { property: Value::String(property) } = error.kind() {
                required.insert(join(error.instance_path().as_str(), property));
            }
        });
        for pointer in nulls.intersection(&required) {
            restore_null(arguments, pointer);
            kept.insert(pointer.clone());
        }
    }
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

/// Removes a null that is a field of an object, and says whether it was one.
fn remove_field(arguments: &mut Value, pointer: &str) -> bool {
    let Some((parent, field)) = pointer.rsplit_once('/') else { return false };
    match arguments.pointer_mut(parent) {
        Some(Value::Object(fields)) => fields.shift_remove(&unescape(field)).is_some(),
        _ => false,
    }
}

fn restore_null(arguments: &mut Value, pointer: &str) {
    if let Some((parent, field)) = pointer.rsplit_once('/')
        && let Some(Value::Object(fields)) = arguments.pointer_mut(parent)
    {
        fields.insert(unescape(field), Value::Null);
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
    for error in validator.iter_errors(checked) {
        for fault in faults_of(&error, given) {
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
    }
    let hidden = faults.len().saturating_sub(MAX_FAULTS);
    faults.truncate(MAX_FAULTS);
    if hidden > 0 {
        faults.push(format!("… and {hidden} more"));
    }
    ArgumentsError::DoesNotFit(format!(
        "The arguments do not fit the tool's schema:\n- {}\nNothing was run. Call the tool again with arguments that fit.",
        faults.join("\n- ")
    ))
}

fn faults_of(error: &ValidationError<'_>, given: &Value) -> Vec<String> {
    let pointer = error.instance_path().as_str();
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let field = property.as_str().unwrap_or_default();
            vec![format!("{}: required: the property is missing", join(pointer, field))]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|field| {
                let pointer = join(pointer, field);
                let value = given.pointer(&pointer).map(quote).unwrap_or_default();
                format!("{pointer}: {}: there is no such property (given: {value})", error.kind().keyword())
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

fn shown(pointer: &str) -> &str {
    if pointer.is_empty() { "(all arguments)" } else { pointer }
}

fn quote(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
