//! Command templates: a text with `${name}` placeholders becomes a script for `sh -c` in which no value is ever syntax.
//! Pure: files are written and processes started elsewhere.

mod lexer;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use lexer::{Body, Edit, Found, Reading};

/// What stands between the shell and [`Prepared::script`]. The `--` keeps a text that starts with `-` or `+` from being an option.
pub const SHELL_ARGUMENTS: [&str; 2] = ["-c", "--"];

/// A value or a script longer than this travels through a file: Linux refuses one argument or variable of 128 KiB.
pub const MAX_INLINE_BYTES: usize = 100 * 1024;

/// All that travels in the environment together: macOS takes 1 MiB for the environment and the arguments, Neovim's included.
const MAX_INLINE_TOTAL_BYTES: usize = 256 * 1024;

/// How many words the values of one command may have: each is a shell variable of its own.
pub const MAX_WORDS: usize = 2_000;

/// What a placeholder stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// One word, whatever it holds.
    Word(Vec<u8>),
    /// Several words, like `"$@"`. Where only one can stand (in quotes, in a here-document, in `name=…`, as the target
    /// of a redirection, in `${x:-…}`, `[[ … ]]` and `case`) they are one, joined with spaces, like `"$*"`.
    Words(Vec<Vec<u8>>),
    /// Shell text, put in before the grammar is looked at, even in quotes. Dangerous with anything the model wrote.
    Raw(Vec<u8>),
}

/// A command ready to run: `sh -c -- script` with `variables` in the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// What the shell gets. Without placeholders (and up to [`MAX_INLINE_BYTES`]) it is the text, byte for byte.
    pub script: Vec<u8>,
    /// What the environment of the shell, and only of the shell, has to hold.
    pub variables: Vec<Variable>,
    /// The text with each placeholder replaced by its value, quoted: what the user is asked about and rules judge.
    /// A placeholder in a comment stays as it is.
    pub shown: Vec<u8>,
}

/// A variable of the shell's environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The bytes to carry; no NUL among them.
    pub value: Vec<u8>,
    /// How they travel.
    pub carrier: Carrier,
}

/// How a value reaches the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// The variable holds the value.
    Environment,
    /// The variable holds the path of a file (0600) with exactly the value; the shell reads it before anything else, so
    /// it can be removed when the shell has ended.
    File,
}

/// Why a text can't become a command. Nothing has run then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the variants say what their fields are")]
pub enum CommandError {
    /// The text has a NUL byte.
    #[error("The command contains a NUL byte, which no shell takes: remove it")]
    NulInText,
    /// The value of this placeholder has a NUL byte.
    #[error("The value of ${{{}}} contains a NUL byte, which no shell takes: remove it or pass it in a file", lossy(.name))]
    NulInValue { name: Vec<u8> },
    /// This placeholder stands where a value can't.
    #[error("${{{}}} can't stand {why}", lossy(.name))]
    Misplaced { name: Vec<u8>, why: &'static str },
    /// The shell would compute with the value of this placeholder, and it isn't an integer.
    #[error("${{{}}} stands where the shell computes, so its value must be an integer", lossy(.name))]
    NotAnInteger { name: Vec<u8> },
    /// The lists have too many words.
    #[error("The values of this command have more than {MAX_WORDS} words: pass them in a file")]
    TooManyWords,
    /// Shells disagree about the text at this line (1-based), so that no place is certain.
    #[error("Line {line}: shells disagree on {what}, so ${{…}} can't be replaced safely: write it another way")]
    Unclear { line: usize, what: &'static str },
    /// More than a hundred nested constructs.
    #[error("The command is nested too deeply")]
    TooDeep,
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Where in the shell's grammar a placeholder stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Bare in a command, where a list may be several words.
    Words,
    /// Bare where only one word can stand.
    Word,
    /// In double quotes; `brace`: and there in `${x:-…}`, where a `}` would end it.
    Double { brace: bool },
    /// In the pattern of `"${x#…}"`.
    DoublePattern,
    /// In single quotes.
    Single,
    /// In the body of the here-document with this index.
    Heredoc { body: usize, brace: bool },
    /// In the pattern of a `${x#…}` there.
    HeredocPattern { body: usize },
    /// In `$((…))`.
    Arithmetic,
    /// In something that shells disagree on.
    Nowhere,
}

impl Place {
    fn in_brace(self) -> Self {
        match self {
            Self::Words | Self::Word => Self::Word,
            Self::Double { .. } => Self::Double { brace: true },
            Self::Heredoc { body, .. } => Self::Heredoc { body, brace: true },
            same => same,
        }
    }

    fn in_pattern(self) -> Self {
        match self {
            Self::Words | Self::Word => Self::Word,
            Self::Double { .. } => Self::DoublePattern,
            Self::Heredoc { body, .. } => Self::HeredocPattern { body },
            same => same,
        }
    }

    fn in_quotes(self) -> Self {
        match self {
            Self::Words | Self::Word => Self::Double { brace: false },
            same => same,
        }
    }
}

/// Makes a command of a text and the values of its placeholders.
///
/// A `${name}` whose name `env` has is a placeholder; every other byte of the text is the shell's, `${HOME}`, `${x:-y}`,
/// `\${name}` and `$${name}` (the process id) included. A value never becomes syntax, never is split, and no wildcard in
/// it matches. What a program reads again as shell text (`eval`, the text of an inner `sh -c`, `ssh`, `trap`) is the
/// author's duty: pass the value as an argument there, as in `sh -c 'printf %s "$1"' sh ${name}`.
///
/// # Errors
/// Each variant of [`CommandError`]; a NUL byte counts only in values that are used.
pub fn prepare(text: &[u8], env: &BTreeMap<String, Value>) -> Result<Prepared, CommandError> {
    if text.contains(&0) {
        return Err(CommandError::NulInText);
    }
    let (text, verbatim) = put_raw(text, env)?;
    let is_name = |name: &[u8]| {
        let value = std::str::from_utf8(name).ok().and_then(|name| env.get(name));
        matches!(value, Some(Value::Word(_) | Value::Words(_)))
    };
    let longest = env.keys().map(String::len).max().unwrap_or(0);
    // A text without placeholders is none of our business: whatever it is, the shell gets it.
    if !(0..text.len()).any(|at| placeholder_at(&text, at, longest).is_some_and(|name| is_name(&text[name]))) {
        return Ok(
            Script { text: &text, env, prefix: prefix(&text), words: Vec::new() }.finish(text.clone(), text.clone())
        );
    }
    let posix = lexer::read(&text, &verbatim, longest, &is_name, Reading::Posix)?;
    let bash = lexer::read(&text, &verbatim, longest, &is_name, Reading::Bash)?;
    let mut script = Script { text: &text, env, prefix: prefix(&text), words: Vec::new() };
    let (for_posix, for_bash) = (script.render(&posix)?, script.render(&bash)?);
    if for_posix != for_bash {
        let equal = for_posix.iter().zip(&for_bash).take_while(|(one, other)| one == other).count();
        let line = 1 + for_bash[..equal].iter().filter(|&&byte| byte == b'\n').count();
        return Err(CommandError::Unclear {
            line, what: "the quotes around it (`$'…'`, `$[…]`, or ' in `\"${…}\"`)"
        });
    }
    let shown = script.show(&bash);
    Ok(script.finish(for_bash, shown))
}

/// The text of a command given as a list: its words with a space between them, not quoted, so that it may hold any shell text.
pub fn join(words: &[impl AsRef<[u8]>]) -> Vec<u8> {
    words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(&b' ')
}

/// The text of a command that the model gave as an array: each word stays one word.
pub fn quote_words(words: &[impl AsRef<[u8]>]) -> Vec<u8> {
    words.iter().map(|word| quote(word.as_ref())).collect::<Vec<_>>().join(&b' ')
}

/// A word as shell text; only in quotes when it needs them. It stands for itself anywhere between two spaces.
pub fn quote(word: &[u8]) -> Vec<u8> {
    const KEYWORDS: [&[u8]; 19] = [
        b"case",
        b"coproc",
        b"do",
        b"done",
        b"elif",
        b"else",
        b"esac",
        b"fi",
        b"for",
        b"function",
        b"if",
        b"in",
        b"select",
        b"then",
        b"time",
        b"until",
        b"while",
        b"repeat",
        b"foreach",
    ];
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_@%+:,./-=".contains(byte);
    let is_plain = !word.is_empty() && word.iter().all(plain) && !word.starts_with(b"=");
    if is_plain && lexer::assigned_name(word).is_none() && !KEYWORDS.contains(&word) {
        return word.to_vec();
    }
    single_quoted(word)
}

fn single_quoted(word: &[u8]) -> Vec<u8> {
    [b"'", word.split(|&byte| byte == b'\'').collect::<Vec<_>>().join(b"'\\''".as_slice()).as_slice(), b"'"].concat()
}

/// The name in the `${name}` at `at`, if it has at most `longest` bytes.
fn placeholder_at(text: &[u8], at: usize, longest: usize) -> Option<Range<usize>> {
    let rest = text[at..].strip_prefix(b"${")?;
    let length = rest.iter().take(longest + 1).position(|&byte| byte == b'}')?;
    Some(at + 2..at + 2 + length)
}

/// Puts raw values in, and says where they are. Only a backslash keeps a placeholder from being replaced here.
fn put_raw(text: &[u8], env: &BTreeMap<String, Value>) -> Result<(Vec<u8>, Vec<Range<usize>>), CommandError> {
    let longest = env.keys().map(String::len).max().unwrap_or(0);
    let raw = |name: &[u8]| match std::str::from_utf8(name).ok().and_then(|name| env.get(name)) {
        Some(Value::Raw(value)) => Some(value),
        Some(Value::Word(_) | Value::Words(_)) | None => None,
    };
    let (mut whole, mut verbatim) = (Vec::with_capacity(text.len()), Vec::new());
    let (mut at, mut escaped) = (0, false);
    while at < text.len() {
        if let Some(name) = placeholder_at(text, at, longest).filter(|_| !escaped)
            && let Some(value) = raw(&text[name.clone()])
        {
            if value.contains(&0) {
                return Err(CommandError::NulInValue { name: text[name].to_vec() });
            }
            verbatim.push(whole.len()..whole.len() + value.len());
            whole.extend(value);
            at = name.end + 1;
            continue;
        }
        escaped = text[at] == b'\\' && !escaped;
        whole.push(text[at]);
        at += 1;
    }
    Ok((whole, verbatim))
}

/// A beginning of names that the text can't mean.
fn prefix(text: &[u8]) -> String {
    let mut prefix = "__lathe_".to_owned();
    let mut number = 1;
    while text.windows(prefix.len()).any(|window| window == prefix.as_bytes()) {
        number += 1;
        prefix = format!("__lathe{number}_");
    }
    prefix
}

/// The script in the making.
struct Script<'a> {
    text: &'a [u8],
    env: &'a BTreeMap<String, Value>,
    prefix: String,
    words: Vec<Carried<'a>>,
}

/// A placeholder whose words have variables: its name, their numbers, the words.
type Carried<'a> = (Vec<u8>, Range<usize>, &'a [Vec<u8>]);

impl<'a> Script<'a> {
    fn value(&self, name: &[u8]) -> &'a [Vec<u8>] {
        match std::str::from_utf8(name).ok().and_then(|name| self.env.get(name)) {
            Some(Value::Word(word)) => std::slice::from_ref(word),
            Some(Value::Words(words)) => words,
            Some(Value::Raw(_)) | None => &[],
        }
    }

    /// The numbers of the variables that carry the words of a placeholder.
    fn variables(&mut self, name: &[u8]) -> Result<Range<usize>, CommandError> {
        if let Some((_, range, _)) = self.words.iter().find(|(known, ..)| known == name) {
            return Ok(range.clone());
        }
        let words = self.value(name);
        if words.iter().any(|word| word.contains(&0)) {
            return Err(CommandError::NulInValue { name: name.to_vec() });
        }
        let first = self.words.last().map_or(1, |(_, range, _)| range.end);
        let range = first..first + words.len();
        if range.end > MAX_WORDS + 1 {
            return Err(CommandError::TooManyWords);
        }
        self.words.push((name.to_vec(), range.clone(), words));
        Ok(range)
    }

    /// The text with each placeholder replaced by the expansion that is right in its place.
    fn render(&mut self, found: &Found) -> Result<Vec<u8>, CommandError> {
        let (mut script, mut done) = (Vec::with_capacity(self.text.len()), 0);
        for edit in &found.edits {
            script.extend(&self.text[done..edit.span.start]);
            script.extend(self.expansion(edit)?.into_bytes());
            done = edit.span.end;
        }
        script.extend(&self.text[done..]);
        Ok(script)
    }

    fn expansion(&mut self, edit: &Edit) -> Result<String, CommandError> {
        let words = self.value(&edit.name);
        if edit.number && !matches!(words, [word] if is_integer(word)) {
            return Err(CommandError::NotAnInteger { name: edit.name.clone() });
        }
        let parts: Vec<String> =
            self.variables(&edit.name)?.map(|number| format!("${{{}{number}}}", self.prefix)).collect();
        if parts.is_empty() {
            // No word at all, and yet not nothing: the text around it must not grow together.
            let nothing = format!("${{{}0+}}", self.prefix);
            return Ok(match edit.place {
                Place::Word | Place::DoublePattern | Place::HeredocPattern { .. } => "\"\"".to_owned(),
                Place::Single => format!("'{nothing}'"),
                _ => nothing,
            });
        }
        Ok(match edit.place {
            Place::Words => format!("\"{}\"", parts.join("\" \"")),
            Place::Word | Place::DoublePattern | Place::HeredocPattern { .. } => format!("\"{}\"", parts.join(" ")),
            Place::Single => format!("'\"{}\"'", parts.join(" ")),
            Place::Double { .. } | Place::Heredoc { .. } | Place::Nowhere => parts.join(" "),
            // `5--3` is an error in some shells.
            Place::Arithmetic if words[0].starts_with(b"-") => format!("({})", parts[0]),
            Place::Arithmetic => parts[0].clone(),
        })
    }

    /// Puts what carries the values before the script.
    ///
    /// The environment, because every argument of a process can be read by every user, and because the positional
    /// parameters are the script's. But what the shell finds there it hands on to every program: so each variable is
    /// copied to one that isn't exported, and unset. All on the first line, so that the numbers of the lines stay.
    fn finish(self, script: Vec<u8>, shown: Vec<u8>) -> Prepared {
        let mut prologue = Prologue { prefix: self.prefix, ..Prologue::default() };
        for (_, range, words) in &self.words {
            range.clone().zip(*words).for_each(|(number, word)| prologue.carry(number, word.clone()));
        }
        let number = self.words.last().map_or(1, |(_, range, _)| range.end);
        let script = prologue.put_before(script);
        if script.len() <= MAX_INLINE_BYTES {
            return Prepared { script, variables: prologue.variables, shown };
        }
        // A file keeps every byte; only the shell's messages speak of `eval` then.
        prologue.carry_in_file(number, script);
        let eval = format!("eval \"${{{}{number}}}\"", prologue.prefix).into_bytes();
        Prepared { script: prologue.put_before(eval), variables: prologue.variables, shown }
    }

    /// The text with each placeholder replaced by its value.
    fn show(&self, found: &Found) -> Vec<u8> {
        let (mut shown, mut done) = (Vec::with_capacity(self.text.len()), 0);
        let mut open: Vec<(&Body, usize)> = Vec::new();
        let mut bodies = found.bodies.iter().peekable();
        for edit in &found.edits {
            let mut upto = |shown: &mut Vec<u8>, until: usize| {
                shown.extend(&self.text[done..until]);
                done = until;
            };
            loop {
                let start = bodies.peek().map_or(usize::MAX, |body| body.span.start);
                let end = open.last().map_or(usize::MAX, |(body, _)| body.span.end);
                if start.min(end) > edit.span.start {
                    break;
                }
                upto(&mut shown, start.min(end));
                if end <= start {
                    open.pop().into_iter().for_each(|(body, from)| protect_delimiter(&mut shown, from, body));
                } else {
                    open.extend(bodies.next().map(|body| (body, shown.len())));
                }
            }
            upto(&mut shown, edit.span.start);
            shown.extend(self.shown_value(edit));
            done = edit.span.end;
        }
        while let Some((body, from)) = open.pop() {
            shown.extend(&self.text[done..body.span.end.max(done)]);
            done = body.span.end.max(done);
            protect_delimiter(&mut shown, from, body);
        }
        shown.extend(&self.text[done..]);
        shown
    }

    fn shown_value(&self, edit: &Edit) -> Vec<u8> {
        let words = self.value(&edit.name);
        let joined = join(words);
        let escaped = |special: &[u8]| escape(&joined, special);
        let brace = |inside: bool| if inside { b"\\\"$`}".as_slice() } else { b"\\\"$`" };
        let mut value = match edit.place {
            Place::Words if self.stands_alone(&edit.span) => quote_words(words),
            Place::Words => words.iter().map(|word| single_quoted(word)).collect::<Vec<_>>().join(&b' '),
            Place::Word if self.stands_alone(&edit.span) => quote(&joined),
            Place::Word => single_quoted(&joined),
            Place::Double { brace: inside } => escaped(brace(inside)),
            Place::DoublePattern | Place::HeredocPattern { .. } => {
                [b"\"", escaped(brace(false)).as_slice(), b"\""].concat()
            }
            Place::Single => joined.split(|&byte| byte == b'\'').collect::<Vec<_>>().join(b"'\\''".as_slice()),
            Place::Heredoc { brace: false, .. } => escaped(b"\\$`"),
            Place::Heredoc { brace: true, .. } => escaped(brace(true)),
            Place::Arithmetic if joined.starts_with(b"-") => [b"(", joined.as_slice(), b")"].concat(),
            Place::Arithmetic | Place::Nowhere => joined,
        };
        for _ in 0..edit.backquotes {
            value = escape(&value, b"\\`");
        }
        value
    }

    /// Whether nothing is glued to the placeholder: then a plain value needs no quotes to be the same word.
    fn stands_alone(&self, span: &Range<usize>) -> bool {
        let before = span.start.checked_sub(1).map(|at| self.text[at]);
        let after = self.text.get(span.end);
        before.is_none_or(|byte| b" \t\n;&|(".contains(&byte)) && after.is_none_or(|byte| b" \t\n;&|)".contains(byte))
    }
}

/// The beginning of a script that makes the values variables of the shell.
#[derive(Default)]
struct Prologue {
    prefix: String,
    text: String,
    /// What is to be unset.
    names: Vec<String>,
    inline: usize,
    variables: Vec<Variable>,
}

impl Prologue {
    fn carry(&mut self, number: usize, value: Vec<u8>) {
        // Besides its bytes, a variable costs its name and a pointer.
        let cost = value.len() + 64;
        if value.len() > MAX_INLINE_BYTES || self.inline + cost > MAX_INLINE_TOTAL_BYTES {
            return self.carry_in_file(number, value);
        }
        self.inline += cost;
        let name = format!("{}e{number}", self.prefix);
        self.text += &format!("{}{number}=\"${name}\"; ", self.prefix);
        self.names.push(name.clone());
        self.variables.push(Variable { name, value, carrier: Carrier::Environment });
    }

    fn carry_in_file(&mut self, number: usize, value: Vec<u8>) {
        let (prefix, name) = (&self.prefix, format!("{}e{number}", self.prefix));
        // `$(…)` drops the last newlines, hence the dot, which is a part of no character in any encoding in use. A file
        // that can't be read must not become an empty value.
        self.text += &format!("{prefix}{number}=$(cat \"${name}\" && printf .) || exit 126; ");
        self.text += &format!("{prefix}{number}=${{{prefix}{number}%.}}; ");
        self.names.push(name.clone());
        self.variables.push(Variable { name, value, carrier: Carrier::File });
    }

    /// The script with what was carried since the last time before it.
    fn put_before(&mut self, script: Vec<u8>) -> Vec<u8> {
        let mut whole = std::mem::take(&mut self.text).into_bytes();
        if !self.names.is_empty() {
            whole.extend(format!("unset {}; ", std::mem::take(&mut self.names).join(" ")).into_bytes());
        }
        whole.extend(script);
        whole
    }
}

fn escape(value: &[u8], special: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(value.len());
    for byte in value {
        if special.contains(byte) {
            escaped.push(b'\\');
        }
        escaped.push(*byte);
    }
    escaped
}

/// A line of a value must not end the here-document that is shown, or the rest of it would be judged as commands: such a
/// line gets a backslash.
fn protect_delimiter(shown: &mut Vec<u8>, from: usize, body: &Body) {
    let lines = shown.split_off(from);
    for (index, line) in lines.split(|&byte| byte == b'\n').enumerate() {
        if index > 0 {
            shown.push(b'\n');
        }
        let tabs = if body.strip_tabs { line.iter().take_while(|&&byte| byte == b'\t').count() } else { 0 };
        shown.extend(&line[..tabs]);
        if line[tabs..] == body.delimiter {
            shown.push(b'\\');
        }
        shown.extend(&line[tabs..]);
    }
}

fn is_integer(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").or_else(|| word.strip_prefix(b"+")).unwrap_or(word);
    match digits.strip_prefix(b"0x").or_else(|| digits.strip_prefix(b"0X")) {
        Some(hex) => !hex.is_empty() && hex.iter().all(u8::is_ascii_hexdigit),
        None => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
    }
}
