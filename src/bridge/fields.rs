//! The fields of an export's table, and positional arguments: strictly. What is missing, unknown or of the wrong type is an
//! error that names it, never a default.

use std::cell::RefCell;
use std::collections::BTreeMap;

use mlua::{LuaString, Table, UserDataRef, Value};

use crate::command;
use crate::error::Error;

/// The largest number below which a Lua number is exact as an integer.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// The fields of the table that an export was given. Those that nobody read are unknown.
pub struct Fields {
    export: &'static str,
    /// Names the table in messages: empty, or `tools[2].`.
    prefix: String,
    table: Table,
    read: RefCell<Vec<&'static str>>,
}

impl Fields {
    /// The table argument of an export.
    pub fn new(export: &'static str, argument: Value) -> Result<Self, Error> {
        Self::with_prefix(export, String::new(), argument, "argument")
    }

    fn with_prefix(export: &'static str, prefix: String, value: Value, name: &str) -> Result<Self, Error> {
        match value {
            Value::Table(table) => Ok(Self { export, prefix, table, read: RefCell::default() }),
            other => Err(wrong(export, name.to_owned(), "a table", &other)),
        }
    }

    /// Fails on the first field that was not read.
    pub fn finish(self) -> Result<(), Error> {
        let read = self.read.into_inner();
        for pair in self.table.pairs::<Value, Value>() {
            let (name, _) = pair.map_err(|error| Error::Lua { export: self.export, source: error.into() })?;
            let known = match &name {
                Value::String(name) => read.iter().any(|known| name.as_bytes() == known.as_bytes()),
                _ => false,
            };
            if !known {
                let name = name.to_string().unwrap_or_else(|_| name.type_name().to_owned());
                return Err(Error::UnknownField { export: self.export, field: format!("{}{name}", self.prefix) });
            }
        }
        Ok(())
    }

    fn raw(&self, field: &'static str) -> Result<Value, Error> {
        self.read.borrow_mut().push(field);
        self.table.raw_get(field).map_err(|error| Error::Lua { export: self.export, source: error.into() })
    }

    fn name(&self, field: &str) -> String {
        format!("{}{field}", self.prefix)
    }

    fn wrong(&self, field: &str, wanted: &'static str, given: &Value) -> Error {
        if given.is_nil() {
            return Error::MissingField { export: self.export, field: self.name(field) };
        }
        wrong(self.export, self.name(field), wanted, given)
    }

    /// An id or count, from 0.
    pub fn integer(&self, field: &'static str) -> Result<u64, Error> {
        let value = self.raw(field)?;
        integer(&value).ok_or_else(|| self.wrong(field, "a whole number", &value))
    }

    /// An id or count that may be left out.
    pub fn optional_integer(&self, field: &'static str) -> Result<Option<u64>, Error> {
        if self.raw(field)?.is_nil() { Ok(None) } else { self.integer(field).map(Some) }
    }

    /// A truth value.
    pub fn boolean(&self, field: &'static str) -> Result<bool, Error> {
        self.optional_boolean(field)?.ok_or_else(|| self.wrong(field, "a boolean", &Value::Nil))
    }

    /// A truth value that may be left out.
    pub fn optional_boolean(&self, field: &'static str) -> Result<Option<bool>, Error> {
        match self.raw(field)? {
            Value::Nil => Ok(None),
            Value::Boolean(boolean) => Ok(Some(boolean)),
            other => Err(self.wrong(field, "a boolean", &other)),
        }
    }

    /// A truth value that is false where it is left out.
    pub fn flag(&self, field: &'static str) -> Result<bool, Error> {
        Ok(self.optional_boolean(field)? == Some(true))
    }

    /// A string that may be left out, as it is in Lua.
    pub fn optional_string(&self, field: &'static str) -> Result<Option<LuaString>, Error> {
        match self.raw(field)? {
            Value::Nil => Ok(None),
            Value::String(string) => Ok(Some(string)),
            other => Err(self.wrong(field, "a string", &other)),
        }
    }

    /// A text.
    pub fn text(&self, field: &'static str) -> Result<String, Error> {
        self.optional_text(field)?.ok_or_else(|| self.wrong(field, "a string", &Value::Nil))
    }

    /// A text that may be left out.
    pub fn optional_text(&self, field: &'static str) -> Result<Option<String>, Error> {
        let value = self.raw(field)?;
        if value.is_nil() {
            return Ok(None);
        }
        text(&value).map(Some).ok_or_else(|| self.wrong(field, "a string", &value))
    }

    /// Bytes: a path, shell text.
    pub fn bytes(&self, field: &'static str) -> Result<Vec<u8>, Error> {
        let value = self.raw(field)?;
        bytes(&value).ok_or_else(|| self.wrong(field, "a string", &value))
    }

    /// Bytes that may be left out.
    pub fn optional_bytes(&self, field: &'static str) -> Result<Option<Vec<u8>>, Error> {
        let value = self.raw(field)?;
        if value.is_nil() {
            return Ok(None);
        }
        bytes(&value).map(Some).ok_or_else(|| self.wrong(field, "a string", &value))
    }

    /// Texts by name, in the order of the names.
    pub fn pairs(&self, field: &'static str) -> Result<Vec<(String, String)>, Error> {
        let value = self.raw(field)?;
        let Value::Table(table) = &value else { return Err(self.wrong(field, "a table", &value)) };
        let mut pairs = Vec::new();
        for pair in table.pairs::<Value, Value>() {
            let (name, item) = pair.map_err(|error| Error::Lua { export: self.export, source: error.into() })?;
            match (text(&name), text(&item)) {
                (Some(name), Some(item)) => pairs.push((name, item)),
                // The value may be a key: it is not shown.
                _ => return Err(self.wrong(field, "a table of strings", &Value::Boolean(false))),
            }
        }
        pairs.sort();
        Ok(pairs)
    }

    /// A list of texts.
    pub fn texts(&self, field: &'static str) -> Result<Vec<String>, Error> {
        let value = self.raw(field)?;
        let words = words(&value).ok_or_else(|| self.wrong(field, "a list of strings", &value))?;
        Ok(words.into_iter().map(|word| String::from_utf8_lossy(&word).into_owned()).collect())
    }

    /// A list of texts that may be left out.
    pub fn optional_texts(&self, field: &'static str) -> Result<Vec<String>, Error> {
        if self.raw(field)?.is_nil() { Ok(Vec::new()) } else { self.texts(field) }
    }

    /// Values of placeholders by name: a string is one word, a list several, `{ raw = … }` shell text.
    pub fn env(&self, field: &'static str) -> Result<BTreeMap<String, command::Value>, Error> {
        let value = self.raw(field)?;
        let Value::Table(table) = &value else { return Err(self.wrong(field, "a table", &value)) };
        let mut env = BTreeMap::new();
        for pair in table.pairs::<Value, Value>() {
            let (name, value) = pair.map_err(|error| Error::Lua { export: self.export, source: error.into() })?;
            let name = text(&name).ok_or_else(|| self.wrong(field, "a table with names", &name))?;
            let wanted = "a string, a list of strings or { raw = string }";
            let value = match &value {
                Value::Table(table) => match table.raw_get::<Value>("raw") {
                    Ok(Value::Nil) => words(&value).map(command::Value::Words),
                    Ok(raw) => bytes(&raw).map(command::Value::Raw),
                    Err(_) => None,
                },
                other => bytes(other).map(command::Value::Word),
            }
            .ok_or_else(|| self.wrong(&format!("{field}.{name}"), wanted, &value))?;
            env.insert(name, value);
        }
        Ok(env)
    }

    /// A function.
    pub fn function(&self, field: &'static str) -> Result<mlua::Function, Error> {
        match self.raw(field)? {
            Value::Function(function) => Ok(function),
            other => Err(self.wrong(field, "a function", &other)),
        }
    }

    /// A value of ours that Lua keeps, such as the tools made by `tool_set`. `wanted` names it.
    pub fn userdata<T: 'static>(&self, field: &'static str, wanted: &'static str) -> Result<UserDataRef<T>, Error> {
        let value = self.raw(field)?;
        let kept = value.as_userdata().and_then(|userdata| userdata.borrow::<T>().ok());
        kept.ok_or_else(|| self.wrong(field, wanted, &value))
    }

    /// The same, which may be left out.
    pub fn optional_userdata<T: 'static>(
        &self,
        field: &'static str,
        wanted: &'static str,
    ) -> Result<Option<UserDataRef<T>>, Error> {
        if self.raw(field)?.is_nil() { Ok(None) } else { self.userdata(field, wanted).map(Some) }
    }

    /// A list of tables, each read by `read`.
    pub fn list<T>(
        &self,
        field: &'static str,
        mut read: impl FnMut(&Fields) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let value = self.raw(field)?;
        let Value::Table(table) = &value else { return Err(self.wrong(field, "a list", &value)) };
        let mut items = Vec::with_capacity(table.raw_len());
        for (index, item) in table.sequence_values::<Value>().enumerate() {
            let item = item.map_err(|error| Error::Lua { export: self.export, source: error.into() })?;
            let name = self.name(&format!("{field}[{}]", index + 1));
            let fields = Fields::with_prefix(self.export, format!("{name}."), item, &name)?;
            items.push(read(&fields)?);
            fields.finish()?;
        }
        if table.pairs::<Value, Value>().count() == items.len() {
            Ok(items)
        } else {
            Err(self.wrong(field, "a list without gaps and names", &value))
        }
    }

    /// A list of tables that may be left out.
    pub fn optional_list<T>(
        &self,
        field: &'static str,
        read: impl FnMut(&Fields) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        if self.raw(field)?.is_nil() { Ok(Vec::new()) } else { self.list(field, read) }
    }

    /// One word of a list of words.
    pub fn word<T: Clone>(&self, field: &'static str, words: &[(&str, T)], wanted: &'static str) -> Result<T, Error> {
        let given = self.text(field)?;
        let word = words.iter().find(|(word, _)| *word == given).map(|(_, meaning)| meaning.clone());
        word.ok_or_else(|| Error::WrongField {
            export: self.export,
            field: self.name(field),
            wanted,
            given: format!("{given:?}"),
        })
    }
}

/// A positional whole number.
pub fn integer_argument(export: &'static str, name: &str, value: &Value) -> Result<u64, Error> {
    integer(value).ok_or_else(|| wrong(export, name.to_owned(), "a whole number", value))
}

/// A positional truth value.
pub fn boolean_argument(export: &'static str, name: &str, value: &Value) -> Result<bool, Error> {
    value.as_boolean().ok_or_else(|| wrong(export, name.to_owned(), "a boolean", value))
}

/// A positional text.
pub fn text_argument(export: &'static str, name: &str, value: &Value) -> Result<String, Error> {
    text(value).ok_or_else(|| wrong(export, name.to_owned(), "a string", value))
}

/// A whole number that Lua holds exactly.
pub fn integer(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(integer) => u64::try_from(*integer).ok(),
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
        Value::Number(number) if number.fract() == 0.0 && (0.0..=MAX_EXACT).contains(number) => Some(*number as u64),
        _ => None,
    }
}

/// A string, only if it is UTF-8: one that another text could be taken for.
pub fn exact_text(value: &Value) -> Option<String> {
    value.as_string().and_then(|text| text.to_str().ok().map(|text| text.to_owned()))
}

/// A string or a list of strings, all of them UTF-8.
pub fn exact_texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(_) => exact_text(value).map(|text| vec![text]),
        Value::Table(table) => table.sequence_values::<Value>().map(|item| exact_text(&item.ok()?)).collect(),
        _ => None,
    }
}

/// A string. Bytes that are no UTF-8 cannot be part of a conversation and are replaced.
pub fn text(value: &Value) -> Option<String> {
    value.as_string().map(|text| text.to_string_lossy())
}

fn wrong(export: &'static str, field: String, wanted: &'static str, given: &Value) -> Error {
    let given = match given {
        Value::Integer(_) | Value::Number(_) => format!("the number {}", given.to_string().unwrap_or_default()),
        Value::Nil => "nil".to_owned(),
        other => format!("a {}", other.type_name()),
    };
    Error::WrongField { export, field, wanted, given }
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    value.as_string().map(|text| text.as_bytes().to_vec())
}

/// The strings of a list without gaps.
fn words(value: &Value) -> Option<Vec<Vec<u8>>> {
    let table = value.as_table()?;
    let words: Vec<Vec<u8>> =
        table.sequence_values::<Value>().map(|word| word.ok().and_then(|word| bytes(&word))).collect::<Option<_>>()?;
    (table.pairs::<Value, Value>().count() == words.len()).then_some(words)
}
