//! Exports for files that several editors write.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use mlua::{UserData, UserDataMethods, Value};

use super::fields::Fields;
use super::{Exports, string};
use crate::error::Error;
use crate::runtime::file_lock::FileLock;

/// How long a lock is waited for. On the main loop: others hold it as long as it takes to write a small file.
const LIMIT: Duration = Duration::from_millis(40);

/// A lock that Lua holds.
struct Held(Option<FileLock>);

impl UserData for Held {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("release", |_, held, ()| {
            held.0 = None;
            Ok(())
        });
    }
}

impl Exports<'_> {
    /// Locks.
    pub(super) fn files(&self) -> mlua::Result<()> {
        // A lock, or a text: why there is none.
        self.add("lock_file", |lua, _, table: Value| {
            let fields = Fields::new("lock_file", table)?;
            let path = PathBuf::from(OsString::from_vec(fields.bytes("path")?));
            fields.finish()?;
            match FileLock::take(&path, LIMIT) {
                Ok(lock) => {
                    let held = lua.create_userdata(Held(Some(lock)));
                    let failed = |error: mlua::Error| Error::Lua { export: "lock_file", source: error.into() };
                    held.map(Value::UserData).map_err(failed)
                }
                Err(error) => string(lua, "lock_file", &error.to_string()),
            }
        })
    }
}
