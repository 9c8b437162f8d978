//! Requests against real servers on the loopback. Waits between tries are seen and not waited for; a limit in a test is
//! either so long that it never ends, or short where the server never goes on.

mod dropped;
mod errors;
mod framing;
mod limits;
mod retries;
mod routes;
mod streams;
mod tls;

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;
use std::{future, io, path};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::*;

/// Longer than anything here takes on a busy machine; only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(20);

const KEY: &str = "sk-very-secret-4711";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 4\r\n\r\ngood";
const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { timeout(PATIENCE, test).await.expect("an end in time") });
}

/// A server on the loopback, until the runtime ends.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
}

/// Serves each connection with `serve`, which gets its number.
async fn server<F>(serve: impl Fn(usize, TcpStream) -> F + Send + 'static) -> Server
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).expect("a socket");
            tokio::spawn(serve(count.fetch_add(1, Ordering::SeqCst), stream));
        }
    });
    Server { address, connections, requests: Arc::default() }
}

/// Answers the nth request with the nth answer (later ones with the last), one per connection.
async fn answers(answers: impl IntoIterator<Item = impl Into<String>>) -> Server {
    let answers: Arc<Vec<String>> = Arc::new(answers.into_iter().map(Into::into).collect());
    let requests = Arc::<Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&requests);
    let server = server(move |number, mut stream| {
        let (answers, seen) = (Arc::clone(&answers), Arc::clone(&seen));
        async move {
            let request = read_request(&mut stream).await;
            seen.lock().expect("the lock").push(request);
            let answer = answers.get(number).or(answers.last()).expect("an answer");
            stream.write_all(answer.as_bytes()).await.expect("a client");
        }
    })
    .await;
    Server { requests, ..server }
}

impl Server {
    fn url(&self) -> String {
        format!("http://{}/v1/chat", self.address)
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("the lock").clone()
    }
}

/// The head and the body, as they came.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut all = Vec::new();
    loop {
        let mut byte = [0];
        if stream.read_exact(&mut byte).await.is_err() {
            return String::from_utf8_lossy(&all).into_owned();
        }
        all.push(byte[0]);
        if all.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    let head = String::from_utf8_lossy(&all).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a length"))];
    stream.read_exact(&mut body).await.expect("the body");
    all.extend(body);
    String::from_utf8(all).expect("text")
}

/// Waits until the client is gone.
async fn until_closed(stream: &mut (impl AsyncRead + Unpin)) {
    let mut rest = Vec::new();
    // A reset is an end as well.
    let _ = stream.read_to_end(&mut rest).await;
}

/// The middle of chance, no waits, a fixed time and no names.
fn outside() -> Outside {
    Outside::default()
        .with_random(|| 0.5)
        .with_now(|| date("Tue, 15 Nov 1994 08:00:00 GMT"))
        .with_sleep(|_| future::ready(()))
        .with_lookup(|_| Err(io::Error::other("there are no names here")))
}

fn date(date: &str) -> SystemTime {
    httpdate::parse_http_date(date).expect("a date")
}

fn request(url: impl Into<String>) -> HttpRequest {
    let patience_ms = u64::try_from(PATIENCE.as_millis()).expect("a number");
    HttpRequest {
        url: url.into(),
        headers: vec![
            ("Authorization".to_owned(), format!("Bearer {KEY}")),
            ("Content-Type".to_owned(), "application/json".to_owned()),
        ],
        body: b"{\"model\":\"m\"}".to_vec(),
        is_get: false,
        limits: HttpLimits { connect_ms: patience_ms, first_byte_ms: patience_ms, idle_ms: patience_ms },
        retries: 4,
        proxy: None,
        allow_insecure: false,
        environment: Environment::default(),
    }
}

/// What a request came to.
struct Outcome {
    /// The retries: attempt, wait, reason.
    retries: Vec<(u32, u64, String)>,
    head: Option<(u16, Option<String>)>,
    body: Vec<u8>,
    end: Result<(), HttpError>,
}

async fn send(http: &Http, request: HttpRequest) -> Outcome {
    let (mut retries, mut head, mut body, limit) = (Vec::new(), None, Vec::new(), request.retries);
    let on_event = |event| match event {
        HttpEvent::Retrying { attempt, of, wait_ms, reason } => {
            assert_eq!((of, &head), (limit, &None));
            retries.push((attempt, wait_ms, reason));
        }
        HttpEvent::Head { status, content_type } => assert_eq!(head.replace((status, content_type)), None),
        HttpEvent::Chunk(chunk) => {
            assert!(head.is_some() && !chunk.is_empty());
            body.extend_from_slice(&chunk);
        }
    };
    let end = http.send(request, on_event).await;
    Outcome { retries, head, body, end }
}

impl Outcome {
    fn waits(&self) -> Vec<u64> {
        self.retries.iter().map(|(_, wait_ms, _)| *wait_ms).collect()
    }

    #[track_caller]
    fn error(self) -> HttpError {
        let error = self.end.expect_err("an error");
        for shown in [error.to_string(), format!("{error:?}")] {
            assert!(!shown.contains(KEY) && !shown.contains("4711"), "{shown}");
        }
        error
    }
}

async fn get(request: HttpRequest) -> Outcome {
    send(&Http::new(outside()), request).await
}

fn chunked(body: &[u8], bytes: usize) -> Vec<u8> {
    let mut raw = Vec::new();
    for piece in body.chunks(bytes) {
        raw.extend(format!("{:x}\r\n", piece.len()).bytes());
        raw.extend(piece);
        raw.extend(b"\r\n");
    }
    raw.extend(b"0\r\n\r\n");
    raw
}

/// Lets everything else run that can.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

/// A private authority, its certificate in a file, and what a server needs of it.
struct Authority {
    file: tempfile::NamedTempFile,
    acceptor: TlsAcceptor,
}

fn authority(protocols: &[&[u8]]) -> Authority {
    authority_with(protocols, IsCa::ExplicitNoCa)
}

fn authority_with(protocols: &[&[u8]], leaf_is_ca: IsCa) -> Authority {
    let mut ca = CertificateParams::new(vec![]).expect("names");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(ca, KeyPair::generate().expect("a key")).expect("a certificate");
    let key = KeyPair::generate().expect("a key");
    let mut leaf = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("names");
    leaf.is_ca = leaf_is_ca;
    let leaf = leaf.signed_by(&key, &ca).expect("a certificate");
    let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
        .expect("a key that fits");
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(ca.pem().as_bytes()).expect("a disk");
    Authority { file, acceptor: TlsAcceptor::from(Arc::new(config)) }
}

impl Authority {
    /// Serves each connection that gets through TLS.
    async fn server<F>(&self, serve: impl Fn(TlsStream<TcpStream>) -> F + Send + Sync + Copy + 'static) -> Server
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let acceptor = self.acceptor.clone();
        server(move |_, stream| {
            let acceptor = acceptor.clone();
            async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    serve(stream).await;
                }
            }
        })
        .await
    }

    fn environment(&self) -> Environment {
        trusting(self.file.path())
    }
}

fn trusting(file: &path::Path) -> Environment {
    Environment { certificate_file: Some(file.to_owned()), ..Environment::default() }
}

async fn answer_tls(mut stream: TlsStream<TcpStream>) {
    read_request(&mut stream).await;
    stream.write_all(OK.as_bytes()).await.expect("a client");
    stream.shutdown().await.expect("a client");
}

async fn answer_h2(stream: TlsStream<TcpStream>) {
    let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        tokio::spawn(async move {
            assert_eq!(request.headers()["content-length"], "13");
            let mut body = respond.send_response(http::Response::new(()), false).expect("a client");
            body.send_data(Bytes::from_static(b"go"), false).expect("a client");
            body.send_data(Bytes::from_static(b"od"), true).expect("a client");
        });
    }
}

fn https(server: &Server) -> String {
    server.url().replace("http:", "https:")
}

fn busy(status: u16, header: &str) -> String {
    format!("HTTP/1.1 {status} X\r\n{header}Content-Length: 0\r\n\r\n")
}
