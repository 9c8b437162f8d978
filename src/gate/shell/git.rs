//! What git runs besides itself, by its subcommands.

use super::word::Word;

/// What can be told about a call of git.
#[derive(Debug, PartialEq, Eq)]
pub struct Git {
    /// The word that makes it run something else.
    pub running: Option<String>,
    /// Where the subcommand stands among the arguments.
    pub subcommand: Option<usize>,
    /// Folders that are gone to.
    pub folders: Vec<Word>,
}

/// Subcommands with options that run something: letters, letters that take another value, long options.
const OPTIONS: &[(&str, &str, &str, &[&str])] = &[
    ("clone", "uc", "obj", &["upload-pack", "config", "template"]),
    ("fetch", "", "jo", &["upload-pack"]),
    ("pull", "", "josSX", &["upload-pack", "strategy"]),
    ("push", "", "o", &["receive-pack", "exec"]),
    ("ls-remote", "", "o", &["upload-pack", "exec"]),
    ("archive", "", "o", &["exec"]),
    ("fetch-pack", "", "", &["upload-pack", "exec"]),
    ("send-pack", "", "", &["receive-pack", "exec"]),
    ("rebase", "x", "sXCS", &["exec"]),
    ("grep", "O", "efABCm", &["open-files-in-pager"]),
    ("init", "", "b", &["template"]),
    ("merge", "s", "mFXS", &["strategy"]),
    ("cherry-pick", "", "mX", &["strategy"]),
    ("revert", "", "mX", &["strategy"]),
    ("interpret-trailers", "", "", &["trailer"]),
    ("help", "w", "", &["web"]),
    ("submodule", "", "", &["command"]),
];

/// Subcommands that always run something else, or a text.
const OPAQUE: &[&str] = &[
    "difftool",
    "mergetool",
    "filter-branch",
    "filter-repo",
    "send-email",
    "instaweb",
    "web--browse",
    "shell",
    "hook",
    "for-each-repo",
    "remote-ext",
    "remote-fd",
    "maintenance",
    "credential",
    "imap-send",
    "p4",
    "svn",
    "cvsserver",
    "upload-pack",
    "receive-pack",
    "upload-archive",
    "daemon",
    "gui",
    "citool",
    "submodule--helper",
    "http-backend",
    "quiltimport",
    "bugreport",
    "diagnose",
    "fsmonitor--daemon",
    "env--helper",
    "credential-store",
    "credential-cache",
];

/// Subcommands of git itself; another one is an alias, which may be any command.
const KNOWN: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "checkout",
    "cherry",
    "cherry-pick",
    "clean",
    "clone",
    "commit",
    "commit-tree",
    "config",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "fetch",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "hash-object",
    "help",
    "init",
    "interpret-trailers",
    "lfs",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "merge",
    "merge-base",
    "merge-file",
    "merge-tree",
    "mv",
    "name-rev",
    "notes",
    "prune",
    "pull",
    "push",
    "range-diff",
    "read-tree",
    "rebase",
    "reflog",
    "remote",
    "repack",
    "replace",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "sparse-checkout",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
    "var",
    "verify-commit",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
];

/// Settings that only say who somebody is, or how something looks.
const SETTINGS: &[&str] = &[
    "user.name",
    "user.email",
    "init.defaultbranch",
    "core.autocrlf",
    "pull.rebase",
    "push.default",
    "color.ui",
    "core.filemode",
];

/// Options before the subcommand that take no value.
const FLAGS: &[&str] = &[
    "-p",
    "--paginate",
    "-P",
    "--no-pager",
    "--bare",
    "--no-replace-objects",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
    "--no-optional-locks",
    "--no-lazy-fetch",
    "--no-advice",
    "-h",
    "--help",
    "-v",
    "--version",
    "--exec-path",
    "--html-path",
    "--man-path",
    "--info-path",
];

/// Reads the arguments of git.
pub fn read(arguments: &[Word]) -> Git {
    let mut git = Git { running: None, subcommand: None, folders: Vec::new() };
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let Some(text) = word.as_literal() else {
            // It may be an option, or any subcommand.
            git.running = Some(word.shown());
            return git;
        };
        if FLAGS.contains(&text.as_str()) {
            at += 1;
        } else if matches!(
            text.as_str(),
            "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix" | "--attr-source"
        ) {
            if text != "--namespace" && text != "--super-prefix" && text != "--attr-source" {
                git.folders.extend(arguments.get(at + 1).cloned());
            }
            at += 2;
        } else if let Some((name, value)) = text.split_once('=')
            && matches!(
                name,
                "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix" | "--list-cmds" | "--attr-source"
            )
        {
            if matches!(name, "--git-dir" | "--work-tree") {
                git.folders.push(Word::literal(value));
            }
            at += 1;
        } else if text.starts_with('-') {
            git.running = Some(text); // `-c`, `--exec-path=…`, what is new
            return git;
        } else {
            git.subcommand = Some(at);
            git.running = subcommand(&text, &arguments[at + 1..]);
            return git;
        }
    }
    git
}

/// Whether git has a subcommand of that name itself.
pub fn is_known(subcommand: &str) -> bool {
    KNOWN.contains(&subcommand) || OPAQUE.contains(&subcommand)
}

/// The word that makes a subcommand run something else.
fn subcommand(name: &str, arguments: &[Word]) -> Option<String> {
    if OPAQUE.contains(&name) {
        return Some(name.to_owned());
    }
    // `ext::…` is an address that is a command.
    let is_command = |word: &&Word| ["ext::", "fd::"].iter().any(|scheme| word.shown().contains(scheme));
    if let Some(word) = arguments.iter().find(is_command) {
        return Some(word.shown());
    }
    let literal = |at: usize| arguments.get(at).map(|word| word.as_literal().unwrap_or_else(|| "…".to_owned()));
    let inner = || arguments.iter().find(|word| !word.start().starts_with('-'));
    match name {
        "bisect" => {
            let inner = literal(0).filter(|inner| matches!(inner.as_str(), "run" | "visualize" | "view" | "…"));
            return inner.map(|inner| format!("bisect {inner}"));
        }
        "submodule" => {
            let foreach = inner().filter(|word| word.as_literal().is_none_or(|word| word == "foreach"));
            if let Some(word) = foreach {
                return Some(format!("submodule {}", word.shown()));
            }
        }
        "config" => return config(arguments),
        "stash" | "worktree" | "remote" => return None,
        _ => {}
    }
    let (_, letters, with_value, long) = OPTIONS.iter().find(|(own, ..)| *own == name)?;
    let mut skip = false;
    for word in arguments {
        if std::mem::take(&mut skip) {
            continue;
        }
        let Some(text) = word.as_literal() else {
            let start = word.start();
            let is_value = start.starts_with("--") && start.contains('=');
            let is_running = if is_value { is_long(start, long) } else { word.may_be_option() };
            if is_running && !(letters.is_empty() && long.is_empty()) {
                return Some(word.shown());
            }
            continue;
        };
        if text == "--" {
            return None;
        }
        if text.starts_with("--") {
            if is_long(&text, long) && !(*long == ["strategy"] && is_own_strategy(&text)) {
                return Some(text);
            }
            continue;
        }
        let Some(group) = text.strip_prefix('-') else { continue };
        for (place, letter) in group.char_indices() {
            if letters.contains(letter) {
                return Some(text.clone());
            }
            if with_value.contains(letter) {
                skip = place + letter.len_utf8() == group.len();
                break;
            }
        }
    }
    None
}

fn is_own_strategy(text: &str) -> bool {
    text.split_once('=')
        .is_some_and(|(_, value)| matches!(value, "ort" | "recursive" | "ours" | "resolve" | "octopus" | "subtree"))
        || text.starts_with("--strategy-option")
}

/// Whether a long option is one of a list, perhaps cut short.
fn is_long(text: &str, list: &[&str]) -> bool {
    let name = text[2..].split('=').next().unwrap_or_default();
    !name.is_empty() && list.iter().any(|own| own.starts_with(name))
}

/// Settings may say what runs later: only those that do not are told, and reading them is.
fn config(arguments: &[Word]) -> Option<String> {
    let reads = |word: &str| {
        word.starts_with("--get") || matches!(word, "--list" | "-l" | "get" | "list" | "--show-origin" | "--name-only")
    };
    let words: Vec<String> = arguments.iter().map(|word| word.as_literal().unwrap_or_else(|| "…".to_owned())).collect();
    let operands: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let is_reading = words.iter().any(|word| reads(word)) || operands.len() < 2;
    let key = operands.iter().find(|word| !matches!(word.as_str(), "set" | "unset")).map(|key| key.to_lowercase());
    let is_setting = key.is_some_and(|key| SETTINGS.contains(&key.as_str()));
    let writes = words.iter().any(|word| matches!(word.as_str(), "-e" | "--edit" | "edit" | "…"));
    if (is_reading || is_setting) && !writes { None } else { Some("config".to_owned()) }
}
