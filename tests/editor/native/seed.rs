//! The document's examples.
