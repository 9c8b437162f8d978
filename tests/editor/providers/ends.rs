//! Ends of answers: streams that break off, and every provider's words for why a model stopped.

use serde_json::{Value, json};

use super::{Provider, anthropic_answer, editor, open_chat, openai_answer, provider, responses_answer, say, sse};
use crate::support::Editor;
use crate::support::server::{Reply, Server, stream, text};

fn bodies(server: &Server) -> Vec<Value> {
    server.received().into_iter().filter(|received| received.method == "POST").map(|received| received.body).collect()
}

/// A chat with a server that gives these answers, after its first message.
fn chat(provider: &Provider, replies: Vec<Reply>) -> (Editor, Server) {
    let server = Server::start(replies);
    let editor = editor();
    open_chat(&editor, &[(provider, &server)]);
    editor.lua("send('Use the tools')");
    editor.wait_lua("not chat.is_running and #chat.messages > 1");
    (editor, server)
}

#[test]
fn a_stream_without_a_reason_and_a_mark_runs_no_call_keeps_its_text_and_can_be_sent_again() {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let function = json!({"name": "calculator", "arguments": "{\"num1\": 4}"});
    let broken = || {
        sse(&[
            delta(json!({"content": "Half an answer"})),
            delta(json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})),
        ])
    };
    for name in ["openai", "deepseek", "mistral", "groq", "openai_compatible", "openrouter"] {
        let (editor, server) = chat(&provider(name), vec![broken(), openai_answer(&say("A whole one."))]);
        let buffer = editor.buffer();
        assert!(buffer.contains("The answer ends before the server says that it is complete"), "{name}: {buffer}");
        assert!(buffer.contains("Half an answer"), "{name}: {buffer}");
        assert_eq!(editor.results(), Vec::<String>::new(), "{name}: nothing ran");
        editor.lua("chat:retry()");
        editor.wait_buffer("A whole one.");
        editor.wait_lua("not chat.is_running");
        assert!(!bodies(&server)[1].to_string().contains("call_1"), "{name}: the call is not in the history");
        editor.assert_no_fault();
    }
}

#[test]
fn each_word_for_the_end_is_told_with_what_the_provider_says_of_it() {
    let openai = |reason: &str| {
        stream(&[json!({"choices": [{"index": 0, "delta": {"content": "Half"}, "finish_reason": reason}]})])
    };
    let gemini = |reason: &str| {
        let candidate =
            json!({"content": {"parts": [{"text": "Half"}]}, "finishReason": reason, "finishMessage": "It says so."});
        sse(&[json!({"candidates": [candidate]})])
    };
    let incomplete = |reason: &str| {
        let response =
            json!({"status": "incomplete", "error": null, "incomplete_details": {"reason": reason}, "output": []});
        stream(&[
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Half"}),
            json!({"type": "response.incomplete", "response": response}),
        ])
    };
    let (length, filter) = ("the limit on tokens was reached", "the provider's content filter stopped it");
    for (name, reply, told) in [
        ("openai", openai("length"), length.to_owned()),
        ("openai", openai("content_filter"), format!("{filter}.")),
        ("openai", openai("weird_new_word"), "(weird_new_word)".to_owned()),
        ("mistral", openai("error"), "The provider ended the answer: error".to_owned()),
        ("mistral", openai("model_length"), length.to_owned()),
        ("gemini", gemini("MAX_TOKENS"), length.to_owned()),
        ("gemini", gemini("MODEL_ARMOR"), format!("{filter} (MODEL_ARMOR: It says so.)")),
        ("gemini", gemini("IMAGE_PROHIBITED_CONTENT"), format!("{filter} (IMAGE_PROHIBITED_CONTENT: It says so.)")),
        ("gemini", gemini("ESCALATION"), format!("{filter} (ESCALATION: It says so.)")),
        ("gemini", gemini("BRAND_NEW"), "(BRAND_NEW: It says so.)".to_owned()),
        ("openai_responses", incomplete("max_output_tokens"), length.to_owned()),
        ("openai_responses", incomplete("content_filter"), format!("{filter}.")),
        ("openai_responses", incomplete("brand_new"), "(brand_new)".to_owned()),
    ] {
        let (editor, _) = chat(&provider(name), vec![reply]);
        let buffer = editor.buffer();
        assert!(buffer.contains(&told) && buffer.contains("Half"), "{name}: {told}: {buffer}");
        editor.assert_no_fault();
    }
}

#[test]
fn a_refusal_shows_why_and_the_refused_turn_can_be_taken_out() {
    let details = json!({"type": "refusal", "category": "cyber", "explanation": "This could harm."});
    let refused = || {
        sse(&[
            json!({"type": "message_start", "message": {}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}),
            json!({"type": "message_stop"}),
        ])
    };
    let provider = provider("anthropic");
    let (editor, server) =
        chat(&provider, vec![anthropic_answer(&say("Sure.")), refused(), anthropic_answer(&say("Fine."))]);
    editor.lua("send('Something bad')");
    editor.wait_buffer("cyber: This could harm.");
    editor.wait_lua("not chat.is_running");
    assert!(editor.buffer().contains("would refuse the next message, too"), "{}", editor.buffer());
    editor.wait_screen("ge take it out");
    editor.lua("chat:edit_last()");
    editor.wait_lua("#chat.messages == 2");
    editor.lua("send('Something good')");
    editor.wait_buffer("Fine.");
    let sent = bodies(&server)[2]["messages"].to_string();
    assert!(sent.contains("Sure.") && sent.contains("Something good"), "{sent}");
    assert_eq!(bodies(&server)[2]["messages"].as_array().map(Vec::len), Some(3), "{sent}");
}

#[test]
fn a_pause_that_is_only_text_goes_on_with_the_container() {
    let paused = sse(&[
        json!({"type": "message_start", "message": {}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Let me"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "pause_turn",
            "container": {"id": "container_7", "expires_at": "2999-01-01T00:00:00Z"}}}),
        json!({"type": "message_stop"}),
    ]);
    let provider = provider("anthropic");
    let server = Server::start(vec![paused, anthropic_answer(&say(" look. Done."))]);
    let editor = editor();
    open_chat(&editor, &[(&provider, &server)]);
    editor.lua("chat.tool_registry:add('code_execution') send('Look')");
    editor.wait_buffer(" look. Done.");
    editor.wait_lua("not chat.is_running");
    let second = &bodies(&server)[1];
    assert_eq!(second["container"], "container_7");
    assert_eq!(second["messages"][1], json!({"role": "assistant", "content": [{"type": "text", "text": "Let me"}]}));
    assert_eq!(bodies(&server)[0].get("container"), None);
}

#[test]
fn an_answer_that_is_printed_over_several_lines_is_read() {
    let whole = json!({"model": "m-1", "message": {"role": "assistant", "content": "In one piece."}, "done": true, "done_reason": "stop"});
    let printed = serde_json::to_string_pretty(&whole).unwrap();
    let replies = vec![text(200, "content-type: application/json\r\n", &printed)];
    let (editor, _) = chat(&provider("ollama"), replies);
    assert!(editor.buffer().contains("In one piece."), "{}", editor.buffer());
}

#[test]
fn a_character_cut_over_two_chunks_is_whole_in_the_buffer() {
    let chunk = |text: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let body = chunk("a \\ud83e") + &chunk("\\udd80 b") + "data: [DONE]\n\n";
    let (editor, _) = chat(&provider("openai"), vec![text(200, "content-type: text/event-stream\r\n", &body)]);
    assert!(editor.buffer().contains("a 🦀 b"), "{}", editor.buffer());
}

#[test]
fn a_whole_response_of_an_unfinished_model_is_told_too() {
    let response = json!({"object": "response", "status": "incomplete", "error": null,
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "Half"}]}]});
    let replies =
        vec![text(200, "content-type: application/json\r\n", &response.to_string()), responses_answer(&say("Whole."))];
    let (editor, _) = chat(&provider("openai_responses"), replies);
    assert!(editor.buffer().contains("the limit on tokens was reached"), "{}", editor.buffer());
    editor.lua("send('Go on')");
    editor.wait_buffer("Whole.");
}
