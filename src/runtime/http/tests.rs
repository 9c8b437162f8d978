//! Requests against real servers on the loopback. Waits between tries are seen and not waited for; a limit in a test is
//! either so long that it never ends, or short where the server never goes on.

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

#[test]
fn the_body_is_the_same_wherever_the_stream_is_cut() {
    let body = "data: {\"é\":1}\n\ndata: [DONE]\n\n".as_bytes();
    for bytes in [1, 5, body.len()] {
        let raw = [STREAM.as_bytes(), &chunked(body, bytes)].concat();
        run(async {
            let cuts = raw.clone();
            let server = server(move |number, mut stream| {
                let cuts = cuts.clone();
                async move {
                    read_request(&mut stream).await;
                    stream.write_all(&cuts[..number]).await.expect("a client");
                    settle().await;
                    stream.write_all(&cuts[number..]).await.expect("a client");
                }
            })
            .await;
            for _ in 0..raw.len() {
                let outcome = get(request(server.url())).await;
                assert_eq!((outcome.end, outcome.retries), (Ok(()), vec![]));
                assert_eq!(outcome.head, Some((200, Some("text/event-stream".to_owned()))));
                assert_eq!(outcome.body, body);
            }
            assert_eq!(server.connections(), raw.len());
        });
    }
}

#[test]
fn the_request_is_whole_and_says_who_sends_it() {
    run(async {
        let server = answers([OK]).await;
        assert_eq!(get(request(server.url())).await.end, Ok(()));
        let head = server.requests().concat();
        assert!(head.starts_with("POST /v1/chat HTTP/1.1\r\n"), "{head}");
        for line in [
            &format!("authorization: Bearer {KEY}"),
            "content-type: application/json",
            "content-length: 13",
            concat!("user-agent: lathe.nvim/", env!("CARGO_PKG_VERSION")),
        ] {
            assert!(head.contains(&format!("\r\n{line}\r\n")), "{line} is not in {head}");
        }
        assert!(head.contains("gzip"), "{head}");
        assert!(head.ends_with("\r\n\r\n{\"model\":\"m\"}"), "{head}");
    });
}

#[test]
fn the_next_request_uses_the_same_connection() {
    run(async {
        let server = server(|_, mut stream| async move {
            while read_request(&mut stream).await.starts_with("POST") {
                stream.write_all(OK.as_bytes()).await.expect("a client");
            }
        })
        .await;
        let http = Http::new(outside());
        for _ in 0..3 {
            assert_eq!(send(&http, request(server.url())).await.body, b"good");
        }
        assert_eq!(server.connections(), 1);
    });
}

fn gzip_parts(parts: [&str; 2]) -> [Vec<u8>; 2] {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(parts[0].as_bytes()).expect("memory");
    encoder.flush().expect("memory");
    let first = std::mem::take(encoder.get_mut());
    encoder.write_all(parts[1].as_bytes()).expect("memory");
    [first, encoder.finish().expect("memory")]
}

#[test]
fn compressed_pieces_come_as_soon_as_they_are_sent() {
    run(async {
        let first_seen = Arc::new(Notify::new());
        let waits = Arc::clone(&first_seen);
        let server = server(move |_, mut stream| {
            let waits = Arc::clone(&waits);
            async move {
                read_request(&mut stream).await;
                let [first, second] = gzip_parts(["data: one\n\n", "data: two\n\n"]);
                let head = STREAM.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n");
                stream.write_all(head.as_bytes()).await.expect("a client");
                stream.write_all(&chunked(&first, first.len())[..first.len() + 6]).await.expect("a client");
                waits.notified().await;
                stream.write_all(&chunked(&second, 3)).await.expect("a client");
            }
        })
        .await;
        let mut body = Vec::new();
        let on_event = |event| {
            if let HttpEvent::Chunk(chunk) = event {
                body.extend_from_slice(&chunk);
                if body == b"data: one\n\n" {
                    first_seen.notify_one();
                }
            }
        };
        assert_eq!(Http::new(outside()).send(request(server.url()), on_event).await, Ok(()));
        assert_eq!(body, b"data: one\n\ndata: two\n\n");
    });
}

#[test]
fn a_broken_compression_is_said_to_be_one() {
    run(async {
        let server =
            answers(["HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\nnot so at all"]).await;
        let error = get(request(server.url())).await.error();
        assert!(matches!(error, HttpError::Garbled { .. }), "{error:?}");
    });
}

#[test]
fn a_reset_before_the_head_is_tried_again() {
    run(async {
        let server = server(|number, mut stream| async move {
            read_request(&mut stream).await;
            match number {
                0 => stream.set_zero_linger().expect("a socket"),
                1 => {}
                _ => stream.write_all(OK.as_bytes()).await.expect("a client"),
            }
        })
        .await;
        let outcome = get(request(server.url())).await;
        assert_eq!(outcome.body, b"good");
        assert_eq!(outcome.waits(), [1_000, 2_000]);
        assert!(outcome.retries[0].2.contains("broke before the answer"), "{:?}", outcome.retries);
    });
}

#[test]
fn a_server_that_never_answers_is_given_up_after_four_retries() {
    run(async {
        let server = server(|_, mut stream| async move {
            read_request(&mut stream).await;
            stream.set_zero_linger().expect("a socket");
        })
        .await;
        let outcome = get(request(server.url())).await;
        assert_eq!(outcome.waits(), [1_000, 2_000, 4_000, 8_000]);
        let error = outcome.error();
        assert!(matches!(error, HttpError::Lost { .. }), "{error:?}");
        assert_eq!(server.connections(), 5);
    });
}

#[test]
fn a_reset_in_the_middle_keeps_what_came_and_is_not_tried_again() {
    run(async {
        let seen = Arc::new(Notify::new());
        let wait = Arc::clone(&seen);
        let server = server(move |_, mut stream| {
            let wait = Arc::clone(&wait);
            async move {
                read_request(&mut stream).await;
                stream.write_all(format!("{STREAM}4\r\nhalf\r\n").as_bytes()).await.expect("a client");
                wait.notified().await;
                stream.set_zero_linger().expect("a socket");
            }
        })
        .await;
        let mut events = Vec::new();
        let on_event = |event| {
            if matches!(event, HttpEvent::Chunk(_)) {
                seen.notify_one();
            }
            events.push(event);
        };
        let end = Http::new(outside()).send(request(server.url()), on_event).await;
        assert!(matches!(end, Err(HttpError::Broken { .. })), "{end:?}");
        let head = HttpEvent::Head { status: 200, content_type: Some("text/event-stream".to_owned()) };
        assert_eq!(events, [head, HttpEvent::Chunk(Bytes::from_static(b"half"))]);
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn an_answer_that_is_too_short_is_an_error() {
    run(async {
        let server = answers(["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"]).await;
        let outcome = get(request(server.url())).await;
        assert_eq!(outcome.body, b"half");
        let error = outcome.error();
        assert!(matches!(error, HttpError::Broken { .. }), "{error:?}");
    });
}

/// A server that sends `part` and then nothing, and tells when the client went.
async fn hangs(part: &'static str) -> (Server, mpsc::UnboundedReceiver<()>) {
    let (gone, left) = mpsc::unbounded_channel();
    let server = server(move |_, mut stream| {
        let gone = gone.clone();
        async move {
            read_request(&mut stream).await;
            stream.write_all(part.as_bytes()).await.expect("a client");
            until_closed(&mut stream).await;
            gone.send(()).expect("a test");
        }
    })
    .await;
    (server, left)
}

#[test]
fn a_hang_before_the_head_ends_at_the_first_byte_limit() {
    for part in ["", "HTTP/1.1 200 OK\r\nContent-Type: text/ev"] {
        run(async {
            let (server, mut left) = hangs(part).await;
            let mut request = request(server.url());
            request.limits.first_byte_ms = 50;
            let http = Http::new(outside());
            let outcome = send(&http, request).await;
            assert_eq!(outcome.retries, []);
            assert_eq!(outcome.error(), HttpError::FirstByte { host: server.address.to_string(), limit_ms: 50 });
            left.recv().await.expect("the client goes");
        });
    }
}

#[test]
fn a_hang_in_the_middle_ends_at_the_idle_limit() {
    run(async {
        let part = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf";
        let (server, mut left) = hangs(part).await;
        let mut request = request(server.url());
        request.limits.idle_ms = 50;
        let http = Http::new(outside());
        let outcome = send(&http, request).await;
        assert_eq!((outcome.retries.len(), &outcome.body[..]), (0, &b"half"[..]));
        let error = outcome.error();
        assert_eq!(error, HttpError::Idle { host: server.address.to_string(), limit_ms: 50 });
        assert!(error.to_string().contains("50 ms"), "{error}");
        left.recv().await.expect("the client goes");
    });
}

#[test]
fn an_error_whose_body_hangs_is_still_the_error() {
    run(async {
        let (server, _left) = hangs("HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\nhalf").await;
        let mut request = request(server.url());
        request.limits.idle_ms = 50;
        let error = get(request).await.error();
        assert!(matches!(&error, HttpError::Status { status: 400, body, .. } if body == b"half"), "{error:?}");
    });
}

#[test]
fn an_error_status_comes_with_its_body_and_is_not_tried_again() {
    let json = "application/json";
    for (status, content_type, body, step) in [
        (400, Some(json), "{\"error\":{\"message\":\"no\"}}", "settings"),
        (400, Some("text/html"), "<title>Bad</title>", "settings"),
        (400, None, "", "settings"),
        (401, Some(json), "{}", "key"),
        (403, Some(json), "{}", "key"),
        (404, Some(json), "{}", "`url`"),
        (413, Some(json), "{}", "too large"),
        (304, None, "", "`url`"),
    ] {
        run(async {
            let line = content_type.map(|value| format!("Content-Type: {value}\r\n")).unwrap_or_default();
            let length = body.len();
            let server =
                answers([format!("HTTP/1.1 {status} X\r\n{line}Content-Length: {length}\r\n\r\n{body}")]).await;
            let outcome = get(request(server.url())).await;
            assert_eq!((&outcome.retries, &outcome.head), (&vec![], &None));
            let error = outcome.error();
            assert!(error.to_string().contains(step), "{error}");
            assert!(error.to_string().contains(&status.to_string()), "{error}");
            let expected = HttpError::Status {
                host: server.address.to_string(),
                status,
                body: body.as_bytes().to_vec(),
                content_type: content_type.map(str::to_owned),
                retry_after: None,
            };
            assert_eq!((error, server.connections()), (expected, 1));
        });
    }
}

#[test]
fn the_body_of_an_error_is_bounded() {
    run(async {
        let server = server(|_, mut stream| async move {
            read_request(&mut stream).await;
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.expect("a client");
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
        })
        .await;
        let error = get(request(server.url())).await.error();
        assert!(
            matches!(&error, HttpError::Status { body, .. } if body.len() == MAX_ERROR_BODY_BYTES),
            "{:?}",
            error.summary()
        );
    });
}

fn busy(status: u16, header: &str) -> String {
    format!("HTTP/1.1 {status} X\r\n{header}Content-Length: 0\r\n\r\n")
}

#[test]
fn a_busy_server_says_how_long_to_wait() {
    for (header, wait_ms) in [
        ("Retry-After: 1\r\n", 1_000),
        ("Retry-After: 60\r\n", 60_000),
        ("Retry-After: 2.5\r\n", 2_500),
        ("Retry-After: Tue, 15 Nov 1994 08:00:20 GMT\r\n", 20_000),
        ("Retry-After: Tue, 15 Nov 1994 07:00:00 GMT\r\n", 1_000),
        ("Retry-After: 0\r\n", 1_000),
        ("Retry-After: soon\r\n", 1_000),
        ("", 1_000),
    ] {
        run(async {
            let server = answers([&*busy(429, header), OK]).await;
            let outcome = get(request(server.url())).await;
            assert_eq!((&outcome.body[..], outcome.waits()), (&b"good"[..], vec![wait_ms]), "{header}");
            assert!(outcome.retries[0].2.contains("429 Too Many Requests"), "{:?}", outcome.retries);
        });
    }
}

#[test]
fn a_longer_wait_is_shown_and_not_waited_for() {
    for header in ["Retry-After: 3600\r\n", "Retry-After: Tue, 15 Nov 1994 09:00:00 GMT\r\n"] {
        run(async {
            let server = answers([busy(429, header)]).await;
            let outcome = get(request(server.url())).await;
            assert_eq!(outcome.retries, []);
            let error = outcome.error();
            assert!(error.to_string().contains("asks to wait 3600 s"), "{error}");
            assert_eq!((error.retry_after(), server.connections()), (Some(Duration::from_secs(3_600)), 1));
        });
    }
}

#[test]
fn a_failure_that_passes_is_not_seen_at_the_end() {
    run(async {
        let server = answers([&*busy(500, ""), &busy(500, ""), &busy(500, ""), OK]).await;
        let outcome = get(request(server.url())).await;
        assert_eq!((&outcome.body[..], outcome.waits()), (&b"good"[..], vec![1_000, 2_000, 4_000]));
        assert_eq!(outcome.retries.iter().map(|(attempt, ..)| *attempt).collect::<Vec<_>>(), [1, 2, 3]);
        let requests = server.requests();
        assert_eq!(requests.len(), 4);
        assert!(requests.iter().all(|request| *request == requests[0]), "{requests:?}");
    });
}

#[test]
fn each_status_that_may_pass_is_tried_four_times_more() {
    for status in [429, 500, 502, 503, 504, 529] {
        run(async {
            let server = answers([busy(status, "")]).await;
            let outcome = get(request(server.url())).await;
            assert_eq!(outcome.waits(), [1_000, 2_000, 4_000, 8_000]);
            let error = outcome.error();
            assert!(matches!(error, HttpError::Status { status: last, .. } if last == status), "{error:?}");
            assert_eq!(server.connections(), 5);
        });
    }
}

#[test]
fn the_caller_says_how_often_to_try_again() {
    run(async {
        let server = answers([busy(503, "")]).await;
        let outcome = get(HttpRequest { retries: 0, ..request(server.url()) }).await;
        assert_eq!((outcome.retries.len(), outcome.end.is_err(), server.connections()), (0, true, 1));
    });
}

#[test]
fn chance_spreads_the_waits() {
    for (random, wait_ms) in [(0.0, 750), (0.999_999_9, 1_249)] {
        run(async {
            let server = answers([&*busy(500, ""), OK]).await;
            let http = Http::new(outside().with_random(move || random));
            assert_eq!(send(&http, request(server.url())).await.waits(), [wait_ms]);
        });
    }
    for _ in 0..100 {
        let random = Outside::default().random();
        assert!((0.0..1.0).contains(&random), "{random}");
    }
}

fn moved(status: u16, to: &str) -> String {
    format!("HTTP/1.1 {status} X\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
}

#[test]
fn a_redirect_to_the_same_host_takes_everything_along() {
    for status in [301, 302, 307, 308] {
        run(async {
            let server = answers([&*moved(status, "/v2/chat?a=b"), OK]).await;
            assert_eq!(get(request(server.url())).await.body, b"good");
            let [first, second] = &server.requests()[..] else { panic!("{:?}", server.requests()) };
            assert_eq!(first.replace("/v1/chat", "/v2/chat?a=b"), *second);
        });
    }
}

#[test]
fn a_redirect_to_another_host_is_refused_and_gets_no_key() {
    run(async {
        let other = answers([OK]).await;
        for status in [301, 302, 303, 307, 308] {
            for to in [other.url(), format!("http://localhost:{}/", other.address.port()), "https://127.0.0.1/".into()]
            {
                let server = answers([moved(status, &format!("{to}?key={KEY}"))]).await;
                let outcome = get(request(server.url())).await;
                assert_eq!(outcome.retries, []);
                let error = outcome.error();
                assert_eq!(error, HttpError::Redirect { host: server.address.to_string(), to });
            }
        }
        assert_eq!(other.connections(), 0);
    });
}

#[test]
fn a_redirect_that_drops_the_body_or_leads_nowhere_is_an_error() {
    run(async {
        for answer in [moved(303, "/else"), moved(307, "http://[")] {
            let error = get(request(answers([answer]).await.url())).await.error();
            assert!(matches!(error, HttpError::Redirect { .. }), "{error:?}");
        }
        let server = answers([moved(307, "/v1/chat")]).await;
        let error = get(request(server.url())).await.error();
        assert_eq!(error, HttpError::TooManyRedirects { host: server.address.to_string(), limit: 5 });
        assert_eq!(server.connections(), 6);
    });
}

#[test]
fn a_redirect_to_https_on_the_usual_ports_stays_on_the_host() {
    let from = |url: &str| Target::parse(url).expect("a URL");
    let answer = |to: &str| -> Response {
        http::Response::builder().status(308).header("Location", to).body("").expect("a response").into()
    };
    let follows = |url: &str, to: &str| from(url).redirect(&answer(to)).is_ok_and(|next| next.is_some());
    assert!(follows("http://a.test/x", "https://a.test/x"));
    assert!(!follows("https://a.test/x", "http://a.test/x"));
    assert!(!follows("http://a.test:8080/x", "https://a.test/x"));
    assert!(!follows("http://a.test/x", "https://b.test/x"));
    assert!(!follows("https://a.test/x", "https://a.test.b.test/x"));
}

#[test]
fn the_adapters_proxy_is_used_and_gets_its_password() {
    run(async {
        let proxy = answers([OK]).await;
        let own = Some(format!("http://me:proxy-4711@{}", proxy.address));
        let outcome = get(HttpRequest { proxy: own, ..request("http://provider.test/v1?x=y") }).await;
        assert_eq!(outcome.body, b"good");
        let head = proxy.requests().concat();
        assert!(head.starts_with("POST http://provider.test/v1?x=y HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("proxy-authorization: Basic bWU6cHJveHktNDcxMQ==\r\n"), "{head}");
    });
}

#[test]
fn the_environments_proxy_is_used_but_for_this_machine_and_no_proxy() {
    run(async {
        let (proxy, direct) = (answers([OK]).await, answers([OK]).await);
        let address = direct.address;
        let http = Http::new(outside().with_lookup(move |_| Ok(vec![address])));
        let environment = |no_proxy: Option<&str>| Environment {
            all_proxy: Some(format!("http://{}", proxy.address)),
            no_proxy: no_proxy.map(str::to_owned),
            ..Environment::default()
        };
        let port = address.port();
        for (url, no_proxy, is_proxied) in [
            (format!("http://provider.test:{port}/"), None, true),
            (format!("http://provider.test:{port}/"), Some("other.test, provider.test"), false),
            (format!("http://api.provider.test:{port}/"), Some(".provider.test"), false),
            (format!("http://provider.test:{port}/"), Some("other.test"), true),
            (format!("http://provider.test:{port}/"), Some("*"), false),
            (format!("http://127.0.0.1:{port}/"), None, false),
            (format!("http://localhost:{port}/"), None, false),
        ] {
            let before = proxy.connections();
            let request = HttpRequest { environment: environment(no_proxy), ..request(&url) };
            assert_eq!(send(&http, request).await.body, b"good", "{url} {no_proxy:?}");
            assert_eq!(proxy.connections() - before, usize::from(is_proxied), "{url} {no_proxy:?}");
        }
        // An empty proxy of the adapter is none.
        let before = proxy.connections();
        let url = format!("http://provider.test:{port}/");
        let own = HttpRequest { proxy: Some(String::new()), environment: environment(None), ..request(url) };
        assert_eq!(send(&http, own).await.body, b"good");
        assert_eq!(proxy.connections(), before);
    });
}

#[test]
fn a_proxy_that_does_not_connect_is_named_without_its_password() {
    run(async {
        let proxy = answers(["HTTP/1.1 403 Forbidden\r\n\r\n"]).await;
        let own = Some(format!("http://me:{KEY}@{}", proxy.address));
        let outcome = get(HttpRequest { proxy: own, ..request("https://provider.test/") }).await;
        assert_eq!(outcome.waits().len(), 4);
        let error = outcome.error();
        assert!(matches!(error, HttpError::Proxy { .. }), "{error:?}");
        assert!(
            error.to_string().contains(&format!("provider.test through the proxy http://{}", proxy.address)),
            "{error}"
        );
        assert!(proxy.requests()[0].starts_with("CONNECT provider.test:443 HTTP/1.1\r\n"), "{:?}", proxy.requests());

        let bad = HttpRequest { proxy: Some(format!("ftp://me:{KEY}@x")), ..request("https://provider.test/") };
        assert_eq!(get(bad).await.error(), HttpError::BadProxy { name: "the adapter's `proxy`" });
    });
}

#[test]
fn the_environment_is_read_as_other_programs_do() {
    let variables = [
        ("https_proxy", "http://small"),
        ("HTTPS_PROXY", "http://large"),
        ("http_proxy", "http://plain"),
        ("ALL_PROXY", ""),
        ("NO_PROXY", "a,b"),
        ("SSL_CERT_FILE", "/ca.pem"),
        ("SSL_CERT_DIR", "/one:/two"),
    ];
    let environment =
        Environment::read(|name| Some(variables.iter().find(|(known, _)| *known == name)?.1.to_owned().into()));
    let expected = Environment {
        http_proxy: Some("http://plain".to_owned()),
        https_proxy: Some("http://large".to_owned()),
        all_proxy: None,
        no_proxy: Some("a,b".to_owned()),
        certificate_file: Some("/ca.pem".into()),
        certificate_dirs: vec!["/one".into(), "/two".into()],
    };
    assert!(environment == expected);
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

#[test]
fn a_private_authority_is_trusted_when_the_environment_names_it() {
    run(async {
        let authority = authority(&[b"http/1.1"]);
        let server = authority.server(answer_tls).await;
        let outcome = get(HttpRequest { environment: authority.environment(), ..request(https(&server)) }).await;
        assert_eq!((outcome.end, &outcome.body[..]), (Ok(()), &b"good"[..]));
    });
}

#[test]
fn http_2_is_spoken_where_the_server_offers_it() {
    run(async {
        let authority = authority(&[b"h2", b"http/1.1"]);
        let server = authority.server(answer_h2).await;
        let http = Http::new(outside());
        for _ in 0..2 {
            let request = HttpRequest { environment: authority.environment(), ..request(https(&server)) };
            let outcome = send(&http, request).await;
            assert_eq!((outcome.end, &outcome.body[..]), (Ok(()), &b"good"[..]));
        }
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn an_unknown_authority_is_refused_once_and_allow_insecure_takes_it() {
    run(async {
        let (known, unknown) = (authority(&[]), authority(&[b"http/1.1"]));
        let server = unknown.server(answer_tls).await;
        let strict = HttpRequest { environment: known.environment(), ..request(https(&server)) };
        let http = Http::new(outside());
        let outcome = send(&http, strict.clone()).await;
        assert_eq!(outcome.retries, []);
        let error = outcome.error();
        assert!(matches!(error, HttpError::Certificate { .. }), "{error:?}");
        for word in ["SSL_CERT_FILE", "allow_insecure", "authority"] {
            assert!(error.to_string().contains(word), "{error}");
        }
        let lax = HttpRequest { allow_insecure: true, ..strict.clone() };
        assert_eq!(send(&http, lax).await.body, b"good");
        // The lax connection is not lent to the strict adapter.
        assert!(matches!(send(&http, strict).await.error(), HttpError::Certificate { .. }));
    });
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    run(async {
        let authority = authority(&[]);
        let server = authority.server(answer_tls).await;
        let address = server.address;
        let http = Http::new(outside().with_lookup(move |_| Ok(vec![address])));
        let url = format!("https://provider.test:{}/", address.port());
        let error = send(&http, HttpRequest { environment: authority.environment(), ..request(url) }).await.error();
        assert!(error.to_string().contains("it is for another name"), "{error}");
    });
}

#[test]
fn the_certificate_of_an_authority_is_none_for_a_server() {
    run(async {
        let authority = authority_with(&[], IsCa::Ca(BasicConstraints::Unconstrained));
        let server = authority.server(answer_tls).await;
        let strict = HttpRequest { environment: authority.environment(), ..request(https(&server)) };
        let error = get(strict).await.error();
        assert!(error.to_string().contains("of an authority, not of a server"), "{error}");
    });
}

#[test]
fn certificates_that_cannot_be_read_are_named_and_harm_no_plain_http() {
    run(async {
        let environment = trusting(path::Path::new("/nowhere/ca.pem"));
        let server = answers([OK]).await;
        let error = get(HttpRequest { environment: environment.clone(), ..request(https(&server)) }).await.error();
        assert!(matches!(error, HttpError::NoCertificates { .. }), "{error:?}");
        for word in ["SSL_CERT_FILE", "/nowhere/ca.pem"] {
            assert!(error.to_string().contains(word), "{error}");
        }
        assert_eq!(get(HttpRequest { environment, ..request(server.url()) }).await.body, b"good");
    });
}

#[test]
fn tls_with_a_plain_server_says_what_to_check() {
    run(async {
        let authority = authority(&[]);
        let server = server(|_, mut stream| async move {
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.expect("a client");
            until_closed(&mut stream).await;
        })
        .await;
        let outcome = get(HttpRequest { environment: authority.environment(), ..request(https(&server)) }).await;
        assert_eq!(outcome.retries, []);
        let error = outcome.error();
        assert!(error.to_string().contains("http://"), "{error}");
    });
}

#[test]
fn the_connect_limit_covers_tls() {
    run(async {
        let authority = authority(&[]);
        let server = server(|_, mut stream| async move { until_closed(&mut stream).await }).await;
        let mut request = HttpRequest { environment: authority.environment(), ..request(https(&server)) };
        request.limits.connect_ms = 50;
        let outcome = get(request).await;
        assert_eq!(outcome.waits(), [1_000, 2_000, 4_000, 8_000]);
        let host = server.address.to_string();
        assert_eq!(outcome.error(), HttpError::Connect { host, via: None, limit_ms: 50 });
    });
}

#[test]
fn a_name_without_address_and_a_closed_port_are_told_apart() {
    run(async {
        let outcome = get(request("http://provider.test/v1")).await;
        assert_eq!(outcome.waits().len(), 4);
        let error = outcome.error();
        let expected =
            HttpError::Dns { host: "provider.test".to_owned(), reason: "there are no names here".to_owned() };
        assert_eq!(error, expected);

        let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address");
        let outcome = get(request(format!("http://{closed}/"))).await;
        assert_eq!(outcome.waits().len(), 4);
        assert_eq!(outcome.error(), HttpError::Refused { host: closed.to_string() });
    });
}

#[test]
fn a_bad_url_and_a_bad_header_are_named_without_keys() {
    run(async {
        let scheme = "does not begin with http:// or https://";
        for (url, reason) in [
            ("", scheme),
            ("localhost:11434/v1", scheme),
            ("${url}/v1", scheme),
            ("ftp://x", scheme),
            (&format!("htp://me:{KEY}@x/?key={KEY}"), scheme),
            ("http://", "empty host"),
            (&format!("http://me:{KEY}@x:y/?key={KEY}"), "port"),
        ] {
            let error = get(request(url)).await.error();
            assert!(matches!(error, HttpError::BadUrl { .. }), "{error:?}");
            assert!(error.to_string().contains(reason), "{error}");
        }
        for (name, value) in [("X-Key", format!("{KEY}\n")), ("X Key", KEY.to_owned())] {
            let request = HttpRequest { headers: vec![(name.to_owned(), value)], ..request("http://127.0.0.1/") };
            assert_eq!(get(request).await.error(), HttpError::BadHeader { name: name.to_owned() });
        }
    });
}

#[test]
fn a_key_that_the_server_repeats_is_hidden() {
    run(async {
        let body = format!("{{\"error\":\"wrong key {KEY} or {KEY}, see application/json\"}}");
        let length = body.len();
        let server = answers([format!("HTTP/1.1 401 X\r\nContent-Length: {length}\r\n\r\n{body}")]).await;
        for headers in [
            vec![("Authorization".to_owned(), format!("Bearer {KEY}"))],
            vec![("x-api-key".to_owned(), KEY.to_owned())],
            vec![],
        ] {
            let url = if headers.is_empty() { format!("{}?key={KEY}", server.url()) } else { server.url() };
            let error = get(HttpRequest { headers, ..request(url) }).await.error();
            let HttpError::Status { body, .. } = error else { panic!("{error:?}") };
            let expected = "{\"error\":\"wrong key [hidden] or [hidden], see application/json\"}";
            assert_eq!(String::from_utf8(body).expect("text"), expected);
        }
    });
}

#[test]
fn the_debug_text_of_a_request_has_no_key() {
    let request = HttpRequest {
        proxy: Some(format!("http://me:{KEY}@proxy.test:1")),
        environment: Environment { all_proxy: Some(format!("http://{KEY}@x")), ..Environment::default() },
        ..request(format!("https://me:{KEY}@provider.test/v1?key={KEY}#{KEY}"))
    };
    let shown = format!("{request:?}");
    assert!(!shown.contains(KEY), "{shown}");
    for word in ["https://provider.test/v1", "Authorization", "http://proxy.test:1"] {
        assert!(shown.contains(word), "{shown}");
    }
}

#[test]
fn dropping_the_request_ends_the_connection_at_once() {
    for part in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", STREAM] {
        run(async {
            let (sent, mut server_sent) = mpsc::unbounded_channel();
            let (gone, mut left) = mpsc::unbounded_channel();
            let server = server(move |_, mut stream| {
                let (sent, gone) = (sent.clone(), gone.clone());
                async move {
                    read_request(&mut stream).await;
                    stream.write_all(part.as_bytes()).await.expect("a client");
                    sent.send(()).expect("a test");
                    until_closed(&mut stream).await;
                    gone.send(()).expect("a test");
                }
            })
            .await;
            let http = Arc::new(Http::new(outside()));
            let (url, runs) = (server.url(), Arc::clone(&http));
            let task = tokio::spawn(async move { runs.send(request(url), |_| {}).await });
            server_sent.recv().await.expect("the server answers");
            settle().await;
            task.abort();
            left.recv().await.expect("the client goes");
            assert_eq!(server.connections(), 1);
        });
    }
}

#[test]
fn dropping_the_request_ends_a_connection_that_is_being_made() {
    run(async {
        let authority = authority(&[]);
        let (events, mut seen) = mpsc::unbounded_channel();
        let server = server(move |_, mut stream| {
            let events = events.clone();
            async move {
                stream.read_exact(&mut [0]).await.expect("a client");
                events.send("hello").expect("a test");
                until_closed(&mut stream).await;
                events.send("gone").expect("a test");
            }
        })
        .await;
        let http = Arc::new(Http::new(outside()));
        let (runs, request) =
            (Arc::clone(&http), HttpRequest { environment: authority.environment(), ..request(https(&server)) });
        let task = tokio::spawn(async move { runs.send(request, |_| {}).await });
        assert_eq!(seen.recv().await, Some("hello"));
        task.abort();
        assert_eq!(seen.recv().await, Some("gone"));
    });
}

#[test]
fn dropping_the_request_between_two_tries_ends_it() {
    run(async {
        let (asleep, mut sleeps) = mpsc::unbounded_channel();
        let http = Http::new(outside().with_sleep(move |_| {
            asleep.send(()).expect("a test");
            future::pending()
        }));
        let server = answers([busy(500, "")]).await;
        let url = server.url();
        let task = tokio::spawn(async move { http.send(request(url), |_| {}).await });
        sleeps.recv().await.expect("a wait");
        task.abort();
        assert!(task.await.expect_err("no end").is_cancelled());
        assert_eq!(server.connections(), 1);
    });
}

#[test]
fn dropping_the_request_resets_its_http_2_stream() {
    run(async {
        let authority = authority(&[b"h2"]);
        let (gone, mut left) = mpsc::unbounded_channel();
        let gone: &'static mpsc::UnboundedSender<()> = Box::leak(Box::new(gone));
        let server = authority
            .server(move |stream| async move {
                let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    tokio::spawn(async move {
                        let mut body = respond.send_response(http::Response::new(()), false).expect("a client");
                        body.send_data(Bytes::from_static(b"half"), false).expect("a client");
                        future::poll_fn(|context| body.poll_reset(context)).await.expect("a reset");
                        gone.send(()).expect("a test");
                    });
                }
            })
            .await;
        let (seen, mut chunks) = mpsc::unbounded_channel();
        let request = HttpRequest { environment: authority.environment(), ..request(https(&server)) };
        let http = Arc::new(Http::new(outside()));
        let runs = Arc::clone(&http);
        let task = tokio::spawn(async move {
            let on_event = |event| {
                if matches!(event, HttpEvent::Chunk(_)) {
                    seen.send(()).expect("a test");
                }
            };
            runs.send(request, on_event).await
        });
        chunks.recv().await.expect("a chunk");
        task.abort();
        left.recv().await.expect("the reset");
    });
}
