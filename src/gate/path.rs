//! Paths as the gate compares them: component by component, never as text. Pure; where links lead is found out elsewhere.

use std::path::{Component, Path, PathBuf};

/// Where a chat is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The chat's working directory, absolute.
    pub session: PathBuf,
    /// The root of its git worktree; without git the session directory.
    pub worktree: PathBuf,
    /// The user's home directory.
    pub home: PathBuf,
    /// The two first, with links resolved; the worktree last.
    pub real: Vec<PathBuf>,
    /// Folders that are always readable: where whole tool outputs are kept (P-39, P-71).
    pub readable: Vec<PathBuf>,
}

/// A path of a call, as it is written and where it leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Absolute, without `.` and `..`.
    pub lexical: PathBuf,
    /// With every link on the way resolved, as far as it exists.
    pub real: PathBuf,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// What the gate asks about files.
pub trait Disk {
    /// Where a path leads.
    fn resolve(&self, path: &Path) -> Resolved;

    /// What wildcards find below a folder, hidden files included: each piece is text, or one wildcard. None: too much to
    /// look at.
    fn expand(&self, base: &Path, pieces: &[WildPiece]) -> Option<Vec<PathBuf>>;
}

/// A piece of a path with wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WildPiece {
    /// Text that stands for itself.
    Text(String),
    /// Any text without a slash.
    Many,
    /// One character.
    One,
}

impl Places {
    /// A path as it is written, made absolute: `~` is the home directory, everything else relative to `base`.
    pub fn absolute(&self, base: &Path, text: &str) -> PathBuf {
        let home = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match home {
            Some(rest) => self.home.join(rest.trim_start_matches('/')),
            None => base.join(text),
        }
    }

    /// Whether a path is in the project, by its name and by where it leads (R125, R127).
    pub fn is_inside(&self, path: &Resolved) -> bool {
        let roots = [&self.session, &self.worktree];
        // What is there is no file: even where the project is the whole disk, it is not a part of it.
        let is_device = |path: &Path| {
            let within = |root: &Path| roots.iter().any(|own| own.starts_with(root));
            ["/proc", "/dev", "/sys"].iter().map(Path::new).any(|root| path.starts_with(root) && !within(root))
        };
        if is_device(&path.lexical) || is_device(&path.real) {
            return false;
        }
        let named =
            roots.iter().chain(&self.real.iter().collect::<Vec<_>>()).any(|root| path.lexical.starts_with(root));
        named && self.real.iter().any(|root| path.real.starts_with(root))
    }

    /// Whether a path is in a folder of ours that may always be read.
    pub fn is_readable(&self, path: &Resolved) -> bool {
        self.readable.iter().any(|root| path.real.starts_with(root))
    }

    /// What rules for `external_directory` see, and what an approval remembers: the folder (P-65).
    pub fn external(&self, path: &Resolved) -> String {
        let folder = if path.is_folder { Some(path.real.as_path()) } else { path.real.parent() };
        let folder = folder.unwrap_or(&path.real).to_string_lossy();
        format!("{}/*", folder.trim_end_matches('/'))
    }

    /// What rules for `read`, `edit` and `list` see: the path in the worktree, and the whole path (P-38). The first is what
    /// a question shows.
    pub fn forms(&self, path: &Path) -> Vec<String> {
        let roots = [Some(&self.worktree), self.real.last()];
        let inside = roots.into_iter().flatten().find_map(|root| path.strip_prefix(root).ok());
        let inside = inside.map(|path| path.to_string_lossy().into_owned());
        let inside = inside.map(|text| if text.is_empty() { ".".to_owned() } else { text });
        inside.into_iter().chain([path.to_string_lossy().into_owned()]).collect()
    }
}

/// A path without `.` and `..`, taken by its name alone.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => normal.push(component),
        }
    }
    if normal.as_os_str().is_empty() { PathBuf::from("/") } else { normal }
}

/// How many links may lead from one to the next.
const MAX_LINKS: usize = 40;

/// Where a path leads: every link on the way is resolved, what does not exist stands for itself. `read_link` tells where a
/// link leads; none: it is none. None: the links run in circles.
pub fn real(path: &Path, read_link: &impl Fn(&Path) -> Option<PathBuf>) -> Option<PathBuf> {
    let mut rest: Vec<PathBuf> =
        path.components().rev().map(|component| PathBuf::from(component.as_os_str())).collect();
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(part) = rest.pop() {
        match part.components().next() {
            Some(Component::ParentDir) => {
                real.pop();
            }
            Some(Component::Normal(name)) => {
                let next = real.join(name);
                let Some(target) = read_link(&next) else {
                    real = next;
                    continue;
                };
                links += 1;
                if links > MAX_LINKS {
                    return None;
                }
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                rest.extend(target.components().rev().map(|component| PathBuf::from(component.as_os_str())));
            }
            Some(Component::RootDir) => real = PathBuf::from("/"),
            Some(Component::Prefix(_) | Component::CurDir) | None => {}
        }
    }
    Some(real)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn places() -> Places {
        Places {
            session: "/w/p/sub".into(),
            worktree: "/w/p".into(),
            home: "/home/me".into(),
            real: vec!["/w/p/sub".into(), "/w/p".into()],
            readable: vec!["/state/out".into()],
        }
    }

    fn resolved(text: &str, links: &[(&str, &str)]) -> Resolved {
        let places = places();
        let path = places.absolute(&places.session, text);
        let links: HashMap<PathBuf, PathBuf> = links.iter().map(|(from, to)| (from.into(), to.into())).collect();
        let real = real(&path, &|path| links.get(path).cloned()).expect("no circle");
        Resolved { lexical: normal(&path), real, is_folder: false }
    }

    fn t(text: &str, links: &[(&str, &str)]) -> bool {
        places().is_inside(&resolved(text, links))
    }

    #[test]
    fn r125_what_leaves_the_project_is_outside_however_it_is_written() {
        assert!(t("a.txt", &[]) && t("../b", &[]) && t("/w/p/x", &[]) && t("../../p/x", &[]) && t(".", &[]));
        assert!(!t("../../sib/x", &[]) && !t("/etc/hosts", &[]) && !t("~/x", &[]) && !t("/w/p2/x", &[]));
        assert!(!t("../../../../../../etc", &[]), "the root is its own parent");
    }

    #[test]
    fn r127_links_are_followed_even_where_they_dangle() {
        assert!(!t("a", &[("/w/p/sub/a", "/tmp/o/new.txt")]));
        assert!(!t("l/passwd", &[("/w/p/sub/l", "/etc")]));
        assert!(!t("l/../x", &[("/w/p/sub/l", "/etc/deep")]), "`..` goes up from where the link leads");
        assert!(t("l/x", &[("/w/p/sub/l", "../other")]));
        assert!(!t("l/x", &[("/w/p/sub/l", "m"), ("/w/p/sub/m", "/etc")]));
    }

    #[test]
    fn r130_a_link_to_the_outside_has_the_value_of_where_it_leads() {
        let path = resolved("d/f", &[("/w/p/sub/d", "/data")]);
        assert!(!places().is_inside(&path));
        assert_eq!(places().external(&path), "/data/*");
        let folder = Resolved { is_folder: true, ..resolved("/data", &[]) };
        assert_eq!(places().external(&folder), "/data/*");
        assert_eq!(places().external(&resolved("/x", &[])), "/*");
    }

    #[test]
    fn links_in_circles_lead_nowhere() {
        let circle = |path: &Path| (path == Path::new("/a")).then(|| PathBuf::from("b"));
        let back = |path: &Path| circle(path).or_else(|| (path == Path::new("/b")).then(|| PathBuf::from("a")));
        assert_eq!(real(Path::new("/a/x"), &back), None);
    }

    #[test]
    fn p38_a_path_in_the_worktree_has_both_forms() {
        assert_eq!(places().forms(Path::new("/w/p/sub/a")), ["sub/a", "/w/p/sub/a"]);
        assert_eq!(places().forms(Path::new("/etc/x")), ["/etc/x"]);
        assert_eq!(places().forms(Path::new("/w/p")), [".", "/w/p"]);
    }
}
