//! What is known of what some programs print: numbers, names of commits, files below a folder. All else is any text.

use super::word::{Found, Kind, Piece, Word};

/// What a command prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Printed {
    /// Any text.
    Any,
    /// The working directory.
    Folder,
    /// One number.
    Number,
    /// Numbers on lines of their own.
    Numbers,
    /// The name of a commit.
    Name,
    /// Names of files, on lines of their own: each is one of these words.
    Names(Vec<Word>),
}

/// What the last command of a pipeline prints, by the words of its commands.
pub fn prints(stages: &[Vec<Word>]) -> Printed {
    let Some((last, before)) = stages.split_last() else { return Printed::Any };
    let words: Vec<Option<String>> = last.iter().map(Word::as_literal).collect();
    let words: Vec<Option<&str>> = words.iter().map(Option::as_deref).collect();
    let is_plain = |word: &Option<&str>| word.is_some_and(|word| !word.starts_with('-'));
    match &words[..] {
        [Some("pwd"), rest @ ..] if rest.iter().all(|word| matches!(word, Some("-P" | "-L"))) => Printed::Folder,
        [Some("nproc")] | [Some("id"), Some("-u" | "-g")] => Printed::Number,
        [Some("wc"), Some("-l" | "-c" | "-w" | "-m")] => Printed::Number,
        [Some("date"), Some(format)] if is_number_format(format) => Printed::Number,
        [Some("seq"), rest @ ..] if rest.iter().all(|word| word.is_some_and(|word| word.parse::<i64>().is_ok())) => {
            Printed::Numbers
        }
        [Some("git"), Some("merge-base"), a, b] if is_plain(a) && is_plain(b) => Printed::Name,
        [Some("git"), Some("rev-parse"), options @ .., Some("HEAD")]
            if options.iter().all(|word| matches!(word, Some("--short" | "--verify" | "--abbrev-ref"))) =>
        {
            Printed::Name
        }
        [Some("git"), Some("branch"), Some("--show-current")] => Printed::Name,
        [Some("git"), Some("describe"), options @ ..]
            if options.iter().all(|word| matches!(word, Some("--tags" | "--always" | "--abbrev=0"))) =>
        {
            Printed::Name
        }
        _ => files(before, last),
    }
}

/// Whether a format of `date` gives digits.
fn is_number_format(format: &str) -> bool {
    let Some(mut rest) = format.strip_prefix('+') else { return false };
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '-' => 1,
            '%' if rest[1..].starts_with(|letter| "YmdHMSsjuyF".contains(letter)) => 2,
            _ => return false,
        };
        rest = &rest[length..];
    }
    true
}

/// Something in the working directory.
fn here() -> Word {
    Word {
        pieces: [Piece::Wild("*".to_owned(), Found::Here)]
            .into_iter()
            .chain(Word::hole(Kind::Name, true, "…").pieces)
            .collect(),
    }
}

/// Programs that list files, and those that pass on some of the lines.
fn files(before: &[Vec<Word>], last: &[Word]) -> Printed {
    let Some((program, arguments)) = last.split_first() else { return Printed::Any };
    let Some(program) = program.as_literal() else { return Printed::Any };
    let literals: Option<Vec<String>> = arguments.iter().map(Word::as_literal).collect();
    if program == "find" {
        return found(arguments);
    }
    let Some(literals) = literals else { return Printed::Any };
    let (options, operands): (Vec<&str>, Vec<&str>) =
        literals.iter().map(String::as_str).partition(|word| word.starts_with('-'));
    let only = |allowed: &[&str]| options.iter().all(|option| is_among(option, allowed));
    let is_list = match program.as_str() {
        // Without a file of their own they pass lines on.
        "grep" | "head" | "tail" | "sort" | "uniq" if !before.is_empty() => {
            let own = usize::from(program == "grep");
            let counts = operands.iter().filter(|word| word.parse::<u64>().is_ok()).count();
            let passes_on =
                only(&["-v", "-E", "-i", "-F", "-w", "-u", "-r", "-z", "-n", "-V", "-0*", "-1*", "-2*", "-5*"]);
            let adds = program == "grep" && options.contains(&"-n");
            return if passes_on && !adds && operands.len() - counts.min(operands.len()) <= own {
                prints(before)
            } else {
                Printed::Any
            };
        }
        "ls" => operands.is_empty() && only(&["-1", "-t", "-r", "-tr", "-1t"]),
        "git" => match operands.first() {
            Some(&"ls-files") => {
                only(&["-z", "-m", "-o", "-c", "--others", "--cached", "--modified", "--exclude-standard"])
            }
            Some(&"diff") => {
                options.contains(&"--name-only")
                    && only(&["-z", "--name-only", "--cached", "--staged", "--diff-filter=*"])
            }
            Some(&"grep") => {
                only(&["-l", "-z", "-i", "-w", "-E", "-F", "-il", "-lE", "--files-with-matches", "--name-only"])
                    && options.iter().any(|option| option.contains('l'))
            }
            _ => false,
        },
        "rg" | "grep" => {
            let is_search = |option: &&str| {
                option.starts_with("--") || option[1..].chars().all(|letter| "rlinwEFIzsv0".contains(letter))
            };
            let long = ["--files", "--files-with-matches", "--include=*", "--exclude=*", "--exclude-dir=*", "--hidden"];
            let is_long = |option: &&str| !option.starts_with("--") || is_among(option, &long);
            let lists =
                |option: &&str| option.starts_with("--files") || (!option.starts_with("--") && option.contains('l'));
            options.iter().all(|option| is_search(option) && is_long(option)) && options.iter().any(lists)
        }
        "fd" => only(&["-e", "-t", "-H", "-I", "-0", "--type", "--extension", "--hidden"]),
        _ => false,
    };
    if is_list && arguments.iter().all(leads_nowhere) { Printed::Names(vec![here()]) } else { Printed::Any }
}

/// Whether an option is one of a list, in which `*` at an end stands for the rest.
fn is_among(option: &str, list: &[&str]) -> bool {
    list.iter().any(|allowed| allowed.strip_suffix('*').map_or(option == *allowed, |start| option.starts_with(start)))
}

/// What `find` prints: something below its folders.
fn found(arguments: &[Word]) -> Printed {
    const TESTS: &[&str] = &[
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-type",
        "-maxdepth",
        "-mindepth",
        "-size",
        "-mtime",
        "-mmin",
        "-newer",
        "-not",
        "-o",
        "-a",
        "-and",
        "-or",
        "-print",
        "-print0",
        "-prune",
        "-empty",
        "-regex",
        "-iregex",
        "-perm",
        "-user",
    ];
    let is_root = |word: &&Word| !word.start().starts_with(['-', '(', '!']) && !word.may_be_option();
    let roots: Vec<&Word> = arguments.iter().take_while(is_root).collect();
    let is_test = |word: &Word| {
        word.as_literal().is_none_or(|word| !word.starts_with('-') || TESTS.contains(&word.as_str()))
            && !word.may_vanish()
    };
    if !arguments[roots.len()..]
        .iter()
        .all(|word| is_test(word) && !(word.may_be_option() && word.as_literal().is_none()))
    {
        return Printed::Any;
    }
    let dot = Word::literal(".");
    let roots = if roots.is_empty() { vec![&dot] } else { roots };
    Printed::Names(roots.into_iter().map(below).collect())
}

/// Something below a folder.
pub fn below(folder: &Word) -> Word {
    let mut word = folder.clone();
    word.pieces.push(Piece::Text("/".to_owned()));
    word.pieces.extend(Word::hole(Kind::Name, true, "…").pieces);
    word
}

/// Whether a word is no path that leads out of the working directory.
fn leads_nowhere(word: &Word) -> bool {
    let text = word.shown();
    !text.starts_with(['/', '~']) && !text.split('/').any(|part| part == "..") && !text.contains("=/")
}
