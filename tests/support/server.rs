//! A provider on 127.0.0.1: it keeps the requests that it gets and answers them with what was written down, piece by piece.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;

use super::PATIENCE;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// `GET` or `POST`.
    pub method: String,
    /// With what follows `?`.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, read as JSON.
    pub body: serde_json::Value,
    /// The body as it came.
    pub bytes: Vec<u8>,
}

impl Received {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// What is sent back.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Status, further header lines, and a body in pieces.
    Body { status: u16, headers: &'static str, pieces: Vec<Vec<u8>> },
    /// The pieces of a good answer, then the connection is cut without an end.
    Cut { pieces: Vec<Vec<u8>> },
    /// The pieces of a good answer, one every so many milliseconds.
    Slow { pieces: Vec<Vec<u8>>, every_ms: u64 },
    /// The head and these pieces, then nothing until the client leaves.
    Hang { pieces: Vec<Vec<u8>> },
}

/// A stream of server-sent events with these `data:` lines.
pub fn stream(events: &[serde_json::Value]) -> Reply {
    let mut text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    text.push_str("data: [DONE]\n\n");
    Reply::Body { status: 200, headers: "content-type: text/event-stream\r\n", pieces: vec![text.into_bytes()] }
}

/// An answer of one piece.
pub fn text(status: u16, headers: &'static str, body: &str) -> Reply {
    Reply::Body { status, headers, pieces: vec![body.as_bytes().to_vec()] }
}

/// Makes an answer from a request and how many there were before it.
type Answering = Arc<dyn Fn(&Received, usize) -> Reply + Send + Sync>;

#[derive(Default)]
struct State {
    replies: VecDeque<Reply>,
    /// Answers when no reply is left.
    answering: Option<Answering>,
    received: Vec<Received>,
    /// Connections that the client has ended while they hung.
    left: usize,
}

type Shared = (Mutex<State>, Condvar);

/// The server. It ends with the test's process.
pub struct Server {
    /// `http://127.0.0.1:port`
    pub url: String,
    state: Arc<Shared>,
}

impl Server {
    /// A server that gives these answers, one for each request.
    pub fn start(replies: Vec<Reply>) -> Self {
        Self::start_with(replies, "http", |connection, shared| {
            let _ = serve(&connection, shared);
            let _ = connection.shutdown(Shutdown::Both);
        })
    }

    /// A server whose answers depend on the requests.
    pub fn answering(answer: impl Fn(&Received, usize) -> Reply + Send + Sync + 'static) -> Self {
        let server = Self::start(Vec::new());
        server.state.0.lock().unwrap().answering = Some(Arc::new(answer));
        server
    }

    /// The same over TLS, for the host `localhost`; second: the certificate of the authority to trust, as PEM.
    pub fn start_tls(replies: Vec<Reply>) -> (Self, String) {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let mut leaf = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        leaf.is_ca = IsCa::ExplicitNoCa;
        let key = KeyPair::generate().unwrap();
        let certificate = leaf.signed_by(&key, &authority).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
            .unwrap();
        let config = Arc::new(config);
        let mut server = Self::start_with(replies, "https", move |connection, shared| {
            let tls = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::StreamOwned::new(tls, connection);
            let _ = serve(&mut stream, shared);
            stream.conn.send_close_notify();
            let _ = stream.flush();
        });
        server.url = server.url.replace("127.0.0.1", "localhost");
        (server, authority.pem())
    }

    fn start_with(
        replies: Vec<Reply>,
        scheme: &str,
        serve: impl Fn(TcpStream, &Shared) + Clone + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("{scheme}://{}", listener.local_addr().expect("an address"));
        let state: Arc<Shared> =
            Arc::new((Mutex::new(State { replies: replies.into(), ..State::default() }), Condvar::new()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            while let Ok((connection, _)) = listener.accept() {
                let (shared, serve) = (Arc::clone(&shared), serve.clone());
                std::thread::spawn(move || serve(connection, &shared));
            }
        });
        Self { url, state }
    }

    /// The requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.state.0.lock().unwrap().received.clone()
    }

    /// Waits until the client has ended a connection that hangs.
    pub fn wait_left(&self) {
        let (state, changed) = &*self.state;
        let waited = changed.wait_timeout_while(state.lock().unwrap(), PATIENCE, |state| state.left == 0).unwrap();
        assert!(!waited.1.timed_out(), "the client holds its connection");
    }
}

fn serve(mut connection: impl Read + Write, shared: &Shared) -> io::Result<()> {
    let mut reader = BufReader::new(&mut connection);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let received =
        Received { method, path, headers, body: serde_json::from_slice(&body).unwrap_or_default(), bytes: body };
    let (reply, answering, before) = {
        let mut state = shared.0.lock().unwrap();
        state.received.push(received.clone());
        (state.replies.pop_front(), state.answering.clone(), state.received.len() - 1)
    };
    let reply = reply.or_else(|| answering.map(|answer| answer(&received, before)));
    let sse = "content-type: text/event-stream\r\n";
    match reply {
        Some(Reply::Body { status, headers, pieces }) => {
            send_head(&mut connection, status, headers)?;
            send(&mut connection, &pieces)?;
            connection.write_all(b"0\r\n\r\n")?;
        }
        Some(Reply::Cut { pieces }) => {
            send_head(&mut connection, 200, sse)?;
            send(&mut connection, &pieces)?;
        }
        Some(Reply::Slow { pieces, every_ms }) => {
            send_head(&mut connection, 200, sse)?;
            let mut due = Instant::now();
            for piece in pieces {
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                due += Duration::from_millis(every_ms);
                send(&mut connection, &[piece])?;
            }
            connection.write_all(b"0\r\n\r\n")?;
        }
        Some(Reply::Hang { pieces }) => {
            send_head(&mut connection, 200, sse)?;
            send(&mut connection, &pieces)?;
            let _ = connection.read(&mut [0]);
            shared.0.lock().unwrap().left += 1;
            shared.1.notify_all();
        }
        None => connection.write_all(b"HTTP/1.1 500 No more answers\r\ncontent-length: 0\r\n\r\n")?,
    }
    connection.flush()
}

fn send_head(connection: &mut impl Write, status: u16, headers: &str) -> io::Result<()> {
    write!(connection, "HTTP/1.1 {status} Status\r\n{headers}transfer-encoding: chunked\r\nconnection: close\r\n\r\n")
}

fn send(connection: &mut impl Write, pieces: &[Vec<u8>]) -> io::Result<()> {
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        write!(connection, "{:x}\r\n", piece.len())?;
        connection.write_all(piece)?;
        connection.write_all(b"\r\n")?;
        connection.flush()?;
    }
    Ok(())
}
