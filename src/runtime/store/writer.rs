//! One chat on its way to its file: records gathered into bytes, kept while they cannot be written, and told about when
//! that begins and ends.

use std::io;
use std::time::{Duration, Instant};

use super::files::{Place, Sink, put_beside};
use crate::engine::event::{Remedy, Saving};
use crate::engine::saved::{MAX_LINE_BYTES, Meta, Record, VERSION, shorten};
use crate::message::Message;

/// Pieces of an answer are gathered so long before they are written.
const GATHER: Duration = Duration::from_millis(250);

/// How much may wait for a disk that takes nothing. What comes on top is lost.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// What is written at once.
const MUCH_BYTES: usize = 4 << 20;

/// How often one chat tells that saving fails.
const MAX_TOLD: u32 = 3;

/// Makes a new file; a test can make it fail.
pub(super) type Disk<'a> = &'a mut dyn FnMut(&mut Place) -> io::Result<Box<dyn Sink>>;

/// One chat that is saved.
pub struct Writing {
    place: Place,
    /// None: it is not open yet.
    sink: Option<Box<dyn Sink>>,
    /// The first line, while it is not written: when the chat began, and what it is.
    head: Option<(u64, Meta)>,
    /// A file is wanted: the user has said something.
    has_begun: bool,
    waiting: Vec<u8>,
    max_waiting_bytes: usize,
    /// Pieces of an answer, not long enough here to be written.
    partial: Option<Partial>,
    /// What was written is to reach the disk.
    must_sync: bool,
    is_failing: bool,
    told: u32,
    /// How many records were lost.
    lost: usize,
    max_line_bytes: usize,
    /// How many files lie beside this one.
    beside: u32,
    /// What was too long, for the user to know.
    cuts: Vec<Saving>,
}

struct Partial {
    is_reasoning: bool,
    text: String,
    since: Instant,
}

impl Writing {
    /// A new chat.
    pub(super) fn new(place: Place, created: u64, meta: Meta) -> Self {
        Self {
            place,
            sink: None,
            head: Some((created, meta)),
            has_begun: false,
            waiting: Vec::new(),
            max_waiting_bytes: MAX_WAITING_BYTES,
            partial: None,
            must_sync: false,
            is_failing: false,
            told: 0,
            lost: 0,
            max_line_bytes: MAX_LINE_BYTES,
            beside: 0,
            cuts: Vec::new(),
        }
    }

    /// With another limit of what is a line.
    #[cfg(test)]
    pub(super) fn with_max_line_bytes(self, max_line_bytes: usize) -> Self {
        Self { max_line_bytes, ..self }
    }

    /// A chat whose file is open.
    pub(super) fn go_on(place: Place, sink: Box<dyn Sink>) -> Self {
        Self { sink: Some(sink), head: None, has_begun: true, ..Self::new(place, 0, Meta::default()) }
    }

    /// A chat that begins as a copy of another file.
    pub(super) fn copy(place: Place, mut bytes: Vec<u8>) -> Self {
        if bytes.last().is_some_and(|byte| *byte != b'\n') {
            bytes.push(b'\n');
        }
        let max_waiting_bytes = MAX_WAITING_BYTES + bytes.len();
        Self { head: None, waiting: bytes, max_waiting_bytes, ..Self::new(place, 0, Meta::default()) }
    }

    /// Whether so much waits that it should be written before more comes.
    pub(super) fn holds_much(&self) -> bool {
        self.waiting.len() >= MUCH_BYTES
    }

    /// When [`Writing::flush`] is due, because of what is gathered.
    pub(super) fn due(&self) -> Option<Instant> {
        self.partial.as_ref().map(|partial| partial.since + GATHER)
    }

    /// The chat is something else now.
    pub(super) fn set_meta(&mut self, meta: Meta) {
        match &mut self.head {
            Some((_, head)) => *head = meta,
            None => self.add(&Record::Meta { meta }),
        }
    }

    /// Takes a record in; [`Writing::flush`] writes it.
    pub(super) fn take(&mut self, record: Record, now: Instant) {
        match record {
            Record::Text { text } => self.gather(text, false, now),
            Record::Reasoning { text } => self.gather(text, true, now),
            record => {
                let says_it_all = match &record {
                    Record::Message { message } => matches!(message.as_ref(), Message::Llm { .. }),
                    Record::TurnEnd | Record::Cleared => true,
                    _ => false,
                };
                if says_it_all {
                    self.partial = None;
                } else {
                    self.add_partial();
                }
                self.has_begun |= matches!(&record, Record::Message { message } if is_user(message));
                self.must_sync |= record == Record::TurnEnd;
                self.add(&record);
            }
        }
    }

    fn gather(&mut self, text: String, is_reasoning: bool, now: Instant) {
        match &mut self.partial {
            Some(partial) if partial.is_reasoning == is_reasoning => partial.text.push_str(&text),
            _ => {
                self.add_partial();
                self.partial = Some(Partial { is_reasoning, text, since: now });
            }
        }
    }

    fn add_partial(&mut self) {
        let Some(Partial { is_reasoning, text, .. }) = self.partial.take() else { return };
        // In JSON a letter has up to six bytes for each of its own.
        let piece_bytes = self.max_line_bytes / 8;
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let end = (1..=piece_bytes.min(rest.len())).rev().find(|end| rest.is_char_boundary(*end));
            let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
            let text = text.to_owned();
            self.add(&if is_reasoning { Record::Reasoning { text } } else { Record::Text { text } });
            rest = after;
        }
    }

    fn add(&mut self, record: &Record) {
        let before = self.waiting.len();
        if before >= self.max_waiting_bytes {
            self.lost += 1;
            return;
        }
        record.write(&mut self.waiting);
        if self.waiting.len() - before > self.max_line_bytes {
            let line = self.waiting.split_off(before);
            self.add_shortened(record, &line);
        }
    }

    /// What is too long to be read back goes beside, and a part of it here.
    fn add_shortened(&mut self, record: &Record, line: &[u8]) {
        let put = put_beside(&self.place, &mut self.beside, line);
        let whole = put.as_ref().map(|path| path.display().to_string()).map_err(io::Error::to_string);
        self.cuts.push(Saving::TooLong { bytes: line.len(), whole: whole.clone() });
        match shorten(record, whole.as_deref().ok()) {
            Some(shorter) => shorter.write(&mut self.waiting),
            None => self.lost += 1,
        }
    }

    /// Writes what waits. `is_last`: nothing follows. Some: what the user should know.
    pub(super) fn flush(&mut self, disk: Disk, now: Instant, is_last: bool) -> Option<Saving> {
        if is_last || self.due().is_some_and(|due| due <= now) {
            self.add_partial();
        }
        self.must_sync |= is_last && !self.waiting.is_empty();
        if !self.has_begun || (self.waiting.is_empty() && !self.must_sync) {
            return None;
        }
        match self.write(disk) {
            Ok(()) => self.works(),
            Err(error) => self.fails(&error),
        }
    }

    /// What was too long since the last time.
    pub(super) fn take_cuts(&mut self) -> Vec<Saving> {
        std::mem::take(&mut self.cuts)
    }

    fn write(&mut self, disk: Disk) -> io::Result<()> {
        let sink = match &mut self.sink {
            Some(sink) => sink,
            None => {
                let sink = disk(&mut self.place)?;
                self.sink.insert(sink)
            }
        };
        if let Some((created, meta)) = self.head.take() {
            let mut bytes = Vec::new();
            Record::Chat { v: VERSION, created, meta }.write(&mut bytes);
            bytes.append(&mut self.waiting);
            self.waiting = bytes;
        }
        sink.append(&self.waiting)?;
        self.waiting = Vec::new();
        if std::mem::take(&mut self.must_sync) {
            sink.sync()?;
        }
        Ok(())
    }

    fn works(&mut self) -> Option<Saving> {
        if !std::mem::take(&mut self.is_failing) || self.told > MAX_TOLD {
            return None;
        }
        Some(Saving::Works { path: self.path(), lost: std::mem::take(&mut self.lost) })
    }

    fn fails(&mut self, error: &io::Error) -> Option<Saving> {
        if std::mem::replace(&mut self.is_failing, true) {
            return None;
        }
        self.told += 1;
        if self.told > MAX_TOLD {
            return None;
        }
        let remedy = match error.kind() {
            // Our own limit.
            io::ErrorKind::InvalidInput => Remedy::BeginNew,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => Remedy::MakeRoom,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Remedy::MakeWritable,
            _ => Remedy::Look,
        };
        Some(Saving::Failed { path: self.path(), reason: error.to_string(), remedy })
    }

    fn path(&self) -> String {
        self.place.path().display().to_string()
    }
}

fn is_user(message: &Message) -> bool {
    matches!(message, Message::User { .. })
}
