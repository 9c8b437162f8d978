//! What a command or a tool printed, as the model gets it: cleaned, decoded, and cut by one rule for every source
//! (P-70 to P-72). Where the bytes come from is no matter of this file.

mod clean;
mod decode;
mod kept;
mod spill;

use std::path::{Path, PathBuf};

pub use encoding_rs::Encoding;
pub use spill::{Spill, sweep};

use clean::Cleaner;
use decode::Decoder;
use kept::{Kept, Part};
use spill::Raw;

/// How a mark of a cut starts.
const MARK: &str = "[cut: ";
/// By how much a text may exceed the limits when it has a mark: what holds a cut output is not cut again for the mark.
const MARK_BYTES: usize = 4096;
const MARK_LINES: usize = 20;

/// How much of an output is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// More lines are cut. Lines are what line breaks separate: `"a\n"` has two.
    pub max_lines: usize,
    /// More bytes of UTF-8 are cut.
    pub max_bytes: usize,
    /// What is kept of a longer output.
    pub keep: Keep,
}

/// What is kept of an output that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The start.
    Head,
    /// The first quarter and the last three quarters of the limits: a command tells at the end what went wrong.
    HeadTail,
}

impl Limits {
    /// The default limits.
    pub fn new(keep: Keep) -> Self {
        Self { max_lines: 2000, max_bytes: 51_200, keep }
    }

    /// Whether [`cut`] would shorten a text. What holds an output that was cut already is not cut again for its mark.
    pub fn are_exceeded_by(&self, text: &str) -> bool {
        let exceeds = |lines: usize, bytes: usize| {
            text.len() > self.max_bytes.saturating_add(bytes)
                || memchr::memchr_iter(b'\n', text.as_bytes()).count() >= self.max_lines.saturating_add(lines)
        };
        exceeds(0, 0) && (exceeds(MARK_LINES, MARK_BYTES) || !text.contains(MARK))
    }
}

/// An output as the model gets it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The text, with a mark where something was cut.
    pub text: String,
    /// How much was cut; none: nothing.
    pub truncated: Option<Removed>,
    /// The file that holds the raw bytes, when something was cut or is no text.
    pub file: Option<PathBuf>,
    /// Raw bytes are missing in `file`, or there is none though something was cut.
    pub lost: bool,
}

/// How much of an output was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Whole lines; 0 when only a part of one line is gone.
    pub lines: u64,
    /// Bytes of the cleaned text.
    pub bytes: u64,
    /// Lines of the whole.
    pub total_lines: u64,
    /// Bytes of the whole cleaned text.
    pub total_bytes: u64,
}

/// Collects an output while it arrives, in bounded memory. The result is the same however the bytes are split.
pub struct Collector {
    limits: Limits,
    decoder: Decoder,
    cleaner: Cleaner,
    raw: Raw,
}

impl Collector {
    /// A collector that detects the encoding.
    pub fn new(limits: Limits, spill: Spill) -> Self {
        Self::with_encoding(limits, spill, None)
    }

    /// A collector for output that is known to have an encoding (`Encoding::for_label`).
    pub fn with_encoding(limits: Limits, spill: Spill, encoding: Option<&'static Encoding>) -> Self {
        // What is raw may be twice as long as its text (UTF-16) without being too long.
        let hold_bytes = limits.max_bytes.saturating_mul(2).saturating_add(64 * 1024);
        Self {
            decoder: Decoder::new(encoding),
            cleaner: Cleaner::new(Kept::new(limits.max_bytes)),
            raw: Raw::new(spill, hold_bytes),
            limits,
        }
    }

    /// Takes the next bytes. May write to a file: never on the main thread.
    pub fn push(&mut self, bytes: &[u8]) {
        self.raw.push(bytes);
        self.decoder.push(bytes, &mut self.cleaner);
    }

    /// The line that is being printed, else the last one that is not blank: cleaned, at most 200 characters.
    pub fn last_line(&self) -> String {
        self.cleaner.last_line(&self.decoder.preview())
    }

    #[cfg(test)]
    fn held_bytes(&self) -> usize {
        self.decoder.held_bytes() + self.cleaner.held_bytes() + self.raw.held_bytes()
    }

    /// The output, all of it having come.
    pub fn finish(self) -> Output {
        self.end().finish(None)
    }

    /// Marks the end of the output, for those who need its size before they cut.
    pub fn end(mut self) -> Collected {
        let lossy = self.decoder.finish(&mut self.cleaner);
        Collected { limits: self.limits, kept: self.cleaner.finish(), raw: self.raw, lossy }
    }
}

/// An output that has ended and is not cut yet.
pub struct Collected {
    limits: Limits,
    kept: Kept,
    raw: Raw,
    lossy: bool,
}

impl Collected {
    /// Lines and bytes of the whole cleaned text. Nothing printed is one line of no bytes.
    pub fn size(&self) -> (u64, u64) {
        (self.kept.total_lines(), self.kept.total_bytes())
    }

    /// Cuts it by limits, at most those it was collected with; none: those.
    pub fn finish(self, limits: Option<(usize, usize)>) -> Output {
        let (max_lines, max_bytes) = limits.unwrap_or((self.limits.max_lines, self.limits.max_bytes));
        let limits = Limits {
            max_lines: max_lines.min(self.limits.max_lines),
            max_bytes: max_bytes.min(self.limits.max_bytes),
            keep: self.limits.keep,
        };
        let (file, lost) = self.raw.finish(self.lossy || self.kept.exceeds(&limits));
        let mut output = assemble(self.kept.cut(&limits), file, lost);
        if self.lossy && output.truncated.is_none() {
            end_line(&mut output.text);
            let place = place(output.file.as_deref(), lost);
            output.text.push_str(&format!("[not all of this is surely text; {place}]"));
        }
        output
    }
}

/// Cuts a text that is already complete and clean, by the same rule. May write to a file: never on the main thread.
pub fn cut(text: &str, limits: &Limits, spill: &Spill) -> Output {
    if !limits.are_exceeded_by(text) {
        return Output { text: text.to_owned(), ..Output::default() };
    }
    let mut kept = Kept::new(limits.max_bytes);
    kept.push(text);
    let mut raw = Raw::new(spill.clone(), 0);
    raw.push(text.as_bytes());
    let (file, lost) = raw.finish(true);
    assemble(kept.cut(limits), file, lost)
}

fn assemble(part: Part, file: Option<PathBuf>, lost: bool) -> Output {
    let (head, tail, removed) = match part {
        Part::Whole(text) => return Output { text, truncated: None, file, lost },
        Part::Ends { head, tail, removed } => (head, tail, removed),
    };
    let mut text = head;
    end_line(&mut text);
    text.push_str(&mark(&removed, file.as_deref(), lost));
    if !tail.is_empty() {
        text.push('\n');
        text.push_str(&tail);
    }
    Output { text, truncated: Some(removed), file, lost }
}

/// What stands where something was cut.
fn mark(removed: &Removed, file: Option<&Path>, lost: bool) -> String {
    let Removed { lines, bytes, total_lines, total_bytes } = *removed;
    let [lines, bytes, total_lines, total_bytes] = [lines, bytes, total_lines, total_bytes].map(grouped);
    let place = place(file, lost);
    format!("{MARK}{lines} of {total_lines} lines ({bytes} of {total_bytes} bytes) are left out here; {place}]")
}

fn place(file: Option<&Path>, lost: bool) -> String {
    match file.map(Path::display) {
        Some(file) if lost => format!("the first part of the raw output is in {file}, the rest is lost"),
        Some(file) => format!("the whole raw output is in {file}: search it or read ranges of it"),
        None => "the rest is lost, since it could not be saved".to_owned(),
    }
}

/// Ends the last line of a text that is not empty.
pub(crate) fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// A number with commas between its thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
