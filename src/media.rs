//! Images, sounds and other bytes that tools produce (N-23): in whatever way they are given, what they are and their bytes.
//! Where they are kept is the runtime's business.

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};

/// Base64 as people write it: with padding or without.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What a tool gave, as it came from Lua. Large ones are read off the main loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// What it is to be.
    pub kind: Kind,
    /// Raw bytes, base64 or a `data:` URL.
    pub data: Vec<u8>,
    /// What the tool says it is.
    pub mime: Option<String>,
    /// The URI of the resource that it belongs to.
    pub uri: Option<String>,
}

/// What a piece of media is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A picture, which some models take.
    Image,
    /// A sound.
    Audio,
    /// Anything.
    Blob,
}

impl Kind {
    /// What it is when nobody says.
    fn default_mime(self) -> &'static str {
        match self {
            Self::Image => "image/png",
            Self::Audio => "audio/mp3",
            Self::Blob => "application/octet-stream",
        }
    }

    /// How texts call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Blob => "file",
        }
    }
}

/// A piece of media.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// For example `image/png`.
    pub mime: String,
    /// The bytes themselves.
    pub bytes: Vec<u8>,
}

/// What the first bytes of a picture say.
pub fn sniff(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some("image/gif")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else {
        None
    }
}

/// Reads what a tool gave. Takes as long as it is large.
pub fn read(kind: Kind, data: Vec<u8>, mime: Option<String>) -> Media {
    let (said, bytes) = match data_url(&data) {
        Some((said, bytes)) => (said, bytes),
        None if sniff(&data).is_some() => (None, data),
        None => (None, decode(&data).unwrap_or(data)),
    };
    let mime = mime.or(said).filter(|mime| !mime.trim().is_empty());
    let mime = mime.unwrap_or_else(|| sniff(&bytes).unwrap_or(kind.default_mime()).to_owned());
    Media { mime, bytes }
}

/// The bytes as base64.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Base64 with line breaks or without; none: it is none.
fn decode(data: &[u8]) -> Option<Vec<u8>> {
    if data.iter().any(u8::is_ascii_whitespace) {
        let packed: Vec<u8> = data.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        return LENIENT.decode(packed).ok();
    }
    LENIENT.decode(data).ok()
}

/// Reads `data:mime;base64,…` or `data:mime,percent-encoded`.
fn data_url(data: &[u8]) -> Option<(Option<String>, Vec<u8>)> {
    let rest = data.strip_prefix(b"data:")?;
    let comma = rest.iter().position(|byte| *byte == b',')?;
    let head = std::str::from_utf8(&rest[..comma]).ok()?;
    let body = &rest[comma + 1..];
    let (mime, is_base64) = match head.strip_suffix(";base64") {
        Some(mime) => (mime, true),
        None => (head, false),
    };
    let bytes = if is_base64 { decode(body)? } else { unescape(body) };
    let mime = mime.split(';').next().unwrap_or_default();
    Some((Some(mime.to_owned()).filter(|mime| !mime.is_empty()), bytes))
}

fn unescape(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let value = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match value {
            Some(value) if first == b'%' => {
                bytes.push(value);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    bytes
}

/// How files of a type end.
pub fn extension(mime: &str) -> &'static str {
    match mime {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/mp3" | "audio/mpeg" => "mp3",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/ogg" => "ogg",
        "application/pdf" => "pdf",
        "application/json" => "json",
        mime if mime.starts_with("text/") => "txt",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and more";

    fn media(mime: &str, bytes: &[u8]) -> Media {
        Media { mime: mime.to_owned(), bytes: bytes.to_vec() }
    }

    #[test]
    fn n23_raw_bytes_base64_and_data_urls_are_the_same_picture() {
        let base64 = encode(PNG);
        for data in [PNG.to_vec(), base64.clone().into_bytes(), format!("data:image/png;base64,{base64}").into_bytes()]
        {
            assert_eq!(read(Kind::Image, data, None), media("image/png", PNG));
        }
        let broken: String =
            base64.as_bytes().chunks(8).map(|line| format!("{}\n", String::from_utf8_lossy(line))).collect();
        assert_eq!(read(Kind::Image, broken.into_bytes(), None), media("image/png", PNG));
    }

    #[test]
    fn n23_a_missing_mime_is_sniffed_else_the_default() {
        assert_eq!(read(Kind::Image, b"\xff\xd8\xff\xe0".to_vec(), None).mime, "image/jpeg");
        assert_eq!(read(Kind::Blob, b"GIF89a..".to_vec(), None).mime, "image/gif");
        assert_eq!(read(Kind::Image, b"RIFF....WEBPVP8 ".to_vec(), None).mime, "image/webp");
        assert_eq!(read(Kind::Image, b"\x01\x02".to_vec(), None), media("image/png", b"\x01\x02"));
        assert_eq!(read(Kind::Audio, b"\x01".to_vec(), None).mime, "audio/mp3");
        assert_eq!(read(Kind::Blob, b"\x01".to_vec(), None).mime, "application/octet-stream");
        assert_eq!(read(Kind::Image, PNG.to_vec(), Some("image/x-mine".into())).mime, "image/x-mine");
        assert_eq!(read(Kind::Blob, b"data:,a%20b%zz".to_vec(), None), media("application/octet-stream", b"a b%zz"));
        assert_eq!(read(Kind::Blob, b"data:text/plain;charset=utf-8,x".to_vec(), None), media("text/plain", b"x"));
    }

    #[test]
    fn n23_what_is_not_valid_base64_is_raw() {
        assert_eq!(read(Kind::Blob, b"not base64!".to_vec(), None).bytes, b"not base64!");
        assert_eq!(read(Kind::Blob, b"data:image/png;base64,???".to_vec(), None).bytes, b"data:image/png;base64,???");
    }

    proptest! {
        #[test]
        fn whatever_is_encoded_comes_back(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let url = format!("data:application/x-mine;base64,{}", encode(&bytes)).into_bytes();
            prop_assert_eq!(read(Kind::Blob, url, None), media("application/x-mine", &bytes));
        }

        #[test]
        fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..60), cut in 0usize..20) {
            let _ = read(Kind::Image, bytes.clone(), None);
            let url: Vec<u8> = b"data:image/png;base64,"[..cut].iter().copied().chain(bytes).collect();
            let _ = read(Kind::Image, url, None);
        }
    }
}
