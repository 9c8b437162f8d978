//! Pictures on their way to each provider.

use serde_json::{Value, json};

use super::{call, editor, open_chat, provider, say};

/// Every wire but that of chat completions, which `native/media.rs` has.
#[test]
fn a19_a_picture_of_a_tool_reaches_the_body_of_each_provider_and_no_model_that_takes_none() {
    const DATA: &str = "iVBORw0KGgoAAAE=";
    let url = format!("data:image/png;base64,{DATA}");
    for (name, place, picture) in [
        (
            "anthropic",
            "/messages/2/content/0/content/1",
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}),
        ),
        ("gemini", "/contents/3/parts/0", json!({"inlineData": {"mimeType": "image/png", "data": DATA}})),
        ("openai_responses", "/input/5/output/1", json!({"type": "input_image", "detail": "auto", "image_url": url})),
        ("ollama", "/messages/3/images/0", json!(DATA)),
    ] {
        let provider = provider(name);
        let answers = vec![call("A look.", &[("call_1", "shot", json!({}))]), say("A cat."), say("Still a cat.")];
        let server = provider.serve(answers);
        let editor = editor();
        editor.run("picture_of_tool");
        open_chat(&editor, &[(&provider, &server)]);
        editor.lua("chat.adapter.opts.vision = true chat.tool_registry:add('shot') send('Show me')");
        editor.wait_buffer("A cat.");
        editor.wait_lua("not chat.is_running");
        editor.lua("chat.adapter.opts.vision = false send('And now?')");
        editor.wait_buffer("Still a cat.");
        let bodies: Vec<Value> = server.received().into_iter().map(|received| received.body).collect();
        assert_eq!(bodies[1].pointer(place), Some(&picture), "{name}: {}", bodies[1]);
        assert!(!bodies[2].to_string().contains(DATA), "{name}: {}", bodies[2]);
        assert!(bodies[2].to_string().contains("look\\n\\n[image: image/png, 11 bytes"), "{name}: {}", bodies[2]);
        editor.assert_no_fault();
    }
}

#[test]
fn a_picture_of_the_user_reaches_the_body_of_each_provider_and_is_a_note_for_a_model_that_takes_none() {
    const DATA: &str = "iVBORw0KGgoAAAE=";
    let url = format!("data:image/png;base64,{DATA}");
    for (name, place, picture) in [
        ("openai", "/messages/1/content/1", json!({"type": "image_url", "image_url": {"url": url}})),
        (
            "anthropic",
            "/messages/0/content/1",
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}),
        ),
        ("gemini", "/contents/0/parts/1", json!({"inlineData": {"mimeType": "image/png", "data": DATA}})),
        ("openai_responses", "/input/1/content/1", json!({"type": "input_image", "detail": "auto", "image_url": url})),
        ("ollama", "/messages/1/images/0", json!(DATA)),
    ] {
        let provider = provider(name);
        let server = provider.serve(vec![say("A cat."), say("Still a cat.")]);
        let editor = editor();
        open_chat(&editor, &[(&provider, &server)]);
        editor.run("picture_of_user");
        editor.wait_buffer("A cat.");
        editor.wait_lua("not chat.is_running");
        editor.lua("chat.adapter.opts.vision = false send('And now?')");
        editor.wait_buffer("Still a cat.");
        let bodies: Vec<Value> = server.received().into_iter().map(|received| received.body).collect();
        assert_eq!(bodies[0].pointer(place), Some(&picture), "{name}: {}", bodies[0]);
        assert!(bodies[0].to_string().contains("a picture is missing: /no/such.png"), "{name}: {}", bodies[0]);
        let blind = bodies[1].to_string();
        assert!(!blind.contains(DATA), "{name}: {blind}");
        assert!(blind.contains("[image/png, not shown: this model takes no pictures]"), "{name}: {blind}");
    }
}
