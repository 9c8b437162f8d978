//! Typing in another window while an answer streams in: from a key until the screen shows it, beside the same without a
//! stream. For information: what keys wait while Neovim's own functions write the same text every 33 ms.

use std::time::{Duration, Instant};

use rmpv::Value;
use serde_json::json;

use crate::measure::Report;
use crate::support::server::{Reply, Server};
use crate::support::{Editor, Setup};

/// A chat beside a window that is typed in.
const PRELUDE: &str = r#"
require("lathe").setup({
  adapters = { http = { server = require("lathe.adapters").extend("openai_compatible", { env = { url = ... } }) } },
  interactions = { chat = { adapter = "server" } },
})
chat = require("lathe").chat({ prompt = "go" })
vim.cmd("wincmd p | enew")
-- Writes a text evenly, every 33 ms, into a window that looks like the chat's.
function write(text, ms)
  plain = true
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.treesitter.start(bufnr, "markdown")
  local win = vim.fn.bufwinid(chat.bufnr)
  vim.api.nvim_win_set_buf(win, bufnr)
  local steps, step, timer = math.floor(ms / 33), 0, vim.uv.new_timer()
  timer:start(0, 33, vim.schedule_wrap(function()
    if not plain then return end
    step = step + 1
    local from, to = math.floor((step - 1) * #text / steps) + 1, math.floor(step * #text / steps)
    local last = vim.api.nvim_buf_line_count(bufnr) - 1
    local col = #vim.api.nvim_buf_get_lines(bufnr, last, last + 1, false)[1]
    vim.api.nvim_buf_set_text(bufnr, last, col, last, col, vim.split(text:sub(from, to), "\n"))
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(bufnr), 0 })
    if step == steps then
      timer:close()
      plain = false
      vim.api.nvim_win_set_buf(win, chat.bufnr)
    end
  end))
end
"#;

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
    editor.lua_with(PRELUDE, vec![Value::from(server.url.as_str())]);
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
