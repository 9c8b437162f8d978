//! Variables that decide what runs, or where: every way in which a text sets one makes it a text that asks.

use tree_sitter::Node;

use super::raw;
use super::word::Word;

/// Those that are one word. What they do: name programs, add code, or change where programs and folders are looked for.
const NAMES: &[&str] = &[
    "AWKPATH",
    "BASHOPTS",
    "BASH_ENV",
    "BROWSER",
    "CDPATH",
    "CLASSPATH",
    "EDITOR",
    "ENV",
    "EXINIT",
    "FCEDIT",
    "FPATH",
    "GCONV_PATH",
    "GNUMAKEFLAGS",
    "GOFLAGS",
    "GREP_OPTIONS",
    "GVIMINIT",
    "HOME",
    "IFS",
    "INPUTRC",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "KUBECONFIG",
    "LESS",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCPATH",
    "MAKEFILES",
    "MAKEFLAGS",
    "MAKESHELL",
    "MFLAGS",
    "MYVIMRC",
    "NODE_OPTIONS",
    "NODE_PATH",
    "OLDPWD",
    "OPENSSL_CONF",
    "PARALLEL",
    "PATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PWD",
    "RIPGREP_CONFIG_PATH",
    "RSYNC_RSH",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "SHELL",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "TAR_OPTIONS",
    "UNZIP",
    "VIMINIT",
    "VISUAL",
    "WGETRC",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "ZDOTDIR",
    "ZIPOPT",
    "_JAVA_OPTIONS",
];

const BEGINNINGS: &[&str] = &[
    "BASH_FUNC",
    "BASH_ALIASES",
    "BASH_CMDS",
    "CARGO_TARGET_",
    "DOTNET_",
    "DYLD_",
    "GIT_",
    "HG",
    "LD_",
    "LUA_",
    "NPM_CONFIG_",
    "PERL",
    "PYTHON",
    "SVN_",
    "npm_config_",
];

const ENDINGS: &[&str] = &["PAGER", "_ASKPASS", "_COMMAND", "_EDITOR", "_RUNNER", "_SHELL", "_WRAPPER"];

/// Whether a variable says what runs, or where.
pub fn decides(name: &str) -> bool {
    NAMES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The name at the beginning of `NAME=value`, `NAME+=value`, `NAME[1]=value`, or alone.
fn name(text: &str) -> &str {
    let is_name = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
    &text[..text.find(|letter| !is_name(letter)).unwrap_or(text.len())]
}

/// Whether one of some words sets a variable that decides.
pub fn are_set_in(words: &str) -> bool {
    words.split_ascii_whitespace().any(|word| word.contains('=') && decides(name(word.trim_start_matches(['"', '\'']))))
}

/// Whether a builtin with these arguments sets, or takes away, a variable that decides; or which one is not known.
pub fn are_set_by(builtin: &str, arguments: &[Word]) -> bool {
    let sets_names = match builtin {
        "read" | "mapfile" | "readarray" | "getopts" | "unset" | "export" | "declare" | "typeset" | "local"
        | "readonly" | "let" => true,
        "printf" => arguments.first().is_some_and(|word| word.text().starts_with("-v")),
        "wait" => arguments.iter().any(|word| word.text().starts_with("-p")),
        _ => false,
    };
    let refers = |word: &Word| {
        matches!(builtin, "declare" | "typeset" | "local") && word.text().starts_with('-') && word.text().contains('n')
    };
    // What stands behind an option's letter may be a name as well.
    let is_deciding =
        |text: &str| decides(name(text)) || (text.starts_with('-') && decides(name(text.get(2..).unwrap_or_default())));
    let is_set = |word: &Word| match word.as_literal() {
        Some(text) => is_deciding(&text),
        // A value that is not known does no harm behind a name that is.
        None => {
            let shown = word.value();
            let known = shown.shown();
            known.split('=').next().is_none_or(|name| name.contains('…')) || is_deciding(&known)
        }
    };
    let values = if builtin == "printf" { arguments.get(..2).unwrap_or(arguments) } else { arguments };
    sets_names && (values.iter().any(is_set) || arguments.iter().any(refers))
}

/// Whether an expansion sets one (`${NAME:=x}`), or reads text that is evaluated (`${x@P}`, `${!x}`, `${a[i]}`).
pub fn expansion_decides(raw: &str) -> bool {
    let Some(inner) = raw.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) else { return false };
    if inner.starts_with('!') || inner.contains("@P") {
        return true;
    }
    let inner = inner.trim_start_matches('#');
    let name = name(inner);
    let rest = &inner[name.len()..];
    if let Some((index, _)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        && !is_index(index)
    {
        return true;
    }
    // `${x:offset:length}` is arithmetic.
    if let Some(offset) = rest.strip_prefix(':')
        && !offset.starts_with(['-', '=', '?', '+'])
        && !is_simple(offset)
    {
        return true;
    }
    (rest.starts_with('=') || rest.starts_with(":=")) && decides(name)
}

/// Whether arithmetic holds nothing but numbers, names and signs, and sets nothing that decides.
pub fn is_simple(arithmetic: &str) -> bool {
    let is_plain = |letter: char| {
        letter.is_ascii_alphanumeric() || letter.is_ascii_whitespace() || "_+-*/%<>=!&|^~?:,()$#".contains(letter)
    };
    let names = || arithmetic.split(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric());
    arithmetic.chars().all(is_plain) && !arithmetic.contains("$(") && !names().any(decides)
}

/// Whether the index of a list is a number or a name, or stands for all of it.
fn is_index(index: &str) -> bool {
    matches!(index, "@" | "*") || (is_simple(index) && !index.contains('$'))
}

/// Whether a node sets a variable that decides, or evaluates text that is not plain to see.
pub fn node_decides(node: Node, text: &str) -> bool {
    let written = raw(node, text);
    match node.kind() {
        "for_statement" => node.child_by_field_name("variable").is_some_and(|variable| decides(raw(variable, text))),
        "c_style_for_statement" => {
            let body = node.child_by_field_name("body").map_or(node.end_byte(), |body| body.start_byte());
            let head = text.get(node.start_byte()..body).unwrap_or_default();
            let inner = head.trim_start_matches("for").trim().trim_end_matches(['\n', ' ', ';']).trim_end_matches("do");
            !is_simple(&inner.replace(';', ","))
        }
        "arithmetic_expansion" => {
            let inner =
                written.trim_start_matches("$((").trim_start_matches("$[").trim_end_matches("))").trim_end_matches(']');
            !is_simple(inner)
        }
        "expansion" => expansion_decides(written),
        "subscript" => {
            let index = written.split_once('[').map_or("", |(_, rest)| rest.trim_end_matches(']'));
            !is_index(index)
        }
        // `exec {NAME}>file`
        "file_redirect" => {
            written.strip_prefix('{').and_then(|rest| rest.split_once('}')).is_some_and(|(name, _)| decides(name))
        }
        _ => false,
    }
}

#[cfg(test)]
#[path = "variables_tests.rs"]
mod tests;
