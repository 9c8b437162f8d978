//! What variables may hold, as far as a shell text says so itself, and words with that in place of the variables.

use std::collections::HashMap;
use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::printed::Printed;
use super::read;
use super::tree::raw;
use super::word::{Found, Hole, Kind, Piece, Word};

/// What the variables of a text may hold.
#[derive(Debug, Default)]
pub struct Values {
    assigned: HashMap<String, Vec<Assigned>>,
    /// Something in the text may set any variable.
    is_untold: bool,
    /// The text has functions, so a program's name may be one of them.
    has_functions: bool,
    /// The text around this one may set `HOME`.
    home_is_set: bool,
}

/// One place where a variable is set.
#[derive(Debug)]
struct Assigned {
    /// To what; none: that cannot be told.
    word: Option<Word>,
    /// Whether wildcards in it were replaced by names already: those of a `for`.
    is_list: bool,
    /// Where it stands.
    at: usize,
    /// Where it was set for sure.
    region: Option<Range<usize>>,
}

/// What is taken for the value of each variable; none: it cannot be told.
pub type Picks = HashMap<String, Option<Word>>;

/// More values of one variable, and more ways to combine those of several, are not looked at one by one.
const MAX_VALUES: usize = 16;

/// How deep a variable may stand in the value of another.
const MAX_DEPTH: usize = 4;

/// Builtins whose words name variables.
pub const ASSIGNING: &[&str] = &[
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "printf",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "let",
    "wait",
];

impl Values {
    /// Reads them from a text; `outer` are those of the text around it.
    pub fn read(tree: &Tree, text: &str, outer: Option<&Self>) -> Self {
        let mut values = Self { home_is_set: outer.is_some_and(|outer| !outer.knows_home()), ..Self::default() };
        let mut cursor = tree.walk();
        let mut ancestors: Vec<Node> = Vec::new();
        loop {
            let node = cursor.node();
            values.visit(node, &ancestors, text);
            if cursor.goto_first_child() {
                ancestors.push(node);
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return values;
                }
                ancestors.pop();
            }
        }
    }

    /// Whether the text leaves the variable `HOME` alone.
    pub fn knows_home(&self) -> bool {
        !self.home_is_set && !self.is_untold && !self.assigned.contains_key("HOME")
    }

    /// Whether a program's name means that program, and no function.
    pub fn knows_programs(&self) -> bool {
        !self.has_functions
    }

    fn knows_here(&self) -> bool {
        !self.is_untold && !self.assigned.contains_key("PWD")
    }

    fn add(&mut self, name: &str, word: Option<Word>, at: usize, region: Option<Range<usize>>) {
        self.assigned.entry(name.to_owned()).or_default().push(Assigned { word, is_list: false, at, region });
    }

    fn visit(&mut self, node: Node, ancestors: &[Node], text: &str) {
        let at = node.start_byte();
        match node.kind() {
            "variable_assignment" => self.assignment(node, ancestors, text),
            "for_statement" => self.for_statement(node, text),
            "function_definition" => self.has_functions = true,
            "command" => self.command(node, ancestors, text),
            "declaration_command" | "unset_command" => {
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    match child.kind() {
                        "variable_name" if node.kind() == "unset_command" => {
                            self.add(raw(child, text), Some(Word::default()), at, None);
                        }
                        "variable_assignment" | "variable_name" => {}
                        _ => self.name(&read::word(child, text), at),
                    }
                }
            }
            "expansion" => {
                let inside = raw(node, text).trim_start_matches("${");
                let end = inside.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                if let Some((name, rest)) = end.map(|end| inside.split_at(end))
                    && (rest.starts_with('=') || rest.starts_with(":="))
                {
                    self.add(name, None, at, None);
                }
            }
            "arithmetic_expansion" | "c_style_for_statement" | "compound_statement" => {
                let written = raw(node, text);
                let head = match node.kind() {
                    "c_style_for_statement" => &written[..written.find("))").unwrap_or(written.len())],
                    "compound_statement" if !written.starts_with("((") => return,
                    _ => written,
                };
                if head.contains('=') || head.contains("++") || head.contains("--") {
                    for name in names(head) {
                        self.add(name, Some(Word::hole(Kind::Number, true, "…")), at, None);
                    }
                }
            }
            _ => {}
        }
    }

    fn assignment(&mut self, node: Node, ancestors: &[Node], text: &str) {
        let Some(name) = node.child_by_field_name("name") else { return };
        let written = raw(node, text);
        let plain = name.kind() == "variable_name" && !written[name.end_byte() - node.start_byte()..].starts_with('+');
        let word = match node.child_by_field_name("value") {
            None if plain => Some(Word::default()),
            Some(value) if plain && value.kind() != "array" => {
                let in_loop_head = ancestors.last().is_some_and(|parent| parent.kind() == "c_style_for_statement");
                let read = read::word(value, text);
                // In the head of a `for ((…))` it is an expression.
                Some(if in_loop_head && read.as_literal().is_none() {
                    Word::hole(Kind::Number, true, "…")
                } else {
                    read
                })
            }
            _ => None,
        };
        let name = if name.kind() == "variable_name" { name } else { name.child(0).unwrap_or(name) };
        let statement = match ancestors.last().map(|parent| parent.kind()) {
            Some("command" | "c_style_for_statement") => None,
            Some("declaration_command" | "variable_assignments") => Some(&ancestors[..ancestors.len() - 1]),
            _ => Some(ancestors),
        };
        let own =
            ancestors.last().filter(|_| statement.is_some_and(|above| above.len() < ancestors.len())).unwrap_or(&node);
        let region = statement.and_then(|above| region(*own, above));
        self.add(raw(name, text), word.map(as_assigned), node.start_byte(), region);
    }

    fn for_statement(&mut self, node: Node, text: &str) {
        let Some(name) = node.child_by_field_name("variable") else { return };
        let body = node.child_by_field_name("body").map(|body| body.byte_range());
        let mut cursor = node.walk();
        let words: Vec<Word> =
            node.children_by_field_name("value", &mut cursor).map(|word| read::word(word, text)).collect();
        let name = raw(name, text).to_owned();
        let assigned = self.assigned.entry(name).or_default();
        let at = node.start_byte();
        if raw(node, text).starts_with("select") || words.is_empty() {
            return assigned.push(Assigned { word: None, is_list: true, at, region: None });
        }
        for word in words {
            // The words of a list are values one by one.
            let one_by_one = match &word.pieces[..] {
                [Piece::Hole(Hole { kind: Kind::Numbers, .. })] => vec![Word::hole(Kind::Number, true, "…")],
                [Piece::Choices { words, .. }] => words.clone(),
                _ => vec![word],
            };
            for word in one_by_one {
                assigned.push(Assigned { word: Some(word), is_list: true, at, region: body.clone() });
            }
        }
    }

    /// Builtins that set variables which their words name.
    fn command(&mut self, node: Node, ancestors: &[Node], text: &str) {
        let mut cursor = node.walk();
        let mut words = Vec::new();
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "command_name" => words.push(read::word(child.child(0).unwrap_or(child), text)),
                "variable_assignment" | "file_redirect" | "herestring_redirect" | "comment" => {}
                _ => words.push(read::word(child, text)),
            }
        }
        let is_before = |word: &Word| {
            word.as_literal()
                .is_some_and(|word| matches!(word.as_str(), "command" | "builtin" | "exec" | "time" | "--" | "-p"))
        };
        let first = words.iter().position(|word| !is_before(word)).unwrap_or(words.len());
        let Some(program) = words.get(first).and_then(Word::as_literal) else { return };
        let arguments = &words[first + 1..];
        if matches!(program.as_str(), "eval" | "." | "source" | "trap" | "alias" | "enable") {
            self.is_untold = true;
        }
        if !ASSIGNING.contains(&program.as_str()) {
            return;
        }
        let at = node.start_byte();
        let is_option = |word: &&Word| word.start().starts_with('-');
        match program.as_str() {
            "printf" if !arguments.first().is_some_and(|word| word.may_be_option() && word.shown() != "--") => return,
            "wait" if !arguments.iter().any(|word| word.may_be_option()) => return,
            "read" => {
                let is_plain = |word: &Word| matches!(word.shown().as_str(), "-r" | "-d" | "" | "-rd" | "-d''");
                let names: Vec<_> = arguments.iter().filter(|word| !is_plain(word)).collect();
                let is_redirected = node.child_by_field_name("redirect").is_some();
                let words = piped(node, ancestors, text).filter(|_| !is_redirected && !self.has_functions);
                match (&names[..], words) {
                    ([name], Some(words))
                        if !is_option(name) && name.as_literal().is_some_and(|name| read::is_name(&name)) =>
                    {
                        let body = ancestors.iter().rev().find(|node| node.kind() == "while_statement");
                        let region = body.map(|body| node.end_byte()..body.end_byte());
                        let values = self.assigned.entry(name.shown()).or_default();
                        let value = |word| Assigned { word: Some(word), is_list: true, at, region: region.clone() };
                        values.extend(words.into_iter().map(value));
                    }
                    _ => names.iter().for_each(|word| self.name(word, at)),
                }
            }
            // What is no number in it is not told anyway.
            "let" => {
                for word in arguments {
                    let shown = word.shown();
                    for name in names(&shown) {
                        self.add(name, Some(Word::hole(Kind::Number, true, "…")), at, None);
                    }
                }
            }
            _ => arguments.iter().for_each(|word| self.name(word, at)),
        }
        for name in ["REPLY", "MAPFILE", "OPTARG", "OPTIND"] {
            self.add(name, None, at, None);
        }
    }

    /// A word that names a variable, perhaps with its value.
    fn name(&mut self, word: &Word, at: usize) {
        match word.as_literal() {
            Some(text) if text.starts_with('-') => self.is_untold |= is_reference(&text),
            Some(text) => {
                let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
                self.add(&text[..end.unwrap_or(text.len())], None, at, None);
            }
            None => {
                let start = word.start();
                match start.split_once('=') {
                    Some((name, _)) => self.add(name.trim_end_matches('+'), None, at, None),
                    None => self.is_untold = true,
                }
            }
        }
    }

    /// What a variable may hold at a place of the text. None: anything.
    fn lookup(&self, name: &str, at: usize, depth: usize) -> Option<Vec<Word>> {
        let assigned = self.assigned.get(name).filter(|_| !self.is_untold && depth < MAX_DEPTH)?;
        let is_set = |one: &Assigned| one.region.as_ref().is_some_and(|region| region.contains(&at));
        if !assigned.iter().any(is_set) {
            return None;
        }
        let mut values = Vec::new();
        for one in assigned {
            let word = one.word.as_ref()?;
            for words in self.resolutions(std::slice::from_ref(word), one.at, depth + 1)? {
                let resolved =
                    if one.is_list { words.into_iter().map(as_found).collect() } else { vec![joined(words)] };
                for value in resolved {
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                if values.len() > MAX_VALUES {
                    return None;
                }
            }
        }
        Some(values)
    }

    /// Words with the values of their variables, once for each way to choose these. None: too many ways.
    fn resolutions(&self, words: &[Word], at: usize, depth: usize) -> Option<Vec<Vec<Word>>> {
        let picks = self.picks(words, at, depth);
        (picks.len() <= MAX_VALUES).then(|| picks.iter().map(|picks| self.resolve(words, picks)).collect())
    }

    /// The ways to choose a value for each variable of some words.
    pub fn choices(&self, words: &[Word], at: usize) -> Vec<Picks> {
        self.picks(words, at, 0)
    }

    fn picks(&self, words: &[Word], at: usize, depth: usize) -> Vec<Picks> {
        let mut all = vec![Picks::new()];
        let names = words.iter().flat_map(|word| &word.pieces).filter_map(|piece| match piece {
            Piece::Variable { name, .. } => Some(name),
            _ => None,
        });
        for name in names {
            if all[0].contains_key(name) {
                continue;
            }
            let values = self.lookup(name, at, depth).filter(|values| values.len() * all.len() <= MAX_VALUES);
            let values = values.map_or_else(|| vec![None], |values| values.into_iter().map(Some).collect());
            let with = |picks: &Picks, value: &Option<Word>| {
                let mut picks = picks.clone();
                picks.insert(name.clone(), value.clone());
                picks
            };
            all = all.iter().flat_map(|picks| values.iter().map(move |value| with(picks, value))).collect();
        }
        all
    }

    /// Words with the values in place of their variables; one word may become several, or none.
    pub fn resolve(&self, words: &[Word], picks: &Picks) -> Vec<Word> {
        let mut fields = Fields::default();
        for word in words {
            for piece in &word.pieces {
                match piece {
                    Piece::Variable { name, is_quoted, written } => match (name.as_str(), picks.get(name)) {
                        ("HOME", _) if self.knows_home() => fields.push(Piece::Home(written.clone())),
                        ("PWD", _) if self.knows_here() => fields.push(Piece::Here(written.clone())),
                        (_, Some(Some(value))) => fields.value(value, *is_quoted),
                        _ => fields.push(hole(*is_quoted, written)),
                    },
                    Piece::Home(written) if !self.knows_home() => fields.push(hole(true, written)),
                    piece if self.has_functions && is_of_program(piece) => {
                        let is_quoted =
                            !matches!(piece, Piece::Choices { .. } | Piece::Hole(Hole { is_quoted: false, .. }));
                        fields.push(hole(is_quoted, piece.shown()));
                    }
                    piece => fields.push(piece.clone()),
                }
            }
            fields.end_word(word.pieces.is_empty());
        }
        fields.words
    }

    /// Whether the text itself sets a variable, and to nothing but numbers.
    pub fn is_set_to_numbers(&self, name: &str) -> bool {
        self.assigned.contains_key(name) && self.is_number(name)
    }

    /// Whether a variable holds a number, and nothing that an expression might evaluate.
    pub fn is_number(&self, name: &str) -> bool {
        if self.is_untold {
            return false;
        }
        let Some(assigned) = self.assigned.get(name) else { return true };
        assigned.iter().all(|one| {
            let words = one.word.as_ref().and_then(|word| self.resolutions(std::slice::from_ref(word), one.at, 1));
            words.is_some_and(|ways| ways.iter().flatten().all(is_number))
        })
    }
}

/// The names in an expression.
fn names(expression: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    expression.split(move |letter| !is_part(letter)).filter(|name| read::is_name(name))
}

fn is_number(word: &Word) -> bool {
    word.pieces.iter().all(|piece| match piece {
        Piece::Text(text) | Piece::Held(text) => text.chars().all(|letter| letter.is_ascii_digit() || letter == '-'),
        Piece::Hole(hole) => matches!(hole.kind, Kind::Number),
        _ => false,
    })
}

/// Whether an option makes names of variables mean other variables, or values mean expressions.
pub fn is_reference(option: &str) -> bool {
    !option.starts_with("--") && option.contains(['n', 'i'])
}

/// Whether a piece is taken for what a program of that name prints.
fn is_of_program(piece: &Piece) -> bool {
    let written = piece.shown();
    matches!(piece, Piece::Here(_) | Piece::Choices { .. } | Piece::Hole(_))
        && ((written.starts_with("$(") && !written.starts_with("$((")) || written.starts_with('`'))
}

fn hole(is_quoted: bool, written: &str) -> Piece {
    Piece::Hole(Hole { kind: Kind::Any, is_quoted, written: written.to_owned() })
}

/// In an assignment, wildcards wait for the place where the value is used, and braces are text.
fn as_assigned(word: Word) -> Word {
    let text = |piece| match piece {
        Piece::Choices { written, may_vanish: false, .. } => Piece::Text(written),
        Piece::Choices { written, .. } => hole(false, &written),
        piece => piece,
    };
    Word { pieces: word.pieces.into_iter().map(text).collect() }
}

/// In a list, wildcards are replaced by what they find, one by one.
fn as_found(word: Word) -> Word {
    let found = |piece| match piece {
        Piece::Wild(wild, Found::Here) => Piece::Wild(wild, Found::Before),
        piece => piece,
    };
    Word { pieces: word.pieces.into_iter().map(found).collect() }
}

fn joined(words: Vec<Word>) -> Word {
    let mut words = words.into_iter();
    let mut all = words.next().unwrap_or_default();
    for word in words {
        all.pieces.push(Piece::Text(" ".to_owned()));
        all.pieces.extend(word.pieces);
    }
    all
}

/// Where in the text a statement was run for sure, as far as its place in the lists and blocks around it tells.
fn region(statement: Node, above: &[Node]) -> Option<Range<usize>> {
    let start = statement.end_byte();
    let mut own = statement;
    let mut end = None;
    for parent in above.iter().rev() {
        let is_first = parent.named_child(0).is_some_and(|first| first.id() == own.id());
        let and = || parent.child(1).is_some_and(|sign| sign.kind() == "&&");
        match parent.kind() {
            "list" if is_first && end.is_none() => own = *parent,
            // `a && own && b`: where the next one runs, this one did.
            "list" if and() && (is_first || end.is_none()) => {
                end = Some(parent.end_byte());
                own = *parent;
            }
            "program"
            | "compound_statement"
            | "do_group"
            | "subshell"
            | "command_substitution"
            | "case_item"
            | "else_clause"
            | "process_substitution"
                if end.is_none() =>
            {
                let is_in_background = own.next_sibling().is_some_and(|next| next.kind() == "&");
                return (!is_in_background).then(|| start..parent.end_byte());
            }
            _ => break,
        }
    }
    end.map(|end| start..end)
}

/// The words that are read from what stands before in a pipeline, one by one.
pub fn piped(node: Node, ancestors: &[Node], text: &str) -> Option<Vec<Word>> {
    let mut own = node;
    for parent in ancestors.iter().rev() {
        match parent.kind() {
            "pipeline" => {
                let mut cursor = parent.walk();
                let before = parent.named_children(&mut cursor).take_while(|stage| stage.id() != own.id());
                let before: Vec<_> = before.filter(|stage| stage.kind() != "comment").collect();
                return match read::prints_of(&before, text) {
                    Printed::Names(words) => Some(words),
                    _ => None,
                };
            }
            // Only the first thing that a loop runs is sure to read what comes from outside.
            "while_statement" | "list" | "negated_command" => own = *parent,
            _ => return None,
        }
    }
    None
}

/// Words while values are put in their place.
#[derive(Default)]
struct Fields {
    words: Vec<Word>,
    pieces: Option<Vec<Piece>>,
}

impl Fields {
    fn push(&mut self, piece: Piece) {
        let pieces = self.pieces.get_or_insert_default();
        match (pieces.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(text)) | (Some(Piece::Held(last)), Piece::Held(text)) => {
                last.push_str(&text);
            }
            (_, piece) => pieces.push(piece),
        }
    }

    fn end_word(&mut self, is_empty: bool) {
        match self.pieces.take() {
            Some(pieces) => self.words.push(Word { pieces }),
            None if is_empty => self.words.push(Word::default()),
            None => {}
        }
    }

    /// Puts a value in its place.
    fn value(&mut self, value: &Word, is_quoted: bool) {
        if is_quoted {
            self.push(Piece::Held(String::new()));
        }
        for piece in &value.pieces {
            match piece {
                Piece::Text(text) | Piece::Held(text) if !is_quoted => self.split(text),
                Piece::Text(text) | Piece::Held(text) => self.push(Piece::Held(text.clone())),
                Piece::Hole(inner) => self.push(Piece::Hole(Hole { is_quoted, ..inner.clone() })),
                Piece::Wild(wild, Found::Here) if is_quoted => self.push(Piece::Held(wild.clone())),
                Piece::Wild(wild, Found::Before) if !is_quoted => {
                    self.push(Piece::Wild(wild.clone(), Found::BeforeAndSplit));
                }
                Piece::Choices { written, .. } if is_quoted => self.push(hole(true, written)),
                piece => self.push(piece.clone()),
            }
        }
    }

    /// Text that is used without quotes: blanks end words, and wildcards count.
    fn split(&mut self, text: &str) {
        if text.contains('\\') {
            return self.push(hole(false, text));
        }
        for (at, field) in text.split([' ', '\t', '\n']).enumerate() {
            if at > 0 {
                self.end_word(false);
            }
            if !field.is_empty() {
                for piece in read::wildcards(field) {
                    self.push(match piece {
                        Piece::Text(text) => Piece::Held(text),
                        piece => piece,
                    });
                }
            }
        }
    }
}
