//! Which wire a model is reached by, what a request is marked with, and where a sign-in is found.

use std::fs;

use serde_json::{Value, json};

use super::{SECRET, anthropic_answer, call, editor, open_chat, openai_answer, provider, responses_answer, say};
use crate::support::Editor;
use crate::support::server::{Received, Reply, Server, text};

fn refusal(message: &str) -> Reply {
    text(400, "content-type: application/json\r\n", &json!({"error": {"message": message}}).to_string())
}

/// OpenAI: function tools go with newer models by responses only, and nobody who is not verified gets a summary.
fn openai(received: &Received) -> Reply {
    let body = &received.body;
    let model = body["model"].as_str().unwrap_or_default();
    let is_new = model.starts_with("gpt-5") || model.starts_with('o');
    match received.path.as_str() {
        "/v1/chat/completions" if is_new && body.get("tools").is_some() => refusal(
            "Function tools are not supported with this model in /v1/chat/completions. Use /v1/responses instead.",
        ),
        "/v1/chat/completions" => match ["store", "include", "reasoning", "max_output_tokens"]
            .iter()
            .find(|field| body.get(**field).is_some())
        {
            Some(field) => refusal(&format!("Unknown parameter: {field}")),
            None => openai_answer(&say("By completions.")),
        },
        "/v1/responses" if body["reasoning"].get("summary").is_some() => {
            refusal("Your organization must be verified to generate reasoning summaries.")
        }
        "/v1/responses"
            if ["messages", "reasoning_effort", "max_completion_tokens"]
                .iter()
                .any(|field| body.get(*field).is_some()) =>
        {
            refusal("Unknown parameter")
        }
        "/v1/responses" => responses_answer(&say("By responses.")),
        _ => refusal("no such path"),
    }
}

#[test]
fn a_key_of_openai_alone_reaches_a_current_model_by_responses() {
    let server = Server::answering(|received, _| openai(received));
    let editor = editor();
    editor.run_with("one_key", vec![server.url.as_str().into()]);
    editor.wait_buffer("By responses.");
    let body = &server.received()[0].body;
    let old = ["gpt-5", "gpt-5-mini", "o3"];
    assert!(!old.contains(&body["model"].as_str().unwrap()), "{}", body["model"]);
    assert_eq!((&body["store"], &body["include"]), (&json!(false), &json!(["reasoning.encrypted_content"])));
    assert!(body["tools"][0]["name"] == "calculator");
}

#[test]
fn settings_of_openai_have_their_place_on_either_wire() {
    for (model, said, effort, limit) in [
        ("gpt-5.5", "By responses.", "/reasoning/effort", "/max_output_tokens"),
        ("o4-mini", "By responses.", "/reasoning/effort", "/max_output_tokens"),
        ("gpt-4.1", "By completions.", "/reasoning_effort", "/max_completion_tokens"),
        ("my-own-model", "By completions.", "/reasoning_effort", "/max_completion_tokens"),
    ] {
        let server = Server::answering(|received, _| openai(received));
        let editor = editor();
        open_chat(&editor, &[(&provider("openai"), &server)]);
        editor.lua(&format!(
            "chat.adapter.model = {model:?} chat.adapter.schema.reasoning_effort.default = 'low' \
             chat.adapter.schema.max_completion_tokens.default = 99 send('hello')"
        ));
        editor.wait_buffer(said);
        let body = &server.received()[0].body;
        assert_eq!(
            (body.pointer(effort), body.pointer(limit)),
            (Some(&json!("low")), Some(&json!(99))),
            "{model}: {body}"
        );
    }
}

#[test]
fn an_adapter_may_name_its_wire_and_address_by_the_model_and_what_fails_in_that_is_told() {
    let server = Server::answering(|received, _| match received.path.as_str() {
        "/messages" => anthropic_answer(&say("By messages.")),
        "/chat" => openai_answer(&say("By chat.")),
        _ => refusal("no such path"),
    });
    let editor = editor();
    open_chat(&editor, &[(&provider("openai_compatible"), &server)]);
    editor.run_with("by_model", vec![server.url.as_str().into()]);
    editor.wait_buffer("By messages.");
    editor.wait_lua("not chat.is_running");
    editor.lua("chat.adapter.model = 'g-1' send('hello')");
    editor.wait_buffer("By chat.");
    for (field, told) in
        [("url = function() error('no way') end", "no way"), ("wire = function() return 'none' end", "wire")]
    {
        editor.lua(&format!(
            "old = chat.adapter chat.adapter = vim.tbl_extend('force', {{}}, old) chat.adapter.{field} send('hello')"
        ));
        editor.wait_buffer(told);
        editor.wait_lua("not chat.is_running");
        editor.lua("chat.adapter = old");
    }
    editor.assert_no_fault();
}

/// Copilot: each model by its own endpoints, and pictures only with their header.
fn copilot(received: &Received) -> Reply {
    let ok = |value: Value| text(200, "content-type: application/json\r\n", &value.to_string());
    let url = format!("http://{}", received.header("host").unwrap());
    let model = |id: &str, endpoints: &[&str]| {
        json!({"id": id, "supported_endpoints": endpoints,
        "capabilities": {"type": "chat", "limits": {"max_output_tokens": 4321}, "supports": {"vision": true}}})
    };
    let path = received.path.as_str();
    match path {
        "/token" => return ok(json!({"token": SECRET, "expires_at": 4_000_000_000_u64, "endpoints": {"api": url}})),
        "/models" => {
            return ok(json!({"data": [
                model("claude-new", &["/chat/completions", "/v1/messages"]),
                model("gpt-new", &["/responses"]),
                model("old", &["/chat/completions"]),
                {"id": "unsaid", "capabilities": {"type": "chat"}},
            ]}));
        }
        _ => {}
    }
    let body = &received.body;
    let wanted = match body["model"].as_str().unwrap_or_default() {
        "claude-new" => "/v1/messages",
        "gpt-new" => "/responses",
        _ => "/chat/completions",
    };
    if path != wanted {
        return refusal(&format!("model {} is not accessible via the {path} endpoint", body["model"]));
    }
    if body.to_string().contains("iVBORw0KGgo") && received.header("copilot-vision-request") != Some("true") {
        return refusal("missing required Copilot-Vision-Request header for vision requests");
    }
    if path == "/v1/messages" && (body["max_tokens"] != 4321 || received.header("anthropic-version").is_none()) {
        return refusal("max_tokens or version");
    }
    let results = body.to_string();
    let has_result = results.contains("\"tool_result\"")
        || results.contains("function_call_output")
        || results.contains("\"role\":\"tool\"");
    let said = if has_result { say("Done.") } else { call("", &[("call_1", "shot", json!({}))]) };
    match path {
        "/v1/messages" => anthropic_answer(&said),
        "/responses" => responses_answer(&said),
        _ => openai_answer(&said),
    }
}

fn copilot_chat(editor: &Editor, server: &Server) {
    editor.run("shot");
    open_chat(editor, &[(&provider("copilot"), server)]);
    editor.lua("chat.tool_registry:add('shot')");
}

#[test]
fn copilot_reaches_each_model_where_its_list_says_and_marks_requests() {
    for model in ["claude-new", "gpt-new", "old", "unsaid"] {
        let server = Server::answering(|received, _| copilot(received));
        let editor = editor();
        copilot_chat(&editor, &server);
        editor.lua(&format!("chat.adapter.model = {model:?} send('Show me')"));
        editor.wait_buffer("Done.");
        editor.wait_lua("not chat.is_running");
        editor.lua("send('And now?')");
        editor.wait_lua("not chat.is_running and #chat.messages > 5");
        let posts: Vec<Received> = server.received().into_iter().filter(|received| received.method == "POST").collect();
        let marks = |name: &str| -> Vec<Option<&str>> { posts.iter().map(|post| post.header(name)).collect() };
        assert_eq!(marks("x-initiator")[..3], [Some("user"), Some("agent"), Some("user")], "{model}");
        assert_eq!(marks("copilot-vision-request")[..3], [None, Some("true"), Some("true")], "{model}");
        let lists = server.received().iter().filter(|received| received.path == "/models").count();
        assert_eq!(lists, 1, "{model}: the list is kept");
        editor.assert_no_fault();
    }
}

#[test]
fn one_chat_goes_from_model_to_model_over_all_three_wires() {
    let server = Server::answering(|received, _| copilot(received));
    let editor = editor();
    copilot_chat(&editor, &server);
    for (turn, model) in ["claude-new", "gpt-new", "old", "claude-new", "gpt-new"].iter().enumerate() {
        editor.lua(&format!("chat.adapter.model = {model:?} before = #chat.messages send('Go on {turn}')"));
        editor.wait_lua("not chat.is_running and #chat.messages > before + 1");
        let last = editor.lua_text("return chat.messages[#chat.messages].content");
        assert_eq!(last, "Done.", "{model}: {}", editor.buffer());
    }
    // What another wire's answer said is there, whoever reads it.
    let posts: Vec<Received> = server.received().into_iter().filter(|received| received.method == "POST").collect();
    let last = posts.last().unwrap().body.to_string();
    assert_eq!(last.matches("Done.").count(), 4, "{last}");
}

#[test]
fn the_sign_in_is_found_where_the_official_clients_keep_it() {
    let sqlite = std::process::Command::new("sqlite3").arg("-version").output().is_ok();
    let database = |folder: &std::path::Path| {
        fs::create_dir_all(folder.join("config/github-copilot")).unwrap();
        let file = folder.join("config/github-copilot/auth.db");
        if sqlite {
            let sql = "CREATE TABLE oauth_tokens (id INTEGER, token_ciphertext BLOB); \
                       INSERT INTO oauth_tokens VALUES (1, CAST('ghu_0123456789abcdefghij0123456789abcdef' AS BLOB));";
            assert!(std::process::Command::new("sqlite3").arg(&file).arg(sql).status().unwrap().success());
        } else {
            // A program of that name answers for it.
            fs::write(&file, "SQLite").unwrap();
            fs::create_dir_all(folder.join("bin")).unwrap();
            let program = folder.join("bin/sqlite3");
            fs::write(&program, "#!/bin/sh\necho ghu_0123456789abcdefghij0123456789abcdef\n").unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(&program, mode).unwrap();
        }
    };
    type Store<'a> = Box<dyn Fn(&std::path::Path) + 'a>;
    let stores: [(&str, &str, Store); 4] = [
        (
            "hosts.json",
            "gho_old",
            Box::new(|folder| {
                fs::write(
                    folder.join("config/github-copilot/hosts.json"),
                    r#"{"github.com": {"oauth_token": "gho_old"}}"#,
                )
                .unwrap();
            }),
        ),
        ("auth.db", "ghu_0123456789abcdefghij0123456789abcdef", Box::new(database)),
        (
            "config.json",
            "gho_cli",
            Box::new(|folder| {
                fs::create_dir_all(folder.join("cli")).unwrap();
                fs::write(
                    folder.join("cli/config.json"),
                    r#"{"copilot_tokens": {"https://github.com:me": "gho_cli"}}"#,
                )
                .unwrap();
            }),
        ),
        ("environment", "github_pat_own", Box::new(|_| {})),
    ];
    for (name, token, store) in stores {
        let server = Server::answering(|received, _| copilot(received));
        let editor = editor();
        let home = editor.home.path().to_owned();
        fs::remove_file(home.join("config/github-copilot/apps.json")).unwrap();
        store(&home);
        editor.run_with(
            "sign_in",
            vec![home.to_str().unwrap().into(), if name == "environment" { token } else { "" }.into()],
        );
        copilot_chat(&editor, &server);
        editor.lua("chat.adapter.model = 'old' send('hello')");
        editor.wait_buffer("Done.");
        let asked = server.received().into_iter().find(|received| received.path == "/token").unwrap();
        assert_eq!(asked.header("authorization"), Some(&*format!("token {token}")), "{name}");
        editor.assert_no_fault();
    }
}

#[test]
fn tools_of_anthropic_are_the_newest_that_the_model_takes_and_older_names_are_accepted() {
    let t = |model: &str, tool: &str| -> Value {
        let server = Server::start(vec![anthropic_answer(&say("Yes."))]);
        let editor = editor();
        open_chat(&editor, &[(&provider("anthropic"), &server)]);
        editor.lua(&format!("chat.adapter.model = {model:?} assert(chat.tool_registry:add({tool:?})) send('hello')"));
        editor.wait_buffer("Yes.");
        let body = server.received()[0].body.clone();
        json!([body["tools"].as_array().unwrap().last().unwrap()["type"], body["thinking"]["type"]])
    };
    assert_eq!(t("claude-opus-5-5", "web_search"), json!(["web_search_20260318", "adaptive"]));
    assert_eq!(t("claude-mythos-preview", "code_execution"), json!(["code_execution_20260521", "adaptive"]));
    assert_eq!(t("claude-haiku-4-5", "web_fetch"), json!(["web_fetch_20250910", null]));
    assert_eq!(t("claude-3-7-sonnet-20250219", "web_search"), json!(["web_search_20250305", null]));
    assert_eq!(t("claude-opus-5-5", "web_search_20250305"), json!(["web_search_20250305", "adaptive"]));
    assert_eq!(t("claude-opus-4-6", "code_execution_20250825"), json!(["code_execution_20250825", "adaptive"]));
}

#[test]
fn thoughts_of_gemini_are_asked_for_where_the_model_thinks() {
    for (model, thinks) in [
        ("gemini-flash-latest", true),
        ("gemini-3.8-flash", true),
        ("gemini-2.5-pro", true),
        ("gemini-2.0-flash", false),
        ("gemini-1.5-pro", false),
        ("gemma-3-27b-it", false),
    ] {
        let server = Server::answering(move |received, _| {
            let asked = received.body["generationConfig"]["thinkingConfig"]["includeThoughts"] == true;
            if asked && !thinks {
                refusal("Thinking is not enabled for this model")
            } else {
                super::gemini_answer(&say("Yes."))
            }
        });
        let editor = editor();
        open_chat(&editor, &[(&provider("gemini"), &server)]);
        editor.lua(&format!("chat.adapter.model = {model:?} send('hello')"));
        editor.wait_buffer("Yes.");
        let config = server.received()[0].body["generationConfig"]["thinkingConfig"].clone();
        assert_eq!(config["includeThoughts"] == true, thinks, "{model}");
    }
}
