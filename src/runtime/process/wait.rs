//! What the thread of a command waits for beside its pipes: the exit of the shell, and somebody who wakes it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// A file that becomes readable when the shell exits. The shell is not awaited by it: its number stays its own.
pub(super) fn watch_exit(shell: Pid) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    if let Ok(pidfd) = rustix::process::pidfd_open(shell, rustix::process::PidfdFlags::empty()) {
        return Ok(pidfd);
    }
    watch_by_thread(shell)
}

/// The same where the system has no pidfd: a thread waits, and closes a pipe.
fn watch_by_thread(shell: Pid) -> io::Result<OwnedFd> {
    let (reader, writer) = io::pipe()?;
    std::thread::Builder::new().name("lathe-exit".into()).stack_size(64 * 1024).spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(shell), options), Err(rustix::io::Errno::INTR)) {}
        drop(writer);
    })?;
    Ok(reader.into())
}

/// Wakes the thread of a command out of its wait.
pub(super) struct Waker {
    #[cfg(target_os = "linux")]
    event: OwnedFd,
    #[cfg(not(target_os = "linux"))]
    pipe: (io::PipeReader, io::PipeWriter),
}

#[cfg(target_os = "linux")]
impl Waker {
    pub(super) fn new() -> io::Result<Self> {
        use rustix::event::{EventfdFlags, eventfd};

        Ok(Self { event: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)? })
    }

    pub(super) fn wake(&self) {
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
    }

    /// Takes note of all wakes so far.
    pub(super) fn reset(&self) {
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

#[cfg(not(target_os = "linux"))]
impl Waker {
    pub(super) fn new() -> io::Result<Self> {
        let pipe = io::pipe()?;
        for end in [pipe.0.as_fd(), pipe.1.as_fd()] {
            rustix::fs::fcntl_setfl(end, rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(Self { pipe })
    }

    pub(super) fn wake(&self) {
        // Full: it is awake already.
        let _ = rustix::io::write(&self.pipe.1, &[1]);
    }

    /// Takes note of all wakes so far.
    pub(super) fn reset(&self) {
        let _ = rustix::io::read(&self.pipe.0, &mut [0; 64]);
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.pipe.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn is_ready(file: BorrowedFd, milliseconds: i64) -> bool {
        let timeout = Timespec { tv_sec: 0, tv_nsec: milliseconds * 1_000_000 };
        poll(&mut [PollFd::from_borrowed_fd(file, PollFlags::IN)], Some(&timeout)).unwrap() == 1
    }

    #[test]
    fn exit_is_seen_with_and_without_pidfd_and_reaps_nothing() {
        for watch in [watch_exit, watch_by_thread] {
            let mut child = std::process::Command::new("sleep").arg("0.05").spawn().unwrap();
            let file = watch(Pid::from_child(&child)).unwrap();
            assert!(!is_ready(file.as_fd(), 0));
            assert!(is_ready(file.as_fd(), 900));
            assert!(child.wait().unwrap().success());
        }
    }

    #[test]
    fn wake_is_seen_until_it_is_reset() {
        let waker = Waker::new().unwrap();
        assert!(!is_ready(waker.file(), 0));
        waker.wake();
        waker.wake();
        assert!(is_ready(waker.file(), 0));
        waker.reset();
        assert!(!is_ready(waker.file(), 0));
    }
}
