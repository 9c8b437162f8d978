//! Binds the library to the Lua that it is built beside: see `scripts/interface.rs`.

use std::path::PathBuf;
use std::{env, fs, io};

#[path = "scripts/interface.rs"]
mod interface;

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    for path in [
        "src/bridge.rs",
        "src/bridge",
        "lua/lathe/bridge_types.lua",
        "lua/lathe/version.lua",
        "lua/lathe/interface.lua",
    ] {
        println!("cargo::rerun-if-changed={path}");
    }
    let fingerprint = interface::fingerprint(&root)?;
    println!("cargo::rustc-env=LATHE_INTERFACE={fingerprint}");
    let (file, text) = (interface::lua_file(&root), interface::lua_text(&fingerprint));
    if fs::read_to_string(&file).is_ok_and(|known| known == text) {
        return Ok(());
    }
    // Where nothing can be written the file must be right already, or the library is refused.
    let _ = fs::write(file, text);
    Ok(())
}
