//! Another model, another adapter, another Neovim: the history stays valid for whoever gets it.

use std::fs;

use serde_json::{Value, json};

use super::{Provider, configure, editor, open_chat, prepare, provider, say, two_turns};
use crate::chat::PRELUDE;
use crate::support::server::Server;
use crate::support::{Editor, Setup};

fn pick(editor: &Editor, choice: &str) {
    editor.lua_with(
        "local wanted = ... vim.ui.select = function(items, opts, done) offered, prompt = items, opts.prompt done(wanted) end",
        vec![choice.into()],
    );
}

fn posts(server: &Server) -> Vec<Value> {
    server.received().into_iter().filter(|received| received.method == "POST").map(|received| received.body).collect()
}

#[test]
fn one_history_goes_through_all_wire_formats_and_none_refuses_it() {
    let names = ["openai_responses", "anthropic", "gemini", "ollama", "mistral"];
    let providers: Vec<Provider> = names.iter().map(|name| provider(name)).collect();
    // Two rounds: what each of them said comes back to it after all others have answered.
    let servers: Vec<Server> = providers
        .iter()
        .map(|provider| provider.serve([two_turns(), two_turns()].into_iter().flatten().collect()))
        .collect();
    let editor = editor();
    let adapters: Vec<_> = providers.iter().zip(&servers).collect();
    open_chat(&editor, &adapters);
    for name in names.iter().cycle().take(10) {
        editor.lua(&format!("vim.cmd('Lathe adapter {name}')"));
        let messages = editor.lua_int("return #chat.messages");
        editor.lua("send('Use the tools')");
        editor.wait_lua(&format!("not chat.is_running and #chat.messages > {}", messages + 2));
        let last = editor.lua_text("return chat.messages[#chat.messages].content");
        assert!(last == "All is done." || last == "It is forty-two.", "{name}: {}", editor.buffer());
    }
    editor.assert_no_fault();
}

#[test]
fn the_model_is_picked_from_the_provider_s_list_and_the_next_request_has_it() {
    for name in ["anthropic", "gemini", "ollama", "copilot", "openai"] {
        let provider = provider(name);
        let server = provider.serve(vec![say("One."), say("Two."), say("Three.")]);
        let editor = editor();
        open_chat(&editor, &[(&provider, &server)]);
        pick(&editor, "m-2");
        editor.lua("vim.cmd('Lathe model')");
        editor.wait_lua("offered ~= nil");
        assert_eq!(editor.lua_text("return table.concat(offered, ' ')"), "m-1 m-2", "{name}");
        assert_eq!(editor.lua_text("return chat.adapter.model"), "m-2");
        if name == "gemini" {
            continue; // it is part of the URL, which this server knows for m-1 only
        }
        editor.lua("send('hello')");
        editor.wait_buffer("One.");
        assert_eq!(posts(&server)[0]["model"], "m-2", "{name}");
        editor.lua("vim.cmd('Lathe model m-3')");
        editor.lua("send('hello')");
        editor.wait_buffer("Two.");
        assert_eq!(posts(&server)[1]["model"], "m-3", "{name}");
        assert!(editor.lua_text("return table.concat(notes, '\\n')").contains("model m-3"));
    }
}

#[test]
fn a_list_that_cannot_be_had_and_names_that_are_none_are_explained() {
    let server = Server::start(vec![]);
    let editor = editor();
    open_chat(&editor, &[(&provider("anthropic"), &server)]);
    let said = |command: &str, told: &str| {
        editor.lua(&format!("notes = {{}} vim.cmd({command:?})"));
        editor.wait_lua(&format!("table.concat(notes, '\\n'):find({told:?}, 1, true) ~= nil"));
    };
    said("Lathe model", "500");
    said("Lathe adapter nobody", "there is no adapter");
    said("Lathe adapter azure_openai", "AZURE_OPENAI_ENDPOINT");
    said("Lathe model", "there is no list of models");
    editor.lua("chat.adapter.env.endpoint = 'http://127.0.0.1:1' send('hello')");
    editor.wait_buffer("no model is chosen");
    editor.wait_lua("not chat.is_running");
    said("Lathe adapter anthropic", "Anthropic");
    editor.lua("vim.env.ANTHROPIC_API_KEY = nil");
    said("Lathe model", "No key for Anthropic");
    editor.assert_no_fault();
}

#[test]
fn copilot_without_a_sign_in_says_what_to_do_and_a_token_that_ends_is_renewed() {
    let provider = provider("copilot");
    let server = provider.serve(vec![say("One."), say("Two."), say("Three.")]);
    let editor = editor();
    open_chat(&editor, &[(&provider, &server)]);
    let file = editor.home.path().join("config/github-copilot/apps.json");
    fs::rename(&file, file.with_extension("away")).unwrap();
    editor.lua("send('hello')");
    editor.wait_buffer("No key for Copilot: sign in");
    editor.wait_lua("not chat.is_running");
    fs::rename(file.with_extension("away"), &file).unwrap();
    editor.lua("send('hello')");
    editor.wait_buffer("One.");
    editor.lua("send('more')");
    editor.wait_buffer("Two.");
    let tokens = || server.received().iter().filter(|received| received.path == "/token").count();
    assert_eq!(tokens(), 1, "it is kept while it is good");
    editor.lua("local time = os.time os.time = function(...) return select('#', ...) > 0 and time(...) or 3999999999 end send('late')");
    editor.wait_buffer("Three.");
    assert_eq!(tokens(), 2);
}

/// Without its marks for the cache, which move with the last turns.
fn without_marks(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.remove("cache_control");
            fields.values_mut().for_each(|field| *field = without_marks(field.take()));
        }
        Value::Array(values) => values.iter_mut().for_each(|one| *one = without_marks(one.take())),
        _ => {}
    }
    value
}

#[test]
fn signatures_go_back_byte_for_byte_after_a_restart_and_only_to_their_adapter() {
    let provider = provider("anthropic");
    let server = provider.serve(two_turns());
    let first = editor();
    open_chat(&first, &[(&provider, &server)]);
    first.lua("send('Use the tools')");
    first.wait_buffer("All is done.");
    first.wait_lua("not chat.is_running");
    let before = without_marks(posts(&server).last().unwrap()["messages"].clone());
    let mut first = first;
    first.lua("vim.schedule(function() vim.cmd('qa!') end)");
    first.wait_exit();
    let home = std::mem::replace(&mut first.home, tempfile::tempdir().unwrap());

    let editor = Setup::default().home(home).start();
    editor.lua(PRELUDE);
    prepare(&editor);
    configure(&editor, &[(&provider, &server)]);
    editor.lua("vim.ui.select = function(items, _, done) done(items[1]) end vim.cmd('Lathe resume')");
    editor.wait_lua("require('lathe').last_chat() ~= nil and #require('lathe').last_chat().messages > 5");
    editor.lua("chat = require('lathe').last_chat() send('And 6*7?')");
    editor.wait_buffer("Again.");
    editor.wait_lua("not chat.is_running");
    let after = without_marks(posts(&server)[3]["messages"].clone());
    let signed = json!({"type": "thinking", "thinking": "Let me think.", "signature": "S1"});
    assert_eq!(after[1]["content"][0], signed);
    let kept = before.as_array().unwrap().len();
    assert_eq!(after.as_array().unwrap()[..kept], before.as_array().unwrap()[..]);
}
