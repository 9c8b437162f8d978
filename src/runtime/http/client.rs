//! The clients that hold the connections: one for each way to connect, built off the main thread when it is first needed.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Client, Proxy, redirect};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_native_certs::CertificateResult;
use tokio::sync::OnceCell;

use super::Prepared;
use super::environment::{Environment, Login, Route};
use super::error::HttpError;
use super::outside::Outside;
use super::target::Target;

const USER_AGENT: &str = concat!("lathe.nvim/", env!("CARGO_PKG_VERSION"));

/// How often a connection that waits for an answer is asked whether it is still there, and how long it may take to say
/// so. Without it a laptop that slept waits for the whole of the first-byte limit.
const PING: Duration = Duration::from_secs(30);

/// Whose certificates are good.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Trust {
    /// There will be no certificate: plain HTTP.
    Nobody,
    Anybody,
    System,
    Named {
        file: Option<PathBuf>,
        dirs: Vec<PathBuf>,
    },
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    route: Option<Route>,
    trust: Trust,
    connect_ms: u64,
}

/// The clients so far.
#[derive(Default)]
pub(super) struct Clients(Mutex<HashMap<Key, Arc<OnceCell<Client>>>>);

impl Clients {
    pub(super) async fn get(
        &self,
        request: &Prepared,
        route: Option<Route>,
        target: &Target,
        outside: &Outside,
    ) -> Result<Client, HttpError> {
        let is_tls = target.is_tls() || route.as_ref().is_some_and(|route| route.proxy.starts_with("https:"));
        let trust = if is_tls { Trust::of(request.allow_insecure, &request.environment) } else { Trust::Nobody };
        let key = Key { route, trust, connect_ms: request.limits.connect_ms };
        let cell = {
            // Nothing panics half-way through a change of the map.
            let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(clients.entry(key.clone()).or_default())
        };
        let outside = outside.clone();
        let build = || async {
            // Reads files.
            let built = tokio::task::spawn_blocking(move || build(key, outside)).await;
            built.map_err(|_| HttpError::Setup { reason: "an internal error".to_owned() })?
        };
        cell.get_or_try_init(build).await.cloned()
    }
}

impl Trust {
    fn of(allow_insecure: bool, environment: &Environment) -> Self {
        let (file, dirs) = (environment.certificate_file.clone(), environment.certificate_dirs.clone());
        match (allow_insecure, &file, dirs.is_empty()) {
            (true, ..) => Self::Anybody,
            (false, None, true) => Self::System,
            (false, ..) => Self::Named { file, dirs },
        }
    }
}

fn build(key: Key, outside: Outside) -> Result<Client, HttpError> {
    let mut client = Client::builder()
        .user_agent(USER_AGENT)
        .tls_backend_preconfigured(tls(key.trust)?)
        .connect_timeout(Duration::from_millis(key.connect_ms))
        .http2_keep_alive_interval(PING)
        .http2_keep_alive_timeout(PING)
        .redirect(redirect::Policy::none())
        .dns_resolver(Arc::new(outside))
        .no_proxy();
    if let Some(route) = key.route {
        let proxy = Proxy::all(route.proxy).map_err(HttpError::setup)?;
        client = client.proxy(match route.login {
            Login::None => proxy,
            Login::Header(header) => proxy.custom_http_auth(header),
            Login::Password(user, password) => proxy.basic_auth(&user, &password),
        });
    }
    client.build().map_err(HttpError::setup)
}

/// Ours, not reqwest's own, which installs a provider for the whole process and keeps quiet about missing certificates.
fn tls(trust: Trust) -> Result<ClientConfig, HttpError> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpError::Setup { reason: error.to_string() })?;
    let mut config = match trust {
        Trust::Anybody => config.dangerous().with_custom_certificate_verifier(Arc::new(TrustAnybody(provider))),
        Trust::Nobody => config.with_root_certificates(RootCertStore::empty()),
        Trust::System => config.with_root_certificates(roots(rustls_native_certs::load_native_certs(), None)?),
        Trust::Named { file, dirs } => {
            let mut found = rustls_native_certs::load_certs_from_paths(file.as_deref(), None);
            for dir in &dirs {
                let more = rustls_native_certs::load_certs_from_paths(None, Some(dir));
                found.certs.extend(more.certs);
                found.errors.extend(more.errors);
            }
            let names = if file.is_some() { "SSL_CERT_FILE" } else { "SSL_CERT_DIR" };
            config.with_root_certificates(roots(found, Some(names))?)
        }
    }
    .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The good ones of what was found: stores hold odd certificates, and one of them must not end all requests.
fn roots(found: CertificateResult, variable: Option<&'static str>) -> Result<RootCertStore, HttpError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let reason = found.errors.first().map_or_else(|| "there are none".to_owned(), ToString::to_string);
        return Err(HttpError::NoCertificates { variable, reason });
    }
    Ok(roots)
}

/// Takes every certificate, as the user asked for with `allow_insecure`. Signatures are checked all the same.
#[derive(Debug)]
struct TrustAnybody(Arc<CryptoProvider>);

impl ServerCertVerifier for TrustAnybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
