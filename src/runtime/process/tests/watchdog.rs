//! What the watchdog ends when its pipe closes, and what becomes of it when it is ended itself.

use std::io::Read;
use std::process::{Command, Stdio};

use rustix::process::{kill_process, kill_process_group, test_kill_process_group};

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

#[track_caller]
fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Watchdog {
    fn pid(&self) -> Option<Pid> {
        lock(&self.0).process.as_ref().map(|process| process.pid)
    }

    /// What the death of the editor does: the pipe closes.
    fn close(&self) {
        drop(lock(&self.0).process.take());
    }
}

/// A shell in a group of its own, whose last line of output is known; awaited when it is dropped.
struct Shell {
    child: Child,
    output: io::PipeReader,
    watched: Option<Watched>,
}

impl Shell {
    /// Starts it; `knows_group`: the editor did not die before it could tell the group.
    fn start(watchdog: &Arc<Watchdog>, script: &str, knows_group: bool) -> Self {
        let (output, writer) = io::pipe().unwrap();
        let watched = watchdog.watch(&[&writer], std::env::var_os("PATH").as_deref());
        let mut command = Command::new("sh");
        command.args(["-c", script]).process_group(0).stdin(Stdio::null()).stdout(writer).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        if knows_group {
            watched.add_group(Pid::from_child(&child));
        }
        Self { child, output, watched: Some(watched) }
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits until the script prints something.
    fn wait_up(&mut self) {
        self.output.read_exact(&mut [0]).unwrap();
    }

    /// Waits until nobody holds the output any more.
    fn wait_closed(mut self) {
        let closed = std::thread::spawn(move || {
            let _ = self.output.read_to_end(&mut Vec::new());
            self.child.wait().unwrap();
        });
        wait_until("all has ended", || closed.is_finished());
    }
}

fn is_alive(pid: Pid) -> bool {
    rustix::process::test_kill_process(pid).is_ok()
}

#[test]
fn when_the_pipe_closes_all_that_is_watched_is_ended() {
    let scripts = [
        "echo; sleep 600",
        "echo; sleep 600 & sleep 600 & wait",
        "trap '' TERM HUP INT; echo; while :; do sleep 600; done",
        "echo; kill -STOP $$; sleep 600",
        // It has a group of its own.
        "echo; timeout 600 sleep 600",
        "echo; (sleep 600 & sleep 600 & wait) & exit 0",
    ];
    let watchdog = Arc::<Watchdog>::default();
    let mut shells: Vec<Shell> = scripts.iter().map(|script| Shell::start(&watchdog, script, true)).collect();
    for shell in &mut shells {
        shell.wait_up();
    }
    let pid = watchdog.pid().unwrap();
    let start = Instant::now();
    watchdog.close();
    for shell in shells {
        shell.wait_closed();
    }
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    wait_until("the watchdog ends as well", || !is_alive(pid));
}

/// The pipe of its output tells where the system does.
#[test]
#[cfg(target_os = "linux")]
fn when_the_pipe_closes_before_the_group_is_told_its_processes_are_ended() {
    let watchdog = Arc::<Watchdog>::default();
    for script in ["echo; sleep 600", "setsid sh -c 'echo; exec sleep 600' & wait"] {
        for knows_group in [false, true] {
            let mut shell = Shell::start(&watchdog, script, knows_group);
            shell.wait_up();
            watchdog.close();
            shell.wait_closed();
        }
    }
}

#[test]
fn what_is_watched_no_more_is_left_alone() {
    let watchdog = Arc::<Watchdog>::default();
    let mut shells: Vec<Shell> = (0..5).map(|_| Shell::start(&watchdog, "echo; sleep 600", true)).collect();
    for shell in &mut shells {
        shell.wait_up();
    }
    shells[1].watched = None;
    shells[3].watched = None;
    watchdog.close();
    for (number, shell) in shells.into_iter().enumerate() {
        if number % 2 == 1 {
            assert!(test_kill_process_group(shell.group()).is_ok(), "{number}");
            kill_process_group(shell.group(), Signal::KILL).unwrap();
        }
        shell.wait_closed();
    }
}

#[test]
fn a_watchdog_that_was_ended_is_replaced_with_the_next_command_and_knows_the_ones_before() {
    let watchdog = Arc::<Watchdog>::default();
    let mut first = Shell::start(&watchdog, "echo; sleep 600", true);
    first.wait_up();
    let dead = watchdog.pid().unwrap();
    kill_process(dead, Signal::KILL).unwrap();
    wait_until("it is awaited", || !is_alive(dead));
    let mut second = Shell::start(&watchdog, "echo; sleep 600", true);
    second.wait_up();
    assert_ne!(watchdog.pid().unwrap(), dead);
    watchdog.close();
    first.wait_closed();
    second.wait_closed();
}

#[test]
fn a_watchdog_that_was_ended_while_a_command_runs_is_replaced_at_once() {
    let watchdog = Arc::<Watchdog>::default();
    let mut shell = Shell::start(&watchdog, "echo; sleep 600", true);
    shell.wait_up();
    let dead = watchdog.pid().unwrap();
    let started = lock(&watchdog.0).process.as_ref().unwrap().started;
    wait_until("it has lived", || started.elapsed() > MIN_LIFE);
    kill_process(dead, Signal::KILL).unwrap();
    wait_until("another one", || watchdog.pid().is_some_and(|pid| pid != dead));
    watchdog.close();
    shell.wait_closed();
}

#[test]
fn signals_of_the_terminal_and_of_a_logout_do_not_end_it() {
    let watchdog = Arc::<Watchdog>::default();
    let mut shell = Shell::start(&watchdog, "echo; sleep 600", true);
    shell.wait_up();
    let pid = watchdog.pid().unwrap();
    // The script has set its traps by the time that it has read a line.
    for signal in [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::TSTP] {
        wait_until("it ignores the signal", || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap_or_default();
            let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).unwrap_or("7fffffff");
            u64::from_str_radix(ignored, 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
        });
        kill_process(pid, signal).unwrap();
    }
    watchdog.close();
    shell.wait_closed();
}

#[test]
fn a_watchdog_that_reads_nothing_holds_nobody_up() {
    let watchdog = Arc::<Watchdog>::default();
    let mut shell = Shell::start(&watchdog, "echo; sleep 600", true);
    shell.wait_up();
    let stopped = watchdog.pid().unwrap();
    kill_process(stopped, Signal::STOP).unwrap();
    let (_reader, writer) = io::pipe().unwrap();
    // More than a pipe holds.
    for _ in 0..10_000 {
        drop(watchdog.watch(&[&writer], None));
    }
    wait_until("it is replaced", || watchdog.pid() != Some(stopped) && !is_alive(stopped));
    assert!(test_kill_process_group(shell.group()).is_ok(), "giving it up ends nothing");
    watchdog.watch(&[&writer], std::env::var_os("PATH").as_deref());
    watchdog.close();
    shell.wait_closed();
}

#[test]
fn it_ends_with_the_last_who_needs_it() {
    let watchdog = Arc::<Watchdog>::default();
    let (_reader, writer) = io::pipe().unwrap();
    let watched = watchdog.watch(&[&writer], None);
    let pid = watchdog.pid().unwrap();
    drop(watchdog);
    assert!(is_alive(pid));
    drop(watched);
    wait_until("it ends", || !is_alive(pid));
}

#[test]
fn keys_of_the_environment_are_not_in_its_own() {
    let (child, pipe) = spawn(Some(OsStr::new("/bin"))).unwrap();
    let pid = child.id();
    if cfg!(target_os = "linux") {
        wait_until("the shell", || std::fs::read(format!("/proc/{pid}/environ")).is_ok_and(|text| !text.is_empty()));
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
        let names: Vec<_> = environment
            .split(|byte| *byte == 0)
            .filter_map(|entry| entry.split(|byte| *byte == b'=').next())
            .filter(|name| !name.is_empty())
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        assert_eq!(names, ["LC_ALL", "PATH", VARIABLE]);
    }
    drop(pipe);
    assert!({ child }.wait().unwrap().success());
}
