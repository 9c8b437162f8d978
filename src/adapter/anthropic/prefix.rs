//! What stands before an answer, as a fingerprint: thinking is bound to it, and refused after anything else.

use serde_json::Value;

use crate::adapter::raw;

/// Grows with each part of a request; the same for the same parts in every build and process.
#[derive(Debug)]
pub struct Prefix(u64);

impl Default for Prefix {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Prefix {
    /// Adds what comes next.
    pub fn add(&mut self, part: &Value) {
        // FNV-1a. JSON has no line breaks, so that one ends each part.
        for byte in raw::text(part).bytes().chain([b'\n']) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// All that was added.
    pub fn fingerprint(&self) -> String {
        format!("{:016x}", self.0)
    }
}
