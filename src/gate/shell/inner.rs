//! Programs that run other programs: where the inner command begins, and what a command's words say about paths (P-62,
//! P-65).

use super::word::{PathText, Word, joined};
use super::{Command, Parts, PathUse, collect, variables};
use crate::gate::value::Value;

/// How a program that runs another takes its own arguments.
struct Wrapper {
    name: &'static str,
    /// Options, by letter, that take a value: in the same word or the next.
    with_value: &'static str,
    /// Options, by letter, that take none, or one in the same word.
    without_value: &'static str,
    /// Long options that take a value, in the same word after `=` or in the next.
    long_with_value: &'static [&'static str],
    /// Long options that take none, or one after `=`.
    long_without_value: &'static [&'static str],
    /// How many words stand before the inner command.
    operands: usize,
    /// `NAME=value` words may stand before the inner command.
    assigns: bool,
}

const fn wrapper(name: &'static str, with_value: &'static str, without_value: &'static str) -> Wrapper {
    Wrapper {
        name,
        with_value,
        without_value,
        long_with_value: &[],
        long_without_value: &[],
        operands: 0,
        assigns: false,
    }
}

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
        assigns: true,
        ..wrapper("sudo", "ugphCDRrtTU", "AbEHknPS")
    },
    wrapper("doas", "uC", "n"),
    Wrapper {
        long_with_value: &["unset", "chdir"],
        long_without_value: &["ignore-environment", "null"],
        assigns: true,
        ..wrapper("env", "uC", "i0")
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
        long_with_value: &["arg-file", "delimiter", "max-args", "max-chars", "max-procs"],
        long_without_value: &["null", "no-run-if-empty", "verbose", "exit", "interactive", "max-lines", "eof"],
        ..wrapper("xargs", "adEnPsL", "0rtpxel")
    },
    wrapper("coproc", "", ""),
    wrapper("busybox", "", ""),
    wrapper("toybox", "", ""),
];

/// Programs that run what they are given in ways that are not looked into.
const OPAQUE: &[&str] = &[
    "alias",
    "choom",
    "chroot",
    "chrt",
    "compgen",
    "complete",
    "dpkg-architecture",
    "ed",
    "enable",
    "prlimit",
    "run-parts",
    "screen",
    "tmux",
    "dbus-run-session",
    "entr",
    "fakeroot",
    "flock",
    "ltrace",
    "nsenter",
    "parallel",
    "pkexec",
    "proot",
    "runuser",
    "script",
    "setarch",
    "setpriv",
    "strace",
    "su",
    "systemd-run",
    "taskset",
    "unshare",
    "watchexec",
    "xvfb-run",
    "bwrap",
    "firejail",
    "expect",
    "gdb",
    "m4",
    "at",
    "batch",
    "crontab",
];

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "fish", "csh", "tcsh", "rbash"];

/// Interpreters, with the letters of options that take a program.
const INTERPRETERS: &[(&str, &str)] = &[
    ("python", "c"),
    ("perl", "eE"),
    ("ruby", "e"),
    ("node", "ep"),
    ("nodejs", "ep"),
    ("bun", "ep"),
    ("deno", ""),
    ("php", "rBRE"),
    ("lua", "e"),
    ("luajit", "e"),
    ("tclsh", ""),
    ("osascript", "e"),
    ("pwsh", "cC"),
    ("rscript", "e"),
    ("julia", "eE"),
    ("emacs", ""),
    ("vim", "c"),
    ("vi", "c"),
    ("ex", "c"),
    ("view", "c"),
    ("nvim", "c"),
];

/// Modules of Python that run what their arguments say.
const PYTHON_MODULES: &[&str] = &["code", "cProfile", "pdb", "profile", "timeit", "trace"];

/// Words with which a statement begins: what the grammar takes for a program's name, where it expects no statement.
const RESERVED: &[&str] =
    &["!", "if", "then", "elif", "else", "do", "while", "until", "for", "case", "select", "function", "[["];

/// Options with which a program runs another one, by how they begin.
const RUNNING: &[(&str, &[&str])] = &[
    ("git", &["-c", "--config-env", "--exec-path=", "--open-files-in-pager", "--upload-pack", "--receive-pack"]),
    (
        "tar",
        &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "--info-script",
            "--rsh-command",
            "-I",
            "-F",
        ],
    ),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    ("ssh", &["-o"]),
    ("scp", &["-o", "-S"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("zip", &["-TT", "--unzip-command"]),
    ("man", &["-P", "--pager", "-H", "--html"]),
    ("make", &["--eval", "-E"]),
    ("gcc", &["-wrapper"]),
    ("g++", &["-wrapper"]),
    ("cc", &["-wrapper"]),
    ("sqlite3", &[".shell", ".system", "-cmd"]),
    ("mapfile", &["-C"]),
    ("readarray", &["-C"]),
    ("hash", &["-p"]),
];

/// Builtins that take words for expressions, in which a substitution runs though it stands in quotes.
const EVALUATING: &[&str] = &[
    "let",
    "printf",
    "read",
    "test",
    "[",
    "unset",
    "wait",
    "getopts",
    "mapfile",
    "readarray",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
];

const PATH_PROGRAMS: &[&str] =
    &["cd", "pushd", "rm", "cp", "mv", "mkdir", "touch", "chmod", "chown", "cat", "ln", "tee"];

/// Adds a command given as words, and those inside of it. `run` are the words as far as they are known to the one that
/// runs it: with what `xargs` adds, with the folders of `find` for `{}`.
pub fn judge(parts: &mut Parts, words: &[Word], run: &[Word], depth: usize) {
    let (Some(first), Some((_, arguments))) = (words.first(), run.split_first()) else { return };
    let name = first.as_literal();
    let program = name.as_deref().map(base_name).unwrap_or_default().to_owned();
    paths(parts, &program, arguments);
    if matches!(program.as_str(), "cd" | "pushd" | "popd") && name.as_deref() == Some(program.as_str()) {
        return; // needs no rule (P-64)
    }
    let named = name.as_ref().filter(|name| **name != program).map(|_| {
        let own = Word::literal(&program);
        joined(&std::iter::once(own).chain(arguments.iter().cloned()).collect::<Vec<_>>())
    });
    let at = parts.commands.len();
    let own_words = arguments.iter().flat_map(|word| argument_words(&program, &word.value())).collect();
    parts.commands.push(Command {
        written: join(words),
        value: Some(joined(run)),
        named,
        words: own_words,
        is_opaque: false,
    });
    // An empty name is none: `"" x` fails, but what an expansion leaves empty runs the next word.
    let is_told = name.is_some_and(|name| !name.is_empty()) && look_inside(parts, &program, arguments, depth).is_some();
    parts.commands[at].is_opaque = !is_told;
}

fn join(words: &[Word]) -> String {
    words.iter().map(Word::text).collect::<Vec<_>>().join(" ")
}

/// The words in a text of which any might be a program's name: split at all that is no part of one, and at slashes.
pub fn split(text: &Value) -> Vec<Value> {
    text.split(|letter| letter.is_whitespace() || "=,;:'\"`$(){}[]|&<>@/\\!#%".contains(letter))
}

/// The words in an argument. A name may also stand behind the letters of short options.
fn argument_words(program: &str, argument: &Value) -> Vec<Value> {
    let mut words = split(argument);
    // Its long options begin with one dash.
    if program == "find" {
        return words;
    }
    if let Some(known) = words.first().and_then(Value::known).map(str::to_owned)
        && let Some(letters) = known.strip_prefix('-').filter(|letters| !letters.starts_with('-'))
    {
        let behind = letters
            .char_indices()
            .skip(1)
            .take_while(|(at, _)| letters[..*at].bytes().all(|byte| byte.is_ascii_alphanumeric()));
        words.extend(behind.map(|(at, _)| Value::from(&letters[at..])));
    }
    words
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Adds what a program runs. None: that cannot be told.
fn look_inside(parts: &mut Parts, program: &str, arguments: &[Word], depth: usize) -> Option<()> {
    if depth > super::MAX_DEPTH || OPAQUE.contains(&program) || RESERVED.contains(&program) {
        return None;
    }
    // The loader of programs is one by another name.
    if program.starts_with("ld-linux") || program.starts_with("ld.so") {
        return None;
    }
    let begins = |word: &Word, options: &[&str]| options.iter().any(|option| word.text().starts_with(option));
    if let Some((_, options)) = RUNNING.iter().find(|(name, _)| *name == program)
        && arguments.iter().any(|word| begins(word, options))
    {
        return None;
    }
    if EVALUATING.contains(&program) && arguments.iter().any(|word| holds_substitution(&word.text())) {
        return None;
    }
    if variables::are_set_by(program, arguments)
        || (program == "let" && arguments.iter().any(|word| !variables::is_simple(&word.text())))
    {
        return None;
    }
    // `-f -`: it reads what it is to do.
    if matches!(program, "make" | "gmake" | "sed" | "awk" | "gawk" | "mawk" | "nawk")
        && arguments.iter().any(|word| is_input(word.text().trim_start_matches("-f").trim_start_matches("--file=")))
    {
        return None;
    }
    if SHELLS.contains(&program) {
        return shell(parts, arguments, depth);
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == program) {
        let rest = wrapper.inner(arguments)?;
        let given = &arguments[..arguments.len() - rest.len()];
        if given.iter().any(|word| variables::are_set_in(&word.text())) {
            return None;
        }
        if program == "xargs" {
            // With `-I` what it reads may become part of a text that a shell runs.
            let replaces = arguments.iter().any(|word| word.text().starts_with("-I"));
            if replaces && runs_text(rest) {
                return None;
            }
            // With `-I` any of its words may be replaced, and which text stands for that is not looked for.
            let kept = rest.iter().take(if replaces { 1 } else { usize::MAX });
            let run: Vec<_> = kept.cloned().chain([Word::unknown()]).collect();
            judge(parts, rest, &run, depth + 1);
        } else {
            judge(parts, rest, rest, depth + 1);
        }
        return Some(());
    }
    let versionless = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    if let Some((_, letters)) = INTERPRETERS.iter().find(|(name, _)| *name == versionless) {
        return interpreter(arguments, letters);
    }
    match program {
        "eval" => {
            let texts = literals(arguments)?;
            let texts = texts.strip_prefix(&["--".to_owned()]).unwrap_or(&texts);
            collect(parts, &texts.join(" "), depth + 1)
        }
        "trap" => trap(parts, arguments, depth),
        "watch" => watch(parts, arguments, depth),
        "find" => find(parts, arguments, depth),
        "." | "source" => script(arguments.first()?),
        "awk" | "gawk" | "mawk" | "nawk" => awk(arguments),
        "sed" | "gsed" => sed(arguments),
        _ => Some(()),
    }
}

/// Whether a text would run something if it were evaluated.
pub fn holds_substitution(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}

/// Whether a path is what is piped in: then a program in it is not one that somebody has looked at.
fn is_input(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    path == "-" || parts.last() == Some(&"stdin") || parts.iter().any(|part| matches!(*part, "fd" | "proc"))
}

/// A file with a program, by its name.
fn script(word: &Word) -> Option<()> {
    word.as_literal().filter(|path| !is_input(path)).map(|_| ())
}

fn literals(words: &[Word]) -> Option<Vec<String>> {
    words.iter().map(Word::as_literal).collect()
}

impl Wrapper {
    /// The words of the inner command; none of them: it runs nothing.
    fn inner<'w>(&self, arguments: &'w [Word]) -> Option<&'w [Word]> {
        let mut at = 0;
        let mut operands = self.operands;
        while let Some(word) = arguments.get(at) {
            // What is not known may be an option, a command, or several words.
            let text = word.as_literal()?;
            if text == "--" {
                return Some(arguments.get(at + 1 + operands..).unwrap_or_default());
            } else if let Some(long) = text.strip_prefix("--") {
                at += self.long(long)?;
            } else if text.len() > 1 && text.starts_with('-') {
                if self.name == "command" && text.contains(['v', 'V']) {
                    return Some(&[]); // tells what a command is, and runs nothing
                }
                at += self.short(&text[1..])?;
            } else if (self.assigns && is_assignment(&text)) || (self.name == "env" && text == "-") {
                at += 1;
            } else if operands > 0 {
                (operands, at) = (operands - 1, at + 1);
            } else {
                return Some(&arguments[at..]);
            }
        }
        Some(&[])
    }

    /// How many words a long option takes.
    fn long(&self, option: &str) -> Option<usize> {
        let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        if self.long_with_value.contains(&name) {
            return Some(if value.is_some() { 1 } else { 2 });
        }
        self.long_without_value.contains(&name).then_some(1)
    }

    /// How many words a group of short options takes.
    fn short(&self, letters: &str) -> Option<usize> {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            if self.with_value.contains(letter) {
                return Some(if rest.is_empty() { 2 } else { 1 });
            }
            // `-l5`, `-e`: the value is optional and in the same word.
            if !self.without_value.contains(letter) {
                return None;
            }
            if self.name == "xargs" && matches!(letter, 'e' | 'l') {
                return Some(1);
            }
        }
        Some(1)
    }
}

fn is_assignment(text: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|letter| letter == '_' || letter.is_ascii_alphanumeric());
    text.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// `sh -c text`, `sh file`; one that reads its commands from elsewhere cannot be told.
fn shell(parts: &mut Parts, arguments: &[Word], depth: usize) -> Option<()> {
    let mut reads_text = false;
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let text = word.as_literal()?;
        match text.strip_prefix(['-', '+']) {
            Some("" | "-") => {
                at += 1;
                break;
            }
            Some(long) if long.starts_with('-') => {
                // `--rcfile x` and the like run more than the text.
                if !matches!(long, "-norc" | "-noprofile" | "-posix" | "-login" | "-verbose") {
                    return None;
                }
            }
            Some(letters) => {
                if !letters.chars().all(|letter| "cexuvflnEhmo".contains(letter)) {
                    return None;
                }
                reads_text |= letters.contains('c');
                at += usize::from(letters.contains('o')); // `-o pipefail`
            }
            None => break,
        }
        at += 1;
    }
    let word = arguments.get(at)?;
    if !reads_text {
        return script(word); // a program like any other
    }
    collect(parts, &word.as_literal()?, depth + 1)
}

fn interpreter(arguments: &[Word], letters: &str) -> Option<()> {
    let mut has_file = false;
    for word in arguments {
        let text = word.as_literal();
        let Some(text) = text else {
            if has_file {
                continue; // an argument of the script
            }
            return None;
        };
        if has_file {
            continue;
        }
        if matches!(text.as_str(), "-" | "eval" | "exec" | "repl" | "x")
            || text.starts_with("--eval")
            || text.starts_with("--print")
        {
            return None;
        }
        match text.strip_prefix('-') {
            Some(long) if long.starts_with('-') => {}
            Some(short) if short.chars().any(|letter| letters.contains(letter)) => return None,
            Some(_) => {}
            None if text.starts_with('+') || is_input(&text) || PYTHON_MODULES.contains(&text.as_str()) => return None,
            None => has_file = true,
        }
    }
    // Without a file it reads its program from somewhere else; `--version` alone is not worth a rule.
    let is_question =
        |word: &Word| matches!(word.as_literal().as_deref(), Some("--version" | "-V" | "-v" | "--help" | "-h"));
    (has_file || arguments.iter().any(is_question)).then_some(())
}

fn trap(parts: &mut Parts, arguments: &[Word], depth: usize) -> Option<()> {
    let mut arguments = arguments.iter().skip_while(|word| word.as_literal().as_deref() == Some("--"));
    match arguments.next() {
        None => Some(()),
        Some(action) => {
            let action = action.as_literal()?;
            if matches!(action.as_str(), "" | "-" | "-p" | "-l") {
                Some(())
            } else {
                collect(parts, &action, depth + 1)
            }
        }
    }
}

fn watch(parts: &mut Parts, arguments: &[Word], depth: usize) -> Option<()> {
    let options = Wrapper {
        long_with_value: &["interval"],
        long_without_value: &["differences", "no-title", "beep", "errexit", "chgexit", "color", "precise"],
        ..wrapper("watch", "n", "dtbegcp")
    };
    let rest = options.inner(arguments)?;
    // It gives its words to a shell, quotes and all.
    if rest.is_empty() { Some(()) } else { collect(parts, &literals(rest)?.join(" "), depth + 1) }
}

/// Whether a shell or `eval` is somewhere among the words.
fn runs_text(words: &[Word]) -> bool {
    words.iter().any(|word| {
        let text = word.text();
        SHELLS.contains(&base_name(&text)) || text == "eval" || text == "env" || text == "xargs"
    })
}

fn find(parts: &mut Parts, arguments: &[Word], depth: usize) -> Option<()> {
    let is_root = |word: &&Word| !word.text().starts_with(['-', '(', '!']);
    let roots = &arguments[..arguments.iter().take_while(is_root).count()];
    let found: Vec<_> = roots.iter().map(|root| root.below().unwrap_or_else(Word::unknown)).collect();
    let found = if found.is_empty() { vec![Word::here()] } else { found };
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        at += 1;
        let Some(text) = word.as_literal() else {
            if word.text().starts_with(['-', '$', '`']) {
                return None; // it may stand for `-exec`
            }
            continue;
        };
        if matches!(text.as_str(), "-fprint" | "-fprint0" | "-fprintf" | "-fls")
            && let Some(file) = arguments.get(at)
        {
            parts.paths.push(PathUse { path: file.path(), is_write: true, is_folder: false });
        }
        if !matches!(text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        // `+` ends it only behind `{}`.
        let is_end = |place: usize| match arguments[place].text().as_str() {
            ";" => true,
            "+" => text.starts_with("-exec") && place > at && arguments[place - 1].text() == "{}",
            _ => false,
        };
        let length = (at..arguments.len()).position(is_end)?;
        let inner = &arguments[at..at + length];
        // `{}` in the text of an inner shell becomes part of that text.
        if runs_text(inner) && inner.iter().any(|word| word.text() != "{}" && word.text().contains("{}")) {
            return None;
        }
        let run = inner.iter().flat_map(|word| {
            let text = word.text();
            let found: &[Word] = if text == "{}" { &found } else { std::slice::from_ref(word) };
            // In the middle of a word it makes a path that nobody can tell.
            found
                .iter()
                .map(move |word| if text != "{}" && text.contains("{}") { Word::unknown() } else { word.clone() })
        });
        let run: Vec<_> = run.collect();
        judge(parts, inner, &run, depth + 1);
        at += length + 1;
    }
    Some(())
}

/// A program of sed can run commands: `e`, and `s` with that flag. Only what surely has neither is told.
fn sed(arguments: &[Word]) -> Option<()> {
    let texts = literals(arguments);
    let Some(texts) = texts else {
        // An expansion or a wildcard behind the program is a file.
        let program = arguments.iter().find(|word| !word.text().starts_with('-'))?;
        return program.as_literal().filter(|text| !sed_runs(text)).map(|_| ());
    };
    (!texts.iter().any(|text| !text.starts_with("--") && sed_runs(text))).then_some(())
}

/// Whether a part of sed's program may run a command: an `e` behind an address, or among the letters at a part's end.
fn sed_runs(text: &str) -> bool {
    text.split([';', '\n', '{', '}']).any(|part| {
        let part = part.trim();
        let command = part.trim_start_matches(|letter: char| {
            letter.is_ascii_digit() || matches!(letter, ',' | '$' | '~' | '+' | '!' | ' ')
        });
        let is_e = command == "e" || command.starts_with("e ");
        let of_address = command.starts_with(['/', '\\']) && (command.ends_with("/e") || command.contains("/e "));
        let flags: String = part.chars().rev().take_while(|letter| letter.is_ascii_alphanumeric()).collect();
        let is_flags =
            flags.contains('e') && flags.chars().all(|flag| "gpiImMewW".contains(flag) || flag.is_ascii_digit());
        is_e || of_address || (command.starts_with('s') && command.len() > flags.len() + 1 && is_flags)
    })
}

/// A program of awk can run commands and write files.
fn awk(arguments: &[Word]) -> Option<()> {
    let texts = literals(arguments);
    let is_harmless =
        |text: &String| !text.contains("system") && !text.contains(['|', '>']) && !text.contains("getline");
    texts.filter(|texts| texts.iter().all(is_harmless)).map(|_| ())
}

/// Adds the paths that the arguments of some programs are (P-65).
fn paths(parts: &mut Parts, program: &str, arguments: &[Word]) {
    if !PATH_PROGRAMS.contains(&program) {
        return;
    }
    let is_folder = matches!(program, "cd" | "pushd");
    let mut add = |path: PathText| parts.paths.push(PathUse { path, is_write: false, is_folder });
    let mut has_ended = false;
    let mut count = 0;
    for word in arguments {
        let text = word.text();
        if !has_ended && text == "--" {
            has_ended = true;
        } else if !has_ended && text.len() > 1 && text.starts_with('-') {
            // A path may hide in an option: `--target-directory=/etc`, `-t/etc`.
            if let Some((_, value)) = text.split_once('=') {
                add(hidden(word, value));
            } else if !text.starts_with("--") && (text.contains('/') || text.contains("..") || text.contains('$')) {
                add(hidden(word, &text[2..]));
            }
        } else if is_folder && text == "-" {
            add(PathText::Unknown(text));
            count += 1;
        } else {
            add(word.path());
            count += 1;
        }
    }
    if program == "cd" && count == 0 {
        add(PathText::Known("~".to_owned()));
    }
}

fn hidden(word: &Word, value: &str) -> PathText {
    match word.as_literal() {
        Some(_) => PathText::Known(value.to_owned()),
        None => PathText::Unknown(value.to_owned()),
    }
}
