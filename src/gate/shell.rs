//! What a shell text would run, write and touch, as far as that can be told without running it (P-60 to P-65). Pure: no
//! rule is looked at here, and no file. Where it cannot be told, that is said, and the gate asks.

mod inner;
mod prefix;
mod variables;
mod word;

use std::borrow::Cow;
use std::cell::RefCell;

use tree_sitter::{Node, Parser, Tree};

pub use prefix::{is_safe, suggest};
pub use word::PathText;
use word::Word;

use super::value::Value;

/// The key of shell texts.
pub const BASH: &str = "bash";

/// A longer text is not looked into.
const MAX_BYTES: usize = 64 * 1024;

/// How deep shells may stand in shells (`sh -c "sh -c …"`).
const MAX_DEPTH: usize = 16;

/// What there is to judge about a shell text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Script {
    /// Nothing but blanks and comments.
    Empty,
    /// It cannot be understood: it is judged as one value, and asked about (P-64).
    Unparsable,
    /// It was understood.
    Parsed(Parts),
}

/// The parts of a shell text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Every simple command, those inside of others as well.
    pub commands: Vec<Command>,
    /// Paths that it names where only paths stand.
    pub paths: Vec<PathUse>,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// As it is written (P-61), with its redirections.
    pub written: String,
    /// As words, as far as they are known before it runs; none: it has none.
    pub value: Option<Value>,
    /// The words with the program's name in place of its path. It can only make a verdict stricter: who allows `ls` does
    /// not allow `/tmp/ls`.
    pub named: Option<Value>,
    /// Words of its arguments, any of which may be a program that it runs.
    pub words: Vec<Value>,
    /// What it runs depends on what is only known when it runs: at least ask.
    pub is_opaque: bool,
}

impl Command {
    /// What rules see of it; the strictest verdict counts.
    pub fn views(&self) -> impl Iterator<Item = Value> + '_ {
        let written = Value::from(self.written.as_str());
        let others = self.value.iter().filter(move |view| view.known() != Some(&self.written)).cloned();
        std::iter::once(written).chain(others)
    }
}

/// A path that is read, written or gone to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathUse {
    /// Which one.
    pub path: PathText,
    /// It is the target of a redirection that writes (P-63).
    pub is_write: bool,
    /// It stands for a folder: the working directory from then on.
    pub is_folder: bool,
}

thread_local! {
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

fn tree(text: &str) -> Option<Tree> {
    PARSER.with_borrow_mut(|parser| {
        if parser.is_none() {
            let mut new = Parser::new();
            new.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
            *parser = Some(new);
        }
        parser.as_mut()?.parse(text, None)
    })
}

/// Whether the grammar and a shell may take a text for different things: line ends and blanks that are none, bytes that
/// end a text early.
fn is_odd(text: &str) -> bool {
    let odd = |letter: char| {
        (letter.is_control() && letter != '\n' && letter != '\t') || (letter.is_whitespace() && !letter.is_ascii())
    };
    text.len() > MAX_BYTES || text.contains(odd)
}

/// Takes a shell text apart.
pub fn parse(text: &str) -> Script {
    let mut parts = Parts::default();
    match collect(&mut parts, text, 0) {
        None => Script::Unparsable,
        Some(()) if parts == Parts::default() => Script::Empty,
        Some(()) => Script::Parsed(parts),
    }
}

/// Whether a text can be taken apart, and it is known which programs it runs.
pub fn is_understood(text: &str) -> bool {
    matches!(parse(text), Script::Parsed(parts) if parts.commands.iter().all(|command| !command.is_opaque))
}

/// Adds the parts of a text. None: it cannot be understood.
fn collect(parts: &mut Parts, text: &str, depth: usize) -> Option<()> {
    if is_odd(text) || depth > MAX_DEPTH {
        return None;
    }
    // A shell joins lines before anything else, but in comments and quotes; the grammar takes them for blanks. Judged
    // both ways, nothing hides in the difference.
    if text.contains("\\\n") {
        walk(parts, &text.replace("\\\n", ""), depth)?;
    }
    walk(parts, text, depth)
}

/// A tree in which no command goes over the end of its line. The grammar takes some line ends for blanks (behind the third
/// part of a pipeline, for one), which would make the next command words of the one before.
fn trusted_tree(text: &str) -> Option<(Tree, Cow<'_, str>)> {
    const MAX_TRIES: usize = 64;
    let mut text = Cow::Borrowed(text);
    for _ in 0..MAX_TRIES {
        let tree = tree(&text)?;
        if tree.root_node().has_error() {
            return None;
        }
        let Some(at) = misread_line_end(&tree, &text)? else { return Some((tree, text)) };
        // Where a command ends a line, `;` says the same, but not in front of a here document or behind a comment.
        if text.contains("<<") || text.contains('#') {
            return None;
        }
        text.to_mut().replace_range(at..=at, ";");
    }
    None
}

/// The first line end that stands between the parts of one command; an outer none: one stands where it cannot be mended.
fn misread_line_end(tree: &Tree, text: &str) -> Option<Option<usize>> {
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if matches!(
            node.kind(),
            "command"
                | "command_name"
                | "redirected_statement"
                | "file_redirect"
                | "declaration_command"
                | "unset_command"
                | "variable_assignments"
                | "concatenation"
        ) {
            let mut children = node.walk();
            let mut end = node.start_byte();
            let mut is_over = false;
            for child in node.children(&mut children) {
                if is_over {
                    return None; // a word behind a comment
                }
                is_over = child.kind() == "comment";
                let gap = text.get(end..child.start_byte()).unwrap_or_default();
                let is_joined = |at: usize| gap[..at].ends_with('\\');
                if let Some(at) = gap.match_indices('\n').map(|(at, _)| at).find(|at| !is_joined(*at)) {
                    return Some(Some(end + at));
                }
                end = child.end_byte();
            }
        }
        if node.kind() == "word" && has_line_end(raw(node, text)) {
            return None;
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(None);
            }
        }
    }
}

/// Whether a word without quotes holds a line end that is not escaped.
fn has_line_end(word: &str) -> bool {
    let mut is_escaped = false;
    word.bytes().any(|byte| {
        let ends = byte == b'\n' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

fn walk(parts: &mut Parts, text: &str, depth: usize) -> Option<()> {
    let (tree, text) = trusted_tree(text)?;
    let text = text.as_ref();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        visit(parts, node, text, depth)?;
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(());
            }
        }
    }
}

fn visit(parts: &mut Parts, node: Node, text: &str, depth: usize) -> Option<()> {
    if variables::node_decides(node, text) {
        parts.commands.push(Command { is_opaque: true, ..plain(node, text) });
    }
    match node.kind() {
        "command" => command(parts, node, text, depth),
        "declaration_command" | "unset_command" => parts.commands.push(evaluated(node, text)),
        "test_command" => {
            let written = raw(node, text);
            let mut test = plain(node, text);
            // In `[`, what the grammar takes for a comparison is a redirection; where `[[` is a program like any other, so
            // it is there, and what joins its parts joins commands.
            let joins = written.contains(['<', '>', '|', '&', ';', '(', '\n']);
            test.is_opaque = joins || quotes_substitution(node, text);
            parts.commands.push(test);
        }
        // Some shells count, to others it is a command in two pairs of parentheses.
        "compound_statement" if raw(node, text).starts_with("((") => {
            let inner = raw(node, text).trim_start_matches("((").trim_end_matches("))").trim();
            let (is_opaque, value) = (!variables::is_simple(inner), Some(Value::from(inner)));
            parts.commands.push(Command { is_opaque, value, ..plain(node, text) });
        }
        "variable_assignment" => {
            let parent = node.parent().map_or("", |parent| parent.kind());
            if !matches!(parent, "command" | "declaration_command" | "variable_assignments") {
                parts.commands.push(evaluated(node, text));
            }
        }
        "variable_assignments" => parts.commands.push(evaluated(node, text)),
        // Where shells end these at different places, what is behind may be a command to one of them.
        "ansi_c_string" if raw(node, text).contains("\\'") => return None,
        "expansion" if raw(node, text).contains('\'') && is_quoted(node) => return None,
        "arithmetic_expansion" if !matches!(raw(node, text).as_bytes(), [.., b')', b')'] | [.., b']']) => return None,
        "redirected_statement" => return statement(parts, node, text, depth),
        "file_redirect" => {
            let target = node.child_by_field_name("destination").unwrap_or(node);
            let rest = text.get(target.end_byte()..).unwrap_or_default();
            if raw(node, text).starts_with("&>") && !ends_command(rest) {
                return None; // to some shells it is `&` and a redirection of the next command
            }
            redirect(parts, node, text);
        }
        // What the grammar leaves as text, and a shell does not.
        _ if node.child_count() == 0 && is_live(node, text) && runs_inside(raw(node, text)) => return None,
        "command_substitution" => {
            let written = raw(node, text);
            // The grammar takes two of these on lines of their own for one.
            if written.starts_with('`')
                && written.trim_matches('`').contains('`')
                && runs_inside(written.trim_matches('`'))
            {
                return None;
            }
            // Backquotes inside of backquotes are escaped, which the grammar takes for text.
            if let Some(inner) = written.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'))
                && inner.contains('\\')
            {
                collect(parts, &unescape_backquoted(inner), depth + 1)?;
            }
        }
        _ => {}
    }
    Some(())
}

fn raw<'t>(node: Node, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The statements whose redirections stand behind a command, innermost first: it is the last command of their body.
fn redirected<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut statements = Vec::new();
    let mut at = node;
    while let Some(parent) = at.parent() {
        if parent.kind() == "redirected_statement" {
            let body = parent.child_by_field_name("body");
            if body.is_none_or(|body| body.id() != at.id()) {
                break;
            }
            statements.push(parent);
        } else if !matches!(parent.kind(), "list" | "pipeline" | "negated_command")
            || parent
                .named_child(parent.named_child_count().saturating_sub(1) as u32)
                .is_none_or(|last| last.id() != at.id())
        {
            break;
        }
        at = parent;
    }
    statements
}

/// With its redirections, when it has some.
fn written<'t>(node: Node, text: &'t str) -> &'t str {
    let end = redirected(node).last().map_or(node.end_byte(), Node::end_byte);
    text.get(node.start_byte()..end).unwrap_or_default().trim()
}

/// Adds the words behind the target of each redirection: the grammar takes them for more targets, and they are words of
/// the command.
fn words_behind(words: &mut Vec<Word>, redirect: Node, text: &str) {
    let mut cursor = redirect.walk();
    match redirect.kind() {
        "file_redirect" => {
            let targets = redirect.children_by_field_name("destination", &mut cursor);
            words.extend(targets.skip(1).map(|word| Word::read(word, text)));
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
            words.extend(arguments.map(|word| Word::read(word, text)));
        }
        _ => {}
    }
}

/// A command of which nothing else runs.
fn plain(node: Node, text: &str) -> Command {
    let written = written(node, text).to_owned();
    let words = inner::split(&Value::from(written.as_str()));
    Command { written, value: None, named: None, words, is_opaque: false }
}

/// An assignment. In a quoted value a substitution is text, but where the value is used, a shell may evaluate it.
fn evaluated(node: Node, text: &str) -> Command {
    let mut cursor = node.walk();
    let children = node.named_children(&mut cursor).filter(|child| child.kind() != "variable_assignment");
    let words: Vec<_> = children.map(|child| Word::read(child, text)).collect();
    let builtin = raw(node, text).split_ascii_whitespace().next().unwrap_or_default();
    let sets = variables::are_set_in(raw(node, text)) || variables::are_set_by(builtin, &words);
    Command { is_opaque: sets || quotes_substitution(node, text), ..plain(node, text) }
}

/// Whether there is a substitution in quotes that keep it from being one.
fn quotes_substitution(node: Node, text: &str) -> bool {
    let mut cursor = node.walk();
    let is_kept = matches!(node.kind(), "raw_string" | "ansi_c_string" | "word" | "string_content")
        && inner::holds_substitution(&raw(node, text).replace('\\', ""));
    is_kept || node.children(&mut cursor).any(|child| quotes_substitution(child, text))
}

/// Whether a node's text is one in which substitutions run.
fn is_live(node: Node, text: &str) -> bool {
    match node.kind() {
        "word" | "string_content" | "regex" | "extglob_pattern" => true,
        "heredoc_body" | "heredoc_content" => {
            let ancestors = || std::iter::successors(Some(node), Node::parent);
            let Some(redirect) = ancestors().find(|node| node.kind() == "heredoc_redirect") else { return true };
            let mut cursor = redirect.walk();
            let start = redirect.children(&mut cursor).find(|child| child.kind() == "heredoc_start");
            start.is_none_or(|start| !raw(start, text).contains(['\'', '"', '\\']))
        }
        _ => false,
    }
}

/// Whether a substitution begins in a text, which a backslash would keep from it.
fn runs_inside(text: &str) -> bool {
    let mut is_escaped = false;
    let mut before = ' ';
    text.chars().any(|letter| {
        let begins = !is_escaped && (letter == '`' || (letter == '(' && before == '$'));
        before = if is_escaped { ' ' } else { letter };
        is_escaped = letter == '\\' && !is_escaped;
        begins
    })
}

/// Whether a node stands in double quotes.
fn is_quoted(node: Node) -> bool {
    std::iter::successors(node.parent(), Node::parent).any(|parent| parent.kind() == "string")
}

/// Whether nothing but the end of a command or another redirection follows.
fn ends_command(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '\t']);
    rest.is_empty() || rest.starts_with(['\n', ';', '|', '&', ')', '#'])
}

fn unescape_backquoted(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = letters.peek().copied().filter(|next| letter == '\\' && matches!(next, '\\' | '`' | '$'));
        result.push(escaped.unwrap_or(letter));
        if escaped.is_some() {
            letters.next();
        }
    }
    result
}

fn command(parts: &mut Parts, node: Node, text: &str, depth: usize) {
    let mut words = Vec::new();
    let mut has_assignments = false;
    let mut names_program = false;
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "variable_assignment" => {
                has_assignments = true;
                names_program |= variables::are_set_in(raw(child, text)) || quotes_substitution(child, text);
            }
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => words_behind(&mut words, child, text),
            "comment" => {}
            "command_name" => words.push(Word::read(child.child(0).unwrap_or(child), text)),
            _ => words.push(Word::read(child, text)),
        }
    }
    for statement in redirected(node) {
        let mut cursor = statement.walk();
        let redirects: Vec<_> = statement.children_by_field_name("redirect", &mut cursor).collect();
        redirects.into_iter().for_each(|redirect| words_behind(&mut words, redirect, text));
    }
    let before = parts.commands.len();
    inner::judge(parts, &words, &words, depth);
    // As it is written: the first of what was added is the command itself, when it has a rule of its own at all.
    let written = written(node, text);
    match parts.commands.get_mut(before) {
        Some(own) => own.written = written.to_owned(),
        None if has_assignments => parts.commands.push(plain(node, text)),
        None => {}
    }
    if let Some(own) = parts.commands.get_mut(before) {
        own.is_opaque |= names_program;
    }
}

/// Redirections with something in front of them that takes no words: then what the grammar takes for more targets is a
/// command, or an error.
fn statement(parts: &mut Parts, node: Node, text: &str, depth: usize) -> Option<()> {
    let mut cursor = node.walk();
    let mut words = Vec::new();
    for redirect in node.children_by_field_name("redirect", &mut cursor) {
        words_behind(&mut words, redirect, text);
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
            inner::judge(parts, &words, &words, depth);
            Some(())
        }
    }
}

fn redirect(parts: &mut Parts, node: Node, text: &str) {
    let Some(target) = node.child_by_field_name("destination") else { return };
    let before = text.get(node.start_byte()..target.start_byte()).unwrap_or_default();
    let operator = before.trim().trim_start_matches(|letter: char| letter.is_ascii_digit());
    let word = Word::read(target, text);
    let path = word.path();
    // `2>&1`, `>&-`: no file.
    let copies = operator.ends_with('&') && operator.len() == 2;
    let is_descriptor =
        |path: &str| path == "-" || path.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    if copies && matches!(&path, PathText::Known(path) if is_descriptor(path)) {
        return;
    }
    if matches!(&path, PathText::Known(path) if is_free(path)) {
        return;
    }
    parts.paths.push(PathUse { path, is_write: operator.contains('>'), is_folder: false });
}

/// What is written to these is not written to a file (P-63).
fn is_free(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin")
        || path
            .strip_prefix("/dev/fd/")
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
