//! Programs that are looked into one by one: what runs in them, and which of their words are paths.

use super::printed::below;
use super::sed;
use super::variables::decides;
use super::word::{Hole, Kind, Piece, Word};
use crate::gate::unknown::Unknown;

/// What cannot be told about a command. None: all of it is told.
pub type Doubt = Option<Unknown>;

fn input(program: &str) -> Doubt {
    Some(Unknown::Input(program.to_owned()))
}

fn text(program: &str) -> Doubt {
    Some(Unknown::Text(program.to_owned()))
}

fn word(word: &str) -> Doubt {
    Some(Unknown::Word(word.to_owned()))
}

/// What a word surely is; a number stands as one.
fn simple(word: &Word) -> Option<String> {
    let text = |piece: &Piece| match piece {
        Piece::Text(text) => Some(text.clone()),
        Piece::Hole(Hole { kind: Kind::Number, .. }) => Some("0".to_owned()),
        _ => None,
    };
    word.pieces.iter().map(text).collect()
}

/// What is in a command of such a program.
#[derive(Debug, Default)]
pub struct Inside {
    /// What cannot be told about it.
    pub doubt: Doubt,
    /// Texts that it gives to a shell.
    pub texts: Vec<String>,
    /// Paths, and whether they are written.
    pub paths: Vec<(Word, bool)>,
    /// Commands that it runs.
    pub commands: Vec<Vec<Word>>,
    /// Whether an argument may be a program that it runs.
    pub may_hold: bool,
}

/// Looks into a program that has rules of its own. None: it is not one of these.
pub fn look(program: &str, arguments: &[Word]) -> Option<Inside> {
    let mut inside = Inside::default();
    inside.doubt = inside.special(program, arguments)?;
    Some(inside)
}

impl Inside {
    fn special(&mut self, program: &str, arguments: &[Word]) -> Option<Doubt> {
        Some(match program {
            "eval" => self.eval(arguments),
            "trap" => self.trap(arguments),
            "watch" => self.watch(arguments),
            "find" => self.find(arguments),
            "." | "source" => {
                let is_file = arguments.first().is_some_and(super::interpreters::is_script);
                if is_file { None } else { input(program) }
            }
            "sed" | "gsed" => self.sed(arguments),
            "awk" | "gawk" | "mawk" | "nawk" => awk(arguments),
            "make" | "gmake" => make(arguments),
            "go" => go(arguments),
            "git" => self.git(arguments),
            "sqlite3" => sqlite(arguments),
            "nvim" => {
                let runs_file = matches!(arguments, [option, file, ..] if option.shown() == "-l" && super::interpreters::is_script(file));
                let is_question = matches!(arguments, [option] if option.shown() == "--version");
                if runs_file || is_question { None } else { input(program) }
            }
            "bun" | "deno" => {
                let is_input = |word: &Word| {
                    let text = word.shown();
                    text == "-"
                        || text.starts_with("--e")
                        || text.starts_with("--p")
                        || text.starts_with("--r")
                        || (program == "bun" && matches!(text.as_str(), "-e" | "-p" | "-r"))
                };
                if arguments.is_empty() || arguments.iter().any(is_input) {
                    input(program)
                } else {
                    return None;
                }
            }
            _ => return None,
        })
    }

    fn eval(&mut self, arguments: &[Word]) -> Doubt {
        let texts: Option<Vec<String>> = arguments.iter().map(Word::as_literal).collect();
        let Some(texts) = texts else { return text("eval") };
        let texts = texts.strip_prefix(&["--".to_owned()]).unwrap_or(&texts);
        self.texts.push(texts.join(" "));
        None
    }

    fn trap(&mut self, arguments: &[Word]) -> Doubt {
        let mut arguments = arguments.iter().skip_while(|word| word.as_literal().as_deref() == Some("--"));
        match arguments.next().map(Word::as_literal) {
            None => None,
            Some(None) => text("trap"),
            Some(Some(action)) if matches!(action.as_str(), "" | "-" | "-p" | "-l") => None,
            Some(Some(action)) => {
                self.texts.push(action);
                None
            }
        }
    }

    fn watch(&mut self, arguments: &[Word]) -> Doubt {
        let untold = || text("watch");
        let Some(rest) = super::wrappers::watched(arguments) else { return untold() };
        let texts: Option<Vec<String>> = rest.iter().map(Word::as_literal).collect();
        match texts {
            // It gives its words to a shell, quotes and all.
            Some(texts) => {
                if !texts.is_empty() {
                    self.texts.push(texts.join(" "));
                }
                None
            }
            None => untold(),
        }
    }

    fn find(&mut self, arguments: &[Word]) -> Doubt {
        const PATHS: &[&str] = &["-samefile", "-files0-from", "-newer", "-anewer", "-cnewer"];
        const WRITTEN: &[&str] = &["-fprint", "-fprint0", "-fprintf", "-fls"];
        const TEXTS: &[&str] = &[
            "-name",
            "-iname",
            "-path",
            "-ipath",
            "-wholename",
            "-iwholename",
            "-regex",
            "-iregex",
            "-lname",
            "-printf",
            "-size",
            "-type",
            "-perm",
            "-user",
            "-group",
            "-maxdepth",
            "-mindepth",
            "-mtime",
            "-mmin",
            "-newermt",
            "-regextype",
        ];
        let is_root = |word: &&Word| !word.start().starts_with(['-', '(', '!']);
        let roots = &arguments[..arguments.iter().take_while(is_root).count()];
        self.paths.extend(roots.iter().map(|root| (root.clone(), false)));
        if roots.iter().any(Word::may_be_option) {
            return self::word(&unknown_option(arguments));
        }
        let mut at = roots.len();
        while let Some(word) = arguments.get(at) {
            at += 1;
            let Some(text) = word.as_literal() else {
                if word.may_be_option() || word.may_split() {
                    return self::word(&unknown_option(arguments));
                }
                self.paths.push((word.clone(), false));
                continue;
            };
            let text = text.as_str();
            if TEXTS.contains(&text) {
                // A hole in quotes is one word, and so text.
                at += usize::from(arguments.get(at).is_some_and(|word| !word.may_split()));
            } else if WRITTEN.contains(&text) || PATHS.contains(&text) || text.starts_with("-newer") {
                if let Some(file) = arguments.get(at) {
                    self.paths.push((file.clone(), WRITTEN.contains(&text)));
                    at += 1;
                }
                if text == "-files0-from" {
                    return input("find");
                }
            } else if matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir") {
                // `+` ends it only behind `{}`.
                let is_end = |place: usize| match arguments[place].shown().as_str() {
                    ";" => true,
                    "+" => text.starts_with("-exec") && place > at && arguments[place - 1].shown() == "{}",
                    _ => false,
                };
                let Some(end) = (at..arguments.len()).find(|place| is_end(*place)) else {
                    return Some(Unknown::Inner("find".to_owned()));
                };
                let dot = [Word::literal(".")];
                let found = if text.ends_with("dir") || roots.is_empty() { &dot } else { roots };
                let words: Vec<Word> = found.iter().map(below).collect();
                let command: Vec<Word> = arguments[at..end].iter().map(|word| replaced(word, "{}", &words)).collect();
                self.commands.push(command);
                at = end + 1;
            }
        }
        None
    }

    /// A program of sed can run commands, and read and write files.
    fn sed(&mut self, arguments: &[Word]) -> Doubt {
        let untold = || input("sed");
        let mut programs = Vec::new();
        let mut operands = Vec::new();
        let mut words = arguments.iter();
        let mut is_over = false;
        while let Some(word) = words.next() {
            let start = word.start();
            if is_over || !start.starts_with('-') || start == "-" {
                if !is_over && word.may_be_option() && word.as_literal().is_none() {
                    return untold();
                }
                operands.push(word);
                continue;
            }
            let text = simple(word);
            if let Some(long) = start.strip_prefix("--") {
                let name = long.split('=').next().unwrap_or(long);
                let has_value = long.contains('=');
                if long.is_empty() {
                    is_over = true;
                } else if "expression".starts_with(name) {
                    let program = if has_value {
                        text.and_then(|text| Some(text.split_once('=')?.1.to_owned()))
                    } else {
                        words.next().and_then(simple)
                    };
                    programs.push(program);
                } else if "file".starts_with(name) {
                    let file = if has_value { Some(word.behind(0, name.len() + 3)) } else { words.next().cloned() };
                    if !file.is_some_and(|file| super::interpreters::is_script(&file)) {
                        return untold();
                    }
                    programs.push(Some(String::new()));
                } else if name == "line-length" && !has_value {
                    words.next();
                }
                continue;
            }
            for (at, letter) in start.char_indices().skip(1) {
                let glued = word.behind(0, at + 1);
                let mut value = || if glued.pieces.is_empty() { words.next().cloned() } else { Some(glued.clone()) };
                match letter {
                    'e' => programs.push(value().as_ref().and_then(simple)),
                    'f' => {
                        if !value().is_some_and(|file| super::interpreters::is_script(&file)) {
                            return untold();
                        }
                        programs.push(Some(String::new()));
                    }
                    'l' => drop(value()),
                    'i' | 'E' | 'r' | 'n' | 's' | 'u' | 'z' => {
                        if letter != 'i' {
                            continue;
                        }
                    }
                    _ => continue,
                }
                break;
            }
        }
        if programs.is_empty() {
            let program = operands.first()?;
            programs.push(simple(program));
        }
        let Some(programs) = programs.into_iter().collect::<Option<Vec<_>>>() else { return untold() };
        match sed::read(&programs.join("\n")) {
            None => untold(),
            Some(script) => {
                self.paths.extend(script.files.iter().map(|(file, is_write)| (Word::literal(file), *is_write)));
                None
            }
        }
    }

    fn git(&mut self, arguments: &[Word]) -> Doubt {
        let git = super::git::read(arguments);
        if let Some(running) = git.running {
            return word(&running);
        }
        let name = git.subcommand.and_then(|at| arguments[at].as_literal());
        self.may_hold |= name.is_some_and(|name| !super::git::is_known(&name));
        None
    }
}

/// The first word that may be an option and is not known.
fn unknown_option(arguments: &[Word]) -> String {
    let is_one = |word: &&Word| word.as_literal().is_none() && (word.may_be_option() || word.may_split());
    arguments.iter().find(is_one).map(Word::shown).unwrap_or_default()
}

/// A word with others in place of a sign in it.
pub fn replaced(word: &Word, sign: &str, words: &[Word]) -> Word {
    let choices = || Piece::Choices { words: words.to_vec(), may_vanish: false, written: sign.to_owned() };
    if word.as_literal().as_deref() == Some(sign) {
        return Word { pieces: vec![choices()] };
    }
    let mut pieces = Vec::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text(text) if !sign.is_empty() && text.contains(sign) => {
                for (at, part) in text.split(sign).enumerate() {
                    if at > 0 {
                        pieces.push(choices());
                    }
                    if !part.is_empty() {
                        pieces.push(Piece::Text(part.to_owned()));
                    }
                }
            }
            piece => pieces.push(piece.clone()),
        }
    }
    Word { pieces }
}

/// A program of awk can run commands, and read and write files.
fn awk(arguments: &[Word]) -> Doubt {
    let untold = || input("awk");
    let mut at = 0;
    let mut has_file = false;
    while let Some(word) = arguments.get(at) {
        let start = word.start();
        if start == "--" {
            at += 1;
            break;
        }
        if !start.starts_with('-') || start.len() == 1 {
            break;
        }
        let is_whole = word.as_literal().is_some();
        let value = start.len() == 2 || (start.starts_with("--") && !start.contains('='));
        let (option, glued) = match start.strip_prefix("--") {
            Some(long) => {
                let value = start.find('=').map(|sign| word.behind(0, sign + 1));
                (long.split('=').next().unwrap_or_default(), value)
            }
            None => (start.get(1..2).unwrap_or_default(), (start.len() > 2 || !is_whole).then(|| word.behind(0, 2))),
        };
        let given = glued.as_ref().or(arguments.get(at + 1));
        match option {
            "F" | "v" | "field-separator" | "assign" => {}
            "f" | "file" => {
                if !given.is_some_and(super::interpreters::is_script) {
                    return untold();
                }
                has_file = true;
            }
            "version" | "V" => return None,
            "S" | "P" | "r" | "n" | "N" | "posix" | "sandbox" | "re-interval" if is_whole => {
                at += 1;
                continue;
            }
            _ => return untold(),
        }
        at += if value && glued.is_none() { 2 } else { 1 };
    }
    if has_file {
        return None;
    }
    let program = arguments.get(at)?;
    let Some(text) = simple(program) else { return untold() };
    if writes(&text) || ["system", "getline", "ARGV", "ARGC"].iter().any(|word| text.contains(word)) || calls(&text) {
        return untold();
    }
    None
}

/// Whether something is printed to a file or a command: a `>` or `|` behind a `print`, or a `|` before `getline`.
fn writes(program: &str) -> bool {
    let bytes = program.as_bytes();
    (0..bytes.len()).any(|at| {
        let (before, after) = (at.checked_sub(1).map(|at| bytes[at]), bytes.get(at + 1).copied());
        let is_sign = match bytes[at] {
            b'>' => after != Some(b'='),
            b'|' => before != Some(b'|') && after != Some(b'|'),
            _ => false,
        };
        is_sign && program[..at].contains("print")
    })
}

/// Whether a function is called by a name in a variable, or another file is loaded.
fn calls(program: &str) -> bool {
    program.match_indices('@').any(|(at, _)| {
        let before = program[..at].chars().next_back();
        let after = program[at + 1..].chars().next();
        after.is_some_and(char::is_alphabetic) && !before.is_some_and(char::is_alphanumeric)
    })
}

/// Makefiles run what their variables say.
fn make(arguments: &[Word]) -> Doubt {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let start = word.start();
        let untold = || self::word(&word.shown());
        let is_known = word.as_literal().is_some();
        if !is_known && (word.may_be_option() || word.may_split() || !start.contains('=')) && simple(word).is_none() {
            return untold();
        }
        let text = word.shown();
        if let Some(long) = start.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or(long);
            if name.is_empty() {
                continue;
            }
            if "eval".starts_with(name) {
                return untold();
            }
            if ["file", "makefile"].iter().any(|own| own.starts_with(name)) {
                let file =
                    if long.contains('=') { Some(word.behind(0, name.len() + 3)) } else { words.next().cloned() };
                if !file.is_some_and(|file| super::interpreters::is_script(&file)) {
                    return untold();
                }
            }
        } else if let Some(letters) = start.strip_prefix('-') {
            for (at, letter) in letters.char_indices() {
                let rest = word.behind(0, at + 2);
                match letter {
                    'E' => return untold(),
                    'f' => {
                        let file = if rest.pieces.is_empty() { words.next().cloned() } else { Some(rest) };
                        if !file.is_some_and(|file| super::interpreters::is_script(&file)) {
                            return untold();
                        }
                        break;
                    }
                    'C' | 'I' | 'o' | 'W' => {
                        if rest.pieces.is_empty() {
                            words.next();
                        }
                        break;
                    }
                    'j' | 'l' | 'O' => break,
                    _ => {}
                }
            }
        } else {
            let name = start.split(['=', ':', '+', '?']).next().unwrap_or_default().trim();
            let sets = start.contains('=');
            let value = text.split_once('=').map(|(_, value)| value).filter(|_| is_known);
            let decides = sets && (matches!(name, "SHELL" | ".SHELLFLAGS" | "MAKE") || decides(name, value));
            let expands =
                word.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(['$', '`'])));
            if decides || expands || start.contains("!=") {
                return untold();
            }
        }
    }
    None
}

fn go(arguments: &[Word]) -> Doubt {
    let literal = |at: usize| arguments.get(at).and_then(Word::as_literal);
    if literal(0).as_deref() == Some("env") && arguments.iter().any(|word| word.start().starts_with("-w")) {
        return word("-w");
    }
    if literal(0).as_deref() == Some("tool") {
        return word("tool");
    }
    let names_linker =
        |word: &Word| word.shown().contains("extld") || (word.shown().contains("ldflags") && word.has_any());
    arguments.iter().any(names_linker).then(|| Unknown::Word("-extld".to_owned()))
}

/// Its commands begin with a point, and some of its functions read and write files.
fn sqlite(arguments: &[Word]) -> Doubt {
    const VALUES: &[&str] = &["-separator", "-nullvalue", "-newline", "-mmap", "-maxsize", "-vfs"];
    let untold = || input("sqlite3");
    let mut operands = 0;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.as_literal() else { return untold() };
        let lower = text.to_lowercase();
        let is_command = operands > 0 && text.lines().any(|line| line.trim_start().starts_with('.'));
        let reaches_out = ["load_extension", "edit(", "writefile", "readfile", "fsdir", "attach", "vacuum into"];
        let is_running = is_command || reaches_out.iter().any(|part| lower.contains(part));
        let option = text.trim_start_matches('-');
        if is_running
            || (text.starts_with('-')
                && ["cmd", "init", "zip", "append", "interactive", "A"].iter().any(|own| option.starts_with(own)))
        {
            return untold();
        }
        if VALUES.contains(&format!("-{option}").as_str()) && text.starts_with('-') {
            words.next();
        } else if !text.starts_with('-') {
            operands += 1;
        } else if text == "-version" || text == "--version" {
            return None;
        }
    }
    if operands > 1 { None } else { untold() }
}
