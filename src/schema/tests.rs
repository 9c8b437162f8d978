//! Decoding, fitting and checking of arguments, table by table and at random.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tool::CallId;

struct Check {
    schemas: Schemas,
    schema: SchemaId,
    numeric_strings: bool,
}

fn against(schema: Value) -> Check {
    let schemas = Schemas::default();
    let schema = schemas.intern(&schema.to_string());
    Check { schemas, schema, numeric_strings: false }
}

impl Check {
    fn numeric_strings(mut self) -> Self {
        self.numeric_strings = true;
        self
    }

    fn check(&self, arguments: &Value) -> Result<Value, ArgumentsError> {
        let call = UncheckedCall {
            call: CallId(1),
            schema: Some(self.schema),
            numeric_strings: self.numeric_strings,
            keeps_arguments: false,
            arguments: arguments.to_string(),
            route: None,
        };
        self.schemas.check(call).arguments
    }

    #[track_caller]
    fn gives(self, arguments: Value, wanted: Value) -> Self {
        assert_eq!(self.check(&arguments), Ok(wanted));
        self
    }

    #[track_caller]
    fn takes(self, arguments: Value) -> Self {
        self.gives(arguments.clone(), arguments)
    }

    #[track_caller]
    fn refuses(self, arguments: Value, faults: &[&str]) -> Self {
        let Err(ArgumentsError::DoesNotFit(message)) = self.check(&arguments) else {
            panic!("{arguments} was not refused");
        };
        let found: Vec<&str> = message.lines().filter_map(|line| line.strip_prefix("- ")).collect();
        assert_eq!(found, faults, "{message}");
        self
    }
}

fn calculator() -> Value {
    json!({
        "type": "object",
        "properties": {
            "num1": {"type": "integer"},
            "num2": {"type": "number", "maximum": 1000},
            "operation": {"type": "string", "enum": ["add", "subtract"]},
        },
        "required": ["num1", "num2", "operation"],
        "additionalProperties": false,
    })
}

#[test]
fn equal_texts_have_one_id() {
    let schemas = Schemas::default();
    let first = schemas.intern("{}");
    assert_ne!(schemas.intern("true"), first);
    assert_eq!(schemas.intern("{}"), first);
}

#[test]
fn without_a_schema_any_object_fits() {
    let call = UncheckedCall {
        call: CallId(7),
        schema: None,
        numeric_strings: false,
        keeps_arguments: false,
        arguments: r#"{"a": [1, null]}"#.to_owned(),
        route: None,
    };
    let checked = Schemas::default().check(call);
    assert_eq!(checked, CheckedCall::new(CallId(7), Ok(json!({"a": [1, null]}))));
}

#[test]
fn a_schema_of_another_store_runs_nothing() {
    let call = UncheckedCall {
        call: CallId(7),
        schema: Some(SchemaId(9)),
        numeric_strings: false,
        keeps_arguments: false,
        arguments: String::new(),
        route: None,
    };
    assert!(Schemas::default().check(call).arguments.is_err());
}

#[test]
fn faults_name_pointer_rule_and_given_value() {
    against(calculator())
        .takes(json!({"num1": 100, "num2": 50.5, "operation": "add"}))
        .refuses(json!({"num2": 50, "operation": "add"}), &["/num1: required: the property is missing"])
        .refuses(
            json!({"num1": "x", "num2": 5000, "operation": "pow", "extra": [1]}),
            &[
                r#"/num1: type: the value is not of type "integer" (given: "x")"#,
                r#"/num2: maximum: the value is greater than the maximum of 1000 (given: 5000)"#,
                r#"/operation: enum: the value is not one of "add" or "subtract" (given: "pow")"#,
                r#"/extra: additionalProperties: there is no such property (given: [1])"#,
            ],
        );
}

#[test]
fn pointers_escape_what_names_may_contain() {
    against(json!({"properties": {"o": {"required": ["a/b~c"]}}}))
        .refuses(json!({"o": {}}), &["/o/a~1b~0c: required: the property is missing"]);
}

#[test]
fn at_most_ten_faults_are_shown() {
    let list: Vec<i32> = (0..25).collect();
    let Err(ArgumentsError::DoesNotFit(message)) =
        against(json!({"properties": {"list": {"items": {"type": "string"}}}})).check(&json!({ "list": list }))
    else {
        panic!("the list was not refused");
    };
    assert_eq!(message.lines().filter(|line| line.starts_with("- /list/")).count(), 10);
    assert!(message.contains("- … and 15 more"), "{message}");
}

#[test]
fn long_names_of_fields_are_told_in_part() {
    let name = "n".repeat(1_000_000);
    against(json!({"properties": {"a": {}}, "additionalProperties": false})).refuses(
        json!({ &name: 1 }),
        &[&format!("/{}…: additionalProperties: there is no such property (given: 1)", "n".repeat(299))],
    );
    let rule = against(json!({"additionalProperties": {"required": ["a"], "anyOf": [{"type": "string"}]}}));
    let Err(error) = rule.check(&json!({ &name: {} })) else { panic!("an object without its field was not refused") };
    assert!(error.to_string().len() < 5000, "{} bytes", error.to_string().len());
}

#[test]
fn ten_megabytes_of_faults_end_soon_with_a_short_answer() {
    let nulls: serde_json::Map<_, _> = (0..50_000).map(|number| (format!("field {number}"), Value::Null)).collect();
    let strings = || against(json!({"additionalProperties": {"type": "string"}}));
    strings().gives(Value::Object(nulls), json!({}));
    let many: Value = (0..50_000).map(|number| (format!("field {number}"), json!(number))).collect();
    let more: Value = (0..500_000).map(|number| (format!("field {number}"), json!(number))).collect();
    for (arguments, told) in [(many, "… and 49990 more"), (more, "… and perhaps more, in so many values")] {
        let Err(error) = strings().check(&arguments) else { panic!("numbers were not refused") };
        let text = error.to_string();
        assert!(text.contains(told) && text.len() < 5000, "{text}");
    }
}

#[test]
fn a_long_value_is_quoted_in_part() {
    let Err(ArgumentsError::DoesNotFit(message)) =
        against(json!({"properties": {"n": {"type": "integer"}}})).check(&json!({"n": "ä".repeat(10_000)}))
    else {
        panic!("the text was not refused");
    };
    assert!(message.len() < 600, "{message}");
}

#[test]
fn a_union_says_why_each_of_its_options_does_not_fit() {
    against(json!({"properties": {"n": {"anyOf": [{"type": "integer"}, {"required": ["a"], "type": "object"}]}}}))
        .takes(json!({"n": 1}))
        .refuses(
            json!({"n": {}}),
            &["/n: anyOf: the value is not valid under any of the schemas listed in the 'anyOf' keyword, \
               because it is not of type \"integer\"; and /n/a is missing (given: {})"],
        );
}

#[test]
fn null_in_an_optional_field_is_not_given() {
    against(json!({
        "type": "object",
        "properties": {
            "must": {"type": "string"},
            "may": {"type": "string"},
            "nullable": {"type": ["string", "null"]},
            "union": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "choice": {"enum": ["a", "b"]},
            "anything": {},
            "inner": {"$ref": "#/$defs/inner"},
            "list": {"type": "array", "items": {"$ref": "#/$defs/inner"}},
        },
        "required": ["must"],
        "$defs": {"inner": {"type": "object", "properties": {"x": {"type": "number"}}}},
    }))
    .gives(json!({"must": "m", "may": null}), json!({"must": "m"}))
    .gives(json!({"must": "m", "union": null, "choice": null}), json!({"must": "m"}))
    .gives(json!({"must": "m", "inner": {"x": null}}), json!({"must": "m", "inner": {}}))
    .gives(json!({"must": "m", "list": [{"x": null}, {"x": 1}]}), json!({"must": "m", "list": [{}, {"x": 1}]}))
    .takes(json!({"must": "m", "nullable": null, "anything": null}))
    .refuses(json!({"must": null}), &[r#"/must: type: the value is not of type "string" (given: null)"#])
    .refuses(
        json!({"must": "m", "list": [null]}),
        &[r#"/list/0: type: the value is not of type "object" (given: null)"#],
    );
}

#[test]
fn missing_field_that_may_be_null_counts_as_null() {
    against(json!({
        "properties": {
            "flag": {"type": ["string", "null"]},
            "choice": {"enum": ["a", null]},
            "union": {"anyOf": [{"type": "object"}, {"type": "null"}]},
            "must": {"type": "string"},
            "anything": {"description": "whatever it is"},
            "inner": {"properties": {"x": {"type": ["number", "null"]}}, "required": ["x"]},
        },
        "required": ["flag", "choice", "union", "must"],
        "additionalProperties": false,
    }))
    .gives(json!({"must": "m"}), json!({"must": "m", "choice": null, "flag": null, "union": null}))
    .gives(
        json!({"must": "m", "flag": "f", "union": {}, "inner": {}}),
        json!({"must": "m", "flag": "f", "union": {}, "inner": {"x": null}, "choice": null}),
    )
    .refuses(json!({"flag": "f"}), &["/must: required: the property is missing"]);
    against(json!({"properties": {"anything": {}}, "required": ["anything", "unknown"]})).refuses(
        json!({}),
        &["/anything: required: the property is missing", "/unknown: required: the property is missing"],
    );
    against(json!({"required": ["unknown"], "additionalProperties": false}))
        .refuses(json!({}), &["/unknown: required: the property is missing"]);
}

#[test]
fn null_in_a_field_that_no_option_of_a_union_wants_is_not_given() {
    against(json!({"oneOf": [
        {"properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind"]},
        {"properties": {"kind": {"const": "b"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
    ]}))
    .gives(json!({"kind": "a", "x": null}), json!({"kind": "a"}));
}

#[test]
fn null_in_an_unknown_field_is_a_fault() {
    against(json!({"properties": {}, "additionalProperties": false}))
        .refuses(json!({"x": null}), &["/x: additionalProperties: there is no such property (given: null)"]);
}

#[test]
fn a_number_in_a_string_passes_as_it_came_for_tools_that_allow_it() {
    let given = json!({"num1": "100", "num2": "5e1", "operation": "add"});
    against(calculator()).numeric_strings().takes(given.clone());
    against(calculator()).refuses(
        given,
        &[
            r#"/num1: type: the value is not of type "integer" (given: "100")"#,
            r#"/num2: type: the value is not of type "number" (given: "5e1")"#,
        ],
    );
}

#[test]
fn a_number_in_a_string_must_fit_the_schema() {
    against(calculator())
        .numeric_strings()
        .refuses(
            json!({"num1": "1.5", "num2": "5000", "operation": "1"}),
            &[
                r#"/num1: type: the value is not of type "integer" (given: "1.5")"#,
                r#"/num2: maximum: the value is greater than the maximum of 1000 (given: "5000")"#,
                r#"/operation: enum: the value is not one of "add" or "subtract" (given: "1")"#,
            ],
        )
        .refuses(
            json!({"num1": "0x10", "num2": "1 or so", "operation": "add"}),
            &[
                r#"/num1: type: the value is not of type "integer" (given: "0x10")"#,
                r#"/num2: type: the value is not of type "number" (given: "1 or so")"#,
            ],
        );
}

#[test]
fn numbers_in_strings_are_found_in_lists_and_unions() {
    against(json!({"properties": {
        "list": {"items": {"type": "integer"}},
        "maybe": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "choice": {"enum": [1, 2]},
    }}))
    .numeric_strings()
    .takes(json!({"list": ["1", 2, "-3"], "maybe": "1.5", "choice": "2"}));
}

#[test]
fn empty_lua_tables_in_a_schema_are_objects() {
    against(json!({"type": "object", "properties": [], "required": []})).takes(json!({"a": 1}));
}

#[test]
fn formats_are_not_checked() {
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        against(json!({"$schema": draft, "properties": {"d": {"type": "string", "format": "date"}}}))
            .takes(json!({"d": "soon"}));
    }
}

#[test]
fn an_unknown_draft_is_read_as_the_newest() {
    against(json!({"$schema": "x", "properties": {"a": {"prefixItems": [{"type": "string"}]}}}))
        .refuses(json!({"a": [1]}), &[r#"/a/0: type: the value is not of type "string" (given: 1)"#]);
}

#[track_caller]
fn is_unusable(schema: &str, reason: &str) {
    let schemas = Schemas::default();
    let schema = Some(schemas.intern(schema));
    let call = UncheckedCall {
        call: CallId(1),
        schema,
        numeric_strings: false,
        keeps_arguments: false,
        arguments: "{}".to_owned(),
        route: None,
    };
    let Err(ArgumentsError::DoesNotFit(message)) = schemas.check(call).arguments else {
        panic!("the schema was used");
    };
    assert!(message.contains("The tool's own schema cannot be used"), "{message}");
    assert!(message.contains(reason), "{message}");
}

#[test]
fn a_schema_that_does_not_compile_is_a_fault_that_names_the_place() {
    is_unusable(r#"{"properties": {"a": {"type": "strin"}}}"#, "at /properties/a/type: \"strin\"");
    is_unusable(r#"{"properties": {"a": {"pattern": "("}}}"#, "at /properties/a/pattern");
    is_unusable(r#"{"required": true}"#, "at /required");
    is_unusable("{", "it is not JSON");
    is_unusable("3", "at /");
}

#[test]
fn another_document_is_a_fault_and_never_fetched() {
    // A server that is listening would see a connection; the port of a closed one would be refused, which reads otherwise.
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a loopback port");
    server.set_nonblocking(true).expect("a socket option");
    let url = format!("http://{}/schema.json", server.local_addr().expect("an address"));
    is_unusable(&json!({"properties": {"a": {"$ref": url}}}).to_string(), &url);
    assert_eq!(server.accept().expect_err("nobody connected").kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_missing_local_definition_is_a_fault() {
    is_unusable(r##"{"properties": {"a": {"$ref": "#/$defs/gone"}}}"##, "/$defs/gone");
}

#[test]
fn a_recursive_schema_is_followed() {
    against(json!({"properties": {"next": {"$ref": "#"}, "n": {"type": "integer"}}, "additionalProperties": false}))
        .takes(json!({"next": {"next": {"n": 1}}}))
        .refuses(
            json!({"next": {"next": {"n": "x"}}}),
            &[r#"/next/next/n: type: the value is not of type "integer" (given: "x")"#],
        );
}

fn field() -> impl Strategy<Value = (bool, bool, Option<String>)> {
    (any::<bool>(), any::<bool>(), prop::option::of("[a-z]{0,4}"))
}

proptest! {
    #[test]
    fn null_is_removed_exactly_where_it_is_optional_and_not_taken(
        fields in prop::collection::btree_map("[a-z/~]{1,6}", field(), 0..8)
    ) {
        let schema = json!({
            "properties": fields.iter().map(|(name, (_, nullable, _))| {
                let types = if *nullable { json!(["string", "null"]) } else { json!("string") };
                (name.clone(), json!({ "type": types }))
            }).collect::<serde_json::Map<_, _>>(),
            "required": fields.iter().filter(|(_, (required, _, _))| *required).map(|(name, _)| name).collect::<Vec<_>>(),
            "additionalProperties": false,
        });
        let given: serde_json::Map<String, Value> =
            fields.iter().map(|(name, (_, _, text))| (name.clone(), json!(text))).collect();
        let refused = fields.values().any(|(required, nullable, text)| text.is_none() && *required && !nullable);
        let wanted: serde_json::Map<String, Value> = fields
            .iter()
            .filter(|(_, (_, nullable, text))| text.is_some() || *nullable)
            .map(|(name, (_, _, text))| (name.clone(), json!(text)))
            .collect();
        let found = against(schema).check(&Value::Object(given));
        if refused {
            prop_assert!(found.is_err());
        } else {
            prop_assert_eq!(found, Ok(Value::Object(wanted)));
        }
    }

    #[test]
    fn every_number_passes_as_a_string(number in any::<f64>(), integer in any::<i64>()) {
        prop_assume!(number.is_finite());
        let check = against(json!({"properties": {"n": {"type": "number"}, "i": {"type": "integer"}}})).numeric_strings();
        let given = json!({"n": json!(number).to_string(), "i": integer.to_string()});
        prop_assert_eq!(check.check(&given), Ok(given));
    }

    #[test]
    fn text_that_is_no_number_never_passes_as_one(text in "\\PC*") {
        prop_assume!(text.parse::<f64>().is_err());
        let check = against(json!({"properties": {"n": {"type": "number"}}})).numeric_strings();
        let given = json!({ "n": text });
        prop_assert!(check.check(&given).is_err());
    }
}
