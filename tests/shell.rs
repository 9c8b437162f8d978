//! A real shell runs nothing that was not found in its text: random scripts, with stubs in place of programs.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use lathe_core::gate::rule::{Action, Fit, Pattern};
use lathe_core::gate::shell::{Command, Script, parse};
use lathe_core::gate::value::Value;
use proptest::prelude::*;

/// Stubs that write down that they ran, and the programs that run others.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in STUBS {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\necho {name} >> \"$LOG\"\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it may run");
    }
    for name in ["sh", "env", "nice", "nohup", "timeout", "xargs", "find", "cat", "setsid"] {
        let real = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(name));
        let real = real.iter().find(|path| path.exists());
        std::os::unix::fs::symlink(real.expect("a program every machine has"), folder.path().join(name))
            .expect("a link");
    }
    folder
}

const STUBS: [&str; 4] = ["one", "two", "rm", "four"];

fn ran(shell: &str, folder: &Path, text: &str) -> Vec<String> {
    let log = folder.join("log");
    let _ = fs::remove_file(&log);
    let mut shell = Process::new(shell);
    shell.args(["-c", text]).env_clear().env("PATH", folder).env("LOG", &log).env("X", "rm").current_dir(folder);
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.status().expect("a shell");
    fs::read_to_string(&log).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Whether a program may run, as far as the parts tell.
fn is_found(script: &Script, program: &str) -> bool {
    let Script::Parsed(parts) = script else { return *script == Script::Unparsable };
    let rule = Pattern::key(&format!("{program} *"));
    let is_named = |value: &Value| rule.fit(value, Action::Deny) > Fit::Never;
    let may_run = |command: &Command| {
        command.is_opaque() || command.views().chain(command.named.clone()).any(|view| is_named(&view))
    };
    parts.commands.iter().any(may_run)
}

fn name() -> impl Strategy<Value = String> {
    let plain = prop::sample::select(STUBS.to_vec());
    (plain, 0..9).prop_map(|(name, how)| match how {
        0 => format!("\"{name}\""),
        1 => format!("'{name}'"),
        2 => format!("\\{name}"),
        3 => format!("{}\"{}\"", &name[..1], &name[1..]),
        4 => format!("{}\\\n{}", &name[..1], &name[1..]),
        5 => format!("$(printf {name})"),
        6 => format!("./{name}"),
        7 => format!("{}''{}", &name[..2], &name[2..]),
        _ => name.to_owned(),
    })
}

fn simple() -> impl Strategy<Value = String> {
    let prefix = prop::sample::select(vec![
        "",
        "",
        "",
        "A=1 ",
        "env ",
        "env A=1 ",
        "nice ",
        "nice -n 1 ",
        "nohup ",
        "timeout 9 ",
        "timeout -k 1 9 ",
        "command ",
        "exec ",
        "eval ",
        "2>/dev/null ",
        "setsid -w ",
        "sh -c ",
        "! ",
        "timeout 9 env A=1 nice ",
    ]);
    let suffix = prop::sample::select(vec![
        "",
        "",
        "",
        " a",
        " 'b c'",
        " >f",
        " 2>&1",
        " \"$X\"",
        " # four",
        " \\\n a",
        " <<E\n$(rm)\nE\n",
        " <<'E'\n$(rm)\nE\n",
        " &",
        " {}",
    ]);
    (prefix, name(), suffix).prop_map(|(prefix, name, suffix)| format!("{prefix}{name}{suffix}"))
}

/// Several commands in a row.
fn row() -> impl Strategy<Value = String> {
    let glue = prop::sample::select(vec!["\n", "; ", " && ", " || ", " | ", " | ", "\n\n", " |\n", " &\n", " # two\n"]);
    prop::collection::vec((simple(), glue), 1..7)
        .prop_map(|parts| parts.into_iter().map(|(part, glue)| part + glue).collect::<String>() + "one")
}

fn script() -> impl Strategy<Value = String> {
    prop_oneof![simple(), row()].prop_recursive(4, 24, 3, |inner| {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
        prop_oneof![
            (inner.clone(), prop::sample::select(vec!["\n", "; ", " && ", " || ", " | "]), inner.clone())
                .prop_map(|(a, how, b)| format!("{a}{how}{b}")),
            inner.clone().prop_map(|a| format!("({a}\n)")),
            inner.clone().prop_map(|a| format!("{{ {a}\n}}")),
            inner.clone().prop_map(|a| format!("echo $({a}\n)")),
            inner.clone().prop_map(|a| format!("echo \"`{}`\"", a.replace('\\', "\\\\").replace('`', "\\`"))),
            inner.clone().prop_map(|a| format!("f() {{ {a}\n}}\nf")),
            inner.clone().prop_map(|a| format!("if {a}\nthen :; fi")),
            inner.clone().prop_map(|a| format!("for i in 1; do {a}\ndone")),
            inner.clone().prop_map(|a| format!("case x in *) {a}\n;; esac")),
            inner.clone().prop_map(move |a| format!("sh -c {}", quoted(&a))),
            inner.clone().prop_map(move |a| format!("eval {}", quoted(&a))),
            inner.clone().prop_map(move |a| format!("trap {} EXIT", quoted(&a))),
            inner.clone().prop_map(|a| format!("echo x | xargs {a}")),
            inner.clone().prop_map(|a| format!("find . -name log -exec {a} \\;")),
            inner.prop_map(|a| format!("echo \"${{Y:-$({a}\n)}}\"")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_real_shell_runs_nothing_that_was_not_found(text in script()) {
        let folder = folder();
        let found = parse(&text);
        for shell in ["/bin/sh", "/bin/bash"].into_iter().filter(|shell| Path::new(shell).exists()) {
            for program in ran(shell, folder.path(), &text) {
                prop_assert!(is_found(&found, &program), "{} ran {:?} which is not in {:?}", shell, program, found);
            }
        }
    }
}

proptest! {
    #[test]
    fn what_is_added_behind_is_found_as_well(before in script(), after in script()) {
        // As the shell sees it: the first text is whole.
        if let (Script::Parsed(one), Script::Parsed(both)) = (parse(&before), parse(&format!("{before}\n{after}"))) {
            for command in one.commands {
                let is_there = |other: &Command| other.is_opaque() >= command.is_opaque() && other.value == command.value && (other.value.is_some() || other.written == command.written);
                prop_assert!(both.commands.iter().any(is_there), "{:?} is lost in {:?}", command, both);
            }
        }
    }
}
