//! The offline provider: plays a scripted turn.

use std::sync::Arc;

use super::inbox::Inbox;
use crate::adapter::Item;
use crate::adapter::scripted::{self, Step};
use crate::engine::event::{ChatId, Event, Failure, RequestEvent, RequestId};

/// Plays a turn → items, then the end of the request.
pub(super) async fn play(inbox: Arc<Inbox>, chat: ChatId, request: RequestId, turn: String) {
    let tell = |item| inbox.push(Event::request(chat, request, RequestEvent::Items(vec![item])));
    inbox.push(match steps(&turn, tell).await {
        Ok(()) => Event::request(chat, request, RequestEvent::Finished),
        Err(failure) => Event::request(chat, request, RequestEvent::Failed(failure)),
    });
}

/// Walks the steps of a scripted turn.
pub(super) async fn steps(turn: &str, mut tell: impl FnMut(Item) + Send) -> Result<(), Failure> {
    for step in scripted::decode(turn).map_err(|error| Failure::from(error.to_string()))? {
        match step {
            Step::Wait(delay) => tokio::time::sleep(delay).await,
            Step::Item(item) => tell(item),
            Step::Fail { message, status } => return Err(Failure { message, status, ..Failure::default() }),
            Step::Hang => std::future::pending().await,
        }
        // A task ends only where it waits: this is where an abort takes effect.
        tokio::task::yield_now().await;
    }
    Ok(())
}
