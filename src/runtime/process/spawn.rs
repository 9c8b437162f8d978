//! Starts the shell of a command, and tells what is wrong when that cannot work.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, PipeReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;

use rustix::fs::{Access, access};
use rustix::process::Pid;

use super::watchdog::{Watchdog, Watched};
use super::{Command, StartError};
use crate::command::SHELL_ARGUMENTS;

/// A shell that was started as leader of a new process group.
pub(super) struct Spawned {
    pub(super) shell: Child,
    /// stdout and stderr
    pub(super) pipes: [PipeReader; 2],
    pub(super) watched: Watched,
}

/// Starts the shell.
pub(super) fn spawn(
    command: &Command,
    environment: &HashMap<OsString, OsString>,
    watchdog: &Arc<Watchdog>,
) -> Result<Spawned, StartError> {
    if command.script.contains(&0) {
        return Err(StartError::NulByte);
    }
    check_folder(command.cwd.as_deref())?;
    let path = environment.get(OsStr::new("PATH")).map(OsString::as_os_str);
    let shell = find_shell(&command.shell, path)?;
    let refused = |source: io::Error| StartError::Refused { source };
    let (stdout, stdout_writer) = io::pipe().map_err(refused)?;
    let (stderr, stderr_writer) = io::pipe().map_err(refused)?;
    let watched = watchdog.watch(&[&stdout_writer, &stderr_writer], path);
    // With a path, a group and no code of ours before the exec the standard library need not fork.
    let mut process = std::process::Command::new(shell);
    process.arg0(&command.shell).env_clear().envs(environment).process_group(0);
    process.stdin(Stdio::null()).stdout(stdout_writer).stderr(stderr_writer);
    if let Some(cwd) = &command.cwd {
        process.current_dir(cwd);
    }
    process.args(SHELL_ARGUMENTS).arg(OsStr::from_bytes(&command.script));
    let shell = process.spawn().map_err(refused)?;
    watched.add_group(Pid::from_child(&shell));
    Ok(Spawned { shell, pipes: [stdout, stderr], watched })
}

/// A failed spawn does not tell what is missing, the folder or the program.
fn check_folder(cwd: Option<&Path>) -> Result<(), StartError> {
    let Some(path) = cwd else {
        return std::env::current_dir().map(|_| ()).map_err(|source| StartError::NoFolder { source });
    };
    let path_buf = path.to_path_buf();
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(StartError::FolderMissing { path: path_buf }),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(StartError::NotAFolder { path: path_buf }),
        Err(source) => Err(StartError::FolderClosed { path: path_buf, source }),
        Ok(metadata) if !metadata.is_dir() => Err(StartError::NotAFolder { path: path_buf }),
        Ok(_) => access(path, Access::EXEC_OK)
            .map_err(|error| StartError::FolderClosed { path: path_buf, source: error.into() }),
    }
}

fn find_shell(shell: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, StartError> {
    let runs =
        |file: &Path| fs::metadata(file).is_ok_and(|data| data.is_file()) && access(file, Access::EXEC_OK).is_ok();
    let found = if shell.as_bytes().contains(&b'/') {
        Some(PathBuf::from(shell)).filter(|file| runs(file))
    } else {
        let folders = path.unwrap_or_else(|| OsStr::new("/usr/bin:/bin"));
        // A relative entry would name another file in another working directory.
        let files =
            std::env::split_paths(folders).filter(|folder| folder.is_absolute()).map(|folder| folder.join(shell));
        files.into_iter().find(|file| runs(file))
    };
    found.ok_or_else(|| StartError::NoShell { shell: shell.to_owned() })
}
