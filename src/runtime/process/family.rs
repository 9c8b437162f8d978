//! The processes that a command started: who belongs to it and how they are ended. When that is done is decided in
//! `child.rs`.

use std::collections::{HashMap, HashSet};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

/// A process as the system lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    parent: i32,
    group: i32,
    /// 0 where the system does not tell.
    session: i32,
    /// When it started. A number that is used again for another process has another start.
    start: u64,
    is_zombie: bool,
    pub(super) name: String,
}

/// A shell, its process group, and what descends from them.
pub(super) struct Family {
    shell: i32,
    shell_start: u64,
    /// All that ever belonged to it, with their starts.
    members: HashMap<i32, u64>,
}

impl Family {
    /// The family of a shell that was just started as the leader of its own group and is not awaited yet.
    pub(super) fn new(shell: i32) -> Self {
        let shell_start = table::one(shell).map_or(0, |process| process.start);
        Self { shell, shell_start, members: HashMap::from([(shell, shell_start)]) }
    }

    /// The shell, as long as it runs.
    pub(super) fn shell(&self) -> Option<Process> {
        table::one(self.shell).filter(|process| process.start == self.shell_start)
    }

    /// Whether the group of the shell has no process. Cheap. Only of use when the shell was awaited.
    pub(super) fn group_is_empty(&self) -> bool {
        // As long as the group has a member its number is not given to another process.
        group(self.shell).is_none_or(|group| test_kill_process_group(group) == Err(rustix::io::Errno::SRCH))
    }

    /// Finds the living members anew: descendants by parent, members of their groups and sessions, and `others`.
    ///
    /// A process that left both its group and its parent is not found, unless it is one of `others`.
    pub(super) fn collect(&mut self, others: &[i32]) -> Vec<Process> {
        let table = table::all();
        let starts: HashMap<i32, u64> = table.iter().map(|process| (process.pid, process.start)).collect();
        // A number is no longer ours when a process with another start has it.
        let mut ours: HashSet<i32> = self
            .members
            .iter()
            .filter(|(pid, start)| starts.get(pid).is_none_or(|now| now == *start))
            .map(|(pid, _)| *pid)
            .collect();
        let own = std::process::id().cast_signed();
        loop {
            let before = ours.len();
            for process in &table {
                let is_ours = (ours.contains(&process.parent) && starts.contains_key(&process.parent))
                    || ours.contains(&process.group)
                    || ours.contains(&process.session)
                    || others.contains(&process.pid);
                if is_ours && process.start >= self.shell_start && process.pid != own {
                    ours.insert(process.pid);
                }
            }
            if ours.len() == before {
                break;
            }
        }
        let living: Vec<Process> =
            table.into_iter().filter(|process| ours.contains(&process.pid) && !process.is_zombie).collect();
        self.members.extend(living.iter().map(|process| (process.pid, process.start)));
        living
    }

    /// Signals members that were just collected.
    pub(super) fn signal(&self, living: &[Process], signal: Signal) {
        // A group at once: none of it can fork meanwhile.
        let groups: HashSet<i32> =
            living.iter().map(|process| process.group).filter(|group| self.members.contains_key(group)).collect();
        for group in groups.iter().filter_map(|number| group(*number)) {
            let _ = kill_process_group(group, signal);
        }
        for process in living.iter().filter(|process| !groups.contains(&process.group)) {
            signal_one(process, signal);
        }
    }
}

/// Kills processes of any number of commands and what descends from them, with one look at the system's list for all: for
/// when there is no time for one each.
pub(super) fn kill(processes: Vec<Process>) {
    let Some(shell_start) = processes.iter().map(|process| process.start).min() else { return };
    let members = processes.into_iter().map(|process| (process.pid, process.start)).collect();
    let mut all = Family { shell: 0, shell_start, members };
    // Again: what was started meanwhile.
    for _ in 0..3 {
        let living = all.collect(&[]);
        if living.is_empty() {
            return;
        }
        all.signal(&living, Signal::KILL);
    }
}

/// A group that may be signalled: 0 and 1 would mean others.
fn group(number: i32) -> Option<Pid> {
    Pid::from_raw(number).filter(|_| number > 1)
}

/// Signals a process, not another one that has got its number meanwhile.
fn signal_one(process: &Process, signal: Signal) {
    let Some(pid) = group(process.pid) else { return };
    #[cfg(target_os = "linux")]
    if let Ok(pidfd) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
        // The handle stays with whom it was opened for, so a look after that is enough.
        if is_alive(process) {
            let _ = rustix::process::pidfd_send_signal(pidfd, signal);
        }
        return;
    }
    if is_alive(process) {
        let _ = kill_process(pid, signal);
    }
}

/// Whether this very process still runs.
pub(super) fn is_alive(process: &Process) -> bool {
    table::one(process.pid).is_some_and(|now| now.start == process.start && !now.is_zombie)
}

/// The processes that can write to one of our pipes, given by our ends of them. Children of our own are none of them:
/// while the editor forks, each of its children has all of its pipes for a moment.
#[cfg(target_os = "linux")]
pub(super) fn writers(pipes: &[std::os::fd::BorrowedFd]) -> Vec<i32> {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    let inodes: Vec<u64> = pipes.iter().filter_map(|pipe| Some(rustix::fs::fstat(pipe).ok()?.st_ino)).collect();
    let own = std::process::id().cast_signed();
    let holds = |pid: i32| {
        let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        files.flatten().any(|file| {
            let is_pipe = fs::read_link(file.path()).is_ok_and(|target| target.to_string_lossy().starts_with("pipe:"));
            is_pipe
                && fs::metadata(file.path()).is_ok_and(|metadata| inodes.contains(&metadata.ino()))
                && file.path().symlink_metadata().is_ok_and(|link| link.mode() & 0o200 != 0)
        })
    };
    let strangers = table::all().into_iter().filter(|process| process.pid != own && process.parent != own);
    strangers.map(|process| process.pid).filter(|pid| holds(*pid)).collect()
}

/// Other systems have no cheap way to tell.
#[cfg(not(target_os = "linux"))]
pub(super) fn writers(_pipes: &[std::os::fd::BorrowedFd]) -> Vec<i32> {
    Vec::new()
}

#[cfg(target_os = "linux")]
mod table {
    use super::Process;

    pub(super) fn all() -> Vec<Process> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        entries.flatten().filter_map(|entry| one(entry.file_name().to_str()?.parse().ok()?)).collect()
    }

    pub(super) fn one(pid: i32) -> Option<Process> {
        parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// `pid (name) state parent group session …`, the start being field 22. The name may hold anything.
    pub(super) fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
        let open = memchr::memchr(b'(', stat)?;
        let close = memchr::memrchr(b')', stat)?;
        let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        Some(Process {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
            is_zombie: matches!(*fields.first()?, "Z" | "X" | "x"),
            name: String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned(),
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod table {
    use std::process::{Command, Stdio};

    use super::Process;

    pub(super) fn all() -> Vec<Process> {
        list(&["-ax"])
    }

    pub(super) fn one(pid: i32) -> Option<Process> {
        list(&["-p", &pid.to_string()]).pop()
    }

    fn list(which: &[&str]) -> Vec<Process> {
        let mut ps = Command::new("/bin/ps");
        ps.args(which).args(["-o", "pid=,ppid=,pgid=,stat=,lstart=,comm="]).env("LC_ALL", "C").stdin(Stdio::null());
        let Ok(output) = ps.stderr(Stdio::null()).output() else { return Vec::new() };
        String::from_utf8_lossy(&output.stdout).lines().filter_map(parse).collect()
    }

    /// The start is five words: `Mon Nov 30 16:00:00 2026`.
    fn parse(line: &str) -> Option<Process> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let name = words.get(9..)?.join(" ");
        Some(Process {
            pid: words.first()?.parse().ok()?,
            parent: words.get(1)?.parse().ok()?,
            group: words.get(2)?.parse().ok()?,
            session: 0,
            start: seconds(words.get(4..9)?)?,
            is_zombie: words.get(3)?.starts_with('Z'),
            name: name.rsplit('/').next().unwrap_or(&name).to_owned(),
        })
    }

    /// Grows with the time, which is all that is asked of it.
    fn seconds(date: &[&str]) -> Option<u64> {
        const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
        let month = (MONTHS.find(date[1])? / 3) as u64;
        let day: u64 = date[2].parse().ok()?;
        let clock = date[3].split(':').try_fold(0, |sum, part| Some(sum * 60 + part.parse::<u64>().ok()?))?;
        let year: u64 = date[4].parse().ok()?;
        Some(((year * 12 + month) * 31 + day) * 86_400 + clock)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn name_with_spaces_and_parentheses_is_read() {
        let stat = b"42 (a) b (c) S 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 99 1";
        let process = table::parse(42, stat).unwrap();
        let expected = Process {
            pid: 42,
            parent: 7,
            group: 8,
            session: 9,
            start: 123_456,
            is_zombie: false,
            name: "a) b (c".into(),
        };
        assert_eq!(process, expected);
    }

    #[test]
    fn process_with_another_start_is_not_ours() {
        let own = table::one(std::process::id().cast_signed()).unwrap();
        let mut family = Family { shell: 1, shell_start: 0, members: HashMap::from([(own.pid, own.start + 1)]) };
        assert_eq!(family.collect(&[]), []);
        assert!(!is_alive(&Process { start: own.start + 1, ..own.clone() }));
        assert!(is_alive(&own));
    }
}
