//! Finds what a call wants, as pairs of a key and a value: its own, and those of the shell texts and paths in it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::pair::{EDIT, Floor, Pair, Wants};
use super::path::{Disk, Places, Resolved, WildPiece, normal};
use super::rule::EXTERNAL_DIRECTORY;
use super::shell::{self, BASH, Command, PathPiece, PathText, PathUse, Script};
use super::unknown::Unknown;
use super::value::Value;

/// Keys whose values are paths (P-38).
const PATH_KEYS: [&str; 3] = ["read", EDIT, "list"];

/// Finds what a call wants.
pub fn pairs(wants: &Wants, places: &Places, disk: &impl Disk) -> Vec<Pair> {
    let mut found = Finder { places, disk, pairs: Vec::new(), seen: HashSet::new() };
    if wants.key == BASH {
        wants.values.iter().for_each(|text| found.shell(text));
    } else if PATH_KEYS.contains(&wants.key.as_str()) {
        wants.values.iter().for_each(|path| found.path(&wants.key, &places.session, path));
    } else {
        wants.values.iter().for_each(|value| found.add(Pair::new(&wants.key, value)));
    }
    if wants.values.is_empty() {
        found.add(Pair::new(&wants.key, "*"));
    }
    wants.paths.iter().for_each(|path| found.outside(&places.session, path, false));
    wants.commands.iter().for_each(|text| found.shell(text));
    found.pairs
}

struct Finder<'a, D> {
    places: &'a Places,
    disk: &'a D,
    pairs: Vec<Pair>,
    seen: HashSet<Pair>,
}

impl<D: Disk> Finder<'_, D> {
    fn add(&mut self, pair: Pair) {
        if self.seen.insert(pair.clone()) {
            self.pairs.push(pair);
        }
    }

    fn resolved(&self, base: &Path, text: &str) -> Resolved {
        let path = self.places.absolute(base, text);
        let resolved = self.disk.resolve(&path);
        Resolved { lexical: normal(&path), ..resolved }
    }

    /// A path as the value of a key, and as a path that may be outside.
    fn path(&mut self, key: &str, base: &Path, text: &str) {
        let resolved = self.resolved(base, text);
        if key != EDIT && self.places.is_readable(&resolved) {
            return self.add(Pair { views: Vec::new(), ..Pair::new(key, text) });
        }
        // Outside first (P-57).
        self.outside(base, text, resolved.is_folder);
        let views = [self.places.forms(&resolved.lexical), self.places.forms(&resolved.real)];
        let value = views[0].first().cloned().unwrap_or_default();
        let views = if views[0] == views[1] { &views[..1] } else { &views[..] };
        let views = views.iter().map(|forms| forms.iter().map(|form| Value::from(form.as_str())).collect()).collect();
        self.add(Pair { views, ..Pair::new(key, &value) });
    }

    fn outside(&mut self, base: &Path, text: &str, is_folder: bool) {
        let mut resolved = self.resolved(base, text);
        resolved.is_folder |= is_folder;
        if !self.places.is_inside(&resolved) && !self.places.is_readable(&resolved) {
            self.add(Pair::new(EXTERNAL_DIRECTORY, &self.places.external(&resolved)));
        }
    }

    /// A path that may be anywhere: only a rule for every folder allows it (P-65).
    fn anywhere(&mut self, written: &str, is_write: bool) {
        self.add(Pair { floor: Floor::AllowAny, ..Pair::new(EXTERNAL_DIRECTORY, written) });
        if is_write {
            self.add(Pair { floor: Floor::AllowAny, ..Pair::new(EDIT, written) });
        }
    }

    /// A shell text: its commands, the files that it writes, the paths that it names (P-60 to P-65).
    fn shell(&mut self, text: &str) {
        let parts = match shell::parse(text) {
            Script::Empty => return,
            Script::Unparsable => return self.add(Pair { floor: Floor::AllowAny, ..Pair::new(BASH, text) }),
            Script::Parsed(parts) => parts,
        };
        let is_wild = |used: &PathUse| matches!(used.path, PathText::Wild { .. });
        if parts.changes_wildcards && parts.paths.iter().any(is_wild) {
            self.anywhere(text, false);
        }
        let bases = self.folders(&parts.paths);
        match &bases {
            Some(bases) => {
                let files = parts.paths.iter().filter(|used| !used.is_folder);
                files.for_each(|used| drop(self.path_use(bases, used)));
            }
            None => self.anywhere(text, false),
        }
        for written in &parts.free {
            self.add(Pair { views: Vec::new(), ..Pair::new(BASH, written) });
        }
        let bases = bases.unwrap_or_else(|| vec![self.places.session.clone()]);
        parts.commands.into_iter().for_each(|command| self.command(&bases, command));
    }

    fn command(&mut self, bases: &[PathBuf], command: Command) {
        let views = command.views().map(|view| vec![view]).collect();
        let is_option = |path: &PathBuf| path.as_os_str().as_encoded_bytes().starts_with(b"-");
        let finds_option = command.found_options.iter().any(|path| match path {
            PathText::Wild { pieces, .. } => bases.iter().any(|base| {
                let found = self.disk.expand(base, &wild_pieces(pieces));
                found.is_none_or(|found| {
                    found
                        .iter()
                        .filter_map(|path| path.strip_prefix(base).ok())
                        .any(|path| is_option(&path.to_path_buf()))
                })
            }),
            PathText::Known(_) | PathText::Unknown(_) => false,
        });
        let floor = command.doubt.or_else(|| finds_option.then_some(Unknown::Wildcard)).map_or(Floor::None, Floor::Ask);
        let (named, words, is_told) = (command.named, command.words, command.is_told);
        self.add(Pair { views, named, words, floor, is_told, ..Pair::new(BASH, &command.written) });
    }

    /// The folders that a text goes to, and from there all that a relative path in it may be relative to: a `cd` may
    /// come before it, and may have failed. None: too many to tell.
    fn folders(&mut self, paths: &[PathUse]) -> Option<Vec<PathBuf>> {
        const MAX: usize = 64;
        let mut bases = vec![self.places.session.clone()];
        for used in paths.iter().filter(|used| used.is_folder) {
            for at in 0..bases.len() {
                let base = bases[at].clone();
                for folder in self.path_use(std::slice::from_ref(&base), used) {
                    if !bases.contains(&folder) {
                        bases.push(folder);
                    }
                }
            }
            if bases.len() > MAX {
                return None;
            }
        }
        Some(bases)
    }

    /// Adds the pairs of a path. What it is, made absolute.
    fn path_use(&mut self, bases: &[PathBuf], used: &PathUse) -> Vec<PathBuf> {
        let mut found = Vec::new();
        match &used.path {
            PathText::Known(text) => {
                for base in bases {
                    self.known(base, text, used);
                    found.push(self.places.absolute(base, text));
                }
            }
            PathText::Wild { pieces, splits } => {
                for base in bases {
                    found.extend(self.wild(base, pieces, *splits, used));
                }
            }
            PathText::Unknown(text) => self.anywhere(text, used.is_write),
        }
        found
    }

    fn known(&mut self, base: &Path, text: &str, used: &PathUse) {
        if used.is_write {
            self.path(EDIT, base, text);
        } else {
            self.outside(base, text, used.is_folder);
        }
    }

    /// A path with wildcards: the folder in which they look, all that they find, and the text itself, which is what is
    /// left where they find nothing.
    fn wild(&mut self, base: &Path, pieces: &[PathPiece], splits: bool, used: &PathUse) -> Vec<PathBuf> {
        let text: String = pieces.iter().map(PathPiece::as_str).collect();
        let before: String =
            pieces.iter().map_while(|piece| matches!(piece, PathPiece::Text(_)).then(|| piece.as_str())).collect();
        let folder = before.rfind('/').map_or("", |at| &before[..=at]);
        self.outside(base, if folder.is_empty() { "." } else { folder }, true);
        self.known(base, &text, used);
        let start = self.places.absolute(base, folder);
        let leading = pieces.iter().take_while(|piece| matches!(piece, PathPiece::Text(_))).count();
        let first = PathPiece::Text(before[folder.len()..].to_owned());
        let rest: Vec<PathPiece> = std::iter::once(first).chain(pieces[leading..].iter().cloned()).collect();
        let found = self.disk.expand(&start, &wild_pieces(&rest));
        let is_split = |path: &PathBuf| path.to_string_lossy().contains(char::is_whitespace);
        let Some(found) = found.filter(|found| !splits || !found.iter().any(is_split)) else {
            self.anywhere(&text, used.is_write);
            return Vec::new();
        };
        for path in &found {
            self.known(base, &path.to_string_lossy(), used);
        }
        found
    }
}

fn wild_pieces(pieces: &[PathPiece]) -> Vec<WildPiece> {
    let piece = |piece: &PathPiece| match piece {
        PathPiece::Text(text) => WildPiece::Text(text.clone()),
        PathPiece::Wild(wild) if wild.starts_with('*') => WildPiece::Many,
        PathPiece::Wild(_) => WildPiece::One,
    };
    pieces.iter().map(piece).collect()
}
