//! What the tests of all codecs share: a request built from little, an answer cut everywhere.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use super::{
    Asked, BuildInput, Built, Decoder, Dialect, EndReason, Item, Names, Origin, ProviderCall, ToolDefinition, Wire,
    build,
};
use crate::message::{Call, Message, Opaque};

static DIALECT: LazyLock<Dialect> = LazyLock::new(Dialect::default);
static ORIGIN: LazyLock<Origin> = LazyLock::new(|| Origin { adapter: "own".into(), model: "m-1".into() });

/// A request of nothing.
pub fn input(settings: &Map<String, Value>) -> BuildInput<'_> {
    BuildInput {
        messages: &[],
        tools: &[],
        tools_override: None,
        extra_tools: &[],
        vision: false,
        settings,
        answer: None,
        origin: &ORIGIN,
        dialect: &DIALECT,
        now_s: 1_780_000_000,
    }
}

static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// A request of nothing, without settings either.
pub fn nothing() -> BuildInput<'static> {
    input(&NOTHING)
}

/// Builds a request of messages, settings and further parts.
pub fn built(wire: Wire, messages: &[Message], settings: Value, parts: BuildInput<'_>) -> Built {
    let messages: Vec<Arc<Message>> = messages.iter().cloned().map(Arc::new).collect();
    let settings = settings.as_object().expect("an object").clone();
    build(wire, BuildInput { messages: &messages, settings: &settings, ..parts })
}

/// The body of a request without faults.
pub fn body(wire: Wire, messages: &[Message], tools: &[ToolDefinition], settings: Value) -> Value {
    let built = built(wire, messages, settings, BuildInput { tools, ..nothing() });
    assert_eq!(built.faults, Vec::<String>::new());
    built.body
}

/// What a decoder knows of the request.
pub fn asked(names: Names, streaming: bool) -> Asked {
    Asked { names, origin: ORIGIN.clone(), streaming, ..Asked::default() }
}

/// The items of an answer, the same for every way to cut it in two and for single bytes.
pub fn items(wire: Wire, body: &[u8]) -> Vec<Item> {
    let decode = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut decoder = Decoder::new(wire, asked(Names::default(), true));
        let mut items = Vec::new();
        pieces.for_each(|piece| items.extend(decoder.push(piece)));
        items.extend(decoder.finish());
        assert!(decoder.is_over());
        assert_eq!((decoder.push(b"data: {}\n\n"), decoder.finish()), (vec![], vec![]), "it was over");
        items
    };
    let whole = decode(&mut [body].into_iter());
    assert_eq!(decode(&mut body.chunks(1)), whole);
    for cut in 0..=body.len() {
        let (left, right) = body.split_at(cut);
        assert_eq!(decode(&mut [left, right].into_iter()), whole, "cut at {cut}");
    }
    let ends = whole.iter().filter(|item| matches!(item, Item::End { .. } | Item::Failed(_))).count();
    assert_eq!(ends, 1);
    whole
}

/// The items of a chat completion that comes in these pieces.
pub fn decode_with<'a>(names: &Names, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Item> {
    let mut decoder = Decoder::new(Wire::OpenAi, asked(names.clone(), true));
    let mut items: Vec<Item> = pieces.into_iter().flat_map(|piece| decoder.push(piece)).collect();
    items.extend(decoder.finish());
    assert_eq!((decoder.push(b"data: {\"choices\":[]}\n\n"), decoder.finish()), (vec![], vec![]), "it was over");
    items
}

/// A chunk of a chat completion.
pub fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

/// A stream of chunks that is complete.
pub fn completion(chunks: &[Value]) -> Vec<u8> {
    let mut body = stream(chunks);
    body.extend(b"data: [DONE]\n\n");
    body
}

/// A stream of server-sent events.
pub fn stream(events: &[Value]) -> Vec<u8> {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().into_bytes()
}

/// The message that the engine makes of an answer.
pub fn message(items: &[Item]) -> Message {
    let (mut content, mut reasoning, mut opaque) = (String::new(), String::new(), None);
    let mut calls: Vec<Call> = Vec::new();
    for item in items {
        match item {
            Item::Text(text) => content.push_str(text),
            Item::Reasoning(text) => reasoning.push_str(text),
            Item::CallStarted { index, wire_id, name } => {
                assert_eq!(*index, calls.len(), "calls start in order");
                let wire_id = if wire_id.is_empty() { format!("made_{index}") } else { wire_id.clone() };
                calls.push(Call { wire_id, name: name.clone(), arguments: String::new(), extra: None });
            }
            Item::CallArguments { index, text } => calls[*index].arguments.push_str(text),
            Item::CallExtra { index, extra } => calls[*index].extra = Some(extra.clone()),
            Item::Opaque(kept) => opaque = Some(kept.clone()),
            Item::Ran(_) | Item::Usage { .. } | Item::End { .. } | Item::Failed(_) => {}
        }
    }
    // As a call without arguments is kept.
    for call in calls.iter_mut().filter(|call| call.arguments.is_empty()) {
        call.arguments = "{}".to_owned();
    }
    Message::Llm { content, reasoning, calls, opaque }
}

/// The same after it was saved and read again.
pub fn saved(message: &Message) -> Message {
    serde_json::from_str(&serde_json::to_string(message).expect("JSON")).expect("a message")
}

/// The answer to a request of this history, saved and read again.
pub fn answer_to(wire: Wire, history: &[Message], tools: &[ToolDefinition], settings: Value, body: &[u8]) -> Message {
    let built = built(wire, history, settings, BuildInput { tools, ..nothing() });
    let mut decoder = Decoder::new(wire, Asked { prefix: built.prefix, ..asked(built.names, true) });
    let mut items = decoder.push(body);
    items.extend(decoder.finish());
    saved(&message(&items))
}

/// A message that another adapter's answer was.
pub fn foreign(message: &Message) -> Message {
    let Message::Llm { content, reasoning, calls, opaque } = message.clone() else { panic!("the model's message") };
    let opaque = opaque.map(|opaque| Opaque { adapter: "other".into(), ..opaque });
    Message::Llm { content, reasoning, calls, opaque }
}

/// A message that an answer of another model of the same adapter was.
pub fn older(message: &Message) -> Message {
    let Message::Llm { content, reasoning, calls, opaque } = message.clone() else { panic!("the model's message") };
    let opaque = opaque.map(|opaque| Opaque { model: "m-0".into(), ..opaque });
    Message::Llm { content, reasoning, calls, opaque }
}

/// A message of the user.
pub fn user(content: &str) -> Message {
    Message::User { content: content.into(), visible: true, typed: None, attachments: vec![] }
}

/// A message of the system.
pub fn system(content: &str) -> Message {
    Message::System { content: content.into() }
}

/// A message of the model: id, name and arguments of its calls.
pub fn llm(content: &str, calls: &[(&str, &str, &str)]) -> Message {
    let calls = calls.iter().map(|(id, name, arguments)| Call {
        wire_id: (*id).into(),
        name: (*name).into(),
        arguments: (*arguments).into(),
        extra: None,
    });
    Message::Llm { content: content.into(), reasoning: "secret".into(), calls: calls.collect(), opaque: None }
}

/// A result.
pub fn result(id: &str, content: &str, is_error: bool) -> Message {
    Message::Tool { wire_id: id.into(), content: content.into(), is_error, attachments: vec![] }
}

/// A tool.
pub fn tool(name: &str, parameters: Value, strict: Option<bool>) -> ToolDefinition {
    ToolDefinition { name: name.to_owned(), description: Some(format!("{name}!")), parameters, strict }
}

/// `Item::Text`
pub fn text(text: &str) -> Item {
    Item::Text(text.to_owned())
}

/// `Item::Reasoning`
pub fn reasoning(text: &str) -> Item {
    Item::Reasoning(text.to_owned())
}

/// `Item::CallStarted`
pub fn started(index: usize, wire_id: &str, name: &str) -> Item {
    Item::CallStarted { index, wire_id: wire_id.to_owned(), name: name.to_owned() }
}

/// `Item::CallArguments`
pub fn arguments(index: usize, text: &str) -> Item {
    Item::CallArguments { index, text: text.to_owned() }
}

/// `Item::Ran`
pub fn ran(name: &str, label: &str, output: &str, is_error: bool) -> Item {
    Item::Ran(ProviderCall { name: name.into(), label: label.into(), output: output.into(), is_error })
}

/// `Item::Opaque`
pub fn opaque(data: Value) -> Item {
    Item::Opaque(ORIGIN.opaque(data))
}

/// `Item::Usage`
pub fn usage(input: u64, output: u64) -> Item {
    Item::Usage { input, output }
}

/// `Item::End`
pub fn end(reason: EndReason) -> Item {
    Item::End { reason }
}

/// `Item::Failed`
pub fn failed(text: &str) -> Item {
    Item::Failed(text.to_owned())
}
