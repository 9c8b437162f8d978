//! Words as shell text.

use super::lexer::assigned_name;

/// The text of a command given as a list: its words with a space between them, not quoted, so that it may hold any shell text.
pub fn join(words: &[impl AsRef<[u8]>]) -> Vec<u8> {
    words.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(&b' ')
}

/// The text of a command that the model gave as an array: each word stays one word.
pub fn quote_words(words: &[impl AsRef<[u8]>]) -> Vec<u8> {
    words.iter().map(|word| quote(word.as_ref())).collect::<Vec<_>>().join(&b' ')
}

/// A word as shell text; only in quotes when it needs them. It stands for itself anywhere between two spaces.
pub fn quote(word: &[u8]) -> Vec<u8> {
    const KEYWORDS: [&[u8]; 19] = [
        b"case",
        b"coproc",
        b"do",
        b"done",
        b"elif",
        b"else",
        b"esac",
        b"fi",
        b"for",
        b"function",
        b"if",
        b"in",
        b"select",
        b"then",
        b"time",
        b"until",
        b"while",
        b"repeat",
        b"foreach",
    ];
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_@%+:,./-=".contains(byte);
    let is_plain = !word.is_empty() && word.iter().all(plain) && !word.starts_with(b"=");
    if is_plain && assigned_name(word).is_none() && !KEYWORDS.contains(&word) {
        return word.to_vec();
    }
    single_quoted(word)
}

/// A word in single quotes.
pub(super) fn single_quoted(word: &[u8]) -> Vec<u8> {
    [b"'", word.split(|&byte| byte == b'\'').collect::<Vec<_>>().join(b"'\\''".as_slice()).as_slice(), b"'"].concat()
}

/// A backslash before each of the `special` bytes.
pub(super) fn escape(value: &[u8], special: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(value.len());
    for byte in value {
        if special.contains(byte) {
            escaped.push(b'\\');
        }
        escaped.push(*byte);
    }
    escaped
}
