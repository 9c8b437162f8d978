//! Effects become calls of the performers, the Lua functions of `chat/effects.lua`; what they return becomes events. Which
//! effects there are, and in which order, is the engine's business.
//!
//! A performer gets the address of its effect, then a table with named fields where there is more to say.

use std::time::Instant;

use mlua::{FromLuaMulti, Function, IntoLua, Lua, Value};

use super::fields::Fields;
use super::given::PerformError;
use super::replies::Make;
use super::shapes::{self, shape};
use super::unfold::{JsonMarks, Unfolding};
use super::{given, permissions};
use crate::engine::effect::{CallEffect, ChatEffect, Effect, LogLevel};
use crate::engine::event::{Answer, CallEvent, ChatEvent, ChatId, Event};
use crate::error::Error;
use crate::gate::Fact;
use crate::message::Message;
use crate::runtime::Runtime;
use crate::tool::{CallId, Copying, Runner};

macro_rules! performers {
    ($($name:ident)*) => {
        /// The functions that `start` was given.
        struct Functions {
            $($name: Performer,)*
        }

        impl Functions {
            fn read(fields: &Fields) -> Result<Self, Error> {
                Ok(Self { $($name: Performer::read(stringify!($name), fields)?,)* })
            }
        }
    };
}

performers! {
    take_input hold_input start_turn send_request finish_request show_text show_reasoning show_provider_call add_message
    take_back_message truncate_history restore_message restore_call start_batch finish_batch notify finish_turn clear_chat
    close_chat
    add_call prepare_call find_fact load_permissions find_wants ask_judge end_judge ask_approval close_question begin_cmd run_cmd
    store_text kill_jobs run_output run_exit finish_call
    reply tell log
}

/// One of the functions.
struct Performer {
    name: &'static str,
    function: Function,
}

/// Performs effects. Only the main thread has one.
pub struct Performers {
    functions: Functions,
    /// What null and `{}` are in Lua, for arguments.
    marks: JsonMarks,
}

impl Performer {
    fn read(name: &'static str, fields: &Fields) -> Result<Self, Error> {
        Ok(Self { name, function: fields.function(name)? })
    }

    fn threw(&self) -> impl FnOnce(mlua::Error) -> PerformError {
        let performer = self.name;
        move |source| PerformError::Threw { performer, source }
    }

    fn for_chat<R: FromLuaMulti>(&self, chat: ChatId, fields: impl IntoLua) -> Result<R, PerformError> {
        self.function.call((chat.0, fields)).map_err(self.threw())
    }

    fn for_call<R: FromLuaMulti>(&self, chat: ChatId, call: CallId, fields: impl IntoLua) -> Result<R, PerformError> {
        self.function.call((chat.0, call.0, fields)).map_err(self.threw())
    }
}

/// For an effect that says all with its name and address.
const NOTHING: Value = Value::Nil;

impl Performers {
    /// Reads the table given to `start`: all of the functions, and nothing else.
    pub fn read(lua: &Lua, table: Value) -> Result<Self, Error> {
        let fields = Fields::new("start", table)?;
        let functions = Functions::read(&fields)?;
        fields.finish()?;
        let marks = JsonMarks::read(lua).map_err(|error| Error::Lua { export: "start", source: error.into() })?;
        Ok(Self { functions, marks })
    }

    /// Writes a line to the log. Where even that throws there is nobody left to tell.
    pub fn log(&self, level: LogLevel, text: &str) {
        let _ = self.functions.log.function.call::<()>((shapes::level_word(level), text));
    }

    /// Performs one effect. Some: the reply for the engine.
    pub fn perform(&self, lua: &Lua, runtime: &Runtime, effect: Effect) -> Result<Option<Event>, PerformError> {
        match effect {
            Effect::Addressed { chat, effect: ChatEffect::Call { call, effect } } => {
                let reply = self.perform_for_call(lua, runtime, (chat, call), effect)?;
                Ok(reply.map(|event| Event::call(chat, call, event)))
            }
            Effect::Addressed { chat, effect } => {
                let reply = self.perform_for_chat(lua, runtime, chat, effect)?;
                Ok(reply.map(|event| Event::chat(chat, event)))
            }
            Effect::SaveApproval { project, approval } => {
                runtime.save_approval(project, approval);
                Ok(None)
            }
            Effect::Tell { text } => {
                let performer = &self.functions.tell;
                performer.function.call::<()>(text).map_err(performer.threw())?;
                Ok(None)
            }
            Effect::Log { level, text } => {
                self.log(level, &text);
                Ok(None)
            }
        }
    }

    fn perform_for_chat(
        &self,
        lua: &Lua,
        runtime: &Runtime,
        chat: ChatId,
        effect: ChatEffect,
    ) -> Result<Option<ChatEvent>, PerformError> {
        let lua_fn = &self.functions;
        match effect {
            ChatEffect::TakeInput => {
                return given::input(lua_fn.take_input.for_chat(chat, NOTHING)?).map(Some);
            }
            ChatEffect::HoldInput { waiting } => {
                lua_fn.hold_input.for_chat(chat, shape!(lua, hold_input { waiting }))?
            }
            ChatEffect::StartTurn => lua_fn.start_turn.for_chat(chat, NOTHING)?,
            ChatEffect::SendRequest { request } => {
                lua_fn.send_request.for_chat(chat, shape!(lua, send_request { request: request.0 }))?
            }
            ChatEffect::AbortRequest { request } => runtime.abort(request),
            ChatEffect::FinishRequest { request, failed, usage } => {
                let usage = match usage {
                    Some((input, output)) => Some(shape!(lua, Usage { input, output })),
                    None => None,
                };
                let fields = shape!(lua, finish_request { request: request.0, failed, usage });
                lua_fn.finish_request.for_chat(chat, fields)?
            }
            ChatEffect::ShowText { text } => {
                lua_fn.show_text.for_chat(chat, shape!(lua, show_text { text: text.as_str() }))?
            }
            ChatEffect::ShowReasoning { text } => {
                lua_fn.show_reasoning.for_chat(chat, shape!(lua, show_reasoning { text: text.as_str() }))?
            }
            ChatEffect::ShowProviderCall(ran) => {
                let (name, label, output) = (ran.name.as_str(), ran.label.as_str(), ran.output.as_str());
                let fields = shape!(lua, show_provider_call { name, label, output, is_error: ran.is_error });
                lua_fn.show_provider_call.for_chat(chat, fields)?
            }
            ChatEffect::AddMessage { message } => lua_fn.add_message.for_chat(chat, shapes::message(lua, &message)?)?,
            ChatEffect::TakeBackMessage => lua_fn.take_back_message.for_chat(chat, NOTHING)?,
            ChatEffect::TruncateHistory { kept } => {
                lua_fn.truncate_history.for_chat(chat, shape!(lua, truncate_history { kept }))?
            }
            ChatEffect::RestoreMessage { message } => {
                lua_fn.restore_message.for_chat(chat, shapes::message(lua, &message)?)?
            }
            ChatEffect::RestoreCall { message, index, result, look } => {
                if let Some(call) = called(&message, index) {
                    let fields = shapes::restored_call(lua, call, &result, &look.unwrap_or_default())?;
                    lua_fn.restore_call.for_chat(chat, fields)?
                }
            }
            ChatEffect::CheckCalls { calls } => runtime.check_calls(chat, calls),
            ChatEffect::StartBatch { calls } => {
                lua_fn.start_batch.for_chat(chat, shape!(lua, start_batch { calls }))?
            }
            ChatEffect::FinishBatch { failed } => {
                lua_fn.finish_batch.for_chat(chat, shape!(lua, finish_batch { failed }))?
            }
            ChatEffect::Notify(notice) => lua_fn.notify.for_chat(chat, shapes::notice(lua, &notice)?)?,
            ChatEffect::FinishTurn { end } => {
                lua_fn.finish_turn.for_chat(chat, shape!(lua, finish_turn { how: shapes::end_word(end) }))?
            }
            ChatEffect::ClearChat => lua_fn.clear_chat.for_chat(chat, NOTHING)?,
            ChatEffect::CloseChat => {
                runtime.end_chat(chat);
                lua_fn.close_chat.for_chat(chat, NOTHING)?
            }
            // It has performers of its own.
            ChatEffect::Call { .. } => {}
        }
        Ok(None)
    }

    fn perform_for_call(
        &self,
        lua: &Lua,
        runtime: &Runtime,
        (chat, call): (ChatId, CallId),
        effect: CallEffect,
    ) -> Result<Option<CallEvent>, PerformError> {
        let lua_fn = &self.functions;
        match effect {
            CallEffect::AddCall { wire_id, name, arguments, runs } => {
                let (wire_id, name, arguments) = (wire_id.as_str(), name.as_str(), arguments.as_str());
                let fields = shape!(lua, add_call { wire_id, name, arguments, runs: runs.as_deref() });
                lua_fn.add_call.for_call(chat, call, fields)?
            }
            // Its arguments may take long: the pump turns them into Lua in slices, then calls `prepare`.
            CallEffect::PrepareCall { .. } => {}
            CallEffect::FindFact { fact } => {
                let fields = shape!(lua, find_fact { fact: shapes::fact_word(fact) });
                let found = given::fact(fact, &lua_fn.find_fact.for_call(chat, call, fields)?)?;
                return Ok(Some(CallEvent::FactFound { fact, found }));
            }
            CallEffect::LoadPermissions => lua_fn.load_permissions.for_call(chat, call, NOTHING)?,
            CallEffect::FindWants { permissions: rules } => {
                let wants: Value = lua_fn.find_wants.for_call(chat, call, NOTHING)?;
                match permissions::wants(&wants) {
                    Some(wants) => runtime.judge_wants(chat, call, wants, rules),
                    None => return Ok(Some(CallEvent::FactFound { fact: Fact::Wants, found: None })),
                }
            }
            CallEffect::FindSaved { project, approvals } => runtime.find_approvals(chat, call, project, approvals),
            CallEffect::AskJudge => lua_fn.ask_judge.for_call(chat, call, NOTHING)?,
            CallEffect::EndJudge { judged } => {
                runtime.abort_judge(call);
                let (status, reason) = judged.as_ref().map_or(("stopped", ""), |judged| judged.words());
                lua_fn.end_judge.for_call(chat, call, shape!(lua, end_judge { status, reason }))?
            }
            CallEffect::AskApproval { question, changes, rest } => {
                let fields = shapes::question(lua, &question, &changes, rest)?;
                let rejected: Value = lua_fn.ask_approval.for_call(chat, call, fields)?;
                let reason = given::optional_text("ask_approval", &rejected)?;
                let reject = |reason| CallEvent::Answered(Answer::Reject { reason: Some(reason) });
                return Ok(reason.map(reject));
            }
            CallEffect::CloseQuestion => lua_fn.close_question.for_call(chat, call, NOTHING)?,
            CallEffect::RunCmd { cmd, runner, arguments } => match runner {
                Runner::Lua | Runner::Command => {
                    let fields = shape!(lua, run_cmd { cmd: cmd + 1 });
                    return given::cmd(cmd, &lua_fn.run_cmd.for_call(chat, call, fields)?);
                }
                Runner::BuiltIn(name) => {
                    lua_fn.begin_cmd.for_call::<()>(chat, call, shape!(lua, begin_cmd { cmd: cmd + 1 }))?;
                    runtime.run_built_in(chat, call, cmd, &name, arguments);
                }
                Runner::Remote(name) => {
                    lua_fn.begin_cmd.for_call::<()>(chat, call, shape!(lua, begin_cmd { cmd: cmd + 1 }))?;
                    runtime.run_remote(chat, call, cmd, &name);
                }
            },
            CallEffect::StoreText { cmd, succeeded, text } => {
                let fields = shape!(lua, store_text { cmd: cmd + 1, succeeded, text: text.as_str() });
                lua_fn.store_text.for_call(chat, call, fields)?
            }
            CallEffect::KillJobs { why } => {
                runtime.stop_command(call, why);
                lua_fn.kill_jobs.for_call(chat, call, NOTHING)?
            }
            CallEffect::RunOutput { output } => {
                let ran = lua_fn.run_output.for_call(chat, call, shapes::output(lua, &output)?)?;
                return Ok(Some(CallEvent::OutputFinished(given::output(ran)?)));
            }
            CallEffect::RunExit { shared } => {
                lua_fn.run_exit.for_call::<()>(chat, call, shape!(lua, run_exit { shared }))?;
                return Ok(Some(CallEvent::ExitFinished));
            }
            CallEffect::Shorten { content, limits, media } => runtime.shorten(chat, call, content, limits, media),
            CallEffect::FinishCall { outcome, changes, duration_ms, message } => {
                let fields = shapes::finished(lua, &outcome, &changes, duration_ms)?;
                // Nothing is given of a chat that is not saved.
                if let Some(look) = given::look(&message, lua_fn.finish_call.for_call(chat, call, fields)?)? {
                    runtime.store().look(chat, call, look);
                }
            }
        }
        Ok(None)
    }

    /// Turns arguments into Lua until `until`. Some: they are done.
    pub fn unfold(&self, lua: &Lua, arguments: &mut Unfolding, until: Instant) -> Result<Option<Value>, PerformError> {
        Ok(arguments.advance(&self.marks, lua, until)?)
    }

    /// Has Lua make its copy of a call.
    pub fn prepare(
        &self,
        lua: &Lua,
        (chat, call): (ChatId, CallId),
        arguments: Value,
        copying: Copying,
    ) -> Result<Event, PerformError> {
        let fields = shape!(lua, prepare_call { arguments, copying: shapes::copying_word(copying) });
        let prepared = self.functions.prepare_call.for_call(chat, call, fields)?;
        Ok(Event::call(chat, call, given::preparation(prepared)?))
    }

    /// Hands the reply of a slow export to who waits for it.
    pub fn reply(&self, lua: &Lua, number: u64, make: Make) -> Result<(), PerformError> {
        let (value, fault) = match make(lua)? {
            Ok(value) => (value, None),
            Err(fault) => (Value::Nil, Some(fault)),
        };
        let performer = &self.functions.reply;
        performer.function.call((number, value, fault)).map_err(performer.threw())
    }
}

/// Call number `index` of a message.
fn called(message: &Message, index: usize) -> Option<&crate::message::Call> {
    match message {
        Message::Llm { calls, .. } => calls.get(index),
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => None,
    }
}
