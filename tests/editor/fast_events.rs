//! Every public function in a fast event, where Neovim's API is out of reach: it works, now or a moment later, or refuses in
//! one line and has changed nothing.

use crate::chat::{self, PRELUDE};
use crate::support::{Editor, Setup};

/// How each function is called. One that is missing here fails the test: whoever adds a function says what it does.
const CALLS: &str = r#"
calls = {
  lathe = {
    setup = function(f) f({ display = { icons = "ascii" } }) end,
    chat = function(f) f({ prompt = "x" }) end,
    toggle = function(f) f() end,
    last_chat = function(f) assert(f() == chat) end,
    get_chat = function(f) assert(f(chat.bufnr) == chat) f() end,
    add = function(f) f({ bufnr = other }) f() end,
    statusline = function(f)
      assert(f(chat.bufnr):find("tokens") == nil and f(chat.bufnr) ~= "" and f() ~= "" and f(12345) == "")
    end,
    approvals = function(f) f() end,
    resume = function(f) f("no-such-chat") end,
    why = function(f) f("bash", "ls", function(lines) why_lines = lines end) end,
    register_tool = function(f) f("registered", tool("registered", { function() return { status = "success" } end })) end,
    run_tool = function(f) f("t", {}, {}, function(result) ran = result end) end,
    add_server = function(f) f("s1", {}) end,
    add_tool = function(f) f("s1", { name = "a", handler = function() end }) end,
    add_resource = function(f) f("s1", { name = "a", uri = "x://1", handler = function() end }) end,
    add_resource_template = function(f) f("s1", { name = "a", uriTemplate = "x://{a}", handler = function() end }) end,
    add_prompt = function(f) f("s1", { name = "a", handler = function() end }) end,
  },
  chat = {
    is_visible = function(f) assert(f(chat) == true) end,
    open = function(f) f(chat) end,
    hide = function(f) f(chat) end,
    add_message = function(f) f(chat, { role = "user", content = "given" }) end,
    add_buf_message = function(f)
      f(chat, { role = "user", content = "typed" })
      f(chat, { role = "llm", content = "shown" })
    end,
    add_context = function(f) f(chat, { role = "user", content = "context" }, "source", "an id") end,
    show_context = function(f) f(chat, "shown") end,
    add_tool_output = function(f) f(chat, chat.tool_view or {}, "too late") end,
    find_adapter = function(f) f(chat) end,
    heading = function(f) assert(f(chat, "user") == "Me") end,
    notice = function(f) f(chat, "a notice") end,
    tell_if_hidden = function(f) f(chat, "hidden") end,
    submit = function(f) f(chat) end,
    retry = function(f) f(chat) end,
    edit_last = function(f) f(chat) end,
    set_auto = function(f) f(chat, true) end,
    stop = function(f) f(chat) end,
    skip = function(f) f(chat) end,
    clear = function(f) f(chat) end,
    close = function(f) f(chat) end,
    get_messages = function(f) assert(f(chat) == chat.messages) end,
    has_tools = function(f) f(chat) end,
    set_title = function(f) f(chat, "title") end,
    was_cleared = false, -- for the engine
  },
  ui = {
    open = function(f) f(chat.ui) end,
    hide = function(f) f(chat.ui) end,
    is_visible = function(f) f(chat.ui) end,
    is_visible_non_curtab = function(f) f(chat.ui) end,
    is_active = function(f) f(chat.ui) end,
    follow = function(f) f(chat.ui) end,
    last = function(f) f(chat.ui) end,
    render = function(f) f(chat.ui) end,
    render_headers = function(f) f(chat.ui) end,
    lock_buf = function(f) f(chat.ui) end,
    unlock_buf = function(f) f(chat.ui) end,
  },
}
calls.registry = {
  add = function(f) f(chat.tool_registry, "u") end,
  remove = function(f) f(chat.tool_registry, "t") end,
}
function functions(where)
  if where == "registry" then
    local methods = getmetatable(chat.tool_registry).__index
    return { add = methods.add, remove = methods.remove }
  end
  if where == "lathe" then return require("lathe") end
  return getmetatable(where == "chat" and chat or chat.ui)
end
-- Calls one in a fast event; `outcome` is "ok" or what it threw.
function in_fast_event(where, name)
  outcome = nil
  local timer = vim.uv.new_timer()
  local fn, how = functions(where)[name], calls[where][name]
  timer:start(0, 0, function()
    timer:close()
    assert(vim.in_fast_event())
    local ok, err = pcall(how, fn)
    outcome = ok and "ok" or tostring(err)
  end)
end
"#;

const OPEN: &str = r#"
told = {}
vim.notify = function(text) told[#told + 1] = text end
open({ { text = "one" }, { text = "two" } }, { t = tool("t", { function() return { status = "success", data = "x" } end }), u = tool("u", { function() end }) },
  { tools = { "t" } })
other = vim.api.nvim_create_buf(true, false)
vim.api.nvim_buf_set_name(other, "other.txt")
"#;

fn editor() -> Editor {
    let editor = chat::editor();
    editor.lua(CALLS);
    editor.lua(OPEN);
    editor
}

fn names(editor: &Editor, where_: &str) -> Vec<String> {
    let list = editor.lua(&format!(
        "local names = {{}} for name, value in pairs(functions('{where_}')) do
           if type(value) == 'function' and not name:find('^__') then names[#names + 1] = name end end
         table.sort(names) return names"
    ));
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// In a fast event, one function in an editor of its own.
#[test]
fn every_public_function_works_or_refuses_in_one_line() {
    let list = editor();
    let mut refused = Vec::new();
    for area in ["lathe", "chat", "ui", "registry"] {
        for name in names(&list, area) {
            assert!(
                list.lua_bool(&format!("return calls.{area}['{name}'] ~= nil")),
                "{area}.{name} is not in the list"
            );
            if list.lua_bool(&format!("return calls.{area}['{name}'] == false")) {
                continue;
            }
            let editor = editor();
            editor.lua(&format!("in_fast_event('{area}', '{name}')"));
            editor.wait_lua("outcome");
            let outcome = editor.lua_text("return outcome");
            if outcome != "ok" {
                assert!(
                    outcome.starts_with("lathe: ") && outcome.contains("fast event") && !outcome.contains('\n'),
                    "{area}.{name}: {outcome}"
                );
                refused.push(format!("{area}.{name}"));
            }
            // Whatever it does later is done by now.
            editor.lua("vim.wait(30, function() end)");
            let told = editor.lua_text("return table.concat(told, '\\n')");
            for sign in ["E5560", "stack traceback", "internal error", "attempt to"] {
                assert!(!told.contains(sign) && !editor.messages().contains(sign), "{area}.{name}: {told}");
            }
            editor.assert_quiet();
            // The chat goes on as before, if it is still there.
            if name != "close" {
                editor.lua(&format!(
                    "events = {{}} vim.g.after = '{area}.{name}' chat:add_buf_message({{ role = 'user', content = 'again' }}) chat:submit()"
                ));
                editor.wait_lua("vim.g.after and ended() >= 1");
            }
        }
    }
    let expected =
        ["lathe.approvals", "lathe.chat", "lathe.get_chat", "ui.is_active", "ui.is_visible_non_curtab", "ui.last"];
    assert_eq!(refused, expected, "what has to answer at once, and cannot");
}

#[test]
fn what_is_asked_for_in_a_fast_event_is_done() {
    let t = |area: &str, name: &str, done: &str| {
        let editor = editor();
        editor.lua(&format!("in_fast_event('{area}', '{name}')"));
        editor.wait_lua("outcome == 'ok'");
        editor.wait_lua(done);
    };
    t("lathe", "toggle", "not chat:is_visible()");
    t("lathe", "add", "(chat.render:input() or ''):find('#{buffer:' .. other .. '}', 1, true)");
    t("lathe", "why", "why_lines");
    t("lathe", "run_tool", "ran and ran.output == 'x' or ran");
    t("lathe", "register_tool", "chat.tool_registry:knows('registered')");
    t("lathe", "setup", "require('lathe.config').get().display.icons == 'ascii'");
    t("lathe", "resume", "(told[1] or ''):find('no-such-chat', 1, true)");
    t("lathe", "add_tool", "require('lathe.native.store').get('s1')");
    t("chat", "hide", "not chat:is_visible()");
    t("chat", "set_auto", "chat.is_auto and count('LatheChatAuto') == 1");
    t("chat", "set_auto", "vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)[1] and chat.is_auto");
    t("chat", "close", "count('LatheChatClosed') == 1 and not vim.api.nvim_buf_is_valid(chat.bufnr)");
    t("chat", "add_message", "#chat.messages == 1");
    t("chat", "add_context", "#chat.messages == 1 and #chat.context_items == 1");
    t("chat", "add_buf_message", "(chat.render:input() or ''):find('typed')");
    t("chat", "clear", "true");
    t("registry", "add", "chat.tool_registry.in_use.u");
    t("registry", "remove", "not chat.tool_registry.in_use.t");
    t("ui", "hide", "not chat:is_visible()");
}

#[test]
fn a_fast_event_may_come_before_anything_was_loaded() {
    for call in [
        "lathe.chat()",
        "lathe.toggle()",
        "lathe.last_chat()",
        "lathe.get_chat(1)",
        "lathe.add()",
        "lathe.statusline()",
        "lathe.approvals()",
        "lathe.why('bash', 'ls', function() end)",
        "lathe.register_tool('x', { name = 'x', cmds = {}, schema = {} })",
        "lathe.run_tool('x', {}, {}, function() end)",
        "lathe.add_server('s', {})",
        "lathe.resume('x')",
        "lathe.setup({})",
    ] {
        let editor = Setup::default().start();
        editor.lua(PRELUDE);
        editor.lua(&format!(
            r#"
            vim.notify = function(text) told = text end
            local timer = vim.uv.new_timer()
            timer:start(0, 0, function()
              timer:close()
              local ok, err = pcall(function()
                local lathe = require("lathe")
                {call}
              end)
              outcome = ok and "ok" or tostring(err)
            end)"#
        ));
        editor.wait_lua("outcome");
        let outcome = editor.lua_text("return outcome");
        assert!(
            outcome == "ok" || (outcome.starts_with("lathe: ") && outcome.contains("fast event")),
            "{call}: {outcome}"
        );
        editor.lua("vim.wait(50, function() end)");
        editor.assert_quiet();
        // Afterwards everything works.
        editor.lua(
            r#"open({ answer("t", {}), { text = "done" } }, { t = tool("t", { function() return { status = "success" } end }) }) send("go")"#,
        );
        editor.wait_ended(1);
    }
}
