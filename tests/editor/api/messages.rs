//! `chat.messages`, and how messages and results get into it.

use super::editor;

#[test]
fn messages_have_the_documented_shape() {
    let editor = editor();
    editor.lua(
        r#"
        open({
          { reasoning = "thinking", text = "calling", tool_calls = { { id = "c1", name = "t", arguments = '{"a": 1}' }, { name = "t", arguments = "nonsense" } } },
          { text = "done" },
        }, { t = tool("t", { function() return { status = "success", data = "ran" } end }) },
          { messages = { { role = "system", content = "be brief", opts = { visible = false } } } })
        send("go")"#,
    );
    editor.wait_ended(1);
    let shape = |n: u32| {
        editor.lua_text(&format!(
            "local m = vim.deepcopy(chat.messages[{n}]) m._meta = type(m._meta) \
             if m.tools and m.tools.calls then m.tools.calls[2].id = type(m.tools.calls[2].id) end \
             if m.tools and m.tools.is_error then m.content = type(m.content) m.tools.call_id = type(m.tools.call_id) end \
             return vim.inspect(m, {{ newline = ' ', indent = '' }})"
        ))
    };
    assert_eq!(editor.lua_int("return #chat.messages"), 6);
    assert_eq!(shape(1), r#"{ _meta = "table", content = "be brief", opts = { visible = false }, role = "system" }"#);
    assert_eq!(shape(2), r#"{ _meta = "table", content = "go", opts = { visible = true }, role = "user" }"#);
    assert_eq!(
        shape(3),
        r#"{ _meta = "table", content = "calling", opts = { visible = true }, reasoning = { content = "thinking" }, role = "llm", tools = { calls = { { ["function"] = { arguments = '{"a": 1}', name = "t" }, id = "c1", type = "function" }, { ["function"] = { arguments = "{}", name = "t" }, id = "string", type = "function" } } } }"#
    );
    assert_eq!(
        shape(4),
        r#"{ _meta = "table", content = "ran", opts = { visible = true }, role = "tool", tools = { call_id = "c1", is_error = false } }"#
    );
    assert_eq!(
        shape(5),
        r#"{ _meta = "table", content = "string", opts = { visible = true }, role = "tool", tools = { call_id = "string", is_error = true } }"#
    );
    assert!(editor.lua_bool("return paired()"));
    editor.assert_quiet();
}

#[test]
fn writing_to_messages_has_no_effect_on_what_is_sent() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("t", {}), { text = "one" }, answer("t", { n = 2 }), { text = "two" } }, {
          t = tool("t", { function(self)
            self.chat.messages[1].content = "forged"
            self.chat.messages[1].role = 5
            table.remove(self.chat.messages)
            return { status = "success", data = "ran" }
          end }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.lua("chat.messages[1] = nil chat.messages = {} chat.messages = nil");
    editor.lua("chat.messages = chat.messages or {} send('again')");
    editor.wait_ended(2);
    editor.wait_buffer("two");
    // The engine's history is whole: the request after it found each call answered, and the last result is there.
    assert!(editor.lua_bool("local r = results() return r[#r] == 'ran'"));
    editor.assert_quiet();
}

#[test]
fn add_tool_output_takes_both_forms_and_shows_what_it_is_told() {
    let editor = editor();
    editor.lua(
        r##"
        local function says(name, fn)
          return tool(name, { function() return { status = "success", data = 1 } end }, { output = {
            success = function(self, _, meta) fn(meta.tools.chat, self) end,
          } })
        end
        open({ answer("a", {}, "b", {}, "c", {}, "d", {}, "e", {}, "f", {}, "g", {}, "h", {}), { text = "done" } }, {
          a = says("a", function(chat, self) chat:add_tool_output(self, { content = "model a", display = "user a" }) end),
          b = says("b", function(chat, self) chat:add_tool_output(self, "model b", "user b") end),
          c = says("c", function(chat, self) chat:add_tool_output(self, "both c") end),
          d = says("d", function(chat, self) chat:add_tool_output(self, { content = "model d", display = false }) end),
          e = says("e", function(chat, self) chat:add_tool_output(self, "model e", "") end),
          f = says("f", function(chat, self) chat:add_tool_output(self, { content = { 1, 2 } }) end),
          g = says("g", function(chat, self)
            chat:add_tool_output(self, { content = "one" })
            chat:add_tool_output(self, { content = "two", display = false })
            chat:add_tool_output(self, "three")
          end),
          h = says("h", function(chat, self) chat:add_tool_output(self, { content = "", display = "user h" }) end),
        })
        send("go")"##,
    );
    editor.wait_ended(1);
    let results = editor.results();
    assert_eq!(results[..5], ["model a", "model b", "both c", "model d", "model e"]);
    assert_eq!(results[5], "{ 1, 2 }");
    assert_eq!(results[6..], ["one\n\ntwo\n\nthree", "(no output)"]);
    let shown = editor.buffer();
    for text in ["user a", "user b", "both c", "{ 1, 2 }", "one", "three", "user h"] {
        assert!(shown.contains(&format!("\n  {text}\n")), "{text}: {shown}");
    }
    for text in ["model", "two"] {
        assert!(!shown.contains(text), "{text}: {shown}");
    }
    editor.assert_quiet();
}

#[test]
fn output_that_belongs_to_no_call_is_dropped_quietly() {
    let editor = editor();
    editor.lua("open({ { text = 'fine' } }, {})");
    for tool in
        ["nil", "5", "{}", "{ function_call = 5 }", "{ function_call = {} }", "{ function_call = { id = 'x' } }"]
    {
        editor.lua(&format!("chat:add_tool_output({tool}, 'x')"));
    }
    editor.lua("send('go')");
    editor.wait_ended(1);
    editor.assert_quiet();
}

#[test]
fn execute_runs_calls_after_those_that_are_open_and_their_results_are_sent() {
    let editor = editor();
    editor.lua(
        r#"
        order = {}
        local function run(self, args)
          order[#order + 1] = self.tool.name .. (args.n or "")
          if self.tool.name == "outer" then
            self:execute(self.chat, { { name = "inner", arguments = { n = 1 } }, { id = "mine", ["function"] = { name = "inner", arguments = '{"n":2}' } } })
          end
          return { status = "success", data = self.tool.name .. (args.n or "") }
        end
        open({ answer("outer", {}, "last", {}), { text = "done" } }, {
          outer = tool("outer", { run }), inner = tool("inner", { run }), last = tool("last", { run }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return table.concat(order, ' ')"), "outer last inner1 inner2");
    assert_eq!(editor.results(), ["outer", "last", "inner1", "inner2"]);
    assert!(editor.lua_bool("return paired() and chat.messages[#chat.messages].content == 'done'"));
    // Outside of a turn.
    editor.lua("chat.adapter.turns = { { text = 'more' } } chat.adapter.position = 0 chat.tools:execute(chat, { { name = 'inner' } })");
    editor.wait_ended(2);
    editor.wait_buffer("more");
    assert!(editor.lua_bool("return paired()"));
    editor.assert_quiet();
}

#[test]
fn messages_from_outside_join_after_open_calls_and_show_unless_hidden() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("t", {}), { text = "done" } }, {
          t = tool("t", { function(self)
            self.chat:add_message({ role = "user", content = "seen" })
            self.chat:add_message({ role = "user", content = "unseen" }, { visible = false })
            self.chat:add_context({ content = "all of a file" }, "file", "a.lua")
            self.chat:add_buf_message({ role = "llm", content = "only shown" })
            return { status = "success", data = "ran" }
          end }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    assert!(editor.lua_bool("return paired()"));
    let said = editor.lua_text(
        "local all = {} for _, m in ipairs(chat.messages) do all[#all + 1] = m.role .. ':' .. m.content end return table.concat(all, '|')",
    );
    assert_eq!(said, "user:go|llm:|tool:ran|user:seen|user:unseen|user:all of a file|llm:done");
    let shown = editor.buffer();
    for text in ["seen", "a.lua", "only shown", "done"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert!(!shown.contains("unseen") && !shown.contains("all of a file"), "{shown}");
    editor.lua("chat:add_message({ role = 'llm', content = 'said by a plugin' })");
    editor.wait_buffer("said by a plugin");
    editor.assert_quiet();
}

#[test]
fn system_prompts_of_tools_groups_and_chats_are_sent_once_and_not_shown() {
    let editor = editor();
    editor.lua(
        r#"
        require("lathe").setup({
          adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = function(messages)
            sent = vim.list_slice(messages)
            return { text = "done" }
          end }) } },
          interactions = { chat = {
            adapter = "fake",
            system_prompt = function(ctx) return "chat prompt of " .. ctx.adapter.name end,
            tools = {
              a = tool("a", {}, { system_prompt = "prompt of a" }),
              b = tool("b", {}, { system_prompt = function(schema) return "prompt of " .. schema["function"].name end }),
              c = tool("c", {}, { system_prompt = "prompt of c" }),
              groups = {
                g = { tools = { "a", "b" }, system_prompt = "prompt of the group" },
                quiet = { tools = { "c" }, opts = { ignore_tool_system_prompt = true } },
              },
              opts = { default_tools = { "a" }, system_prompt = { prompt = "about tools" } },
            },
          } },
        })
        chat = require("lathe").chat()
        send("Use @{g} and @{quiet} and @{a}")"#,
    );
    editor.wait_ended(1);
    let said = editor.lua_text(
        "local all = {} for _, m in ipairs(sent) do if m.role == 'system' then all[#all + 1] = m.content end end return table.concat(all, '|')",
    );
    assert_eq!(said, "chat prompt of fake|prompt of a|prompt of b|prompt of c|prompt of the group");
    assert!(!editor.buffer().contains("prompt of"), "{}", editor.buffer());
    assert_eq!(
        editor.lua_text("local n = vim.tbl_keys(chat.tool_registry.in_use) table.sort(n) return table.concat(n, ' ')"),
        "a b c"
    );
    editor.lua("chat.tool_registry:remove('g') chat.tool_registry:remove('never')");
    assert_eq!(editor.lua_text("return table.concat(vim.tbl_keys(chat.tool_registry.in_use), ' ')"), "c");
    editor.assert_quiet();
}
