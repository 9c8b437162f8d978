//! The environment of a command: the editor's without keys, nothing that asks, pages or paints, and the command's own
//! changes.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use super::Command;

/// Variables that programs need to run at all. None of them is a key, whatever an adapter calls it.
const NEEDED: [&str; 10] = ["PATH", "HOME", "PWD", "SHELL", "USER", "LOGNAME", "LANG", "TERM", "TMPDIR", "SHLVL"];

/// A shorter value turns up in others by chance.
const MIN_PART_BYTES: usize = 12;

/// A value that commands must not see.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Secret {
    /// The value.
    pub value: String,
    /// Whether a variable that only holds it, among other text, is withheld as well.
    pub in_part: bool,
}

/// What a command does not get of the editor's environment.
#[derive(Clone, Debug, Default)]
pub struct Withheld {
    /// Variables by their name.
    pub names: Vec<OsString>,
    /// Variables by their value.
    pub secrets: Arc<[Secret]>,
    /// What it gets in spite of both.
    pub kept: Vec<OsString>,
}

impl Withheld {
    fn has(&self, name: &OsStr, value: &OsStr) -> bool {
        if NEEDED.iter().any(|needed| *needed == name) || self.kept.iter().any(|kept| kept == name) {
            return false;
        }
        let value = value.as_bytes();
        let is_secret = |secret: &Secret| {
            let part = secret.value.as_bytes();
            part == value
                || (secret.in_part
                    && part.len() >= MIN_PART_BYTES
                    // The address of a server is none.
                    && !secret.value.contains("://")
                    && memchr::memmem::find(value, part).is_some())
        };
        self.names.iter().any(|withheld| withheld == name) || self.secrets.iter().any(is_secret)
    }
}

/// The environment of a command.
pub(super) fn environment(command: &Command) -> HashMap<OsString, OsString> {
    const QUIET: [(&str, &str); 5] =
        [("PAGER", "cat"), ("GIT_PAGER", "cat"), ("GIT_TERMINAL_PROMPT", "0"), ("NO_COLOR", "1"), ("TERM", "dumb")];
    let all = std::env::vars_os().filter(|(name, value)| !command.withheld.has(name, value));
    let mut environment: HashMap<OsString, OsString> = all.collect();
    if command.is_quiet {
        environment.extend(QUIET.map(|(name, value)| (name.into(), value.into())));
    }
    environment.extend(command.variables.iter().cloned());
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    fn withheld(names: &[&str], secrets: &[(&str, bool)], kept: &[&str]) -> Withheld {
        let secret = |(value, in_part): &(&str, bool)| Secret { value: (*value).to_owned(), in_part: *in_part };
        Withheld {
            names: names.iter().map(OsString::from).collect(),
            secrets: secrets.iter().map(secret).collect(),
            kept: kept.iter().map(OsString::from).collect(),
        }
    }

    #[test]
    fn variables_are_withheld_by_name_and_by_value() {
        let withheld = withheld(
            &["A_KEY", "lower", "PATH", "KEPT"],
            &[("the-secret-value", true), ("short", true), ("whole-value-only", false), ("https://host.example", true)],
            &["KEPT", "KEPT_BY_VALUE"],
        );
        let has = |name: &str, value: &str| withheld.has(OsStr::new(name), OsStr::new(value));
        assert!(has("A_KEY", "x") && has("lower", "x"));
        assert!(has("X", "the-secret-value") && has("X", "Bearer the-secret-value") && has("X", "short"));
        assert!(!has("X", "a short one"), "a part that is too short");
        assert!(has("X", "whole-value-only") && !has("X", "a whole-value-only"));
        assert!(has("X", "https://host.example") && !has("X", "https://host.example/v1"));
        assert!(!has("KEPT", "x") && !has("KEPT_BY_VALUE", "the-secret-value"));
        assert!(!has("PATH", "/bin") && !has("HOME", "the-secret-value"), "no program runs without them");
        assert!(!has("OTHER", "other"));
    }
}
