//! Native servers in a real Neovim, by the ids of their rules and examples. What is pure is tested in `src/native/`.

mod api;
mod calls;
mod gate;
mod listing;
mod media;
mod resources;
mod scale;
mod seed;
mod server;

use crate::chat;
use crate::support::{Editor, Setup};

/// `handlers` are registered as tools of a server, `serve(server, tool, handler, extra)` registers one; `use(turns, names,
/// native)` opens a chat with a scripted provider, `call(server, tool, args)` calls one and keeps `response` and `err`.
const PRELUDE: &str = r###"
native = require("lathe.native")
told = {}
vim.notify = function(text) told[#told + 1] = text end
function serve(server, name, handler, extra)
  return native.add_tool(server, vim.tbl_extend("force", { name = name, handler = handler }, extra or {}))
end
function greet()
  return serve("example", "greet", function(req, res)
    greeted = (greeted or 0) + 1
    return res:text("Hello " .. req.params.name):send()
  end, { description = "Greet a user", inputSchema = {
    type = "object", properties = { name = { type = "string", description = "Name to greet" } }, required = { "name" },
  } })
end
function use(turns, names, options)
  require("lathe").setup({
    adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = turns }) } },
    interactions = { chat = { adapter = "fake" } },
    native = vim.tbl_extend("force", { auto_approve = true }, options or {}),
  })
  chat = require("lathe").chat({ tools = names })
end
function approve(options)
  require("lathe").setup({ native = vim.tbl_extend("force", { auto_approve = true }, options or {}) })
end
function call(server, tool, args, opts)
  called, response, err = 0, nil, nil
  return native.call_tool(server, tool, args or {}, vim.tbl_extend("force", { callback = function(r, e)
    called, response, err = called + 1, r, e
  end }, opts or {}))
end
function texts()
  local list = {}
  for _, item in ipairs(response and response.result.content or {}) do list[#list + 1] = item.text or item.type end
  return table.concat(list, "|")
end
function started()
  local running = require("lathe.chat").running()
  for _, one in pairs(running and running.calls or {}) do
    if one.started_ns then return true end
  end
end
function log()
  local file = io.open(require("lathe.log").path)
  return file and file:read("*a") or ""
end
"###;

fn editor() -> Editor {
    prepared(Setup::default().start())
}

fn debugging() -> Editor {
    prepared(Setup::default().env("LATHE_LOG", "debug").start())
}

fn prepared(editor: Editor) -> Editor {
    editor.lua(chat::PRELUDE);
    editor.lua(PRELUDE);
    editor
}

impl Editor {
    /// Waits for the answer of `call`.
    #[track_caller]
    fn wait_called(&self) {
        self.wait_lua("called > 0");
    }

    /// What the user was told.
    #[track_caller]
    fn told(&self) -> String {
        self.lua_text("return table.concat(told, '\\n---\\n')")
    }
}
