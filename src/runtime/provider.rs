//! A request to a provider, from the history to its last event: the codec builds and reads, `http.rs` sends. Neither knows of
//! the other.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::http::{Http, HttpError, HttpEvent, HttpRequest, Secrets};
use super::inbox::Inbox;
use crate::adapter::{self, BuildInput, Built, Decoder, Item, ToolDefinition, Wire};
use crate::engine::{ChatId, Event, RequestId};
use crate::message::Message;

/// A tool's description as it came from Lua; its JSON is read off the main loop.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedTool {
    /// The tool's name.
    pub name: String,
    /// What the model is told.
    pub description: Option<String>,
    /// JSON Schema of the arguments, as text.
    pub parameters: Option<String>,
    /// Whether the provider is to enforce the schema.
    pub strict: Option<bool>,
}

/// What to send, and where.
pub struct ProviderRequest {
    /// The chat.
    pub chat: ChatId,
    /// The request.
    pub request: RequestId,
    /// The wire format.
    pub wire: Wire,
    /// The history, repaired.
    pub messages: Vec<Arc<Message>>,
    /// The tools on offer.
    pub tools: Arc<[DescribedTool]>,
    /// What the adapter's hook made of the tools, as JSON text.
    pub tools_override: Option<String>,
    /// Fields of the body, as the JSON text of an object.
    pub settings: String,
    /// Whether a stream is asked for.
    pub streaming: bool,
    /// URL, headers and limits; the body is built here.
    pub http: HttpRequest,
}

/// Why nothing was sent.
#[derive(Debug, thiserror::Error)]
enum BuildError {
    #[error("the adapter's parameters are not a JSON object: {0}")]
    Settings(serde_json::Error),
    #[error("what the adapter's build_tools returned is not JSON: {0}")]
    Tools(serde_json::Error),
    #[error("the request could not be built: {0}")]
    Task(tokio::task::JoinError),
}

/// Sends a request → [`Event::RequestItems`]…, [`Event::RequestNoted`]…, then [`Event::RequestFinished`] or
/// [`Event::RequestFailed`], always.
pub async fn ask(http: Arc<Http>, inbox: Arc<Inbox>, provider: ProviderRequest) {
    let (chat, request) = (provider.chat, provider.request);
    let mut answer = Answer { inbox, chat, request, secrets: provider.http.secrets(), is_over: false };
    let end = match send(&http, &mut answer, provider).await {
        Ok(()) => Event::RequestFinished { chat, request },
        Err(message) => Event::RequestFailed { chat, request, message },
    };
    if !answer.is_over {
        answer.inbox.push(end);
    }
}

/// An answer on its way to the engine.
struct Answer {
    inbox: Arc<Inbox>,
    chat: ChatId,
    request: RequestId,
    secrets: Secrets,
    /// Its end was told.
    is_over: bool,
}

impl Answer {
    fn note(&self, text: String) {
        self.inbox.push(Event::RequestNoted { chat: self.chat, request: self.request, text });
    }

    /// Hands on what was decoded. The answer is over when the provider says so, not when it closes the connection: some
    /// never do, some break it off. What else comes is read only so that the connection can be used again.
    fn give(&mut self, mut items: Vec<Item>) {
        let (chat, request) = (self.chat, self.request);
        for item in &mut items {
            if let Item::Failed(text) = item {
                *text = self.secrets.hide(std::mem::take(text));
            }
        }
        let ends = matches!(items.last(), Some(Item::End { .. }));
        if !items.is_empty() {
            self.inbox.push(Event::RequestItems { chat, request, items });
        }
        if ends {
            self.is_over = true;
            self.inbox.push(Event::RequestFinished { chat, request });
        }
    }
}

async fn send(http: &Http, answer: &mut Answer, provider: ProviderRequest) -> Result<(), String> {
    let ProviderRequest { wire, messages, tools, tools_override, settings, streaming, http: mut to_send, .. } =
        provider;
    // A long history takes a while, and a worker has other requests to look after.
    let built = tokio::task::spawn_blocking(move || {
        let Built { body, names, faults } = build(wire, &messages, &tools, tools_override, &settings)?;
        Ok((body.to_string().into_bytes(), names, faults))
    });
    let (body, names, faults) =
        built.await.map_err(BuildError::Task).and_then(|built| built).map_err(|error| error.to_string())?;
    faults.into_iter().for_each(|text| answer.note(text));
    to_send.body = body;
    let mut decoder = Decoder::new(wire, names, streaming);
    let sent = http
        .send(to_send, |event| match event {
            HttpEvent::Retrying { attempt, of, wait_ms, reason } => {
                let seconds = wait_ms.div_ceil(1_000);
                answer.note(format!("{reason}, retry {attempt} of {of} in {seconds} s"));
            }
            HttpEvent::Head { .. } => {}
            HttpEvent::Chunk(bytes) => answer.give(decoder.push(&bytes)),
        })
        .await;
    sent.map_err(|error| explain(&error))?;
    answer.give(decoder.finish());
    Ok(())
}

/// What the user reads: the provider's own words where it has some.
fn explain(error: &HttpError) -> String {
    match error {
        HttpError::Status { status, body, content_type, .. } => {
            let said = adapter::error_text(*status, body, content_type.as_deref());
            if said.is_empty() { error.to_string() } else { format!("{status}: {said}") }
        }
        other => other.to_string(),
    }
}

fn build(
    wire: Wire,
    messages: &[Arc<Message>],
    tools: &[DescribedTool],
    tools_override: Option<String>,
    settings: &str,
) -> Result<Built, BuildError> {
    let settings: Map<String, Value> = serde_json::from_str(settings).map_err(BuildError::Settings)?;
    let tools_override = match tools_override {
        Some(text) => Some(serde_json::from_str::<Value>(&text).map_err(BuildError::Tools)?),
        None => None,
    };
    let tools: Vec<ToolDefinition> = tools.iter().map(definition).collect();
    let tools_override = tools_override.as_ref();
    Ok(adapter::build(wire, BuildInput { messages, tools: &tools, tools_override, settings: &settings }))
}

fn definition(tool: &DescribedTool) -> ToolDefinition {
    let parameters = tool.parameters.as_deref().and_then(|text| serde_json::from_str(text).ok());
    ToolDefinition {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: parameters.unwrap_or_default(),
        strict: tool.strict,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc;
    use std::time::Duration;

    use super::super::Runtime;
    use super::super::http::Environment;
    use super::*;

    /// Longer than anything here takes on a busy machine; only a failing test waits that long.
    const PATIENCE: Duration = Duration::from_secs(20);
    const KEY: &str = "sk-very-secret-4711";

    /// The events of a request that is answered with this stream, up to its end; `after` has the connection then.
    fn events(stream: &str, after: impl FnOnce(TcpStream) + Send + 'static) -> Vec<Event> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
        let reply = format!("{head}{:x}\r\n{stream}\r\n", stream.len());
        std::thread::spawn(move || {
            let (client, _) = listener.accept().expect("a client");
            let mut reader = BufReader::new(client);
            let mut line = String::new();
            let mut length = 0;
            while reader.read_line(&mut line).expect("a head") > 2 {
                let value =
                    line.to_ascii_lowercase().strip_prefix("content-length: ").map(|value| value.trim().to_owned());
                length = value.map_or(length, |value| value.parse().expect("a length"));
                line.clear();
            }
            reader.read_exact(&mut vec![0; length]).expect("a body");
            let mut client = reader.into_inner();
            client.write_all(reply.as_bytes()).expect("a client");
            after(client);
        });
        let (wake, woken) = mpsc::channel();
        let inbox = Arc::new(Inbox::new(move || {
            let _ = wake.send(());
        }));
        let runtime = Runtime::new(Arc::clone(&inbox));
        let headers = vec![("Authorization".to_owned(), format!("Bearer {KEY}"))];
        let http = HttpRequest { environment: Environment::default(), ..HttpRequest::new(url, headers, Vec::new()) };
        runtime.start_provider(ProviderRequest {
            chat: ChatId(1),
            request: RequestId(1),
            wire: Wire::OpenAi,
            messages: Vec::new(),
            tools: Arc::from([]),
            tools_override: None,
            settings: "{}".to_owned(),
            streaming: true,
            http,
        });
        let mut events = Vec::new();
        loop {
            while let Some(event) = inbox.pop() {
                let is_end = matches!(event, Event::RequestFinished { .. } | Event::RequestFailed { .. });
                events.push(event);
                if is_end {
                    return events;
                }
            }
            woken.recv_timeout(PATIENCE).expect("an end in time");
        }
    }

    const DONE: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"whole\"}}]}\n\ndata: [DONE]\n\n";

    #[test]
    fn an_answer_is_over_when_the_provider_says_so_and_the_connection_stays_open() {
        let (gone, left) = mpsc::channel::<()>();
        let events = events(DONE, move |client| {
            let _ = left.recv();
            drop(client);
        });
        assert!(matches!(events.last(), Some(Event::RequestFinished { .. })), "{events:?}");
        drop(gone);
    }

    #[test]
    fn a_connection_that_breaks_after_the_end_of_an_answer_does_not_fail_it() {
        let events = events(DONE, drop);
        assert!(matches!(events.last(), Some(Event::RequestFinished { .. })), "{events:?}");
    }

    #[test]
    fn a_key_that_a_stream_quotes_in_its_error_is_hidden() {
        let error = format!("data: {{\"error\":{{\"message\":\"Incorrect API key provided: {KEY}\"}}}}\n\n");
        let text = format!("{:?}", events(&error, drop));
        assert!(text.contains("provided: [hidden]") && !text.contains(KEY), "{text}");
    }
}
