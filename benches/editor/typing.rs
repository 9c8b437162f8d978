//! Typing in another window while an answer streams in: from a key until the screen shows it, beside the same without a
//! stream. For information: what keys wait while Neovim's own functions write the same text every 33 ms.

use std::time::{Duration, Instant};

use rmpv::Value;
use serde_json::json;

use crate::measure::Report;
use crate::support::server::{Reply, Server};
use crate::support::{Editor, Setup};

const DELTAS: usize = 5_000;
const STREAM_MS: u64 = 5_000;
const KEYS: usize = 400;

fn word(n: usize) -> String {
    if n % 15 == 14 { "words.\n\n".to_owned() } else { format!("some{} ", n % 97) }
}

fn events() -> Vec<Vec<u8>> {
    let event =
        |n| format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": word(n)}}]})).into_bytes();
    (0..DELTAS).map(event).collect()
}

/// Types so many keys, each after the one before is on the screen, and returns how long each took, sorted.
fn type_keys(editor: &Editor) -> Vec<Duration> {
    editor.input("<Esc>ggdGi");
    editor.wait_screen("-- INSERT --");
    let mut took: Vec<Duration> = (0..KEYS)
        .map(|n| {
            let (row, col) = editor.cursor();
            let start = Instant::now();
            // Lines stay short, so that each key moves the cursor and nothing else.
            editor.input(if n % 20 == 19 { "<CR>" } else { "x" });
            editor.wait_until("the key on the screen", || editor.cursor() != (row, col));
            start.elapsed()
        })
        .collect();
    took.sort();
    took
}

fn p99(sorted: &[Duration]) -> Duration {
    sorted[sorted.len() * 99 / 100]
}

/// 5,000 deltas over five seconds.
pub fn run(report: &mut Report) {
    let server = Server::start(vec![Reply::Slow { pieces: events(), every_ms: STREAM_MS / DELTAS as u64 }]);
    let editor = Setup::default().size(120, 40).start();
    editor.run_with("beside", vec![Value::from(server.url.as_str())]);
    let text: String = (0..DELTAS).map(word).collect();
    let while_true = |condition: &str| {
        let (condition, mut all) = (format!("return {condition}"), Vec::new());
        while editor.lua_bool(&condition) {
            let took = type_keys(&editor);
            if editor.lua_bool(&condition) {
                all.extend(took);
            }
        }
        all.sort();
        all
    };
    type_keys(&editor);
    let alone = type_keys(&editor);
    editor.lua_with("write(...)", vec![text.as_str().into(), STREAM_MS.into()]);
    let plain = while_true("plain");
    editor.lua("chat:submit()");
    editor.wait_lua("vim.api.nvim_buf_line_count(chat.bufnr) > 20");
    let ours = while_true("chat.is_running");
    report.holds("keys were typed meanwhile", !ours.is_empty() && !plain.is_empty());
    if ours.is_empty() || plain.is_empty() {
        return;
    }
    for (what, took) in [("alone", &alone), ("while text is written", &plain), ("during the stream", &ours)] {
        report.time(&format!("key to screen, median, {what}"), took[took.len() / 2]);
        report.time(&format!("key to screen, p99, {what}"), p99(took));
    }
    report.ratio("key to screen, p99: stream / alone", p99(&ours), p99(&alone), 2.0);
}
