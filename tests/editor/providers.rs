//! Whole chats with servers on 127.0.0.1 that speak like the real providers and refuse what those refuse (`rules.rs`), for
//! every adapter that is shipped.

mod answers;
mod binding;
mod ends;
mod judging;
mod lists;
mod memory;
mod pictures;
mod rules;
mod stable;
mod switching;
mod ways;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::chat;
use crate::support::Editor;
use crate::support::server::{Received, Reply, Server, stream, text};
use answers::{anthropic_answer, gemini_answer, ollama_answer, openai_answer, responses_answer, sse, with_name};
use rules::Chat;

/// What a provider accepts: path and body.
type Check = Arc<dyn Fn(&Received) -> Result<(), String> + Send + Sync>;

/// One adapter and its server.
#[derive(Clone)]
pub struct Provider {
    /// The adapter's name.
    name: &'static str,
    /// The variable that holds its key.
    key: Option<&'static str>,
    /// Header in which the key must come, with what stands before it.
    header: (&'static str, &'static str),
    /// Where requests go.
    path: &'static str,
    check: Check,
    /// An answer: reasoning, text, calls.
    answer: fn(&Answer) -> Reply,
}

/// An answer that every provider gives in its own way.
pub struct Answer {
    text: &'static str,
    /// Id, name, arguments.
    calls: Vec<(&'static str, &'static str, Value)>,
}

const REASONING: &str = "Let me think.";
/// Stands for the name under which `list.buffers` is offered.
const LIST: &str = "LIST";

const SECRET: &str = "sk-provider-secret";

fn say(text: &'static str) -> Answer {
    Answer { text, calls: vec![] }
}

fn call(text: &'static str, calls: &[(&'static str, &'static str, Value)]) -> Answer {
    Answer { text, calls: calls.to_vec() }
}

fn checked(check: impl Fn(&Value) -> Result<(), String> + Send + Sync + 'static) -> Check {
    Arc::new(move |received| check(&received.body))
}

fn compatible(name: &'static str, key: Option<&'static str>, path: &'static str, server: Chat) -> Provider {
    let check = checked(move |body| rules::chat(body, server));
    Provider { name, key, header: ("authorization", "Bearer "), path, check, answer: openai_answer }
}

/// All adapters that are shipped, but for the scripted one.
pub fn providers() -> Vec<Provider> {
    let plain = Chat::default();
    let v1 = "/v1/chat/completions";
    let mistral = Chat { is_mistral: true, ..plain };
    let deepseek = Chat { reasoning: Some(REASONING), ..plain };
    let details = r#"[{"type":"reasoning.encrypted","index":0,"data":"D1"}]"#;
    let openrouter = Chat { kept: Some(("reasoning_details", details)), ..plain };
    let copilot = Chat { kept: Some(("reasoning_opaque", "\"O1\"")), ..plain };
    let by_responses = |name, key, path| Provider {
        check: checked(|body| rules::responses(body, "E1")),
        answer: responses_answer,
        ..compatible(name, Some(key), path, plain)
    };
    let by_gemini = |name, key, path| Provider {
        check: checked(|body| rules::gemini(body, "S1")),
        answer: gemini_answer,
        ..compatible(name, key, path, plain)
    };
    let azure = by_responses("azure_openai", "AZURE_OPENAI_API_KEY", "/openai/v1/responses");
    let glm = Chat { takes_no_stream_options: true, ..plain };
    vec![
        compatible("openai", Some("OPENAI_API_KEY"), v1, plain),
        Provider { header: ("api-key", ""), ..azure },
        compatible("deepseek", Some("DEEPSEEK_API_KEY"), "/chat/completions", deepseek),
        compatible("mistral", Some("MISTRAL_API_KEY"), v1, mistral),
        compatible("openrouter", Some("OPENROUTER_API_KEY"), "/api/v1/chat/completions", openrouter),
        by_responses("xai", "XAI_API_KEY", "/v1/responses"),
        compatible("huggingface", Some("HF_TOKEN"), v1, plain),
        compatible("novita", Some("NOVITA_API_KEY"), "/openai/v1/chat/completions", plain),
        compatible("moonshot", Some("MOONSHOT_API_KEY"), v1, deepseek),
        compatible("z_ai", Some("ZAI_API_KEY"), "/chat/completions", glm),
        compatible("deepinfra", Some("DEEPINFRA_API_KEY"), "/v1/openai/chat/completions", plain),
        compatible("cerebras", Some("CEREBRAS_API_KEY"), v1, plain),
        compatible("groq", Some("GROQ_API_KEY"), "/openai/v1/chat/completions", plain),
        compatible("copilot", None, "/chat/completions", copilot),
        compatible("openai_compatible", None, v1, plain),
        compatible("llama_cpp", None, v1, plain),
        compatible("vllm", None, v1, plain),
        compatible("lm_studio", None, v1, plain),
        by_responses("openai_responses", "OPENAI_API_KEY", "/v1/responses"),
        Provider {
            header: ("x-api-key", ""),
            check: checked(|body| rules::anthropic(body, "S1")),
            answer: anthropic_answer,
            ..compatible("anthropic", Some("ANTHROPIC_API_KEY"), "/v1/messages", plain)
        },
        Provider {
            header: ("x-goog-api-key", ""),
            ..by_gemini("gemini", Some("GEMINI_API_KEY"), "/v1beta/models/m-1:streamGenerateContent?alt=sse")
        },
        by_gemini(
            "vertex",
            None,
            "/v1/projects/p/locations/global/publishers/google/models/m-1:streamGenerateContent?alt=sse",
        ),
        Provider {
            check: checked(rules::ollama),
            answer: ollama_answer,
            ..compatible("ollama", None, "/api/chat", plain)
        },
    ]
}

pub fn provider(name: &str) -> Provider {
    providers().into_iter().find(|provider| provider.name == name).unwrap()
}

impl Provider {
    /// The server: it refuses what breaks the rules, and answers all else in order. `GET` gets a token or a list of models.
    pub fn serve(&self, answers: Vec<Answer>) -> Server {
        let (provider, answers) = (self.clone(), Arc::new(answers));
        let counter = std::sync::atomic::AtomicUsize::new(0);
        Server::answering(move |received, _| {
            let refusal = |message: String| {
                let body = json!({"error": {"type": "invalid_request_error", "message": message}}).to_string();
                text(400, "content-type: application/json\r\n", &body)
            };
            if received.method == "GET" {
                return provider.document(received);
            }
            if received.path != provider.path {
                return refusal(format!("there is no {}", received.path));
            }
            let wanted = format!("{}{SECRET}", provider.header.1);
            if (provider.key.is_some() || matches!(provider.name, "copilot" | "vertex"))
                && received.header(provider.header.0) != Some(wanted.as_str())
            {
                return refusal("Incorrect API key provided".to_owned());
            }
            match (provider.check)(received) {
                Ok(()) => {
                    let number = counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let reply = answers.get(number).map(provider.answer);
                    reply
                        .map_or_else(|| refusal("no more answers".to_owned()), |reply| with_name(reply, &received.body))
                }
                Err(message) => refusal(message),
            }
        })
    }

    fn document(&self, received: &Received) -> Reply {
        let body = if received.path == "/token" {
            assert_eq!(received.header("authorization"), Some("token gho_own"));
            let url = format!("http://{}", received.header("host").unwrap());
            json!({"token": SECRET, "expires_at": 4_000_000_000u64, "endpoints": {"api": url}})
        } else {
            let ids = ["m-2", "m-1"];
            json!({
                "data": ids.map(|id| json!({"id": id})),
                "models": ids.map(|id| json!({"name": if self.name == "gemini" { format!("models/{id}") } else { id.to_owned() }})),
            })
        };
        text(200, "content-type: application/json\r\n", &body.to_string())
    }

    /// The Lua that configures the adapter for the server.
    fn configuration(&self, server: &Server) -> String {
        let env = match self.name {
            "azure_openai" => format!("endpoint = {:?}", server.url),
            "copilot" => format!("token_url = {:?}", format!("{}/token", server.url)),
            // Not the key itself: it must be nowhere in the chat.
            "vertex" => {
                let (head, tail) = SECRET.split_at(4);
                format!("url = {:?}, project = 'p', token_command = 'printf %s%s {head} {tail}'", server.url)
            }
            _ => format!("url = {:?}", server.url),
        };
        format!(
            "require('lathe.adapters').extend({:?}, {{ env = {{ {env} }}, schema = {{ model = {{ default = 'm-1' }} }}, opts = {{ retries = 0 }} }})",
            self.name
        )
    }
}

/// An editor that has the tools of these tests, keys for all providers, and a sign-in for Copilot.
pub fn editor() -> Editor {
    let editor = chat::editor();
    prepare(&editor);
    editor
}

/// The same for one that was started otherwise.
pub fn prepare(editor: &Editor) {
    let folder = editor.home.path().join("config/github-copilot");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("apps.json"), r#"{"github.com:Iv1.x": {"oauth_token": "gho_own"}}"#).unwrap();
    let keys: Vec<_> = providers().iter().filter_map(|provider| provider.key).collect();
    for key in keys {
        editor.lua_with("vim.env[...] = select(2, ...)", vec![key.into(), SECRET.into()]);
    }
    editor.run("tools");
}

/// Configures these adapters under their own names; chats take the first.
pub fn configure(editor: &Editor, adapters: &[(&Provider, &Server)]) {
    let configured: String = adapters
        .iter()
        .map(|(provider, server)| format!("{} = {},", provider.name, provider.configuration(server)))
        .collect();
    editor.run_with("configure", vec![configured.into(), adapters[0].0.name.into()]);
}

/// Opens a chat with these adapters under their own names; the first is used.
pub fn open_chat(editor: &Editor, adapters: &[(&Provider, &Server)]) {
    configure(editor, adapters);
    editor.run("open_chat");
}

/// Two turns with tools: two calls at once, one of them failing and without arguments, then one more; then another one.
pub fn two_turns() -> Vec<Answer> {
    vec![
        call("Let me see.", &[("call_1", "calculator", json!({"num1": 4})), ("call_2", LIST, json!({}))]),
        call("", &[("call_3", "calculator", json!({"num1": 5, "num2": null, "more": null}))]),
        say("All is done."),
        call("Again.", &[("call_4", "calculator", json!({"num1": 6, "num2": 7}))]),
        say("It is forty-two."),
    ]
}

fn chat_through(provider: &Provider) {
    let server = provider.serve(two_turns());
    let editor = editor();
    open_chat(&editor, &[(provider, &server)]);
    editor.lua("send('Use the tools')");
    editor.wait_lua("not chat.is_running and #chat.messages > 2");
    assert!(editor.buffer().contains("All is done."), "{}: {}", provider.name, editor.buffer());
    assert_eq!(editor.results(), ["8", "none", "10"], "{}", provider.name);
    assert!(editor.buffer().contains("\"bad\" is not offered"), "{}: {}", provider.name, editor.buffer());
    editor.lua("send('And 6*7?')");
    editor.wait_lua("not chat.is_running and #chat.messages > 9");
    assert!(editor.buffer().contains("It is forty-two."), "{}: {}", provider.name, editor.buffer());
    assert_eq!(editor.results(), ["8", "none", "10", "42"], "{}", provider.name);
    assert!(editor.buffer().contains(REASONING), "{}: reasoning is shown", provider.name);
    let posts = server.received().into_iter().filter(|received| received.method == "POST").count();
    assert_eq!(posts, 5, "{}", provider.name);
    let looks = editor.lua_text("return vim.inspect(chat) .. table.concat(notes, '\\n')") + &editor.buffer();
    assert!(!looks.contains(SECRET) && !looks.contains("gho_own"), "{}: a key is somewhere", provider.name);
    editor.assert_no_fault();
}

macro_rules! chats {
    ($($name:ident)*) => {
        $(
            mod $name {
                #[test]
                fn two_turns_with_tools_are_never_refused() {
                    super::chat_through(&super::provider(stringify!($name)));
                }
            }
        )*

        #[test]
        fn every_shipped_adapter_has_a_chat() {
            let editor = Editor::start();
            let names = editor.lua_text("return table.concat(require('lathe.adapters').names(), ' ')");
            let mut tested = vec![$(stringify!($name)),*, "scripted"];
            tested.sort_unstable();
            assert_eq!(names.split(' ').collect::<Vec<_>>(), tested);
        }
    };
}

chats!(openai azure_openai deepseek mistral openrouter xai groq copilot huggingface novita moonshot z_ai deepinfra cerebras vertex
    openai_compatible llama_cpp vllm lm_studio openai_responses anthropic gemini ollama);

#[test]
fn an_answer_in_one_piece_is_asked_for_where_the_provider_gives_it() {
    let whole = json!({"candidates": [{"content": {"parts": [{"text": "In one piece."}]}, "finishReason": "STOP"}]});
    let server = Server::start(vec![text(200, "content-type: application/json\r\n", &whole.to_string())]);
    let editor = editor();
    open_chat(&editor, &[(&provider("gemini"), &server)]);
    editor.lua("chat.adapter.opts.stream = false send('hello')");
    editor.wait_buffer("In one piece.");
    assert_eq!(server.received()[0].path, "/v1beta/models/m-1:generateContent");
}

#[test]
fn what_the_provider_ran_is_a_line_of_the_chat_and_goes_back_with_the_history() {
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [
        {"type": "web_search_result", "url": "https://a.example/", "title": "A page", "encrypted_content": "C1"}]});
    let blocks = [
        json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "rust 2026"}}),
        result,
        json!({"type": "text", "text": "It is out."}),
    ];
    let mut events = vec![json!({"type": "message_start", "message": {}})];
    for (index, block) in blocks.iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let ends = |reason: &str| {
        [json!({"type": "message_delta", "delta": {"stop_reason": reason}}), json!({"type": "message_stop"})]
    };
    let paused = [&events[..3], &ends("pause_turn")].concat();
    let rest = [
        &events[..1],
        &[events[3].clone(), events[4].clone(), events[5].clone(), events[6].clone()],
        &ends("end_turn"),
    ];
    let server = Server::start(vec![sse(&paused), sse(&rest.concat()), anthropic_answer(&say("Sure."))]);
    let editor = editor();
    open_chat(&editor, &[(&provider("anthropic"), &server)]);
    editor.lua("chat.tool_registry:add('web_search') send('What is new?')");
    editor.wait_buffer("It is out.");
    editor.wait_lua("not chat.is_running");
    let buffer = editor.buffer();
    assert!(buffer.contains("✓ web_search") && buffer.contains("A page"), "{buffer}");
    editor.lua("send('Really?')");
    editor.wait_buffer("Sure.");
    let received = server.received();
    assert!(
        received[0].body["tools"]
            .as_array()
            .unwrap()
            .contains(&json!({"type": "web_search_20260318", "name": "web_search"}))
    );
    // The pause is sent as it came, and with the rest it is one turn.
    assert_eq!(received[1].body["messages"][1]["content"], json!([blocks[0]]));
    assert_eq!(received[2].body["messages"][1]["content"], json!(blocks));
    assert_eq!(rules::anthropic(&received[2].body, "S1"), Ok(()));
}

#[test]
fn openai_searches_the_web_by_itself() {
    let events = [
        json!({"type": "response.output_item.done", "output_index": 0, "item": {"id": "ws_1", "type": "web_search_call",
            "status": "completed", "action": {"type": "search", "query": "rust 2026"}}}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": {"id": "msg_1", "type": "message",
            "role": "assistant", "content": [{"type": "output_text", "text": "It is out.", "annotations": []}]}}),
        json!({"type": "response.completed", "response": {"status": "completed"}}),
    ];
    let server = Server::start(vec![stream(&events), responses_answer(&say("Sure."))]);
    let editor = editor();
    open_chat(&editor, &[(&provider("openai_responses"), &server)]);
    editor.lua("chat.tool_registry:add('web_search') send('What is new?')");
    editor.wait_buffer("It is out.");
    editor.wait_lua("not chat.is_running");
    assert!(editor.buffer().contains("✓ web_search  rust 2026"), "{}", editor.buffer());
    editor.lua("send('Really?')");
    editor.wait_buffer("Sure.");
    let received = server.received();
    assert!(received[0].body["tools"].as_array().unwrap().contains(&json!({"type": "web_search"})));
    assert_eq!(received[1].body["input"][2]["id"], "ws_1");
    assert_eq!(rules::responses(&received[1].body, "E1"), Ok(()));
}

#[test]
fn an_adapter_whose_new_fields_do_not_fit_is_explained() {
    let server = Server::start(vec![]);
    let editor = editor();
    open_chat(&editor, &[(&provider("openai"), &server)]);
    editor.lua("good = vim.deepcopy(chat.adapter)");
    for (change, named) in [
        ("dialect = 5", "dialect"),
        ("dialect = { call_id_length = 'nine' }", "dialect"),
        ("dialect = { unheard_of = true }", "unheard_of"),
        ("dialect = { keep = { 1 } }", "dialect"),
        ("models = 5", "models"),
        ("handlers = { request = { prepare = 5 } }", "prepare"),
        ("handlers = { request = { prepare = function() error('thrown') end } }", "thrown"),
        ("handlers = { request = { prepare = function(_, done) done(nil, 'not today') end } }", "not today"),
        ("handlers = { request = { prepare = function(_, done) done(5) end } }", "prepare"),
        ("wire = 'unheard_of'", "wire"),
    ] {
        editor.lua(&format!("chat.adapter = vim.deepcopy(good) chat.adapter.{change} send('hello')"));
        editor.wait_lua("not chat.is_running");
        editor.wait_buffer(named);
        editor.lua("chat:clear()");
        editor.wait_lua("#chat.messages <= 1");
        editor.lua("chat.adapter = vim.deepcopy(good) chat.adapter.models = 5 notes = {} vim.cmd('Lathe model')");
        editor.wait_lua("#notes > 0");
    }
    assert_eq!(server.received().len(), 0);
    editor.assert_no_fault();
}
