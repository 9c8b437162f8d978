//! One small process that ends the commands when the editor has died in a way that leaves it no time for that. It holds the
//! other end of a pipe, is told over it what lives, and goes to work when the pipe closes. How it does that: `watchdog.sh`.
//!
//! What a command starts with is told before the command exists: its pipes, by which it is found should the editor die
//! before the number of its group is known.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, PipeWriter, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

use super::lock;

const SHELL: &str = "/bin/sh";
const SCRIPT: &str = include_str!("watchdog.sh");
/// The script travels in a variable: as an argument it would turn up in lists of processes, and match searches in them.
const VARIABLE: &str = "lathe_watchdog";
/// One that has lived for less is not replaced at once: the next would fare no better.
const MIN_LIFE: Duration = Duration::from_secs(1);

/// The watchdog of some commands, started with the first of them. It ends when this is dropped.
#[derive(Default)]
pub(super) struct Watchdog(Mutex<State>);

#[derive(Default)]
struct State {
    last: u64,
    /// The words that tell what lives, by number.
    living: BTreeMap<u64, String>,
    process: Option<Process>,
    /// Where its programs are looked up.
    path: Option<OsString>,
}

/// The process, as long as it is not known to be dead.
struct Process {
    pid: Pid,
    pipe: PipeWriter,
    started: Instant,
}

/// What the watchdog ends, until this is dropped.
pub(super) struct Watched {
    watchdog: Arc<Watchdog>,
    number: u64,
}

impl Watchdog {
    /// Has all that writes to these pipes ended when the editor dies. The programs for that are looked up in `path`.
    ///
    /// On a system that starts no more processes, commands go on without a watchdog.
    pub(super) fn watch(self: &Arc<Self>, pipes: &[impl AsFd], path: Option<&OsStr>) -> Watched {
        let mut state = lock(&self.0);
        state.path = path.map(OsStr::to_owned);
        state.last += 1;
        let number = state.last;
        let words = words_of(pipes);
        state.tell(self, '+', &words);
        state.living.insert(number, words);
        Watched { watchdog: Arc::clone(self), number }
    }
}

impl Watched {
    /// Has a process group ended, too.
    pub(super) fn add_group(&self, leader: Pid) {
        let word = format!("g{}", leader.as_raw_nonzero());
        let mut state = lock(&self.watchdog.0);
        state.tell(&self.watchdog, '+', &word);
        if let Some(words) = state.living.get_mut(&self.number) {
            words.push(' ');
            words.push_str(&word);
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut state = lock(&self.watchdog.0);
        let words = state.living.remove(&self.number);
        // A new one would not know them.
        if let (Some(words), Some(process)) = (words, &state.process)
            && process.write('-', &words).is_err()
        {
            state.give_up();
        }
    }
}

impl State {
    /// Tells the process, or a new one when there is none that listens.
    fn tell(&mut self, watchdog: &Arc<Watchdog>, sign: char, words: &str) {
        if self.process.as_ref().is_some_and(|process| process.write(sign, words).is_err()) {
            self.give_up();
        }
        if self.process.is_none() {
            self.start(watchdog);
            if let Some(process) = &self.process {
                let _ = process.write(sign, words);
            }
        }
    }

    /// Starts a process and tells it what lives.
    fn start(&mut self, watchdog: &Arc<Watchdog>) {
        let Ok((child, pipe)) = spawn(self.path.as_deref()) else { return };
        let process = Process { pid: Pid::from_child(&child), pipe, started: Instant::now() };
        let all: Vec<&str> = self.living.values().map(String::as_str).collect();
        let is_told = process.write('+', &all.join(" ")).is_ok();
        // Later it may be stopped, and no command waits for it.
        let is_quick = rustix::fs::fcntl_setfl(&process.pipe, OFlags::NONBLOCK).is_ok();
        self.process = Some(process);
        if !is_told || !is_quick || reap(child, Arc::downgrade(watchdog)).is_err() {
            self.give_up();
        }
    }

    /// Ends a process that does not listen. Closing its pipe is no way: it would end what lives.
    fn give_up(&mut self) {
        if let Some(process) = self.process.take() {
            // Its number is its own: who awaits it asks here first.
            let _ = rustix::process::kill_process(process.pid, Signal::KILL);
        }
    }
}

impl Process {
    fn write(&self, sign: char, words: &str) -> io::Result<()> {
        if words.is_empty() {
            return Ok(());
        }
        // In one piece: a pipe that is full takes nothing of it.
        (&self.pipe).write_all(format!("{sign} {words}\n").as_bytes())
    }
}

/// Starts the script in a group of its own, where no key of the terminal reaches it.
fn spawn(path: Option<&OsStr>) -> io::Result<(Child, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new(SHELL);
    command.args(["-c", &format!("eval \"${VARIABLE}\""), "lathe-watchdog"]).process_group(0).current_dir("/");
    command.env_clear().env(VARIABLE, SCRIPT).env("LC_ALL", "C");
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let child = command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    Ok((child, writer))
}

/// Awaits the process on a thread. When it was ended while something lives, another takes its place.
fn reap(mut child: Child, watchdog: Weak<Watchdog>) -> io::Result<()> {
    let pid = Pid::from_child(&child);
    let thread = std::thread::Builder::new().name("lathe-watchdog".into()).stack_size(64 * 1024);
    thread.spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR)) {}
        let watchdog = watchdog.upgrade();
        if let Some(watchdog) = &watchdog {
            let mut state = lock(&watchdog.0);
            if let Some(process) = state.process.take_if(|process| process.pid == pid)
                && process.started.elapsed() >= MIN_LIFE
                && !state.living.is_empty()
            {
                state.start(watchdog);
            }
        }
        let _ = child.wait();
    })?;
    Ok(())
}

/// Words for the pipes. Other systems than Linux do not tell who writes to one.
fn words_of(pipes: &[impl AsFd]) -> String {
    if !cfg!(target_os = "linux") {
        return String::new();
    }
    let inodes = pipes.iter().filter_map(|pipe| Some(rustix::fs::fstat(pipe).ok()?.st_ino));
    inodes.map(|inode| format!("p{inode}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "tests/watchdog.rs"]
mod tests;
