//! Requests compared whole, answers cut everywhere; signatures go back with the parts that they came with.

use super::*;
use crate::adapter::testing::*;
use crate::adapter::{EndReason, Item, Origin, Wire};
use crate::message::Message;

const WIRE: Wire = Wire::Gemini;

fn fixture_calls() -> Vec<Item> {
    items(WIRE, include_bytes!("../../../tests/fixtures/gemini_calls.sse"))
}

#[test]
fn a_stream_of_text_is_the_same_for_every_split_and_line_end() {
    let fixture = include_str!("../../../tests/fixtures/gemini_text.sse");
    let wanted = [text("Grüße"), text(", 世界 🦀"), usage(19, 5), end(EndReason::Stop)];
    assert_eq!(items(WIRE, fixture.as_bytes()), wanted);
    assert_eq!(items(WIRE, fixture.replace('\n', "\r\n").as_bytes()), wanted);
    assert_eq!(items(WIRE, fixture.trim_end().as_bytes()), wanted);
    // Without `alt=sse` the chunks come as one list.
    let chunks: Vec<&str> = fixture.split("data: ").map(str::trim).filter(|chunk| !chunk.is_empty()).collect();
    assert_eq!(items(WIRE, format!("[{}]", chunks.join(",\n")).as_bytes()), wanted);
}

#[test]
fn r052_parallel_calls_thoughts_and_a_call_without_arguments() {
    let parts = json!({"parts": [
        {"text": "Let me see."},
        {"call": 0, "thoughtSignature": "CiQB+/=="},
        {"call": 1},
    ]});
    let found = fixture_calls();
    assert_eq!(
        found[..7],
        [
            reasoning("Two tools."),
            text("Let me "),
            text("see."),
            started(0, "", "calculator"),
            arguments(0, r#"{"num1":100,"b":"ä"}"#),
            started(1, "", "list_buffers"),
            arguments(1, "{}"),
        ]
    );
    let Item::Opaque(kept) = &found[7] else { panic!("{:?}", found[7]) };
    assert_eq!(kept.data["parts"][1]["thoughtSignature"], parts["parts"][1]["thoughtSignature"]);
    assert_eq!(kept.data, parts);
    assert_eq!(found[8..], [usage(50, 20), end(EndReason::ToolCalls)]);
}

#[test]
fn an_error_in_the_middle_ends_the_answer_with_its_text() {
    let found = items(WIRE, include_bytes!("../../../tests/fixtures/gemini_error.sse"));
    assert_eq!(found, [text("Half an ans"), failed("The model is overloaded.")]);
    let half = stream(&[json!({"candidates": [{"content": {"parts": [{"text": "a"}]}}]})]);
    assert_eq!(items(WIRE, &half), [text("a"), failed("The answer ends before the server says that it is complete.")]);
}

#[test]
fn refusals_and_limits_are_told_apart() {
    let t = |reason: &str| {
        let events =
            [json!({"candidates": [{"content": {"parts": []}, "finishReason": reason, "finishMessage": "bad call"}]})];
        items(WIRE, &stream(&events)).last().cloned()
    };
    assert_eq!(t("MAX_TOKENS"), Some(end(EndReason::Length)));
    assert_eq!(t("SAFETY"), Some(end(EndReason::ContentFilter("SAFETY: bad call".into()))));
    assert_eq!(
        t("MALFORMED_FUNCTION_CALL"),
        Some(failed("The provider ended the answer: MALFORMED_FUNCTION_CALL: bad call"))
    );
    assert_eq!(t("NEW"), Some(end(EndReason::Other("NEW: bad call".into()))));
    let blocked = stream(&[json!({"promptFeedback": {"blockReason": "SAFETY"}})]);
    assert_eq!(items(WIRE, &blocked), [failed("The provider refuses the prompt: SAFETY")]);
}

#[test]
fn a_whole_content_is_read_like_a_stream_and_its_ids_come_back() {
    let found = items(WIRE, include_bytes!("../../../tests/fixtures/gemini_whole.json"));
    assert_eq!(
        found[..4],
        [reasoning("Hm."), text("So: "), started(0, "f-7", "calculator"), arguments(0, "{\"num1\":1}")]
    );
    let sent = body(WIRE, &[user("?"), saved(&message(&found)), result("f-7", "1", false)], &[], json!({}));
    let wanted = json!([
        {"role": "user", "parts": [{"text": "?"}]},
        {"role": "model", "parts": [
            {"text": "So: "},
            {"functionCall": {"id": "f-7", "name": "calculator", "args": {"num1": 1}}, "thoughtSignature": "S5=="},
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": "f-7", "name": "calculator", "response": {"output": "1"}}},
        ]},
    ]);
    assert_eq!(sent["contents"], wanted);
}

#[test]
fn code_that_the_provider_ran_is_shown_and_kept() {
    let parts = json!([
        {"executableCode": {"language": "PYTHON", "code": "print(\n5)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "5\n"}},
        {"text": "Five.", "thoughtSignature": "S"},
    ]);
    let events = [json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]})];
    let found = items(WIRE, &stream(&events));
    let wanted = [
        ran("code_execution", "print( 5)", "5\n", false),
        text("Five."),
        opaque(json!({"parts": parts})),
        end(EndReason::Stop),
    ];
    assert_eq!(found, wanted);
    let sent = body(WIRE, &[user("?"), saved(&message(&found)), user("!")], &[], json!({}));
    assert_eq!(sent["contents"][1]["parts"], parts);
}

#[test]
fn three_turns_with_tools_are_sent_whole() {
    let tools = [
        tool(
            "calculator",
            json!({"properties": {"num1": {"type": ["number", "null"]}}, "required": ["num1"]}),
            Some(true),
        ),
        tool("7up", json!([]), None),
    ];
    let answer = saved(&message(&fixture_calls()));
    let history = [
        system("Be brief."),
        user("100*50?"),
        answer,
        result("made_0", "5000", false),
        result("made_1", "no", true),
        user("And now?"),
        llm("It is 5000.", &[]),
        llm("", &[("x", "7up", "{}")]),
        result("x", "up", false),
    ];
    let seven = Names::like_words(["7up"]).wire("7up").into_owned();
    assert!(seven.starts_with('_'), "{seven}");
    let wanted = json!({
        "generationConfig": {"temperature": 0.5},
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "100*50?"}]},
            {"role": "model", "parts": [
                {"text": "Let me see."},
                {"functionCall": {"name": "calculator", "args": {"num1": 100, "b": "ä"}}, "thoughtSignature": "CiQB+/=="},
                {"functionCall": {"name": "list_buffers", "args": {}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "calculator", "response": {"output": "5000"}}},
                {"functionResponse": {"name": "list_buffers", "response": {"error": "no"}}},
            ]},
            {"role": "user", "parts": [{"text": "And now?"}]},
            {"role": "model", "parts": [
                {"text": "It is 5000."},
                {"functionCall": {"name": seven, "args": {}}, "thoughtSignature": NO_SIGNATURE},
            ]},
            {"role": "user", "parts": [{"functionResponse": {"name": seven, "response": {"output": "up"}}}]},
        ],
        "tools": [{"functionDeclarations": [
            {"name": "calculator", "description": "calculator!", "parametersJsonSchema": {
                "type": "object", "required": ["num1"], "properties": {"num1": {"type": ["number", "null"]}}}},
            {"name": seven, "description": "7up!"},
        ]}],
    });
    let settings = json!({"model": "m-1", "stream": true, "generationConfig": {"temperature": 0.5}});
    assert_eq!(body(WIRE, &history, &tools, settings), wanted);
}

#[test]
fn a_call_from_elsewhere_has_the_stand_in_for_a_signature_where_one_is_wanted() {
    let answer = message(&fixture_calls());
    let signature = |model: &str, answer: &Message| {
        let origin = Origin { adapter: "own".into(), model: model.into() };
        let history = [user("?"), answer.clone(), result("made_0", "1", false), result("made_1", "2", false)];
        let built = built(WIRE, &history, json!({}), BuildInput { origin: &origin, ..nothing() });
        built.body["contents"][1]["parts"][1]["thoughtSignature"].clone()
    };
    assert_eq!(signature("gemini-3-pro", &foreign(&answer)), NO_SIGNATURE);
    assert_eq!(signature("gemini-3-pro", &older(&answer)), NO_SIGNATURE);
    assert_eq!(signature("gemini-2.5-pro", &foreign(&answer)), Value::Null);
    assert_eq!(signature("m-1", &answer), "CiQB+/==");
}

#[test]
fn r051_nothing_of_an_author_s_schema_is_lost() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "minProperties": 1,
        "properties": {
            "a": {"type": ["string", "null"], "pattern": "^x", "default": null},
            "m": {"const": "k"},
            "n": {"enum": [1, 2, null]},
            "deep": {"$ref": "#/$defs/d"},
            "list": {"type": "array", "prefixItems": [{"type": "integer"}], "items": false, "uniqueItems": true},
            "either": {"oneOf": [{"type": "integer", "multipleOf": 2}, {"not": {"type": "string"}}]},
        },
        "patternProperties": {"^x-": {"format": "uri"}},
        "allOf": [{"if": {"required": ["a"]}, "then": {"required": ["m"]}}],
        "anyOf": [{"required": ["a"]}, {"required": ["n"]}],
        "$defs": {"d": {"type": "object", "properties": {"again": {"$ref": "#/$defs/d"}}}},
    });
    let sent = body(WIRE, &[user("?")], &[tool("f", schema.clone(), None)], json!({}));
    assert_eq!(sent["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"], schema);
    let untyped = json!({"$ref": "#/$defs/d", "$defs": {"d": {"properties": {"a": []}}}});
    let sent = body(WIRE, &[user("?")], &[tool("f", untyped, None)], json!({}));
    let sent = &sent["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"];
    assert_eq!((&sent["type"], &sent["properties"]), (&json!("object"), &json!({"a": {}})));
}

#[test]
fn r052_a_thought_goes_back_for_its_signature_and_a_text_of_nothing_only_with_one() {
    let parts = [
        json!({"text": "Hm.", "thought": true}),
        json!({"text": "So.", "thought": true, "thoughtSignature": "S1"}),
        json!({"text": ""}),
        json!({"text": "It is."}),
        json!({"text": "", "thoughtSignature": "S2"}),
    ];
    let events = parts.map(|part| json!({"candidates": [{"content": {"parts": [part]}}]}));
    let end = json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}]});
    let found = items(WIRE, &stream(&[&events[..], &[end]].concat()));
    assert_eq!(found[..3], [reasoning("Hm."), reasoning("So."), text("It is.")]);
    let sent =
        |message: Message| body(WIRE, &[user("?"), message, user("!")], &[], json!({}))["contents"][1]["parts"].clone();
    let said = saved(&message(&found));
    assert_eq!(
        sent(said.clone()),
        json!([
        {"text": "So.", "thought": true, "thoughtSignature": "S1"}, {"text": "It is."}, {"text": "", "thoughtSignature": "S2"}])
    );
    assert_eq!(sent(older(&said)), json!([{"text": "It is."}]));
}

#[test]
fn every_reason_of_the_api_has_its_meaning() {
    let t = |reason: &str| {
        let events = [json!({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": reason}]})];
        items(WIRE, &stream(&events)).last().cloned()
    };
    for filtered in ["IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "ESCALATION", "LANGUAGE", "SPII"] {
        assert_eq!(t(filtered), Some(end(EndReason::ContentFilter(filtered.into()))));
    }
    for broken in ["MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "MISSING_THOUGHT_SIGNATURE"] {
        assert_eq!(t(broken), Some(failed(&format!("The provider ended the answer: {broken}"))));
    }
    assert_eq!(t("OTHER"), Some(end(EndReason::Other("OTHER".into()))));
}

#[test]
fn an_answer_of_a_form_is_asked_for_in_the_provider_s_words() {
    let schema = json!({"type": "object", "properties": {"safe": {"type": "boolean"}}, "additionalProperties": false});
    let built = built(WIRE, &[user("?")], json!({}), BuildInput { answer: Some(&schema), ..nothing() });
    let wanted = json!({"responseMimeType": "application/json",
        "responseJsonSchema": schema});
    assert_eq!(built.body["generationConfig"], wanted);
}
