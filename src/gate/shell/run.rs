//! What a command runs: its program, those in its arguments, and the paths that these name (P-62, P-65).

use super::interpreters::{SHELLS, Shell};
use super::operands;
use super::parts::{Command, Parts, PathUse};
use super::programs::{Knowledge, knowledge, running_word};
use super::read::is_name;
use super::tree::holds_substitution;
use super::values::{ASSIGNING, Values};
use super::variables::decides;
use super::word::{Hole, Kind, PathText, Piece, Word, joined};
use super::{evaluated, inner, interpreters, wrappers};
use crate::gate::unknown::Unknown;
use crate::gate::value::Value;

/// Words with which a statement begins: what the grammar takes for a program's name, where it expects no statement.
const RESERVED: &[&str] =
    &["!", "if", "then", "elif", "else", "do", "while", "until", "for", "case", "select", "function", "[["];

/// How deep programs may stand in programs (`env nice env …`).
const MAX_DEPTH: usize = 16;

/// Where a command stands.
#[derive(Clone, Debug)]
pub struct Site {
    /// Whether the same text always is the same command: no variable is in it.
    pub is_told: bool,
    /// What it reads, when that are names of files; none: anything.
    pub piped: Option<Vec<Word>>,
    /// The text that it reads, when that stands in the script.
    pub input: Option<String>,
    /// How many programs it stands in.
    pub depth: usize,
}

/// A text that another shell runs.
#[derive(Debug)]
pub struct Nested {
    /// The text.
    pub text: String,
    /// The command that runs it, by its place; none: it is a part of the text around it.
    pub command: Option<usize>,
}

/// Adds commands with all that they run.
pub struct Runner<'p> {
    parts: &'p mut Parts,
    /// Texts that are still to be looked into.
    pub(super) nested: Vec<Nested>,
    values: &'p Values,
    /// An argument of the command that is looked at may be a program.
    may_hold: bool,
    /// The command that is looked at.
    at: usize,
}

impl<'p> Runner<'p> {
    /// Adds to some parts.
    pub fn new(parts: &'p mut Parts, values: &'p Values) -> Self {
        Self { parts, nested: Vec::new(), values, may_hold: false, at: 0 }
    }

    /// Adds a command given as words, and those inside of it.
    pub fn judge(&mut self, words: &[Word], site: &Site) {
        let Some((first, arguments)) = words.split_first() else { return };
        let name = first.as_literal();
        let program = name.as_deref().map(base_name).unwrap_or_default().to_owned();
        if matches!(program.as_str(), "cd" | "pushd" | "popd")
            && first.as_literal().as_deref() == Some(program.as_str())
        {
            self.go(&program, arguments);
            return self.parts.free.push(shown(words));
        }
        let (at, before) = (self.parts.commands.len(), (self.at, self.may_hold));
        let named = name.filter(|name| *name != program).map(|_| {
            let own = Word::literal(&program);
            joined(&std::iter::once(own).chain(arguments.iter().cloned()).collect::<Vec<_>>())
        });
        let is_told = site.is_told && words.iter().all(|word| word.pieces.iter().all(Piece::is_same));
        let (written, value) = (shown(words), Some(joined(words)));
        let plain = Command::plain("");
        self.parts.commands.push(Command { written, value, named, is_told, words: Vec::new(), ..plain });
        (self.at, self.may_hold) = (at, false);
        // An empty name is none: `"" x` fails, but what an expansion leaves empty runs the next word.
        let doubt =
            if program.is_empty() { Some(Unknown::Program) } else { self.look_inside(&program, arguments, site) };
        let may_hold = self.may_hold;
        let command = &mut self.parts.commands[at];
        let own = arguments.iter().flat_map(|word| argument_words(&program, word, may_hold));
        command.words.extend(own);
        if command.doubt.is_none() {
            command.doubt = doubt;
        }
        (self.at, self.may_hold) = before;
    }

    /// Adds a text that the command runs.
    fn nested(&mut self, text: String) {
        self.nested.push(Nested { text, command: Some(self.at) });
    }

    /// Adds the paths that a word may be.
    pub(super) fn path(&mut self, word: &Word, is_write: bool, is_folder: bool) {
        for path in word.paths() {
            if !matches!(&path, PathText::Known(path) if is_free(path)) {
                self.parts.paths.push(PathUse { path, is_write, is_folder });
            }
        }
    }

    /// The folders of `cd` and its like.
    fn go(&mut self, program: &str, arguments: &[Word]) {
        let is_option = |word: &&Word| word.start().len() > 1 && word.start().starts_with(['-', '+']);
        let mut folders = arguments.iter().filter(|word| !is_option(word)).peekable();
        if program == "cd" && folders.peek().is_none() {
            self.parts.paths.push(PathUse { path: PathText::Known("~".to_owned()), is_write: false, is_folder: true });
        }
        for folder in folders {
            if folder.as_literal().as_deref() == Some("-") {
                let path = PathText::Unknown("-".to_owned());
                self.parts.paths.push(PathUse { path, is_write: false, is_folder: true });
            } else {
                self.path(folder, false, true);
            }
        }
    }

    fn operands(&mut self, program: &str, arguments: &[Word]) {
        let found = match knowledge(program) {
            Knowledge::Text => operands::wild(arguments),
            _ if matches!(program, "test" | "[") => {
                let pairs = arguments.windows(2).filter(|pair| is_file_test(&pair[0].shown()));
                pairs.map(|pair| operands::Operand { word: pair[1].clone(), is_folder: false }).collect()
            }
            _ => operands::operands(if program == "gsed" { "sed" } else { program }, arguments),
        };
        found.iter().for_each(|operand| self.path(&operand.word, false, operand.is_folder));
    }

    /// Adds what a program runs and touches. What cannot be told about it, in words.
    fn look_inside(&mut self, program: &str, arguments: &[Word], site: &Site) -> Option<Unknown> {
        if site.depth > MAX_DEPTH || RESERVED.contains(&program) {
            return Some(Unknown::Program);
        }
        if let Some(inner) = wrappers::inner(program, arguments) {
            return self.wrapper(program, inner, arguments, site);
        }
        if SHELLS.contains(&program) {
            return self.shell(program, arguments);
        }
        if !matches!(program, "find" | "eval" | "trap" | "watch") {
            self.operands(program, arguments);
        }
        if let Some(inside) = inner::look(program, arguments) {
            return self.inside(inside, site);
        }
        if let Some(runs_file) = interpreters::runs_file(program, arguments) {
            return (!runs_file).then(|| Unknown::Input(program.to_owned()));
        }
        if let Some(word) = running_word(program, arguments) {
            return Some(Unknown::Word(word.shown()));
        }
        if let Some(doubt) = self.builtin(program, arguments) {
            return Some(doubt);
        }
        match knowledge(program) {
            Knowledge::Text | Knowledge::Files => {
                let wild = arguments.iter().filter(|word| matches!(word.pieces.first(), Some(Piece::Wild(..))));
                let paths = wild.flat_map(Word::paths);
                let has_options =
                    !matches!(knowledge(program), Knowledge::Text) && super::programs::has_running_options(program);
                if has_options {
                    self.parts.commands[self.at].found_options = paths.collect();
                }
                None
            }
            Knowledge::Opaque => Some(Unknown::Input(program.to_owned())),
            Knowledge::None => {
                self.may_hold = true;
                if let Some(input) = &site.input {
                    self.parts.commands[self.at].words.extend(words_of(&Value::from(input.as_str()), true));
                }
                self.unknown(program, arguments, site);
                None
            }
        }
    }

    /// Adds what is in a program that has rules of its own.
    fn inside(&mut self, inside: inner::Inside, site: &Site) -> Option<Unknown> {
        let site = Site { is_told: false, depth: site.depth + 1, ..site.clone() };
        inside.texts.into_iter().for_each(|text| self.nested(text));
        inside.paths.iter().for_each(|(path, is_write)| self.path(path, *is_write, false));
        inside.commands.iter().for_each(|command| self.judge(command, &site));
        self.may_hold |= inside.may_hold;
        inside.doubt
    }

    /// A program of which nothing is known: where one of its words is a program that runs others, it may run that.
    fn unknown(&mut self, program: &str, arguments: &[Word], site: &Site) {
        const MAX: usize = 4;
        let runs_others = |word: &Word| {
            let name = word.as_literal().unwrap_or_default();
            let program = base_name(&name);
            SHELLS.contains(&program)
                || matches!(program, "eval" | "xargs" | "find" | "env" | "sudo" | "busybox")
                || (interpreters::runs_file(program, &[]).is_some() && !name.contains('/'))
        };
        let places = (0..arguments.len()).filter(|at| runs_others(&arguments[*at])).take(MAX);
        for at in places.collect::<Vec<_>>() {
            let site = Site { is_told: false, piped: None, input: None, depth: site.depth + 4 };
            self.judge(&arguments[at..], &site);
        }
        let texts = arguments.iter().filter_map(Word::as_literal).filter(|text| text.contains(char::is_whitespace));
        let pipes_into_shell = |text: &String| {
            text.split(['|', ';', '&', '(', '{', '\n']).any(|part| {
                let first = part.split_ascii_whitespace().next().unwrap_or_default();
                SHELLS.contains(&base_name(first)) || matches!(first, "eval" | "." | "source")
            })
        };
        if texts.collect::<Vec<_>>().iter().any(pipes_into_shell) {
            let command = &mut self.parts.commands[self.at];
            command.doubt.get_or_insert_with(|| Unknown::Inner(program.to_owned()));
        }
    }

    fn wrapper(
        &mut self,
        program: &str,
        inner: Option<wrappers::Inner>,
        arguments: &[Word],
        site: &Site,
    ) -> Option<Unknown> {
        let Some(inner) = inner else {
            self.operands(program, arguments);
            return Some(Unknown::Inner(program.to_owned()));
        };
        let own: Vec<Word> = inner.own.iter().filter(|word| !inner.assigned.contains(word)).cloned().collect();
        self.operands(program, &own);
        inner.folders.iter().for_each(|folder| self.path(folder, false, true));
        if let Some(name) = inner.assigned.iter().find_map(deciding) {
            return Some(Unknown::Variable(name.to_owned()));
        }
        let site = Site { depth: site.depth + 1, ..site.clone() };
        if program != "xargs" {
            self.judge(inner.command, &site);
            return None;
        }
        if own.iter().any(|word| word.start().starts_with("--process-slot-var")) {
            return Some(Unknown::AnyVariable(program.to_owned()));
        }
        let added = match &site.piped {
            Some(words) => Piece::Choices { words: words.clone(), may_vanish: true, written: "…".to_owned() },
            None => Piece::Hole(Hole { kind: Kind::Any, is_quoted: false, written: "…".to_owned() }),
        };
        let added = Word { pieces: vec![added] };
        let sign = replacement(&own);
        let command: Vec<Word> = match &sign {
            Some(sign) => {
                let words = site.piped.clone().unwrap_or_else(|| vec![Word::hole(Kind::Any, true, sign)]);
                inner.command.iter().map(|word| inner::replaced(word, sign, &words)).collect()
            }
            None => inner.command.iter().cloned().chain([added]).collect(),
        };
        if !inner.command.is_empty() {
            self.judge(&command, &Site { is_told: false, piped: None, ..site });
        }
        None
    }

    fn shell(&mut self, program: &str, arguments: &[Word]) -> Option<Unknown> {
        match interpreters::shell(arguments) {
            Shell::Untold => {
                self.operands(program, arguments);
                Some(Unknown::Input(program.to_owned()))
            }
            Shell::File => {
                self.operands(program, arguments);
                None
            }
            Shell::Text(text) => {
                let rest = arguments
                    .iter()
                    .position(|word| word.as_literal().as_deref() == Some(&text))
                    .map_or(0, |at| at + 1);
                self.operands(program, &arguments[rest..]);
                self.nested(text);
                None
            }
        }
    }

    /// Builtins that set variables, or take words for expressions.
    fn builtin(&mut self, program: &str, arguments: &[Word]) -> Option<Unknown> {
        if !ASSIGNING.contains(&program) && !matches!(program, "test" | "[") {
            return None;
        }
        let evaluates = |word: &Word| holds_substitution(&word.shown()) && word.as_literal().is_some();
        if let Some(word) = arguments.iter().find(|word| evaluates(word)) {
            return Some(Unknown::Evaluated(word.shown()));
        }
        match program {
            "test" | "[" => {
                let names = arguments.windows(2).find(|pair| matches!(pair[0].shown().as_str(), "-v" | "-R"));
                let is_plain = |word: &Word| word.as_literal().is_some_and(|name| is_name(&name));
                return names.filter(|pair| !is_plain(&pair[1])).map(|pair| Unknown::Evaluated(pair[1].shown()));
            }
            "let" => {
                let is_told =
                    |word: &Word| word.as_literal().is_some_and(|text| evaluated::is_told(&text, self.values));
                let word = arguments.iter().find(|word| !is_told(word))?;
                return Some(Unknown::Evaluated(word.shown()));
            }
            "printf"
                if !arguments.first().is_some_and(|word| {
                    word.may_be_option() && word.shown() != "--" && (arguments.len() > 1 || word.as_literal().is_some())
                }) =>
            {
                return None;
            }
            "wait" if !arguments.iter().any(|word| word.may_be_option()) => return None,
            _ => {}
        }
        let is_declaration = matches!(program, "declare" | "typeset" | "local" | "export" | "readonly");
        for word in arguments {
            let start = word.start();
            if start.starts_with('-') && word.as_literal().is_some() {
                if is_declaration && super::values::is_reference(start) && program != "export" {
                    return Some(Unknown::AnyVariable(program.to_owned()));
                }
                // `-aNAME`, `-vNAME`
                let glued = start.get(2..).unwrap_or_default();
                if decides(glued.split(['=', '[']).next().unwrap_or_default(), None) {
                    return Some(Unknown::Variable(glued.to_owned()));
                }
                continue;
            }
            let text = start.strip_prefix("-v").unwrap_or(start);
            let (name, has_value) = text.split_once('=').map_or((text, false), |(name, _)| (name, true));
            let name = name.trim_end_matches('+');
            if word.as_literal().is_none() && !has_value {
                return Some(Unknown::AnyVariable(program.to_owned()));
            }
            let index = name.find('[').map(|at| &name[at..]);
            if index.is_some_and(|index| index.contains(['$', '(', '`']) || word.as_literal().is_none()) {
                return Some(Unknown::Evaluated(word.shown()));
            }
            let value = word.as_literal().and_then(|text| text.split_once('=').map(|(_, value)| value.to_owned()));
            let name = name.split('[').next().unwrap_or_default();
            if decides(name, value.as_deref()) {
                return Some(Unknown::Variable(name.to_owned()));
            }
        }
        None
    }
}

/// The variable of an assignment that decides what other programs run.
pub fn deciding(assignment: &Word) -> Option<String> {
    let start = assignment.start();
    let (name, _) = start.split_once('=')?;
    let value = assignment.as_literal().and_then(|text| text.split_once('=').map(|(_, value)| value.to_owned()));
    let name = name.split(['[', '+']).next().unwrap_or_default();
    decides(name, value.as_deref()).then(|| name.to_owned())
}

/// What xargs puts what it reads in place of.
fn replacement(own: &[Word]) -> Option<String> {
    let mut words = own.iter().map(Word::shown);
    while let Some(word) = words.next() {
        if word == "-I" {
            return words.next();
        } else if let Some(sign) = word.strip_prefix("-I") {
            return Some(sign.to_owned());
        } else if word == "-i" || word == "--replace" {
            return Some("{}".to_owned());
        } else if let Some(sign) = word.strip_prefix("--replace=").or_else(|| word.strip_prefix("-i")) {
            return Some(sign.to_owned());
        }
    }
    None
}

/// Whether an operator of `test` is about the file behind it.
pub fn is_file_test(operator: &str) -> bool {
    let is_letter = |letter: char| "abcdefghkprstuwxGLNOS".contains(letter);
    matches!(operator, "-nt" | "-ot" | "-ef")
        || (operator.len() == 2 && operator.starts_with('-') && operator[1..].starts_with(is_letter))
}

/// The words in an argument of which any might be a program. Of what is not known, only where it may be one.
fn argument_words(program: &str, argument: &Word, may_hold: bool) -> Vec<Value> {
    let mut value = argument.held();
    let is_number =
        |piece: &Piece| matches!(piece, Piece::Hole(hole) if matches!(hole.kind, Kind::Number | Kind::Descriptor));
    let is_path = |piece: &Piece| matches!(piece, Piece::Wild(..) | Piece::Here(_) | Piece::Home(_));
    if argument
        .pieces
        .iter()
        .all(|piece| is_number(piece) || is_path(piece) || matches!(piece, Piece::Text(_) | Piece::Held(_)))
    {
        // What wildcards find is a name of a file, numbers are no name.
        value = Value::from(
            argument
                .pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) | Piece::Held(text) => text.as_str(),
                    _ => "/",
                })
                .collect::<String>()
                .as_str(),
        );
    }
    let mut words = words_of(&value, may_hold);
    // Long options of some begin with one dash.
    if matches!(program, "find" | "go" | "java" | "gcc" | "clang") {
        return words;
    }
    let start = argument.start();
    if let Some(letters) = start.strip_prefix('-').filter(|letters| !letters.starts_with('-')) {
        let end = letters.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(letters.len());
        words.extend((1..end).map(|at| Value::from(&letters[at..end])));
    }
    words
}

/// The words in a text, once with quotes that end words and once without them; what an inner shell would put in is not
/// known.
fn words_of(text: &Value, may_hold: bool) -> Vec<Value> {
    let mut words = super::parts::split(text);
    if let Some(known) = text.known() {
        if known.contains(['\'', '"', '\\']) {
            words.extend(super::parts::split(&Value::from(known.replace(['\'', '"', '\\'], "").as_str())));
        }
        if may_hold && known.contains(['$', '`']) {
            words.push(Value::hole());
        }
    }
    words.retain(|word| may_hold || word.known().is_some());
    words
}

/// What is read from and written to these is no file (P-63).
pub fn is_free(path: &str) -> bool {
    matches!(
        path,
        "/dev/null"
            | "/dev/zero"
            | "/dev/full"
            | "/dev/random"
            | "/dev/urandom"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/stdin"
    ) || path.strip_prefix("/dev/fd/").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn shown(words: &[Word]) -> String {
    words.iter().map(Word::shown).collect::<Vec<_>>().join(" ")
}
