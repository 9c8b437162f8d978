//! What a call needs done off the main loop: its arguments checked, what it wants found, its cmds run, its result shortened.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::commands::{CommandCmd, RunError};
use super::{Runtime, media, permissions};
use crate::engine::effect::KillReason;
use crate::engine::event::{CallEvent, ChatEvent, ChatId, Event};
use crate::gate::pair::Wants;
use crate::gate::{Fact, Found, Permissions};
use crate::media::Given;
use crate::output::{self, Limits};
use crate::schema::Schemas;
use crate::tool::{ArgumentsError, CallId, CheckedCall, KeptMedia, SchemaId, UncheckedCall};

impl Runtime {
    /// Decodes and checks arguments → [`ChatEvent::CallsChecked`], always.
    pub fn check_calls(&self, chat: ChatId, calls: Vec<UncheckedCall>) {
        match self.workers() {
            Ok(workers) => {
                let (inbox, schemas) = (Arc::clone(&self.inbox), Arc::clone(&self.schemas));
                // A schema may take for ever to check; the workers are for what other chats wait for.
                workers.handle.spawn_blocking(move || {
                    let calls = calls.into_iter().map(|call| check(&schemas, call)).collect();
                    inbox.push(Event::chat(chat, ChatEvent::CallsChecked(calls)));
                });
            }
            Err(error) => {
                let message = format!("The arguments could not be checked: {}.", error.with_causes());
                let calls = calls.into_iter().map(|call| unchecked(call, &message)).collect();
                self.inbox.push(Event::chat(chat, ChatEvent::CallsChecked(calls)));
            }
        }
    }

    /// Compiles schemas that will soon be needed. Nothing depends on it: a schema that is not compiled yet is when a call
    /// is checked.
    pub fn compile_schemas(&self, schemas: Vec<SchemaId>) {
        if let (false, Ok(workers)) = (schemas.is_empty(), self.workers()) {
            let known = Arc::clone(&self.schemas);
            workers.handle.spawn_blocking(move || {
                for schema in schemas {
                    // One that makes the compiler panic says so when it is used.
                    let _ = catch_unwind(AssertUnwindSafe(|| known.compile(schema)));
                }
            });
        }
    }

    /// Finds what a call wants → [`CallEvent::FactFound`], always.
    pub fn judge_wants(&self, chat: ChatId, call: CallId, wants: Wants, permissions: Arc<Permissions>) {
        let inbox = Arc::clone(&self.inbox);
        self.in_background(move || {
            let found = catch_unwind(|| Found::Wants(permissions::judge(&wants, &permissions).into())).ok();
            inbox.push(Event::call(chat, call, CallEvent::FactFound { fact: Fact::Wants, found }));
        });
    }

    /// Starts a command cmd → [`CallEvent::CommandStarted`], then [`CallEvent::CommandFinished`], always.
    ///
    /// # Errors
    /// Each variant of [`RunError`]; no event follows then.
    pub fn run_command(&self, cmd: CommandCmd) -> Result<(), RunError> {
        if self.shut_down.load(Ordering::Acquire) {
            return Err(RunError::ShutDown);
        }
        self.commands.start(&self.inbox, self.spill(), self.keys.secrets(), cmd)
    }

    /// Ends what runs of a call outside of Lua, if anything does; its event follows.
    pub fn stop_command(&self, call: CallId, why: KillReason) {
        self.commands.stop(call, why);
        self.runners.stop(&self.inbox, call);
    }

    /// Cuts a result that is too long and saves the whole and its media → [`CallEvent::Shortened`], always.
    pub fn shorten(&self, chat: ChatId, call: CallId, content: String, limits: Limits, media: Vec<Given>) {
        let (inbox, spill, folder) = (Arc::clone(&self.inbox), self.spill(), self.media_folder.get().cloned());
        let cut = move || {
            let cut = catch_unwind(|| output::cut(&content, &limits, &spill));
            let (content, file) = cut.map(|output| (output.text, output.file)).unwrap_or_else(|_| {
                let text = "The result is too long and could not be cut: an internal error of lathe. It is lost.";
                (text.to_owned(), None)
            });
            let count = media.len();
            let media = catch_unwind(AssertUnwindSafe(|| media::keep(media, folder.as_deref())));
            let media = media.unwrap_or_else(|_| KeptMedia {
                notes: Some(format!("[{count} files could not be kept: an internal error of lathe. They are lost.]")),
                ..KeptMedia::default()
            });
            inbox.push(Event::call(chat, call, CallEvent::Shortened { content, file, media }));
        };
        match self.workers() {
            Ok(workers) => drop(workers.handle.spawn_blocking(cut)),
            // Without threads it is slow instead of lost.
            Err(_) => cut(),
        }
    }
}

/// Checks one call. A panic in the validator must not leave a chat waiting for ever.
fn check(schemas: &Schemas, call: UncheckedCall) -> CheckedCall {
    let id = call.call;
    catch_unwind(AssertUnwindSafe(|| schemas.check(call))).unwrap_or_else(|_| {
        let text = "The arguments could not be checked: an internal error of lathe. Nothing was run.";
        CheckedCall::new(id, Err(ArgumentsError::NotChecked(text.to_owned())))
    })
}

fn unchecked(call: UncheckedCall, message: &str) -> CheckedCall {
    CheckedCall::new(call.call, Err(ArgumentsError::NotChecked(message.to_owned())))
}
