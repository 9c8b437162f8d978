//! Names of tools and ids of calls in the form that providers take. The same one in every request and process.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// How many bytes of a name the providers take.
pub const MAX_NAME_BYTES: usize = 64;

/// Tools under the names that providers take (R049): up to 64 letters, digits, `_` and `-`. Most names are legal as they
/// are; another one is made legal and unique, the same way in every request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    wires: HashMap<String, String>,
    tools: HashMap<String, String>,
    /// The first byte must be a letter or `_`.
    like_words: bool,
}

impl Names {
    /// Names for these tools.
    pub fn new<'a>(tools: impl IntoIterator<Item = &'a str>) -> Self {
        Self::default().with(tools)
    }

    /// The same for a provider whose names begin with a letter or `_`.
    pub fn like_words<'a>(tools: impl IntoIterator<Item = &'a str>) -> Self {
        Self { like_words: true, ..Self::default() }.with(tools)
    }

    fn with<'a>(self, tools: impl IntoIterator<Item = &'a str>) -> Self {
        let mut names = self;
        let (legal, others): (Vec<&str>, Vec<&str>) = tools.into_iter().partition(|name| names.is_legal(name));
        let mut taken: HashSet<Cow<str>> = legal.into_iter().map(Cow::Borrowed).collect();
        for tool in others {
            if names.wires.contains_key(tool) {
                continue;
            }
            let mut wire = names.shorten(tool, 0);
            for salt in 1.. {
                if taken.insert(Cow::Owned(wire.clone())) {
                    break;
                }
                wire = names.shorten(tool, salt);
            }
            names.wires.insert(tool.to_owned(), wire.clone());
            names.tools.insert(wire, tool.to_owned());
        }
        names
    }

    /// The name a provider gets for a tool, also for one that is not on offer any more.
    pub fn wire<'a>(&'a self, tool: &'a str) -> Cow<'a, str> {
        match self.wires.get(tool) {
            Some(wire) => Cow::Borrowed(wire),
            None if self.is_legal(tool) => Cow::Borrowed(tool),
            None => Cow::Owned(self.shorten(tool, 0)),
        }
    }

    fn is_legal(&self, name: &str) -> bool {
        is_legal(name) && (!self.like_words || begins_word(name))
    }

    fn shorten(&self, name: &str, salt: u32) -> String {
        let short = shorten(name, salt, MAX_NAME_BYTES - 1);
        if self.like_words && !begins_word(&short) { format!("_{short}") } else { shorten(name, salt, MAX_NAME_BYTES) }
    }

    /// The tool that a provider means; what it made up stays as it is.
    pub fn tool<'a>(&'a self, wire: &'a str) -> &'a str {
        self.tools.get(wire).map_or(wire, String::as_str)
    }
}

fn is_legal(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(is_legal_byte)
}

fn is_legal_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn begins_word(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

/// An id of a call that providers take which did not make it: up to 64 letters, digits, `_` and `-`.
pub fn legal_id(id: &str) -> Cow<'_, str> {
    if is_legal(id) { Cow::Borrowed(id) } else { Cow::Owned(shorten(id, 0, MAX_NAME_BYTES)) }
}

/// Whether every provider takes an id of a call as it is.
pub fn is_plain_id(id: &str) -> bool {
    /// Some take no more.
    const MAX_ID_BYTES: usize = 40;
    id.len() <= MAX_ID_BYTES && is_legal(id)
}

/// The first bytes, 55 when there is room for 64, then `_` and eight digits of a hash of the whole.
pub fn shorten(name: &str, salt: u32, room: usize) -> String {
    let head = name.bytes().take(room - 9);
    let head: String = head.map(|byte| if is_legal_byte(byte) { char::from(byte) } else { '_' }).collect();
    format!("{head}_{:08x}", fnv1a(name.bytes().chain(salt.to_le_bytes().into_iter().filter(|byte| *byte != 0))))
}

/// An id of exactly so many letters and digits (at least 8) for another one, the same in every request.
pub fn hashed_id(id: &str, length: usize) -> String {
    let tail = format!("{:08x}", fnv1a(id.bytes()));
    let head = id.chars().filter(char::is_ascii_alphanumeric).chain(std::iter::repeat('0'));
    head.take(length.saturating_sub(tail.len())).chain(tail.chars()).take(length).collect()
}

/// FNV-1a: the names must be the same in every build and process, which the standard hasher does not promise.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u32 {
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r049_a_long_name_is_cut_and_maps_back_to_its_tool() {
        let long = format!("{}__{}", "s".repeat(40), "t".repeat(41));
        let other = format!("{long}2");
        let names = Names::new([long.as_str(), other.as_str(), "short"]);
        let (wire, second) = (names.wire(&long), names.wire(&other));
        assert_eq!(wire.len(), 64);
        assert!(is_legal(&wire) && is_legal(&second));
        assert_ne!(wire, second);
        assert_eq!(names.tool(&wire), long);
        assert_eq!(names.tool(&second), other);
        assert_eq!(names.wire("short"), "short");
        assert_eq!(names.tool("made_up"), "made_up");
    }

    #[test]
    fn r049_a_name_is_cut_the_same_way_in_every_process() {
        assert_eq!(Names::new(["a.b"]).wire("a.b"), "a_b_108bf50c");
        assert_eq!(Names::default().wire("a.b"), "a_b_108bf50c");
    }

    #[test]
    fn r049_a_made_name_never_takes_the_name_of_another_tool() {
        let clash = Names::default().wire("a.b").into_owned();
        let names = Names::new(["a.b", clash.as_str(), "", "é"]);
        assert_eq!(names.wire(&clash), clash);
        assert_eq!(names.tool(&clash), clash);
        for tool in ["a.b", "", "é"] {
            let wire = names.wire(tool).into_owned();
            assert!(is_legal(&wire), "{wire}");
            assert_eq!(names.tool(&wire), tool);
        }
    }
}
