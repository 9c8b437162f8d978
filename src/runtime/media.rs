//! The files that pictures, sounds and other bytes of tools are kept in (N-35, N-36): one folder for each session of the
//! editor, private, removed after 7 days. What is in them is read in `native/media.rs`.

use std::fs::{self, DirBuilder, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::media::{self, Given, Kind, Media};
use crate::message::Attachment;
use crate::tool::KeptMedia;

/// A larger picture is not sent to a model.
const MAX_SENT_BYTES: usize = 5 << 20;
/// So many pictures of one result are sent.
const MAX_SENT: usize = 20;
/// Folders that were not written to for longer are removed.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How the folders of sessions begin; a sweep touches no others.
const PREFIX: &str = "session-";

/// A folder for this process, below `folder`. It is made when it is first needed.
pub fn session_folder(folder: &Path) -> PathBuf {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
    folder.join(format!("{PREFIX}{seconds}-{}", std::process::id()))
}

/// Saves media and says what became of each. Slow: never on the main thread.
pub fn keep(given: Vec<Given>, folder: Option<&Path>) -> KeptMedia {
    let (mut notes, mut attachments) = (Vec::new(), Vec::new());
    for given in given {
        let Given { kind, data, mime, uri } = given;
        let media = media::read(kind, data, mime);
        let place = match folder.map(|folder| save(folder, &media)) {
            Some(Ok(path)) => format!("saved in {}", path.display()),
            Some(Err(error)) => format!("not saved: {error}"),
            None => "not saved".to_owned(),
        };
        let of = uri.map(|uri| format!(" of {uri}")).unwrap_or_default();
        let mut note = format!("[{}{of}: {}, {} bytes, {place}", kind.word(), media.mime, media.bytes.len());
        if kind == Kind::Image && media.mime.starts_with("image/") {
            if media.bytes.len() > MAX_SENT_BYTES {
                note.push_str("; too large to be shown to you");
            } else if attachments.len() == MAX_SENT {
                note.push_str(&format!("; not shown to you, only the first {MAX_SENT} are"));
            } else {
                attachments.push(Attachment { mime: media.mime, data: media::encode(&media.bytes) });
            }
        }
        note.push(']');
        notes.push(note);
    }
    KeptMedia { notes: Some(notes.join("\n")).filter(|notes| !notes.is_empty()), attachments }
}

/// The file with these bytes. Equal ones share a file.
fn save(folder: &Path, media: &Media) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut hasher = DefaultHasher::new();
    media.bytes.hash(&mut hasher);
    let extension = media::extension(&media.mime);
    for number in 0u32.. {
        let number = if number == 0 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{:016x}{number}.{extension}", hasher.finish()));
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                return file.write_all(&media.bytes).map(|()| path.clone()).inspect_err(|_| {
                    // Half a picture would be taken for a whole one.
                    let _ = fs::remove_file(&path);
                });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if fs::read(&path).is_ok_and(|bytes| bytes == media.bytes) {
                    return Ok(path);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no free name"))
}

/// Removes the folders of sessions that wrote nothing for 7 days. Slow: never on the main thread.
pub fn sweep(folder: &Path) {
    sweep_at(folder, SystemTime::now());
}

fn sweep_at(folder: &Path, now: SystemTime) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // Not following links: what they name is not ours.
        let metadata = entry.path().symlink_metadata().ok().filter(|metadata| is_ours && metadata.is_dir());
        let modified = metadata.and_then(|metadata| metadata.modified().ok());
        if modified.is_some_and(|modified| now.duration_since(modified).unwrap_or_default() > MAX_AGE) {
            // Of no consequence when it fails: the next editor tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n.";

    fn image(data: &[u8]) -> Given {
        Given { kind: Kind::Image, data: data.to_vec(), mime: None, uri: None }
    }

    fn path_in(note: &str) -> PathBuf {
        note.split("saved in ").nth(1).unwrap().split([';', ']']).next().unwrap().into()
    }

    #[test]
    fn n35_a_picture_is_private_named_and_attached() {
        let folder = tempfile::tempdir().unwrap();
        let session = session_folder(folder.path());
        let kept = keep(vec![image(PNG)], Some(&session));
        let note = kept.notes.unwrap();
        let path = path_in(&note);
        assert_eq!(note, format!("[image: image/png, {} bytes, saved in {}]", PNG.len(), path.display()));
        assert_eq!(fs::read(&path).unwrap(), PNG);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&session).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(kept.attachments, [Attachment { mime: "image/png".into(), data: media::encode(PNG) }]);
    }

    #[test]
    fn a20_raw_bytes_and_their_base64_give_the_same_text_and_picture() {
        let folder = tempfile::tempdir().unwrap();
        let raw = keep(vec![image(PNG)], Some(folder.path()));
        assert_eq!(raw, keep(vec![image(media::encode(PNG).as_bytes())], Some(folder.path())));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn n35_too_large_and_too_many_pictures_are_only_notes() {
        let folder = tempfile::tempdir().unwrap();
        let mut large = PNG.to_vec();
        large.resize(MAX_SENT_BYTES + 1, 0);
        let kept = keep(vec![image(&large)], Some(folder.path()));
        assert!(kept.attachments.is_empty() && kept.notes.unwrap().contains("too large"));
        let many = (0..=MAX_SENT as u8).map(|number| image(&[PNG, &[number]].concat())).collect();
        let kept = keep(many, Some(folder.path()));
        assert_eq!(kept.attachments.len(), MAX_SENT);
        assert_eq!(kept.notes.unwrap().lines().filter(|line| line.contains("not shown")).count(), 1);
    }

    #[test]
    fn n36_sounds_and_files_are_saved_and_never_attached() {
        let folder = tempfile::tempdir().unwrap();
        let given =
            |kind, uri: Option<&str>| Given { kind, data: b"\x01\x02".to_vec(), mime: None, uri: uri.map(Into::into) };
        let kept = keep(vec![given(Kind::Audio, None), given(Kind::Blob, Some("x://y"))], Some(folder.path()));
        let notes = kept.notes.unwrap();
        let lines: Vec<&str> = notes.lines().collect();
        assert!(lines[0].starts_with("[audio: audio/mp3, 2 bytes, saved in "), "{notes}");
        assert!(lines[1].starts_with("[file of x://y: application/octet-stream, 2 bytes, saved in "), "{notes}");
        assert_eq!(fs::read(path_in(lines[1])).unwrap(), b"\x01\x02");
        assert!(kept.attachments.is_empty());
    }

    #[test]
    fn without_a_folder_a_picture_is_still_attached_and_the_note_says_that_it_is_not_saved() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        for place in [None, Some(folder.path().join("file"))] {
            let kept = keep(vec![image(PNG)], place.as_deref());
            assert!(kept.notes.unwrap().contains("not saved"));
            assert_eq!(kept.attachments.len(), 1);
        }
    }

    #[test]
    fn n35_folders_of_old_sessions_are_removed_and_nothing_foreign() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["session-1-1", "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("a.png"), "").unwrap();
        }
        let now = SystemTime::now();
        sweep_at(folder.path(), now + MAX_AGE / 2);
        assert!(folder.path().join("session-1-1").exists());
        sweep_at(folder.path(), now + MAX_AGE * 2);
        assert!(!folder.path().join("session-1-1").exists() && folder.path().join("other").exists());
        sweep(&folder.path().join("nothing"));
    }
}
