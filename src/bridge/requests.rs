//! Exports for requests: the tools that they offer, what they say, and documents besides.

use std::sync::Arc;

use mlua::{UserData, Value};

use super::fields::Fields;
use super::{Exports, chat, number};
use crate::adapter::Wire;
use crate::engine::event::{ChatEvent, Event, Failure, RequestEvent, RequestId, RequestedCall};
use crate::error::Error;
use crate::message::Message;
use crate::runtime::http::{HttpLimits, HttpRequest};
use crate::runtime::provider::{DescribedTool, ProviderRequest};
use crate::tool::{OfferedTool, Reach};

/// Tools as they are offered with a request; Lua keeps it and hands it to as many requests as it likes.
struct ToolSet {
    /// What the model may call.
    offered: Arc<[OfferedTool]>,
    /// What the request describes: not the tools that the provider knows by itself.
    described: Arc<[DescribedTool]>,
}

impl UserData for ToolSet {}

impl Exports<'_> {
    /// Requests and what they offer.
    pub(super) fn requests(&self) -> mlua::Result<()> {
        self.add("tool_set", |lua, pump, table: Value| {
            let fields = Fields::new("tool_set", table)?;
            let base = fields
                .optional_userdata::<ToolSet>("base", "a tool set")?
                .map(|base| (base.offered.to_vec(), base.described.to_vec()));
            let tools = fields.list("tools", |tool| {
                let (name, parameters) = (tool.text("name")?, tool.optional_text("schema")?);
                let fills_defaults = tool.optional_boolean("fills_defaults")? == Some(true);
                let schemas = pump.runtime.schemas();
                let offered = OfferedTool {
                    name: name.clone(),
                    schema: parameters.as_ref().map(|schema| schemas.intern_with(schema, fills_defaults)),
                    numeric_strings: tool.boolean("numeric_strings")?,
                    parallel: tool.boolean("parallel")?,
                    handlers_once: tool.flag("handlers_once")?,
                    keeps_arguments: tool.flag("keeps_arguments")?,
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
            let tools = Arc::clone(&fields.userdata::<ToolSet>("tools", "a tool set")?.offered);
            Ok(Event::chat(
                chat(fields)?,
                ChatEvent::CallsRequested { calls, tools, submit: fields.boolean("submit")? },
            ))
        })?;
        self.add("start_request", |_, pump, table: Value| {
            let fields = Fields::new("start_request", table)?;
            let (chat, request) = (chat(&fields)?, RequestId(fields.integer("request")?));
            let (offered, described) = {
                let tools = fields.userdata::<ToolSet>("tools", "a tool set")?;
                (Arc::clone(&tools.offered), Arc::clone(&tools.described))
            };
            let wire = wire(&fields)?;
            let started = Event::request(chat, request, RequestEvent::Started { tools: offered });
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
            Ok(Event::request(
                chat(fields)?,
                RequestId(fields.integer("request")?),
                RequestEvent::Failed(Failure {
                    message: fields.text("message")?,
                    status: None,
                    names_provider: fields.flag("names_provider")?,
                }),
            ))
        })
    }
}

/// A codec; none: a scripted turn.
pub(super) fn wire(fields: &Fields) -> Result<Option<Wire>, Error> {
    let known = Wire::ALL.iter().map(|(name, wire)| (*name, Some(*wire)));
    let wires: Vec<_> = std::iter::once(("scripted", None)).chain(known).collect();
    fields.word("wire", &wires, "the name of a wire format")
}

/// What `lathe.adapters.request` makes.
pub(super) fn provider_request(
    fields: &Fields,
    wire: Wire,
    messages: Vec<Arc<Message>>,
    tools: Arc<[DescribedTool]>,
) -> Result<ProviderRequest, Error> {
    let vision = fields.boolean("vision")?;
    let mut http = http_request(fields)?;
    // Headers of requests that hold pictures, results of tools, or the user's words.
    let shows = |message: &Arc<Message>| match message.as_ref() {
        Message::User { attachments, .. } | Message::Tool { attachments, .. } => !attachments.is_empty(),
        Message::System { .. } | Message::Llm { .. } => false,
    };
    let goes_on = matches!(messages.last().map(AsRef::as_ref), Some(Message::Tool { .. } | Message::Llm { .. }));
    for (field, is_wanted) in [
        ("picture_headers", vision && messages.iter().any(shows)),
        ("result_headers", goes_on),
        ("prompt_headers", !goes_on),
    ] {
        let headers = fields.pairs(field)?;
        http.headers.extend(headers.into_iter().filter(|_| is_wanted));
    }
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
        vision,
        answer: None,
        http,
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
