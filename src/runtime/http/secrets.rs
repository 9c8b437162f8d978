//! The parts of a request that nobody may read. Servers quote keys in their errors; they are taken out of those here.

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
        let mut all: Vec<_> = words.chain(query).chain(password).filter(|word| word.len() >= MIN_BYTES).collect();
        // A key that holds another is hidden whole.
        all.sort_by_key(|word| std::cmp::Reverse(word.len()));
        Self(all)
    }

    /// The text without them.
    pub(in crate::runtime) fn hide(&self, text: String) -> String {
        let text = match self.begun_at_cut(&text) {
            Some(at) => format!("{}[hidden]…", &text[..at]),
            None => text,
        };
        if !self.are_in(text.as_bytes()) {
            return text;
        }
        String::from_utf8_lossy(&self.hide_bytes(text.into_bytes())).into_owned()
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
        let kept = text.strip_suffix('…')?;
        let starts = self.0.iter().flat_map(|secret| (MIN_CUT_BYTES..secret.len()).rev().map(move |end| (secret, end)));
        let begun = starts.filter_map(|(secret, end)| secret.get(..end)).find(|start| kept.ends_with(start))?;
        Some(kept.len() - begun.len())
    }

    /// The bytes without them.
    fn hide_bytes(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        for secret in &self.0 {
            let found: Vec<_> = memchr::memmem::find_iter(&bytes, secret).collect();
            for at in found.into_iter().rev() {
                bytes.splice(at..at + secret.len(), HIDDEN.iter().copied());
            }
        }
        bytes
    }

    fn are_in(&self, bytes: &[u8]) -> bool {
        self.0.iter().any(|secret| memchr::memmem::find(bytes, secret.as_bytes()).is_some())
    }
}

/// Headers and query values that errors rightly talk about.
fn is_plain(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["accept", "content-", "user-agent", "model"].iter().any(|plain| name.starts_with(plain))
        || ["version", "beta"].iter().any(|plain| name.ends_with(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_hidden_whole_and_where_a_cut_left_only_its_beginning() {
        let secrets = Secrets(vec!["sk-secret-0123456789".to_owned()]);
        let t = |text: &str| secrets.hide(text.to_owned());
        assert_eq!(t("bad key sk-secret-0123456789, sorry"), "bad key [hidden], sorry");
        for end in 4.."sk-secret-0123456789".len() {
            assert_eq!(t(&format!("bad key {}…", &"sk-secret-0123456789"[..end])), "bad key [hidden]…", "{end}");
        }
        assert_eq!(t("a long text that was cut…"), "a long text that was cut…");
    }
}
