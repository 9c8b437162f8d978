//! Terminal output to plain lines: control sequences go, carriage-return progress and backspaces are folded. Gets text
//! (see `decode.rs`), gives what `Kept` cuts.

use super::kept::{Kept, floor};

/// A line longer than this is passed on in pieces; only the last piece can still be overwritten.
const MAX_LINE_BYTES: usize = 64 * 1024;
/// How far back in a line backspaces reach.
const MAX_BACK_BYTES: usize = 4096;
/// Ends whatever sequence is open. A line break ends it too: else one stray `ESC ]` would swallow all that follows.
const CANCEL: u8 = 0x18;

/// Turns text with control sequences into lines.
pub(super) struct Cleaner {
    parser: vte::Parser,
    /// No sequence is open.
    ground: bool,
    line: Line,
}

/// The line that is being written, and where finished ones go.
#[derive(Clone)]
struct Line {
    text: String,
    /// Byte position of the cursor.
    at: usize,
    /// A carriage return came: the next text replaces the line.
    returned: bool,
    kept: Kept,
}

impl Cleaner {
    pub(super) fn new(kept: Kept) -> Self {
        let line = Line { text: String::new(), at: 0, returned: false, kept };
        Self { parser: vte::Parser::new(), ground: true, line }
    }

    /// Text with or without line breaks.
    pub(super) fn text(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            self.print(piece.strip_suffix('\n').unwrap_or(piece));
            if piece.ends_with('\n') {
                self.newline();
            }
        }
    }

    /// A piece of a line, without line breaks.
    pub(super) fn print(&mut self, piece: &str) {
        if self.ground && is_plain(piece) {
            self.line.put(piece);
        } else {
            self.ground = false;
            self.parser.advance(&mut self.line, piece.as_bytes());
        }
    }

    /// Ends the line.
    pub(super) fn newline(&mut self) {
        if !self.ground {
            self.parser.advance(&mut self.line, &[CANCEL]);
            self.ground = true;
        }
        self.line.pass_on();
        self.line.kept.push("\n");
        self.line.returned = false;
    }

    /// Whole plain lines, the same as `print` and `newline` for each but without a look at every character.
    ///
    /// The caller stands at the start of a line.
    pub(super) fn plain_lines(&mut self, lines: &str) {
        self.line.kept.push(lines);
    }

    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        self.line.text.capacity() + self.line.kept.held_bytes()
    }

    pub(super) fn finish(mut self) -> Kept {
        self.line.pass_on();
        self.line.kept
    }

    /// The line that is being written as it would be with `more` behind it, else the last one that is not blank.
    pub(super) fn last_line(&self, more: &str) -> String {
        let mut preview = Cleaner::new(Kept::preview(&self.line.kept));
        preview.line.text.clone_from(&self.line.text);
        preview.line.at = self.line.at;
        preview.line.returned = self.line.returned;
        preview.text(more);
        preview.finish().last_line()
    }
}

/// Whether nothing in the text moves a cursor or starts a sequence.
pub(super) fn is_plain(text: &str) -> bool {
    first_special(text.as_bytes()).is_none() && !has_c1(text)
}

/// Position of the first control character other than tab and line feed.
pub(super) fn first_special(bytes: &[u8]) -> Option<usize> {
    let is_special = |byte: u8| (byte < 0x20 && byte != b'\t' && byte != b'\n') || byte == 0x7f;
    // Blocks without early exit are vectorised.
    let mut start = 0;
    for block in bytes.chunks(64) {
        if block.iter().fold(false, |found, byte| found | is_special(*byte)) {
            return block.iter().position(|byte| is_special(*byte)).map(|position| start + position);
        }
        start += block.len();
    }
    None
}

/// Whether one of U+0080..=U+009F is in the text.
pub(super) fn has_c1(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(0xc2, bytes).any(|position| bytes.get(position + 1).is_some_and(|next| *next < 0xa0))
}

impl Line {
    fn put(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if std::mem::take(&mut self.returned) {
            self.clear();
        }
        if self.at < self.text.len() {
            text.chars().for_each(|char| self.put_char(char));
            return;
        }
        let mut rest = text;
        while self.text.len() + rest.len() > MAX_LINE_BYTES {
            let (fits, more) = rest.split_at(floor(rest, MAX_LINE_BYTES.saturating_sub(self.text.len())));
            self.text.push_str(fits);
            self.pass_on();
            rest = more;
        }
        self.text.push_str(rest);
        self.at = self.text.len();
    }

    /// Writes over what is at the cursor.
    fn put_char(&mut self, char: char) {
        if std::mem::take(&mut self.returned) {
            self.clear();
        }
        let mut buffer = [0; 4];
        let new = char.encode_utf8(&mut buffer);
        match self.text[self.at..].chars().next() {
            Some(old) => {
                self.text.replace_range(self.at..self.at + old.len_utf8(), new);
                self.at += new.len();
            }
            None => self.put(new),
        }
    }

    fn back(&mut self) {
        let reach = self.text.len().saturating_sub(MAX_BACK_BYTES);
        if self.at > reach {
            self.at = floor(&self.text, self.at - 1);
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.at = 0;
    }

    fn pass_on(&mut self) {
        self.kept.push(&self.text);
        self.clear();
    }

    /// `CSI K`
    fn erase(&mut self, how: u16) {
        match how {
            0 if !self.returned => self.text.truncate(self.at),
            0 | 2 => self.clear(),
            _ => {}
        }
    }
}

impl vte::Perform for Line {
    fn print(&mut self, char: char) {
        // DEL comes here as well.
        if !char.is_control() {
            self.put_char(char);
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\r' => self.returned = true,
            0x08 => self.back(),
            b'\t' => self.put_char('\t'),
            // Separates the names that `find -print0` and its like print.
            0 => self.put_char('␀'),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &vte::Params, intermediates: &[u8], _ignore: bool, action: char) {
        let first = params.iter().next().and_then(|param| param.first().copied()).unwrap_or(0);
        match action {
            _ if !intermediates.is_empty() => {}
            'K' => self.erase(first),
            // Progress bars use it as a carriage return.
            'G' if first <= 1 => self.returned = true,
            _ => {}
        }
    }
}
