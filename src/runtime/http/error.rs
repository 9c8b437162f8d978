//! What can go wrong with a request, and what the user reads then: the host and the next step, never a key.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::time::Duration;

use reqwest::StatusCode;
use rustls::CertificateError;

/// The end of a request that brought no whole answer. The causes are text: reqwest's errors hold the URL with its query.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are named by the messages")]
pub enum HttpError {
    /// The URL is none that a request can go to.
    BadUrl { url: String, reason: String },
    /// A header has a name or a value that HTTP does not allow.
    BadHeader { name: String },
    /// A proxy that is none; `name` is where it comes from.
    BadProxy { name: &'static str },
    /// There is nobody to trust. `variable`: what named the certificates; none: the system should have them.
    NoCertificates { variable: Option<&'static str>, reason: String },
    /// No client could be made.
    Setup { reason: String },
    /// The host's name has no address.
    Dns { host: String, reason: String },
    /// Nobody listens there.
    Refused { host: String },
    /// No connection for another reason.
    Unreachable { host: String, reason: String },
    /// The connection took longer than its limit.
    Connect { host: String, via: Option<String>, limit_ms: u64 },
    /// The proxy does not connect.
    Proxy { host: String, proxy: String, reason: String },
    /// The certificate is not trusted.
    Certificate { host: String, reason: String },
    /// TLS failed for another reason.
    Tls { host: String, reason: String },
    /// The answer did not begin within its limit.
    FirstByte { host: String, limit_ms: u64 },
    /// The answer stopped coming for longer than its limit.
    Idle { host: String, limit_ms: u64 },
    /// The connection broke before the answer began.
    Lost { host: String, reason: String },
    /// The connection broke in the middle of the answer.
    Broken { host: String, reason: String },
    /// The answer cannot be decompressed.
    Garbled { host: String, reason: String },
    /// A redirect to where keys must not go, or that would drop the body.
    Redirect { host: String, to: String },
    /// Redirects without end.
    TooManyRedirects { host: String, limit: usize },
    /// An answer that is not 200 to 299. `retry_after`: how long the server asks to wait.
    Status {
        host: String,
        status: u16,
        /// At most [`super::MAX_ERROR_BODY_BYTES`], without the keys of the request.
        body: Vec<u8>,
        content_type: Option<String>,
        retry_after: Option<Duration>,
    },
}

impl fmt::Display for HttpError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; {}", self.summary(), self.next_step())
    }
}

impl StdError for HttpError {}

impl HttpError {
    pub(super) fn setup(error: reqwest::Error) -> Self {
        Self::Setup { reason: root_cause(&error.without_url()) }
    }

    /// A request that failed before the head of the answer. `via`: the proxy.
    pub(super) fn before_the_head(error: reqwest::Error, host: String, via: Option<String>, connect_ms: u64) -> Self {
        let error = error.without_url();
        let reason = root_cause(&error);
        if error.is_builder() {
            return Self::Setup { reason };
        }
        match find::<rustls::Error>(&error) {
            Some(rustls::Error::InvalidCertificate(fault)) => {
                return Self::Certificate { host, reason: explain(fault) };
            }
            Some(_) => return Self::Tls { host, reason },
            None => {}
        }
        if !error.is_connect() {
            return Self::Lost { host, reason };
        }
        // The system has a limit of its own, with the same kind of error.
        if error.is_timeout() && find::<io::Error>(&error).is_none() {
            return Self::Connect { host, via, limit_ms: connect_ms };
        }
        if let Some(proxy) = via {
            return Self::Proxy { host, proxy, reason };
        }
        if error.is_dns() {
            return Self::Dns { host, reason };
        }
        match find::<io::Error>(&error).map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => Self::Refused { host },
            _ => Self::Unreachable { host, reason },
        }
    }

    /// A request that failed in the body of the answer.
    pub(super) fn in_the_middle(error: reqwest::Error, host: String) -> Self {
        let error = error.without_url();
        let reason = root_cause(&error);
        // What went wrong below the decoder, such as a bad chunk, has an error of the connection in between.
        let own = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        let is_garbled = error.is_decode() && own.is_some_and(|error| error.kind() != io::ErrorKind::UnexpectedEof);
        if is_garbled { Self::Garbled { host, reason } } else { Self::Broken { host, reason } }
    }

    /// Whether the same request may go well later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 429 | 500 | 502 | 503 | 504 | 529),
            Self::Dns { .. }
            | Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::Connect { .. }
            | Self::Proxy { .. }
            | Self::Lost { .. } => true,
            Self::BadUrl { .. }
            | Self::BadHeader { .. }
            | Self::BadProxy { .. }
            | Self::NoCertificates { .. }
            | Self::Setup { .. }
            | Self::Certificate { .. }
            | Self::Tls { .. }
            | Self::FirstByte { .. }
            | Self::Idle { .. }
            | Self::Broken { .. }
            | Self::Garbled { .. }
            | Self::Redirect { .. }
            | Self::TooManyRedirects { .. } => false,
        }
    }

    /// How long the server asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// What happened, without the next step.
    pub fn summary(&self) -> String {
        match self {
            Self::BadUrl { url, reason } => format!("`{url}` is no URL to send to: {reason}"),
            Self::BadHeader { name } => format!("the header `{name}` has a character that HTTP does not allow"),
            Self::BadProxy { name } => format!("{name} is no URL of a proxy"),
            Self::NoCertificates { variable: Some(name), reason } => {
                format!("no certificates could be read from {name}: {reason}")
            }
            Self::NoCertificates { variable: None, reason } => {
                format!("no certificates of the system were found: {reason}")
            }
            Self::Setup { reason } => format!("no connection could be set up: {reason}"),
            Self::Dns { host, reason } => format!("the name of {host} could not be resolved: {reason}"),
            Self::Refused { host } => format!("{host} refused the connection"),
            Self::Unreachable { host, reason } => format!("no connection to {host}: {reason}"),
            Self::Connect { host, via: None, limit_ms } => format!("no connection to {host} within {limit_ms} ms"),
            Self::Connect { host, via: Some(proxy), limit_ms } => {
                format!("no connection to {host} through the proxy {proxy} within {limit_ms} ms")
            }
            Self::Proxy { host, proxy, reason } => {
                format!("no connection to {host} through the proxy {proxy}: {reason}")
            }
            Self::Certificate { host, reason } => format!("the certificate of {host} is not trusted: {reason}"),
            Self::Tls { host, reason } => format!("no secure connection to {host}: {reason}"),
            Self::FirstByte { host, limit_ms } => format!("{host} did not begin to answer within {limit_ms} ms"),
            Self::Idle { host, limit_ms } => format!("{host} sent nothing more for {limit_ms} ms"),
            Self::Lost { host, reason } => format!("the connection to {host} broke before the answer: {reason}"),
            Self::Broken { host, reason } => format!("the answer of {host} broke off: {reason}"),
            Self::Garbled { host, reason } => format!("the answer of {host} cannot be decompressed: {reason}"),
            Self::Redirect { host, to } => format!("{host} redirects to {to}, where lathe does not send your keys"),
            Self::TooManyRedirects { host, limit } => format!("{host} redirects more than {limit} times"),
            Self::Status { host, status, retry_after, .. } => {
                let status = named(*status);
                match retry_after {
                    Some(wait) if !wait.is_zero() => {
                        format!("{host} answered {status} and asks to wait {} s", wait.as_secs_f64().ceil())
                    }
                    _ => format!("{host} answered {status}"),
                }
            }
        }
    }

    fn next_step(&self) -> &'static str {
        match self {
            Self::BadUrl { .. } => "check the adapter's `url`",
            Self::BadHeader { .. } => "check the adapter's `headers` and the key for line breaks",
            Self::BadProxy { .. } => "set it to a URL like http://proxy.example:3128",
            Self::NoCertificates { variable: Some(_), .. } => "set the variable to PEM certificates, or unset it",
            Self::NoCertificates { variable: None, .. } => {
                "install the package ca-certificates, or set SSL_CERT_FILE to a file of PEM certificates"
            }
            Self::Setup { .. } => "check the adapter's `url` and `proxy`",
            Self::Dns { .. } => "check the network and the adapter's `url`",
            Self::Refused { .. } => "check that the server runs and the adapter's `url`",
            Self::Unreachable { .. } | Self::Connect { via: None, .. } => "check the network, then send again",
            Self::Proxy { .. } | Self::Connect { via: Some(_), .. } => "check the proxy, or name the host in NO_PROXY",
            Self::Certificate { .. } => {
                "set SSL_CERT_FILE to the certificates of your authority, or `allow_insecure` for this adapter if you \
                 trust the network"
            }
            Self::Tls { .. } => "check whether the adapter's `url` must begin with http:// or have another port",
            Self::FirstByte { .. } | Self::Idle { .. } => "send again, or raise the adapter's time limit",
            Self::Lost { .. } | Self::Broken { .. } | Self::Garbled { .. } => "send again",
            Self::Redirect { .. } => "set the adapter's `url` to the new place if you trust it",
            Self::TooManyRedirects { .. } => "check the adapter's `url`",
            Self::Status { status, .. } => match status {
                401 | 403 => "check the adapter's key",
                404 | 405 => "check the adapter's `url` and the model's name",
                407 => "set the user and password of the proxy: http://user:password@host:port",
                413 => "the chat is too large: clear it or send less",
                300..=399 => "check the adapter's `url`",
                408 | 429 | 500.. => "send again later",
                _ => "check the adapter's settings",
            },
        }
    }
}

fn named(status: u16) -> String {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    match (status, reason) {
        (_, Some(reason)) => format!("{status} {reason}"),
        (529, None) => "529 Overloaded".to_owned(),
        (_, None) => status.to_string(),
    }
}

fn explain(fault: &CertificateError) -> String {
    match fault {
        CertificateError::UnknownIssuer => "it is signed by an authority that is not known here".to_owned(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired".to_owned(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet, or the clock here is wrong".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another name".to_owned()
        }
        // What people make who make one certificate only; its name in the verifier is all there is to know it by.
        CertificateError::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            "it is the certificate of an authority, not of a server".to_owned()
        }
        other => other.to_string(),
    }
}

fn root_cause(error: &(dyn StdError + 'static)) -> String {
    let mut last = error;
    while let Some(cause) = cause(last) {
        last = cause;
    }
    last.to_string()
}

fn find<'a, T: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = cause(error);
    }
    None
}

/// What is below an error. An `io::Error` that wraps another one leaves just that one out of its sources.
fn cause<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}
