//! Programs that run the program which their arguments name: where it begins.

use super::word::Word;

/// How a program that runs another takes its own arguments.
pub struct Wrapper {
    name: &'static str,
    /// What stands before its options, as in `uv run`; empty: nothing.
    subcommand: &'static str,
    /// Options, by letter, that take a value: in the same word or the next.
    with_value: &'static str,
    /// Options, by letter, that take none, or one in the same word.
    without_value: &'static str,
    /// Long options that take a value, in the same word after `=` or in the next.
    long_with_value: &'static [&'static str],
    /// Long options that take none, or one after `=`.
    long_without_value: &'static [&'static str],
    /// Options whose value is a folder that is gone to.
    folders: &'static [&'static str],
    /// How many words stand before the inner command.
    operands: usize,
    /// `NAME=value` words may stand before the inner command.
    assigns: bool,
}

const fn wrapper(name: &'static str, with_value: &'static str, without_value: &'static str) -> Wrapper {
    Wrapper {
        name,
        subcommand: "",
        with_value,
        without_value,
        long_with_value: &[],
        long_without_value: &[],
        folders: &[],
        operands: 0,
        assigns: false,
    }
}

const NODE_OPTIONS: &[&str] = &["package", "workspace"];
const NODE_FLAGS: &[&str] = &["yes", "no", "no-install", "silent", "quiet", "prefer-offline", "offline"];

/// Options that are not here make the inner command impossible to find: then it is asked.
const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        long_with_value: &[
            "user",
            "group",
            "prompt",
            "host",
            "close-from",
            "chdir",
            "chroot",
            "role",
            "type",
            "other-user",
        ],
        long_without_value: &["preserve-env", "non-interactive", "stdin", "set-home", "reset-timestamp", "background"],
        folders: &["-D", "--chdir", "-R", "--chroot"],
        assigns: true,
        ..wrapper("sudo", "ugphCDRrtTU", "AbEHknPS")
    },
    wrapper("doas", "uC", "n"),
    Wrapper {
        long_with_value: &["unset", "chdir", "argv0"],
        long_without_value: &["ignore-environment", "null", "debug", "ignore-signal", "default-signal", "block-signal"],
        folders: &["-C", "--chdir"],
        assigns: true,
        ..wrapper("env", "uCa", "i0v")
    },
    wrapper("command", "", "p"),
    wrapper("builtin", "", ""),
    wrapper("exec", "a", "cl"),
    wrapper("nohup", "", ""),
    Wrapper { long_without_value: &["wait", "fork", "ctty"], ..wrapper("setsid", "", "cfw") },
    Wrapper { long_with_value: &["adjustment"], ..wrapper("nice", "n", "0123456789") },
    Wrapper {
        long_with_value: &["class", "classdata"],
        long_without_value: &["ignore"],
        ..wrapper("ionice", "cn", "t")
    },
    Wrapper { long_with_value: &["input", "output", "error"], ..wrapper("stdbuf", "ioe", "") },
    Wrapper {
        long_with_value: &["format", "output"],
        long_without_value: &["append", "portability", "verbose", "quiet"],
        ..wrapper("time", "fo", "apvq")
    },
    Wrapper {
        long_with_value: &["kill-after", "signal"],
        long_without_value: &["foreground", "preserve-status", "verbose"],
        operands: 1,
        ..wrapper("timeout", "ks", "fpv")
    },
    Wrapper {
        long_with_value: &["arg-file", "delimiter", "max-args", "max-chars", "max-procs", "process-slot-var"],
        long_without_value: &[
            "null",
            "no-run-if-empty",
            "verbose",
            "exit",
            "interactive",
            "max-lines",
            "eof",
            "replace",
        ],
        ..wrapper("xargs", "adEnPsLI", "0rtpxeli")
    },
    wrapper("coproc", "", ""),
    wrapper("busybox", "", ""),
    wrapper("toybox", "", ""),
    Wrapper { long_with_value: NODE_OPTIONS, long_without_value: NODE_FLAGS, ..wrapper("npx", "pw", "yq") },
    Wrapper {
        subcommand: "exec",
        long_with_value: NODE_OPTIONS,
        long_without_value: NODE_FLAGS,
        ..wrapper("npm", "w", "yq")
    },
    Wrapper {
        subcommand: "x",
        long_with_value: NODE_OPTIONS,
        long_without_value: NODE_FLAGS,
        ..wrapper("npm", "w", "yq")
    },
    Wrapper { subcommand: "exec", long_without_value: NODE_FLAGS, ..wrapper("pnpm", "", "r") },
    Wrapper {
        subcommand: "dlx",
        long_with_value: NODE_OPTIONS,
        long_without_value: NODE_FLAGS,
        ..wrapper("pnpm", "", "")
    },
    Wrapper { subcommand: "exec", ..wrapper("yarn", "", "") },
    Wrapper { subcommand: "dlx", long_with_value: NODE_OPTIONS, ..wrapper("yarn", "p", "q") },
    Wrapper { subcommand: "x", ..wrapper("bun", "", "") },
    wrapper("bunx", "", ""),
    Wrapper {
        subcommand: "run",
        long_with_value: &["with", "python", "package", "extra", "group", "project", "directory"],
        long_without_value: &[
            "frozen",
            "locked",
            "no-sync",
            "no-project",
            "isolated",
            "all-extras",
            "dev",
            "quiet",
            "active",
        ],
        folders: &["--project", "--directory"],
        ..wrapper("uv", "p", "q")
    },
    Wrapper { long_with_value: &["from", "with", "python"], ..wrapper("uvx", "p", "q") },
    Wrapper { subcommand: "run", long_without_value: &["quiet"], ..wrapper("poetry", "", "q") },
    Wrapper { subcommand: "run", ..wrapper("pipenv", "", "") },
    Wrapper { subcommand: "run", ..wrapper("pdm", "", "") },
    Wrapper { subcommand: "run", ..wrapper("rye", "", "") },
    Wrapper { subcommand: "exec", ..wrapper("bundle", "", "") },
    Wrapper { subcommand: "run", operands: 1, ..wrapper("rustup", "", "") },
    Wrapper { assigns: true, ..wrapper("cross-env", "", "") },
];

/// What a wrapper runs.
pub struct Inner<'w> {
    /// Its own words.
    pub own: &'w [Word],
    /// The words of the inner command; none of them: it runs nothing.
    pub command: &'w [Word],
    /// Folders that are gone to before it runs.
    pub folders: Vec<Word>,
    /// The variables that are set for it.
    pub assigned: Vec<Word>,
}

/// What a program runs that its arguments name. None: it is no such program; an inner none: that cannot be told.
pub fn inner<'w>(program: &str, arguments: &'w [Word]) -> Option<Option<Inner<'w>>> {
    let first = arguments.first().and_then(Word::as_literal);
    let is_own = |wrapper: &&Wrapper| {
        wrapper.name == program && (wrapper.subcommand.is_empty() || first.as_deref() == Some(wrapper.subcommand))
    };
    let wrapper = WRAPPERS.iter().find(is_own)?;
    Some(wrapper.inner(arguments))
}

/// What `watch` gives to a shell.
pub fn watched(arguments: &[Word]) -> Option<&[Word]> {
    const WATCH: Wrapper = Wrapper {
        long_with_value: &["interval"],
        long_without_value: &["differences", "no-title", "beep", "errexit", "chgexit", "color", "precise"],
        ..wrapper("watch", "n", "dtbegcp")
    };
    WATCH.inner(arguments).map(|inner| inner.command)
}

/// How a long option takes its value.
enum Long {
    Value,
    None,
}

impl Wrapper {
    fn inner<'w>(&self, arguments: &'w [Word]) -> Option<Inner<'w>> {
        let mut at = usize::from(!self.subcommand.is_empty());
        let mut operands = self.operands;
        let (mut folders, mut assigned) = (Vec::new(), Vec::new());
        let found = |at: usize, folders, assigned| {
            let at = at.min(arguments.len());
            Some(Inner { own: &arguments[..at], command: &arguments[at..], folders, assigned })
        };
        while let Some(word) = arguments.get(at) {
            // What is not known may be an option, a command, or several words.
            let Some(text) = word.as_literal() else {
                let start = word.start();
                let is_value = start.split_once('=').is_some_and(|(name, _)| super::read::is_name(name));
                if self.assigns && is_value && !word.may_split() {
                    assigned.push(word.clone());
                    at += 1;
                    continue;
                }
                if self.name == "timeout" && operands > 0 && !word.may_be_option() && !word.may_split() {
                    (operands, at) = (operands - 1, at + 1);
                    continue;
                }
                return None;
            };
            if text == "--" {
                return found(at + 1 + operands, folders, assigned);
            } else if let Some(long) = text.strip_prefix("--") {
                let length = self.long(long)?;
                self.folder(&arguments[at..], length, &mut folders);
                at += length;
            } else if text.len() > 1 && text.starts_with('-') {
                if self.name == "command" && text.contains(['v', 'V']) {
                    return found(arguments.len(), folders, assigned); // tells what a command is, and runs nothing
                }
                let length = self.short(&text[1..])?;
                self.folder(&arguments[at..], length, &mut folders);
                at += length;
            } else if self.assigns && is_assignment(&text) {
                assigned.push(word.clone());
                at += 1;
            } else if self.name == "env" && text == "-" {
                at += 1;
            } else if operands > 0 {
                (operands, at) = (operands - 1, at + 1);
            } else {
                return found(at, folders, assigned);
            }
        }
        found(arguments.len(), folders, assigned)
    }

    /// The folder that an option of so many words goes to.
    fn folder(&self, words: &[Word], length: usize, folders: &mut Vec<Word>) {
        let Some(text) = words.first().and_then(Word::as_literal) else { return };
        for option in self.folders {
            if length == 2
                && (text == *option || (option.starts_with("--") && text.len() > 2 && option.starts_with(&text)))
            {
                folders.extend(words.get(1).cloned());
            } else if option.len() == 2 && length == 1 && text.starts_with(option) {
                folders.push(Word::literal(&text[2..]));
            } else if let Some((name, value)) = text.split_once('=').filter(|_| length == 1)
                && option.starts_with(name)
                && name.len() > 2
            {
                folders.push(Word::literal(value));
            }
        }
    }

    /// How many words a long option takes, which may be cut short.
    fn long(&self, option: &str) -> Option<usize> {
        let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let has = |list: &[&str]| list.iter().any(|own| own.starts_with(name));
        let exact = |list: &[&str]| list.contains(&name);
        let takes = match (has(self.long_with_value), has(self.long_without_value)) {
            (true, true) if exact(self.long_with_value) => Long::Value,
            (true, true) if exact(self.long_without_value) => Long::None,
            (true, false) => Long::Value,
            (false, true) => Long::None,
            (true, true) | (false, false) => return None,
        };
        Some(match takes {
            Long::Value if value.is_none() => 2,
            Long::Value | Long::None => 1,
        })
    }

    /// How many words a group of short options takes.
    fn short(&self, letters: &str) -> Option<usize> {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            if self.with_value.contains(letter) {
                return Some(if rest.is_empty() { 2 } else { 1 });
            }
            if !self.without_value.contains(letter) {
                return None;
            }
            // `-l5`, `-e`: the value is optional and in the same word.
            if self.name == "xargs" && matches!(letter, 'e' | 'l' | 'i') {
                return Some(1);
            }
        }
        Some(1)
    }
}

/// Whether a word sets a variable for the command behind it.
pub fn is_assignment(text: &str) -> bool {
    // `env` takes any name, which no shell does.
    text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', ' ']))
}
