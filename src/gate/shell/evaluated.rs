//! Expressions that a shell evaluates: names in them stand for values that are expressions again, and an index may hold a
//! command. Only numbers, signs, and names that hold numbers are told.

use tree_sitter::Node;

use super::read::is_name;
use super::tree::{holds_substitution, raw};
use super::values::Values;
use super::variables::decides;
use crate::gate::unknown::Unknown;

/// What may be evaluated in a node itself, not below it. None: nothing, or only what is told.
pub fn doubt(node: Node, text: &str, values: &Values) -> Option<Unknown> {
    let written = raw(node, text);
    let untold = || Some(Unknown::Evaluated(written.lines().next().unwrap_or_default().to_owned()));
    match node.kind() {
        "arithmetic_expansion" => (!is_told(written, values)).then(untold)?,
        "compound_statement" if written.starts_with("((") => (!is_told(written, values)).then(untold)?,
        "c_style_for_statement" => {
            let head = &written[..written.find("))").unwrap_or(written.len())];
            let head = head.trim_start_matches("for").replace(';', ",");
            (!is_told(&head, values)).then(untold)?
        }
        "subscript" => (!is_index(written, values)).then(untold)?,
        "expansion" => expansion(written, values).then(untold)?,
        "array" => {
            // `([index]=value)`
            let mut rest = written;
            while let Some(end) = rest.find("]=") {
                let start = rest[..end].rfind('[').unwrap_or(0);
                if !rest[start..end]
                    .trim_start_matches('[')
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
                {
                    return untold();
                }
                rest = &rest[end + 2..];
            }
            None
        }
        "test_command" if written.starts_with("[[") => test(node, text, values).then(untold)?,
        "test_command" => {
            let inside = written.split_ascii_whitespace();
            let names = inside.clone().any(|word| matches!(word, "-v" | "-R"));
            ((names && written.contains(['[', '$'].as_slice()) && written[1..].contains(['[', '$']))
                || holds_substitution(&quoted(node, text)))
            .then(untold)?
        }
        _ => None,
    }
}

/// The texts of a test that no expansion is a part of.
fn quoted(node: Node, text: &str) -> String {
    let raws = super::tree::descendants(node).filter(|node| matches!(node.kind(), "raw_string" | "ansi_c_string"));
    raws.map(|node| raw(node, text)).collect()
}

/// Whether `${…}` evaluates something that is not told.
fn expansion(written: &str, values: &Values) -> bool {
    let inside = written.trim_start_matches("${").trim_end_matches('}');
    if let Some(indirect) = inside.strip_prefix('!') {
        // `${!array[@]}` is the indices.
        let end = indirect.trim_start_matches(|letter: char| letter == '_' || letter.is_ascii_alphanumeric());
        return !matches!(end, "[@]" | "[*]");
    }
    let name = inside.trim_start_matches('#');
    let rest = name.trim_start_matches(|letter: char| letter == '_' || letter.is_ascii_alphanumeric());
    if rest.starts_with("@P") || (rest.starts_with('[') && rest.ends_with("@P")) {
        return true;
    }
    let name = &name[..name.len() - rest.len()];
    if (rest.starts_with(":=") || rest.starts_with('=')) && decides(name, None) {
        return true;
    }
    match rest.strip_prefix(':') {
        // `${x:from:length}`
        Some(range) if !range.starts_with(['-', '=', '?', '+']) => !is_told(&range.replace(':', ","), values),
        _ => false,
    }
}

/// Whether an index of an array is told.
fn is_index(written: &str, values: &Values) -> bool {
    let Some((_, index)) = written.split_once('[') else { return false };
    let index = index.strip_suffix(']').unwrap_or(index).trim();
    let inner = index.strip_prefix('"').and_then(|index| index.strip_suffix('"')).unwrap_or(index);
    let variable = inner.strip_prefix("${").and_then(|inner| inner.strip_suffix('}')).or(inner.strip_prefix('$'));
    match variable {
        Some(name) => matches!(name, "#" | "?") || values.is_set_to_numbers(name),
        None => matches!(inner, "@" | "*") || (is_told(inner, values) && !inner.contains('$')),
    }
}

/// Whether an expression holds nothing but numbers, signs, and names of variables that hold numbers.
pub fn is_told(expression: &str, values: &Values) -> bool {
    let mut rest = expression.strip_prefix("$[").and_then(|rest| rest.strip_suffix(']')).unwrap_or(expression);
    let is_part = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    while let Some(letter) = rest.chars().next() {
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        if end > 0 {
            let word = &rest[..end];
            let is_base = rest[end..].starts_with('#') && word.bytes().all(|byte| byte.is_ascii_digit());
            let is_number = word.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
            let holds_number = || is_name(word) && values.is_number(word) && !decides(word, None);
            if !(is_base || is_number || holds_number()) {
                return false;
            }
            rest = &rest[end..];
            if is_base {
                rest = rest[1..].trim_start_matches(is_part);
            }
            continue;
        }
        match letter {
            '$' => {
                let parameter = rest[1..].trim_start_matches(['{', '#']);
                let is_special =
                    parameter.starts_with(['?', '$', '!']) || rest.starts_with("$#") || rest.starts_with("${#");
                let is_position =
                    parameter.starts_with(|letter: char| letter.is_ascii_digit() || "@*-".contains(letter));
                if rest.starts_with("$((") {
                    rest = &rest[1..];
                } else if rest.starts_with("$(") || rest.starts_with("$[") || (is_position && !is_special) {
                    return rest.starts_with("$(wc -l < ") && is_told_behind(rest, values);
                } else if let Some(inside) = rest.strip_prefix("${") {
                    let Some((name, behind)) = inside.split_once('}') else { return false };
                    let name = name.trim_start_matches('#');
                    if !(name.is_empty() || is_name(name) || matches!(name, "@" | "*" | "?")) {
                        return false;
                    }
                    if is_name(name) && !inside.starts_with('#') && !values.is_number(name) {
                        return false;
                    }
                    rest = behind;
                } else if is_special {
                    rest = &rest[2..];
                } else {
                    rest = &rest[1..];
                }
            }
            _ if " \t\n+-*/%<>=!&|^~?:,()".contains(letter) => rest = &rest[1..],
            _ => return false,
        }
    }
    true
}

/// Goes on behind a count of lines.
fn is_told_behind(rest: &str, values: &Values) -> bool {
    let Some((count, behind)) = rest.split_once(')') else { return false };
    !count[2..].contains(['$', '`', '(', ';', '|', '&', '\n']) && is_told(behind, values)
}

/// Whether a `[[ … ]]` evaluates something, or is a command with others behind it to shells that do not know it.
fn test(node: Node, text: &str, values: &Values) -> bool {
    const NUMERIC: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    super::tree::descendants(node).any(|part| {
        let written = raw(part, text);
        match part.kind() {
            "raw_string" | "ansi_c_string" | "string_content" | "word" | "regex" | "extglob_pattern"
                if holds_substitution(written) =>
            {
                true
            }
            "parenthesized_expression" => true,
            "<" | ">" | "|" | ";" => true,
            "&&" | "||" => {
                // To some shells a command begins here: one that is no program's name.
                let behind = text.get(part.end_byte()..).unwrap_or_default().trim_start();
                !behind.starts_with('-')
            }
            "test_operator" if NUMERIC.contains(&written) => {
                let parent = part.parent();
                let sides = ["left", "right"].map(|side| parent.and_then(|parent| parent.child_by_field_name(side)));
                sides.iter().flatten().any(|side| !is_told(raw(*side, text).trim_matches('"'), values))
            }
            "test_operator" if matches!(written, "-v" | "-R") => true,
            _ => false,
        }
    })
}
