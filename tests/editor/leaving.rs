//! Leaving Neovim while a chat is busy: at once, without an error, and nothing of ours stays behind.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::chat;
use crate::support::{Editor, PATIENCE, at_best};

/// Far below any limit of a call, and far above what a busy machine needs.
const SOON: Duration = Duration::from_secs(15);

#[track_caller]
fn quit(editor: &mut Editor) {
    editor.assert_quiet();
    let start = Instant::now();
    assert_eq!(editor.quit(), Some(0));
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

fn folder(editor: &Editor) -> PathBuf {
    editor.home.path().to_owned()
}

#[track_caller]
fn wait_gone(pid: i64) {
    let deadline = Instant::now() + PATIENCE;
    // What has ended may wait for the system's first process to take notice.
    let is_alive = || {
        let output = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
        !matches!(output.stdout.first(), None | Some(b'Z'))
    };
    while is_alive() {
        assert!(Instant::now() < deadline, "process {pid} still runs");
        std::thread::yield_now();
    }
}

#[test]
fn it_takes_no_time_whatever_runs() {
    for (busy, begun) in [
        ("open({ { text = 'partly', hang = true } }, {})", "chat.is_running"),
        ("open({ answer('t', {}) }, { t = tool('t', { 'sleep 60' }) })", "count('LatheToolStarted') == 1"),
        ("open({ answer('t', {}) }, { t = tool('t', { function() end }) })", "count('LatheToolStarted') == 1"),
    ] {
        at_best(Duration::from_secs(2), || {
            let mut editor = chat::editor();
            editor.lua(busy);
            editor.lua("send('go')");
            editor.wait_lua(begun);
            let start = Instant::now();
            assert_eq!(editor.quit(), Some(0));
            start.elapsed()
        });
    }
}

#[test]
fn while_a_request_hangs() {
    let mut editor = chat::editor();
    editor.lua("open({ { text = 'partly', hang = true } }, {}) send('go')");
    editor.wait_buffer("partly");
    quit(&mut editor);
}

#[test]
fn while_a_request_is_delayed() {
    let mut editor = chat::editor();
    editor.lua("open({ { text = 'late', delay_ms = 3600000 } }, {}) send('go')");
    editor.wait_lua("count('LatheRequestStarted') == 1");
    quit(&mut editor);
}

#[test]
fn while_a_tool_runs_its_jobs_are_ended() {
    let mut editor = chat::editor();
    let killed = folder(&editor).join("killed");
    editor.run_with("jobs", vec![killed.to_str().unwrap().into()]);
    editor.wait_lua("sleeper");
    let pid = editor.lua_int("return sleeper.pid");
    quit(&mut editor);
    wait_gone(pid);
    assert_eq!(std::fs::read_to_string(&killed).unwrap().trim(), "15");
    assert!(folder(&editor).join("killed.exit").exists(), "on_exit runs");
    assert!(!folder(&editor).join("killed.never").exists());
}

#[test]
fn while_a_command_runs_its_processes_are_ended() {
    let mut editor = chat::editor();
    let pid_file = folder(&editor).join("pid");
    editor.run_with("command", vec![pid_file.to_str().unwrap().into()]);
    let pid = || std::fs::read_to_string(&pid_file).ok().and_then(|text| text.trim().parse().ok());
    editor.wait_until("the command", || pid().is_some());
    quit(&mut editor);
    wait_gone(pid().unwrap());
}

#[test]
fn while_a_command_that_takes_no_signal_runs_its_on_exit_runs() {
    let mut editor = chat::editor();
    let home = folder(&editor);
    editor.run_with("stubborn", vec![home.to_str().unwrap().into()]);
    let pid = || std::fs::read_to_string(home.join("pid")).ok().and_then(|text| text.trim().parse().ok());
    editor.wait_until("the command", || pid().is_some());
    quit(&mut editor);
    wait_gone(pid().unwrap());
    assert!(home.join("exit").exists(), "on_exit runs");
}

#[test]
fn while_a_question_is_open() {
    let mut editor = chat::editor();
    editor.run("asking");
    editor.wait_screen("Run the \"t\" tool?");
    quit(&mut editor);
    assert!(!folder(&editor).join("ran").exists());
}

#[test]
fn while_thousands_of_calls_are_queued() {
    let mut editor = chat::editor();
    editor.run("ten_thousand");
    editor.wait_lua("ran > 0");
    quit(&mut editor);
}

#[test]
fn from_inside_a_tool() {
    let mut editor = chat::editor();
    editor.lua(
        r#"
        open({ answer("t", {}, "t", { n = 2 }) }, { t = tool("t", { function() vim.cmd("qall!") end }) })
        send("go")"#,
    );
    assert_eq!(editor.wait_exit(), Some(0));
}

#[test]
fn a_chat_that_throws_while_it_ends_is_no_obstacle() {
    let mut editor = chat::editor();
    editor.run("throwing");
    editor.wait_lua("running");
    quit(&mut editor);
}
