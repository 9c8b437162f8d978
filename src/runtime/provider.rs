//! A request to a provider, from the history to its last event: the codec builds and reads, `http.rs` sends. Neither knows of
//! the other.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::http::{Http, HttpError, HttpEvent, HttpRequest};
use super::inbox::Inbox;
use crate::adapter::{self, BuildInput, Built, Decoder, ToolDefinition, Wire};
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
    let last = match send(&http, &inbox, provider).await {
        Ok(()) => Event::RequestFinished { chat, request },
        Err(message) => Event::RequestFailed { chat, request, message },
    };
    inbox.push(last);
}

async fn send(http: &Http, inbox: &Arc<Inbox>, provider: ProviderRequest) -> Result<(), String> {
    let ProviderRequest { chat, request, wire, streaming, http: mut to_send, .. } = provider;
    let (messages, tools) = (provider.messages, provider.tools);
    let (settings, tools_override) = (provider.settings, provider.tools_override);
    // A long history takes a while, and a worker has other requests to look after.
    let built = tokio::task::spawn_blocking(move || build(wire, &messages, &tools, tools_override, &settings));
    let Built { body, names, faults } =
        built.await.map_err(BuildError::Task).and_then(|built| built).map_err(|error| error.to_string())?;
    for text in faults {
        inbox.push(Event::RequestNoted { chat, request, text });
    }
    to_send.body = body.to_string().into_bytes();
    let mut decoder = Decoder::new(wire, names, streaming);
    let sent = http
        .send(to_send, |event| match event {
            HttpEvent::Retrying { attempt, of, wait_ms, reason } => {
                let seconds = wait_ms.div_ceil(1_000);
                let text = format!("{reason}, retry {attempt} of {of} in {seconds} s");
                inbox.push(Event::RequestNoted { chat, request, text });
            }
            HttpEvent::Head { .. } => {}
            HttpEvent::Chunk(bytes) => {
                let items = decoder.push(&bytes);
                if !items.is_empty() {
                    inbox.push(Event::RequestItems { chat, request, items });
                }
            }
        })
        .await;
    match sent {
        Ok(()) => {
            let items = decoder.finish();
            if !items.is_empty() {
                inbox.push(Event::RequestItems { chat, request, items });
            }
            Ok(())
        }
        Err(error) => Err(explain(&error)),
    }
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
