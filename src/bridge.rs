//! The Lua module `lathe_core`: its entry and its table of exports. Only this file and those in `bridge/` know of Lua and of
//! the editor. No export calls a performer: each queues an event, so all are safe in a fast event and at any depth.

mod chats;
mod convert;
mod guard;
mod native;
mod perform;
mod permissions;
mod pump;
mod replies;
mod waker;

use std::cell::OnceCell;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use mlua::{FromLuaMulti, Lua, Table, UserData, Value};

use crate::adapter::Wire;
use crate::engine::{Answer, ChatId, ChatSettings, Event, RequestId, RequestedCall};
use crate::error::Error;
use crate::gate::approvals::Approval;
use crate::gate::judge::Judged;
use crate::message::{Attachment, Message, Role};
use crate::output::{Keep, Limits};
use crate::runtime::commands::CommandCmd;
use crate::runtime::http::{HttpLimits, HttpRequest};
use crate::runtime::judge::{self, Judge};
use crate::runtime::provider::{DescribedTool, ProviderRequest};
use crate::tool::{CallId, OfferedTool, Reach};
use convert::{Fields, boolean_argument, integer_argument, text_argument};
use guard::Guard;
use perform::Performers;
use pump::Pump;

/// Tools as they are offered with a request; Lua keeps it and hands it to as many requests as it likes.
pub struct ToolSet {
    /// What the model may call.
    offered: Arc<[OfferedTool]>,
    /// What the request describes: not the tools that the provider knows by itself.
    described: Arc<[DescribedTool]>,
}

impl UserData for ToolSet {}

thread_local! {
    /// The one pump. A second `require` after `package.loaded` was emptied gets the same.
    static PUMP: OnceCell<Rc<Pump>> = const { OnceCell::new() };
}

/// `luaopen_lathe_core`
#[mlua::lua_module(name = "lathe_core", skip_memory_check)]
fn open(lua: &Lua) -> mlua::Result<Table> {
    // First of all: nvim-oxi's handles crash before it.
    // SAFETY: the state is that of the editor, and its loop lives as long as the process.
    unsafe { lua.exec_raw::<()>((), |state| nvim_oxi::libuv::init(state.cast())) }?;
    let pump = PUMP.with(|pump| Rc::clone(pump.get_or_init(|| Rc::new(Pump::new()))));
    let inbox = Arc::clone(&pump.inbox);
    guard::keep_panics_off_the_screen(move |text| inbox.push(Event::ThreadPanicked { text }));
    let exports = Exports { lua, pump, guard: Guard::new(lua)?, table: lua.create_table()? };
    exports.fill()?;
    Ok(exports.table)
}

/// The table while it is filled.
struct Exports<'lua> {
    lua: &'lua Lua,
    pump: Rc<Pump>,
    guard: Guard,
    table: Table,
}

impl Exports<'_> {
    fn fill(&self) -> mlua::Result<()> {
        self.table.raw_set("version", env!("CARGO_PKG_VERSION"))?;
        self.life()?;
        self.chats()?;
        self.saved_chats()?;
        self.requests()?;
        self.approvals()?;
        self.permissions()?;
        self.commands()?;
        self.native()?;
        self.hot()
    }

    /// An export whose arguments are positional.
    fn add<A: FromLuaMulti>(
        &self,
        name: &'static str,
        export: impl Fn(&Lua, &Pump, A) -> Result<Value, Error> + 'static,
    ) -> mlua::Result<()> {
        let pump = Rc::clone(&self.pump);
        let function = self.guard.export(self.lua, name, move |lua, arguments| export(lua, &pump, arguments))?;
        self.table.raw_set(name, function)
    }

    /// An export that takes one table and queues one event.
    fn event(&self, name: &'static str, read: impl Fn(&Fields) -> Result<Event, Error> + 'static) -> mlua::Result<()> {
        self.add(name, move |_, pump, table: Value| {
            let fields = Fields::new(name, table)?;
            let event = read(&fields)?;
            fields.finish()?;
            pump.push(event);
            Ok(Value::Nil)
        })
    }

    /// Start, end, and what looks inside.
    fn life(&self) -> mlua::Result<()> {
        let pump = Rc::clone(&self.pump);
        let drain = self.lua.create_function(move |lua, ()| {
            pump.drain(lua);
            Ok(())
        })?;
        self.table.raw_set("drain", &drain)?;
        self.add("start", move |lua, pump, performers: Value| {
            if pump.set_performers(Performers::read(lua, performers)?) {
                pump.waker.open(lua, &drain)?;
            }
            Ok(Value::Nil)
        })?;
        self.add("keep_outputs", |_, pump, table: Value| {
            let fields = Fields::new("keep_outputs", table)?;
            let folder = PathBuf::from(OsString::from_vec(fields.bytes("folder")?));
            fields.finish()?;
            pump.runtime.keep_outputs(folder);
            Ok(Value::Nil)
        })?;
        self.add("shutdown", |lua, pump, ()| {
            pump.shut_down(lua);
            Ok(Value::Nil)
        })?;
        self.add("counts", |lua, pump, ()| {
            let (chats, events, effects) = pump.counts();
            let commands = pump.runtime.command_count();
            let schemas = pump.runtime.schemas().compiled_count();
            let counts = [
                ("chats", chats),
                ("events", events),
                ("effects", effects),
                ("commands", commands),
                ("schemas", schemas),
            ];
            let counts = lua.create_table_from(counts);
            counts.map(Value::Table).map_err(|error| Error::Lua { export: "counts", source: error.into() })
        })?;
        #[cfg(debug_assertions)]
        self.add("panic", |_, pump, elsewhere: Option<bool>| {
            if elsewhere == Some(true) {
                std::thread::spawn(|| panic!("asked for by a test"));
            } else {
                pump.panics.set(true);
                pump.waker.wake();
            }
            Ok(Value::Nil)
        })?;
        Ok(())
    }

    fn chats(&self) -> mlua::Result<()> {
        self.add("open_chat", |_, pump, table: Value| {
            let fields = Fields::new("open_chat", table)?;
            let max_parallel = fields.integer("max_parallel")?.max(1);
            let project = fields.optional_bytes("project")?;
            let settings = ChatSettings {
                auto_submit_success: fields.boolean("auto_submit_success")?,
                auto_submit_errors: fields.boolean("auto_submit_errors")?,
                max_parallel: usize::try_from(max_parallel).unwrap_or(usize::MAX),
                limits: limits(&fields, Keep::Head)?,
                project: project.map(|path| Arc::from(folder_name(&path))),
            };
            fields.finish()?;
            Ok(number(pump.open_chat(settings).0))
        })?;
        self.event("submit", |fields| Ok(Event::Submitted { chat: chat(fields)? }))?;
        self.event("retry", |fields| Ok(Event::Retried { chat: chat(fields)? }))?;
        self.event("take_last_message", |fields| Ok(Event::LastMessageTaken { chat: chat(fields)? }))?;
        self.event("stop", |fields| Ok(Event::ChatStopped { chat: chat(fields)? }))?;
        self.event("skip", |fields| Ok(Event::CallSkipped { chat: chat(fields)? }))?;
        self.event("clear", |fields| Ok(Event::ChatCleared { chat: chat(fields)? }))?;
        self.event("close_chat", |fields| Ok(Event::ChatClosed { chat: chat(fields)? }))?;
        self.event("add_message", |fields| {
            let roles = [("user", Role::User), ("system", Role::System), ("llm", Role::Llm)];
            Ok(Event::MessageGiven {
                chat: chat(fields)?,
                role: fields.word("role", &roles, "\"user\", \"system\" or \"llm\"")?,
                content: fields.text("content")?,
                visible: fields.optional_boolean("visible")?.unwrap_or(true),
                attachments: fields.optional_list("attachments", |picture| {
                    Ok(Attachment { mime: picture.text("mime")?, data: picture.text("data")? })
                })?,
            })
        })?;
        self.event("answer", |fields| {
            let (reason, pattern) = (fields.optional_text("reason")?, fields.optional_text("pattern")?);
            let words = [
                ("always", Answer::Always { pattern }),
                ("accept", Answer::Accept),
                ("reject", Answer::Reject { reason }),
                ("cancel", Answer::Cancel),
            ];
            let answer = fields.word("answer", &words, "\"always\", \"accept\", \"reject\" or \"cancel\"")?;
            Ok(Event::ApprovalAnswered { chat: chat(fields)?, call: CallId(fields.integer("call")?), answer })
        })
    }

    fn requests(&self) -> mlua::Result<()> {
        self.add("tool_set", |lua, pump, table: Value| {
            let fields = Fields::new("tool_set", table)?;
            let base = fields.optional_tools("base")?.map(|base| (base.offered.to_vec(), base.described.to_vec()));
            let tools = fields.list("tools", |tool| {
                let (name, parameters) = (tool.text("name")?, tool.optional_text("schema")?);
                let fills_defaults = tool.optional_boolean("fills_defaults")? == Some(true);
                let schemas = pump.runtime.schemas();
                let offered = OfferedTool {
                    name: name.clone(),
                    schema: parameters.as_ref().map(|schema| schemas.intern_with(schema, fills_defaults)),
                    numeric_strings: tool.boolean("numeric_strings")?,
                    parallel: tool.boolean("parallel")?,
                    handlers_once: tool.optional_boolean("handlers_once")? == Some(true),
                    reach: match (tool.optional_boolean("routes")?, tool.optional_text("server")?) {
                        (Some(true), _) => Reach::Router,
                        (_, Some(server)) => Reach::ByName { server, tool: tool.text("tool")? },
                        (_, None) => Reach::Direct,
                    },
                };
                let (description, strict) = (tool.optional_text("description")?, tool.optional_boolean("strict")?);
                let described = DescribedTool { name, description, parameters, strict };
                let by_provider = tool.optional_boolean("by_provider")? == Some(true);
                Ok((offered, (!by_provider).then_some(described)))
            })?;
            fields.finish()?;
            let (more, more_described): (Vec<OfferedTool>, Vec<Option<DescribedTool>>) = tools.into_iter().unzip();
            pump.runtime.compile_schemas(more.iter().filter_map(|tool| tool.schema).collect());
            let (mut offered, mut described) = base.unwrap_or_default();
            offered.extend(more);
            described.extend(more_described.into_iter().flatten());
            let set = lua.create_userdata(ToolSet { offered: offered.into(), described: described.into() });
            set.map(Value::UserData).map_err(|error| Error::Lua { export: "tool_set", source: error.into() })
        })?;
        self.event("request_calls", |fields| {
            let calls = fields.list("calls", |call| {
                Ok(RequestedCall {
                    wire_id: call.optional_text("id")?.unwrap_or_default(),
                    name: call.text("name")?,
                    arguments: call.text("arguments")?,
                })
            })?;
            let tools = Arc::clone(&fields.tools("tools")?.offered);
            Ok(Event::CallsRequested { chat: chat(fields)?, calls, tools, submit: fields.boolean("submit")? })
        })?;
        self.add("start_request", |_, pump, table: Value| {
            let fields = Fields::new("start_request", table)?;
            let (chat, request) = (chat(&fields)?, RequestId(fields.integer("request")?));
            let (offered, described) = {
                let tools = fields.tools("tools")?;
                (Arc::clone(&tools.offered), Arc::clone(&tools.described))
            };
            let wire = wire(&fields)?;
            let started = Event::RequestStarted { chat, request, tools: offered };
            let system = fields.texts("system")?.into_iter().map(|content| Arc::new(Message::System { content }));
            let system: Vec<_> = system.collect();
            match wire {
                None => {
                    let turn = fields.text("turn")?;
                    fields.finish()?;
                    pump.push(started);
                    pump.runtime.start_scripted(chat, request, turn);
                }
                Some(wire) => {
                    let messages = system.into_iter().chain(pump.messages(chat)).collect();
                    let provider = provider_request(&fields, wire, messages, described)?;
                    fields.finish()?;
                    pump.push(started);
                    pump.runtime.start_provider(chat, request, provider);
                }
            }
            Ok(Value::Nil)
        })?;
        // The number of a reply: the document as a text.
        self.add("fetch", |_, pump, table: Value| {
            let fields = Fields::new("fetch", table)?;
            let request = HttpRequest { is_get: true, ..http_request(&fields)? };
            fields.finish()?;
            let expected = pump.replies.expect();
            let reply = expected.number;
            pump.runtime.fetch(request, move |fetched| {
                expected.give(Box::new(move |lua| match fetched {
                    Ok(document) => Ok(Ok(Value::String(lua.create_string(document)?))),
                    Err(message) => Ok(Err(message)),
                }));
            });
            Ok(number(reply))
        })?;
        self.event("fail_request", |fields| {
            Ok(Event::RequestFailed {
                chat: chat(fields)?,
                request: RequestId(fields.integer("request")?),
                message: fields.text("message")?,
            })
        })
    }

    /// What lets calls run: auto mode, approvals, the judge.
    fn approvals(&self) -> mlua::Result<()> {
        self.event("set_auto", |fields| Ok(Event::AutoSet { chat: chat(fields)?, auto: fields.boolean("auto")? }))?;
        self.add("keep_approvals", |_, pump, table: Value| {
            let fields = Fields::new("keep_approvals", table)?;
            let folder = PathBuf::from(OsString::from_vec(fields.bytes("folder")?));
            fields.finish()?;
            pump.runtime.keep_approvals(&folder);
            Ok(Value::Nil)
        })?;
        // Returns the list, and why a part of it is missing.
        self.add("approvals", |lua, pump, ()| {
            let failed = |error: mlua::Error| Error::Lua { export: "approvals", source: error.into() };
            convert::approvals(lua, pump.approvals(), pump.runtime.saved_approvals()).map_err(failed)
        })?;
        self.add("forget_approval", |_, pump, table: Value| {
            let fields = Fields::new("forget_approval", table)?;
            let approval = Approval {
                tool: fields.text("tool")?,
                value: fields.optional_text("value")?,
                is_pattern: fields.optional_boolean("is_pattern")?.unwrap_or(false),
            };
            match fields.optional_text("project")? {
                Some(project) => {
                    fields.finish()?;
                    pump.runtime.forget_approval(Arc::from(project), approval);
                }
                None => {
                    let chat = chat(&fields)?;
                    fields.finish()?;
                    pump.push(Event::ApprovalForgotten { chat, approval });
                }
            }
            Ok(Value::Nil)
        })?;
        self.add("ask_judge", |_, pump, table: Value| {
            let fields = Fields::new("ask_judge", table)?;
            let (chat, call) = (chat(&fields)?, CallId(fields.integer("call")?));
            let system = Message::System { content: fields.text("system")? };
            let user =
                Message::User { content: fields.text("prompt")?, visible: false, typed: None, attachments: vec![] };
            let judge = match wire(&fields)? {
                None => Judge::Scripted(fields.text("turn")?),
                Some(wire) => {
                    let messages = vec![Arc::new(system), Arc::new(user)];
                    let request = provider_request(&fields, wire, messages, Arc::from([]))?;
                    Judge::Provider(Box::new(ProviderRequest { answer: Some(&judge::SCHEMA), ..request }))
                }
            };
            fields.finish()?;
            pump.runtime.ask_judge(chat, call, judge);
            Ok(Value::Nil)
        })?;
        self.event("fail_judge", |fields| {
            let judged = Judged::Failed(judge::one_line(&fields.text("message")?));
            Ok(judge::found(chat(fields)?, CallId(fields.integer("call")?), judged))
        })?;
        // The text of a command with its values put in, quoted; nil: there is no such command.
        self.add("command_text", |lua, _, table: Value| {
            let fields = Fields::new("command_text", table)?;
            let (text, env) = (fields.bytes("text")?, fields.env("env")?);
            fields.finish()?;
            match crate::command::prepare(&text, &env).map(|prepared| String::from_utf8(prepared.shown)) {
                Ok(Ok(shown)) => string(lua, "command_text", &shown),
                Ok(Err(_)) | Err(_) => Ok(Value::Nil),
            }
        })
    }

    /// Command cmds.
    fn commands(&self) -> mlua::Result<()> {
        // Returns why nothing was run; nil: it runs.
        self.add("run_command", |lua, pump, table: Value| {
            let fields = Fields::new("run_command", table)?;
            let number = fields.integer("cmd")?.checked_sub(1).and_then(|cmd| usize::try_from(cmd).ok());
            let command = CommandCmd {
                chat: chat(&fields)?,
                call: CallId(fields.integer("call")?),
                cmd: number.ok_or_else(|| cmd_is_zero("run_command"))?,
                text: fields.bytes("text")?,
                env: fields.env("env")?,
                shell: fields.bytes("shell")?,
                cwd: fields.bytes("cwd")?,
                without: fields.texts("without")?,
                background: fields.boolean("background")?,
                limits: limits(&fields, Keep::HeadTail)?,
                encoding: fields.optional_text("encoding")?,
            };
            fields.finish()?;
            match pump.runtime.run_command(command) {
                Ok(()) => Ok(Value::Nil),
                Err(error) => string(lua, "run_command", &error.to_string()),
            }
        })?;
        self.add("last_line", |lua, pump, call: Value| {
            let call = CallId(integer_argument("last_line", "call", &call)?);
            pump.runtime.last_line(call).map_or(Ok(Value::Nil), |line| string(lua, "last_line", &line))
        })
    }

    /// What tools call most.
    fn hot(&self) -> mlua::Result<()> {
        self.add("finish_cmd", |_, pump, (chat, call, cmd, succeeded): (Value, Value, Value, Value)| {
            let integer = |name, value| integer_argument("finish_cmd", name, value);
            let cmd = integer("cmd", &cmd)?.checked_sub(1).and_then(|cmd| usize::try_from(cmd).ok());
            pump.push(Event::CmdFinished {
                chat: ChatId(integer("chat", &chat)?),
                call: CallId(integer("call", &call)?),
                cmd: cmd.ok_or_else(|| cmd_is_zero("finish_cmd"))?,
                succeeded: boolean_argument("finish_cmd", "succeeded", &succeeded)?,
            });
            Ok(Value::Nil)
        })?;
        self.add("add_output", |_, pump, (chat, call, content): (Value, Value, Value)| {
            pump.push(Event::OutputAdded {
                chat: ChatId(integer_argument("add_output", "chat", &chat)?),
                call: CallId(integer_argument("add_output", "call", &call)?),
                content: text_argument("add_output", "content", &content)?,
            });
            Ok(Value::Nil)
        })
    }
}

fn cmd_is_zero(export: &'static str) -> Error {
    Error::WrongField { export, field: "cmd".to_owned(), wanted: "a number from 1", given: "0".to_owned() }
}

fn string(lua: &Lua, export: &'static str, text: &str) -> Result<Value, Error> {
    lua.create_string(text).map(Value::String).map_err(|error| Error::Lua { export, source: error.into() })
}

/// A codec; none: a scripted turn.
fn wire(fields: &Fields) -> Result<Option<Wire>, Error> {
    let known = Wire::ALL.iter().map(|(name, wire)| (*name, Some(*wire)));
    let wires: Vec<_> = std::iter::once(("scripted", None)).chain(known).collect();
    fields.word("wire", &wires, "the name of a wire format")
}

/// What `lathe.adapters.request` makes.
fn provider_request(
    fields: &Fields,
    wire: Wire,
    messages: Vec<Arc<Message>>,
    tools: Arc<[DescribedTool]>,
) -> Result<ProviderRequest, Error> {
    Ok(ProviderRequest {
        wire,
        messages,
        tools,
        tools_override: fields.optional_text("tools_override")?,
        extra_tools: fields.optional_text("extra_tools")?,
        settings: fields.text("settings")?,
        adapter: fields.text("adapter")?,
        model: fields.text("model")?,
        dialect: fields.optional_text("dialect")?,
        streaming: fields.boolean("stream")?,
        vision: fields.boolean("vision")?,
        answer: None,
        http: http_request(fields)?,
    })
}

fn http_request(fields: &Fields) -> Result<HttpRequest, Error> {
    Ok(HttpRequest {
        limits: HttpLimits {
            connect_ms: fields.integer("connect_ms")?,
            first_byte_ms: fields.integer("first_byte_ms")?,
            idle_ms: fields.integer("idle_ms")?,
        },
        retries: u32::try_from(fields.integer("retries")?).unwrap_or(u32::MAX),
        proxy: fields.optional_text("proxy")?,
        allow_insecure: fields.boolean("allow_insecure")?,
        ..HttpRequest::new(fields.text("url")?, fields.pairs("headers")?, Vec::new())
    })
}

/// A folder's path as a text. Two folders never have the same one.
fn folder_name(path: &[u8]) -> String {
    match std::str::from_utf8(path) {
        Ok(path) => path.to_owned(),
        Err(_) => format!("bytes:{}", path.escape_ascii()),
    }
}

/// `max_lines` and `max_bytes`.
fn limits(fields: &Fields, keep: Keep) -> Result<Limits, Error> {
    let limit = |field| fields.integer(field).map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(Limits { max_lines: limit("max_lines")?, max_bytes: limit("max_bytes")?, keep })
}

fn chat(fields: &Fields) -> Result<ChatId, Error> {
    fields.integer("chat").map(ChatId)
}

#[allow(clippy::cast_precision_loss, reason = "ids count from 1 and stay far below 2^53")]
fn number(id: u64) -> Value {
    Value::Number(id as f64)
}
