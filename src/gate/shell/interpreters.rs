//! Programs that run a program given to them as text, as a file, or on their input.

use super::word::{Kind, Piece, Word};

/// Shells, which are looked into.
pub const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "mksh", "rbash"];

/// How an interpreter takes its arguments.
struct Interpreter {
    name: &'static str,
    /// Options, by letter, that give it a program, or make it read one.
    code: &'static str,
    /// Options, by letter, that take another value: the rest of the word, or the next.
    with_value: &'static str,
    /// Long options that give it a program, by how they begin.
    long_code: &'static [&'static str],
    /// Long options that need no file.
    instead_of_file: &'static [&'static str],
}

const fn interpreter(name: &'static str, code: &'static str, with_value: &'static str) -> Interpreter {
    Interpreter { name, code, with_value, long_code: &["--e", "--p", "--r", "--i"], instead_of_file: &[] }
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter { long_code: &[], ..interpreter("python", "ci", "WXQ") },
    Interpreter { long_code: &[], ..interpreter("pypy", "ci", "WX") },
    interpreter("ipython", "ci", ""),
    Interpreter { long_code: &[], ..interpreter("perl", "eEMmdxS", "FIl0iCD") },
    interpreter("ruby", "erSx", "CIEFKTWi0"),
    Interpreter {
        long_code: &[
            "--e",
            "--print",
            "--req",
            "--import",
            "--loader",
            "--experimental-loader",
            "--inter",
            "--input-type",
        ],
        instead_of_file: &["--test", "--run"],
        ..interpreter("node", "epri", "C")
    },
    Interpreter { long_code: &["--e", "--print", "--req", "--import"], ..interpreter("nodejs", "epri", "C") },
    Interpreter { long_code: &["--run", "--process", "--int", "--define"], ..interpreter("php", "rBRedazFcSt", "") },
    interpreter("lua", "eil", ""),
    interpreter("luajit", "eilj", ""),
    interpreter("osascript", "eil", "s"),
    interpreter("pwsh", "cCeEf", ""),
    interpreter("powershell", "cCeEf", ""),
    interpreter("rscript", "e", ""),
    interpreter("Rscript", "e", ""),
    interpreter("R", "ef", ""),
    interpreter("julia", "eELpi", "JtC"),
    interpreter("elixir", "er", ""),
    interpreter("iex", "erS", ""),
    interpreter("erl", "eresrns", ""),
    interpreter("guile", "ces", "L"),
    interpreter("racket", "eiklrtu", ""),
    interpreter("sbcl", "e", ""),
    interpreter("clisp", "xi", ""),
    interpreter("ocaml", "ei", "I"),
    interpreter("runghc", "e", ""),
    interpreter("groovy", "ei", "D"),
    interpreter("scala", "ei", ""),
    interpreter("kotlin", "e", ""),
    interpreter("crystal", "e", ""),
    interpreter("dart", "e", ""),
    interpreter("ts-node", "epri", "P"),
    interpreter("tsx", "epri", ""),
    interpreter("irb", "erI", ""),
];

/// Modules of Python that run what their arguments say, or what they read.
const PYTHON_MODULES: &[&str] = &[
    "asyncio",
    "bdb",
    "cProfile",
    "code",
    "codeop",
    "doctest",
    "idlelib",
    "pdb",
    "profile",
    "pty",
    "pydoc",
    "runpy",
    "sqlite3",
    "timeit",
    "trace",
    "IPython",
    "ipython",
    "webbrowser",
];

/// Whether a path is what is piped in: then a program in it is not one that somebody has looked at.
pub fn is_input(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    path == "-" || parts.last() == Some(&"stdin") || parts.iter().any(|part| matches!(*part, "fd" | "proc"))
}

/// Whether a word is a file with a program, by its name.
pub fn is_script(word: &Word) -> bool {
    let is_part_of_name = |piece: &Piece| match piece {
        Piece::Text(_) | Piece::Held(_) | Piece::Home(_) | Piece::Here(_) => true,
        Piece::Hole(hole) => matches!(hole.kind, Kind::Number | Kind::Name),
        Piece::Wild(..) | Piece::Choices { .. } | Piece::Variable { .. } => false,
    };
    word.pieces.iter().all(is_part_of_name) && !word.may_be_option() && !is_input(&word.shown())
}

/// Whether what an interpreter runs is a file that its arguments name. None: it is no interpreter.
pub fn runs_file(program: &str, arguments: &[Word]) -> Option<bool> {
    let versionless = super::programs::versionless(program);
    let own = INTERPRETERS.iter().find(|own| own.name == versionless)?;
    Some(own.runs_file(arguments))
}

impl Interpreter {
    fn runs_file(&self, arguments: &[Word]) -> bool {
        let mut at = 0;
        // `--version` alone is not worth a rule.
        let mut is_question = false;
        while let Some(word) = arguments.get(at) {
            at += 1;
            let Some(text) = word.as_literal() else { return is_script(word) };
            is_question |= matches!(text.as_str(), "--version" | "-V" | "-v" | "--help" | "-h");
            if self.instead_of_file.iter().any(|own| text.split('=').next() == Some(own)) {
                return true;
            }
            if text == "--" {
                return arguments.get(at).is_some_and(is_script);
            }
            if text.starts_with("--") {
                if self.long_code.iter().any(|code| text.starts_with(code)) {
                    return false;
                }
                continue;
            }
            match text.strip_prefix('-') {
                Some("") => return false,
                Some(letters) => match self.letters(letters, arguments.get(at)) {
                    Letters::Code => return false,
                    Letters::Module(runs) => return runs,
                    Letters::Words(more) => at += more,
                },
                None => return !text.starts_with('+') && is_script(word),
            }
        }
        is_question
    }

    fn letters(&self, letters: &str, next: Option<&Word>) -> Letters {
        for (place, letter) in letters.char_indices() {
            let rest = &letters[place + letter.len_utf8()..];
            if letter == 'm' && matches!(self.name, "python" | "pypy") {
                let module = if rest.is_empty() { next.and_then(Word::as_literal) } else { Some(rest.to_owned()) };
                let is_known = |module: &String| {
                    let first = module.split('.').next().unwrap_or_default();
                    !first.is_empty() && !PYTHON_MODULES.contains(&first)
                };
                return Letters::Module(module.is_some_and(|module| is_known(&module)));
            }
            if self.code.contains(letter) {
                return Letters::Code;
            }
            if self.with_value.contains(letter) {
                let is_glued = matches!(self.name, "perl" | "ruby") || !rest.is_empty();
                return Letters::Words(usize::from(!is_glued));
            }
        }
        Letters::Words(0)
    }
}

/// What a group of short options says.
enum Letters {
    /// It gives a program.
    Code,
    /// It names a module; whether that is like a file.
    Module(bool),
    /// It takes so many more words.
    Words(usize),
}

/// What a shell runs.
pub enum Shell {
    /// A text.
    Text(String),
    /// A file.
    File,
    /// That cannot be told.
    Untold,
}

/// `sh -c text`, `sh file`; one that reads its commands from elsewhere cannot be told.
pub fn shell(arguments: &[Word]) -> Shell {
    let mut reads_text = false;
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        let Some(text) = word.as_literal() else { break };
        match text.strip_prefix(['-', '+']) {
            Some("" | "-") => {
                at += 1;
                break;
            }
            Some(long) if long.starts_with('-') => {
                // `--rcfile x` and the like run more than the text.
                if !matches!(long, "-norc" | "-noprofile" | "-posix" | "-login" | "-verbose" | "-version" | "-help") {
                    return Shell::Untold;
                }
            }
            Some(letters) => {
                if !letters.chars().all(|letter| "cexuvflnEhmo".contains(letter)) {
                    return Shell::Untold;
                }
                if text.starts_with('+') && letters.contains('c') {
                    return Shell::Untold;
                }
                reads_text |= letters.contains('c');
                at += usize::from(letters.contains('o')); // `-o pipefail`
            }
            None => break,
        }
        at += 1;
    }
    let Some(word) = arguments.get(at) else {
        let is_question =
            arguments.iter().any(|word| matches!(word.as_literal().as_deref(), Some("--version" | "--help")));
        return if is_question { Shell::File } else { Shell::Untold };
    };
    match (reads_text, word.as_literal()) {
        (true, Some(text)) => Shell::Text(text),
        (false, _) if is_script(word) => Shell::File,
        _ => Shell::Untold,
    }
}
