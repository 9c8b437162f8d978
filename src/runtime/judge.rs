//! A request to the judge: asked beside the chat, of whose history it sees nothing, and answered with one event.

use std::sync::Arc;

use tokio::sync::Notify;

use super::http::Http;
use super::inbox::Inbox;
use super::provider::{self, Part, ProviderRequest, first};
use super::scripted::steps;
use crate::adapter::{EndReason, Item};
use crate::engine::event::{CallEvent, ChatId, Event, Failure};
pub use crate::gate::judge::SCHEMA;
pub use crate::gate::judge::one_line;
use crate::gate::judge::{self, Judged, MAX_ANSWER_BYTES};
use crate::gate::{Fact, Found};
use crate::message::Message;
use crate::tool::CallId;

/// Who judges.
pub enum Judge {
    /// A provider. Its request has the two messages, and asks for an answer of the judge's form. `plain`: what the user's
    /// message says instead for a model that does not keep to the form.
    Provider {
        /// The request.
        request: Box<ProviderRequest>,
        /// The other message.
        plain: String,
    },
    /// A scripted turn, as JSON text.
    Scripted(String),
}

/// Asks about a call → [`CallEvent::FactFound`] with [`Found::Judge`], always.
pub(super) async fn ask(http: Arc<Http>, inbox: Arc<Inbox>, chat: ChatId, call: CallId, judge: Judge) {
    let judged = match judge {
        Judge::Scripted(turn) => {
            let mut answer = Answer::default();
            match steps(&turn, |item| answer.take(vec![item])).await {
                Ok(()) => answer.judged(),
                Err(failure) => Judged::Failed(judge::one_line(&failure.to_string())),
            }
        }
        Judge::Provider { request, plain } => by_provider(&http, *request, plain).await,
    };
    inbox.push(found(chat, call, judged));
}

/// What is known when the judge could not even be asked.
pub fn found(chat: ChatId, call: CallId, judged: Judged) -> Event {
    Event::call(chat, call, CallEvent::FactFound { fact: Fact::Judge, found: Some(Found::Judge(judged)) })
}

/// Asks for an answer of the judge's form, then without the schema where that is refused, then for a plain one where no
/// answer of the form came.
async fn by_provider(http: &Http, request: ProviderRequest, plain: String) -> Judged {
    let mut heard = send(http, request.clone()).await;
    if matches!(heard, Err(Failure { status: Some(400 | 422), .. })) {
        // Not every server takes a schema, and each refuses in words of its own. The prompt asks for the same.
        heard = send(http, ProviderRequest { answer: None, ..request.clone() }).await;
    }
    let why = match heard.map(|text| judge::read(&text)) {
        Ok(Judged::Failed(why)) => why,
        Ok(judged) => return judged,
        Err(failure) => return Judged::Failed(judge::one_line(&failure.to_string())),
    };
    let mut messages = request.messages.clone();
    if let Some(last) = messages.last_mut() {
        *last = Arc::new(Message::User { content: plain, visible: false, typed: None, attachments: Vec::new() });
    }
    match send(http, ProviderRequest { answer: None, messages, ..request }).await.map(|text| judge::read_plain(&text)) {
        Ok(judged @ (Judged::Safe(_) | Judged::Unsafe(_))) => judged,
        Ok(Judged::Failed(_)) | Err(_) => Judged::Failed(why),
    }
}

/// The text of an answer.
///
/// # Errors
/// Why there is none.
async fn send(http: &Http, request: ProviderRequest) -> Result<String, Failure> {
    let mut answer = Answer::default();
    let full = Notify::new();
    let sent = provider::send(http, request, |part| {
        if let Part::Items(items) = part {
            answer.take(items);
            if answer.is_over() {
                full.notify_one();
            }
        }
    });
    match first(sent, full.notified()).await {
        Some(Err(failure)) => Err(failure),
        Some(Ok(())) | None => answer.fault.map_or(Ok(answer.text), |why| Err(why.into())),
    }
}

/// An answer as it arrives.
#[derive(Default)]
struct Answer {
    text: String,
    fault: Option<String>,
}

impl Answer {
    fn take(&mut self, items: Vec<Item>) {
        for item in items {
            match item {
                Item::Text(text) if self.text.len() + text.len() > MAX_ANSWER_BYTES => {
                    self.fail("its answer is too long");
                }
                Item::Text(text) => self.text.push_str(&text),
                Item::CallStarted { .. } => self.fail("it called a tool instead of answering"),
                Item::Failed(message) => self.fail(&judge::one_line(&message)),
                Item::End { reason: EndReason::Length } => self.fail("its answer was cut off"),
                Item::End { reason: EndReason::ContentFilter(_) } => {
                    self.fail("the provider's filter cut its answer off");
                }
                Item::End { reason: EndReason::Refused(_) } => self.fail("the provider refuses to answer"),
                Item::End {
                    reason: EndReason::Stop | EndReason::ToolCalls | EndReason::Paused | EndReason::Other(_),
                } => {}
                Item::Reasoning(_)
                | Item::Usage { .. }
                | Item::CallArguments { .. }
                | Item::CallExtra { .. }
                | Item::Ran(_)
                | Item::Opaque(_) => {}
            }
        }
    }

    fn fail(&mut self, why: &str) {
        self.fault.get_or_insert_with(|| why.to_owned());
    }

    /// Whether nothing that comes can change what is said.
    fn is_over(&self) -> bool {
        self.fault.is_some()
    }

    fn judged(self) -> Judged {
        self.fault.map_or_else(|| judge::read(&self.text), Judged::Failed)
    }
}
