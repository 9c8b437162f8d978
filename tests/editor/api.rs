//! What tool authors and other plugins see: `chat.messages`, events, the methods of a chat.

use crate::chat;
use crate::support::Editor;

fn editor() -> Editor {
    chat::editor()
}

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
fn events_come_once_each_in_order_with_their_data() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("t", { a = 1 }, "asks", {}, "missing", {}), { text = "done" } }, {
          t = tool("t", { function() return { status = "success", data = "ran" } end }),
          asks = tool("asks", { function() return { status = "error", data = "no" } end }, { opts = { require_approval_before = true } }),
        })
        "#,
    );
    editor.wait_lua("count('LatheChatOpened') == 1");
    editor.lua("send('go')");
    editor.wait_screen("Run the \"asks\" tool?");
    editor.input("<Esc>g2");
    editor.wait_ended(1);
    editor.lua("chat:hide()");
    editor.wait_lua("count('LatheChatHidden') == 1");
    editor.lua("chat:open()");
    editor.wait_lua("count('LatheChatOpened') == 2");
    editor.lua("chat:close()");
    editor.wait_lua("count('LatheChatClosed') == 1");
    let names = editor.lua_text(
        "local n = {} for i, e in ipairs(events) do n[i] = e.name:sub(6) .. (e.data.tool and ' ' .. e.data.tool or '') .. \
         (e.data.status and '=' .. e.data.status or '') end return table.concat(n, '\\n')",
    );
    assert_eq!(
        names.split('\n').collect::<Vec<_>>(),
        [
            "ChatCreated",
            "ToolAdded asks",
            "ToolAdded t",
            "ChatOpened",
            "ChatSubmitted",
            "RequestStarted",
            "RequestFinished=success",
            "ToolsStarted",
            "ToolStarted t",
            "ToolFinished t=success",
            "ToolApprovalRequested asks",
            "ToolApprovalFinished asks=accept",
            "ToolStarted asks",
            "ToolFinished asks=error",
            "ToolFinished missing=error",
            "ToolsFinished=error",
            "RequestStarted",
            "RequestFinished=success",
            "ChatDone=done",
            "ChatHidden",
            "ChatOpened",
            "ChatHidden",
            "ChatClosed",
        ]
    );
    let wrong = editor.lua_text(
        r#"
        for _, e in ipairs(events) do
          local d = e.data
          if d.bufnr ~= chat.bufnr or d.chat_id ~= chat.id then return e.name .. ": chat" end
          if e.name:find("^LatheTool[SFA]") and not e.name:find("ToolsSt") and not e.name:find("ToolsFi") and e.name ~= "LatheToolAdded" then
            if type(d.id) ~= "number" or d.source ~= "lua" or (d.tool ~= "missing" and type(d.args) ~= "table") then return e.name .. ": call" end
            if e.name == "LatheToolFinished" and type(d.duration_ms) ~= "number" then return e.name .. ": duration" end
          end
          if e.name:find("Request") and type(d.id) ~= "number" then return e.name .. ": id" end
        end
        return """#,
    );
    assert_eq!(wrong, "");
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
fn closing_ends_everything_and_methods_of_a_closed_chat_do_nothing() {
    let editor = editor();
    editor.lua(
        r#"
        exits = 0
        open({ answer("t", {}) }, { t = tool("t", { function() running = true end }, { handlers = { on_exit = function() exits = exits + 1 end } }) })
        send("go")"#,
    );
    editor.wait_lua("running");
    editor.lua("chat:close() chat:close()");
    editor.wait_lua("count('LatheChatClosed') == 1 and not vim.api.nvim_buf_is_valid(chat.bufnr)");
    assert_eq!(editor.lua_int("return exits"), 1);
    editor.lua(
        "chat:submit() chat:stop() chat:skip() chat:clear() chat:add_message({ role = 'user', content = 'x' }) chat:open() chat:hide() \
         chat:add_buf_message({ role = 'user', content = 'x' }) chat:add_buf_message({ role = 'llm', content = 'x' }) chat:add_context({ content = 'x' }) \
         chat:add_tool_output({}, 'x') chat:close() chat:is_visible() chat.tools:execute(chat, { { name = 't' } }) chat.tool_registry:add('t')",
    );
    editor.wait_lua("require('lathe.core').lib.counts().chats == 0");
    editor.wait_lua("require('lathe.core').lib.counts().events == 0");
    assert!(
        editor.lua_bool("return require('lathe').last_chat() == nil and require('lathe').get_chat(chat.bufnr) == nil")
    );
    editor.assert_quiet();
}

#[test]
fn clearing_empties_history_and_buffer_and_keeps_what_is_typed() {
    for point in ["idle", "asking", "running", "streaming"] {
        let editor = editor();
        editor.lua_with(
            r#"
            local point = ...
            local first = point == "streaming" and { text = "old text", hang = true } or point == "idle" and { text = "old text" } or answer("t", {})
            open({ first, { text = "fresh" } }, {
              t = tool("t", { function() running = true end }, { opts = { require_approval_before = point == "asking" } }),
            })
            send("old message")"#,
            vec![point.into()],
        );
        match point {
            "idle" => editor.wait_ended(1),
            "asking" => editor.wait_screen("Run the \"t\" tool?"),
            "running" => editor.wait_lua("running"),
            _ => editor.wait_buffer("old text"),
        }
        editor.input("<Esc>Gokept<Esc>");
        editor.wait_buffer("kept");
        editor.lua("chat:clear()");
        editor.wait_lua("#chat.messages == 0 and not chat.is_running");
        editor.wait_until("an empty history", || !editor.buffer().contains("old"));
        let shown = editor.buffer();
        assert_eq!(shown.trim(), "## Me\n\n\nkept".trim(), "{point}");
        assert!(editor.lua_bool("return #chat.questions == 0"));
        editor.lua("chat:submit()");
        editor.wait_buffer("fresh");
        assert_eq!(editor.lua_text("return chat.messages[1].content .. '|' .. #chat.messages"), "kept|2", "{point}");
        editor.assert_quiet();
    }
}

#[test]
fn stop_at_every_point_keeps_what_was_streamed_and_the_chat_goes_on() {
    for point in ["delayed", "streaming", "setup", "cmd", "running", "asking", "success", "on_exit", "second request"] {
        let editor = editor();
        editor.lua_with(
            r#"
            local point = ...
            local function at(name, value)
              return function(self, _, meta)
                if name == point then chat:stop() end
                if name == "success" then meta.tools.chat:add_tool_output(self, { content = "x" }) end
                return value
              end
            end
            local turns = { answer("t", {}, "t", { n = 2 }), { text = "second", hang = point == "second request" }, { text = "again" } }
            if point == "delayed" then turns = { { text = "never", delay_ms = 3600000 }, { text = "again" } } end
            if point == "streaming" then turns = { { reasoning = "hm", chunks = { "half ", "an answer" }, hang = true }, { text = "again" } } end
            open({}, {
              t = tool("t", { at("cmd", point ~= "running" and { status = "success", data = 1 } or nil) }, {
                handlers = { setup = at("setup"), on_exit = at("on_exit") }, output = { success = at("success") },
                opts = { require_approval_before = point == "asking" },
              }),
            })
            local left = turns
            chat.adapter.turns = function(messages)
              if messages[#messages].content == "again?" then return { text = "again" } end
              return table.remove(left, 1)
            end
            send("go")"#,
            vec![point.into()],
        );
        match point {
            "delayed" => editor.wait_lua("count('LatheRequestStarted') == 1"),
            "streaming" => editor.wait_buffer("an answer"),
            "running" => editor.wait_lua("count('LatheToolStarted') == 1"),
            "asking" => editor.wait_screen("g2"),
            "second request" => editor.wait_buffer("second"),
            _ => {}
        }
        if ["delayed", "streaming", "running", "asking", "second request"].contains(&point) {
            editor.lua("chat:stop()");
        }
        editor.wait_lua("count('LatheChatStopped') == 1");
        assert!(editor.lua_bool("return paired() and not chat.is_running and #chat.questions == 0"), "{point}");
        if point == "streaming" {
            assert!(editor.buffer().contains("half an answer"));
            assert_eq!(editor.lua_text("return chat.messages[2].content"), "half an answer");
        }
        if point == "delayed" {
            assert!(!editor.buffer().contains("never"));
        }
        editor.lua("send('again?')");
        editor.wait_lua("count('LatheChatDone') == 1");
        editor.wait_buffer("again");
        assert!(editor.lua_bool("return paired()"), "{point}");
        assert_eq!(editor.lua_int("return ended()"), 2, "{point}");
        editor.assert_quiet();
    }
}

#[test]
fn usage_reasoning_and_errors_in_the_middle_are_kept() {
    let editor = editor();
    editor.lua(
        r#"
        open({ { reasoning = "let me\nthink", text = "an answer", usage = { input = 12, output = 34 } }, { text = "half", error = "cut off" } }, {})
        send("go")"#,
    );
    editor.wait_ended(1);
    assert!(editor.lua_bool("return chat.usage.input == 12 and chat.usage.output == 34"));
    let shown = editor.buffer();
    assert!(shown.contains("· Reasoning\n  let me\n  think\n\nan answer"), "{shown}");
    editor.lua("send('more')");
    editor.wait_buffer("cut off");
    let shown = editor.buffer();
    assert!(shown.contains("half"), "{shown}");
    editor.assert_quiet();
}

#[test]
fn a_callback_of_run_tool_that_throws_is_told_by_name() {
    let editor = editor();
    editor.lua("told = {} vim.notify = function(text) told[#told + 1] = text end");
    editor.lua("require('lathe').run_tool('none', {}, {}, function() error('thrown on purpose') end)");
    editor.wait_lua("#told == 1");
    assert!(editor.lua_text("return told[1]").contains("run_tool: the callback failed: "));
    editor.lua("require('lathe').run_tool('none') require('lathe').run_tool('none', { f = print }, {}, function(r) result = r end)");
    editor.wait_lua("result and result.status == 'error'");
}

#[test]
fn tools_registered_later_work_in_open_chats() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("late", {}), { text = "done" } }, {})
        require("lathe").register_tool("late", tool("late", { function() return { status = "success", data = "ran" } end }))
        send("Use @{late}")"#,
    );
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran"]);
    editor.assert_quiet();
}

#[test]
fn r026_after_a_cancel_the_next_message_is_sent_and_tools_still_work() {
    let editor = editor();
    editor.lua(
        r#"
        open({}, { t = tool("t", { function(_, args) return { status = "success", data = "ran " .. args.n } end },
          { opts = { require_approval_before = true } }) })
        local turns = { answer("t", { n = 1 }, "t", { n = 2 }), answer("t", { n = 3 }), { text = "fine" } }
        sent = {}
        chat.adapter.turns = function(messages) sent[#sent + 1] = paired() return table.remove(turns, 1) end
        send("go")"#,
    );
    editor.wait_screen("g4  Cancel");
    editor.input("<Esc>g4");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["The user cancelled the t tool", "The user cancelled the t tool"]);
    editor.input("Gohi<C-s>");
    editor.wait_screen("n: 3");
    editor.input("g2");
    editor.wait_ended(2);
    editor.wait_buffer("fine");
    assert!(editor.lua_bool("return #sent == 3 and sent[1] and sent[2] and sent[3] and results()[3] == 'ran 3'"));
    editor.assert_quiet();
}

#[test]
fn results_that_are_not_to_be_sent_wait_for_the_user() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("good", {}), answer("bad", {}), { text = "after the error" }, { text = "the end" } }, {
          good = tool("good", { function() return { status = "success", data = "ran" } end }),
          bad = tool("bad", { function() return { status = "error", data = "no" } end }),
          opts = { auto_submit_success = true, auto_submit_errors = false },
        })
        send("go")"#,
    );
    editor.wait_lua("count('LatheRequestFinished') == 2 and not chat.is_running");
    assert_eq!(editor.results(), ["ran", "no"]);
    assert!(editor.lua_bool("return events[#events].data.status == 'held' and paired()"));
    editor.lua("chat:submit()");
    editor.wait_buffer("after the error");
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

#[test]
fn the_command_runs_a_tool_and_lists_and_adds_tools() {
    let editor = editor();
    editor.lua(
        r#"
        told = {} vim.notify = function(text) told[#told + 1] = text end
        open({}, { t = tool("t", { function(_, args) return { status = "success", data = "got " .. args.n } end }) }, { tools = {} })"#,
    );
    editor.input(":Lathe call t {\"n\": 5}<CR>");
    editor.wait_screen("t: success\ngot 5");
    editor.input("<CR>:Lathe tools<CR>");
    editor.wait_screen("(* offered in this chat)");
    editor.input("q:Lathe tools t none<CR>");
    editor.wait_lua("#told == 1 and told[1]:find('none') and chat.tool_registry.in_use.t");
    editor.input(":Lathe log<CR>");
    editor.wait_lua("vim.fn.expand('%:t') == 'lathe.log'");
    editor.assert_no_fault();
}

#[test]
fn wrong_arguments_of_the_lua_functions_are_named_and_leave_nothing_behind() {
    let editor = editor();
    editor.lua("function fault(f, ...) local ok, err = pcall(f, ...) assert(not ok) return tostring(err) end");
    for (call, told) in [
        ("lathe.chat, 'x'", "opts: expected table"),
        ("lathe.chat, { tools = 't' }", "opts.tools: expected list of names"),
        ("lathe.chat, { tools = { 5 } }", "opts.tools: expected list of names"),
        ("lathe.chat, { prompt = 5 }", "opts.prompt: expected string"),
        ("lathe.chat, { messages = { { content = 'x' } } }", "opts.messages: expected list of { role"),
        ("lathe.run_tool, nil", "name: expected string"),
        ("lathe.run_tool, 't', 5", "args: expected table"),
        ("lathe.run_tool, 't', {}, {}, 'x'", "callback: expected callable"),
        ("lathe.run_tool, 't', {}, 'x'", "opts: expected table"),
        ("lathe.run_tool, 't', {}, { chat = 1 }", "opts.chat: unknown option"),
    ] {
        let fault = editor.lua_text(&format!("lathe = require('lathe') return fault({call})"));
        assert!(fault.contains(told), "{call}: {fault}");
    }
    assert!(editor.lua_bool("return lathe.last_chat() == nil and #vim.fn.getbufinfo() == 1"));
}

#[test]
fn stop_ends_a_tool_that_runs_without_a_chat() {
    let editor = editor();
    editor.lua(
        r#"
        vim.o.messagesopt = "wait:1,history:500" -- the result has several lines, like any list that one asks for
        require("lathe").setup({ interactions = { chat = { tools = {
          slow = tool("slow", { function() started = true end }),
        } } } })"#,
    );
    editor.input(":Lathe call slow<CR>");
    editor.wait_lua("started");
    editor.input(":Lathe stop<CR>");
    editor.wait_lua("count('LatheChatStopped') == 1");
    editor.wait_lua("require('lathe.core').lib.counts().chats == 0");
}
