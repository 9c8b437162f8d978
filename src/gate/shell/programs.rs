//! What is known of programs: tables. What is not here may run any word of its arguments.

use super::word::Word;

/// Their arguments are text: neither paths nor programs.
const TEXT: &[&str] = &[
    ":", "arch", "basename", "bg", "break", "cal", "clear", "continue", "dirname", "disown", "echo", "exit", "expr",
    "false", "fg", "getconf", "groups", "id", "jobs", "kill", "locale", "logname", "nproc", "printenv", "printf",
    "pwd", "return", "seq", "set", "shift", "sleep", "times", "tput", "true", "tty", "type", "ulimit", "umask",
    "uname", "wait", "which", "whoami", "yes", "local", "export", "declare", "typeset", "readonly", "unset", "let",
    "read", "getopts", "shopt",
];

/// Their arguments are files and text, and run nothing.
const FILES: &[&str] = &[
    "[",
    "b2sum",
    "base32",
    "base64",
    "basenc",
    "bc",
    "black",
    "bunzip2",
    "bzip2",
    "cat",
    "cd",
    "chgrp",
    "chmod",
    "chown",
    "cksum",
    "clang-format",
    "cloc",
    "cmp",
    "column",
    "comm",
    "cp",
    "csplit",
    "cut",
    "date",
    "dd",
    "df",
    "diff",
    "diffstat",
    "dir",
    "dos2unix",
    "du",
    "egrep",
    "eslint",
    "expand",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "free",
    "grep",
    "gunzip",
    "gzip",
    "head",
    "hexdump",
    "hostname",
    "iconv",
    "join",
    "jq",
    "link",
    "ln",
    "locate",
    "look",
    "ls",
    "luacheck",
    "md5sum",
    "mkdir",
    "mkfifo",
    "mktemp",
    "mv",
    "mypy",
    "nl",
    "nm",
    "numfmt",
    "od",
    "paste",
    "pathchk",
    "pgrep",
    "popd",
    "prettier",
    "ps",
    "pstree",
    "pushd",
    "readlink",
    "realpath",
    "rev",
    "rm",
    "rmdir",
    "ruff",
    "rustfmt",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shellcheck",
    "shred",
    "shuf",
    "size",
    "stat",
    "strings",
    "stylua",
    "sum",
    "sync",
    "tac",
    "tail",
    "tee",
    "test",
    "tokei",
    "touch",
    "tr",
    "tree",
    "truncate",
    "tsort",
    "unexpand",
    "uniq",
    "unix2dos",
    "unlink",
    "unxz",
    "unzip",
    "unzstd",
    "uptime",
    "vdir",
    "wc",
    "xxd",
    "xz",
    "zcat",
    "zgrep",
    "zstd",
    "sort",
    "split",
    "install",
    "zip",
    "tar",
    "rg",
    "ag",
    "ack",
    "fd",
    "curl",
    "wget",
    "rsync",
    "scp",
    "find",
    "sed",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "git",
    "make",
    "gmake",
    "cargo",
    "rustc",
    "go",
    "npm",
    "pnpm",
    "yarn",
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "clang++",
    "cmake",
    "ctest",
    "ninja",
    "meson",
    "pip",
    "pip3",
    "pytest",
    "tsc",
    "jest",
    "vitest",
    "docker",
    "kubectl",
    "gh",
    "node",
    "python",
    "python3",
    "ruby",
    "php",
    "bun",
    "deno",
    "man",
    "sqlite3",
    "dotnet",
    "mvn",
    "gradle",
    "terraform",
    "helm",
    "mix",
    "rake",
    "rspec",
    "swift",
    "zig",
    "rustup",
];

/// Programs that take their commands from elsewhere, or from a text in ways that are not looked into.
const OPAQUE: &[&str] = &[
    "alias",
    "ansible",
    "at",
    "batch",
    "bind",
    "compgen",
    "complete",
    "crontab",
    "csh",
    "dc",
    "ed",
    "emacs",
    "emacsclient",
    "enable",
    "ex",
    "expect",
    "fc",
    "fish",
    "ftp",
    "gdb",
    "gnuplot",
    "history",
    "lftp",
    "lldb",
    "m4",
    "mail",
    "mailx",
    "maxima",
    "mutt",
    "nsenter",
    "octave",
    "open",
    "parallel",
    "psql",
    "mysql",
    "mariadb",
    "red",
    "rename",
    "run-parts",
    "rvim",
    "screen",
    "script",
    "sem",
    "sg",
    "socat",
    "ssh",
    "start-stop-daemon",
    "su",
    "runuser",
    "systemd-run",
    "tclsh",
    "tcsh",
    "telnet",
    "tmux",
    "unbuffer",
    "vi",
    "view",
    "vim",
    "vimdiff",
    "wish",
    "xdg-open",
    "gvim",
    "rview",
    "sensible-editor",
    "nano",
    "pico",
    "command_not_found_handle",
    "vagrant",
    "lxc",
    "machinectl",
    "heroku",
    "capsh",
    "git-shell",
    "newgrp",
    "logrotate",
    "xterm",
    "xinit",
    "startx",
    "ghci",
    "jshell",
];

/// What is known of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// Its arguments are text.
    Text,
    /// Its arguments run nothing, but for the options in [`runs`].
    Files,
    /// What it runs cannot be told.
    Opaque,
    /// Nothing.
    None,
}

/// What is known of a program, by its name.
pub fn knowledge(program: &str) -> Knowledge {
    if TEXT.contains(&program) {
        Knowledge::Text
    } else if OPAQUE.contains(&program) || program.starts_with("ld-linux") || program.starts_with("ld.so") {
        Knowledge::Opaque
    } else if FILES.contains(&program) || FILES.contains(&versionless(program)) {
        Knowledge::Files
    } else {
        Knowledge::None
    }
}

/// A program's name without the number of a version.
pub fn versionless(program: &str) -> &str {
    let end = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    if end.is_empty() { program } else { end.trim_end_matches('-') }
}

/// Options with which a program runs another one, or a text.
pub struct Runs {
    program: &'static str,
    /// Options of one letter that do.
    letters: &'static str,
    /// Options of one letter that take a value, which is the rest of the word.
    with_value: &'static str,
    /// Long options, which may be cut short.
    long: &'static [&'static str],
    /// Beginnings of words that do.
    starts: &'static [&'static str],
    /// Whether the letters may stand in the first word without a `-`.
    is_bundled: bool,
}

const fn runs_with(
    program: &'static str,
    letters: &'static str,
    with_value: &'static str,
    long: &'static [&'static str],
    starts: &'static [&'static str],
) -> Runs {
    Runs { program, letters, with_value, long, starts, is_bundled: false }
}

const COMPILER: &[&str] = &[
    "-wrapper",
    "-fplugin",
    "-specs",
    "--specs",
    "-B",
    "-Xclang",
    "-load",
    "-plugin",
    "-fpass-plugin",
    "--ld-path",
    "@",
];

const RUNS: &[Runs] = &[
    Runs {
        is_bundled: true,
        ..runs_with(
            "tar",
            "IFT",
            "bCfgHKLNVX",
            &[
                "checkpoint-action",
                "to-command",
                "use-compress-program",
                "info-script",
                "new-volume-script",
                "rsh-command",
                "rmt-command",
                "files-from",
            ],
            &[],
        )
    },
    runs_with("sort", "", "kSTto", &["compress-program", "files0-from"], &[]),
    runs_with("wc", "", "", &["files0-from"], &[]),
    runs_with("du", "", "dBtX", &["files0-from"], &[]),
    runs_with("bun", "epr", "", &["eval", "print", "preload", "require"], &[]),
    runs_with("split", "", "abClnt", &["filter"], &[]),
    runs_with("install", "", "gmotS", &["strip-program"], &[]),
    runs_with("zip", "@", "bijnPtTxO", &["unzip-command"], &["-TT"]),
    runs_with("man", "PH", "CRLmMSsepEr", &["pager", "html", "browser"], &[]),
    runs_with("rg", "", "ABCEMTdefgjmrt", &["pre", "hostname-bin"], &[]),
    runs_with("ag", "", "ABCGgmp", &["pager"], &[]),
    runs_with("ack", "", "ABCgm", &["pager", "ackrc", "env"], &[]),
    runs_with("fd", "xX", "edtSEcj", &["exec", "exec-batch"], &[]),
    runs_with("fdfind", "xX", "edtSEcj", &["exec", "exec-batch"], &[]),
    runs_with("less", "kK", "bDhjoOpPtTxyz", &["lesskey-file", "lesskey-src", "lesskey-content"], &["+"]),
    runs_with("more", "", "", &[], &["+"]),
    runs_with("rsync", "eM", "BfT", &["rsh", "rsync-path", "remote-option", "files-from"], &[]),
    runs_with("scp", "oSFD", "cilPX", &[], &[]),
    runs_with("sftp", "oSFbDs", "BciIlPRX", &[], &[]),
    runs_with("ssh-add", "sS", "Et", &[], &[]),
    runs_with("ssh-keygen", "Dw", "abCEFfGIMmNnOPRrSsTtVWYz", &[], &[]),
    runs_with("curl", "K", "AbBcCdDeEFhHmoPQrtTuUvwxXyYz", &["config"], &[]),
    runs_with("wget", "e", "aABDiIlnOopPQRtTUwX", &["execute", "use-askpass", "config"], &[]),
    runs_with("nc", "ec", "", &["exec", "sh-exec", "lua-exec"], &[]),
    runs_with("ncat", "ec", "", &["exec", "sh-exec", "lua-exec"], &[]),
    runs_with("netcat", "ec", "", &["exec", "sh-exec", "lua-exec"], &[]),
    runs_with("gcc", "", "", &[], COMPILER),
    runs_with("g++", "", "", &[], COMPILER),
    runs_with("cc", "", "", &[], COMPILER),
    runs_with("c++", "", "", &[], COMPILER),
    runs_with("clang", "", "", &[], COMPILER),
    runs_with("clang++", "", "", &[], COMPILER),
    runs_with("rustc", "", "", &["codegen"], &["-C", "-Z", "@"]),
    runs_with("cargo", "", "", &["config"], &["-Z"]),
    runs_with(
        "go",
        "",
        "",
        &[],
        &["-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool", "-gccgoflags", "-overlay"],
    ),
    runs_with(
        "npm",
        "c",
        "",
        &["script-shell", "shell", "node-options", "call", "git", "viewer", "editor", "onload-script"],
        &[],
    ),
    runs_with("pnpm", "c", "", &["script-shell", "shell", "node-options", "shell-mode", "config"], &[]),
    runs_with("yarn", "", "", &["script-shell", "node-options"], &[]),
    runs_with("sdiff", "", "Iowl", &["diff-program"], &[]),
    runs_with("diff3", "", "L", &["diff-program"], &[]),
    runs_with("patch", "e", "BDdFgiopruVYz", &["ed"], &[]),
    runs_with("tcpdump", "z", "BcCEFGijmrsTvwWyZ", &["postrotate-command"], &[]),
    runs_with("nmap", "", "", &["script"], &["-sC", "-A"]),
    runs_with(
        "gpg",
        "",
        "",
        &["exec-path", "photo-viewer", "load-extension", "agent-program", "keyserver-options"],
        &[],
    ),
    runs_with("openssl", "", "", &[], &["-engine", "engine", "-config", "-provider"]),
    runs_with("helm", "", "", &["post-renderer"], &[]),
    runs_with("kubectl", "", "", &["kubeconfig"], &[]),
    runs_with("cmake", "", "", &[], &["-P", "-E"]),
    runs_with("ctest", "S", "", &["build-and-test", "script", "build-makeprogram"], &[]),
    runs_with("meson", "", "", &["wrapper", "gdb"], &[]),
    runs_with("ninja", "t", "CfjkldVw", &[], &[]),
    runs_with("pip", "", "", &["python", "config-settings", "global-option", "install-option", "build-option"], &[]),
    runs_with("pytest", "", "", &["debugger", "pdbcls", "trace"], &["--pdb"]),
    runs_with("dotnet", "", "", &[], &["-p:", "/p:"]),
    runs_with("mapfile", "C", "cdnOstu", &[], &[]),
    runs_with("readarray", "C", "cdnOstu", &[], &[]),
    runs_with("hash", "p", "", &[], &[]),
    runs_with("pdflatex", "", "", &["shell-escape", "enable-write18"], &["-shell-escape", "-enable-write18"]),
    runs_with("latex", "", "", &["shell-escape", "enable-write18"], &["-shell-escape", "-enable-write18"]),
    runs_with("xelatex", "", "", &["shell-escape", "enable-write18"], &["-shell-escape", "-enable-write18"]),
    runs_with("lualatex", "", "", &["shell-escape", "enable-write18"], &["-shell-escape", "-enable-write18"]),
    runs_with("xz", "", "", &["files"], &[]),
    runs_with("mvn", "", "", &[], &["exec:", "-Dexec"]),
    runs_with("gradle", "I", "bcpDP", &["init-script"], &[]),
    runs_with("eslint", "", "", &["rulesdir", "resolve-plugins-relative-to", "plugin"], &[]),
    runs_with("prettier", "", "", &["plugin"], &[]),
    runs_with("jest", "", "", &["globalSetup", "runner", "config", "testRunner"], &[]),
    runs_with("rake", "eEpr", "fIRt", &["execute", "execute-print", "execute-continue", "require"], &[]),
    runs_with("rspec", "r", "I", &["require"], &[]),
];

/// Subcommands that run what their arguments say, or set up what other programs run.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("bun", &["repl", "exec"]),
    ("bundle", &["console", "open", "config"]),
    ("cargo", &["config"]),
    ("deno", &["eval", "repl", "jupyter"]),
    ("docker", &["run", "exec", "attach", "container"]),
    ("docker-compose", &["run", "exec"]),
    ("dotnet", &["exec", "script", "fsi"]),
    ("gh", &["alias", "extension", "extensions", "ext", "codespace", "cs", "config"]),
    ("helm", &["plugin"]),
    ("kubectl", &["run", "exec", "debug", "attach", "config", "edit"]),
    ("meson", &["devenv"]),
    ("mix", &["run", "eval", "do", "cmd"]),
    ("nerdctl", &["run", "exec", "container"]),
    ("npm", &["explore", "edit", "config", "set", "c", "help"]),
    ("oc", &["run", "exec", "debug", "rsh", "attach"]),
    ("pip", &["config", "debug"]),
    ("pnpm", &["config", "set", "c"]),
    ("podman", &["run", "exec", "attach", "container"]),
    ("swift", &["repl"]),
    ("terraform", &["console"]),
    ("yarn", &["config", "node"]),
];

impl Runs {
    /// Whether a word is one of the options, or may be: of what is not known only the start is given.
    fn matches(&self, start: &str, is_known: bool, is_first: bool) -> bool {
        if self.starts.iter().any(|own| start.starts_with(own) || (!is_known && own.starts_with(start))) {
            return true;
        }
        if let Some(long) = start.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or(long);
            let is_whole = is_known || long.contains('=');
            return (!name.is_empty() || !is_whole) && self.long.iter().any(|own| own.starts_with(name));
        }
        let letters = match start.strip_prefix('-') {
            Some(letters) => letters,
            None if is_first && self.is_bundled => start,
            None => return !is_known && start.is_empty(),
        };
        for letter in letters.chars() {
            if self.letters.contains(letter) {
                return true;
            }
            // Without a `-` the values are words of their own.
            if self.with_value.contains(letter) && letters.len() < start.len() {
                return false;
            }
        }
        !is_known && (!self.letters.is_empty() || letters.is_empty())
    }
}

/// Whether there are options with which a program runs another one.
pub fn has_running_options(program: &str) -> bool {
    RUNS.iter().any(|runs| runs.program == program)
        || matches!(program, "git" | "make" | "gmake" | "find" | "sed" | "awk")
}

/// The word among some arguments that makes a program run another one, or that may be such a word.
pub fn running_word<'w>(program: &str, arguments: &'w [Word]) -> Option<&'w Word> {
    if let Some((_, subcommands)) = SUBCOMMANDS.iter().find(|(name, _)| *name == program) {
        let first = arguments.iter().find(|word| !word.start().starts_with('-'));
        let is_one = |word: &&Word| word.as_literal().is_none_or(|word| subcommands.contains(&word.as_str()));
        if let Some(word) = first.filter(is_one) {
            return Some(word);
        }
        let is_compose = first.is_some_and(|word| word.shown() == "compose");
        let inner = |word: &&Word| matches!(word.shown().as_str(), "run" | "exec");
        if let Some(word) = arguments.iter().find(inner).filter(|_| is_compose) {
            return Some(word);
        }
    }
    let runs = RUNS.iter().find(|runs| runs.program == program)?;
    let is_end = |word: &&Word| word.as_literal().as_deref() == Some("--");
    let mut options = arguments.iter().take_while(|word| !is_end(word)).enumerate();
    let is_running = |at: usize, word: &Word| {
        let is_known = word.as_literal().is_some();
        (is_known || word.may_be_option()) && runs.matches(word.start(), is_known, at == 0)
    };
    options.find(|(at, word)| is_running(*at, word)).map(|(_, word)| word)
}
