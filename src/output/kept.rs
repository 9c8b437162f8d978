//! The part of a text that is kept: the start and the end in bounded memory while it streams, the cut at the end.

use super::{Keep, Limits, Removed};

/// A live display gets no more of a line.
const MAX_LAST_LINE_CHARS: usize = 200;
/// A kept end may be looked at one character beyond the limit, to tell whether a line ends there.
const MARGIN_BYTES: usize = 4;

/// The start and the end of a text of any length.
#[derive(Clone)]
pub(super) struct Kept {
    capacity: usize,
    /// The first bytes, up to `capacity`.
    start: String,
    /// `start` is not the whole text.
    start_is_full: bool,
    /// The last bytes, at least `capacity` if there are as many.
    end: String,
    /// Line breaks so far.
    breaks: u64,
    bytes: u64,
}

/// What is left of a text.
pub(super) enum Part {
    Whole(String),
    Ends { head: String, tail: String, removed: Removed },
}

impl Kept {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            capacity: max_bytes.saturating_add(MARGIN_BYTES),
            start: String::new(),
            start_is_full: false,
            end: String::new(),
            breaks: 0,
            bytes: 0,
        }
    }

    /// A small copy that knows the last line and nothing else.
    pub(super) fn preview(other: &Self) -> Self {
        let mut copy = Self::new(0);
        copy.end = other.last_line();
        if other.end.ends_with('\n') {
            copy.end.push('\n');
        }
        copy.capacity = usize::MAX / 8;
        copy
    }

    pub(super) fn push(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        self.breaks += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        if !self.start_is_full {
            let room = floor(text, self.capacity - self.start.len());
            self.start.push_str(&text[..room]);
            self.start_is_full = room < text.len();
        }
        if text.len() >= self.capacity {
            self.end.clear();
            self.end.push_str(&text[floor(text, text.len() - self.capacity)..]);
            return;
        }
        // Moved to the front only now and then, so that a byte costs the same however small the pieces are.
        if self.end.len() + text.len() > self.capacity.saturating_mul(4) {
            self.end.drain(..floor(&self.end, self.end.len() - self.capacity));
        }
        self.end.push_str(text);
    }

    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        self.start.capacity() + self.end.capacity()
    }

    pub(super) fn total_lines(&self) -> u64 {
        self.breaks + 1
    }

    pub(super) fn total_bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether these limits would cut the text.
    pub(super) fn exceeds(&self, limits: &Limits) -> bool {
        // Nothing is one line, and there is nothing to cut.
        self.bytes > 0 && (self.total_lines() > limits.max_lines as u64 || self.bytes > limits.max_bytes as u64)
    }

    /// Cuts the text. The limits may be smaller than those it was collected with, never larger.
    pub(super) fn cut(self, limits: &Limits) -> Part {
        if !self.exceeds(limits) {
            return Part::Whole(self.start);
        }
        let (head_lines, head_bytes) = match limits.keep {
            Keep::Head => (limits.max_lines, limits.max_bytes),
            Keep::HeadTail => (limits.max_lines / 4, limits.max_bytes / 4),
        };
        let head = head(&self.start, head_lines, head_bytes);
        // Both ends together stay within limits that the text exceeds: they cannot overlap.
        let end = &self.end[ceil(&self.end, self.end.len().saturating_sub(self.capacity))..];
        let tail = tail(end, limits.max_lines - head_lines, limits.max_bytes - head_bytes);
        let kept_lines = [head, tail].iter().map(|part| part.map_or(0, |text| text.split('\n').count() as u64)).sum();
        let (head, tail) = (head.unwrap_or_default(), tail.unwrap_or_default());
        let removed = Removed {
            // Zero when only parts of lines are gone.
            lines: self.total_lines().saturating_sub(kept_lines),
            bytes: self.bytes - (head.len() + tail.len()) as u64,
            total_lines: self.total_lines(),
            total_bytes: self.bytes,
        };
        Part::Ends { head: head.to_owned(), tail: tail.to_owned(), removed }
    }

    /// The last line that is not blank, bounded.
    pub(super) fn last_line(&self) -> String {
        let text = self.end.trim_end();
        let line = text.rsplit('\n').next().unwrap_or(text);
        line.chars().take(MAX_LAST_LINE_CHARS).collect()
    }
}

/// The first lines within the limits, without the last line break; a first line that is too long is cut. None: no line.
fn head(text: &str, max_lines: usize, max_bytes: usize) -> Option<&str> {
    if max_lines == 0 {
        return None;
    }
    let mut end = None;
    for (count, (position, _)) in text.match_indices('\n').enumerate() {
        if count == max_lines || position > max_bytes {
            break;
        }
        end = Some(position);
    }
    Some(&text[..end.unwrap_or_else(|| floor(text, max_bytes))])
}

/// The last lines within the limits; when none but an empty one fits, the end of the last one. None: no line.
fn tail(text: &str, max_lines: usize, max_bytes: usize) -> Option<&str> {
    if max_lines == 0 {
        return None;
    }
    let mut start = None;
    for (count, (position, _)) in text.rmatch_indices('\n').enumerate() {
        if count == max_lines || text.len() - (position + 1) > max_bytes {
            break;
        }
        start = Some(position + 1);
    }
    match start {
        Some(start) if start < text.len() || max_lines == 1 => Some(&text[start..]),
        _ => Some(&text[ceil(text, text.len().saturating_sub(max_bytes))..]),
    }
}

/// The largest character boundary that is not beyond `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The smallest character boundary that is not before `at`.
pub(super) fn ceil(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
