//! Which words of a command may be paths (P-65): every argument of every program, but those that are known to be text.

use super::word::{Piece, Word};

/// A word that may be a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The path, without what stands before it in its argument.
    pub word: Word,
    /// It is a folder that the program works in.
    pub is_folder: bool,
}

/// Arguments of a program that are text.
struct Texts {
    program: &'static str,
    /// The first operand, unless an option of these gives it.
    first: Option<&'static [&'static str]>,
    /// Options, by letter, whose value is.
    letters: &'static str,
    /// Long options whose value is.
    long: &'static [&'static str],
    /// Subcommands before the options, if these are only of one.
    subcommand: &'static str,
}

const fn texts(program: &'static str, letters: &'static str, long: &'static [&'static str]) -> Texts {
    Texts { program, first: None, letters, long, subcommand: "" }
}

const PATTERN: Option<&[&str]> = Some(&["-e", "-f", "--regexp", "--file"]);
const SCRIPT: Option<&[&str]> = Some(&["-e", "-f", "--expression", "--file"]);
const GREP: &[&str] = &["regexp", "include", "exclude", "exclude-dir", "label", "color", "max-count"];
const MESSAGE: &[&str] = &["message", "author", "date", "trailer", "fixup", "squash", "cleanup"];
const LOG: &[&str] = &["grep", "author", "committer", "since", "until", "after", "before", "format", "pretty", "date"];

const TEXTS: &[Texts] = &[
    Texts { first: PATTERN, ..texts("grep", "eABCm", GREP) },
    Texts { first: PATTERN, ..texts("egrep", "eABCm", GREP) },
    Texts { first: PATTERN, ..texts("fgrep", "eABCm", GREP) },
    Texts { first: PATTERN, ..texts("zgrep", "eABCm", GREP) },
    Texts {
        first: Some(&["-e", "-f", "--regexp", "--file", "--files", "--type-list"]),
        ..texts(
            "rg",
            "egtTABCmjrME",
            &["regexp", "glob", "iglob", "type", "type-not", "replace", "max-count", "sort", "color"],
        )
    },
    Texts { first: Some(&["-g"]), ..texts("ag", "ABCGm", &["ignore", "ignore-dir"]) },
    Texts { first: Some(&["-f", "-g"]), ..texts("ack", "ABCm", &["match"]) },
    Texts { first: Some(&[]), ..texts("fd", "etEd", &["extension", "type", "exclude", "max-depth"]) },
    Texts { first: SCRIPT, ..texts("sed", "el", &["expression", "line-length"]) },
    Texts { first: Some(&["-f", "--file", "-E", "--exec"]), ..texts("awk", "Fv", &["field-separator", "assign"]) },
    Texts { first: Some(&["-f", "--file", "-E", "--exec"]), ..texts("gawk", "Fv", &["field-separator", "assign"]) },
    Texts { first: Some(&["-f"]), ..texts("mawk", "Fv", &[]) },
    Texts { first: Some(&["-f"]), ..texts("nawk", "Fv", &[]) },
    Texts { first: Some(&["-f", "--from-file"]), ..texts("jq", "", &["arg", "argjson", "indent"]) },
    Texts { first: Some(&["--reference"]), ..texts("chmod", "", &[]) },
    Texts { first: Some(&["--reference"]), ..texts("chown", "", &["from"]) },
    texts("cut", "dfcb", &["delimiter", "output-delimiter", "fields", "characters", "bytes"]),
    texts("sort", "tk", &["field-separator", "key"]),
    texts("paste", "d", &["delimiters"]),
    texts("column", "so", &["separator", "output-separator"]),
    texts("join", "teo", &[]),
    texts("xargs", "dEIi", &["delimiter", "replace", "eof"]),
    texts("tar", "", &["exclude", "transform", "xform", "format", "owner", "group", "mtime", "sort"]),
    texts("rsync", "f", &["exclude", "include", "filter", "chmod", "info", "out-format"]),
    texts("du", "", &["exclude", "time-style"]),
    texts("tree", "IP", &["filesfirst", "charset"]),
    texts("ls", "I", &["ignore", "hide", "time-style", "color"]),
    texts("diff", "xIF", &["exclude", "ignore-matching-lines", "label"]),
    texts("date", "d", &["date"]),
    texts("curl", "HXAeurw", &["header", "request", "user-agent", "referer", "user", "range", "write-out"]),
    texts("wget", "U", &["header", "user-agent", "referer"]),
    texts("pytest", "km", &["durations", "tb"]),
    texts("go", "", &[]),
    texts("gh", "btmlq", &["body", "title", "message", "label", "notes", "jq", "json", "search"]),
    Texts { subcommand: "grep", first: PATTERN, ..texts("git", "eABCm", &[]) },
    Texts { subcommand: "commit", ..texts("git", "mcC", MESSAGE) },
    Texts { subcommand: "tag", ..texts("git", "m", MESSAGE) },
    Texts { subcommand: "stash", ..texts("git", "m", MESSAGE) },
    Texts { subcommand: "merge", ..texts("git", "m", MESSAGE) },
    Texts { subcommand: "notes", ..texts("git", "m", MESSAGE) },
    Texts { subcommand: "log", ..texts("git", "SGLn", LOG) },
    Texts { subcommand: "show", ..texts("git", "SGLn", LOG) },
    Texts { subcommand: "diff", ..texts("git", "SGL", LOG) },
    Texts { subcommand: "shortlog", ..texts("git", "", LOG) },
    Texts { subcommand: "for-each-ref", ..texts("git", "", &["format", "sort", "count"]) },
    Texts { subcommand: "branch", ..texts("git", "", &["format", "sort"]) },
    Texts { subcommand: "config", ..texts("git", "", &[]) },
];

/// Options of any program that name a folder to work in.
const FOLDERS: &[&str] =
    &["--directory", "--chdir", "--work-tree", "--cwd", "--prefix", "--project-directory", "-chdir", "--dir"];

/// Programs all of whose arguments are text, paths or not as they may look.
const ALL_TEXT: &[&str] = &["tr"];

/// Subcommands of git that take no path outside of the repository.
const WITHIN: &[&str] = &["add", "branch", "checkout", "mv", "reset", "restore", "rm", "status", "switch"];

/// The words among the arguments of a program that may be paths.
pub fn operands(program: &str, arguments: &[Word]) -> Vec<Operand> {
    if ALL_TEXT.contains(&program) {
        return wild(arguments);
    }
    let subcommand = (program == "git").then(|| super::git::read(arguments).subcommand).flatten();
    let name = subcommand.and_then(|at| arguments[at].as_literal()).unwrap_or_default();
    let known = TEXTS
        .iter()
        .find(|texts| texts.program == program && (texts.subcommand.is_empty() || texts.subcommand == name));
    let start = subcommand.map_or(0, |at| at + 1);
    let mut scan = Scan { found: Vec::new(), known, skips_first: false, is_over: false, skip: false, folder: false };
    scan.skips_first = known.and_then(|texts| texts.first).is_some_and(|unless| !gives(&arguments[start..], unless));
    if program == "git" {
        scan.found
            .extend(super::git::read(arguments).folders.into_iter().map(|word| Operand { word, is_folder: true }));
    }
    arguments[start..].iter().for_each(|word| scan.word(program, word));
    if WITHIN.contains(&name.as_str()) {
        scan.found.retain(|operand| !operand.word.has_any());
    }
    scan.found
}

/// What a shell itself looks for: words with wildcards, whatever they are to the program.
pub fn wild(arguments: &[Word]) -> Vec<Operand> {
    let is_wild = |word: &&Word| word.pieces.iter().any(|piece| matches!(piece, Piece::Wild(..)));
    arguments.iter().filter(is_wild).map(|word| Operand { word: word.clone(), is_folder: false }).collect()
}

/// Whether some option of a list is given: in a bundle of letters, with a value, cut short.
fn gives(arguments: &[Word], options: &[&str]) -> bool {
    let is_one = |word: &Word| {
        let start = word.start();
        if start.starts_with("--") {
            let name = start.split('=').next().unwrap_or(start);
            return name.len() > 2 && options.iter().any(|option| option.starts_with("--") && option.starts_with(name));
        }
        let Some(letters) = start.strip_prefix('-') else { return false };
        options.iter().filter(|option| option.len() == 2).any(|option| letters.contains(&option[1..]))
    };
    let is_end = |word: &&Word| word.as_literal().as_deref() == Some("--");
    arguments.iter().take_while(|word| !is_end(word)).any(is_one)
}

/// The arguments of a program, read one after the other.
struct Scan {
    found: Vec<Operand>,
    known: Option<&'static Texts>,
    /// The next operand is text.
    skips_first: bool,
    /// There are no options any more.
    is_over: bool,
    /// The next word is text.
    skip: bool,
    /// The next word is a folder.
    folder: bool,
}

impl Scan {
    fn word(&mut self, program: &str, word: &Word) {
        let start = word.start();
        let is_text = std::mem::take(&mut self.skip);
        if is_text && !word.may_split() {
            return;
        }
        if std::mem::take(&mut self.folder) {
            return self.found.push(Operand { word: word.clone(), is_folder: true });
        }
        if !self.is_over && word.as_literal().as_deref() == Some("--") {
            self.is_over = true;
        } else if !self.is_over && start.len() > 1 && start.starts_with("--") {
            self.long(word);
        } else if !self.is_over && start.len() > 1 && start.starts_with('-') {
            self.short(word);
        } else if std::mem::take(&mut self.skips_first) && self.is_one_text(word) {
            // A pattern, a script: text.
        } else if !(program == "git" && start.starts_with(":/")) {
            self.add(word, 0);
        }
    }

    /// Whether a word is one word for sure, and no option.
    fn is_one_text(&self, word: &Word) -> bool {
        !word.may_split() && (self.is_over || !word.may_be_option())
    }

    fn long(&mut self, word: &Word) {
        let start = word.start();
        let (name, value) = start.split_once('=').map_or((start, None), |(name, _)| (name, Some(name.len() + 1)));
        let is_text = self
            .known
            .is_some_and(|texts| texts.long.iter().any(|long| long.starts_with(&name[2..])) && name.len() > 2);
        let is_folder = FOLDERS.iter().any(|folder| folder.starts_with(name) && name.len() > 3);
        match value {
            None if word.as_literal().is_none() => self.add(word, name.len()),
            None => {
                self.skip = is_text && (name != "--color");
                self.folder = is_folder && !is_text;
            }
            Some(_) if is_text => {}
            Some(at) if is_folder => self.found.push(Operand { word: word.behind(0, at), is_folder: true }),
            Some(at) => self.add(word, at),
        }
    }

    fn short(&mut self, word: &Word) {
        let start = word.start();
        let is_known = word.as_literal().is_some();
        if let Some(at) =
            FOLDERS.iter().find_map(|folder| start.strip_prefix(folder)?.starts_with('=').then_some(folder.len() + 1))
        {
            return self.found.push(Operand { word: word.behind(0, at), is_folder: true });
        }
        let letters = self.known.map_or("", |texts| texts.letters);
        for (place, letter) in start.char_indices().skip(1) {
            let behind = place + letter.len_utf8();
            if letters.contains(letter) {
                self.skip = behind == start.len() && is_known;
                return;
            }
            // `-C folder`, `-Cfolder`
            let value = &start[behind..];
            if letter == 'C' || letter == 'D' {
                let is_path = value.starts_with(['/', '.', '~']);
                if value.is_empty() && is_known {
                    self.folder = letter == 'C';
                } else if is_path {
                    return self.found.push(Operand { word: word.behind(0, behind), is_folder: true });
                } else if value.is_empty() {
                    return self.add(word, behind);
                }
            }
            if value.is_empty() && !is_known {
                return self.add(word, behind); // `-f$X`
            }
            if value.starts_with(['/', '~', '.']) && value != "/" {
                return self.add(word, behind);
            }
            if !letter.is_ascii_alphanumeric() {
                break;
            }
        }
        let separator = start.find(['=', ':', '@']);
        match separator {
            Some(at) => self.add(word, at + 1),
            // `-T1.txt`
            None if start.len() > 2 && !start[1..].chars().all(|letter| letter.is_ascii_alphabetic()) => {
                self.add(word, 2)
            }
            None => {}
        }
    }

    /// Adds a word from one byte of its first text on, and what follows behind signs that often stand before a path.
    fn add(&mut self, word: &Word, from: usize) {
        const MAX: usize = 16;
        let mut starts = vec![(0, from)];
        for (at, piece) in word.pieces.iter().enumerate() {
            let Piece::Text(text) = piece else { continue };
            let signs = text.match_indices(['=', ':', '@']).map(|(byte, sign)| (at, byte + sign.len()));
            starts.extend(signs.filter(|(at, byte)| *at > 0 || *byte > from));
        }
        for (at, byte) in starts.into_iter().take(MAX) {
            let behind = if (at, byte) == (0, 0) { word.clone() } else { word.behind(at, byte) };
            match scheme(behind.start()) {
                Some("file") => {
                    let start = behind.start();
                    let path = start.find("://").and_then(|sign| Some(sign + 3 + start[sign + 3..].find('/')?));
                    let word = path
                        .map_or_else(|| Word::hole(super::word::Kind::Any, true, start), |path| behind.behind(0, path));
                    return self.found.push(Operand { word, is_folder: false });
                }
                Some(_) => return,
                None if behind.pieces.is_empty() => {}
                None => self.found.push(Operand { word: behind, is_folder: false }),
            }
        }
    }
}

/// The scheme of an address, `https` of `https://…`.
fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte);
    (!scheme.is_empty()
        && scheme.bytes().all(is_letter)
        && scheme.starts_with(|letter: char| letter.is_ascii_alphabetic()))
    .then_some(scheme)
}
