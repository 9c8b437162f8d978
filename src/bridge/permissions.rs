//! Exports for permission rules, and what the gate asks of Lua in their terms.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;

use mlua::Value;

use super::fields::{Fields, exact_texts};
use super::shapes::rule_reason;
use super::{Exports, chat, number};
use crate::engine::event::{CallEvent, ChatEvent, Event};
use crate::error::Error;
use crate::gate::pair::Wants;
use crate::gate::rule::Action;
use crate::gate::verdict::RuleReason;
use crate::gate::{Fact, Permissions, shell};
use crate::runtime::permissions::{self, SetupRule, Sources};
use crate::tool::CallId;

impl Exports<'_> {
    /// What loads rules, and what explains them.
    pub(super) fn permissions(&self) -> mlua::Result<()> {
        // The answer: what is wrong with the rules, and which of the tools they hide.
        self.add("load_permissions", |_, pump, table: Value| {
            let fields = Fields::new("load_permissions", table)?;
            let (chat, sources) = (chat(&fields)?, sources(&fields)?);
            let tools = fields.list("tools", |tool| Ok((tool.text("name")?, tool.text("key")?)))?;
            fields.finish()?;
            let expected = pump.replies.expect();
            let reply = expected.number;
            let inbox = Arc::clone(&pump.inbox);
            pump.runtime.in_background(move || {
                let (loaded, problems) = permissions::load(&sources);
                let hidden: Vec<_> = tools.into_iter().filter_map(|(name, key)| hidden(&loaded, name, &key)).collect();
                inbox.push(Event::chat(chat, ChatEvent::PermissionsLoaded(Arc::new(loaded))));
                expected.give(Box::new(move |lua| {
                    let answer = lua.create_table()?;
                    answer.raw_set("problems", lua.create_sequence_from(problems)?)?;
                    answer.raw_set("hidden", lua.create_table_from(hidden)?)?;
                    Ok(Ok(Value::Table(answer)))
                }));
            });
            Ok(number(reply))
        })?;
        self.event("fail_permissions", |fields| {
            let (chat, call) = (chat(fields)?, CallId(fields.integer("call")?));
            Ok(Event::call(chat, call, CallEvent::FactFound { fact: Fact::Rules, found: None }))
        })?;
        self.add("why", |_, pump, table: Value| {
            let fields = Fields::new("why", table)?;
            let sources = sources(&fields)?;
            let wants = Wants { key: fields.text("key")?, values: fields.texts("values")?, ..Wants::default() };
            fields.finish()?;
            let expected = pump.replies.expect();
            let reply = expected.number;
            pump.runtime.in_background(move || {
                let (loaded, problems) = permissions::load(&sources);
                let pairs = permissions::pairs(&wants, &loaded.places);
                expected.give(Box::new(move |lua| {
                    let answer = lua.create_table()?;
                    for pair in &pairs {
                        let ruling = pair.judge(&loaded.rules);
                        let part = lua.create_table()?;
                        part.raw_set("key", pair.key.as_str())?;
                        part.raw_set("value", pair.value.as_str())?;
                        part.raw_set("action", ruling.action.map(Action::as_str))?;
                        part.raw_set("rule", ruling.rule.map(ToString::to_string))?;
                        let asks = ruling.action == Some(Action::Ask);
                        let reason = asks.then(|| rule_reason(lua, &RuleReason::new(ruling.rule, &ruling.basis)));
                        part.raw_set("reason", reason.transpose()?)?;
                        answer.raw_push(part)?;
                    }
                    answer.raw_set("problems", lua.create_sequence_from(problems.iter().map(String::as_str))?)?;
                    let hides = loaded.rules.hiding(&wants.key).map(ToString::to_string);
                    answer.raw_set("hidden_by", hides)?;
                    Ok(Ok(Value::Table(answer)))
                }));
            });
            Ok(number(reply))
        })?;
        self.add("is_safe", |_, _, table: Value| {
            let fields = Fields::new("is_safe", table)?;
            let (text, patterns) = (fields.text("text")?, fields.texts("patterns")?);
            fields.finish()?;
            Ok(Value::Boolean(shell::is_safe(&text, &patterns)))
        })
    }
}

/// The rule that takes a tool away, under its name.
fn hidden(permissions: &Permissions, name: String, key: &str) -> Option<(String, String)> {
    let rule = permissions.rules.hiding(&name).or_else(|| permissions.rules.hiding(key))?;
    Some((name, rule.to_string()))
}

fn sources(fields: &Fields) -> Result<Sources, Error> {
    let path = |name| fields.bytes(name).map(|bytes| PathBuf::from(OsString::from_vec(bytes)));
    let actions = [("allow", Action::Allow), ("ask", Action::Ask), ("deny", Action::Deny)];
    Ok(Sources {
        session: path("session")?,
        home: path("home")?,
        config_home: path("config_home")?,
        readable: fields.texts("readable")?.into_iter().map(PathBuf::from).collect(),
        setup: fields.list("rules", |rule| {
            Ok(SetupRule {
                agent: rule.optional_text("agent")?,
                key: rule.text("key")?,
                pattern: rule.text("pattern")?,
                action: rule.word("action", &actions, "\"allow\", \"ask\" or \"deny\"")?,
            })
        })?,
        environment: fields.optional_text("environment")?,
        agent: fields.text("agent")?,
    })
}

/// Reads what a call wants, as Lua tells it. None: something in it is not what it should be, or no UTF-8, where two values
/// could look the same.
pub fn wants(given: &Value) -> Option<Wants> {
    let Value::Table(table) = given else { return None };
    let list = |name: &str| match table.raw_get::<Value>(name) {
        Ok(Value::Nil) => Some(Vec::new()),
        Ok(value) => exact_texts(&value),
        Err(_) => None,
    };
    let key = list("key")?.into_iter().next()?;
    Some(Wants { key, values: list("values")?, paths: list("paths")?, commands: list("commands")? })
}
