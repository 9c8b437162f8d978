//! Where a request goes: its URL, how it is shown, and where a redirect may lead.

use std::net::IpAddr;

use reqwest::header::LOCATION;
use reqwest::{Response, StatusCode, Url};

use super::error::HttpError;

/// The URL of a request.
#[derive(Clone)]
pub(super) struct Target(Url);

impl Target {
    pub(super) fn parse(url: &str) -> Result<Self, HttpError> {
        let bad = |reason: String| HttpError::BadUrl { url: without_secrets(url), reason };
        let no_scheme = || bad("it does not begin with http:// or https://".to_owned());
        match Url::parse(url.trim()) {
            Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => Ok(Self(parsed)),
            Ok(_) => Err(no_scheme()),
            Err(_) if !url.contains("://") => Err(no_scheme()),
            Err(error) => Err(bad(error.to_string())),
        }
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }

    pub(super) fn is_tls(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The host with its port, if that is not the usual one.
    pub(super) fn host(&self) -> String {
        host(&self.0)
    }

    /// Whether the host is this machine, which no proxy of the environment can reach.
    pub(super) fn is_loopback(&self) -> bool {
        let name = self.0.host_str().unwrap_or_default();
        let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        address.is_ok_and(|address| address.is_loopback()) || name == "localhost" || name.ends_with(".localhost")
    }

    /// Where a redirect leads; none: the answer is no redirect. The method, the body and all headers go along, so it is
    /// followed only to the same server: keys are for one host.
    pub(super) fn redirect(&self, response: &Response) -> Result<Option<Self>, HttpError> {
        let moved = matches!(
            response.status(),
            StatusCode::MOVED_PERMANENTLY
                | StatusCode::FOUND
                | StatusCode::SEE_OTHER
                | StatusCode::TEMPORARY_REDIRECT
                | StatusCode::PERMANENT_REDIRECT
        );
        let Some(location) = response.headers().get(LOCATION).filter(|_| moved) else { return Ok(None) };
        let next = location.to_str().ok().and_then(|location| self.0.join(location).ok());
        let refused = |to: String| HttpError::Redirect { host: self.host(), to };
        let Some(next) = next else { return Err(refused("something that is no URL".to_owned())) };
        // 303 asks for a GET, which is no way to send a chat.
        if response.status() != StatusCode::SEE_OTHER && (self.is_same_server(&next) || self.is_upgrade(&next)) {
            return Ok(Some(Self(next)));
        }
        Err(refused(without_secrets(next.as_str())))
    }

    fn is_same_server(&self, next: &Url) -> bool {
        self.0.origin() == next.origin()
    }

    /// From http to https on the usual ports.
    fn is_upgrade(&self, next: &Url) -> bool {
        (self.0.scheme(), next.scheme()) == ("http", "https")
            && self.0.host() == next.host()
            && (self.0.port(), next.port()) == (None, None)
    }
}

fn host(url: &Url) -> String {
    let name = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"))
}

/// A URL as it may be shown, whether it is a good one or not: no query, no fragment, no user.
pub(super) fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let slash = rest.find('/').unwrap_or(rest.len());
    let start = rest[..slash].rfind('@').map_or(0, |at| at + 1);
    let separator = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{separator}{}", &rest[start..])
}
