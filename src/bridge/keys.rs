//! Exports for the keys of adapters: the commands that print them, and what no command of a tool gets to see.

use mlua::Value;

use super::fields::Fields;
use super::{Exports, chat, number};
use crate::engine::event::RequestId;
use crate::runtime::http::HttpRequest;
use crate::runtime::keys::{KeyCommand, Waiting};
use crate::tool::CallId;

impl Exports<'_> {
    /// The keys of adapters.
    pub(super) fn keys(&self) -> mlua::Result<()> {
        self.add("add_secrets", |_, pump, table: Value| {
            let fields = Fields::new("add_secrets", table)?;
            let values = fields.texts("values")?;
            // What a request with them would tell its server.
            let (url, headers) = (fields.text("url")?, fields.pairs("headers")?);
            fields.finish()?;
            pump.runtime.add_secrets(values);
            pump.runtime.add_sent_secrets(&HttpRequest::new(url, headers, Vec::new()));
            Ok(Value::Nil)
        })?;
        // The number of a reply: the key.
        self.add("run_key_command", |_, pump, table: Value| {
            let fields = Fields::new("run_key_command", table)?;
            let waiting = match (fields.optional_integer("request")?, fields.optional_integer("judged")?) {
                (Some(request), _) => Waiting::Request(RequestId(request)),
                (None, Some(call)) => Waiting::Judge(CallId(call)),
                (None, None) => Waiting::User,
            };
            let command = KeyCommand {
                chat: chat(&fields)?,
                waiting,
                text: fields.text("command")?,
                without: fields.texts("without")?,
                kept: fields.texts("keep")?,
            };
            fields.finish()?;
            let expected = pump.replies.expect();
            let reply = expected.number;
            pump.runtime.run_key_command(command, move |found| {
                expected.give(Box::new(move |lua| match found {
                    Ok(key) => Ok(Ok(Value::String(lua.create_string(key)?))),
                    Err(message) => Ok(Err(message)),
                }));
            });
            Ok(number(reply))
        })
    }
}
