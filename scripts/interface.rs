//! A fingerprint of what the library and the Lua beside it must agree on: the names of exports, performers and their
//! fields, and the shapes that `bridge_types.lua` gives them. The build script puts it into the library and into
//! `lua/lathe/interface.lua`; `lathe.core` compares the two, and a test sees to it that the file is up to date.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What of `bridge_types.lua` counts begins here.
const LIBRARY: &str = "-- The library ---";

/// The file that tells Lua.
pub fn lua_file(root: &Path) -> PathBuf {
    root.join("lua/lathe/interface.lua")
}

/// What it holds.
pub fn lua_text(fingerprint: &str) -> String {
    format!(
        "-- What the library must have been built from to fit the Lua beside it. Written by the build; `lathe.core` compares.\n\
         return \"{fingerprint}\"\n"
    )
}

/// The fingerprint of the sources in this folder.
///
/// # Errors
/// A source cannot be read.
pub fn fingerprint(root: &Path) -> io::Result<String> {
    let mut files = vec![root.join("src/bridge.rs")];
    for entry in fs::read_dir(root.join("src/bridge"))? {
        files.push(entry?.path());
    }
    // By name: where a block stands does not matter.
    let mut blocks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "rs")) {
        read(&fs::read_to_string(file)?, &mut blocks);
    }
    let mut text = fs::read_to_string(root.join("lua/lathe/version.lua"))?;
    for (name, mut words) in blocks {
        words.sort();
        text.push_str(&format!("{name}: {}\n", words.join(" ")));
    }
    let types = fs::read_to_string(root.join("lua/lathe/bridge_types.lua"))?;
    text.push_str(types.find(LIBRARY).map_or(&types, |at| &types[at..]));
    Ok(format!("{:016x}", hash(text.as_bytes())))
}

/// Collects the words in quotes of each function and each export, and the performers.
fn read(source: &str, blocks: &mut BTreeMap<String, Vec<String>>) {
    let code: Vec<&str> = source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let code = code.split("#[cfg(test)]").next().unwrap_or_default();
    let mut block = String::from("-");
    let mut rest = code;
    while let Some(at) = rest.find(['"', 'f', '.', 'p']) {
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('"') {
            let end = end_of_string(after);
            let word = &after[..end];
            if !word.is_empty() && word.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
                blocks.entry(block.clone()).or_default().push(word.to_owned());
            }
            rest = after.get(end + 1..).unwrap_or_default();
        } else if let Some(after) = rest.strip_prefix("fn ") {
            let end =
                after.find(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric()).unwrap_or(after.len());
            block = format!("fn {}", &after[..end]);
            rest = &after[end..];
        } else if let Some(after) = [".add(\"", ".event(\""].iter().find_map(|start| rest.strip_prefix(start)) {
            let end = end_of_string(after);
            block = format!("export {}", &after[..end]);
            blocks.entry(block.clone()).or_default();
            rest = after.get(end + 1..).unwrap_or_default();
        } else if let Some(after) = rest.strip_prefix("performers! {\n") {
            let end = after.find('}').unwrap_or(after.len());
            let names = after[..end].split_whitespace().map(str::to_owned);
            blocks.entry("performers".to_owned()).or_default().extend(names);
            rest = &after[end..];
        } else {
            rest = &rest[1..];
        }
    }
}

fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    text.len()
}

/// FNV-1a: nobody forges it, and the build needs no more libraries for it.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
