//! The parts of a request that nobody may read. Servers quote keys in their errors, as they came or as JSON and URLs spell
//! them; they are taken out of those here.

use super::error::HttpError;
use super::target::Target;

/// Shorter words are no keys, and hiding them would make holes in the text.
const MIN_BYTES: usize = 8;

/// So much of a key's beginning says nothing.
const MIN_CUT_BYTES: usize = 4;

const HIDDEN: &[u8] = b"[hidden]";

/// Values that are hidden wherever they turn up.
#[derive(Default)]
pub(in crate::runtime) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn of(headers: &[(String, String)], target: &Target) -> Self {
        let headers = headers.iter().filter(|(name, _)| !is_plain(name));
        let words = headers.flat_map(|(_, value)| value.split([' ', ';', ',']).map(str::to_owned));
        let query = target.url().query_pairs().filter(|(name, _)| !is_plain(name)).map(|(_, value)| value.into_owned());
        let password = target.url().password().map(str::to_owned);
        Self::new(words.chain(query).chain(password))
    }

    /// These words, as far as they can be keys.
    pub(in crate::runtime) fn new(words: impl Iterator<Item = String>) -> Self {
        let mut all: Vec<_> = words.filter(|word| word.len() >= MIN_BYTES).collect();
        // A key that holds another is hidden whole.
        all.sort_by_key(|word| std::cmp::Reverse(word.len()));
        Self(all)
    }

    /// The values.
    pub(in crate::runtime) fn values(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The text without them.
    pub(in crate::runtime) fn hide(&self, text: String) -> String {
        let text = match self.begun_at_cut(&text) {
            Some(at) => format!("{}[hidden]…", &text[..at]),
            None => text,
        };
        match self.without(text.as_bytes()) {
            Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            None => text,
        }
    }

    /// The bytes without them.
    pub(in crate::runtime) fn hide_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.without(&bytes).unwrap_or(bytes)
    }

    /// An error without them, where a server's words are in it.
    pub(super) fn hide_in(&self, error: HttpError) -> HttpError {
        match error {
            HttpError::Status { host, status, body, content_type, retry_after } => {
                HttpError::Status { host, status, body: self.hide_bytes(body), content_type, retry_after }
            }
            HttpError::Redirect { host, to } => HttpError::Redirect { host, to: self.hide(to) },
            HttpError::Lost { host, reason } => HttpError::Lost { host, reason: self.hide(reason) },
            HttpError::Broken { host, reason } => HttpError::Broken { host, reason: self.hide(reason) },
            other => other,
        }
    }

    /// Where one begins that a cut (`…`) has left half of.
    fn begun_at_cut(&self, text: &str) -> Option<usize> {
        let kept = text.strip_suffix('…')?.as_bytes();
        let longest = self.0.first()?.len() * MAX_SPELLING_BYTES;
        (kept.len().saturating_sub(longest)..kept.len()).find(|at| {
            let rest = &kept[*at..];
            text.is_char_boundary(*at)
                && self.0.iter().any(|secret| {
                    let (letters, end) = spelled(rest, secret.as_bytes());
                    letters >= MIN_CUT_BYTES && (end == rest.len() || is_begun(&rest[end..]))
                })
        })
    }

    /// None: there is nothing to hide.
    fn without(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut kept = Vec::new();
        let (mut at, mut copied) = (0, 0);
        while at < bytes.len() {
            let found = self.0.iter().find_map(|secret| {
                let (letters, end) = spelled(&bytes[at..], secret.as_bytes());
                (letters == secret.len()).then_some(end)
            });
            match found {
                Some(end) => {
                    kept.extend_from_slice(&bytes[copied..at]);
                    kept.extend_from_slice(HIDDEN);
                    at += end;
                    copied = at;
                }
                None => at += 1,
            }
        }
        if copied == 0 {
            return None;
        }
        kept.extend_from_slice(&bytes[copied..]);
        Some(kept)
    }
}

/// More than the longest spelling of one letter that servers use: `\u0073` in a text that was put into JSON again.
const MAX_SPELLING_BYTES: usize = 12;

/// How many letters of a secret the text begins with, in whatever spelling, and where they end.
fn spelled(text: &[u8], secret: &[u8]) -> (usize, usize) {
    // Its own letters may look like a spelling.
    if text.starts_with(secret) {
        return (secret.len(), secret.len());
    }
    let mut end = 0;
    for (letters, letter) in secret.iter().enumerate() {
        match spelling(&text[end..], *letter) {
            Some(length) => end += length,
            None => return (letters, end),
        }
    }
    (secret.len(), end)
}

/// How many bytes spell this letter at the start of the text. A spelling wins over the letter itself: `%25` is one letter.
fn spelling(text: &[u8], letter: u8) -> Option<usize> {
    let first = *text.first()?;
    let special = match first {
        b'%' => percent(text, letter),
        b'\\' => backslash(text, letter),
        b'&' => entity(text, letter),
        _ => None,
    };
    special.or((first == letter).then_some(1))
}

/// `%2F`, and `%252F` where it was spelled twice.
fn percent(text: &[u8], letter: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        let digits = text.get(at..at + 2)?;
        if number(digits, 16) == Some(letter.into()) {
            return Some(at + 2);
        }
        if digits != b"25" {
            return None;
        }
        at += 2;
    }
}

/// `\/`, `\u002f`, `\x2f`, each with more backslashes where it was spelled twice.
fn backslash(text: &[u8], letter: u8) -> Option<usize> {
    let at = text.iter().take_while(|byte| **byte == b'\\').count();
    let code = |digits: usize| Some(number(text.get(at + 1..at + 1 + digits)?, 16)? == u32::from(letter));
    match text.get(at) {
        Some(b'u') if code(4) == Some(true) => Some(at + 5),
        Some(b'x') if code(2) == Some(true) => Some(at + 3),
        Some(byte) if *byte == letter && !letter.is_ascii_alphanumeric() => Some(at + 1),
        _ if letter == b'\\' => Some(at.min(2)),
        _ => None,
    }
}

/// `&#47;`, `&#x2f;`, `&amp;`.
fn entity(text: &[u8], letter: u8) -> Option<usize> {
    let end = text.iter().take(MAX_SPELLING_BYTES).position(|byte| *byte == b';')?;
    let named = [("amp", b'&'), ("lt", b'<'), ("gt", b'>'), ("quot", b'"'), ("apos", b'\'')];
    let is_meant = match &text[1..end] {
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16) == Some(letter.into()),
        [b'#', digits @ ..] => number(digits, 10) == Some(letter.into()),
        name => named.iter().any(|(known, stands_for)| known.as_bytes() == name && *stands_for == letter),
    };
    is_meant.then_some(end + 1)
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

/// Whether this may be the first half of a spelling.
fn is_begun(rest: &[u8]) -> bool {
    rest.len() < MAX_SPELLING_BYTES && matches!(rest.first(), Some(b'%' | b'\\' | b'&'))
}

/// Headers and query values that errors rightly talk about.
fn is_plain(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["accept", "content-", "user-agent", "model"].iter().any(|plain| name.starts_with(plain))
        || ["version", "beta"].iter().any(|plain| name.ends_with(plain))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: &str = "sk-se/cret+0123=456789";

    fn hide(text: &str) -> String {
        Secrets::new([KEY.to_owned()].into_iter()).hide(text.to_owned())
    }

    /// One letter in one of the ways that servers write it.
    fn spell(letter: char, way: usize) -> String {
        let code = u32::from(letter);
        match way {
            0 => letter.to_string(),
            1 => format!("%{code:02X}"),
            2 => format!("%{code:02x}"),
            3 => format!("\\u{code:04x}"),
            4 => format!("\\u{code:04X}"),
            5 if !letter.is_ascii_alphanumeric() => format!("\\{letter}"),
            6 => format!("%25{code:02X}"),
            7 => format!("\\\\u{code:04x}"),
            8 => format!("&#{code};"),
            9 => format!("&#x{code:x};"),
            10 => format!("\\x{code:02x}"),
            _ => letter.to_string(),
        }
    }

    #[test]
    fn a_key_is_hidden_whole_and_where_a_cut_left_only_its_beginning() {
        assert_eq!(hide(&format!("bad key {KEY}, sorry, {KEY}")), "bad key [hidden], sorry, [hidden]");
        for end in 4..KEY.len() {
            assert_eq!(hide(&format!("bad key {}…", &KEY[..end])), "bad key [hidden]…", "{end}");
        }
        assert_eq!(hide("a long text that was cut…"), "a long text that was cut…");
    }

    #[test]
    fn a_key_is_hidden_in_every_spelling() {
        for way in 0..=10 {
            let spelled: String = KEY.chars().map(|letter| spell(letter, way)).collect();
            assert_eq!(hide(&format!("bad key {spelled}, sorry")), "bad key [hidden], sorry", "{spelled}");
            assert_eq!(hide(&format!("bad key {}…", &spelled[..spelled.len() - 1])), "bad key [hidden]…", "{spelled}");
        }
        assert_eq!(hide(r"bad key sk-se\/cret+0123=456789"), "bad key [hidden]");
        assert_eq!(hide("key=sk-se%2Fcret%2B0123%3D456789&x=1"), "key=[hidden]&x=1");
    }

    #[test]
    fn a_key_with_signs_of_spellings_in_it_is_hidden_as_it_is_and_spelled() {
        for key in ["a%41%2541-key", r"a\u0041\\n-key", "a&#65;&amp;-key", r"C:\keys\n\x41"] {
            let secrets = Secrets::new([key.to_owned()].into_iter());
            let spelled: String = key.chars().map(|letter| spell(letter, 1)).collect();
            assert_eq!(secrets.hide(format!("<{spelled}>")), "<[hidden]>", "{key}");
            assert_eq!(secrets.hide(format!("<{}>", key.replace('\\', r"\\"))), "<[hidden]>", "{key}");
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for text in ["", "%", "%2", "\\", "\\u", "\\u00", "&", "&#", "sk-se/cret", r"\u0073k-other", "100 % of & \\ ä…"]
        {
            assert_eq!(hide(text), text);
        }
    }

    proptest! {
        #[test]
        fn a_key_is_hidden_in_any_mixture_of_spellings(ways in prop::collection::vec(0..=10_usize, KEY.len())) {
            let spelled: String = KEY.chars().zip(&ways).map(|(letter, way)| spell(letter, *way)).collect();
            prop_assert_eq!(hide(&format!("a {spelled} b")), "a [hidden] b", "{}", spelled);
        }

        #[test]
        fn nothing_panics(text in "[%\\\\&u#x;0-9a-fsk…/-]{0,60}", bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            hide(&text);
            Secrets::new([KEY.to_owned()].into_iter()).hide_bytes(bytes);
        }
    }
}
