//! Tools that throw, buffers that go, a core that panics: each call still gets its result.

use rmpv::Value;

use crate::chat::editor;

#[test]
fn r119_whatever_is_thrown_is_readable_and_tracebacks_stay_in_the_log() {
    let editor = editor();
    editor.lua(
        r#"
        local function throwing(name, value)
          return tool(name, { function() error(value, 0) end })
        end
        open({ answer("object", {}, "text", {}, "none", {}, "deep", {}), { text = "done" } }, {
          object = throwing("object", { code = 7, msg = "disk full" }),
          text = throwing("text", "plain"),
          none = throwing("none", nil),
          deep = tool("deep", { function() local x = nil; return x.y end }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].contains("disk full") && results[0].contains('7'), "{results:?}");
    assert_eq!(results[1], "plain");
    assert!(!results.iter().any(|text| text.contains("table: 0x") || text.contains("traceback")), "{results:?}");
    assert!(results[3].contains("attempt to index"), "{results:?}");
    let log = editor.lua_text(
        "local f = io.open(vim.fs.joinpath(vim.fn.stdpath('log'), 'lathe.log')) return f and f:read('*a') or ''",
    );
    assert!(log.contains("traceback"), "{log}");
    editor.assert_quiet();
}

#[test]
fn throws_in_every_callback_give_one_result_and_the_queue_goes_on() {
    for place in ["env", "setup", "cmd", "success", "error", "on_exit", "cmd_string", "prompt_condition", "prompt"] {
        let editor = editor();
        editor.lua_with(
            r#"
            local place = ...
            local function maybe(name, value)
              return function(self, _, meta)
                if name == place then error("boom in " .. name) end
                return value
              end
            end
            local function say(name)
              return function(self, _, meta)
                if name == place then error("boom in " .. name) end
                meta.tools.chat:add_tool_output(self, { content = name })
              end
            end
            open({ answer("t", {}, "after", {}), { text = "done" } }, {
              t = tool("t", { maybe("cmd", { status = place == "error" and "error" or "success", data = 1 }) }, {
                env = maybe("env", {}),
                handlers = {
                  setup = maybe("setup"), on_exit = maybe("on_exit"),
                  prompt_condition = maybe("prompt_condition", place == "prompt"),
                },
                output = {
                  success = say("success"), error = say("error"), cmd_string = maybe("cmd_string", "x"),
                  prompt = maybe("prompt", "?"),
                },
              }),
              after = tool("after", { function() return { status = "success", data = "fine" } end }),
            })
            send("go")"#,
            vec![Value::from(place)],
        );
        if place.starts_with("prompt") {
            editor.wait_screen("g2");
            editor.input("g2");
        }
        editor.wait_ended(1);
        let results = editor.results();
        assert_eq!(results.len(), 2, "{place}: {results:?}");
        assert_eq!(results[1], "fine", "{place}");
        assert!(!results[0].contains("traceback"), "{place}: {results:?}");
        assert!(editor.lua_bool("return paired()"), "{place}");
        assert!(!editor.messages().contains("traceback"), "{place}: {}", editor.messages());
    }
}

#[test]
fn a_panic_in_the_core_leaves_the_editor_alive_with_a_message() {
    let editor = editor();
    editor.lua("open({ { text = 'one' }, { text = 'two' } }, {}) require('lathe.core').lib.panic() send('go')");
    editor.wait_until("the fault is told", || editor.messages().contains("internal error"));
    editor.wait_ended(1);
    editor.lua("send('again')");
    editor.wait_ended(2);
    editor.wait_buffer("two");
    assert!(!editor.messages().contains("traceback"), "{}", editor.messages());
}

#[test]
fn a_provider_error_is_shown_and_the_message_can_be_sent_again() {
    let editor = editor();
    editor.lua("open({ { error = 'overloaded' }, { text = 'better now' } }, {}) send('hello')");
    editor.wait_buffer("overloaded");
    editor.wait_lua("count('LatheRequestFinished') == 1");
    editor.lua("chat:submit()");
    editor.wait_buffer("better now");
    let roles = "local r = {} for _, m in ipairs(chat.messages) do r[#r + 1] = m.role end return table.concat(r, ' ')";
    assert_eq!(editor.lua_text(roles), "user llm");
    editor.assert_quiet();
}

#[test]
fn a_deleted_buffer_at_any_point_ends_the_turn_quietly() {
    for place in ["sending", "env", "setup", "cmd", "success", "on_exit", "asking", "running", "between"] {
        let editor = editor();
        editor.lua_with(
            r#"
            local place = ...
            exits = 0
            function wipe(at)
              if at == place then vim.api.nvim_buf_delete(chat.bufnr, { force = true }) end
            end
            local function at(name, value)
              return function(self, _, meta)
                wipe(name)
                if name == "on_exit" then exits = exits + 1 end
                if name == "success" then meta.tools.chat:add_tool_output(self, { content = "x" }) end
                return value
              end
            end
            open({ answer("t", {}, "t", { n = 2 }), { text = "done" } }, {
              t = tool("t", { at("cmd", place ~= "running" and { status = "success", data = 1 } or nil) }, {
                env = at("env", {}), handlers = { setup = at("setup"), on_exit = at("on_exit") },
                output = { success = at("success") }, opts = { require_approval_before = place == "asking" },
              }),
            })
            chat.messages = chat.messages
            send("go")
            wipe("sending")"#,
            vec![Value::from(place)],
        );
        match place {
            "asking" => {
                editor.wait_screen("g2");
                editor.lua("wipe('asking')");
            }
            "running" => {
                editor.wait_lua("count('LatheToolStarted') == 1");
                editor.lua("wipe('running')");
            }
            "between" => {
                editor.wait_ended(1);
                editor.lua("wipe('between')");
            }
            _ => {}
        }
        editor.wait_lua("require('lathe.core').lib.counts().chats == 0");
        editor.wait_lua("count('LatheChatClosed') == 1");
        assert_eq!(editor.messages().trim(), "", "{place}");
        // Another chat works.
        editor.lua("open({ { text = 'fresh' } }, {}) send('hi')");
        editor.wait_buffer("fresh");
    }
}
