//! What a shell text would run, write and touch, as far as that can be told without running it (P-60 to P-65). Pure: no
//! rule is looked at here, and no file. Where it cannot be told, that is said, and the gate asks.

mod evaluated;
mod git;
mod inner;
mod interpreters;
mod operands;
mod parts;
mod prefix;
mod printed;
mod programs;
mod read;
mod run;
mod sed;
mod tree;
mod values;
mod variables;
mod walk;
mod word;
mod wrappers;

pub use parts::{Command, Parts, PathUse, Script};
pub use prefix::{is_safe, suggest};
pub use word::{PathPiece, PathText};

use super::unknown::Unknown;
use values::Values;

/// The key of shell texts.
pub const BASH: &str = "bash";

/// How deep shells may stand in shells (`sh -c "sh -c …"`).
const MAX_DEPTH: usize = 16;

/// More parts than these are not looked at: the text is one that nobody understands.
const MAX_PARTS: usize = 4096;

/// Takes a shell text apart.
pub fn parse(text: &str) -> Script {
    let mut parts = Parts::default();
    match collect(&mut parts, text, None, 0) {
        None => Script::Unparsable,
        Some(()) if parts == Parts::default() => Script::Empty,
        Some(()) => Script::Parsed(parts),
    }
}

/// Whether a text can be taken apart, and it is known which programs it runs.
pub fn is_understood(text: &str) -> bool {
    matches!(parse(text), Script::Parsed(parts) if !parts.commands.iter().any(Command::is_opaque))
}

/// Adds the parts of a text. None: it cannot be understood.
fn collect(parts: &mut Parts, text: &str, outer: Option<&Values>, depth: usize) -> Option<()> {
    if tree::is_odd(text) || depth > MAX_DEPTH {
        return None;
    }
    // A shell joins lines before anything else, but in comments and quotes; the grammar takes them for blanks. Judged
    // both ways, nothing hides in the difference.
    if text.contains("\\\n") {
        add(parts, &text.replace("\\\n", ""), outer, depth)?;
    }
    add(parts, text, outer, depth)
}

fn add(parts: &mut Parts, text: &str, outer: Option<&Values>, depth: usize) -> Option<()> {
    let (tree, text) = tree::trusted(text)?;
    let values = Values::read(&tree, &text, outer);
    let nested = walk::walk(parts, &tree, &text, &values)?;
    for nested in nested {
        if parts.commands.len() > MAX_PARTS {
            return None;
        }
        if collect(parts, &nested.text, Some(&values), depth + 1).is_none() {
            let command = &mut parts.commands[nested.command?];
            let program = command.written.split(' ').next().unwrap_or_default().to_owned();
            command.doubt.get_or_insert(Unknown::Text(program));
        }
    }
    Some(())
}

#[cfg(test)]
mod tests;
