//! What an answer costs that streams in from a provider, with the chat on the screen.

use std::time::Duration;

use rmpv::Value;
use serde_json::json;

use crate::measure::{Report, medians};
use crate::support::server::{Reply, Server};
use crate::support::{Editor, Gaps};

const DELTAS: usize = 5_000;
const STREAM_MS: u64 = 5_000;

/// The pieces of a text of short words and lines, and the whole.
fn words() -> (Vec<String>, String) {
    let word = |n: usize| if n % 15 == 14 { "words.\n\n".to_owned() } else { format!("some{} ", n % 97) };
    let words: Vec<_> = (0..DELTAS).map(word).collect();
    let text = words.concat();
    (words, text)
}

fn event(delta: &serde_json::Value) -> Vec<u8> {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]})).into_bytes()
}

fn text_events(words: &[String]) -> Vec<Vec<u8>> {
    words.iter().map(|word| event(&json!({"content": word}))).collect()
}

fn whole(pieces: Vec<Vec<u8>>) -> Reply {
    Reply::Body { status: 200, headers: "content-type: text/event-stream\r\n", pieces: vec![pieces.concat()] }
}

/// Runs a function of the prelude against an answer: time, CPU time and gaps.
fn measure(reply: Reply, text: &str, code: &str) -> (Duration, Duration, Gaps) {
    let server = Server::start(vec![reply]);
    let editor = Editor::start();
    editor.run_with("streaming", vec![Value::from(server.url.as_str()), Value::from(text)]);
    editor.watch_loop();
    editor.lua(code);
    editor.wait_lua("took");
    let ns = |name: &str| Duration::from_nanos(editor.lua_int(&format!("return {name} or 0")).unsigned_abs());
    (ns("took"), ns("took_cpu"), editor.gaps())
}

/// 5,000 deltas at once, and over five seconds.
pub fn text(report: &mut Report) {
    let (words, text) = words();
    let events = text_events(&words);
    let mut gaps = None;
    let [ours, bare] = medians(
        5,
        [
            &mut || {
                let (took, _, seen) = measure(whole(events.clone()), &text, "ask()");
                gaps = Some(seen);
                took
            },
            &mut || measure(whole(events.clone()), &text, "raw()").0,
        ],
    );
    report.ratio("5,000 deltas / raw bytes and one redraw", ours, bare, 4.0);
    if let Some(gaps) = gaps {
        report.gaps("5,000 deltas at once", &gaps);
    }
    let slow = || Reply::Slow { pieces: events.clone(), every_ms: STREAM_MS / DELTAS as u64 };
    let [ours, bare] = medians(
        1,
        [&mut || measure(slow(), &text, "ask()").1, &mut || {
            measure(whole(Vec::new()), &text, &format!("write({STREAM_MS})")).1
        }],
    );
    report.ratio("CPU of the same over 5 s / written every 33 ms", ours, bare, 1.5);
}

/// Long arguments in small pieces.
pub fn arguments(report: &mut Report) {
    let reply = |bytes: usize| {
        let mut pieces = vec![event(&json!({"tool_calls": [
            {"index": 0, "id": "c", "function": {"name": "none", "arguments": "{\"text\":\""}}
        ]}))];
        let piece = event(&json!({"tool_calls": [{"index": 0, "function": {"arguments": "abcdefghijklmnop"}}]}));
        pieces.extend(std::iter::repeat_n(piece, bytes / 16));
        pieces.push(event(&json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"}"}}]})));
        pieces.push(b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n".to_vec());
        whole(pieces)
    };
    const BYTES: [u32; 3] = [64_000, 256_000, 1_000_000];
    let time = |bytes: u32| measure(reply(bytes as usize), "", "ask()").0;
    let [small, middle, large] = medians(5, [&mut || time(BYTES[0]), &mut || time(BYTES[1]), &mut || time(BYTES[2])]);
    report.linear("a byte of arguments", &[(BYTES[0], small), (BYTES[1], middle), (BYTES[2], large)]);
}
