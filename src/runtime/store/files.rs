//! The files of saved chats: made private, locked while a chat is open, listed and read. Their lines are `saved.rs`'s.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FlockOperation, flock};

use crate::engine::saved::{self, MAX_LINE_BYTES, Meta, Record, Saved};

/// How the files end; others in the folder are left alone.
const ENDING: &str = "jsonl";

/// A larger file is not read.
const MAX_FILE_BYTES: u64 = 512 << 20;

/// How many chats are listed.
const MAX_LISTED: usize = 500;

/// Why a saved chat cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nobody said where they are.
    #[error("no folder for saved chats is known")]
    NoFolder,
    /// The folder cannot be listed.
    #[error("the saved chats in {path} cannot be listed: {source}")]
    List {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file cannot be read.
    #[error("the saved chat {path} cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is a folder or a device.
    #[error("{path} is not a file")]
    NotAFile {
        /// What was named.
        path: PathBuf,
    },
    /// There is no line of a saved chat in it.
    #[error("{path} holds no chat")]
    NoChat {
        /// The file.
        path: PathBuf,
    },
    /// It is too large.
    #[error("{path} is too large for a saved chat")]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// It comes from the future.
    #[error("{path} was saved by a newer version of lathe: update the plugin")]
    Newer {
        /// The file.
        path: PathBuf,
    },
    /// It comes from somewhere else.
    #[error("{path} says that its version is {given}, which is none that lathe writes")]
    ForeignVersion {
        /// The file.
        path: PathBuf,
        /// What it says, as JSON.
        given: String,
    },
    /// A fault of ours.
    #[error("internal error of lathe, see :Lathe log")]
    Panicked,
}

/// Where a chat is saved.
#[derive(Clone, Debug)]
pub struct Place {
    folder: PathBuf,
    path: PathBuf,
}

impl Place {
    /// A chat in the folder, by its id.
    pub fn new(folder: &Path, id: &str) -> Self {
        Self { folder: folder.to_owned(), path: folder.join(format!("{id}.{ENDING}")) }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Where lines go.
pub trait Sink: Send {
    /// Appends whole lines, all of them or, with an error, none that would be read.
    fn append(&mut self, lines: &[u8]) -> io::Result<()>;
    /// Waits until they are on the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file that is ours as long as this value lives.
struct ChatFile {
    file: File,
    len: u64,
    /// Its last line has no end.
    is_cut: bool,
}

impl Sink for ChatFile {
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let end: &[u8] = if self.is_cut { b"\n" } else { b"" };
        if self.len + (end.len() + lines.len()) as u64 > MAX_FILE_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it would be too large to be read back"));
        }
        match self.file.write_all(end).and_then(|()| self.file.write_all(lines)) {
            Ok(()) => {
                self.len += (end.len() + lines.len()) as u64;
                self.is_cut = false;
                Ok(())
            }
            Err(error) => {
                // Half a line goes again. Where even that fails, the next append ends it first.
                self.is_cut |= self.file.set_len(self.len).is_err();
                Err(error)
            }
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Makes a new private file. Where one of that name is there, made by a process with the same id in another container, the
/// place gets another name.
pub(super) fn create(place: &mut Place) -> io::Result<Box<dyn Sink>> {
    /// So many names are tried.
    const MAX_NAMES: u32 = 100;
    let folder = &place.folder;
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    let open = |path: &Path| OpenOptions::new().append(true).create_new(true).mode(0o600).open(path);
    let mut file = open(&place.path);
    let name = place.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for number in 2..MAX_NAMES {
        if !file.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
            break;
        }
        place.path = place.folder.join(format!("{name}-{number}.{ENDING}"));
        file = open(&place.path);
    }
    let file = file?;
    // Nobody else can know of it yet. Where nothing can be locked, two editors may write to one file.
    let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
    // The name is to outlive a crash as well; not every file system can do that.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(Box::new(ChatFile { file, len: 0, is_cut: false }))
}

/// A file that is there, as it would be gone on with.
#[cfg(test)]
pub(super) fn at(path: &Path) -> io::Result<Box<dyn Sink>> {
    let bytes = if fs::metadata(path)?.is_file() { fs::read(path)? } else { Vec::new() };
    let file = OpenOptions::new().append(true).open(path)?;
    Ok(Box::new(ChatFile { file, len: bytes.len() as u64, is_cut: bytes.last().is_some_and(|byte| *byte != b'\n') }))
}

/// One chat of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The name of its file, without the ending.
    pub id: String,
    /// The first line of the first message.
    pub title: String,
    /// The folder that it belongs to.
    pub cwd: String,
    /// When it was written to last, in seconds since 1970.
    pub modified: u64,
}

/// The chats in a folder, newest first. Those in which the user has said nothing are none.
pub(super) fn list(folder: &Path) -> Result<Vec<Entry>, StoreError> {
    let fault = |source| StoreError::List { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(fault)?,
    };
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == ENDING))
        .filter_map(|path| {
            let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, path))
        })
        .collect();
    files.sort_by(|one, other| other.cmp(one));
    let entries = files.into_iter().take(MAX_LISTED).filter_map(|(modified, path)| {
        let (title, cwd) = peek(&path).ok()??;
        let id = path.file_stem()?.to_str()?.to_owned();
        let modified = modified.duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
        Some(Entry { id, title, cwd, modified })
    });
    Ok(entries.collect())
}

/// The title of a chat and its folder; none: nothing was said. Most lines are passed over unread.
fn peek(path: &Path) -> io::Result<Option<(String, String)>> {
    /// A line that begins a chat's history anew is no longer than this.
    const CLEARED_BYTES: usize = 64;
    let mut reader = BufReader::with_capacity(64 << 10, File::open(path)?.take(MAX_FILE_BYTES));
    let (mut title, mut cwd) = (None, None);
    let mut line = Vec::new();
    let contains = |line: &[u8], word: &str| memchr::memmem::find(line, word.as_bytes()).is_some();
    while read_line(&mut reader, &mut line)? {
        let may_be_title = title.is_none() && contains(&line, "User");
        let may_be_clear = line.len() <= CLEARED_BYTES && contains(&line, "cleared");
        if cwd.is_none() || may_be_title || may_be_clear {
            match serde_json::from_slice(&line) {
                Ok(Record::Chat { meta: Meta { cwd: folder, .. }, .. }) => cwd = Some(folder),
                Ok(Record::Message { message }) => title = title.or_else(|| saved::title(&message)),
                Ok(Record::Cleared) => title = None,
                _ => {}
            }
        }
    }
    Ok(title.map(|title| (title, cwd.unwrap_or_default())))
}

/// Reads a line; of one that is too long to be one, only its beginning. False: there is none.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = reader.take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', line)?;
    if line.last() != Some(&b'\n') {
        reader.skip_until(b'\n')?;
    }
    Ok(read > 0)
}

/// Puts what is too long for a chat's file beside it, in a file that only the user can read. `number`: the first that is
/// tried of those in its name.
pub(super) fn put_beside(place: &Place, number: &mut u32, bytes: &[u8]) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(&place.folder)?;
    loop {
        *number += 1;
        let path = place.path.with_extension(format!("{number}.large.json"));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => {
                file?.write_all(bytes)?;
                return Ok(path);
            }
        }
    }
}

/// Why a chat goes on in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyReason {
    /// It is open, here or in another editor.
    Busy,
    /// Its file cannot be written to.
    ReadOnly,
    /// Its file is not one of the folder.
    Elsewhere,
}

/// A chat that was read.
pub struct Loaded {
    /// The name of its file, without the ending.
    pub id: String,
    pub(super) place: Place,
    /// What its file says.
    pub saved: Saved,
    pub(super) keep: Keep,
    /// Why it goes on in a copy; none: it goes on in its file.
    pub copied: Option<CopyReason>,
}

pub(super) enum Keep {
    Same(Box<dyn Sink>),
    Copy(Vec<u8>),
}

/// Reads a chat, and locks its file.
pub(super) fn load(folder: &Path, wanted: &str) -> Result<Loaded, StoreError> {
    let is_path = wanted.contains('/');
    let path = if is_path { PathBuf::from(wanted) } else { Place::new(folder, wanted).path };
    let fault = |source| StoreError::Read { path: path.clone(), source };
    // A pipe would not let go of this thread.
    let metadata = fs::metadata(&path).map_err(fault)?;
    if !metadata.is_file() {
        return Err(StoreError::NotAFile { path });
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(StoreError::TooLarge { path });
    }
    let (mut file, copied) = open(folder, &path).map_err(fault)?;
    let mut bytes = Vec::new();
    (&mut file).take(MAX_FILE_BYTES).read_to_end(&mut bytes).map_err(fault)?;
    let saved = saved::load(&bytes);
    if let Some(given) = saved.foreign_version {
        let is_newer = given.parse().is_ok_and(|version: u32| version > saved::VERSION);
        return Err(if is_newer { StoreError::Newer { path } } else { StoreError::ForeignVersion { path, given } });
    } else if saved.is_too_long {
        return Err(StoreError::TooLarge { path });
    } else if saved.records == 0 {
        return Err(StoreError::NoChat { path });
    }
    let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let keep = match copied {
        Some(_) => Keep::Copy(bytes),
        None => {
            let is_cut = bytes.last().is_some_and(|byte| *byte != b'\n');
            Keep::Same(Box::new(ChatFile { file, len: bytes.len() as u64, is_cut }))
        }
    };
    Ok(Loaded { id, place: Place { folder: folder.to_owned(), path }, saved, keep, copied })
}

/// Opens a file to go on in it, or else only to read it.
fn open(folder: &Path, path: &Path) -> io::Result<(File, Option<CopyReason>)> {
    let read_only = |reason| File::open(path).map(|file| (file, Some(reason)));
    let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
    let is_ours = path.extension().is_some_and(|ending| ending == ENDING)
        && parent.is_some_and(|parent| folder.canonicalize().is_ok_and(|folder| folder == parent));
    if !is_ours {
        return read_only(CopyReason::Elsewhere);
    }
    let file = match OpenOptions::new().read(true).append(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
        Err(_) => return read_only(CopyReason::ReadOnly),
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => read_only(CopyReason::Busy),
        // Where nothing can be locked, two editors may write to one file.
        Ok(()) | Err(_) => Ok((file, None)),
    }
}
