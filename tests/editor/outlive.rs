//! Nothing outlives the editor, in whatever way it dies: commands, what they left in the background, what fled into a group
//! or a session of its own, and the commands that print keys.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::chat::PRELUDE;
use crate::support::{Editor, Setup, Value, at_best};

/// From the death of the editor until nothing may be left, on a machine as busy as it may be: what would be left runs for
/// days.
const LIMIT: Duration = Duration::from_secs(15);

/// Each makes a file of its own when it runs, and is told from others by the argument of its `sleep`.
const COMMANDS: [&str; 8] = [
    ": > up.${n}; sleep ${mark}",
    ": > up.${n}; exec sleep ${mark}",
    "sleep ${mark} & sleep ${mark} & : > up.${n}; wait",
    "trap '' TERM HUP INT QUIT; : > up.${n}; while :; do sleep ${mark}; done",
    // A group of its own, and a session of its own.
    ": > up.${n}; timeout ${mark} sleep ${mark}",
    ": > up.${n}; setsid sleep ${mark}",
    "(setsid sleep ${mark} &) ; : > up.${n}; sleep ${mark}",
    "sh -c 'sh -c \": > up.${n}; kill -STOP $PPID; sleep ${mark}\"; :'; :",
];

/// An editor of which `count` commands run at once.
fn editor(arguments: &[&str], count: usize, mark: &str) -> Editor {
    let mut setup = Setup::default();
    for argument in arguments {
        setup = setup.argument(*argument);
    }
    let editor = setup.start();
    editor.lua(PRELUDE);
    editor.run_with(
        "commands",
        vec![mark.into(), count.into(), Value::Array(COMMANDS.iter().map(|text| Value::from(*text)).collect())],
    );
    editor.wait_until("all commands", || (1..=count).all(|n| editor.home.path().join(format!("up.{n}")).exists()));
    editor
}

/// The processes with the mark in their arguments that are not dead.
fn running(mark: &str) -> Vec<String> {
    let output = Command::new("ps").args(["-A", "-o", "stat=,pid=,args="]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let alive = text.lines().filter(|line| line.contains(mark) && !line.trim_start().starts_with('Z'));
    alive.map(str::to_owned).collect()
}

/// The watchdog of an editor: its child with that name.
fn watchdog(editor: &Editor) -> Option<u32> {
    let output = Command::new("ps").args(["-A", "-o", "pid=,ppid=,stat=,args="]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (pid, parent): (u32, u32) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let state = words.next()?;
        (parent == editor.pid() && !state.starts_with('Z') && line.contains("lathe-watchdog")).then_some(pid)
    })
}

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

/// A text that no other process has in its arguments.
fn mark(number: usize) -> String {
    format!("{}.{number}", 700_000 + std::process::id())
}

#[track_caller]
fn assert_nothing_left(editor: &mut Editor, mark: &str, what: &str) {
    editor.wait_exit();
    let died = Instant::now();
    loop {
        let left = running(mark);
        if left.is_empty() {
            return;
        }
        if died.elapsed() > LIMIT {
            for pid in left.iter().filter_map(|line| line.split_whitespace().nth(1)) {
                let _ = Command::new("kill").args(["-KILL", pid]).status();
            }
            panic!("{what}: {left:#?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn nothing_is_left_after_any_death_of_the_editor() {
    for (number, name) in (0..).zip(["-KILL", "-ABRT", "-SEGV", "-TERM", "-HUP", "-QUIT", "-BUS", "-XCPU"]) {
        let mark = mark(number);
        let mut editor = editor(&[], COMMANDS.len(), &mark);
        assert!(running(&mark).len() >= COMMANDS.len());
        signal(editor.pid(), name);
        assert_nothing_left(&mut editor, &mark, name);
    }
}

/// What ends at SIGTERM is gone in a tenth of a second, what does not in 700 ms.
#[test]
fn all_is_gone_two_seconds_after_the_editor() {
    let mut number = 200;
    at_best(Duration::from_secs(2), || {
        number += 1;
        let mark = mark(number);
        let mut editor = editor(&[], COMMANDS.len(), &mark);
        signal(editor.pid(), "-KILL");
        editor.wait_exit();
        let died = Instant::now();
        assert_nothing_left(&mut editor, &mark, "-KILL");
        died.elapsed()
    });
}

#[test]
fn nothing_is_left_after_an_interrupt_of_a_headless_editor() {
    let mark = mark(20);
    let mut editor = editor(&["--headless"], COMMANDS.len(), &mark);
    signal(editor.pid(), "-INT");
    assert_nothing_left(&mut editor, &mark, "-INT");
}

#[test]
fn fifty_commands_at_once_end_with_the_editor() {
    for (number, count) in [(30, 50), (31, 50)] {
        let mark = mark(number);
        let mut editor = editor(&[], count, &mark);
        signal(editor.pid(), "-KILL");
        assert_nothing_left(&mut editor, &mark, "fifty");
    }
}

/// The editor dies somewhere among the starts of its commands.
#[test]
fn an_editor_that_dies_while_it_starts_commands_leaves_none() {
    for delay_ms in [0, 1, 2, 5, 10, 20, 40] {
        let mark = mark(40 + delay_ms);
        let mut editor = editor(&[], 1, &mark);
        editor.run_with("dying", vec![mark.as_str().into(), delay_ms.into()]);
        assert_nothing_left(&mut editor, &mark, &format!("{delay_ms} ms"));
    }
}

#[test]
fn what_is_left_in_the_background_ends_with_the_editor() {
    let mark = mark(100);
    let editor = Setup::default().start();
    editor.lua(PRELUDE);
    editor.run_with("background", vec![mark.as_str().into()]);
    editor.wait_ended(1);
    assert_eq!(running(&mark).len(), 3);
    let mut editor = editor;
    signal(editor.pid(), "-KILL");
    assert_nothing_left(&mut editor, &mark, "background");
}

#[test]
fn a_key_command_ends_with_the_editor() {
    let mark = mark(110);
    let editor = Setup::default().start();
    editor.lua(PRELUDE);
    editor.run_with("key_command", vec![mark.as_str().into()]);
    editor.wait_until("the command", || running(&mark).len() == 2);
    let mut editor = editor;
    signal(editor.pid(), "-KILL");
    assert_nothing_left(&mut editor, &mark, "the command for a key");
}

#[test]
fn a_watchdog_that_was_killed_is_replaced_and_knows_what_runs() {
    for (number, by_command) in [(120, true), (121, false)] {
        let mark = mark(number);
        let mut editor = editor(&[], COMMANDS.len(), &mark);
        let first = watchdog(&editor).unwrap();
        // It is replaced at once when it has lived for a second, else with the next command.
        if !by_command {
            std::thread::sleep(Duration::from_millis(1100));
        }
        signal(first, "-KILL");
        if by_command {
            editor.lua(r#"open({ answer("u", {}), { text = "done" } }, { u = tool("u", { "true" }) }) send("go")"#);
            editor.wait_ended(1);
        }
        editor.wait_until("another one", || watchdog(&editor).is_some_and(|pid| pid != first));
        signal(editor.pid(), "-KILL");
        assert_nothing_left(&mut editor, &mark, "after another watchdog");
    }
}

#[test]
fn neither_a_watchdog_nor_a_zombie_outlives_the_commands_and_the_editor() {
    let mark = mark(130);
    let mut editor = editor(&[], COMMANDS.len(), &mark);
    let pid = watchdog(&editor).unwrap();
    editor.lua("chat:stop()");
    editor.wait_ended(1);
    editor.wait_until("the end of all", || running(&mark).is_empty());
    assert_eq!(watchdog(&editor), Some(pid), "one for all commands of an editor");
    assert_eq!(editor.quit(), Some(0));
    let died = Instant::now();
    let is_alive = || Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap().stdout;
    while !matches!(is_alive().first(), None | Some(b'Z')) {
        assert!(died.elapsed() < LIMIT, "the watchdog is left");
    }
}

#[test]
fn an_editor_without_commands_has_no_watchdog() {
    let editor = Setup::default().start();
    editor.lua(PRELUDE);
    editor.lua(r#"open({ answer("t", {}), { text = "done" } }, { t = tool("t", { function() return { status = "success" } end }) }) send("go")"#);
    editor.wait_ended(1);
    assert_eq!(watchdog(&editor), None);
}
