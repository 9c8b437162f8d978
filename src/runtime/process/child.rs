//! The life of one command on its own thread: started, read, and ended by itself or by a stop.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal};

use super::family::{Family, Process, is_alive, writers};
use super::spawn::{Spawned, spawn};
use super::wait::{Waker, watch_exit};
use super::watchdog::{Watchdog, Watched};
use super::{Command, Entry, Exit, Leftover, Outcome, Shared, StartError, Stop, lock};
use crate::output::{Collector, Output};

/// How long what the shell left may go on, and be read, after its end.
const SETTLE: Duration = Duration::from_millis(200);
/// What the shell left has this long between SIGTERM and SIGKILL.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);
/// After SIGKILL, the longest wait for a process to be gone.
const KILL_WAIT: Duration = Duration::from_millis(500);
/// The last line is made known at most this often.
const SHOW: Duration = Duration::from_millis(100);
/// How often what still runs in the background, without a pipe of ours, is looked at.
const LEFT_CHECK: Duration = Duration::from_secs(2);
const READ_BYTES: usize = 64 * 1024;
/// What the notes around the output of a command need of its limits.
const NOTE_LINES: usize = 12;
const NOTE_BYTES: usize = 1024;

/// A command that waits for its thread.
pub(super) struct Job {
    pub(super) command: Command,
    pub(super) environment: HashMap<OsString, OsString>,
    pub(super) shared: Arc<Shared>,
    pub(super) on_end: Box<dyn FnOnce(Outcome) + Send>,
}

impl Job {
    /// The whole life of the command.
    pub(super) fn run(self, mut entry: Entry) {
        if let Err(why) = entry.wait_for_turn(&self.shared) {
            return (self.on_end)(Outcome::nothing_printed(Exit::Stopped(why), Duration::ZERO));
        }
        let watchdog = &entry.registry.watchdog;
        let mut session = match Session::start(self.command, &self.environment, self.shared, watchdog) {
            Ok(session) => session,
            Err(error) => return (self.on_end)(Outcome::not_started(error)),
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| session.run())).unwrap_or_else(|_| session.give_up());
        let left = outcome.left.clone();
        if left.is_empty() {
            drop(session);
            return (self.on_end)(outcome);
        }
        entry.give_way();
        (self.on_end)(outcome);
        session.attend();
    }
}

/// One of the two pipes.
struct Stream {
    pipe: Option<File>,
    /// None: what comes is thrown away.
    collector: Option<Collector>,
}

/// What ended a wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Woken {
    Exit,
    Stop,
    Closed,
    Time,
}

/// A shell that was started, and what it started.
struct Session {
    command: Command,
    shared: Arc<Shared>,
    started: Instant,
    shell: Option<Child>,
    exit: OwnedFd,
    family: Family,
    /// stdout and stderr
    streams: [Stream; 2],
    buffer: Box<[u8]>,
    /// The stream that printed last, when its last line was not shown yet.
    unshown: Option<usize>,
    show_at: Instant,
    left: Vec<Process>,
    /// Held until the end of all.
    _watched: Watched,
}

impl Session {
    fn start(
        command: Command,
        environment: &HashMap<OsString, OsString>,
        shared: Arc<Shared>,
        watchdog: &Arc<Watchdog>,
    ) -> Result<Self, StartError> {
        let refused = |source: io::Error| StartError::Refused { source };
        let _ = shared.waker.set(Waker::new().map_err(refused)?);
        let started = Instant::now();
        let Spawned { mut shell, pipes, watched } = spawn(&command, environment, watchdog)?;
        let pid = Pid::from_child(&shell);
        let family = Family::new(pid.as_raw_nonzero().get());
        lock(&shared.state).living = family.shell().into_iter().collect();
        let exit = match watch_exit(pid) {
            Ok(exit) => exit,
            Err(source) => {
                let _ = rustix::process::kill_process_group(pid, Signal::KILL);
                let _ = shell.wait();
                return Err(refused(source));
            }
        };
        let streams = pipes.map(|pipe| Stream {
            pipe: Some(File::from(OwnedFd::from(pipe))),
            collector: Some(Collector::with_encoding(command.limits.clone(), command.spill.clone(), command.encoding)),
        });
        Ok(Self {
            command,
            shared,
            started,
            shell: Some(shell),
            exit,
            family,
            streams,
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            unshown: None,
            show_at: started,
            left: Vec::new(),
            _watched: watched,
        })
    }

    fn run(&mut self) -> Outcome {
        let until = self.command.limit.map(|limit| self.started + limit);
        loop {
            if let Some(why) = self.shared.stopped() {
                return self.stop(why);
            }
            match self.pump(until, Woken::Exit) {
                Woken::Exit => break,
                Woken::Time => {
                    let limit = self.command.limit.unwrap_or_default().as_millis();
                    self.shared.stop(Stop::TimedOut { limit_ms: u64::try_from(limit).unwrap_or(u64::MAX) });
                }
                Woken::Stop | Woken::Closed => {}
            }
        }
        let status = self.shell.take().map(|mut shell| shell.wait());
        let duration = self.started.elapsed();
        let ended = self.settle();
        let exit = match (self.shared.stopped(), status) {
            // The exit of the editor came while the leftovers were waited for; the command itself was through.
            (_, Some(Ok(status))) => exit(status),
            (_, Some(Err(source))) => Exit::NotStarted(StartError::Refused { source }),
            (why, None) => Exit::Stopped(why.unwrap_or(Stop::User)),
        };
        self.outcome(exit, ended, duration)
    }

    /// After the exit of the shell: reads what is there, then ends what still runs or leaves it. Gives what was ended.
    fn settle(&mut self) -> Vec<Process> {
        let until = Instant::now() + SETTLE;
        loop {
            let is_closed = self.is_closed();
            if is_closed && self.family.group_is_empty() {
                return Vec::new();
            }
            if Instant::now() >= until || self.shared.stopped().is_some() {
                break;
            }
            let look = if is_closed { until.min(Instant::now() + Duration::from_millis(10)) } else { until };
            self.pump(Some(look), if is_closed { Woken::Time } else { Woken::Closed });
        }
        let others = self.writers();
        let living = self.collect(&others);
        if self.command.background && self.shared.stopped().is_none() {
            self.left = living;
            return Vec::new();
        }
        self.left = self.end(LEFTOVER_GRACE);
        living.into_iter().filter(|process| !self.left.contains(process)).collect()
    }

    /// Ends the command and all it started.
    fn stop(&mut self, why: Stop) -> Outcome {
        self.left = self.end(why.grace());
        self.reap();
        self.pump(Some(Instant::now() + Duration::from_millis(50)), Woken::Closed);
        let why = self.shared.stopped().unwrap_or(why);
        self.outcome(Exit::Stopped(why), Vec::new(), self.started.elapsed())
    }

    /// A fault of ours must not leave the call without an end, nor the processes.
    fn give_up(&mut self) -> Outcome {
        self.streams.iter_mut().for_each(|stream| stream.collector = None);
        self.left = self.end(Duration::ZERO);
        self.reap();
        let duration = self.started.elapsed();
        self.outcome(Exit::NotStarted(StartError::Internal), Vec::new(), duration)
    }

    /// SIGTERM, after the grace SIGKILL, until none is left. Gives what cannot be ended.
    fn end(&mut self, grace: Duration) -> Vec<Process> {
        let others = self.writers();
        let mut living = self.collect(&others);
        self.family.signal(&living, Signal::TERM);
        // A stopped process takes no other signal.
        self.family.signal(&living, Signal::CONT);
        let mut kill_at = Instant::now() + grace;
        let mut pause = Duration::from_millis(5);
        while !living.is_empty() && Instant::now() < kill_at {
            self.pump(Some(kill_at.min(Instant::now() + pause)), Woken::Time);
            if self.shared.stopped() == Some(Stop::EditorExit) {
                kill_at = kill_at.min(Instant::now() + Stop::EditorExit.grace());
            }
            living = self.collect(&[]);
            pause = (pause * 2).min(Duration::from_millis(40));
        }
        let give_up_at = Instant::now() + KILL_WAIT;
        loop {
            // Again each time: what was started meanwhile.
            let others = self.writers();
            living = self.collect(&others);
            if living.is_empty() || Instant::now() >= give_up_at {
                return living;
            }
            self.family.signal(&living, Signal::KILL);
            self.pump(Some(Instant::now() + Duration::from_millis(10)), Woken::Time);
        }
    }

    fn collect(&mut self, others: &[i32]) -> Vec<Process> {
        let living = self.family.collect(others);
        lock(&self.shared.state).living.clone_from(&living);
        living
    }

    /// Awaits the shell that was ended.
    fn reap(&mut self) {
        let Some(mut shell) = self.shell.take() else { return };
        if !matches!(shell.try_wait(), Ok(None)) {
            return;
        }
        // Not even SIGKILL ends a process in the midst of a hanging file system: it is awaited elsewhere.
        let _ = std::thread::Builder::new().name("lathe-reap".into()).stack_size(64 * 1024).spawn(move || shell.wait());
    }

    /// Reads on to nowhere for what was left in the background, until it ends or the editor exits.
    fn attend(&mut self) {
        loop {
            if self.shared.stopped() == Some(Stop::EditorExit) {
                self.end(Stop::EditorExit.grace());
                return;
            }
            if !self.is_closed() {
                self.pump(None, Woken::Closed);
            } else if self.family.group_is_empty() && !self.left.iter().any(is_alive) {
                return;
            } else {
                self.pump(Some(Instant::now() + LEFT_CHECK), Woken::Time);
            }
        }
    }

    /// Reads both pipes until the time, a wake or what is awaited.
    fn pump(&mut self, until: Option<Instant>, awaited: Woken) -> Woken {
        loop {
            if awaited == Woken::Closed && self.is_closed() {
                return Woken::Closed;
            }
            let [is_woken, has_exited, stdout, stderr] = self.poll(until, awaited == Woken::Exit);
            for (stream, is_ready) in [stdout, stderr].into_iter().enumerate() {
                if is_ready {
                    self.read(stream);
                }
            }
            self.show();
            if is_woken {
                if let Some(waker) = self.shared.waker.get() {
                    waker.reset();
                }
                return Woken::Stop;
            }
            if has_exited {
                return Woken::Exit;
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Woken::Time;
            }
        }
    }

    /// Waits; tells for the waker, the exit, stdout and stderr whether they are ready.
    fn poll(&self, until: Option<Instant>, awaits_exit: bool) -> [bool; 4] {
        let waker = self.shared.waker.get().map(Waker::file);
        let exit = awaits_exit.then(|| self.exit.as_fd());
        let [stdout, stderr] = &self.streams;
        let [stdout, stderr] = [stdout, stderr].map(|stream| stream.pipe.as_ref().map(AsFd::as_fd));
        let all = [waker, exit, stdout, stderr];
        let mut files: Vec<PollFd> =
            all.iter().flatten().map(|file| PollFd::from_borrowed_fd(*file, PollFlags::IN)).collect();
        let due = [until, self.unshown.map(|_| self.show_at)].into_iter().flatten().min();
        let timeout = due.map(|due| {
            let rest = due.saturating_duration_since(Instant::now());
            // Rounded up: waking just before the time would mean another round.
            Timespec { tv_sec: rest.as_secs().cast_signed(), tv_nsec: (rest.subsec_micros() * 1000 + 999).into() }
        });
        if poll(&mut files, timeout.as_ref()).is_err() {
            // Interrupted; out of memory is nothing but a reason to try again.
            return [false; 4];
        }
        let mut ready = files.iter().map(|file| !file.revents().is_empty());
        all.map(|file| file.is_some() && ready.next().unwrap_or(false))
    }

    fn read(&mut self, number: usize) {
        let stream = &mut self.streams[number];
        let Some(pipe) = &mut stream.pipe else { return };
        match pipe.read(&mut self.buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => stream.pipe = None,
            Ok(length) => {
                if let Some(collector) = &mut stream.collector {
                    collector.push(&self.buffer[..length]);
                    self.unshown = Some(number);
                }
            }
        }
    }

    /// Makes the last line known, not too often.
    fn show(&mut self) {
        let Some(number) = self.unshown else { return };
        if Instant::now() < self.show_at {
            return;
        }
        if let Some(collector) = &self.streams[number].collector {
            let line = collector.last_line();
            lock(&self.shared.state).last_line = line;
        }
        self.unshown = None;
        self.show_at = Instant::now() + SHOW;
    }

    fn is_closed(&self) -> bool {
        self.streams.iter().all(|stream| stream.pipe.is_none())
    }

    fn writers(&self) -> Vec<i32> {
        let pipes: Vec<BorrowedFd> =
            self.streams.iter().filter_map(|stream| stream.pipe.as_ref().map(AsFd::as_fd)).collect();
        if pipes.is_empty() { Vec::new() } else { writers(&pipes) }
    }

    fn outcome(&mut self, exit: Exit, ended: Vec<Process>, duration: Duration) -> Outcome {
        let [ended, left] = [ended, self.left.clone()].map(|processes| {
            processes.into_iter().map(|process| Leftover { pid: process.pid, name: process.name }).collect::<Vec<_>>()
        });
        let has_notes = !matches!(exit, Exit::Code(0)) || !ended.is_empty() || !left.is_empty();
        let [stdout, stderr] = self.streams.each_mut().map(|stream| stream.collector.take());
        let (stdout, stderr) = share(&self.command, stdout, stderr, has_notes);
        Outcome { exit, stdout, stderr, ended, left, duration }
    }
}

/// Cuts both outputs so that together, with the notes around them, they stay within the limits.
fn share(command: &Command, stdout: Option<Collector>, stderr: Option<Collector>, has_notes: bool) -> (Output, Output) {
    let (Some(stdout), Some(stderr)) = (stdout, stderr) else { return Default::default() };
    let (stdout, stderr) = (stdout.end(), stderr.end());
    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let [(out_lines, out_bytes), (err_lines, err_bytes)] = [stdout.size(), stderr.size()]
        .map(|(lines, bytes)| if bytes == 0 { (0, 0) } else { (count(lines), count(bytes)) });
    let limits = &command.limits;
    let has_notes = has_notes || err_bytes > 0;
    let available = |limit: usize, notes: usize| if has_notes { limit - notes.min(limit / 4) } else { limit };
    // stderr has what stdout does not need, and a quarter in any case.
    let split = |limit: usize, out: usize, err: usize| {
        let err = err.min((limit / 4).max(limit.saturating_sub(out)));
        (limit - err, err)
    };
    let (out_lines, err_lines) = split(available(limits.max_lines, NOTE_LINES), out_lines, err_lines);
    let (out_bytes, err_bytes) = split(available(limits.max_bytes, NOTE_BYTES), out_bytes, err_bytes);
    (stdout.finish(Some((out_lines, out_bytes))), stderr.finish(Some((err_lines.max(1), err_bytes))))
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(super::render::signal_name(signal.unwrap_or(0))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, OnceLock};

    use super::super::environment::environment;
    use super::*;

    #[test]
    fn fault_of_ours_ends_the_command_and_says_so() {
        let command = Command::new("trap '' TERM; sleep 60");
        let shared = Arc::new(Shared { state: Mutex::default(), waker: OnceLock::new() });
        let mut session = Session::start(command.clone(), &environment(&command), shared, &Arc::default()).unwrap();
        let outcome = session.give_up();
        assert!(matches!(outcome.exit, Exit::NotStarted(StartError::Internal)), "{outcome:?}");
        assert_eq!(outcome.left, []);
        // What is dead still counts until init has awaited it.
        let deadline = Instant::now() + Duration::from_secs(10);
        while !session.family.group_is_empty() {
            assert!(Instant::now() < deadline, "the group is still there");
            std::thread::yield_now();
        }
    }
}
