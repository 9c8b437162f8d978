//! One request to a provider, with its limits, retries and redirects; the answer comes in pieces. What is in the bodies
//! is the adapter's business, who connects how is in `http/client.rs`, what the user reads in `http/error.rs`.

mod client;
mod environment;
mod error;
mod outside;
mod retry;
mod secrets;
mod target;

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use tokio::time::timeout;

use client::Clients;
pub use environment::Environment;
pub use error::HttpError;
pub use outside::Outside;
pub(super) use secrets::Secrets;
use target::Target;

/// How much of the body of an error is kept.
pub const MAX_ERROR_BODY_BYTES: usize = 1024 * 1024;

/// How long the body of an error may take as a whole. The user waits for it, and what came by then says enough.
const ERROR_BODY_TIME: Duration = Duration::from_secs(10);

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 5;

/// A request: a POST, or a GET when `is_get`.
#[derive(Clone)]
pub struct HttpRequest {
    /// Where to.
    pub url: String,
    /// Names and values. Never shown: they hold keys.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether something is only asked for; there is no body then.
    pub is_get: bool,
    /// How long each part may take.
    pub limits: HttpLimits,
    /// How often a failure that may pass is tried again.
    pub retries: u32,
    /// The proxy of this adapter, which wins over the environment's; empty: none.
    pub proxy: Option<String>,
    /// Whether any certificate will do.
    pub allow_insecure: bool,
    /// What the environment says of proxies and certificates.
    pub environment: Environment,
}

/// How long the parts of a request may take, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Name, connection and TLS.
    pub connect_ms: u64,
    /// From the start of a try until the head of the answer is there.
    pub first_byte_ms: u64,
    /// From one piece of the answer to the next.
    pub idle_ms: u64,
}

/// What happens to a request before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpEvent {
    /// A try failed, and there will be another.
    Retrying {
        /// Which retry this is, from 1.
        attempt: u32,
        /// How many there can be.
        of: u32,
        /// How long it waits before it.
        wait_ms: u64,
        /// Why, for the user.
        reason: String,
    },
    /// The head of a good answer is there. Once, before all chunks; nothing is tried again after it.
    Head {
        /// 200 to 299.
        status: u16,
        /// As the server gave it.
        content_type: Option<String>,
    },
    /// A piece of the body, decompressed, never empty.
    Chunk(Bytes),
}

/// Connections, kept from request to request. It opens none before the first.
pub struct Http {
    clients: Clients,
    outside: Outside,
}

/// A request whose parts were looked at.
struct Prepared {
    headers: HeaderMap,
    body: Bytes,
    is_get: bool,
    limits: HttpLimits,
    proxy: Option<String>,
    allow_insecure: bool,
    environment: Environment,
}

impl HttpRequest {
    /// A request with all defaults. Reads the environment, so call it where nothing else can be writing to it: on the
    /// main thread.
    pub fn new(url: impl Into<String>, headers: Vec<(String, String)>, body: Vec<u8>) -> Self {
        Self {
            url: url.into(),
            headers,
            body,
            is_get: false,
            limits: HttpLimits::default(),
            retries: 4,
            proxy: None,
            allow_insecure: false,
            environment: Environment::of_process(),
        }
    }

    /// What of it nobody may read, wherever it turns up.
    pub(super) fn secrets(&self) -> Secrets {
        // Its headers are known when it has no good URL (yet).
        let target = Target::parse(&self.url).or_else(|_| Target::parse("http://localhost"));
        target.map(|target| Secrets::of(&self.headers, &target)).unwrap_or_default()
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("HttpRequest")
            .field("url", &target::without_secrets(&self.url))
            .field("headers", &headers)
            .field("body_bytes", &self.body.len())
            .field("limits", &self.limits)
            .field("retries", &self.retries)
            .field("proxy", &self.proxy.as_deref().map(target::without_secrets))
            .field("allow_insecure", &self.allow_insecure)
            .finish_non_exhaustive()
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self { connect_ms: 10_000, first_byte_ms: 600_000, idle_ms: 120_000 }
    }
}

impl Default for Http {
    fn default() -> Self {
        Self::new(Outside::default())
    }
}

impl Http {
    /// Connections that see time, chance and names through `outside`.
    pub fn new(outside: Outside) -> Self {
        Self { clients: Clients::default(), outside }
    }

    /// Sends a request and hands on what comes. Dropping the future ends the connection.
    ///
    /// # Errors
    /// Every variant of [`HttpError`]. Chunks that were handed on before stay good.
    pub async fn send(
        &self,
        request: HttpRequest,
        mut on_event: impl FnMut(HttpEvent) + Send,
    ) -> Result<(), HttpError> {
        let target = Target::parse(&request.url)?;
        let secrets = Secrets::of(&request.headers, &target);
        let retries = request.retries;
        let prepared = Prepared::new(request)?;

        let mut attempt = 0;
        let (target, mut response) = loop {
            let failure = match self.fetch(&prepared, target.clone()).await {
                Ok(answer) => break answer,
                Err(failure) => secrets.hide_in(failure),
            };
            let wait = (attempt < retries).then(|| retry::wait(&failure, attempt, &self.outside)).flatten();
            let Some(wait) = wait else { return Err(failure) };
            attempt += 1;
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            on_event(HttpEvent::Retrying { attempt, of: retries, wait_ms, reason: failure.summary() });
            self.outside.sleep(wait).await;
        };

        on_event(HttpEvent::Head { status: response.status().as_u16(), content_type: content_type(&response) });
        let idle_ms = prepared.limits.idle_ms;
        loop {
            match timeout(Duration::from_millis(idle_ms), response.chunk()).await {
                Ok(Ok(Some(chunk))) if chunk.is_empty() => {}
                Ok(Ok(Some(chunk))) => on_event(HttpEvent::Chunk(chunk)),
                Ok(Ok(None)) => return Ok(()),
                Ok(Err(error)) => return Err(secrets.hide_in(HttpError::in_the_middle(error, target.host()))),
                Err(_) => return Err(HttpError::Idle { host: target.host(), limit_ms: idle_ms }),
            }
        }
    }

    /// One try, up to the head of a good answer.
    async fn fetch(&self, request: &Prepared, mut target: Target) -> Result<(Target, Response), HttpError> {
        for _ in 0..=MAX_REDIRECTS {
            let response = self.ask(request, &target).await?;
            if response.status().is_success() {
                return Ok((target, response));
            }
            match target.redirect(&response)? {
                Some(next) => target = next,
                None => return Err(self.status_error(request, &target, response).await),
            }
        }
        Err(HttpError::TooManyRedirects { host: target.host(), limit: MAX_REDIRECTS })
    }

    async fn ask(&self, request: &Prepared, target: &Target) -> Result<Response, HttpError> {
        let limits = request.limits;
        let route = request.environment.route(request.proxy.as_deref(), target)?;
        let via = route.as_ref().map(environment::Route::shown);
        let client = self.clients.get(request, route, target, &self.outside).await?;
        let url = target.url().clone();
        let built = if request.is_get { client.get(url) } else { client.post(url).body(request.body.clone()) };
        let answer = built.headers(request.headers.clone()).send();
        match timeout(Duration::from_millis(limits.first_byte_ms), answer).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(HttpError::before_the_head(error, target.host(), via, limits.connect_ms)),
            Err(_) => Err(HttpError::FirstByte { host: target.host(), limit_ms: limits.first_byte_ms }),
        }
    }

    async fn status_error(&self, request: &Prepared, target: &Target, mut response: Response) -> HttpError {
        let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = asked.and_then(|value| retry::parse_after(value, self.outside.now()));
        let (status, content_type) = (response.status().as_u16(), content_type(&response));
        let mut body = Vec::new();
        let read = async {
            while let Ok(Some(chunk)) = response.chunk().await {
                let room = MAX_ERROR_BODY_BYTES - body.len();
                body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if body.len() == MAX_ERROR_BODY_BYTES {
                    break;
                }
            }
        };
        // What came in time is what the user gets to see.
        let _ = timeout(ERROR_BODY_TIME.min(Duration::from_millis(request.limits.idle_ms)), read).await;
        HttpError::Status { host: target.host(), status, body, content_type, retry_after }
    }
}

impl Prepared {
    fn new(request: HttpRequest) -> Result<Self, HttpError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            let bad = || HttpError::BadHeader { name: name.clone() };
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            // Keeps it out of Debug and out of the table that HTTP/2 compresses with.
            value.set_sensitive(true);
            headers.append(HeaderName::try_from(name).map_err(|_| bad())?, value);
        }
        Ok(Self {
            headers,
            body: Bytes::from(request.body),
            is_get: request.is_get,
            limits: request.limits,
            proxy: request.proxy,
            allow_insecure: request.allow_insecure,
            environment: request.environment,
        })
    }
}

fn content_type(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests;
