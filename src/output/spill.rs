//! The raw whole of an output that had to be cut: a private file, bounded in size, age and number. What the model
//! gets of it is decided in `output.rs`.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// No file grows beyond this.
const MAX_FILE_BYTES: u64 = 1 << 30;
/// All files together, when swept.
const MAX_TOTAL_BYTES: u64 = 4 << 30;
/// Files older than this are removed when swept.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// A file written to so recently may still be open: a sweep never takes it for its size.
const MIN_AGE: Duration = Duration::from_secs(60);
/// How our files end; a sweep touches no others.
const SUFFIX: &str = ".output";

/// Where the raw whole of cut outputs goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spill {
    /// The folder, made with mode 0700 when first needed. None: nothing is saved, and a cut says that the rest is lost.
    pub folder: Option<PathBuf>,
}

/// The raw bytes of one output: in memory as long as it is small, then in a file.
pub(super) struct Raw {
    spill: Spill,
    hold_bytes: usize,
    max_file_bytes: u64,
    held: Vec<u8>,
    file: Option<(PathBuf, File)>,
    written: u64,
    incomplete: bool,
}

impl Raw {
    pub(super) fn new(spill: Spill, hold_bytes: usize) -> Self {
        Self {
            spill,
            hold_bytes,
            max_file_bytes: MAX_FILE_BYTES,
            held: Vec::new(),
            file: None,
            written: 0,
            incomplete: false,
        }
    }

    #[cfg(test)]
    pub(super) fn set_max_file_bytes(&mut self, max_file_bytes: u64) {
        self.max_file_bytes = max_file_bytes;
    }

    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        self.held.capacity()
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.incomplete {
            return;
        }
        if self.file.is_none() {
            if self.held.len() + bytes.len() <= self.hold_bytes {
                self.held.extend_from_slice(bytes);
                return;
            }
            self.open();
        }
        self.write(bytes);
    }

    /// The file that holds the raw output, if it is wanted and could be made, and whether bytes are missing there.
    pub(super) fn finish(mut self, wanted: bool) -> (Option<PathBuf>, bool) {
        if wanted && self.file.is_none() && !self.incomplete {
            self.open();
        }
        match self.file.take() {
            Some((path, _)) if wanted => (Some(path), self.incomplete),
            Some((path, _)) => {
                // Raw bytes beyond the limit, but little text: progress bars, for one.
                let _ = fs::remove_file(path);
                (None, false)
            }
            None => (None, wanted && self.incomplete),
        }
    }

    /// Opens the file and moves there what memory holds.
    fn open(&mut self) {
        let held = std::mem::take(&mut self.held);
        match self.spill.folder.as_deref().map(create) {
            Some(Ok(file)) => {
                self.file = Some(file);
                self.write(&held);
            }
            Some(Err(_)) | None => self.incomplete = true,
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        let Some((path, file)) = &mut self.file else { return };
        let room = usize::try_from(self.max_file_bytes - self.written).unwrap_or(usize::MAX);
        let kept = &bytes[..bytes.len().min(room)];
        if file.write_all(kept).is_err() {
            // A full disk: half a file would look like the whole, so none is left.
            let _ = fs::remove_file(path);
            self.file = None;
            self.incomplete = true;
            return;
        }
        self.written += kept.len() as u64;
        self.incomplete = kept.len() < bytes.len();
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Never finished: nobody knows of this file.
        if let Some((path, _)) = self.file.take() {
            let _ = fs::remove_file(path);
        }
    }
}

/// Makes a new, empty, private file in `folder`.
fn create(folder: &Path) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("{seconds}-{}-{number}{SUFFIX}", std::process::id()));
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    Ok((path, file))
}

/// Removes outputs that are older than 7 days, then the oldest ones while all together are larger than 4 GiB. Slow:
/// never on the main thread. Other files in `folder` are left alone.
///
/// # Errors
/// When `folder` cannot be listed; that it does not exist is none.
pub fn sweep(folder: &Path) -> io::Result<()> {
    sweep_at(folder, SystemTime::now(), MAX_TOTAL_BYTES)
}

fn sweep_at(folder: &Path, now: SystemTime, max_total_bytes: u64) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(SUFFIX))
        .filter_map(|entry| {
            // Not following links: what they name is not ours.
            let metadata = entry.path().symlink_metadata().ok().filter(fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, metadata.blocks() * 512, entry.path()))
        })
        .collect();
    files.sort();
    let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
    for (modified, bytes, path) in files {
        let age = now.duration_since(modified).unwrap_or_default();
        if age > MAX_AGE || (total > max_total_bytes && age > MIN_AGE) {
            let _ = fs::remove_file(path);
            total -= bytes;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spill(folder: &Path) -> Spill {
        Spill { folder: Some(folder.join("outputs")) }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn small_output_makes_no_file_unless_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let mut raw = Raw::new(spill(folder.path()), 10);
        raw.push(b"0123456789");
        assert_eq!(raw.finish(false), (None, false));
        assert!(!folder.path().join("outputs").exists());

        let mut raw = Raw::new(spill(folder.path()), 10);
        raw.push(b"0123456789");
        let (path, lost) = raw.finish(true);
        assert_eq!((fs::read(path.unwrap()).unwrap(), lost), (b"0123456789".to_vec(), false));
    }

    #[test]
    fn folder_and_file_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("outputs");
        fs::create_dir(&place).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        let mut raw = Raw::new(spill(folder.path()), 0);
        raw.push(b"secret");
        let (path, _) = raw.finish(true);
        assert_eq!((mode(&place), mode(&path.unwrap())), (0o700, 0o600));
    }

    #[test]
    fn what_does_not_fit_is_dropped_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut raw = Raw::new(spill(folder.path()), 2);
        raw.set_max_file_bytes(5);
        for _ in 0..4 {
            raw.push(b"abc");
        }
        let (path, lost) = raw.finish(true);
        assert_eq!((fs::read(path.unwrap()).unwrap(), lost), (b"abcab".to_vec(), true));
    }

    #[test]
    fn unusable_folder_loses_the_rest_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("outputs"), "a file").unwrap();
        let mut raw = Raw::new(spill(folder.path()), 2);
        raw.push(b"abc");
        assert_eq!(raw.finish(true), (None, true));
        assert_eq!(Raw::new(Spill::default(), 2).finish(true), (None, true));
    }

    #[test]
    fn unfinished_output_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut raw = Raw::new(spill(folder.path()), 0);
        raw.push(b"abc");
        assert_eq!(fs::read_dir(folder.path().join("outputs")).unwrap().count(), 1);
        drop(raw);
        assert_eq!(fs::read_dir(folder.path().join("outputs")).unwrap().count(), 0);
    }

    #[test]
    fn sweep_removes_old_then_oldest_and_nothing_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        let day = Duration::from_secs(24 * 60 * 60);
        for (name, days) in [("a.output", 8), ("b.output", 3), ("c.output", 2), ("d.output", 0), ("keep.txt", 99)] {
            let path = folder.path().join(name);
            fs::write(&path, vec![0; 8192]).unwrap();
            File::options().write(true).open(path).unwrap().set_modified(now - day * days).unwrap();
        }
        sweep_at(folder.path(), now, 8192).unwrap();
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["d.output", "keep.txt"], "d is too young to be taken for its size");
        sweep(&folder.path().join("no such folder")).unwrap();
    }
}
