//! Commands with a real `sh`: none hangs, leaks or loses output.

mod silent;

use std::fs;
use std::sync::mpsc::{Receiver, channel};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// A folder of its own, a registry of its own, and what runs there.
struct Bench {
    folder: tempfile::TempDir,
    processes: Processes,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), processes: Processes::default() }
    }

    fn command(&self, script: impl Into<Vec<u8>>) -> Command {
        Command {
            cwd: Some(self.folder.path().into()),
            spill: Spill { folder: Some(self.folder.path().join("outputs")) },
            ..Command::new(script)
        }
    }

    fn start(&self, command: Command) -> (Running, Receiver<Outcome>) {
        let (sender, receiver) = channel();
        (self.processes.start(command, move |outcome| sender.send(outcome).unwrap()), receiver)
    }

    /// Runs to the end, which must come in time, and must leave nothing behind.
    fn run_command(&self, command: Command, limit: Duration) -> Outcome {
        let (running, receiver) = self.start(command);
        let outcome = receiver.recv_timeout(limit).expect("ends in time");
        drop(running);
        outcome
    }

    fn run(&self, script: impl Into<Vec<u8>>) -> Outcome {
        self.run_command(self.command(script), 5 * SECOND)
    }

    fn stop(&self, script: &str, ready: impl Fn(&Self, &Running) -> bool) -> Outcome {
        let (running, receiver) = self.start(self.command(script));
        wait_for("the command to be ready", || ready(self, &running));
        running.stop(Stop::User);
        receiver.recv_timeout(2 * SECOND).expect("stops in time")
    }

    fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.path().join(name)).ok()
    }

    /// All processes that work in our folder.
    #[cfg(target_os = "linux")]
    fn survivors(&self) -> Vec<String> {
        let folder = self.folder.path().canonicalize().unwrap();
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder))
            .map(|entry| fs::read_to_string(entry.path().join("stat")).unwrap_or_default())
            .filter(|stat| !stat.is_empty())
            .collect()
    }
}

fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < 10 * SECOND, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn code(outcome: &Outcome) -> i32 {
    match outcome.exit {
        Exit::Code(code) => code,
        Exit::Signal(_) | Exit::Stopped(_) | Exit::NotStarted(_) => panic!("{outcome:?}"),
    }
}

fn names(processes: &[Leftover]) -> Vec<&str> {
    let mut names: Vec<&str> = processes.iter().map(|process| process.name.as_str()).collect();
    names.sort_unstable();
    names
}

// Ending by itself

#[test]
fn streams_and_code_are_told_apart() {
    let bench = Bench::new();
    let outcome = bench.run("printf out; printf warn >&2");
    assert_eq!((code(&outcome), &*outcome.stdout.text, &*outcome.stderr.text), (0, "out", "warn"));
    assert_eq!(render(&outcome), "out\nstderr (exit code 0):\nwarn");
    let outcome = bench.run("echo only >&2; exit 3");
    assert_eq!((code(&outcome), &*outcome.stdout.text, &*outcome.stderr.text), (3, "", "only\n"));
}

#[test]
fn script_reaches_the_shell_byte_for_byte() {
    let bench = Bench::new();
    assert_eq!(bench.run("true && cat <<'E'\nline  two\n\"$x\" 'y'\nE").stdout.text, "line  two\n\"$x\" 'y'\n");
    assert!(bench.run("-x; echo no option").stdout.text.ends_with("no option\n"));
}

#[test]
fn environment_neither_asks_nor_pages_and_lacks_what_is_taken_away() {
    let bench = Bench::new();
    let mut command =
        bench.command("echo $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $NO_COLOR $TERM ${CARGO_PKG_NAME-gone} $A");
    command.withheld.names = vec!["CARGO_PKG_NAME".into()];
    command.variables = vec![("A".into(), "b".into()), ("TERM".into(), "vt100".into())];
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
    assert_eq!(bench.run_command(command, 5 * SECOND).stdout.text, "cat cat 0 1 vt100 gone b\n");
}

#[test]
fn stdin_is_empty() {
    assert_eq!(Bench::new().run("read -r a; echo got:$a").stdout.text, "got:\n");
}

#[test]
fn end_by_a_signal_names_it() {
    let outcome = Bench::new().run("kill -SEGV $$");
    assert!(matches!(&outcome.exit, Exit::Signal(name) if name == "SIGSEGV"), "{outcome:?}");
}

#[test]
fn command_not_found_is_127_with_the_message_of_the_shell() {
    let outcome = Bench::new().run("no_such_command_here");
    assert_eq!(code(&outcome), 127);
    assert!(outcome.stderr.text.contains("no_such_command_here") && outcome.stderr.text.contains("not found"));
}

#[test]
fn what_cannot_start_says_why_and_what_to_do() {
    let bench = Bench::new();
    let t = |change: &dyn Fn(&mut Command)| {
        let mut command = bench.command("echo never");
        change(&mut command);
        let outcome = bench.run_command(command, 5 * SECOND);
        assert!(matches!(outcome.exit, Exit::NotStarted(_)), "{outcome:?}");
        render(&outcome)
    };
    fs::write(bench.folder.path().join("file"), "").unwrap();
    let in_folder = |name: &str| Some(bench.folder.path().join(name));
    assert!(
        t(&|command| command.cwd = in_folder("gone"))
            .ends_with("gone\" does not exist (any more), so nothing was run. Use a folder that exists.")
    );
    assert!(t(&|command| command.cwd = in_folder("file")).contains("file\" is not a folder"));
    assert!(t(&|command| command.cwd = in_folder("file/below")).contains("below\" is not a folder"));
    assert!(t(&|command| command.shell = "no-such-shell".into()).contains("Set tools.opts.shell"));
    assert!(t(&|command| command.shell = "/etc/passwd".into()).contains("Set tools.opts.shell"));
    assert!(t(&|command| command.script.push(0)).contains("NUL byte"));
    assert!(
        t(&|command| command.variables.push(("A".into(), "x".repeat(9 << 20).into()))).contains("could not be started")
    );
}

#[test]
fn folder_deleted_while_it_is_the_working_directory_is_named() {
    let bench = Bench::new();
    let gone = bench.folder.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let mut command = bench.command("rm -r ../gone; ls . missing; sh -c 'echo still here'");
    command.cwd = Some(gone.clone());
    assert!(bench.run_command(command.clone(), 5 * SECOND).stdout.text.ends_with("still here\n"));
    assert!(render(&bench.run_command(command, 5 * SECOND)).contains(&format!("{gone:?} does not exist")));
}

/// The thread that starts it is a user without rights, also when the tests are run by root.
#[test]
#[cfg(target_os = "linux")]
fn folder_that_cannot_be_entered_is_named() {
    use std::os::unix::fs::PermissionsExt;

    let bench = Bench::new();
    let closed = bench.folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(bench.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = bench.command("echo never");
    command.cwd = Some(closed.clone());
    let outcome = std::thread::scope(|scope| {
        let run = || {
            if rustix::process::getuid().is_root() {
                let nobody = rustix::process::Uid::from_raw(65534);
                rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            }
            bench.run_command(command, 5 * SECOND)
        };
        scope.spawn(run).join().unwrap()
    });
    assert!(render(&outcome).contains(&format!("{closed:?} cannot be entered (Permission denied")), "{outcome:?}");
}

// What stays in the background

#[test]
#[cfg(target_os = "linux")]
fn background_child_that_holds_the_pipe_does_not_keep_the_command() {
    let bench = Bench::new();
    let start = Instant::now();
    let outcome = bench.run("sleep 60 & echo ready");
    assert!(start.elapsed() < SECOND, "{:?}", start.elapsed());
    assert_eq!((code(&outcome), &*outcome.stdout.text, names(&outcome.ended)), (0, "ready\n", vec!["sleep"]));
    let note = format!(
        "ready\n[exit code 0; still running in the background after the end of the command, so it was ended: sleep (pid {})]",
        outcome.ended[0].pid
    );
    assert_eq!(render(&outcome), note);
    assert_eq!(bench.survivors(), [""; 0]);
}

#[test]
#[cfg(target_os = "linux")]
fn background_loop_that_keeps_writing_is_ended() {
    let bench = Bench::new();
    let outcome = bench.run_command(bench.command("(while :; do echo x; sleep 0.1; done) & echo fg"), SECOND);
    assert!(outcome.stdout.text.contains("fg\n"));
    assert!(names(&outcome.ended).contains(&"sh"), "{outcome:?}");
    assert_eq!(bench.survivors(), [""; 0]);
}

#[test]
#[cfg(target_os = "linux")]
fn background_child_without_our_pipes_is_ended_too() {
    let bench = Bench::new();
    let outcome = bench.run_command(bench.command("(trap '' TERM; sleep 60) >/dev/null 2>&1 & echo ready"), SECOND);
    assert_eq!(outcome.stdout.text, "ready\n");
    assert!(!outcome.ended.is_empty());
    assert_eq!(bench.survivors(), [""; 0]);
}

#[test]
#[cfg(target_os = "linux")]
fn child_with_a_session_of_its_own_is_ended() {
    let bench = Bench::new();
    for script in ["setsid sleep 60 & echo ready", "setsid -f sleep 60; echo ready"] {
        let outcome = bench.run_command(bench.command(script), SECOND);
        assert_eq!(outcome.stdout.text, "ready\n");
        assert_eq!(names(&outcome.ended), ["sleep"], "{script}");
        assert_eq!(bench.survivors(), [""; 0]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn background_command_is_left_and_its_pipes_stay_open() {
    let bench = Bench::new();
    let mut command = bench.command(
        "(while [ ! -e end ]; do head -c 200000 /dev/zero; echo >&2; done; echo ended > done) & echo ready; : > began",
    );
    command.background = true;
    let outcome = bench.run_command(command, SECOND);
    assert!(outcome.ended.is_empty() && names(&outcome.left).contains(&"sh"), "{outcome:?}");
    assert!(render(&outcome).contains("[exit code 0; still running in the background: sh (pid "));
    assert_eq!(bench.processes.count(), 1);
    fs::write(bench.folder.path().join("end"), "").unwrap();
    // Neither blocked by a full pipe nor ended by a closed one.
    wait_for("the background to end", || bench.file("done").as_deref() == Some("ended\n"));
    wait_for("its thread to end", || bench.processes.count() == 0);
}

#[test]
#[cfg(target_os = "linux")]
fn exit_of_the_editor_ends_what_runs_and_what_was_left() {
    let bench = Bench::new();
    let mut command = bench.command("sleep 60 & trap '' TERM; sleep 61 >/dev/null 2>&1 & echo ready");
    command.background = true;
    let outcome = bench.run_command(command, SECOND);
    assert_eq!(names(&outcome.left), ["sleep", "sleep"]);
    let (_running, receiver) = bench.start(bench.command("trap '' TERM; : > began; sleep 62; sleep 63"));
    wait_for("the command to begin", || bench.file("began").is_some());
    let start = Instant::now();
    let all_ended = bench.processes.stop_all_and_wait(2 * SECOND);
    assert!(all_ended, "{:?} {:?}", start.elapsed(), bench.survivors());
    let outcome = receiver.try_recv().expect("told before the wait is over");
    assert!(matches!(outcome.exit, Exit::Stopped(Stop::EditorExit)), "{outcome:?}");
    assert_eq!((bench.survivors(), bench.processes.count()), (vec![], 0));
}

// Stopping

#[test]
#[cfg(target_os = "linux")]
fn stop_keeps_what_was_printed() {
    let bench = Bench::new();
    let outcome = bench.stop("echo half; sleep 60", |_, running| running.last_line() == "half");
    assert!(matches!(outcome.exit, Exit::Stopped(Stop::User)));
    assert_eq!(outcome.stdout.text, "half\n");
    assert!(render(&outcome).starts_with("The command was stopped by the user after "));
    assert!(outcome.duration < SECOND, "SIGTERM was enough: {:?}", outcome.duration);
    assert_eq!(bench.survivors(), [""; 0]);
}

#[test]
#[cfg(target_os = "linux")]
fn loop_stops_beating() {
    let bench = Bench::new();
    let script = "sh -c 'while :; do date >> beat.txt; sleep 0.01; done'";
    bench.stop(script, |bench, _| bench.file("beat.txt").is_some_and(|beats| beats.lines().count() > 3));
    assert_eq!(bench.survivors(), [""; 0]);
}

#[test]
#[cfg(target_os = "linux")]
fn child_that_ignores_term_is_killed() {
    let bench = Bench::new();
    let start = Instant::now();
    bench.stop("trap '' TERM; : > ready; sleep 60; sleep 60", |bench, _| bench.file("ready").is_some());
    assert!(start.elapsed() > SECOND, "it had its time: {:?}", start.elapsed());
    assert_eq!(bench.survivors(), [""; 0]);
}

#[test]
#[cfg(target_os = "linux")]
fn tree_of_50_descendants_is_ended() {
    let bench = Bench::new();
    let script = "
        tree() {
            if [ $1 -gt 0 ]; then tree $(($1 - 1)) & fi
            echo $1 >> up
            trap '' TERM
            while :; do sleep 60; done
        }
        for i in 1 2 3; do tree 4 & done
        setsid sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do sleep 61 >/dev/null 2>&1 & done; echo up >> up; sleep 62' &
        wait";
    let up = |bench: &Bench, _: &Running| {
        bench.file("up").is_some_and(|up| up.lines().count() == 16) && bench.survivors().len() > 50
    };
    bench.stop(script, up);
    assert_eq!(bench.survivors(), [""; 0]);
}

#[test]
#[cfg(target_os = "linux")]
fn stopped_processes_and_those_that_fork_on_are_ended() {
    let bench = Bench::new();
    let is_halted = |bench: &Bench, _: &Running| bench.survivors().iter().any(|stat| stat.contains(") T "));
    bench.stop("kill -STOP $$; sleep 60", is_halted);
    assert_eq!(bench.survivors(), [""; 0]);
    // Each child is in a session of its own and replaces itself on SIGTERM.
    let script =
        "printf '%s' 'trap \"setsid sh ./again & exit\" TERM; echo >> up; sleep 60 & wait' > again; setsid sh ./again";
    bench.stop(script, |bench, _| bench.file("up").is_some());
    assert_eq!(bench.survivors(), [""; 0]);
}

#[test]
fn time_limit_is_told() {
    let bench = Bench::new();
    let (running, receiver) = bench.start(bench.command("sleep 60"));
    running.stop(Stop::TimedOut { limit_ms: 50 });
    running.stop(Stop::User);
    let outcome = receiver.recv_timeout(2 * SECOND).unwrap();
    assert_eq!(render(&outcome), "The command timed out after 50 ms and was ended. It had printed nothing.");
}

#[test]
#[cfg(target_os = "linux")]
fn dropped_handle_stops_the_command() {
    let bench = Bench::new();
    let (running, receiver) = bench.start(bench.command(": > ready; sleep 60"));
    wait_for("the command to begin", || bench.file("ready").is_some());
    drop(running);
    assert!(matches!(receiver.recv_timeout(2 * SECOND).unwrap().exit, Exit::Stopped(Stop::User)));
    assert_eq!(bench.survivors(), [""; 0]);
}

#[test]
fn stop_after_the_end_changes_nothing() {
    let bench = Bench::new();
    let (running, receiver) = bench.start(bench.command("echo x"));
    let outcome = receiver.recv_timeout(5 * SECOND).unwrap();
    running.stop(Stop::User);
    running.stop(Stop::EditorExit);
    assert_eq!((code(&outcome), &*outcome.stdout.text), (0, "x\n"));
    assert!(receiver.recv_timeout(5 * SECOND).is_err(), "one outcome");
}

// Much output

#[test]
#[cfg(target_os = "linux")]
fn endless_output_is_stopped_in_bounded_memory() {
    let bench = Bench::new();
    let file_bytes = |bench: &Bench| -> u64 {
        let files = fs::read_dir(bench.folder.path().join("outputs")).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
    };
    let before = peak_memory_kib();
    let outcome = bench.stop("yes", |bench, running| file_bytes(bench) > 120_000_000 && running.last_line() == "y");
    // Other tests may run in this process.
    assert!(peak_memory_kib() - before < 64 * 1024, "{} KiB", peak_memory_kib() - before);
    let removed = outcome.stdout.truncated.unwrap();
    assert!(removed.total_bytes > 120_000_000);
    assert_eq!(fs::metadata(outcome.stdout.file.unwrap()).unwrap().len(), removed.total_bytes);
    assert_eq!(bench.survivors(), [""; 0]);
}

#[cfg(target_os = "linux")]
fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn hundred_megabytes_lose_nothing() {
    let bench = Bench::new();
    let line = "0123456789abcdef".repeat(4);
    let script = format!("yes {line} | head -c 104857600; echo end >&2");
    let outcome = bench.run_command(bench.command(script), 60 * SECOND);
    let removed = outcome.stdout.truncated.unwrap();
    assert_eq!((removed.total_bytes, removed.total_lines), (104_857_600, 104_857_600 / 65 + 1));
    assert_eq!(fs::metadata(outcome.stdout.file.unwrap()).unwrap().len(), 104_857_600);
    assert!(!outcome.stdout.lost);
    assert_eq!(outcome.stderr.text, "end\n");
}

#[test]
fn one_line_of_10_megabytes_is_cut_within() {
    let bench = Bench::new();
    let outcome = bench.run_command(bench.command("head -c 10000000 /dev/zero | tr '\\0' x; printf end"), 30 * SECOND);
    let (text, removed) = (&outcome.stdout.text, outcome.stdout.truncated.unwrap());
    assert_eq!((removed.lines, removed.total_bytes), (0, 10_000_003));
    assert!(text.len() < 52_000 && text.starts_with("xxx") && text.ends_with("xend"));
}

#[test]
fn both_streams_share_the_limits() {
    let bench = Bench::new();
    let outcome = bench.run("seq 1 5000; seq 1 5000 >&2; exit 1");
    let text = render(&outcome);
    assert!(text.split('\n').count() <= 2000, "{}", text.split('\n').count());
    assert!(outcome.stdout.text.contains("\n5000\n") && outcome.stderr.text.contains("\n5000\n"));
    assert!(outcome.stdout.file != outcome.stderr.file);
    let again = crate::output::cut(&text, &Limits::new(Keep::Head), &Spill::default());
    assert_eq!(again.truncated, None);
    // All of a short one, whatever the other has.
    let outcome = bench.run("seq 1 100; seq 1 5000 >&2");
    assert_eq!(outcome.stdout.truncated, None);
    assert!(outcome.stderr.truncated.is_some());
    // Exactly at the limit.
    assert_eq!(bench.run("seq 1 1999").stdout.truncated, None);
    assert_eq!(bench.run("seq 1 2000").stdout.truncated.unwrap().total_lines, 2001);
}

#[test]
fn encodings_colours_and_progress_come_as_text() {
    let bench = Bench::new();
    assert!(bench.run("printf '\\304\\343\\272\\303'").stdout.text.starts_with("你好\n[not all"));
    assert_eq!(bench.run("printf '\\377\\376h\\0i\\0'").stdout.text, "hi");
    assert_eq!(bench.run("for i in 1 2 3; do printf \"$i%%\\r\"; done; echo").stdout.text, "3%\n");
    assert_eq!(
        bench.run("printf '\\033[31mred\\033[0m \\033]8;;x\\033\\\\link\\033]8;;\\033\\\\\\n'").stdout.text,
        "red link\n"
    );
    assert!(bench.run("head -c 5000 /dev/zero").stdout.text.starts_with("[5,000 bytes of binary data]"));
    let mut command = bench.command("printf '\\360\\322'");
    command.encoding = Encoding::for_label(b"koi8-r");
    assert_eq!(bench.run_command(command, 5 * SECOND).stdout.text, "Пр");
}

#[test]
fn last_line_is_seen_while_it_runs() {
    let bench = Bench::new();
    let (running, receiver) =
        bench.start(bench.command("printf '\\033[32m10%%\\r20%%'; while [ ! -e go ]; do sleep 0.01; done; echo done"));
    wait_for("the progress", || running.last_line() == "20%");
    fs::write(bench.folder.path().join("go"), "").unwrap();
    assert_eq!(receiver.recv_timeout(5 * SECOND).unwrap().stdout.text, "20%done\n");
}

// Many

#[test]
#[cfg(target_os = "linux")]
fn two_hundred_at_once_all_end_and_leave_no_zombie() {
    let bench = Bench::new();
    let start = Instant::now();
    let all: Vec<_> = (0..200)
        .map(|number| {
            bench.start(bench.command(format!("sleep 0.2; echo {number}; echo err >&2; exit {}", number % 7)))
        })
        .collect();
    for (number, (_running, receiver)) in all.iter().enumerate() {
        let outcome = receiver.recv_timeout(20 * SECOND).unwrap();
        assert_eq!((code(&outcome), outcome.stdout.text), (number as i32 % 7, format!("{number}\n")));
    }
    println!("200 commands of 0.2 s took {:?}", start.elapsed());
    wait_for("all threads to end", || bench.processes.count() == 0);
    wait_for("no zombie to be left", || zombies().is_empty());
}

#[test]
fn those_beyond_the_limit_wait_and_can_be_stopped() {
    let bench = Bench::new();
    lock(&bench.processes.0.state).running = usize::MAX / 2;
    let (running, receiver) = bench.start(bench.command("echo x"));
    let (stopped, stopped_receiver) = bench.start(bench.command("echo y"));
    stopped.stop(Stop::User);
    let outcome = stopped_receiver.recv_timeout(5 * SECOND).unwrap();
    assert!(matches!(outcome.exit, Exit::Stopped(Stop::User)));
    assert_eq!(render(&outcome), "The command was stopped by the user after 0.0 s. It had printed nothing.");
    lock(&bench.processes.0.state).running = 0;
    bench.processes.0.changed.notify_all();
    assert_eq!(receiver.recv_timeout(5 * SECOND).unwrap().stdout.text, "x\n");
    drop(running);
}

#[test]
#[cfg(target_os = "linux")]
fn thirty_commands_leave_no_zombie() {
    let bench = Bench::new();
    for _ in 0..30 {
        assert_eq!(code(&bench.run("true")), 0);
    }
    wait_for("no zombie to be left", || zombies().is_empty());
}

/// Children of this process that ended and were not awaited.
#[cfg(target_os = "linux")]
fn zombies() -> Vec<i32> {
    let own = std::process::id().to_string();
    let numbers = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|pid: &i32| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_ascii_whitespace().collect();
            fields.first() == Some(&"Z") && fields.get(1) == Some(&own.as_str())
        })
        .collect()
}
