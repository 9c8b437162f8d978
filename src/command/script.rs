//! Writes the script and what is shown of it, from the places that the lexer found.

use std::collections::BTreeMap;
use std::ops::Range;

use super::lexer::{Body, Edit, Found};
use super::quote::{escape, join, quote, quote_words, single_quoted};
use super::{
    Carrier, CommandError, MAX_INLINE_BYTES, MAX_INLINE_TOTAL_BYTES, MAX_WORDS, Place, Prepared, Value, Variable,
};

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
pub(super) struct Script<'a> {
    text: &'a [u8],
    env: &'a BTreeMap<String, Value>,
    prefix: String,
    carried: Vec<Carried<'a>>,
}

/// The words of a placeholder that is used.
struct Carried<'a> {
    name: Vec<u8>,
    /// The numbers of their variables.
    numbers: Range<usize>,
    words: &'a [Vec<u8>],
}

impl<'a> Script<'a> {
    pub(super) fn new(text: &'a [u8], env: &'a BTreeMap<String, Value>) -> Self {
        Self { text, env, prefix: prefix(text), carried: Vec::new() }
    }

    fn value(&self, name: &[u8]) -> &'a [Vec<u8>] {
        match std::str::from_utf8(name).ok().and_then(|name| self.env.get(name)) {
            Some(Value::Word(word)) => std::slice::from_ref(word),
            Some(Value::Words(words)) => words,
            Some(Value::Raw(_)) | None => &[],
        }
    }

    /// The numbers of the variables that carry the words of a placeholder.
    fn variables(&mut self, name: &[u8]) -> Result<Range<usize>, CommandError> {
        if let Some(carried) = self.carried.iter().find(|carried| carried.name == name) {
            return Ok(carried.numbers.clone());
        }
        let words = self.value(name);
        if words.iter().any(|word| word.contains(&0)) {
            return Err(CommandError::NulInValue { name: name.to_vec() });
        }
        let numbers = self.next_number()..self.next_number() + words.len();
        if numbers.end > MAX_WORDS + 1 {
            return Err(CommandError::TooManyWords);
        }
        self.carried.push(Carried { name: name.to_vec(), numbers: numbers.clone(), words });
        Ok(numbers)
    }

    fn next_number(&self) -> usize {
        self.carried.last().map_or(1, |carried| carried.numbers.end)
    }

    /// The text with each placeholder replaced by the expansion that is right in its place.
    pub(super) fn render(&mut self, found: &Found) -> Result<Vec<u8>, CommandError> {
        let (mut script, mut done) = (Vec::with_capacity(self.text.len()), 0);
        for (index, edit) in found.edits.iter().enumerate() {
            script.extend(&self.text[done..edit.span.start]);
            done = edit.span.end;
            let expansion = self.expansion(edit)?.into_bytes();
            if edit.place != Place::Single {
                script.extend(expansion);
                continue;
            }
            // `'a${v}'` becomes `'a'"${v}"`. A quote that would leave an empty '' is taken away, not closed or opened
            // again: bash loses count of those in some places.
            let follows = |previous: &Edit| previous.place == Place::Single && previous.span.end == edit.span.start;
            if !index.checked_sub(1).is_some_and(|previous| follows(&found.edits[previous])) {
                if script.last() == Some(&b'\'') {
                    script.pop();
                } else {
                    script.push(b'\'');
                }
            }
            script.extend(expansion);
            if self.text.get(done) == Some(&b'\'') {
                done += 1;
            } else if found.edits.get(index + 1).is_none_or(|next| next.span.start != done) {
                script.push(b'\'');
            }
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
                Place::Word | Place::DoublePattern | Place::Single => "\"\"".to_owned(),
                _ => nothing,
            });
        }
        Ok(match edit.place {
            Place::Words => format!("\"{}\"", parts.join("\" \"")),
            Place::Word | Place::DoublePattern | Place::Single => format!("\"{}\"", parts.join(" ")),
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
    /// copied, unset and set again, which leaves it private to the shell. All on the first line, so that the numbers of
    /// the lines stay. Should that line be lost (bash goes on after some syntax errors), the values are there all the
    /// same: an empty one would make `rm -r /${name}` something else.
    pub(super) fn finish(self, script: Vec<u8>, shown: Vec<u8>) -> Prepared {
        let number = self.next_number();
        let mut prologue = Prologue { prefix: self.prefix, ..Prologue::default() };
        for Carried { numbers, words, .. } in &self.carried {
            numbers.clone().zip(*words).for_each(|(number, word)| prologue.carry(number, word.clone()));
        }
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
    pub(super) fn show(&self, found: &Found) -> Vec<u8> {
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
        let quoted = || [b"\"", escaped(b"\\\"$`").as_slice(), b"\""].concat();
        let mut value = match edit.place {
            Place::Words if self.stands_alone(&edit.span) => quote_words(words),
            Place::Words => words.iter().map(|word| single_quoted(word)).collect::<Vec<_>>().join(&b' '),
            Place::Word if self.stands_alone(&edit.span) => quote(&joined),
            Place::Word => single_quoted(&joined),
            Place::Double { brace: false } => escaped(b"\\\"$`"),
            // A `}` or ' of the value is safe only in quotes of its own.
            Place::Double { brace: true } | Place::Heredoc { brace: true, .. } => quoted(),
            Place::DoublePattern => quoted(),
            Place::Single => joined.split(|&byte| byte == b'\'').collect::<Vec<_>>().join(b"'\\''".as_slice()),
            Place::Heredoc { brace: false, .. } => escaped(b"\\$`"),
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
        self.add(number, value, Carrier::Environment, "=\"$", "\"; ", "");
    }

    fn carry_in_file(&mut self, number: usize, value: Vec<u8>) {
        // `$(…)` drops the last newlines, hence the dot, which is a part of no character in any encoding in use. A file
        // that can't be read must not become an empty value.
        self.add(number, value, Carrier::File, "=$(cat \"$", "\" && printf .) || exit 126; ", "%.");
    }

    fn add(&mut self, number: usize, value: Vec<u8>, carrier: Carrier, before: &str, after: &str, without: &str) {
        let (name, copy) = (format!("{}{number}", self.prefix), format!("{}0", self.prefix));
        self.text += &format!("{copy}{before}{name}{after}unset {name}; {name}=\"${{{copy}{without}}}\"; ");
        self.variables.push(Variable { name, value, carrier });
    }

    /// The script with what was carried since the last time before it.
    fn put_before(&mut self, script: Vec<u8>) -> Vec<u8> {
        let mut whole = std::mem::take(&mut self.text).into_bytes();
        if !whole.is_empty() {
            whole.extend(format!("unset {}0; ", self.prefix).into_bytes());
        }
        whole.extend(script);
        whole
    }
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
