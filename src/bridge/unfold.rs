//! JSON becomes Lua as `vim.json.decode` makes it, in slices: a large value takes longer than the main loop may be held.

use std::time::Instant;

use mlua::{Lua, ObjectLike, Table, Value};
use serde_json::Value as Json;

/// The two values of `vim` that JSON needs.
pub struct JsonMarks {
    null: Value,
    empty_dict: Table,
}

impl JsonMarks {
    /// Reads them from `vim`.
    pub fn read(lua: &Lua) -> mlua::Result<Self> {
        let vim: Table = lua.globals().get("vim")?;
        let empty: Table = vim.call_function("empty_dict", ())?;
        let empty_dict = empty.metatable().ok_or_else(|| mlua::Error::runtime("vim.empty_dict() has no metatable"))?;
        Ok(Self { null: vim.get("NIL")?, empty_dict })
    }
}

/// How many nodes of a JSON value are turned into Lua between two looks at the clock.
const NODES_PER_LOOK: usize = 256;

/// A JSON value on its way to Lua, where it is what `vim.json.decode` gives. A large one takes longer than the main loop
/// may be held, so it goes in slices.
pub struct Unfolding {
    /// What has not begun.
    whole: Option<Json>,
    /// The tables that are being filled, the innermost last.
    stack: Vec<Frame>,
}

enum Frame {
    Array { table: Table, items: std::vec::IntoIter<Json>, index: usize },
    Object { table: Table, fields: serde_json::map::IntoIter, name: String },
}

impl Unfolding {
    /// A value of which nothing is done.
    pub fn new(json: Json) -> Self {
        Self { whole: Some(json), stack: Vec::new() }
    }

    /// Goes on until the value is done or `until` has come. None: it is not done yet.
    pub fn advance(&mut self, marks: &JsonMarks, lua: &Lua, until: Instant) -> mlua::Result<Option<Value>> {
        if let Some(json) = self.whole.take()
            && let Some(leaf) = self.open(marks, lua, json)?
        {
            return Ok(Some(leaf));
        }
        loop {
            for _ in 0..NODES_PER_LOOK {
                if let Some(value) = self.step(marks, lua)? {
                    return Ok(Some(value));
                }
            }
            if Instant::now() >= until {
                return Ok(None);
            }
        }
    }

    /// The Lua value of a leaf; a table goes on the stack.
    fn open(&mut self, marks: &JsonMarks, lua: &Lua, json: Json) -> mlua::Result<Option<Value>> {
        Ok(Some(match json {
            Json::Null => marks.null.clone(),
            Json::Bool(boolean) => Value::Boolean(boolean),
            // Lua has doubles only. Without serde_json's arbitrary precision every number is one.
            Json::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Value::String(lua.create_string(text)?),
            Json::Array(items) => {
                let table = lua.create_table_with_capacity(items.len(), 0)?;
                self.stack.push(Frame::Array { table, items: items.into_iter(), index: 0 });
                return Ok(None);
            }
            Json::Object(fields) => {
                let table = lua.create_table_with_capacity(0, fields.len())?;
                if fields.is_empty() {
                    table.set_metatable(Some(marks.empty_dict.clone()))?;
                }
                self.stack.push(Frame::Object { table, fields: fields.into_iter(), name: String::new() });
                return Ok(None);
            }
        }))
    }

    /// Takes the next node of the innermost table, or closes it. Some: the outermost one is closed.
    fn step(&mut self, marks: &JsonMarks, lua: &Lua) -> mlua::Result<Option<Value>> {
        let next = match self.stack.last_mut() {
            None => return Ok(Some(Value::Nil)),
            Some(Frame::Array { items, index, .. }) => {
                *index += 1;
                items.next()
            }
            Some(Frame::Object { fields, name, .. }) => fields.next().map(|(key, value)| {
                *name = key;
                value
            }),
        };
        let value = match next {
            Some(json) => self.open(marks, lua, json)?,
            None => {
                let (Frame::Array { table, .. } | Frame::Object { table, .. }) =
                    self.stack.pop().ok_or_else(|| mlua::Error::runtime("nothing is open"))?;
                if self.stack.is_empty() {
                    return Ok(Some(Value::Table(table)));
                }
                Some(Value::Table(table))
            }
        };
        match (self.stack.last(), value) {
            (Some(Frame::Array { table, index, .. }), Some(value)) => table.raw_set(*index, value)?,
            (Some(Frame::Object { table, name, .. }), Some(value)) => table.raw_set(name.as_str(), value)?,
            // A table was opened; it is set when it is closed.
            (_, None) | (None, _) => {}
        }
        Ok(None)
    }
}
