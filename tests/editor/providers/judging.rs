//! The judge at each provider: with a form of its answer, without one where that is refused, and in plain words.

use std::sync::Arc;

use serde_json::json;

use super::{Provider, editor, ollama_answer, openai_answer, provider, say};
use crate::support::Editor;
use crate::support::server::{Received, Server, text};

/// A chat in auto mode whose guarded tool is called; the provider judges.
fn judged_by(editor: &Editor, provider: &Provider, server: &Server) {
    editor.run_with("judging", vec![provider.configuration(server).into()]);
}

#[test]
fn the_judge_asks_each_provider_for_its_form_and_without_where_that_is_refused() {
    for (name, form) in [
        ("anthropic", "/output_config/format"),
        ("gemini", "/generationConfig/responseJsonSchema"),
        ("ollama", "/format"),
        ("openai", "/response_format"),
        ("openai_responses", "/text/format"),
    ] {
        let mut provider = provider(name);
        let check = Arc::clone(&provider.check);
        provider.check = Arc::new(move |received| {
            check(received)?;
            if received.body.pointer(form).is_some() { Err("unknown field".to_owned()) } else { Ok(()) }
        });
        let server = provider.serve(vec![say(r#"{"safe": true, "reason": "only prints"}"#)]);
        let editor = editor();
        judged_by(&editor, &provider, &server);
        editor.wait_buffer("done");
        assert_eq!(editor.results(), ["ran"], "{name}");
        let received = server.received();
        assert_eq!(received.len(), 2, "{name}");
        assert!(received[0].body.pointer(form).is_some_and(|schema| schema.to_string().contains("safe")), "{name}");
        assert!(received[1].body.get("tools").is_none(), "{name}");
    }
}

/// A server without a form of answers, whose model cannot keep to JSON and says this in plain words.
fn without_forms(plain: &'static str, is_ollama: bool) -> Server {
    Server::answering(move |received: &Received, _| {
        let has_form = ["format", "response_format"].iter().any(|field| received.body.get(*field).is_some());
        if has_form {
            return text(400, "content-type: application/json\r\n", &json!({"error": "unknown field"}).to_string());
        }
        let asked = received.body["messages"].as_array().and_then(|all| all.last()?["content"].as_str());
        let in_json = asked.is_some_and(|asked| asked.contains("JSON object"));
        let answer = say(if in_json { "I think that this call is safe, since it only prints." } else { plain });
        if is_ollama { ollama_answer(&answer) } else { openai_answer(&answer) }
    })
}

#[test]
fn a_provider_without_forms_of_answers_judges_in_plain_words() {
    for name in ["ollama", "llama_cpp", "openai_compatible", "lm_studio", "vllm"] {
        let (provider, is_ollama) = (provider(name), name == "ollama");
        for plain in ["SAFE: it only prints", "<think>hm</think>\nSAFE\nIt only prints."] {
            let server = without_forms(plain, is_ollama);
            let editor = editor();
            judged_by(&editor, &provider, &server);
            editor.wait_buffer("done");
            assert_eq!(editor.results(), ["ran"], "{name}");
            assert_eq!(server.received().len(), 3, "{name}: with a form, in JSON, in words");
        }
    }
    let asks = |plain: &'static str, why: &str| {
        let server = without_forms(plain, false);
        let editor = editor();
        judged_by(&editor, &provider("openai_compatible"), &server);
        editor.wait_buffer(why);
        assert_eq!(editor.results(), Vec::<String>::new(), "{plain}");
    };
    asks("UNSAFE: it deletes files", "it deletes files");
    asks("SAFE or UNSAFE", "its answer is not one JSON object");
    asks("Sure! SAFE: it only prints", "its answer is not one JSON object");
}
