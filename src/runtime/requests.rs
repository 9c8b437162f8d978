//! Requests to providers and judges: who plays or sends them, and what ends them.

use std::sync::Arc;

use super::http::HttpRequest;
use super::judge::{self, Judge};
use super::keys::Waiting;
use super::provider::{self, ProviderRequest};
use super::{Runtime, scripted};
use crate::engine::event::{ChatId, Event, RequestEvent, RequestId};
use crate::error::OUR_FAULT;
use crate::gate::judge::Judged;
use crate::tool::CallId;

impl Runtime {
    /// Plays a scripted turn → [`RequestEvent::Items`]…, then [`RequestEvent::Finished`] or [`RequestEvent::Failed`].
    pub fn start_scripted(&self, chat: ChatId, request: RequestId, turn: String) {
        match self.workers() {
            Ok(workers) => {
                let answer = scripted::play(Arc::clone(&self.inbox), chat, request, turn);
                self.requests.start(&workers.handle, &self.inbox, request, answer, request_panicked(chat, request));
            }
            Err(error) => {
                self.inbox.push(Event::request(chat, request, RequestEvent::Failed(error.with_causes().into())));
            }
        }
    }

    /// Sends a request to a provider; the events are those of [`provider::ask`].
    pub fn start_provider(&self, chat: ChatId, request: RequestId, provider: ProviderRequest) {
        self.add_sent_secrets(&provider.http);
        match self.workers() {
            Ok(workers) => {
                let answer = provider::ask(Arc::clone(&self.http), Arc::clone(&self.inbox), chat, request, provider);
                self.requests.start(&workers.handle, &self.inbox, request, answer, request_panicked(chat, request));
            }
            Err(error) => {
                self.inbox.push(Event::request(chat, request, RequestEvent::Failed(error.with_causes().into())));
            }
        }
    }

    /// Gets a small document. `done` is called on another thread; an error is for the user.
    pub fn fetch(&self, request: HttpRequest, done: impl FnOnce(Result<Vec<u8>, String>) + Send + 'static) {
        self.add_sent_secrets(&request);
        match self.workers() {
            Ok(workers) => {
                let http = Arc::clone(&self.http);
                workers.handle.spawn(async move { done(provider::fetch(&http, request).await) });
            }
            Err(error) => done(Err(error.with_causes())),
        }
    }

    /// Asks the judge about a call → `CallEvent::FactFound`, always, unless [`Runtime::abort_judge`] comes first.
    pub fn ask_judge(&self, chat: ChatId, call: CallId, judge: Judge) {
        if let Judge::Provider { request: provider, .. } = &judge {
            self.add_sent_secrets(&provider.http);
        }
        let failed = |why: String| judge::found(chat, call, Judged::Failed(why));
        match self.workers() {
            Ok(workers) => {
                let asked = judge::ask(Arc::clone(&self.http), Arc::clone(&self.inbox), chat, call, judge);
                self.judges.start(&workers.handle, &self.inbox, call, asked, failed(OUR_FAULT.to_owned()));
            }
            Err(error) => self.inbox.push(failed(error.with_causes())),
        }
    }

    /// Ends what asks the judge about a call, if anything does.
    pub fn abort_judge(&self, call: CallId) {
        self.judges.abort(call);
        self.keys.stop(Waiting::Judge(call));
    }

    /// Ends a request. It sends nothing more, but for an event that is on its way at this moment.
    pub fn abort(&self, request: RequestId) {
        self.requests.abort(request);
        self.keys.stop(Waiting::Request(request));
    }
}

pub(super) fn request_panicked(chat: ChatId, request: RequestId) -> Event {
    Event::request(chat, request, RequestEvent::Failed(OUR_FAULT.to_owned().into()))
}
