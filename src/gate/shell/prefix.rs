//! Patterns for shell commands: the one that is offered with *Always accept* (P-66), and whether a text is one of those that
//! an author calls safe.

use super::{Command, Script, parse};

/// Programs whose first word says what they do.
const ONE: &[&str] = &["ls", "cat", "grep", "touch", "mkdir", "cp", "mv", "echo"];

/// Programs whose second word says what they do.
const TWO: &[&str] =
    &["git", "npm", "pnpm", "yarn", "cargo", "go", "docker", "kubectl", "make", "pip", "uv", "bun", "gh", "aws"];

/// Where the third word says it.
const THREE: &[(&str, &[&str])] = &[
    ("npm", &["run"]),
    ("bun", &["run"]),
    ("docker", &["compose"]),
    ("git", &["remote", "stash", "config"]),
    ("gh", &[]),
    ("aws", &[]),
];

/// A pattern for commands like this one. None: nothing that is narrow enough is known.
pub fn suggest(text: &str) -> Option<String> {
    let Script::Parsed(parts) = parse(text) else { return None };
    let [command @ Command { written: value, named: None, doubt: None, .. }] = &parts.commands[..] else {
        return None;
    };
    // Quotes, assignments, redirections, and what is not known, are not what a prefix is about.
    if command.views().count() != 1 {
        return None;
    }
    let words: Vec<&str> = value.split(' ').collect();
    let (first, second) = (words.first()?, words.get(1));
    let has_third = |(program, seconds): &(&str, &[&str])| {
        program == first && (seconds.is_empty() || second.is_some_and(|second| seconds.contains(second)))
    };
    let length = if THREE.iter().any(has_third) {
        3
    } else if TWO.contains(first) {
        2
    } else if ONE.contains(first) {
        1
    } else {
        return None;
    };
    let prefix = words.get(..length)?;
    let is_plain = |word: &&str| !word.is_empty() && !word.starts_with('-') && !word.contains(['*', '?', '$']);
    prefix.iter().all(is_plain).then(|| format!("{} *", prefix.join(" ")))
}

/// Whether a text is one of those that an author calls safe: letter by letter, but for blanks around it.
pub fn is_safe(text: &str, listed: &[String]) -> bool {
    let text = text.trim();
    !text.is_empty() && listed.iter().any(|safe| safe.trim() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p66_a_prefix_is_offered_where_it_is_narrow_enough() {
        for (text, pattern) in [
            ("ls -la", "ls *"),
            ("git status -s", "git status *"),
            ("npm test", "npm test *"),
            ("npm run build --watch", "npm run build *"),
            ("git stash pop", "git stash pop *"),
            ("docker compose up", "docker compose up *"),
            ("gh pr list", "gh pr list *"),
            ("make check", "make check *"),
        ] {
            assert_eq!(suggest(text).as_deref(), Some(pattern), "{text}");
        }
        for text in [
            "rm x",
            "sudo ls",
            "dd if=a",
            "eval ls",
            "bash x",
            "unknown x",
            "git -C /x status",
            "npm run",
            "gh pr",
            "git",
            "git status; ls",
            "FOO=1 git status",
            "git status > x",
            "/bin/ls x",
            "git $X",
            "npm run *",
            "ls ((",
            "",
        ] {
            assert_eq!(suggest(text), None, "{text}");
        }
    }

    #[test]
    fn r001_and_r002_only_what_is_listed_letter_by_letter_is_safe() {
        let list = ["git status".to_owned(), "ls *".to_owned(), " cargo test ".to_owned(), String::new()];
        for text in ["git status", "  git status\n", "cargo test", "ls *"] {
            assert!(is_safe(text, &list), "{text}");
        }
        for text in [
            "",
            "  ",
            "--",
            "ls",
            "ls -la",
            "git status -s",
            "git  status",
            "cd x; git status",
            "git status; git status",
            "git status\ntouch x",
            "git status > f",
            "A=1 git status",
            "git status # x",
        ] {
            assert!(!is_safe(text, &list), "{text}");
        }
    }
}
