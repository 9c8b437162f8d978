//! Characters that a server cuts over two chunks: half a surrogate pair in an escape, or some of a character's bytes. A
//! half is kept as a mark, a character of a private plane, until the other half comes; alone it is unreadable.

use std::borrow::Cow;

use serde_json::Value;

/// What stands for a lone UTF-16 unit is its number plus this.
const UNIT: u32 = 0x10_0000;
/// What stands for a byte that is no text by itself is the byte plus this.
const BYTE: u32 = 0x10_E000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    High(u16),
    Low(u16),
    Byte(u8),
}

fn mark_of(letter: char) -> Option<Mark> {
    match u32::from(letter) {
        unit @ 0x10_D800..=0x10_DBFF => u16::try_from(unit - UNIT).ok().map(Mark::High),
        unit @ 0x10_DC00..=0x10_DFFF => u16::try_from(unit - UNIT).ok().map(Mark::Low),
        byte @ 0x10_E080..=0x10_E0FF => u8::try_from(byte - BYTE).ok().map(Mark::Byte),
        _ => None,
    }
}

fn letter(number: u32) -> char {
    char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Bytes as text, those that are none as marks.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    let mut chunks = bytes.utf8_chunks().peekable();
    match chunks.peek() {
        None => return Cow::Borrowed(""),
        Some(chunk) if chunk.invalid().is_empty() && chunk.valid().len() == bytes.len() => {
            return Cow::Borrowed(chunk.valid());
        }
        Some(_) => {}
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in chunks {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| letter(BYTE + u32::from(*byte))));
    }
    Cow::Owned(text)
}

/// JSON text with a mark for each half of a surrogate pair that stands alone, which no decoder takes; none when there is no
/// such half.
pub fn without_half_pairs(text: &str) -> Option<String> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut mended = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        at += found;
        let Some(first) = unit(at) else {
            at += 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8);
            continue;
        };
        let is_pair = matches!(first, 0xd800..=0xdbff) && matches!(unit(at + 6), Some(0xdc00..=0xdfff));
        if !is_pair && matches!(first, 0xd800..=0xdfff) {
            mended.push_str(&text[copied..at]);
            mended.push(letter(UNIT + u32::from(first)));
            copied = at + 6;
        }
        at += if is_pair { 12 } else { 6 };
    }
    (copied > 0).then(|| mended + &text[copied..])
}

/// A text that arrives in pieces.
#[derive(Debug, Default)]
pub struct Joined {
    /// The half that the last piece ended with.
    held: String,
}

impl Joined {
    /// The text of the next piece: with the half before it, without the half at its end.
    pub fn push(&mut self, piece: String) -> String {
        if self.held.is_empty() && !piece.chars().any(|letter| mark_of(letter).is_some()) {
            return piece;
        }
        let text = std::mem::take(&mut self.held) + &piece;
        let (done, half) = text.split_at(open_half(&text));
        self.held = half.to_owned();
        resolved(done)
    }

    /// What is left when nothing follows.
    pub fn finish(&mut self) -> String {
        resolved(&std::mem::take(&mut self.held))
    }
}

/// Where the half begins that a text ends with, if it does.
fn open_half(text: &str) -> usize {
    let mut at = text.len();
    let mut bytes = Vec::new();
    for (start, letter) in text.char_indices().rev() {
        match mark_of(letter) {
            Some(Mark::High(_)) if bytes.is_empty() => return start,
            Some(Mark::Byte(byte)) => {
                bytes.insert(0, byte);
                at = start;
                let is_head = byte >= 0xc0;
                if is_head || bytes.len() == 3 {
                    break;
                }
            }
            Some(Mark::High(_) | Mark::Low(_)) | None => break,
        }
    }
    let is_begun =
        std::str::from_utf8(&bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none());
    if is_begun { at } else { text.len() }
}

/// The text in which halves that belong together are one character, and others the character for what is unreadable.
pub fn resolved(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let (mut bytes, mut high) = (Vec::new(), None);
    for letter in text.chars() {
        let mark = mark_of(letter);
        if !bytes.is_empty() && !matches!(mark, Some(Mark::Byte(_))) {
            done.push_str(&String::from_utf8_lossy(&std::mem::take(&mut bytes)));
        }
        match (high.take(), mark) {
            (Some(first), Some(Mark::Low(second))) => {
                done.extend(
                    char::decode_utf16([first, second]).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)),
                );
                continue;
            }
            (Some(_), _) => done.push(char::REPLACEMENT_CHARACTER),
            (None, _) => {}
        }
        match mark {
            None => done.push(letter),
            Some(Mark::Byte(byte)) => bytes.push(byte),
            Some(Mark::High(unit)) => high = Some(unit),
            Some(Mark::Low(_)) => done.push(char::REPLACEMENT_CHARACTER),
        }
    }
    done.push_str(&String::from_utf8_lossy(&bytes));
    done.extend(high.map(|_| char::REPLACEMENT_CHARACTER));
    done
}

/// The same for every text of a value.
pub fn resolve(value: &mut Value) {
    match value {
        Value::String(text) => *text = resolved(text),
        Value::Array(values) => values.iter_mut().for_each(resolve),
        Value::Object(fields) => fields.values_mut().for_each(resolve),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(pieces: &[&str]) -> (Vec<String>, String) {
        let mut joined = Joined::default();
        let done = pieces.iter().map(|piece| joined.push((*piece).to_owned())).collect();
        (done, joined.finish())
    }

    #[test]
    fn halves_of_a_character_are_one_wherever_they_are_cut() {
        let crab = "🦀".as_bytes();
        for cut in 1..4 {
            let (left, right) = (text(&crab[..cut]).into_owned(), text(&crab[cut..]).into_owned());
            let (done, rest) = joined(&[&format!("a{left}"), &format!("{right}b")]);
            assert_eq!((done.concat(), rest.as_str()), ("a🦀b".to_owned(), ""), "{cut}");
        }
        let singles: Vec<String> = crab.iter().map(|byte| text(&[*byte]).into_owned()).collect();
        let singles: Vec<&str> = singles.iter().map(String::as_str).collect();
        assert_eq!(joined(&singles).0, ["", "", "", "🦀"]);
        let half = |escape: &str| without_half_pairs(escape).expect("a half");
        let (done, rest) = joined(&[&half("x\\ud83e"), &half("\\udd80!")]);
        assert_eq!((done, rest), (vec!["x".to_owned(), "🦀!".to_owned()], String::new()));
    }

    #[test]
    fn a_half_whose_other_half_never_comes_is_unreadable() {
        let half = |escape: &str| without_half_pairs(escape).expect("a half");
        assert_eq!(joined(&[&half("a\\ud83d"), "b"]).0.concat(), "a\u{fffd}b");
        assert_eq!(joined(&[&half("\\udd80a")]).0.concat(), "\u{fffd}a");
        assert_eq!(joined(&[&half("a\\ud83d")]), (vec!["a".to_owned()], "\u{fffd}".to_owned()));
        assert_eq!(joined(&[&half("\\ud83e\\ud83e"), &half("\\udd80")]).0.concat(), "\u{fffd}🦀");
        assert_eq!(joined(&[&text(b"a\xf0\x9f"), "b"]).0.concat(), "a\u{fffd}b");
        assert_eq!(joined(&[&text(b"a\xffb")]).0.concat(), "a\u{fffd}b");
        assert_eq!(joined(&[&text(b"\xa6\x80")]).0.concat(), "\u{fffd}\u{fffd}");
    }

    #[test]
    fn text_without_halves_stays() {
        assert!(matches!(text("Grüße 🦀".as_bytes()), Cow::Borrowed("Grüße 🦀")));
        assert_eq!(text(b""), "");
        assert_eq!(without_half_pairs(r"\ud83e\udd80 \\ud83d \n"), None);
        assert_eq!(joined(&["a\u{10fffd}", "é"]), (vec!["a\u{10fffd}".to_owned(), "é".to_owned()], String::new()));
    }
}
