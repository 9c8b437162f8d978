//! Raw bytes to text: UTF-8 where it is, else the encoding that was set or detected; binary data becomes a mark. Gives
//! `clean.rs` lines.

use encoding_rs::{Encoding, GBK, UTF_8, UTF_16BE, UTF_16LE};

use super::clean::{Cleaner, first_special, has_c1};

/// How many bytes are looked at before the first is decoded.
const START_BYTES: usize = 256;
/// How many bytes are looked at, from the first line on that is not UTF-8, to detect an encoding.
const DETECT_BYTES: usize = 4096;
/// With fewer bytes beyond ASCII, an encoding of several bytes a character is a guess.
const SURE_BYTES: usize = 24;
/// A longer line is decoded in pieces of this size.
const PIECE_BYTES: usize = 16 * 1024;
/// How far plain lines are looked for at once. Less than a piece: what takes whole lines must not take one that comes in
/// pieces otherwise. And no more than this is looked at again for each line that is not plain.
const PLAIN_BYTES: usize = 4096;
/// Text lines after binary data count as text again when there are more than these, or when the output ends.
const MAX_HELD_LINES: usize = 64;
const MAX_HELD_BYTES: usize = 8 * 1024;

/// Turns bytes into lines of text. The result depends on the bytes only, not on how they are split.
pub(super) struct Decoder {
    mode: Mode,
    pending: Vec<u8>,
    /// Some bytes could not be shown as text.
    lossy: bool,
}

enum Mode {
    /// Fewer than `START_BYTES` have come.
    Start,
    /// UTF-8 or a superset of ASCII that is detected; one line after the other.
    Lines(Lines),
    /// An encoding that is known.
    Stream(Box<encoding_rs::Decoder>),
}

#[derive(Default)]
struct Lines {
    /// What lines that are not UTF-8 are, once such a line was seen.
    detected: Option<&'static Encoding>,
    /// A line was UTF-8 and not ASCII.
    seen_utf8: bool,
    /// How the piece before was read, when its line goes on.
    unfinished: Option<Reading>,
    binary: Option<Binary>,
}

/// How a line is read.
enum Reading {
    Utf8,
    Detected(Box<encoding_rs::Decoder>),
    Binary,
}

/// Binary data for which no mark was written yet.
#[derive(Default)]
struct Binary {
    bytes: u64,
    /// Lines after it that look like text. Chance makes such lines in the midst of binary data.
    held: String,
    held_lines: usize,
}

/// A part of a line.
struct Piece<'a> {
    bytes: &'a [u8],
    /// The line ends here, with a line break.
    ends_line: bool,
    /// The output ends here.
    ends_output: bool,
}

impl Decoder {
    /// With an encoding, that one is used whatever comes.
    pub(super) fn new(encoding: Option<&'static Encoding>) -> Self {
        let mode = match encoding {
            Some(encoding) => Mode::Stream(Box::new(encoding.new_decoder_with_bom_removal())),
            None => Mode::Start,
        };
        Self { mode, pending: Vec::new(), lossy: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Cleaner) {
        self.decode(bytes, false, out);
    }

    /// Decodes what is held back; true: some bytes could not be shown as text.
    pub(super) fn finish(&mut self, out: &mut Cleaner) -> bool {
        self.decode(&[], true, out);
        if let Mode::Lines(Lines { binary: Some(binary), .. }) = &mut self.mode {
            std::mem::take(binary).write(out);
        }
        self.lossy
    }

    /// What is held back of the last line, roughly decoded.
    pub(super) fn preview(&self) -> String {
        let line = memchr::memrchr(b'\n', self.pending.trim_ascii_end()).map_or(0, |position| position + 1);
        let detected = match &self.mode {
            Mode::Lines(Lines { binary: Some(_), .. }) => return String::new(),
            Mode::Lines(lines) => lines.detected,
            Mode::Start | Mode::Stream(_) => None,
        };
        match (std::str::from_utf8(&self.pending[line..]), detected) {
            (Err(_), Some(encoding)) => encoding.decode_without_bom_handling(&self.pending[line..]).0.into_owned(),
            _ => String::from_utf8_lossy(&self.pending[line..]).into_owned(),
        }
    }

    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        let binary = match &self.mode {
            Mode::Lines(Lines { binary: Some(binary), .. }) => binary.held.capacity(),
            Mode::Start | Mode::Stream(_) | Mode::Lines(_) => 0,
        };
        self.pending.capacity() + binary
    }

    fn decode(&mut self, bytes: &[u8], last: bool, out: &mut Cleaner) {
        if let Mode::Start = self.mode {
            self.pending.extend_from_slice(bytes);
            if !last && self.pending.len() < START_BYTES {
                return;
            }
            let (mode, bom_bytes) = start(&self.pending[..self.pending.len().min(START_BYTES)]);
            self.mode = mode;
            let pending = std::mem::take(&mut self.pending);
            return self.decode(&pending[bom_bytes..], last, out);
        }
        match &mut self.mode {
            Mode::Start => {}
            Mode::Stream(decoder) => self.lossy |= decode_with(decoder, bytes, last, out),
            Mode::Lines(lines) if self.pending.is_empty() => {
                let used = lines.decode(bytes, last, &mut self.lossy, out);
                self.pending.extend_from_slice(&bytes[used..]);
            }
            Mode::Lines(lines) => {
                self.pending.extend_from_slice(bytes);
                let used = lines.decode(&self.pending, last, &mut self.lossy, out);
                self.pending.drain(..used);
            }
        }
    }
}

/// Decides on the first bytes of an output; also tells how many of them are a byte order mark.
fn start(bytes: &[u8]) -> (Mode, usize) {
    let stream = |encoding: &'static Encoding| Mode::Stream(Box::new(encoding.new_decoder_without_bom_handling()));
    match Encoding::for_bom(bytes) {
        Some((encoding, length)) if encoding != UTF_8 => return (stream(encoding), length),
        Some((_, length)) => return (Mode::Lines(Lines::default()), length),
        None => {}
    }
    if let Some(encoding) = utf16_by_pattern(bytes) {
        return (stream(encoding), 0);
    }
    let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or(bytes);
    // The first line of a picture has no NUL but the next one has.
    let is_binary = bytes.contains(&0) && std::str::from_utf8(first_line).is_err();
    (Mode::Lines(Lines { binary: is_binary.then(Binary::default), ..Lines::default() }), 0)
}

/// Text of the Latin letters: a NUL in nearly every pair of bytes, always on the same side.
fn utf16_by_pattern(bytes: &[u8]) -> Option<&'static Encoding> {
    let pairs = bytes.len() / 2;
    let nuls = |side: usize| bytes.iter().skip(side).step_by(2).filter(|byte| **byte == 0).count();
    match (nuls(0), nuls(1)) {
        _ if pairs < 2 => None,
        (0, right) if right * 4 >= pairs * 3 => Some(UTF_16LE),
        (left, 0) if left * 4 >= pairs * 3 => Some(UTF_16BE),
        _ => None,
    }
}

/// Streams bytes through a decoder; true: some were malformed.
fn decode_with(decoder: &mut encoding_rs::Decoder, mut bytes: &[u8], last: bool, out: &mut Cleaner) -> bool {
    let mut lossy = false;
    let mut text = String::with_capacity(PIECE_BYTES);
    loop {
        let (result, read, malformed) = decoder.decode_to_string(bytes, &mut text, last);
        lossy |= malformed;
        out.text(&text);
        text.clear();
        bytes = &bytes[read..];
        if result == encoding_rs::CoderResult::InputEmpty {
            return lossy;
        }
    }
}

impl Lines {
    /// Decodes all whole lines, and pieces of very long ones; tells how many bytes that were.
    fn decode(&mut self, bytes: &[u8], last: bool, lossy: &mut bool, out: &mut Cleaner) -> usize {
        let mut used = 0;
        while used < bytes.len() {
            let rest = &bytes[used..];
            let plain = self.plain_lines(rest);
            if !plain.is_empty() {
                self.seen_utf8 |= !plain.is_ascii();
                out.plain_lines(plain);
                used += plain.len();
                continue;
            }
            let Some(piece) = piece(rest, last) else { break };
            let Some(reading) = self.reading(&piece, rest, last, lossy) else { break };
            used += piece.bytes.len() + usize::from(piece.ends_line);
            self.piece(&piece, reading, lossy, out);
        }
        used
    }

    /// The whole lines at the start of `bytes` that need no care: UTF-8 without control characters.
    fn plain_lines<'a>(&self, bytes: &'a [u8]) -> &'a str {
        if self.unfinished.is_some() || self.binary.is_some() {
            return "";
        }
        let whole_lines = |bytes: &'a [u8]| &bytes[..memchr::memrchr(b'\n', bytes).map_or(0, |position| position + 1)];
        let mut lines = whole_lines(&bytes[..bytes.len().min(PLAIN_BYTES)]);
        if let Some(position) = first_special(lines) {
            lines = whole_lines(&lines[..position]);
        }
        let mut text = match std::str::from_utf8(lines) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(whole_lines(&lines[..error.valid_up_to()])).unwrap_or_default(),
        };
        // Each line on its own then: this may be a line that is UTF-8 by chance.
        if !text.is_ascii() && (has_c1(text) || self.doubts_utf8()) {
            let ascii = text.bytes().position(|byte| !byte.is_ascii()).unwrap_or(text.len());
            text = std::str::from_utf8(whole_lines(&text.as_bytes()[..ascii])).unwrap_or_default();
        }
        text
    }

    /// All lines so far that were not ASCII were not UTF-8 either.
    fn doubts_utf8(&self) -> bool {
        self.detected.is_some() && !self.seen_utf8
    }

    /// How to read a piece; none: more bytes are needed to tell.
    fn reading(&mut self, piece: &Piece, rest: &[u8], last: bool, lossy: &mut bool) -> Option<Reading> {
        let bytes = piece.bytes;
        if let Some(unfinished) = self.unfinished.take() {
            // As `plain_lines` sees it when all of the line is there.
            if matches!(unfinished, Reading::Utf8) && !self.doubts_utf8() {
                self.seen_utf8 |= !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok();
            }
            return Some(unfinished);
        }
        let controls = bytes.iter().filter(|byte| is_binary_control(**byte)).count();
        let nuls = memchr::memchr_iter(0, bytes).count();
        if std::str::from_utf8(bytes).is_ok() {
            // Single NULs separate names; anything else but a stray control character is not text.
            let separated = nuls > 0 && !bytes.windows(2).any(|pair| pair == [0, 0]);
            let strays = if separated { controls - nuls } else { controls };
            if strays * 10 > bytes.len() || (nuls > 0 && !separated) {
                return Some(Reading::Binary);
            }
            if bytes.is_ascii() || !self.doubts_utf8() {
                self.seen_utf8 |= !bytes.is_ascii();
                return Some(Reading::Utf8);
            }
            if self.binary.is_some() {
                return Some(Reading::Binary);
            }
        } else if nuls > 0 || controls * 20 > bytes.len() || self.binary.is_some() {
            return Some(Reading::Binary);
        } else if is_damaged_utf8(piece) {
            self.seen_utf8 = true;
            return Some(Reading::Utf8);
        }
        if self.detected.is_none() {
            if rest.len() < DETECT_BYTES && !last {
                return None;
            }
            let (detected, is_guess) = detect(&rest[..rest.len().min(DETECT_BYTES)]);
            self.detected = Some(detected);
            *lossy |= is_guess;
        }
        Some(Reading::Detected(Box::new(self.detected?.new_decoder_without_bom_handling())))
    }

    fn piece(&mut self, piece: &Piece, mut reading: Reading, lossy: &mut bool, out: &mut Cleaner) {
        match &mut reading {
            Reading::Binary => self.binary.get_or_insert_default().add(piece),
            Reading::Utf8 => {
                let text = String::from_utf8_lossy(piece.bytes);
                *lossy |= matches!(text, std::borrow::Cow::Owned(_));
                if let Some(binary) = &mut self.binary {
                    binary.hold(&text, piece.ends_line);
                    if binary.is_over() {
                        std::mem::take(binary).write(out);
                        self.binary = None;
                    }
                } else {
                    out.print(&text);
                    if piece.ends_line {
                        out.newline();
                    }
                }
            }
            Reading::Detected(decoder) => {
                *lossy |= decode_with(decoder, piece.bytes, piece.ends_line || piece.ends_output, out);
                if piece.ends_line {
                    out.newline();
                }
            }
        }
        *lossy |= matches!(reading, Reading::Binary);
        self.unfinished = (!piece.ends_line).then_some(reading);
    }
}

/// The next line without its line break, or a piece of it; none: more bytes are needed.
fn piece(rest: &[u8], last: bool) -> Option<Piece<'_>> {
    let window = &rest[..rest.len().min(PIECE_BYTES)];
    if let Some(position) = memchr::memchr(b'\n', window) {
        return Some(Piece { bytes: &rest[..position], ends_line: true, ends_output: false });
    }
    if rest.len() > PIECE_BYTES {
        // Not inside a character of UTF-8.
        let start = (PIECE_BYTES - 3..PIECE_BYTES).rev().find(|at| rest[*at] >= 0xc0);
        let end = match start.map(|start| (start, std::str::from_utf8(&rest[start..PIECE_BYTES]))) {
            Some((start, Err(error))) if error.error_len().is_none() => start,
            _ => PIECE_BYTES,
        };
        return Some(Piece { bytes: &rest[..end], ends_line: false, ends_output: false });
    }
    last.then_some(Piece { bytes: rest, ends_line: false, ends_output: true })
}

/// A control character that text has no use for, not even text for a terminal.
fn is_binary_control(byte: u8) -> bool {
    matches!(byte, 0..=0x06 | 0x10..=0x1a | 0x1c..=0x1f)
}

/// Not valid, but more UTF-8 than not: a stray byte, or cut in the midst of a character.
fn is_damaged_utf8(piece: &Piece) -> bool {
    let (mut good, mut faults, mut cut) = (0, 0, 0);
    for chunk in piece.bytes.utf8_chunks() {
        good += chunk.valid().chars().map(|char| char.len_utf8() - 1).sum::<usize>();
        faults += usize::from(!chunk.invalid().is_empty());
        cut = chunk.invalid().len();
    }
    good > faults || (piece.ends_output && faults == 1 && cut >= 2)
}

/// Detects what the lines that are not UTF-8 are written in; true: they are too few to be sure.
fn detect(bytes: &[u8]) -> (&'static Encoding, bool) {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| std::str::from_utf8(line).is_err());
    let sample: Vec<u8> = lines.flatten().copied().collect();
    detector.feed(&sample, true);
    let encoding = detector.guess(None, chardetng::Utf8Detection::Deny);
    let is_guess = !encoding.is_single_byte() && sample.iter().filter(|byte| !byte.is_ascii()).count() < SURE_BYTES;
    // The detector finds Korean in a few characters of Chinese, which is by far more frequent.
    match GBK.decode_without_bom_handling_and_without_replacement(&sample) {
        Some(_) if is_guess => (GBK, true),
        _ => (encoding, is_guess),
    }
}

impl Binary {
    fn add(&mut self, piece: &Piece) {
        self.bytes += (std::mem::take(&mut self.held).len() + piece.bytes.len() + usize::from(piece.ends_line)) as u64;
        self.held_lines = 0;
    }

    fn hold(&mut self, text: &str, ends_line: bool) {
        self.held.push_str(text);
        if ends_line {
            self.held.push('\n');
            self.held_lines += 1;
        }
    }

    fn is_over(&self) -> bool {
        self.held_lines > MAX_HELD_LINES || self.held.len() > MAX_HELD_BYTES
    }

    fn write(self, out: &mut Cleaner) {
        if self.bytes > 0 {
            out.print(&format!("[{} bytes of binary data]", super::grouped(self.bytes)));
            out.newline();
        }
        out.text(&self.held);
    }
}
