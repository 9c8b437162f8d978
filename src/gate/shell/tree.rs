//! The syntax tree of a shell text, with the checks that make it one to be trusted where the grammar and a shell may differ.

use std::borrow::Cow;
use std::cell::RefCell;

use tree_sitter::{Node, Parser, Tree};

/// A longer text is not looked into.
pub const MAX_BYTES: usize = 64 * 1024;

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

/// The text of a node.
pub fn raw<'t>(node: Node, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// Whether the grammar and a shell may take a text for different things: line ends and blanks that are none, bytes that
/// end a text early.
pub fn is_odd(text: &str) -> bool {
    let odd = |letter: char| {
        (letter.is_control() && letter != '\n' && letter != '\t') || (letter.is_whitespace() && !letter.is_ascii())
    };
    text.len() > MAX_BYTES || text.contains(odd)
}

/// A tree in which no command goes over the end of its line. The grammar takes some line ends for blanks (behind the third
/// part of a pipeline, for one), which would make the next command words of the one before.
pub fn trusted(text: &str) -> Option<(Tree, Cow<'_, str>)> {
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

/// Whether a node's own text is one in which substitutions run, though the grammar shows none. `ancestors` begins with the
/// root.
pub fn is_live(node: Node, ancestors: &[Node], text: &str) -> bool {
    match node.kind() {
        "word" | "string_content" | "regex" | "extglob_pattern" => true,
        "heredoc_body" | "heredoc_content" => {
            let redirect = ancestors.iter().rev().find(|node| node.kind() == "heredoc_redirect");
            redirect.is_none_or(|redirect| !is_quoted_heredoc(*redirect, text))
        }
        _ => false,
    }
}

/// Whether the text of a here document stands for itself.
pub fn is_quoted_heredoc(redirect: Node, text: &str) -> bool {
    let mut cursor = redirect.walk();
    let start = redirect.children(&mut cursor).find(|child| child.kind() == "heredoc_start");
    start.is_some_and(|start| raw(start, text).contains(['\'', '"', '\\']))
}

/// Whether a substitution begins in a text, which a backslash would keep from it.
pub fn runs_inside(text: &str) -> bool {
    let mut is_escaped = false;
    let mut before = ' ';
    text.chars().any(|letter| {
        let begins = !is_escaped && (letter == '`' || (letter == '(' && before == '$'));
        before = if is_escaped { ' ' } else { letter };
        is_escaped = letter == '\\' && !is_escaped;
        begins
    })
}

/// Whether a text would run something if it were evaluated.
pub fn holds_substitution(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}

/// Whether there is a substitution in quotes that keep it from being one.
pub fn quotes_substitution(node: Node, text: &str) -> bool {
    descendants(node).any(|node| {
        matches!(node.kind(), "raw_string" | "ansi_c_string" | "word" | "string_content")
            && holds_substitution(&raw(node, text).replace('\\', ""))
    })
}

/// A node and all below it. Not by recursion: a text may be nested deeper than the stack is.
pub fn descendants(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    let mut cursor = node.walk();
    let mut next = Some(node);
    let mut depth = 0usize;
    std::iter::from_fn(move || {
        let found = next?;
        next = None;
        if cursor.goto_first_child() {
            depth += 1;
            next = Some(cursor.node());
            return Some(found);
        }
        while depth > 0 {
            if cursor.goto_next_sibling() {
                next = Some(cursor.node());
                break;
            }
            cursor.goto_parent();
            depth -= 1;
        }
        Some(found)
    })
}

/// The text of backquotes, as the shell that runs it sees it.
pub fn unescape_backquoted(text: &str) -> String {
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
