//! Effects become calls of the performers, the Lua functions of `chat/effects.lua`; what they return becomes events. Which
//! effects there are, and in which order, is the engine's business.

use std::time::Instant;

use mlua::{FromLuaMulti, Function, IntoLuaMulti, Lua, MultiValue, Value};

use super::fields::{Fields, exact_text, integer, text};
use super::permissions::{self, Asked};
use super::replies::Make;
use super::unfold::{JsonMarks, Unfolding};
use crate::engine::effect::{Effect, LogLevel, Notice, Output, TurnEnd};
use crate::engine::event::{Answer, ChatId, Event, OutputOutcome, Retry};
use crate::engine::restore::{Body, Look};
use crate::error::Error;
use crate::gate::{Cause, Fact, Found};
use crate::message::Message;
use crate::runtime::Runtime;
use crate::tool::{CallId, Copying, Defined, GateSettings, OwnApproval, Preparation};

/// What the user reads where a fault of ours ends a call or a request.
const OUR_FAULT: &str = "internal error of lathe, see :Lathe log";

macro_rules! performers {
    ($($name:ident)*) => {
        /// The functions that `start` was given.
        struct Functions {
            $($name: Function,)*
        }

        impl Functions {
            fn read(fields: &Fields) -> Result<Self, Error> {
                Ok(Self { $($name: fields.function(stringify!($name))?,)* })
            }
        }
    };
}

performers! {
    take_input hold_input start_turn send_request finish_request show_text show_reasoning show_provider_call add_message take_back_message
    cut_history add_call start_batch finish_batch prepare_call find_fact load_permissions find_wants ask_judge end_judge
    ask_approval close_question run_cmd
    store_text kill_jobs run_output run_exit restore_message restore_call reply finish_call notify tell finish_turn clear_chat
    close_chat log
}

/// Performs effects. Only the main thread has one.
pub struct Performers {
    functions: Functions,
    /// What null and `{}` are in Lua, for arguments.
    marks: JsonMarks,
}

/// A performer that threw, or returned something that it must not.
#[derive(Debug, thiserror::Error)]
pub enum PerformError {
    /// It threw.
    #[error("{performer}: {source}")]
    Threw {
        /// The performer.
        performer: &'static str,
        /// With the traceback.
        source: mlua::Error,
    },
    /// It returned what no event can be made of.
    #[error("{performer}: returned {given} where {wanted} is wanted")]
    Returned {
        /// The performer.
        performer: &'static str,
        /// What is wanted.
        wanted: &'static str,
        /// What it returned.
        given: String,
    },
}

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
        let _ = self.functions.log.call::<()>((level_word(level), text));
    }

    /// Performs one effect. Some: the reply for the engine.
    pub fn perform(&self, runtime: &Runtime, effect: Effect) -> Result<Option<Event>, PerformError> {
        let lua_fn = &self.functions;
        match effect {
            Effect::TakeInput { chat } => {
                let (text, typed): (Value, Value) = call("take_input", &lua_fn.take_input, chat.0)?;
                let (text, typed) = (optional_text("take_input", &text)?, optional_text("take_input", &typed)?);
                let typed = typed.filter(|typed| text.as_ref() != Some(typed));
                return Ok(Some(Event::InputTaken { chat, text, typed }));
            }
            Effect::HoldInput { chat, waiting } => call("hold_input", &lua_fn.hold_input, (chat.0, waiting))?,
            Effect::StartTurn { chat } => call("start_turn", &lua_fn.start_turn, chat.0)?,
            Effect::SendRequest { chat, request } => call("send_request", &lua_fn.send_request, (chat.0, request.0))?,
            Effect::AbortRequest { request, .. } => runtime.abort(request),
            Effect::FinishRequest { chat, request, failed, usage } => {
                let (input, output) = usage.unzip();
                call("finish_request", &lua_fn.finish_request, (chat.0, request.0, failed, input, output))?
            }
            Effect::ShowText { chat, text } => call("show_text", &lua_fn.show_text, (chat.0, text.as_str()))?,
            Effect::ShowReasoning { chat, text } => {
                call("show_reasoning", &lua_fn.show_reasoning, (chat.0, text.as_str()))?
            }
            Effect::ShowProviderCall { chat, call: ran } => {
                let arguments = (chat.0, ran.name.as_str(), ran.label.as_str(), ran.output.as_str(), ran.is_error);
                call("show_provider_call", &lua_fn.show_provider_call, arguments)?
            }
            Effect::AddMessage { chat, message } => self.message("add_message", &lua_fn.add_message, chat, &message)?,
            Effect::TakeBackMessage { chat } => call("take_back_message", &lua_fn.take_back_message, chat.0)?,
            Effect::CutHistory { chat, kept } => call("cut_history", &lua_fn.cut_history, (chat.0, kept))?,
            Effect::AddCall { chat, call: id, wire_id, name, arguments, runs } => {
                let arguments = (chat.0, id.0, wire_id.as_str(), name.as_str(), arguments.as_str(), runs.as_deref());
                call("add_call", &lua_fn.add_call, arguments)?
            }
            Effect::RestoreMessage { chat, message } => {
                self.message("restore_message", &lua_fn.restore_message, chat, &message)?;
            }
            Effect::RestoreCall { chat, message, index, result, look } => {
                self.restore_call(chat, (&message, index), &result, look.unwrap_or_default())?;
            }
            Effect::CheckCalls { chat, calls } => runtime.check_calls(chat, calls),
            Effect::StartBatch { chat, calls } => call("start_batch", &lua_fn.start_batch, (chat.0, calls))?,
            // Its arguments may take long: the pump turns them into Lua in slices, then calls `prepare`.
            Effect::PrepareCall { .. } => {}
            Effect::FindFact { chat, call: id, fact } => {
                let given: Value = call("find_fact", &lua_fn.find_fact, (chat.0, id.0, fact_word(fact)))?;
                let found = found(fact, &given)?;
                return Ok(Some(Event::FactFound { chat, call: id, fact, found }));
            }
            Effect::LoadPermissions { chat, call: id } => {
                call("load_permissions", &lua_fn.load_permissions, (chat.0, id.0))?
            }
            Effect::FindPairs { chat, call: id, permissions: rules } => {
                let given: Value = call("find_wants", &lua_fn.find_wants, (chat.0, id.0))?;
                match permissions::wants(&given) {
                    Some(wants) => runtime.find_pairs(chat, id, wants, rules),
                    None => return Ok(Some(Event::FactFound { chat, call: id, fact: Fact::Pairs, found: None })),
                }
            }
            Effect::FindSaved { chat, call: id, project, approvals } => {
                runtime.find_approvals(chat, id, project, approvals)
            }
            Effect::SaveApproval { project, approval } => runtime.save_approval(project, approval),
            Effect::AskJudge { chat, call: id } => call("ask_judge", &lua_fn.ask_judge, (chat.0, id.0))?,
            Effect::EndJudge { chat, call: id, judged } => {
                runtime.abort_judge(id);
                let (status, reason) = judged.as_ref().map_or(("stopped", ""), |judged| judged.words());
                call("end_judge", &lua_fn.end_judge, (chat.0, id.0, status, reason))?
            }
            Effect::AskApproval { chat, call: id, question, rest } => {
                let cause = cause_word(question.cause);
                let asked = Asked { question, cause, rest };
                let given = call("ask_approval", &lua_fn.ask_approval, (chat.0, id.0, asked))?;
                let reason = optional_text("ask_approval", &given)?;
                return Ok(reason.map(|reason| reject(chat, id, reason)));
            }
            Effect::CloseQuestion { chat, call: id } => call("close_question", &lua_fn.close_question, (chat.0, id.0))?,
            Effect::RunCmd { chat, call: id, cmd } => {
                let given: Value = call("run_cmd", &lua_fn.run_cmd, (chat.0, id.0, cmd + 1))?;
                return match given {
                    Value::Nil => Ok(None),
                    Value::Boolean(succeeded) => Ok(Some(Event::CmdFinished { chat, call: id, cmd, succeeded })),
                    other => Err(returned("run_cmd", "a boolean or nil", &other)),
                };
            }
            Effect::StoreText { chat, call: id, cmd, succeeded, text } => {
                let arguments = (chat.0, id.0, cmd + 1, succeeded, text.as_str());
                call("store_text", &lua_fn.store_text, arguments)?
            }
            Effect::KillJobs { chat, call: id, why } => {
                runtime.stop_command(id, why);
                call("kill_jobs", &lua_fn.kill_jobs, (chat.0, id.0))?
            }
            Effect::RunOutput { chat, call: id, output } => {
                let (kind, cmd, text) = output_words(&output);
                let given = call("run_output", &lua_fn.run_output, (chat.0, id.0, kind, cmd, text))?;
                let outcome = match &given {
                    // A call that was still queued: what its tool defines was not known.
                    Value::Boolean(false) => OutputOutcome::Undefined,
                    other => optional_text("run_output", other)?.map_or(OutputOutcome::Ran, OutputOutcome::Threw),
                };
                return Ok(Some(Event::OutputFinished { chat, call: id, outcome }));
            }
            Effect::RunExit { chat, call: id, shared } => {
                call::<()>("run_exit", &lua_fn.run_exit, (chat.0, id.0, shared))?;
                return Ok(Some(Event::ExitFinished { chat, call: id }));
            }
            Effect::CutContent { chat, call: id, content, limits, media } => {
                runtime.cut_content(chat, id, content, limits, media);
            }
            Effect::FinishCall { chat, call: id, status, content, duration_ms, message } => {
                let arguments = (chat.0, id.0, status.as_str(), content.as_deref(), duration_ms);
                let given: MultiValue = call("finish_call", &lua_fn.finish_call, arguments)?;
                // Nothing is given of a chat that is not saved.
                if let Some(look) = look(&message, &given)? {
                    runtime.store().look(chat, id, look);
                }
            }
            Effect::FinishBatch { chat, failed } => call("finish_batch", &lua_fn.finish_batch, (chat.0, failed))?,
            Effect::Notify { chat, notice } => {
                let (kind, text) = notice_words(&notice);
                let numbers = match &notice {
                    Notice::Retrying(Retry { attempt, of, wait_ms, .. }) => (Some(*attempt), Some(*of), Some(*wait_ms)),
                    _ => (None, None, None),
                };
                call("notify", &lua_fn.notify, (chat.0, kind, text, numbers.0, numbers.1, numbers.2))?
            }
            Effect::Tell { text } => call("tell", &lua_fn.tell, text)?,
            Effect::FinishTurn { chat, end } => call("finish_turn", &lua_fn.finish_turn, (chat.0, end_word(end)))?,
            Effect::ClearChat { chat } => call("clear_chat", &lua_fn.clear_chat, chat.0)?,
            Effect::CloseChat { chat } => call("close_chat", &lua_fn.close_chat, chat.0)?,
            Effect::Log { level, text } => self.log(level, &text),
        }
        Ok(None)
    }

    /// Turns arguments into Lua until `until`. Some: they are done.
    pub fn unfold(&self, lua: &Lua, arguments: &mut Unfolding, until: Instant) -> Result<Option<Value>, PerformError> {
        arguments.advance(&self.marks, lua, until).map_err(threw("prepare_call"))
    }

    /// Has Lua make its copy of a call.
    pub fn prepare(&self, chat: ChatId, id: CallId, arguments: Value, copying: Copying) -> Result<Event, PerformError> {
        let arguments = (chat.0, id.0, arguments, copying_word(copying));
        let given = call("prepare_call", &self.functions.prepare_call, arguments)?;
        preparation(chat, id, &given)
    }

    /// Hands the reply of a slow export to who waits for it.
    pub fn reply(&self, lua: &Lua, number: u64, make: Make) -> Result<(), PerformError> {
        let (value, fault) = match make(lua).map_err(threw("reply"))? {
            Ok(value) => (value, None),
            Err(fault) => (Value::Nil, Some(fault)),
        };
        call("reply", &self.functions.reply, (number, value, fault))
    }

    fn restore_call(
        &self,
        chat: ChatId,
        (message, index): (&Message, usize),
        result: &Message,
        look: Look,
    ) -> Result<(), PerformError> {
        let (Message::Llm { calls, .. }, Message::Tool { content, is_error, .. }) = (message, result) else {
            return Ok(());
        };
        let Some(made) = calls.get(index) else { return Ok(()) };
        let body = match &look.body {
            // Nothing is known of its looks: the result says most.
            Body::Nothing if look.state.is_empty() => Some(content.as_str()),
            Body::Nothing => None,
            Body::Result => Some(content.as_str()),
            Body::Text(text) => Some(text.as_str()),
        };
        let (wire_id, name, arguments) = (made.wire_id.as_str(), made.name.as_str(), made.arguments.as_str());
        let (state, head, fact) = (look.state.as_str(), look.head.as_str(), look.fact.as_deref());
        let arguments = (chat.0, wire_id, name, arguments, *is_error, state, head, fact, body);
        call("restore_call", &self.functions.restore_call, arguments)
    }

    fn message(
        &self,
        performer: &'static str,
        function: &Function,
        chat: ChatId,
        message: &Message,
    ) -> Result<(), PerformError> {
        let none: Option<&str> = None;
        match message {
            Message::System { content } => {
                call(performer, function, (chat.0, "system", content.as_str(), none, none, false))
            }
            Message::User { content, visible, typed, attachments: _ } => {
                let typed = typed.as_deref();
                call(performer, function, (chat.0, "user", content.as_str(), none, none, *visible, none, typed))
            }
            // The calls follow, each as an effect of its own.
            Message::Llm { content, reasoning, calls: _, opaque: _ } => {
                let reasoning = Some(reasoning.as_str()).filter(|reasoning| !reasoning.is_empty());
                call(performer, function, (chat.0, "llm", content.as_str(), none, none, true, reasoning))
            }
            Message::Tool { wire_id, content, is_error, .. } => {
                call(performer, function, (chat.0, "tool", content.as_str(), wire_id.as_str(), *is_error, true))
            }
        }
    }
}

/// The reply that keeps a chat going when its performer did not give one. Unsure is not allowed: a question that could
/// not be shown is answered with no.
pub fn reply_after_fault(effect: &Effect) -> Option<Event> {
    let fault = || OUR_FAULT.to_owned();
    match effect {
        Effect::TakeInput { chat } => Some(Event::InputTaken { chat: *chat, text: None, typed: None }),
        Effect::SendRequest { chat, request } => {
            Some(Event::RequestFailed { chat: *chat, request: *request, message: fault() })
        }
        Effect::PrepareCall { chat, call, .. } => Some(not_prepared(*chat, *call)),
        Effect::FindFact { chat, call, fact } => {
            Some(Event::FactFound { chat: *chat, call: *call, fact: *fact, found: None })
        }
        Effect::LoadPermissions { chat, call } => {
            Some(Event::FactFound { chat: *chat, call: *call, fact: Fact::Rules, found: None })
        }
        Effect::FindPairs { chat, call, .. } => {
            Some(Event::FactFound { chat: *chat, call: *call, fact: Fact::Pairs, found: None })
        }
        Effect::FindSaved { chat, call, .. } => {
            Some(Event::FactFound { chat: *chat, call: *call, fact: Fact::Saved, found: None })
        }
        Effect::AskJudge { chat, call } => {
            Some(Event::FactFound { chat: *chat, call: *call, fact: Fact::Judge, found: None })
        }
        Effect::AskApproval { chat, call, .. } => Some(reject(*chat, *call, fault())),
        Effect::RunCmd { chat, call, cmd } => {
            Some(Event::CmdFinished { chat: *chat, call: *call, cmd: *cmd, succeeded: false })
        }
        Effect::RunOutput { chat, call, .. } => {
            Some(Event::OutputFinished { chat: *chat, call: *call, outcome: OutputOutcome::Threw(fault()) })
        }
        Effect::RunExit { chat, call, .. } => Some(Event::ExitFinished { chat: *chat, call: *call }),
        Effect::HoldInput { .. }
        | Effect::StartTurn { .. }
        | Effect::AbortRequest { .. }
        | Effect::FinishRequest { .. }
        | Effect::ShowText { .. }
        | Effect::ShowReasoning { .. }
        | Effect::ShowProviderCall { .. }
        | Effect::AddMessage { .. }
        | Effect::TakeBackMessage { .. }
        | Effect::CutHistory { .. }
        | Effect::RestoreMessage { .. }
        | Effect::RestoreCall { .. }
        | Effect::AddCall { .. }
        | Effect::CheckCalls { .. }
        | Effect::StartBatch { .. }
        | Effect::EndJudge { .. }
        | Effect::SaveApproval { .. }
        | Effect::CloseQuestion { .. }
        | Effect::StoreText { .. }
        | Effect::KillJobs { .. }
        | Effect::CutContent { .. }
        | Effect::FinishCall { .. }
        | Effect::FinishBatch { .. }
        | Effect::Notify { .. }
        | Effect::Tell { .. }
        | Effect::FinishTurn { .. }
        | Effect::ClearChat { .. }
        | Effect::CloseChat { .. }
        | Effect::Log { .. } => None,
    }
}

/// The reply for a call whose preparation was our fault.
pub fn not_prepared(chat: ChatId, call: CallId) -> Event {
    Event::CallNotPrepared { chat, call, message: OUR_FAULT.to_owned(), on_exit: false }
}

fn call<R: FromLuaMulti>(
    performer: &'static str,
    function: &Function,
    arguments: impl IntoLuaMulti,
) -> Result<R, PerformError> {
    function.call(arguments).map_err(threw(performer))
}

fn threw(performer: &'static str) -> impl FnOnce(mlua::Error) -> PerformError {
    move |source| PerformError::Threw { performer, source }
}

fn returned(performer: &'static str, wanted: &'static str, given: &Value) -> PerformError {
    PerformError::Returned { performer, wanted, given: given.type_name().to_owned() }
}

fn optional_text(performer: &'static str, given: &Value) -> Result<Option<String>, PerformError> {
    match given {
        Value::Nil => Ok(None),
        other => text(other).map(Some).ok_or_else(|| returned(performer, "a string or nil", other)),
    }
}

fn reject(chat: ChatId, call: CallId, reason: String) -> Event {
    Event::ApprovalAnswered { chat, call, answer: Answer::Reject { reason: Some(reason) } }
}

/// Reads `true, n_cmds, defines, approval, timeout_ms or nil` or `false, message, set_up, on_exit, denied`.
fn preparation(chat: ChatId, call: CallId, given: &MultiValue) -> Result<Event, PerformError> {
    let nil = Value::Nil;
    let at = |index: usize| given.get(index).unwrap_or(&nil);
    let wanted = |wanted: &'static str, index: usize| returned("prepare_call", wanted, at(index));
    let whole = |index: usize| integer(at(index)).ok_or_else(|| wanted("a whole number", index));
    let boolean = |index: usize| at(index).as_boolean().ok_or_else(|| wanted("a boolean", index));
    if !boolean(0)? {
        let message = text(at(1)).ok_or_else(|| wanted("a message", 1))?;
        if at(4).as_boolean() == Some(true) {
            return Ok(Event::CallDenied { chat, call, message });
        }
        // `on_exit` is due only after `setup`.
        let on_exit = boolean(2)? && boolean(3)?;
        return Ok(Event::CallNotPrepared { chat, call, message, on_exit });
    }
    let approval = match text(at(3)).as_deref() {
        Some("run") => OwnApproval::Run,
        Some("ask") => OwnApproval::Ask,
        Some("function") => OwnApproval::Function,
        _ => return Err(wanted("\"run\", \"ask\" or \"function\"", 3)),
    };
    let flags = whole(2)?;
    let preparation = Preparation {
        cmds: usize::try_from(whole(1)?).map_err(|_| wanted("a number of cmds", 1))?,
        defines: defined(flags),
        gate: GateSettings {
            own: approval,
            protect: flags & 32 != 0,
            by_command: flags & 64 != 0,
            is_safe: flags & 128 != 0,
            declares: flags & 512 != 0,
            has_commands: flags & 1024 != 0,
            judge: flags & 256 != 0,
        },
        timeout_ms: if at(4).is_nil() { None } else { Some(whole(4)?) },
    };
    Ok(Event::CallPrepared { chat, call, preparation })
}

fn defined(flags: u64) -> Defined {
    Defined {
        success: flags & 1 != 0,
        error: flags & 2 != 0,
        rejected: flags & 4 != 0,
        cancelled: flags & 8 != 0,
        on_exit: flags & 16 != 0,
    }
}

/// Reads `state, head, fact or nil, body or nil`: how a call looks that is over. Nothing: it is not known.
fn look(result: &Message, given: &MultiValue) -> Result<Option<Look>, PerformError> {
    let nil = Value::Nil;
    let at = |index: usize| given.get(index).unwrap_or(&nil);
    let optional = |index: usize| optional_text("finish_call", at(index));
    let (Some(state), Some(head), fact) = (optional(0)?, optional(1)?, optional(2)?) else { return Ok(None) };
    let content = if let Message::Tool { content, .. } = result { content.as_str() } else { "" };
    let body = match at(3).as_string() {
        None => Body::Nothing,
        // Mostly: it is not copied.
        Some(body) if *body.as_bytes() == *content.as_bytes() => Body::Result,
        Some(body) => Body::Text(body.to_string_lossy()),
    };
    Ok(Some(Look { state, head, fact, body }))
}

/// Kind, cmd counted from 1, text.
fn output_words(output: &Output) -> (&'static str, Option<usize>, Option<&str>) {
    match output {
        Output::Success { cmd } => ("success", Some(cmd + 1), None),
        Output::Error { cmd, message } => ("error", Some(cmd + 1), message.as_deref()),
        Output::Rejected { reason } => ("rejected", None, reason.as_deref()),
        Output::Cancelled => ("cancelled", None, None),
    }
}

fn notice_words(notice: &Notice) -> (&'static str, Option<&str>) {
    match notice {
        Notice::RequestFailed(message) => ("request_failed", Some(message)),
        Notice::Request(text) => ("request", Some(text)),
        Notice::Retrying(retry) => ("retrying", Some(&retry.reason)),
        Notice::Restored(text) => ("restored", Some(text)),
        Notice::Saving(text) => ("saving", Some(text)),
        Notice::NothingToSend => ("nothing_to_send", None),
        Notice::NothingToSkip => ("nothing_to_skip", None),
        Notice::NothingToEdit => ("nothing_to_edit", None),
        Notice::StillRunning => ("still_running", None),
        Notice::LengthStop => ("length_stop", None),
        Notice::ContentFilter => ("content_filter", None),
        Notice::CallAsText => ("call_as_text", None),
        Notice::RepeatedCall { name } => ("repeated_call", Some(name)),
    }
}

fn end_word(end: TurnEnd) -> &'static str {
    match end {
        TurnEnd::Done => "done",
        TurnEnd::Stopped => "stopped",
        TurnEnd::Cancelled => "cancelled",
        TurnEnd::Failed => "failed",
        TurnEnd::Held => "held",
    }
}

fn cause_word(cause: Cause) -> &'static str {
    match cause {
        Cause::Unknown => "unknown",
        Cause::Rule => "rule",
        Cause::DoomLoop => "doom_loop",
        Cause::Protected => "protected",
        Cause::AutoMode => "auto_mode",
        Cause::OwnApproval => "own_approval",
    }
}

fn fact_word(fact: Fact) -> &'static str {
    match fact {
        Fact::OwnApproval => "own_approval",
        Fact::CmdString => "cmd_string",
        Fact::IsSafe => "is_safe",
        Fact::JudgeContext => "judge_context",
        // They have effects of their own.
        Fact::Rules => "rules",
        Fact::Pairs => "pairs",
        Fact::Saved => "saved",
        Fact::Judge => "judge",
    }
}

/// What a fact is that Lua found; nil: it could not be found. A command that is no UTF-8 is nobody's to remember: another
/// could look the same.
fn found(fact: Fact, given: &Value) -> Result<Option<Found>, PerformError> {
    let boolean = |found: fn(bool) -> Found| match given {
        Value::Nil => Ok(None),
        Value::Boolean(answer) => Ok(Some(found(*answer))),
        other => Err(returned("find_fact", "a boolean or nil", other)),
    };
    match fact {
        Fact::OwnApproval => boolean(Found::OwnApproval),
        Fact::IsSafe => boolean(Found::IsSafe),
        Fact::JudgeContext => boolean(Found::JudgeContext),
        Fact::CmdString => match given {
            Value::Nil | Value::String(_) => Ok(exact_text(given).map(Found::CmdString)),
            other => Err(returned("find_fact", "a string or nil", other)),
        },
        Fact::Rules | Fact::Pairs | Fact::Saved | Fact::Judge => Ok(None),
    }
}

fn copying_word(copying: Copying) -> &'static str {
    match copying {
        Copying::Own => "own",
        Copying::First => "first",
        Copying::Shared => "shared",
    }
}

fn level_word(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Debug => "debug",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    }
}
