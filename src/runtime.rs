//! The shell around the engine: what runs outside the main thread.

pub mod process;
