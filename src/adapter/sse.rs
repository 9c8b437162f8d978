//! Cuts the body of an answer into frames: the events of a stream, or the whole when it is none. Sans-IO: the same frames
//! for every split of the bytes. What is in a frame is the codec's business.

use memchr::{memchr, memchr2};

/// The longest event, and the longest body that is not a stream, in bytes.
pub const MAX_FRAME_BYTES: usize = 64 << 20;

/// How much of a body without any event is kept for the error that quotes it, in bytes.
const KEPT_BYTES: usize = 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One part of a body that means something by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The data of one event, its lines joined with a newline.
    Event(Vec<u8>),
    /// What stands in a field `error`, which is outside the format.
    Error(Vec<u8>),
    /// The body is one document: JSON or HTML.
    Whole(Vec<u8>),
    /// The frame is longer than [`MAX_FRAME_BYTES`]. Nothing follows.
    TooLong,
}

/// A body as it arrives.
#[derive(Debug)]
pub struct Body {
    mode: Mode,
    limit: usize,
    start: Vec<u8>,
}

#[derive(Debug)]
enum Mode {
    /// Nothing but blanks and perhaps a piece of a byte order mark so far.
    Start(Vec<u8>),
    Events(Events),
    /// Each line is an event, or the whole is one that goes over several.
    Lines(Lines),
    Whole(Vec<u8>),
    Over,
}

impl Default for Body {
    fn default() -> Self {
        Self::with_limit(MAX_FRAME_BYTES)
    }
}

impl Body {
    fn with_limit(limit: usize) -> Self {
        Self { mode: Mode::Start(Vec::new()), limit, start: Vec::new() }
    }

    /// A body each of whose lines is an event by itself.
    pub fn lines() -> Self {
        Self { mode: Mode::Lines(Lines::default()), ..Self::default() }
    }

    /// Takes more bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        if let Mode::Start(head) = &mut self.mode {
            head.extend_from_slice(bytes);
            let head = std::mem::take(head);
            let rest = without_blanks(&head);
            match rest.first() {
                Some(_) if BOM.starts_with(rest) => self.mode = Mode::Start(rest.to_vec()),
                None => {}
                Some(b'{' | b'[' | b'<') => {
                    self.mode = Mode::Whole(Vec::new());
                    self.go_on(rest, &mut frames);
                }
                Some(_) => {
                    self.mode = Mode::Events(Events::default());
                    self.go_on(rest, &mut frames);
                }
            }
        } else {
            self.go_on(bytes, &mut frames);
        }
        frames
    }

    fn go_on(&mut self, bytes: &[u8], frames: &mut Vec<Frame>) {
        let fits = match &mut self.mode {
            Mode::Events(events) => {
                let kept = bytes.len().min(KEPT_BYTES - self.start.len());
                self.start.extend_from_slice(&bytes[..kept]);
                events.push(bytes, self.limit, frames)
            }
            Mode::Lines(lines) => {
                let kept = bytes.len().min(KEPT_BYTES - self.start.len());
                self.start.extend_from_slice(&bytes[..kept]);
                lines.push(bytes, self.limit, frames)
            }
            Mode::Whole(whole) => {
                let fits = whole.len() + bytes.len() <= self.limit;
                if fits {
                    whole.extend_from_slice(bytes);
                }
                fits
            }
            Mode::Start(_) | Mode::Over => true,
        };
        if !fits {
            self.mode = Mode::Over;
            frames.push(Frame::TooLong);
        }
    }

    /// The body is complete: gives what is left of it, also when the last blank line is missing.
    pub fn finish(&mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        match std::mem::replace(&mut self.mode, Mode::Over) {
            Mode::Events(mut events) => {
                if !events.finish(self.limit, &mut frames) {
                    frames.push(Frame::TooLong);
                }
            }
            Mode::Lines(lines) => frames.extend(line_event(&lines.event)),
            Mode::Whole(whole) => frames.push(Frame::Whole(whole)),
            Mode::Start(_) | Mode::Over => {}
        }
        frames
    }

    /// The first bytes of a stream.
    pub fn start(&self) -> &[u8] {
        &self.start
    }
}

/// Skips blanks and byte order marks. Servers send blanks to keep a connection alive.
fn without_blanks(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes.trim_ascii_start();
    while let Some(after) = rest.strip_prefix(BOM) {
        rest = after.trim_ascii_start();
    }
    rest
}

/// Lines of JSON, one event each; a document that is printed over several lines is one event, too.
#[derive(Debug, Default)]
struct Lines {
    /// The event whose end has not arrived.
    event: Vec<u8>,
    /// How deep in objects and lists it is.
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Lines {
    /// Cuts off the events that are complete. Returns false when one is too long.
    fn push(&mut self, bytes: &[u8], limit: usize, frames: &mut Vec<Frame>) -> bool {
        let mut rest = bytes;
        while let Some(end) = memchr(b'\n', rest) {
            if self.event.len() + end >= limit {
                return false;
            }
            self.take(&rest[..end]);
            rest = &rest[end + 1..];
            if self.depth > 0 {
                self.event.push(b'\n');
            } else {
                frames.extend(line_event(&self.event));
                *self = Self::default();
            }
        }
        self.take(rest);
        self.event.len() <= limit
    }

    fn take(&mut self, bytes: &[u8]) {
        self.event.extend_from_slice(bytes);
        // What is no JSON ends with its line.
        if !without_blanks(&self.event).starts_with(b"{") {
            return;
        }
        for byte in bytes {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }
}

fn line_event(line: &[u8]) -> Option<Frame> {
    let line = without_blanks(line).trim_ascii_end();
    (!line.is_empty()).then(|| Frame::Event(line.to_vec()))
}

/// The lines of a stream of events.
#[derive(Debug, Default)]
struct Events {
    /// A line whose end has not arrived.
    line: Vec<u8>,
    /// The data of an event whose blank line has not arrived.
    data: Option<Vec<u8>>,
    /// The last byte was CR: an LF that follows belongs to it.
    after_cr: bool,
}

impl Events {
    /// Returns false when an event is too long.
    fn push(&mut self, bytes: &[u8], limit: usize, frames: &mut Vec<Frame>) -> bool {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr2(b'\r', b'\n', rest) else {
                self.line.extend_from_slice(rest);
                return self.fits(self.line.len(), limit);
            };
            self.after_cr = rest[end] == b'\r';
            if !self.end_line(&rest[..end], limit, frames) {
                return false;
            }
            rest = &rest[end + 1..];
        }
        true
    }

    fn finish(&mut self, limit: usize, frames: &mut Vec<Frame>) -> bool {
        let fits = self.end_line(&[], limit, frames);
        if fits {
            self.end_event(frames);
        }
        fits
    }

    fn end_line(&mut self, tail: &[u8], limit: usize, frames: &mut Vec<Frame>) -> bool {
        if !self.fits(self.line.len() + tail.len(), limit) {
            return false;
        }
        if self.line.is_empty() {
            self.take_line(tail, frames);
        } else {
            let mut line = std::mem::take(&mut self.line);
            line.extend_from_slice(tail);
            self.take_line(&line, frames);
            line.clear();
            self.line = line;
        }
        true
    }

    fn fits(&self, line: usize, limit: usize) -> bool {
        self.data.as_ref().map_or(0, Vec::len) + line <= limit
    }

    fn take_line(&mut self, line: &[u8], frames: &mut Vec<Frame>) {
        if line.is_empty() {
            self.end_event(frames);
        } else if line == b"data" {
            self.take_data(&[]);
        } else if let Some(value) = line.strip_prefix(b"data:") {
            self.take_data(value.strip_prefix(b" ").unwrap_or(value));
        } else if let Some(error) = line.strip_prefix(b"error:") {
            // Outside the format, but servers do it when something breaks in the middle.
            self.end_event(frames);
            frames.push(Frame::Error(error.trim_ascii().to_vec()));
        } else if line.starts_with(b"{") {
            // Others put the error's JSON on a line of its own.
            self.end_event(frames);
            frames.push(Frame::Event(line.to_vec()));
        }
        // All else is a comment, or a field that these formats do not need: `event`, `id`, `retry`.
    }

    fn take_data(&mut self, value: &[u8]) {
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
    }

    fn end_event(&mut self, frames: &mut Vec<Frame>) {
        frames.extend(self.data.take().map(Frame::Event));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frames_of<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limit: usize) -> Vec<Frame> {
        let mut body = Body::with_limit(limit);
        let mut frames: Vec<Frame> = pieces.into_iter().flat_map(|piece| body.push(piece)).collect();
        frames.extend(body.finish());
        frames
    }

    /// The frames of a body, the same whole, in single bytes and cut in two anywhere.
    fn frames(body: &[u8]) -> Vec<Frame> {
        let whole = frames_of([body], 100);
        assert_eq!(frames_of(body.chunks(1), 100), whole);
        for cut in 0..=body.len() {
            let (left, right) = body.split_at(cut);
            assert_eq!(frames_of([left, right], 100), whole, "cut at {cut}");
        }
        whole
    }

    fn events(body: &str) -> Vec<String> {
        let text = |frame| match frame {
            Frame::Event(data) => String::from_utf8(data).expect("text"),
            other => panic!("{other:?} is no event"),
        };
        frames(body.as_bytes()).into_iter().map(text).collect()
    }

    #[test]
    fn lines_end_with_lf_cr_or_both() {
        assert_eq!(events("data: a\n\ndata: b\n\n"), ["a", "b"]);
        assert_eq!(events("data: a\r\n\r\ndata: b\r\n\r\n"), ["a", "b"]);
        assert_eq!(events("data: a\r\rdata: b\r\r"), ["a", "b"]);
        assert_eq!(events("data: a\r\ndata: b\n\r\n"), ["a\nb"]);
    }

    #[test]
    fn data_lines_of_one_event_are_joined() {
        assert_eq!(events("data: a\ndata:b\ndata\ndata:  c\n\n"), ["a\nb\n\n c"]);
    }

    #[test]
    fn comments_and_other_fields_are_not_data() {
        assert_eq!(events(": hi\nevent: x\nid: 7\nretry: 1\n:\ndata: a\n: there\nnonsense\n\n\n\n: bye\n\n"), ["a"]);
    }

    #[test]
    fn a_byte_order_mark_and_leading_blanks_are_skipped() {
        assert_eq!(events("\u{feff}data: a\n\n"), ["a"]);
        assert_eq!(events("\n \r\n\u{feff}\n\ndata: a\n\n"), ["a"]);
        assert_eq!(frames("\u{feff}\n{}".as_bytes()), [Frame::Whole(b"{}".to_vec())]);
    }

    #[test]
    fn the_last_blank_line_may_be_missing() {
        for end in ["", "\n", "\r", "\r\n"] {
            assert_eq!(events(&format!("data: a\n\ndata: b{end}")), ["a", "b"]);
        }
    }

    #[test]
    fn a_document_is_one_frame() {
        for document in ["{\"a\":\n\ndata: 1}", "[1]\r\n", "<html>\n\n</html>"] {
            assert_eq!(frames(document.as_bytes()), [Frame::Whole(document.as_bytes().to_vec())]);
        }
        assert_eq!(frames(b""), []);
        assert_eq!(frames(b" \n"), []);
    }

    #[test]
    fn an_error_outside_the_format_is_a_frame() {
        let event = |text: &str| Frame::Event(text.as_bytes().to_vec());
        let found = frames(b"data: a\nerror: {\"b\":1}\n{\"c\":2}\ndata: d");
        assert_eq!(found, [event("a"), Frame::Error(b"{\"b\":1}".to_vec()), event("{\"c\":2}"), event("d")]);
    }

    #[test]
    fn what_is_too_long_ends_the_body() {
        let long = "x".repeat(100);
        assert_eq!(
            frames(format!("data: a\n\ndata: {long}\n\ndata: b\n\n").as_bytes()),
            [Frame::Event(b"a".to_vec()), Frame::TooLong]
        );
        assert_eq!(frames(format!("data: {}\ndata: {}", &long[..50], &long[..50]).as_bytes()), [Frame::TooLong]);
        assert_eq!(frames(format!(":{long}").as_bytes()), [Frame::TooLong]);
        assert_eq!(frames(format!("{{{long}").as_bytes()), [Frame::TooLong]);
        let many = format!("data: {}\n\n", &long[..60]).repeat(5);
        assert_eq!(frames(many.as_bytes()).len(), 5);
    }

    #[test]
    fn lines_are_events_whatever_the_split_and_the_last_needs_no_end() {
        let frames_of = |pieces: Vec<&[u8]>| {
            let mut body = Body { limit: 20, ..Body::lines() };
            let mut frames: Vec<Frame> = pieces.into_iter().flat_map(|piece| body.push(piece)).collect();
            frames.extend(body.finish());
            frames
        };
        let body = "\u{feff}{\"a\":1}\r\n\n  {\"é\":2}\n{}".as_bytes();
        let event = |text: &str| Frame::Event(text.as_bytes().to_vec());
        let wanted = [event("{\"a\":1}"), event("{\"é\":2}"), event("{}")];
        for cut in 0..=body.len() {
            let (left, right) = body.split_at(cut);
            assert_eq!(frames_of(vec![left, right]), wanted, "cut at {cut}");
        }
        assert_eq!(frames_of(body.chunks(1).collect()), wanted);
        let printed = "{\n  \"a\": {\n\"}\\\"\": 1}\n}\n{\"b\":2}\nplain {\n{}";
        let wanted = [event("{\n  \"a\": {\n\"}\\\"\": 1}\n}"), event("{\"b\":2}"), event("plain {"), event("{}")];
        let frames_of_printed = |size: usize| {
            let mut body = Body::lines();
            let mut frames: Vec<Frame> = printed.as_bytes().chunks(size).flat_map(|piece| body.push(piece)).collect();
            frames.extend(body.finish());
            frames
        };
        for size in [1, 2, 3, 7, 100] {
            assert_eq!(frames_of_printed(size), wanted, "{size}");
        }
        assert_eq!(frames_of(vec![&[b'x'; 21]]), [Frame::TooLong]);
        assert_eq!(frames_of(vec![&[b'x'; 20], b"x\n"]), [Frame::TooLong]);
    }

    proptest! {
        #[test]
        fn every_split_gives_the_same_frames(
            body in prop::collection::vec(prop::sample::select(b"data: {}\r\n\n\n:\xef\xbb\xbf<x".to_vec()), 0..80),
            cuts in prop::collection::vec(1usize..9, 1..40),
        ) {
            let mut rest = body.as_slice();
            let mut pieces = Vec::new();
            for cut in cuts {
                let (piece, tail) = rest.split_at(cut.min(rest.len()));
                pieces.push(piece);
                rest = tail;
            }
            pieces.push(rest);
            prop_assert_eq!(frames_of(pieces, 30), frames_of([body.as_slice()], 30));
        }
    }
}
