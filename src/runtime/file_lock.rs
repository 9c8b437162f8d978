//! Locks that keep other editors from changing a file while it is read and written again.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

/// Why there is no lock. The text is for the user.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Its file cannot be made.
    #[error("{}: {source}", .path.display())]
    Failed {
        /// The lock's file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another program does not let go of it.
    #[error("{} is locked by another program", .path.display())]
    Held {
        /// The lock's file.
        path: PathBuf,
    },
}

impl FileLock {
    /// Waits for a lock, at most `limit`. Its file is one beside what it guards, since that is replaced; it is never
    /// removed, or two editors could each hold the lock of a different one.
    ///
    /// # Errors
    /// [`LockError::Failed`] and [`LockError::Held`].
    pub fn take(path: &Path, limit: Duration) -> Result<Self, LockError> {
        let failed = |source| LockError::Failed { path: path.to_owned(), source };
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let file =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).map_err(failed)?;
        let began = Instant::now();
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { _file: file }),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) if began.elapsed() < limit => {
                    std::thread::sleep(Duration::from_micros(200));
                }
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {
                    return Err(LockError::Held { path: path.to_owned() });
                }
                Err(errno) => return Err(failed(errno.into())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_keeps_others_out_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/folder/file.lock");
        let lock = FileLock::take(&path, Duration::ZERO).unwrap();
        let error = FileLock::take(&path, Duration::from_millis(5)).unwrap_err();
        assert_eq!(error.to_string(), format!("{} is locked by another program", path.display()));
        drop(lock);
        assert!(FileLock::take(&path, Duration::ZERO).is_ok());
        let below = path.join("x");
        assert!(matches!(FileLock::take(&below, Duration::ZERO), Err(LockError::Failed { .. })));
    }
}
