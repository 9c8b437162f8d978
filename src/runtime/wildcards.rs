//! Where paths lead on the disk, and what wildcards find on it, within bounds. Everything here blocks and runs off the main
//! loop.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::gate::path::{self, Disk, Resolved, WildPiece, normal};

/// So many files may the wildcards of one call find.
const MAX_MATCHES: usize = 1_000;

/// So long they are looked for.
const MAX_TIME: Duration = Duration::from_millis(50);

/// Where a path leads. Links in circles lead nowhere: the path stands for itself below a folder that is in no project.
pub fn real(path: &Path) -> PathBuf {
    path::real(path, &|path| fs::read_link(path).ok()).unwrap_or_else(|| nowhere(path))
}

fn nowhere(path: &Path) -> PathBuf {
    Path::new("/dev/null").join(path.file_name().unwrap_or_default())
}

/// The disk, as one call finds it: what was looked up once is not looked up again.
#[derive(Debug)]
pub struct Files {
    links: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
    left: RefCell<(usize, Option<Instant>)>,
}

impl Default for Files {
    fn default() -> Self {
        Self { links: RefCell::default(), left: RefCell::new((MAX_MATCHES, None)) }
    }
}

impl Disk for Files {
    fn resolve(&self, path: &Path) -> Resolved {
        let link = |path: &Path| {
            let known = self.links.borrow().get(path).cloned();
            known.unwrap_or_else(|| {
                let link = fs::read_link(path).ok();
                self.links.borrow_mut().insert(path.to_owned(), link.clone());
                link
            })
        };
        let real = path::real(path, &link).unwrap_or_else(|| nowhere(path));
        Resolved { lexical: normal(path), is_folder: real.is_dir(), real }
    }

    fn expand(&self, base: &Path, pieces: &[WildPiece]) -> Option<Vec<PathBuf>> {
        let mut found = vec![base.to_owned()];
        for component in components(pieces) {
            if component.iter().all(|piece| matches!(piece, WildPiece::Text(_))) {
                let name: String = component.iter().map(text).collect();
                found.iter_mut().for_each(|path| path.push(&name));
                continue;
            }
            let mut next = Vec::new();
            for folder in found {
                self.matches(&folder, &component, &mut next)?;
            }
            found = next;
        }
        found.retain(|path| path.symlink_metadata().is_ok());
        Some(found)
    }
}

impl Files {
    /// Adds what one part of a path finds in a folder.
    fn matches(&self, folder: &Path, component: &[WildPiece], found: &mut Vec<PathBuf>) -> Option<()> {
        let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        // These are no entries, but some shells find them.
        let parent = matches!(component.first(), Some(WildPiece::Text(start)) if start.starts_with('.'));
        let dots = [".", ".."].into_iter().filter(|_| parent).map(Into::into);
        for name in names.chain(dots) {
            let mut left = self.left.borrow_mut();
            let until = *left.1.get_or_insert_with(|| Instant::now() + MAX_TIME);
            if Instant::now() >= until {
                return None;
            }
            if is_match(component, &name.to_string_lossy()) {
                left.0 = left.0.checked_sub(1)?;
                found.push(folder.join(name));
            }
        }
        Some(())
    }
}

fn text(piece: &WildPiece) -> &str {
    match piece {
        WildPiece::Text(text) => text,
        WildPiece::Many | WildPiece::One => "",
    }
}

/// The parts of a path between its slashes.
fn components(pieces: &[WildPiece]) -> Vec<Vec<WildPiece>> {
    let mut components = vec![Vec::new()];
    for piece in pieces {
        let WildPiece::Text(text) = piece else {
            components.last_mut().into_iter().for_each(|last| last.push(piece.clone()));
            continue;
        };
        for (at, part) in text.split('/').enumerate() {
            if at > 0 {
                components.push(Vec::new());
            }
            if !part.is_empty() {
                components.last_mut().into_iter().for_each(|last| last.push(WildPiece::Text(part.to_owned())));
            }
        }
    }
    components.retain(|component| !component.is_empty());
    components
}

/// Whether a name is one that a part of a path may find. Hidden files are found as well, and any character stands for one
/// in brackets: too much is looked at, never too little.
fn is_match(component: &[WildPiece], name: &str) -> bool {
    // The places in the name up to which the pieces so far can reach.
    let mut ends = vec![0];
    for piece in component {
        ends = match piece {
            WildPiece::Text(text) => {
                let starts = ends.into_iter().filter(|end| name[*end..].starts_with(text.as_str()));
                starts.map(|end| end + text.len()).collect()
            }
            WildPiece::One => {
                let next = |end: usize| Some(end + name[end..].chars().next()?.len_utf8());
                ends.into_iter().filter_map(next).collect()
            }
            WildPiece::Many => {
                let first = ends.iter().min().copied().unwrap_or(name.len() + 1);
                (first..=name.len()).filter(|end| name.is_char_boundary(*end)).collect()
            }
        };
    }
    ends.contains(&name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(pattern: &str) -> Vec<WildPiece> {
        let mut pieces = Vec::new();
        for part in pattern.split_inclusive(['*', '?']) {
            let (text, wild) = match part.strip_suffix(['*', '?']) {
                Some(text) => (text, Some(if part.ends_with('*') { WildPiece::Many } else { WildPiece::One })),
                None => (part, None),
            };
            pieces.push(WildPiece::Text(text.to_owned()));
            pieces.extend(wild);
        }
        pieces
    }

    fn found(folder: &Path, pattern: &str) -> Option<Vec<String>> {
        let found = Files::default().expand(folder, &pieces(pattern))?;
        let names = found.iter().map(|path| path.strip_prefix(folder).unwrap().to_string_lossy().into_owned());
        let mut names: Vec<_> = names.collect();
        names.sort();
        Some(names)
    }

    #[test]
    fn wildcards_find_what_a_shell_finds_and_hidden_files() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["a.txt", "b.txt", ".h.txt", "d/x.rs", "d/y.txt", "e/x.rs"] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink("/etc/none", folder.path().join("dangling.txt")).unwrap();
        let t = |pattern: &str| found(folder.path(), pattern).unwrap().join(" ");
        assert_eq!(t("*.txt"), ".h.txt a.txt b.txt dangling.txt", "a link that leads nowhere is found as well");
        assert_eq!(t("?.txt"), "a.txt b.txt");
        assert_eq!(t("*/x.rs"), "d/x.rs e/x.rs");
        assert_eq!(t("d/*"), "d/x.rs d/y.txt");
        assert_eq!(t("*/*.txt"), "d/y.txt");
        assert_eq!(t("*.none"), "");
        assert!(t(".*").split(' ').any(|name| name == ".."), "some shells find it");
    }

    #[test]
    fn more_than_a_thousand_matches_are_too_many_to_tell() {
        let folder = tempfile::tempdir().unwrap();
        for file in 0..=MAX_MATCHES {
            fs::write(folder.path().join(format!("f{file}")), "").unwrap();
        }
        assert_eq!(found(folder.path(), "f1"), Some(vec!["f1".to_owned()]), "without a wildcard nothing is counted");
        assert_eq!(found(folder.path(), "x*"), Some(vec![]));
        assert_eq!(found(folder.path(), "f*"), None);
        assert_eq!(found(folder.path(), "f1*").map(|found| found.len()), Some(112));
    }
}
