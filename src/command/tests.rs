//! Templates against real shells: what arrives is the value, and nothing in it ever runs.

mod places;
mod programs;
mod random;
mod shells;

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{ffi::OsStr, fs};

use super::*;

/// `sh`, and the others that are there.
fn shells() -> Vec<Vec<&'static str>> {
    let find = |name: &str| {
        let dirs = std::env::var_os("PATH").unwrap();
        std::env::split_paths(&dirs).map(|dir| dir.join(name)).find(|path| path.exists())
    };
    let real = |name: &str| find(name).map(|path| fs::canonicalize(path).unwrap());
    let mut shells = vec![vec!["dash"], vec!["bash"], vec!["bash", "--posix"], vec!["busybox", "sh"]];
    shells.retain(|shell| find(shell[0]).is_some());
    if real("sh") != real("dash") {
        shells.push(vec!["sh"]);
    }
    shells
}

struct Ran {
    stdout: Vec<u8>,
    stderr: String,
}

/// Runs a command the way the runtime does, in `dir`.
fn run_in(dir: &Path, shell: &[&str], prepared: &Prepared) -> Ran {
    // A random program may call itself for ever.
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -t 3; exec \"$@\"", "sh"])
        .args(shell)
        .args(SHELL_ARGUMENTS)
        .arg(OsStr::from_bytes(&prepared.script))
        .current_dir(dir);
    let files = tempfile::tempdir().unwrap();
    for variable in &prepared.variables {
        match variable.carrier {
            Carrier::Environment => command.env(&variable.name, OsStr::from_bytes(&variable.value)),
            Carrier::File => {
                let path = files.path().join(&variable.name);
                fs::write(&path, &variable.value).unwrap();
                command.env(&variable.name, path)
            }
        };
    }
    command.env_remove("x").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    Ran { stdout: output.stdout, stderr: String::from_utf8_lossy(&output.stderr).into_owned() }
}

fn env(values: &[(&str, Value)]) -> BTreeMap<String, Value> {
    values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn word(value: impl AsRef<[u8]>) -> Value {
    Value::Word(value.as_ref().to_vec())
}

fn words(values: &[&str]) -> Value {
    Value::Words(values.iter().map(|value| value.as_bytes().to_vec()).collect())
}

fn raw(value: &str) -> Value {
    Value::Raw(value.as_bytes().to_vec())
}

/// `v` is a hostile word, `n` a number, `l` a list, `none` an empty list, `r` raw.
fn values() -> BTreeMap<String, Value> {
    env(&[
        ("v", word("a'b\"  *$(>pwned)`>pwned`\\\n#;")),
        ("n", word("-3")),
        ("l", words(&["one", "two  *", ""])),
        ("none", words(&[])),
        ("r", raw("'x  y' z")),
    ])
}

/// A template, to be prepared with `values()`.
struct Template(&'static str);

fn t(text: &'static str) -> Template {
    Template(text)
}

impl Template {
    fn prepared(&self) -> Result<Prepared, CommandError> {
        prepare(self.0.as_bytes(), &values())
    }

    /// The script without its prologue.
    #[track_caller]
    fn becomes(self, script: &str) {
        let prepared = self.prepared().unwrap();
        let prologue: usize = if prepared.variables.is_empty() {
            0
        } else {
            let text = String::from_utf8(prepared.script.clone()).unwrap();
            let unset = text.find("unset __lathe_0").unwrap();
            unset + text[unset..].find("; ").unwrap() + 2
        };
        assert_eq!(String::from_utf8_lossy(&prepared.script[prologue..]), script, "{}", self.0);
    }

    #[track_caller]
    fn shows(self, shown: &str) {
        assert_eq!(String::from_utf8_lossy(&self.prepared().unwrap().shown), shown, "{}", self.0);
    }

    #[track_caller]
    fn refuses(self, message: &str) {
        let error = self.prepared().expect_err(self.0).to_string();
        assert!(error.contains(message), "{}: {error}", self.0);
    }

    /// What every shell prints; `V` stands for the hostile word.
    #[track_caller]
    fn prints(self, wanted: &str) {
        let Value::Word(hostile) = &values()["v"] else { unreachable!() };
        let wanted = wanted.replace('V', std::str::from_utf8(hostile).unwrap());
        let prepared = self.prepared().unwrap();
        for shell in shells() {
            let dir = tempfile::tempdir().unwrap();
            let ran = run_in(dir.path(), &shell, &prepared);
            assert_eq!(String::from_utf8_lossy(&ran.stdout), wanted, "{shell:?} {}\n{}", self.0, ran.stderr);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{shell:?} ran the value: {}", self.0);
        }
    }
}

fn show_bytes(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}
