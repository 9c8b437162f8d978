//! The msgpack-RPC connection to an embedded Neovim: requests with a time limit, and a thread that reads answers and
//! redraws.

use std::collections::HashMap;
use std::io::{BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rmpv::Value;

use super::Screen;

#[derive(Default)]
struct State {
    answers: HashMap<u64, Result<Value, String>>,
    screen: Screen,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

pub struct Connection {
    writer: Mutex<(ChildStdin, u64)>,
    shared: Arc<Shared>,
}

impl Connection {
    pub fn new(stdin: ChildStdin, stdout: ChildStdout) -> Self {
        let shared = Arc::new(Shared::default());
        let reader = Arc::clone(&shared);
        // Ends by itself when Neovim closes its side.
        std::thread::spawn(move || read(BufReader::new(stdout), &reader));
        Self { writer: Mutex::new((stdin, 0)), shared }
    }

    pub fn request(&self, method: &str, arguments: Vec<Value>, patience: Duration) -> Result<Value, String> {
        let id = {
            let (stdin, last_id) = &mut *self.writer.lock().unwrap();
            *last_id += 1;
            let message = Value::Array(vec![0.into(), (*last_id).into(), method.into(), Value::Array(arguments)]);
            let mut bytes = Vec::new();
            rmpv::encode::write_value(&mut bytes, &message).expect("memory takes all");
            stdin.write_all(&bytes).and_then(|()| stdin.flush()).map_err(|error| format!("Neovim is gone: {error}"))?;
            *last_id
        };
        let deadline = Instant::now() + patience;
        let mut state = self.shared.state.lock().unwrap();
        loop {
            if let Some(answer) = state.answers.remove(&id) {
                return answer;
            }
            if state.closed {
                return Err("Neovim is gone".into());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(format!("no answer after {} s (does it wait for a key?)", patience.as_secs()));
            }
            state = self.shared.changed.wait_timeout(state, left).unwrap().0;
        }
    }

    pub fn screen<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(&self.shared.state.lock().unwrap().screen)
    }

    /// Waits until the screen changes, at most for the time given.
    pub fn wait_for_flush(&self, patience: Duration) {
        let state = self.shared.state.lock().unwrap();
        let seen = state.screen.flushes;
        let _ = self.shared.changed.wait_timeout_while(state, patience, |state| state.screen.flushes == seen).unwrap();
    }
}

fn read(mut stream: BufReader<ChildStdout>, shared: &Shared) {
    while let Ok(message) = rmpv::decode::read_value(&mut stream) {
        let Value::Array(message) = message else { continue };
        let mut state = shared.state.lock().unwrap();
        match message.as_slice() {
            [kind, id, error, result] if kind.as_u64() == Some(1) => {
                let answer = if error.is_nil() { Ok(result.clone()) } else { Err(error_text(error)) };
                state.answers.insert(id.as_u64().unwrap_or_default(), answer);
            }
            [kind, name, Value::Array(batches)] if kind.as_u64() == Some(2) && name.as_str() == Some("redraw") => {
                batches.iter().for_each(|batch| state.screen.apply(batch));
            }
            _ => {}
        }
        shared.changed.notify_all();
    }
    shared.state.lock().unwrap().closed = true;
    shared.changed.notify_all();
}

/// Neovim's errors are [type, text].
fn error_text(error: &Value) -> String {
    match error.as_array().map(Vec::as_slice) {
        Some([_, Value::String(text)]) => String::from_utf8_lossy(text.as_bytes()).into_owned(),
        _ => error.to_string(),
    }
}
