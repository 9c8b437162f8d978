//! The list of tools for a request, with hundreds of native tools.

use std::time::Duration;

use crate::measure::{Report, medians};
use crate::support::{Editor, Gaps};

/// `go(servers)` offers so many servers of 25 tools with one message; `took` is the time in ns until the request is on its
/// way and answered.
const PRELUDE: &str = r#"
function go(servers)
  local native, groups = require("lathe.native"), {}
  for s = 1, servers do
    groups[s] = "@{server" .. s .. "}"
    for t = 1, 25 do
      native.add_tool("server" .. s, {
        name = "tool" .. t,
        description = t % 5 == 0 and function() return "tool " .. t end or ("tool " .. t),
        inputSchema = { type = "object", properties = {
          path = { type = "string", description = "a path of " .. s .. " and " .. t },
          lines = { type = "array", items = { type = "integer", minimum = 1 } },
        }, required = { "path" } },
        handler = function() return "ran" end,
      })
    end
  end
  require("lathe").setup({
    adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = { { text = "done" } } }) } },
    interactions = { chat = { adapter = "fake" } },
  })
  local chat = require("lathe").chat({ prompt = table.concat(groups, " ") })
  vim.cmd.redraw()
  local start = vim.uv.hrtime()
  vim.api.nvim_create_autocmd("User", { pattern = "LatheChatDone", once = true, callback = function()
    took = vim.uv.hrtime() - start
  end })
  chat:submit()
end
"#;

fn measure(servers: u32) -> (Duration, Gaps) {
    let editor = Editor::start();
    editor.lua(PRELUDE);
    editor.watch_loop();
    editor.lua(&format!("go({servers})"));
    editor.wait_lua("took");
    let ns = editor.lua_int("return took");
    (Duration::from_nanos(ns.unsigned_abs()), editor.gaps())
}

/// 500 tools over 20 servers hold the editor no longer than anything else, and cost what each of few costs.
pub fn run(report: &mut Report) {
    let mut gaps = None;
    let [few, many] = medians(
        5,
        [&mut || measure(4).0, &mut || {
            let (time, seen) = measure(20);
            gaps = Some(seen);
            time
        }],
    );
    report.linear("a native tool in a list", &[(100, few), (500, many)]);
    if let Some(gaps) = gaps {
        report.gaps("a list of 500 native tools", &gaps);
    }
}
