//! Walks over the syntax tree of a shell text and adds what it would run, write and touch.

use tree_sitter::{Node, Tree};

use super::parts::{Command, Parts};
use super::run::{Nested, Runner, Site, deciding, is_file_test, is_free};
use super::tree::{descendants, is_live, quotes_substitution, raw, runs_inside, unescape_backquoted};
use super::values::{self, Values};
use super::word::{PathText, Piece, Word};
use super::{evaluated, read};
use crate::gate::unknown::Unknown;
use crate::gate::value::Value;

/// Adds the parts of a text. None: it cannot be understood. Texts that other shells run are left for later.
pub fn walk(parts: &mut Parts, tree: &Tree, text: &str, values: &Values) -> Option<Vec<Nested>> {
    let mut walker = Walker { text, values, parts, nested: Vec::new() };
    let mut cursor = tree.walk();
    let mut ancestors: Vec<Node> = Vec::new();
    loop {
        let node = cursor.node();
        walker.visit(node, &ancestors)?;
        if cursor.goto_first_child() {
            ancestors.push(node);
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(walker.nested);
            }
            ancestors.pop();
        }
    }
}

struct Walker<'a> {
    text: &'a str,
    values: &'a Values,
    parts: &'a mut Parts,
    nested: Vec<Nested>,
}

impl<'a> Walker<'a> {
    fn raw(&self, node: Node) -> &'a str {
        raw(node, self.text)
    }

    fn visit(&mut self, node: Node, ancestors: &[Node]) -> Option<()> {
        let parent = ancestors.last().map_or("", |parent| parent.kind());
        match node.kind() {
            "command" => self.command(node, ancestors),
            "declaration_command" | "unset_command" => self.declaration(node, ancestors),
            "test_command" => self.test(node),
            "variable_assignment" if !matches!(parent, "command" | "declaration_command" | "variable_assignments") => {
                self.assignment(node, node);
            }
            "variable_assignments" => {
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor) {
                    self.assignment(child, node);
                }
            }
            "for_statement" => {
                let name = node.child_by_field_name("variable").map_or("", |name| self.raw(name));
                if super::variables::decides(name, None) {
                    let head = self.raw(node).lines().next().unwrap_or_default();
                    self.doubtful(head, Unknown::Variable(name.to_owned()));
                }
            }
            "compound_statement" if self.raw(node).starts_with("((") => self.arithmetic(node),
            // Where shells end these at different places, what is behind may be a command to one of them.
            "ansi_c_string" if self.raw(node).contains("\\'") => return None,
            "expansion" if self.raw(node).contains('\'') && is_quoted(ancestors) => return None,
            "arithmetic_expansion" if !matches!(self.raw(node).as_bytes(), [.., b')', b')'] | [.., b']']) => {
                return None;
            }
            "redirected_statement" => return self.statement(node, ancestors),
            "file_redirect" => {
                let target = node.child_by_field_name("destination").unwrap_or(node);
                let rest = self.text.get(target.end_byte()..).unwrap_or_default();
                if self.raw(node).starts_with("&>") && !ends_command(rest) {
                    return None; // to some shells it is `&` and a redirection of the next command
                }
                self.redirect(node);
            }
            // What the grammar leaves as text, and a shell does not.
            _ if node.child_count() == 0 && is_live(node, ancestors, self.text) && runs_inside(self.raw(node)) => {
                return None;
            }
            "command_substitution" => return self.substitution(node),
            _ => {}
        }
        if !matches!(node.kind(), "compound_statement" | "test_command")
            && let Some(doubt) = evaluated::doubt(node, self.text, self.values)
        {
            self.doubtful(self.raw(node), doubt);
        }
        Some(())
    }

    fn doubtful(&mut self, written: &str, doubt: Unknown) {
        self.parts.commands.push(Command { doubt: Some(doubt), ..Command::plain(written) });
    }

    /// A part that runs nothing by itself: as it is written, and with holes.
    fn plain(&self, node: Node, ancestors: &[Node]) -> Command {
        let written = self.written(node, ancestors);
        let value = holed(node, self.text);
        let is_told = value.known().is_some();
        let value = (!is_told).then_some(value);
        Command { is_told, value, ..Command::plain(written) }
    }

    fn substitution(&mut self, node: Node) -> Option<()> {
        let written = self.raw(node);
        let inside = written.trim_matches('`');
        // The grammar takes two of these on lines of their own for one.
        if written.starts_with('`') && inside.contains('`') && runs_inside(inside) {
            return None;
        }
        // Backquotes inside of backquotes are escaped, which the grammar takes for text.
        if let Some(inner) = written.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'))
            && inner.contains('\\')
        {
            self.nested.push(Nested { text: unescape_backquoted(inner), command: None });
        }
        Some(())
    }

    /// `((…))`: to shells that do not know it, a subshell in a subshell.
    fn arithmetic(&mut self, node: Node) {
        let written = self.raw(node);
        let doubt = evaluated::doubt(node, self.text, self.values);
        let command = self.parts.commands.len();
        self.parts.commands.push(Command { doubt, ..self.plain(node, &[]) });
        let inside = written.trim_start_matches("((").trim_end_matches("))");
        if inside.contains(|letter: char| letter.is_alphabetic()) {
            self.nested.push(Nested { text: inside.to_owned(), command: Some(command) });
        }
    }

    /// An assignment. In a quoted value a substitution is text, but where the value is used, a shell may evaluate it.
    fn assignment(&mut self, node: Node, statement: Node) {
        let doubt = self.assignment_doubt(node);
        let written = self.raw(statement);
        if let Some(last) =
            self.parts.commands.last_mut().filter(|last| last.written == written && node.id() != statement.id())
        {
            last.doubt = last.doubt.take().or(doubt);
            return;
        }
        let plain = self.plain(statement, &[]);
        self.parts.commands.push(Command { doubt, ..plain });
    }

    fn assignment_doubt(&self, node: Node) -> Option<Unknown> {
        if quotes_substitution(node, self.text) {
            return Some(Unknown::Evaluated(self.raw(node).to_owned()));
        }
        let name = deciding(&self.assigned(node))?;
        Some(Unknown::Variable(name.to_owned()))
    }

    /// An assignment as one word.
    fn assigned(&self, node: Node) -> Word {
        let value = node.child_by_field_name("value");
        let name = value.map_or(node.end_byte(), |value| value.start_byte());
        let name = self.text.get(node.start_byte()..name).unwrap_or_default();
        let value = value.map(|value| read::word(value, self.text)).unwrap_or_default();
        Word { pieces: [Piece::Text(name.to_owned())].into_iter().chain(value.pieces).collect() }.merged()
    }

    fn declaration(&mut self, node: Node, ancestors: &[Node]) {
        let keyword = self.raw(node).split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
        let mut words = vec![Word::literal(keyword)];
        let mut cursor = node.walk();
        let mut doubt = None;
        for child in node.named_children(&mut cursor) {
            match child.kind() {
                "comment" => {}
                "variable_assignment" => {
                    doubt = doubt.or(self.assignment_doubt(child));
                    words.push(self.assigned(child));
                }
                _ => words.push(read::word(child, self.text)),
            }
        }
        self.judge(node, ancestors, &words, doubt);
    }

    /// The condition of an `if`: files are looked at, and in some of them expressions are evaluated.
    fn test(&mut self, node: Node) {
        let written = self.raw(node);
        let mut doubt = evaluated::doubt(node, self.text, self.values);
        // In `[`, what the grammar takes for a comparison is a redirection.
        let is_redirected = !written.starts_with("[[") && written.contains(['<', '>']);
        if is_redirected || quotes_substitution(node, self.text) {
            doubt = Some(Unknown::Evaluated(written.to_owned()));
        }
        let text = self.text;
        let is_operator = |part: &Node| part.kind() == "test_operator" && is_file_test(raw(*part, text));
        for operator in descendants(node).filter(is_operator).collect::<Vec<_>>() {
            let Some(parent) = operator.parent() else { continue };
            let fields = ["left", "right"].map(|side| parent.child_by_field_name(side));
            let last = parent.named_child(parent.named_child_count().saturating_sub(1) as u32);
            for side in fields.into_iter().flatten().chain(last).filter(|side| side.id() != operator.id()) {
                self.paths(&read::word(side, text), node.start_byte(), false);
            }
        }
        let plain = self.plain(node, &[]);
        self.parts.commands.push(Command { doubt, ..plain });
    }

    fn paths(&mut self, word: &Word, at: usize, is_write: bool) {
        let words = std::slice::from_ref(word);
        for picks in self.values.choices(words, at) {
            let mut runner = Runner::new(self.parts, self.values);
            self.values.resolve(words, &picks).iter().for_each(|word| runner.path(word, is_write, false));
        }
    }

    /// A command as it is written, with its redirections, when it has some.
    fn written(&self, node: Node, ancestors: &[Node]) -> &'a str {
        let end = redirected(node, ancestors).last().map_or(node.end_byte(), Node::end_byte);
        self.text.get(node.start_byte()..end).unwrap_or_default().trim()
    }

    fn command(&mut self, node: Node, ancestors: &[Node]) {
        let mut words = Vec::new();
        let mut assignments = Vec::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => assignments.push(child),
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    words_behind(&mut words, child, self.text)
                }
                "comment" => {}
                "command_name" => words.push(read::word(child.child(0).unwrap_or(child), self.text)),
                _ => words.push(read::word(child, self.text)),
            }
        }
        for statement in redirected(node, ancestors) {
            let mut cursor = statement.walk();
            let redirects: Vec<_> = statement.children_by_field_name("redirect", &mut cursor).collect();
            redirects.into_iter().for_each(|redirect| words_behind(&mut words, redirect, self.text));
        }
        let program = words.first().and_then(Word::as_literal);
        // It holds for `read` alone, which runs nothing.
        let is_own = |node: &Node| program.as_deref() == Some("read") && self.raw(*node).starts_with("IFS=");
        let doubt = assignments.iter().filter(|node| !is_own(node)).find_map(|node| self.assignment_doubt(*node));
        // `exec {NAME}>file` sets a variable.
        let named = words.iter().map(Word::shown).find(|word| {
            let name = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
            name.is_some_and(|name| name.contains('[') || super::variables::decides(name, None))
        });
        let doubt = doubt.or(named.map(Unknown::Variable));
        if words.is_empty() {
            if !assignments.is_empty() {
                let plain = self.plain(node, ancestors);
                self.parts.commands.push(Command { doubt, ..plain });
            }
            return;
        }
        if program.as_deref() == Some("shopt") {
            let is_harmless = |word: &Word| {
                word.as_literal().is_some_and(|word| !matches!(word.as_str(), "globstar" | "extglob" | "nocaseglob"))
            };
            self.parts.changes_wildcards |= !words.iter().all(is_harmless);
        }
        self.judge(node, ancestors, &words, doubt);
        let written = self.written(node, ancestors);
        let values: Vec<Value> =
            assignments.iter().flat_map(|node| super::parts::split(&self.assigned(*node).held())).collect();
        if let Some(command) = self.parts.commands.iter_mut().rev().find(|command| command.written == written) {
            command.words.extend(values.into_iter().filter(|word| word.known().is_some()));
        }
    }

    /// Judges a command once for each way to choose the values of its variables.
    fn judge(&mut self, node: Node, ancestors: &[Node], words: &[Word], doubt: Option<Unknown>) {
        let at = node.start_byte();
        let is_same =
            |piece: &Piece| piece.is_same() || matches!(piece, Piece::Variable { name, .. } if name == "HOME");
        let names_xargs = words.iter().any(|word| word.shown().ends_with("xargs"));
        let site = Site {
            is_told: words.iter().all(|word| word.pieces.iter().all(is_same)),
            piped: if names_xargs {
                values::piped(node, ancestors, self.text).filter(|_| self.values.knows_programs())
            } else {
                None
            },
            input: self.input(node, ancestors),
            depth: 0,
        };
        let written = self.written(node, ancestors);
        for picks in self.values.choices(words, at) {
            let resolved = self.values.resolve(words, &picks);
            let before = self.parts.commands.len();
            let mut runner = Runner::new(self.parts, self.values);
            runner.judge(&resolved, &site);
            self.nested.append(&mut runner.nested);
            // The first of what was added is the command itself.
            let Some(own) = self.parts.commands.get_mut(before) else { continue };
            own.doubt = own.doubt.take().or_else(|| doubt.clone());
            own.written = written.to_owned();
        }
    }

    /// The text that a command is given to read, when it stands in the script.
    fn input(&self, node: Node, ancestors: &[Node]) -> Option<String> {
        let mut cursor = node.walk();
        let own = node.children(&mut cursor).filter(|child| child.kind() == "herestring_redirect").collect::<Vec<_>>();
        let behind = redirected(node, ancestors).into_iter().flat_map(|statement| {
            let mut cursor = statement.walk();
            statement.children(&mut cursor).filter(|child| child.kind().ends_with("_redirect")).collect::<Vec<_>>()
        });
        let texts: Vec<&str> = own
            .into_iter()
            .chain(behind)
            .filter(|redirect| matches!(redirect.kind(), "herestring_redirect" | "heredoc_redirect"))
            .map(|redirect| self.raw(redirect))
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Redirections with something in front of them that takes no words: then what the grammar takes for more targets is a
    /// command, or an error.
    fn statement(&mut self, node: Node, ancestors: &[Node]) -> Option<()> {
        let mut cursor = node.walk();
        let mut words = Vec::new();
        for redirect in node.children_by_field_name("redirect", &mut cursor) {
            words_behind(&mut words, redirect, self.text);
        }
        if words.is_empty() {
            return Some(());
        }
        let mut last = node.child_by_field_name("body");
        while let Some(inner) =
            last.filter(|last| matches!(last.kind(), "list" | "pipeline" | "negated_command" | "redirected_statement"))
        {
            last = match inner.kind() {
                "redirected_statement" => inner.child_by_field_name("body"),
                _ => inner.named_child(inner.named_child_count().saturating_sub(1) as u32),
            };
        }
        match last.map(|last| last.kind()) {
            Some("command") => Some(()), // its words
            Some(_) => None,
            None => {
                self.judge(node, ancestors, &words, None);
                Some(())
            }
        }
    }

    fn redirect(&mut self, node: Node) {
        let Some(target) = node.child_by_field_name("destination") else { return };
        let before = self.text.get(node.start_byte()..target.start_byte()).unwrap_or_default();
        let operator = before.trim().trim_start_matches(|letter: char| letter.is_ascii_digit());
        let word = read::word(target, self.text);
        // `2>&1`, `>&-`: no file.
        let copies = operator.ends_with('&') && operator.len() == 2;
        let is_descriptor =
            |path: &str| path == "-" || path.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        let is_no_file =
            |path: &PathText| matches!(path, PathText::Known(path) if is_free(path) || (copies && is_descriptor(path)));
        if word.paths().iter().all(is_no_file) {
            return;
        }
        self.paths(&word, node.start_byte(), operator.contains('>'));
    }
}

/// Whether the last of some ancestors stands in double quotes.
fn is_quoted(ancestors: &[Node]) -> bool {
    ancestors.iter().any(|node| node.kind() == "string")
}

/// Whether nothing but the end of a command or another redirection follows.
fn ends_command(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with(['\n', ';', '|', '&', ')', '#'])
}

/// The statements whose redirections stand behind a command, innermost first: it is the last command of their body.
fn redirected<'t>(node: Node<'t>, ancestors: &[Node<'t>]) -> Vec<Node<'t>> {
    let mut statements = Vec::new();
    let mut at = node;
    for parent in ancestors.iter().rev() {
        if parent.kind() == "redirected_statement" {
            let body = parent.child_by_field_name("body");
            if body.is_none_or(|body| body.id() != at.id()) {
                break;
            }
            statements.push(*parent);
        } else if !matches!(parent.kind(), "list" | "pipeline" | "negated_command")
            || parent
                .named_child(parent.named_child_count().saturating_sub(1) as u32)
                .is_none_or(|last| last.id() != at.id())
        {
            break;
        }
        at = *parent;
    }
    statements
}

/// Adds the words behind the target of each redirection: the grammar takes them for more targets, and they are words of
/// the command.
fn words_behind(words: &mut Vec<Word>, redirect: Node, text: &str) {
    let mut cursor = redirect.walk();
    match redirect.kind() {
        "file_redirect" => {
            let targets = redirect.children_by_field_name("destination", &mut cursor);
            words.extend(targets.skip(1).map(|word| read::word(word, text)));
        }
        "heredoc_redirect" => {
            for child in redirect.children(&mut cursor) {
                match child.kind() {
                    "file_redirect" | "herestring_redirect" => words_behind(words, child, text),
                    _ => {}
                }
            }
            let mut cursor = redirect.walk();
            let arguments = redirect.children_by_field_name("argument", &mut cursor);
            words.extend(arguments.map(|word| read::word(word, text)));
        }
        _ => {}
    }
}

/// The text of a node with a hole for each expansion.
fn holed(node: Node, text: &str) -> Value {
    let mut holed = Value::default();
    let mut at = node.start_byte();
    for part in descendants(node) {
        let is_expansion = matches!(
            part.kind(),
            "simple_expansion" | "expansion" | "command_substitution" | "process_substitution" | "arithmetic_expansion"
        );
        if is_expansion && part.start_byte() >= at {
            holed.add(text.get(at..part.start_byte()).unwrap_or_default());
            holed.add_hole();
            at = part.end_byte();
        }
    }
    holed.add(text.get(at..node.end_byte()).unwrap_or_default());
    holed
}
