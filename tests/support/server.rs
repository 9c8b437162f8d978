//! A provider on 127.0.0.1: it keeps the requests that it gets and answers them with what was written down, piece by piece.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::PATIENCE;

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, read as JSON.
    pub body: serde_json::Value,
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

#[derive(Default)]
struct State {
    replies: VecDeque<Reply>,
    received: Vec<Received>,
    /// Connections that the client has ended while they hung.
    left: usize,
}

/// The server. Its threads end with the connections, and it takes no more when it is dropped.
pub struct Server {
    /// `http://127.0.0.1:port`
    pub url: String,
    state: Arc<(Mutex<State>, Condvar)>,
    listener: TcpListener,
}

impl Server {
    /// A server that gives these answers, one for each request.
    pub fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new((Mutex::new(State { replies: replies.into(), ..State::default() }), Condvar::new()));
        let (accepting, shared) = (listener.try_clone().expect("a handle"), Arc::clone(&state));
        std::thread::spawn(move || {
            while let Ok((connection, _)) = accepting.accept() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || {
                    let _ = serve(&connection, &shared);
                    let _ = connection.shutdown(Shutdown::Both);
                });
            }
        });
        Self { url, state, listener }
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

impl Drop for Server {
    fn drop(&mut self) {
        // The accepting thread sees the end of the program; until then its port answers nobody new.
        let _ = self.listener.set_nonblocking(true);
    }
}

fn serve(connection: &TcpStream, shared: &(Mutex<State>, Condvar)) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection);
    let mut writer = connection;
    let mut line = String::new();
    reader.read_line(&mut line)?;
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
    let received = Received { headers, body: serde_json::from_slice(&body).unwrap_or_default() };
    let reply = {
        let mut state = shared.0.lock().unwrap();
        state.received.push(received);
        state.replies.pop_front()
    };
    let head = |status: u16, more: &str| {
        format!("HTTP/1.1 {status} Status\r\n{more}transfer-encoding: chunked\r\nconnection: close\r\n\r\n")
    };
    let sse = "content-type: text/event-stream\r\n";
    let mut send = |pieces: &[Vec<u8>]| -> std::io::Result<()> {
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            write!(writer, "{:x}\r\n", piece.len())?;
            writer.write_all(piece)?;
            writer.write_all(b"\r\n")?;
            writer.flush()?;
        }
        Ok(())
    };
    match reply {
        Some(Reply::Body { status, headers, pieces }) => {
            (&mut &*connection).write_all(head(status, headers).as_bytes())?;
            send(&pieces)?;
            (&mut &*connection).write_all(b"0\r\n\r\n")
        }
        Some(Reply::Cut { pieces }) => {
            (&mut &*connection).write_all(head(200, sse).as_bytes())?;
            send(&pieces)
        }
        Some(Reply::Slow { pieces, every_ms }) => {
            (&mut &*connection).write_all(head(200, sse).as_bytes())?;
            let mut due = Instant::now();
            for piece in pieces {
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                due += Duration::from_millis(every_ms);
                send(&[piece])?;
            }
            (&mut &*connection).write_all(b"0\r\n\r\n")
        }
        Some(Reply::Hang { pieces }) => {
            (&mut &*connection).write_all(head(200, sse).as_bytes())?;
            send(&pieces)?;
            let _ = reader.read(&mut [0]);
            shared.0.lock().unwrap().left += 1;
            shared.1.notify_all();
            Ok(())
        }
        None => (&mut &*connection).write_all(b"HTTP/1.1 500 No more answers\r\ncontent-length: 0\r\n\r\n"),
    }
}
