//! Variables that decide what other programs run, or where.

/// Those that do, and beginnings of names of which all do.
const NAMES: &[&str] = &[
    "BASH_ENV",
    "BASH_FUNC_*",
    "BASH_LOADABLES_PATH",
    "BASHOPTS",
    "BROWSER",
    "CARGO",
    "CARGO_HOME",
    "CDPATH",
    "CLASSPATH",
    "COMP_*",
    "CURL_HOME",
    "DEBUGINFOD_*",
    "DISPLAY",
    "DOCKER_CONFIG",
    "DOCKER_HOST",
    "DYLD_*",
    "EDITOR",
    "EMACSLOADPATH",
    "ENV",
    "ERL_*",
    "EXECIGNORE",
    "FCEDIT",
    "FPATH",
    "GCC_EXEC_PREFIX",
    "GCONV_PATH",
    "GDK_*",
    "GEM_*",
    "GH_*",
    "GIT_*",
    "GLOBIGNORE",
    "GNUMAKEFLAGS",
    "GOENV",
    "GOFLAGS",
    "GOPATH",
    "GOROOT",
    "GOTOOLCHAIN",
    "GREP_OPTIONS",
    "GTK_*",
    "HISTFILE",
    "HOME",
    "IFS",
    "INPUTRC",
    "JAVA_*",
    "JDK_JAVA_OPTIONS",
    "JULIA_*",
    "KUBECONFIG",
    "LD_*",
    "LESS",
    "LESSKEY*",
    "LOCPATH",
    "LUA_*",
    "MAILCAPS",
    "MAKEFILES",
    "MAKEFLAGS",
    "MANOPT",
    "MAVEN_*",
    "MFLAGS",
    "MYSQL_*",
    "NIX_*",
    "NLSPATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NPM_CONFIG_*",
    "npm_config_*",
    "OLDPWD",
    "OPENSSL_*",
    "PATH",
    "PERL5*",
    "PERLLIB",
    "PHPRC",
    "PHP_INI_*",
    "PIP_*",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PWD",
    "PYTEST_*",
    "PYTHON*",
    "RIPGREP_CONFIG_PATH",
    "RSYNC_*",
    "RUBY*",
    "RUSTC*",
    "RUSTDOC*",
    "SHELL",
    "SHELLOPTS",
    "SSH_*",
    "SUDO_*",
    "SVN_*",
    "TAR_OPTIONS",
    "TERMINFO*",
    "TEXINPUTS",
    "TEXMF*",
    "TMUX*",
    "UNZIP*",
    "VIM*",
    "VISUAL",
    "WGETRC",
    "XDG_*",
    "ZDOTDIR",
    "ZIPOPT",
    "_JAVA_OPTIONS",
];

/// Of those, the ones that only say how something looks or who did it.
const HARMLESS: &[&str] = &[
    "GIT_AUTHOR_*",
    "GIT_COMMITTER_*",
    "GIT_MERGE_AUTOEDIT",
    "GIT_OPTIONAL_LOCKS",
    "GIT_TERMINAL_PROMPT",
    "GH_PROMPT_DISABLED",
    "PIP_DISABLE_PIP_VERSION_CHECK",
    "PIP_NO_INPUT",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
];

/// Ends of names.
const ENDS: &[&str] = &[
    "PAGER",
    "_EDITOR",
    "_COMMAND",
    "_RUNNER",
    "_LINKER",
    "_WRAPPER",
    "_RUSTFLAGS",
    "RUSTFLAGS",
    "_ASKPASS",
    "_PROGRAM",
    "LESSOPEN",
    "LESSCLOSE",
    "_PRELOAD",
    "_SHELL",
    "_OPTS",
    "_HOOK",
    "_EXEC",
    "_FUNC",
];

/// Programs that builds run, by name.
const TOOLS: &[&str] =
    &["AR", "AS", "CC", "CPP", "CXX", "FC", "LD", "NM", "RANLIB", "STRIP", "YACC", "LEX", "RUSTC", "MAKE"];

/// Values that run nothing, whatever program they are given to.
const IDLE: &[&str] = &["", "cat", "true", ":"];

fn is_among(name: &str, list: &[&str]) -> bool {
    list.iter().any(|one| one.strip_suffix('*').map_or(name == *one, |start| name.starts_with(start)))
}

/// Whether to set a variable to a value may decide what runs, or where. No value: it cannot be told.
pub fn decides(name: &str, value: Option<&str>) -> bool {
    let is_idle = |value: &str| IDLE.contains(&value);
    if is_among(name, HARMLESS) {
        return false;
    }
    if TOOLS.contains(&name) {
        // A plain name is judged as any other: the rules see the whole assignment.
        let is_plain = |value: &str| value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte));
        return !value.is_some_and(is_plain);
    }
    if name == "RUSTFLAGS" {
        return value
            .is_none_or(|value| ["linker", "wrapper", "-Z", "plugin", "@"].iter().any(|part| value.contains(part)));
    }
    if name.ends_with("PAGER") || name.ends_with("EDITOR") || name == "VISUAL" {
        return !value.is_some_and(is_idle);
    }
    is_among(name, NAMES) || ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
#[path = "variables_tests.rs"]
mod tests;
