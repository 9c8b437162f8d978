//! Starts the shell of a command, and tells what is wrong when that cannot work.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Access, access};

use super::{Command, StartError};

/// No single argument of a program may be longer than 128 KiB on Linux.
const MAX_ARGUMENT_BYTES: usize = 100 * 1024;
/// How the shell finds a script that is too long to be an argument.
const SCRIPT_VARIABLE: &str = "LATHE_SCRIPT";

/// A shell that runs, with both pipes.
pub(super) struct Spawned {
    pub(super) shell: Child,
    /// Removed when the shell has ended.
    pub(super) script: Option<ScriptFile>,
}

/// Starts the shell as leader of a new process group.
pub(super) fn spawn(command: &Command, environment: &HashMap<OsString, OsString>) -> Result<Spawned, StartError> {
    if command.script.contains(&0) {
        return Err(StartError::NulByte);
    }
    check_folder(command.cwd.as_deref())?;
    let shell = find_shell(&command.shell, environment.get(OsStr::new("PATH")).map(OsString::as_os_str))?;
    // With a path, a group and no code of ours before the exec the standard library need not fork.
    let mut process = std::process::Command::new(shell);
    // After `--` a script may start with a dash.
    process.arg0(&command.shell).args(["-c", "--"]).env_clear().envs(environment).process_group(0);
    process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(cwd) = &command.cwd {
        process.current_dir(cwd);
    }
    let mut script = None;
    if command.script.len() <= MAX_ARGUMENT_BYTES {
        process.arg(OsStr::from_bytes(&command.script));
    } else {
        let file = ScriptFile::create(&command.script, environment).map_err(|source| StartError::Refused { source })?;
        process.arg(format!(". \"${SCRIPT_VARIABLE}\"")).env(SCRIPT_VARIABLE, &file.0);
        script = Some(file);
    }
    let shell = process.spawn().map_err(|source| StartError::Refused { source })?;
    Ok(Spawned { shell, script })
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

/// A script in a private file, removed when dropped.
pub(super) struct ScriptFile(PathBuf);

impl ScriptFile {
    fn create(script: &[u8], environment: &HashMap<OsString, OsString>) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let folder = environment.get(OsStr::new("TMPDIR")).filter(|folder| Path::new(folder).is_absolute());
        let folder = folder.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!("lathe-script-{}-{number}", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(mut file) => {
                    let created = Self(path);
                    file.write_all(script)?;
                    return Ok(created);
                }
                // Left by another process of that number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for ScriptFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
