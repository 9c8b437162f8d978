//! What an answer costs that streams in from a provider, with the chat on the screen.

use std::time::Duration;

use rmpv::Value;
use serde_json::json;

use crate::measure::{Report, medians};
use crate::support::server::{Reply, Server};
use crate::support::{Editor, Gaps};

/// `ask()` sends a message to the server; `took` is the time until the turn has ended and is on the screen. `raw()` reads
/// the same answer from the server as bytes and shows the text at once. `write(text, ms)` writes a text evenly for so
/// long, every 33 ms. `cpu()` is the time the editor has used, in ns.
const PRELUDE: &str = r#"
local url, final = ...
require("lathe").setup({
  adapters = { http = { server = require("lathe.adapters").extend("openai_compatible", { env = { url = url } }) } },
  interactions = { chat = { adapter = "server", tools = { opts = { auto_submit_errors = false } } } },
})
local port = tonumber(url:match(":(%d+)$"))
function cpu()
  local usage = vim.uv.getrusage()
  return (usage.utime.sec + usage.stime.sec) * 1e9 + (usage.utime.usec + usage.stime.usec) * 1e3
end
function ask()
  took = nil
  local chat = require("lathe").chat({ prompt = "go" })
  vim.cmd.redraw()
  local start, used = vim.uv.hrtime(), cpu()
  vim.api.nvim_create_autocmd("User", { pattern = "LatheChatDone", once = true, callback = function()
    vim.schedule(function()
      vim.cmd.redraw()
      took, took_cpu = vim.uv.hrtime() - start, cpu() - used
    end)
  end })
  chat:submit()
end
local function buffer()
  vim.cmd("vnew")
  vim.treesitter.start(0, "markdown")
  vim.cmd.redraw()
  return vim.api.nvim_get_current_buf()
end
function raw()
  took = nil
  local bufnr = buffer()
  local start, tcp, bytes = vim.uv.hrtime(), vim.uv.new_tcp(), {}
  tcp:connect("127.0.0.1", port, function()
    tcp:write("POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}")
    tcp:read_start(function(_, data)
      if data then
        bytes[#bytes + 1] = data
        return
      end
      tcp:close()
      vim.schedule(function()
        vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(final, "\n"))
        vim.cmd.redraw()
        took = vim.uv.hrtime() - start
      end)
    end)
  end)
end
function write(ms)
  took = nil
  local bufnr = buffer()
  local used, steps, step = cpu(), math.floor(ms / 33), 0
  local timer = vim.uv.new_timer()
  timer:start(0, 33, vim.schedule_wrap(function()
    if took then return end
    step = step + 1
    local from, to = math.floor((step - 1) * #final / steps) + 1, math.floor(step * #final / steps)
    local lines = vim.split(final:sub(from, to), "\n")
    local last = vim.api.nvim_buf_line_count(bufnr) - 1
    local col = #vim.api.nvim_buf_get_lines(bufnr, last, last + 1, false)[1]
    vim.api.nvim_buf_set_text(bufnr, last, col, last, col, lines)
    vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(bufnr), 0 })
    if step == steps then
      timer:close()
      vim.cmd.redraw()
      took, took_cpu = 1, cpu() - used
    end
  end))
end
"#;

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
    editor.lua_with(PRELUDE, vec![Value::from(server.url.as_str()), Value::from(text)]);
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
