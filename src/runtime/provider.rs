//! A request to a provider, from the history to its last event: the codec builds and reads, `http.rs` sends. Neither knows of
//! the other.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::http::{Http, HttpError, HttpEvent, HttpRequest, Secrets};
use super::inbox::Inbox;
use crate::adapter::{self, Asked, BuildInput, Built, Decoder, Dialect, Item, Origin, ToolDefinition, Wire};
use crate::engine::event::{ChatId, Event, Failure, RequestEvent, RequestId, Retry};
use crate::message::Message;

/// How long the body of an answer that is complete may take to end. Some servers keep it open.
const LINGER: Duration = Duration::from_millis(200);

/// The longest answer, in bytes of its body. A stream has some hundred of them for each token.
const MAX_ANSWER_BYTES: usize = 256 << 20;

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
#[derive(Clone)]
pub struct ProviderRequest {
    /// The wire format.
    pub wire: Wire,
    /// The history, repaired.
    pub messages: Vec<Arc<Message>>,
    /// The tools on offer.
    pub tools: Arc<[DescribedTool]>,
    /// What the adapter's hook made of the tools, as JSON text.
    pub tools_override: Option<String>,
    /// A list of tools that the provider knows by itself, as the body names them, as JSON text.
    pub extra_tools: Option<String>,
    /// Whether the model takes pictures.
    pub vision: bool,
    /// Fields of the body, as the JSON text of an object.
    pub settings: String,
    /// The adapter's name.
    pub adapter: String,
    /// The model's name.
    pub model: String,
    /// How the server differs from others that speak the format, as the JSON text of a [`Dialect`].
    pub dialect: Option<String>,
    /// Whether a stream is asked for.
    pub streaming: bool,
    /// JSON Schema of the answer; none: it may be any text.
    pub answer: Option<&'static Value>,
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
    #[error("what the adapter's own tools added is not a list of JSON: {0}")]
    ExtraTools(serde_json::Error),
    #[error("the adapter's dialect does not fit: {0}")]
    Dialect(serde_json::Error),
    #[error("the request could not be built: {0}")]
    Task(tokio::task::JoinError),
}

/// What comes while a request is answered.
pub enum Part {
    /// Pieces of the answer.
    Items(Vec<Item>),
    /// Something that the user should know.
    Note(String),
    /// It failed for now and is sent again.
    Retry(Retry),
}

/// Sends a request of a chat → [`RequestEvent::Noted`]…, [`RequestEvent::Retried`]…, [`RequestEvent::Items`]…, then [`RequestEvent::Finished`] or
/// [`RequestEvent::Failed`], always.
pub async fn ask(http: Arc<Http>, inbox: Arc<Inbox>, chat: ChatId, request: RequestId, provider: ProviderRequest) {
    let tell = |part| {
        inbox.push(match part {
            Part::Items(items) => Event::request(chat, request, RequestEvent::Items(items)),
            Part::Note(text) => Event::request(chat, request, RequestEvent::Noted { text }),
            Part::Retry(retry) => Event::request(chat, request, RequestEvent::Retried(retry)),
        });
    };
    let last = match send(&http, provider, tell).await {
        Ok(()) => Event::request(chat, request, RequestEvent::Finished),
        Err(failure) => Event::request(chat, request, RequestEvent::Failed(failure)),
    };
    inbox.push(last);
}

/// Sends a request and tells what comes.
///
/// # Errors
/// Why there is no (complete) answer.
pub async fn send(http: &Http, provider: ProviderRequest, mut tell: impl FnMut(Part) + Send) -> Result<(), Failure> {
    let (wire, mut to_send) = (provider.wire, provider.http.clone());
    // A long history takes a while, and a worker has other requests to look after.
    let built = tokio::task::spawn_blocking(move || build(&provider));
    let (body, asked, faults) = built
        .await
        .map_err(BuildError::Task)
        .and_then(|built| built)
        .map_err(|error| Failure::from(error.to_string()))?;
    for text in faults {
        tell(Part::Note(text));
    }
    to_send.body = body;
    let mut decoder = Decoder::new(wire, asked);
    let secrets = to_send.secrets();
    let shown = |items: Vec<Item>| items.into_iter().map(|item| without(&secrets, item)).collect::<Vec<_>>();
    let over = Notify::new();
    let mut received = 0;
    let answer = http.send(to_send, |event| match event {
        HttpEvent::Retrying { attempt, of, wait_ms, reason } => {
            tell(Part::Retry(Retry { reason, attempt, of, wait_ms }));
        }
        HttpEvent::Head { .. } => {}
        HttpEvent::Chunk(_) if decoder.is_over() => {}
        HttpEvent::Chunk(bytes) => {
            let items = shown(decoder.push(&bytes));
            if !items.is_empty() {
                tell(Part::Items(items));
            }
            received += bytes.len();
            if received > MAX_ANSWER_BYTES && !decoder.is_over() {
                let limit = MAX_ANSWER_BYTES >> 20;
                // It ends the request.
                let text = format!("The server sent an answer of more than {limit} MiB.");
                tell(Part::Items(vec![Item::Failed(text)]));
            }
            if decoder.is_over() {
                over.notify_one();
            }
        }
    });
    // The end of the body is only waited for because the connection can be used again after it.
    let lingering = async {
        over.notified().await;
        tokio::time::sleep(LINGER).await;
    };
    let sent = first(answer, lingering).await.unwrap_or(Ok(()));
    match sent {
        // Once more: a key that the body spelled in JSON is one now.
        Err(error) if !(decoder.is_over() || decoder.is_whole()) => {
            let Failure { message, status, names_provider } = failure(&error);
            Err(Failure { message: secrets.hide(message), status, names_provider })
        }
        _ => {
            let items = shown(decoder.finish());
            if !items.is_empty() {
                tell(Part::Items(items));
            }
            Ok(())
        }
    }
}

/// The longest document that is fetched, in bytes.
const MAX_DOCUMENT_BYTES: usize = 16 << 20;

/// Gets a document, such as a list of models.
///
/// # Errors
/// Why there is none; the text is for the user.
pub async fn fetch(http: &Http, request: HttpRequest) -> Result<Vec<u8>, String> {
    let secrets = request.secrets();
    let mut document = Vec::new();
    let mut is_cut = false;
    let sent = http.send(request, |event| {
        if let HttpEvent::Chunk(bytes) = event {
            is_cut |= document.len() + bytes.len() > MAX_DOCUMENT_BYTES;
            if !is_cut {
                document.extend_from_slice(&bytes);
            }
        }
    });
    sent.await.map_err(|error| secrets.hide(failure(&error).to_string()))?;
    if is_cut { Err("the document is too long".to_owned()) } else { Ok(secrets.hide_bytes(document)) }
}

/// What the work gives; none: the end came first, and the work was dropped.
pub(super) async fn first<R>(work: impl Future<Output = R>, end: impl Future<Output = ()>) -> Option<R> {
    let (mut work, mut end) = (pin!(work), pin!(end));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => end.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// Servers quote keys in the errors that they put into a stream, too.
fn without(secrets: &Secrets, item: Item) -> Item {
    match item {
        Item::Failed(text) => Item::Failed(secrets.hide(text)),
        other => other,
    }
}

/// Why there is no answer: in the provider's own words where it has some.
fn failure(error: &HttpError) -> Failure {
    if let HttpError::Status { status, body, content_type, .. } = error {
        let message = adapter::error_text(*status, body, content_type.as_deref());
        if !message.is_empty() {
            return Failure { message, status: Some(*status), ..Failure::default() };
        }
    }
    error.to_string().into()
}

/// The body, what its decoder must know, and what the user should.
fn build(provider: &ProviderRequest) -> Result<(Vec<u8>, Asked, Vec<String>), BuildError> {
    let settings = adapter::read_tables(&provider.settings).and_then(serde_json::from_value);
    let settings: Map<String, Value> = settings.map_err(BuildError::Settings)?;
    let tools_override = match &provider.tools_override {
        Some(text) => Some(adapter::read_tables(text).map_err(BuildError::Tools)?),
        None => None,
    };
    let extra_tools: Vec<Value> = match &provider.extra_tools {
        Some(text) => adapter::read_tables(text).and_then(serde_json::from_value).map_err(BuildError::ExtraTools)?,
        None => Vec::new(),
    };
    let dialect: Dialect = match &provider.dialect {
        Some(text) => serde_json::from_str(text).map_err(BuildError::Dialect)?,
        None => Dialect::default(),
    };
    let origin = Origin { adapter: provider.adapter.clone(), model: provider.model.clone() };
    let tools: Vec<ToolDefinition> = provider.tools.iter().map(definition).collect();
    let input = BuildInput {
        messages: &provider.messages,
        tools: &tools,
        tools_override: tools_override.as_ref(),
        extra_tools: &extra_tools,
        vision: provider.vision,
        settings: &settings,
        answer: provider.answer,
        origin: &origin,
        dialect: &dialect,
        now_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
    };
    let built = adapter::build(provider.wire, input);
    let body = built.json().into_bytes();
    let Built { names, faults, prefix, .. } = built;
    let asked = Asked { names, origin, dialect, streaming: provider.streaming, prefix };
    Ok((body, asked, faults))
}

fn definition(tool: &DescribedTool) -> ToolDefinition {
    let parameters = tool.parameters.as_deref().and_then(|text| serde_json::from_str(text).ok());
    // Lua writes the keys of a table in another order in each process, and caches go by the letters.
    let parameters = parameters.map(|mut parameters: Value| {
        parameters.sort_all_objects();
        parameters
    });
    ToolDefinition {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: parameters.unwrap_or_default(),
        strict: tool.strict,
    }
}
