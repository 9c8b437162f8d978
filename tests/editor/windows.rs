//! Windows, tab pages and sessions: where a chat shows, what the user's own windows keep, and that nothing done to windows
//! and buffers breaks a chat or loses what is the user's.

mod closing;
mod elsewhere;
mod layouts;
mod sessions;

use crate::chat::PRELUDE;
use crate::support::{Editor, Setup};

/// `layout(name, opts)` sets lathe up with a layout; `answer`s come from `turns`. `widths()` are those of the windows.
const WORLD: &str = r#"
told = {}
vim.notify = function(text) told[#told + 1] = text end
vim.o.swapfile = false
function hanging(name, extra)
  return tool(name, { function(_, _, o) finish = o.output_cb end }, extra)
end
function layout(name, turns, window)
  require("lathe").setup({
    adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = turns or { { text = "answered" } } }) } },
    interactions = { chat = { adapter = "fake", tools = {
      slow = hanging("slow"), asks = hanging("asks", { opts = { require_approval_before = true } }),
      opts = { default_tools = { "slow", "asks" } },
    } } },
    display = { chat = { window = vim.tbl_extend("force", { layout = name }, window or {}) } },
  })
end
function widths()
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):map(vim.api.nvim_win_get_width):join(" ")
end
function names()
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):map(function(win)
    return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)), ":t")
  end):join(" ")
end
"#;

fn editor_of(width: u16, height: u16) -> Editor {
    let editor = Setup::default().size(width, height).start();
    editor.lua(PRELUDE);
    editor.lua(WORLD);
    editor
}

fn editor() -> Editor {
    editor_of(80, 24)
}

/// The names of the events of chats so far, without the prefix.
fn chat_events(editor: &Editor) -> String {
    editor.lua_text("return vim.iter(events):map(function(e) return e.name:match('^LatheChat(%a+)') end):join(' ')")
}
