//! The approvals of projects: one small JSON file for all of them, shared by every editor of the user. One thread reads and
//! writes it, in the order in which it is asked to; an editor that reads finds the old file or the new one, never half of one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::file_lock::{FileLock, LockError};
use super::inbox::Inbox;
use super::workers::lock;
use crate::engine::event::{CallEvent, ChatId, Event};
use crate::gate::approvals::Approval;
use crate::gate::{Fact, Found};
use crate::tool::CallId;

/// How long another editor may hold the lock.
const LOCK_LIMIT: Duration = Duration::from_secs(5);

/// How long the end of the editor waits for what is being written.
const END_LIMIT: Duration = Duration::from_millis(500);

const VERSION: u32 = 1;

/// An approval of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedApproval {
    /// The project's folder.
    pub project: String,
    /// The tool's name.
    pub tool: String,
    /// The one command that may run; none: every call of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether the user has typed wildcards into the value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pattern: bool,
    /// When it was given, in seconds since 1970.
    pub since: u64,
}

impl SavedApproval {
    fn is(&self, project: &str, approval: &Approval) -> bool {
        self.project == project && self.approval() == *approval
    }

    /// What was approved.
    pub fn approval(&self) -> Approval {
        Approval { tool: self.tool.clone(), value: self.value.clone(), is_pattern: self.is_pattern }
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Contents {
    version: u32,
    approvals: Vec<SavedApproval>,
}

/// Why the approvals cannot be read or written. The text is for the user.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalsError {
    /// The file cannot be read.
    #[error("the approvals in {} cannot be read: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not what we write.
    #[error("the approvals in {} cannot be understood ({reason}): tools ask until it is removed", .path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// It cannot be replaced.
    #[error("the approval was not saved: {}: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another editor does not let go of the lock.
    #[error("the approval was not saved: {} is locked by another program", .path.display())]
    Locked {
        /// The lock's file.
        path: PathBuf,
    },
    /// Nobody has said where they are kept, or there is no thread for it.
    #[error("the approval was not saved: {0}")]
    NotReady(&'static str),
}

/// All approvals in a file. Without the file there are none.
///
/// # Errors
/// [`ApprovalsError::Read`] and [`ApprovalsError::Broken`].
pub fn read(path: &Path) -> Result<Vec<SavedApproval>, ApprovalsError> {
    // A pipe would be waited for.
    let text = match fs::metadata(path).and_then(|metadata| match metadata.is_file() {
        true => fs::read(path),
        false => Err(io::Error::other("it is no file")),
    }) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(ApprovalsError::Read { path: path.to_owned(), source }),
    };
    let broken = |reason| ApprovalsError::Broken { path: path.to_owned(), reason };
    let contents: Contents = serde_json::from_slice(&text).map_err(|error| broken(error.to_string()))?;
    if contents.version != VERSION {
        return Err(broken(format!("it has version {}, this is version {VERSION}", contents.version)));
    }
    Ok(contents.approvals)
}

/// What is changed in the file.
#[derive(Clone, Copy)]
enum Change {
    Add,
    Remove,
}

/// Reads what other editors wrote meanwhile, and writes that with the change. A file that cannot be understood stays.
fn change(path: &Path, change: Change, project: &str, approval: &Approval) -> Result<(), ApprovalsError> {
    let failed = |source| ApprovalsError::Write { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    let _locked = FileLock::take(&path.with_extension("lock"), LOCK_LIMIT)?;
    let mut approvals = read(path)?;
    let at = approvals.iter().position(|saved| saved.is(project, approval));
    match (change, at) {
        (Change::Add, Some(_)) | (Change::Remove, None) => return Ok(()),
        (Change::Remove, Some(at)) => drop(approvals.remove(at)),
        (Change::Add, None) => {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
            let Approval { tool, value, is_pattern } = approval.clone();
            approvals.push(SavedApproval { project: project.to_owned(), tool, value, is_pattern, since });
        }
    }
    let mut text =
        serde_json::to_vec_pretty(&Contents { version: VERSION, approvals }).map_err(|error| failed(error.into()))?;
    text.push(b'\n');
    // Only the user may read it from the start: that is how temporary files are made.
    let mut file = NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(&text).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

impl From<LockError> for ApprovalsError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Failed { path, source } => Self::Write { path, source },
            LockError::Held { path } => Self::Locked { path },
        }
    }
}

enum Job {
    Find {
        chat: ChatId,
        call: CallId,
        project: Arc<str>,
        approvals: Vec<Approval>,
    },
    Change {
        change: Change,
        project: Arc<str>,
        approval: Approval,
    },
    /// Everything before it is done.
    End(Sender<()>),
}

/// The thread that reads and writes them. It starts when it is first needed.
#[derive(Default)]
pub(super) struct ProjectApprovals {
    path: Mutex<Option<PathBuf>>,
    jobs: Mutex<Option<Sender<Job>>>,
}

impl ProjectApprovals {
    /// Names the file. The first call counts.
    pub fn keep_in(&self, folder: &Path) {
        lock(&self.path).get_or_insert_with(|| folder.join("approvals.json"));
    }

    /// All that are saved; for what the user asks for, on the main loop: the file is small.
    pub fn list(&self) -> Result<Vec<SavedApproval>, ApprovalsError> {
        lock(&self.path).as_deref().map_or_else(|| Ok(Vec::new()), read)
    }

    /// Looks approvals up, whether all are there → [`CallEvent::FactFound`], always.
    pub fn find(&self, inbox: &Arc<Inbox>, chat: ChatId, call: CallId, project: Arc<str>, approvals: Vec<Approval>) {
        if self.send(inbox, Job::Find { chat, call, project, approvals }).is_err() {
            inbox.push(Event::call(chat, call, CallEvent::FactFound { fact: Fact::Saved, found: None }));
        }
    }

    /// Saves one. [`Event::ApprovalsFailed`] tells when that fails.
    pub fn save(&self, inbox: &Arc<Inbox>, project: Arc<str>, approval: Approval) {
        self.change(inbox, Change::Add, project, approval);
    }

    /// Removes one. [`Event::ApprovalsFailed`] tells when that fails.
    pub fn forget(&self, inbox: &Arc<Inbox>, project: Arc<str>, approval: Approval) {
        self.change(inbox, Change::Remove, project, approval);
    }

    fn change(&self, inbox: &Arc<Inbox>, change: Change, project: Arc<str>, approval: Approval) {
        if let Err(error) = self.send(inbox, Job::Change { change, project, approval }) {
            inbox.push(Event::ApprovalsFailed { text: error.to_string() });
        }
    }

    fn send(&self, inbox: &Arc<Inbox>, job: Job) -> Result<(), ApprovalsError> {
        let path = lock(&self.path).clone().ok_or(ApprovalsError::NotReady("no folder is known for it"))?;
        let mut jobs = lock(&self.jobs);
        if jobs.is_none() {
            let (sender, receiver) = mpsc::channel();
            let inbox = Arc::clone(inbox);
            let thread = std::thread::Builder::new().name("lathe-approvals".into());
            let work = move || {
                let mut told = String::new();
                for job in receiver {
                    work_off(&path, &inbox, job, &mut told);
                }
            };
            thread.spawn(work).map_err(|_| ApprovalsError::NotReady("the system gives no thread"))?;
            *jobs = Some(sender);
        }
        let sent = jobs.as_ref().map(|jobs| jobs.send(job));
        sent.is_some_and(|sent| sent.is_ok()).then_some(()).ok_or(ApprovalsError::NotReady("its thread has ended"))
    }

    /// Waits for what was asked for, not for long. Nothing more is done afterwards.
    pub fn shutdown(&self) {
        lock(&self.path).take();
        let Some(jobs) = lock(&self.jobs).take() else { return };
        let (done, is_done) = mpsc::channel();
        if jobs.send(Job::End(done)).is_ok() {
            match is_done.recv_timeout(END_LIMIT) {
                Ok(()) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }
}

fn work_off(path: &Path, inbox: &Inbox, job: Job, told: &mut String) {
    match job {
        Job::Find { chat, call, project, approvals } => {
            let found = match read(path) {
                Ok(mut saved) => {
                    saved.retain(|saved| *saved.project == *project);
                    let is_there = |asked: &Approval| saved.iter().any(|saved| saved.approval().covers(asked));
                    Some(Found::Saved(approvals.iter().all(is_there)))
                }
                Err(error) => {
                    let text = error.to_string();
                    // It is found so at every call.
                    if std::mem::replace(told, text.clone()) != text {
                        inbox.push(Event::ApprovalsFailed { text });
                    }
                    None
                }
            };
            inbox.push(Event::call(chat, call, CallEvent::FactFound { fact: Fact::Saved, found }));
        }
        Job::Change { change: what, project, approval } => {
            if let Err(error) = change(path, what, &project, &approval) {
                inbox.push(Event::ApprovalsFailed { text: error.to_string() });
            }
        }
        Job::End(done) => drop(done.send(())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn approval(tool: &str, value: Option<&str>) -> Approval {
        Approval::new(tool, value.map(str::to_owned))
    }

    fn saved(path: &Path) -> Vec<(String, Approval)> {
        let all = read(path).unwrap();
        all.into_iter().map(|saved| (saved.project.clone(), saved.approval())).collect()
    }

    #[test]
    fn r015_what_is_saved_is_there_after_a_restart_and_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/approvals.json");
        assert!(read(&path).unwrap().is_empty());
        let (whole, one) = (approval("run", None), approval("run", Some("make 'x*'\n")));
        for (project, approval) in [("/a", &whole), ("/b", &one), ("/a", &whole)] {
            change(&path, Change::Add, project, approval).unwrap();
        }
        assert_eq!(saved(&path), [("/a".to_owned(), whole.clone()), ("/b".to_owned(), one.clone())]);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        change(&path, Change::Remove, "/b", &whole).unwrap();
        change(&path, Change::Remove, "/a", &whole).unwrap();
        assert_eq!(saved(&path), [("/b".to_owned(), one)]);
    }

    #[test]
    fn editors_that_write_at_once_lose_nothing_of_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("approvals.json");
        std::thread::scope(|scope| {
            for editor in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..10 {
                        change(path, Change::Add, "/p", &approval(&format!("{editor}-{number}"), None)).unwrap();
                        // A reader never meets half a file.
                        assert!(!read(path).unwrap().is_empty());
                    }
                });
            }
        });
        assert_eq!(read(&path).unwrap().len(), 80);
        let others = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(others, 2, "the file and its lock");
    }

    #[test]
    fn a_file_that_is_not_understood_approves_nothing_and_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("approvals.json");
        for text in
            ["", "{", "[]", r#"{"version": 2, "approvals": []}"#, r#"{"version": 1, "approvals": [{"tool": "run"}]}"#]
        {
            fs::write(&path, text).unwrap();
            assert!(matches!(read(&path), Err(ApprovalsError::Broken { .. })), "{text}");
            let error = change(&path, Change::Add, "/p", &approval("run", None)).unwrap_err();
            assert!(error.to_string().contains("approvals.json"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
