//! What a call does to a file, as a question or a result shows it.

use std::path::PathBuf;

/// One file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// Its text before; none: it did not exist.
    pub before: Option<String>,
    /// Its text afterwards; none: it is gone.
    pub after: Option<String>,
}
