//! What the environment says of proxies and certificates, and which proxy that means for one request.

use std::ffi::OsString;
use std::path::PathBuf;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::header::HeaderValue;

use super::error::HttpError;
use super::target::{Target, without_secrets};

/// Variables that requests obey. No `Debug`: proxies have passwords.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Environment {
    /// `HTTP_PROXY`.
    pub http_proxy: Option<String>,
    /// `HTTPS_PROXY`.
    pub https_proxy: Option<String>,
    /// `ALL_PROXY`.
    pub all_proxy: Option<String>,
    /// `NO_PROXY`: hosts, networks and domains that are reached directly.
    pub no_proxy: Option<String>,
    /// `SSL_CERT_FILE`: the certificates to trust, instead of the system's.
    pub certificate_file: Option<PathBuf>,
    /// `SSL_CERT_DIR`: folders of them.
    pub certificate_dirs: Vec<PathBuf>,
}

/// A proxy. No `Debug`: it has a password.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Route {
    /// Its URL, without a user.
    pub(super) proxy: String,
    /// Who uses it.
    pub(super) login: Login,
}

/// How to log in to a proxy.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Login {
    None,
    Header(HeaderValue),
    Password(String, String),
}

impl Route {
    /// How it is named in messages.
    pub(super) fn shown(&self) -> String {
        without_secrets(&self.proxy).trim_end_matches('/').to_owned()
    }
}

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        Self::read(|name| std::env::var_os(name))
    }

    /// What `variable` says; proxies in capitals win over those in small letters, and an empty value is none.
    pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let proxy = |name: &str| {
            let value = set(name).or_else(|| set(&name.to_ascii_lowercase()))?;
            Some(value.to_string_lossy().into_owned())
        };
        Self {
            http_proxy: proxy("HTTP_PROXY"),
            https_proxy: proxy("HTTPS_PROXY"),
            all_proxy: proxy("ALL_PROXY"),
            no_proxy: proxy("NO_PROXY"),
            certificate_file: set("SSL_CERT_FILE").map(PathBuf::from),
            certificate_dirs: set("SSL_CERT_DIR")
                .map(|dirs| std::env::split_paths(&dirs).collect())
                .unwrap_or_default(),
        }
    }

    /// The proxy for a target; none: directly. `own` is the adapter's.
    pub(super) fn route(&self, own: Option<&str>, target: &Target) -> Result<Option<Route>, HttpError> {
        let (name, proxy) = match own {
            Some("") => return Ok(None),
            Some(own) => ("the adapter's `proxy`", own),
            None if target.is_loopback() => return Ok(None),
            None => match self.proxy(target) {
                Some(proxy) => proxy,
                None => return Ok(system_proxy(target)),
            },
        };
        let is_proxy = Matcher::builder().all(proxy).build();
        let route = intercept(&is_proxy, target).ok_or(HttpError::BadProxy { name })?;
        let wanted = Matcher::builder().all(proxy).no(self.no_proxy.clone().unwrap_or_default()).build();
        Ok(intercept(&wanted, target).map(|_| route))
    }

    fn proxy(&self, target: &Target) -> Option<(&'static str, &str)> {
        let own = if target.is_tls() {
            self.https_proxy.as_deref().map(|proxy| ("HTTPS_PROXY", proxy))
        } else {
            self.http_proxy.as_deref().map(|proxy| ("HTTP_PROXY", proxy))
        };
        own.or(self.all_proxy.as_deref().map(|proxy| ("ALL_PROXY", proxy)))
    }
}

/// The proxy of the system's settings. Linux has none but the variables, which were looked at.
fn system_proxy(target: &Target) -> Option<Route> {
    cfg!(any(target_os = "macos", windows)).then(|| intercept(&Matcher::from_system(), target)).flatten()
}

fn intercept(matcher: &Matcher, target: &Target) -> Option<Route> {
    let found = matcher.intercept(&target.url().as_str().parse().ok()?)?;
    let login = match (found.basic_auth(), found.raw_auth()) {
        (Some(header), _) => Login::Header(HeaderValue::clone(header)),
        (None, Some((user, password))) => Login::Password(user.to_owned(), password.to_owned()),
        (None, None) => Login::None,
    };
    Some(Route { proxy: found.uri().to_string(), login })
}
