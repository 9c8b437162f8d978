//! Whole turns in a real Neovim: typed messages, tools that behave and misbehave, answers, stops. The provider is scripted.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rmpv::Value;

use crate::chat::editor;

#[test]
fn a_typed_message_runs_the_calculator_and_shows_5000() {
    let editor = editor();
    editor.lua("vim.notify = function() end");
    editor.lua("dofile(vim.api.nvim_get_runtime_file('examples/calculator.lua', false)[1])");
    editor.input(":Lathe chat<CR>");
    editor.wait_screen("## Me");
    editor.input("iUse the @{calculator} tool for 100*50<C-s>");
    editor.wait_screen("5000");
    editor.wait_ended(1);
    editor.wait_screen("calculator");
    editor.lua("chat = require('lathe').last_chat()");
    assert_eq!(editor.results(), ["5000"]);
    assert!(editor.lua_bool("return paired()"));
    let call = "local call = chat.messages[#chat.messages - 2].tools.calls[1]['function'] local args = vim.json.decode(call.arguments) \
                return ('%s %d %d %s'):format(call.name, args.num1, args.num2, args.operation)";
    assert_eq!(editor.lua_text(call), "calculator 100 50 multiply");
    editor.wait_screen("✓ calculator");
}

#[test]
fn cmds_run_one_after_another_each_with_the_result_of_the_one_before() {
    let editor = editor();
    editor.lua(
        r#"
        seen = {}
        open({ answer("steps", { n = 1 }), { text = "done" } }, {
          steps = tool("steps", {
            function(self, args, opts)
              seen[1] = { args.n, opts.input == nil, self.tool.name, self.chat == chat, self.bufnr == chat.bufnr }
              return { status = "success", data = "one" }
            end,
            function(_, _, opts)
              seen[2] = opts.input
              vim.defer_fn(function() opts.output_cb({ status = "success", data = "two" }) end, 5)
            end,
            function(self, _, opts)
              seen[3] = { opts.input, self.stdout[1], #self.stdout }
              return { status = "success", data = { 3 } }
            end,
          }, { output = { success = function(self, stdout, meta)
            meta.tools.chat:add_tool_output(self, { content = #stdout .. type(stdout[#stdout]), display = false })
          end } }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["1string\n\n2string\n\n3table"]);
    assert_eq!(
        editor.lua_text("return vim.json.encode(seen)"),
        r#"[[1,true,"steps",true,true],"one",["two","one",2]]"#
    );
    editor.assert_quiet();
}

#[test]
fn setup_and_on_exit_run_once_around_everything_and_receive_the_tool() {
    let editor = editor();
    editor.lua(
        r#"
        order = {}
        local function note(name) order[#order + 1] = name end
        open({ answer("t", { x = 1 }), { text = "done" } }, {
          t = tool("t", { function() note("cmd") return { status = "success", data = 1 } end }, {
            env = function(self) note("env " .. self.args.x) return {} end,
            handlers = {
              setup = function(self, meta) note("setup " .. self.name .. tostring(meta.tools.chat == chat)) end,
              on_exit = function(self, meta) note("exit " .. self.function_call["function"].name .. tostring(meta.tools.chat == chat)) end,
            },
            output = { success = function(self, _, meta)
              note("success " .. type(meta.cmd))
              meta.tools.chat:add_tool_output(self, { content = "1" })
            end },
          }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    assert_eq!(
        editor.lua_text("return table.concat(order, ', ')"),
        "env 1, setup ttrue, cmd, success function, exit ttrue"
    );
}

#[test]
fn output_functions_left_out_have_the_documented_defaults() {
    let editor = editor();
    editor.lua(
        r#"
        local function bare(name, cmd, extra)
          local t = tool(name, { cmd })
          t.output = nil
          return vim.tbl_extend("force", t, extra or {})
        end
        open({ answer("good", {}, "bad", {}, "thrown", {}, "asked", {}), { text = "done" } }, {
          good = bare("good", function() return { status = "success", data = 1 } end),
          bad = bare("bad", function() return { status = "error", data = "x" } end),
          thrown = bare("thrown", function() error("x") end),
          asked = bare("asked", function() end, { opts = { require_approval_before = true } }),
        })
        send("go")"#,
    );
    editor.wait_screen("Run the \"asked\" tool?");
    editor.input("g3");
    editor.input("<CR>");
    editor.wait_ended(1);
    assert_eq!(
        editor.results(),
        ["Executed good", "Error calling bad", "Error calling thrown", "The user rejected the asked tool"]
    );
}

#[test]
fn an_output_function_that_adds_nothing_gives_the_stand_in_and_late_output_is_dropped() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("t", {}), { text = "done" } }, {
          t = tool("t", { function() return { status = "success", data = 1 } end }, { output = {
            success = function(self, _, meta)
              vim.schedule(function() meta.tools.chat:add_tool_output(self, { content = "late" }) late = true end)
            end } }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.wait_lua("late");
    assert_eq!(editor.results(), ["The call of the t tool did not complete: the tool gave no result"]);
    assert!(!editor.buffer().contains("late"));
    editor.assert_quiet();
}

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
fn the_first_result_counts_and_the_rest_is_dropped() {
    let editor = editor();
    editor.lua(
        r#"
        late = 0
        open({ answer("both", {}, "twice", {}, "thrown", {}, "bad", {}), { text = "done" } }, {
          both = tool("both", { function(_, _, opts)
            opts.output_cb({ status = "success", data = "called back" })
            vim.schedule(function() opts.output_cb({ status = "error", data = "late" }) late = late + 1 end)
            return { status = "error", data = "returned" }
          end }),
          twice = tool("twice", { function(_, _, opts)
            vim.schedule(function()
              opts.output_cb({ status = "success", data = "first" })
              opts.output_cb({ status = "error", data = "second" })
              late = late + 1
            end)
          end }),
          thrown = tool("thrown", { function(_, _, opts)
            opts.output_cb({ status = "success", data = "before the throw" })
            error("after the result")
          end }),
          bad = tool("bad", { function() return { status = "ok", data = 1 } end }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.wait_lua("late == 2");
    let results = editor.results();
    assert_eq!(results[..3], ["called back", "first", "before the throw"]);
    assert!(results[3].contains("\"ok\"") && results[3].contains("status"), "{results:?}");
}

#[test]
fn output_cb_works_in_a_fast_event() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("t", {}), { text = "done" } }, {
          t = tool("t", { function(_, _, opts)
            local timer = vim.uv.new_timer()
            timer:start(1, 0, function()
              timer:close()
              fast = vim.in_fast_event()
              opts.output_cb({ status = "success", data = "from a timer" })
            end)
          end }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    assert!(editor.lua_bool("return fast"));
    assert_eq!(editor.results(), ["from a timer"]);
    editor.assert_quiet();
}

#[test]
fn callbacks_may_stop_submit_and_answer_reentrantly() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("stopper", {}, "never", {}), { text = "unused" } }, {
          stopper = tool("stopper", { function(self, _, opts)
            self.chat:submit()
            self.chat:stop()
            opts.output_cb({ status = "success", data = "x" })
            self.chat:stop()
          end }),
          never = tool("never", { function() ran = true return { status = "success", data = 1 } end }),
        })
        send("go")"#,
    );
    editor.wait_lua("count('LatheChatStopped') == 1");
    assert!(editor.lua_bool("return ran == nil and paired() and #results() == 2"));
    // The chat goes on.
    editor.lua("send('again')");
    editor.wait_lua("count('LatheChatDone') == 1");
    editor.assert_quiet();
}

#[test]
fn ten_thousand_queued_synchronous_calls_finish_in_one_turn() {
    let editor = editor();
    editor.lua(
        r#"
        ran, deepest = 0, 0
        local turns = { { tool_calls = {} }, { text = "done" } }
        for i = 1, 10000 do
          turns[1].tool_calls[i] = { name = "t", arguments = { n = i } }
        end
        open(turns, {
          t = tool("t", { function(_, args)
            ran = ran + 1
            if ran % 1000 == 0 then
              local depth = 0
              while debug.getinfo(depth + 1, "l") do depth = depth + 1 end
              deepest = math.max(deepest, depth)
            end
            return { status = "success", data = args.n }
          end }),
        })
        send("go")"#,
    );
    editor.watch_loop();
    editor.wait_ended(1);
    assert_eq!(editor.lua_int("return ran"), 10_000);
    assert_eq!(editor.lua_int("return #results()"), 10_000);
    assert!(editor.lua_bool("return results()[10000] == '10000' and paired()"));
    assert!(editor.lua_int("return deepest") < 20, "no growth of the stack: {}", editor.lua_int("return deepest"));
    editor.assert_quiet();
}

#[test]
fn an_earlier_parallel_call_that_grows_on_the_screen_moves_the_later_ones() {
    let editor = editor();
    editor.lua(
        r#"
        finish = {}
        open({ answer("t", { n = 1 }, "t", { n = 2 }, "t", { n = 3 }), { text = "done" } }, {
          t = tool("t", { function(_, args, opts) finish[args.n] = opts.output_cb end }, {
            opts = { parallel = true },
            output = { cmd_string = function(self) return "number " .. self.args.n end },
          }),
        })
        send("go")"#,
    );
    for n in 1..=3 {
        editor.wait_screen(&format!("number {n}"));
    }
    for n in [1, 3, 2] {
        editor.lua(&format!("finish[{n}]({{ status = 'success', data = 'first {n}\\nlast {n}' }})"));
        editor.wait_screen(&format!("last {n}"));
    }
    editor.wait_ended(1);
    let buffer = editor.buffer();
    let seen: Vec<&str> = buffer.split_whitespace().filter(|word| word.parse::<u8>().is_ok()).collect();
    assert_eq!(seen, ["1", "1", "1", "2", "2", "2", "3", "3", "3"], "{buffer}");
    editor.assert_quiet();
}

#[test]
fn two_chats_interleave_and_keep_their_own() {
    let editor = editor();
    editor.lua(
        r#"
        waiting = {}
        local function slow(_, args, opts) waiting[args.who] = opts.output_cb end
        open({ answer("t", { who = "a" }), { text = "a is done" } }, { t = tool("t", { slow }) })
        first = chat
        send("go a", first)
        open({ answer("t", { who = "b" }), { text = "b is done" } }, { t = tool("t", { slow }) })
        second = chat
        send("go b", second)"#,
    );
    editor.wait_lua("waiting.a and waiting.b");
    editor.lua("waiting.b({ status = 'success', data = 'for b' })");
    editor.wait_ended(1);
    editor.lua("waiting.a({ status = 'success', data = 'for a' })");
    editor.wait_ended(2);
    assert!(editor.lua_bool("return results(first)[1] == 'for a' and results(second)[1] == 'for b'"));
    let text = "return table.concat(vim.api.nvim_buf_get_lines(%.bufnr, 0, -1, false), '\\n')";
    for (chat, own, other) in [("first", "a is done", "b is done"), ("second", "b is done", "a is done")] {
        editor.wait_lua(&format!("({}):find('{own}')", text.replace("return ", "").replace('%', chat)));
        let text = editor.lua_text(&text.replace('%', chat));
        assert!(text.contains(own) && !text.contains(other), "{text}");
    }
    editor.assert_quiet();
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
fn the_four_answers_do_what_they_say() {
    let editor = editor();
    editor.lua(
        r#"
        local opts = { require_approval_before = true }
        local function run(_, args) return { status = "success", data = "ran " .. args.n } end
        open({
          answer("t", { n = 1 }, "t", { n = 2 }, "u", { n = 3 }, "u", { n = 4 }, "v", { n = 5 }),
          { text = "unused" },
        }, {
          t = tool("t", { run }, { opts = opts }),
          u = tool("u", { run }, { opts = opts, output = {
            prompt = function(self) return "Run u with " .. self.args.n .. "?" end,
            rejected = function(self, meta)
              meta.tools.chat:add_tool_output(self, { content = "declined: " .. tostring(meta.opts.reason) })
            end,
          } }),
          v = tool("v", { run }, { opts = opts }),
        })
        vim.ui.input = function(_, done) done("wrong dir") end
        send("go")"#,
    );
    // Always: the second call of t does not ask.
    editor.wait_screen("Run the \"t\" tool?");
    editor.input("g1");
    editor.wait_screen("Run u with 3?");
    // Nothing else answers.
    editor.input("<CR><Esc>");
    assert_eq!(editor.lua_int("return #results()"), 2);
    editor.input("g3");
    editor.wait_screen("Run u with 4?");
    editor.input("g2");
    editor.wait_screen("Run the \"v\" tool?");
    editor.input("g4");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran 1", "ran 2", "declined: wrong dir", "ran 4", "The user cancelled the v tool"]);
    assert_eq!(editor.lua_int("return count('LatheRequestStarted')"), 1, "nothing is sent after a cancel");
    editor.assert_quiet();
}

#[test]
fn what_is_typed_at_a_question_waits_goes_out_with_the_results_and_is_no_answer() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("t", {}), { text = "answered both" } }, {
          t = tool("t", { function() return { status = "success", data = "ran" } end },
            { opts = { require_approval_before = true } }),
        })
        send("go")"#,
    );
    editor.wait_screen("Run the \"t\" tool?");
    editor.input("Goyes, do it<C-s>");
    editor.wait_screen("waits for the tools");
    assert_eq!(editor.lua_int("return #results()"), 0);
    editor.input("<Esc>A at once<Esc>");
    editor.input("g2");
    editor.wait_ended(1);
    editor.wait_buffer("answered both");
    let said = editor.lua_text(
        "local all = {} for _, m in ipairs(chat.messages) do all[#all + 1] = m.role .. ':' .. m.content end return table.concat(all, '|')",
    );
    assert_eq!(said, "user:go|llm:|tool:ran|user:yes, do it at once|llm:answered both");
    editor.assert_quiet();
}

#[test]
fn r071_a_tool_that_never_answers_ends_at_its_limit_and_the_next_runs() {
    let editor = editor();
    editor.lua(
        r#"
        job = { killed = 0, kill = function(self) self.killed = self.killed + 1 end }
        open({ answer("silent", {}, "after", {}), { text = "done" } }, {
          silent = tool("silent", { function(_, _, opts) opts.register_job(job) end }, { opts = { timeout = 100 } }),
          after = tool("after", { function() return { status = "success", data = "fine" } end }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["timed out after 100 ms", "fine"]);
    assert_eq!(editor.lua_int("return job.killed"), 1);
    editor.assert_quiet();
}

#[test]
fn r082_skip_ends_the_running_call_and_a_second_key_stops_the_turn() {
    let editor = editor();
    editor.lua(
        r#"
        exits = 0
        local function wait() end
        local extra = { handlers = { on_exit = function() exits = exits + 1 end } }
        open({ answer("one", {}, "two", {}, "three", {}), { text = "unused" } }, {
          one = tool("one", { wait }, extra), two = tool("two", { wait }, extra), three = tool("three", { wait }, extra),
        })
        send("go")"#,
    );
    editor.wait_screen("one");
    editor.wait_lua("count('LatheToolStarted') == 1");
    editor.input("<Esc>gs");
    editor.wait_lua("count('LatheToolStarted') == 2");
    editor.input("q");
    editor.wait_lua("count('LatheChatStopped') == 1");
    assert_eq!(
        editor.results(),
        [
            "Stopped by the user before the one tool was done",
            "The user stopped the chat before the two tool was done",
            "The user stopped the chat before the three tool was done"
        ]
    );
    assert_eq!(editor.lua_int("return exits"), 2, "on_exit of what was set up");
    assert!(editor.lua_bool("return paired()"));
    editor.assert_quiet();
}

#[test]
fn r030_r028_r038_unusable_calls_are_answered_and_their_siblings_run() {
    let editor = editor();
    editor.lua(
        r#"
        open({
          answer("t", { n = 1 }, "no_such_tool", {}, "t", '{"path":', "t", '{"n":1}{"n":2}', "t", "", "t", "[]", "t", { n = 2 }),
          { text = "done" },
        }, { t = tool("t", { function(_, args) return { status = "success", data = vim.inspect(args) } end }) })
        send("go")"#,
    );
    editor.wait_ended(1);
    let results = editor.results();
    assert_eq!(results.len(), 7, "{results:?}");
    assert!(results[1].contains("no_such_tool") && results[1].contains("`t`"), "{results:?}");
    assert!(results[2].contains("{\"path\":") && results[3].contains("{\"n\":1}{\"n\":2}"), "{results:?}");
    assert_eq!([&results[4], &results[5]], ["vim.empty_dict()", "vim.empty_dict()"]);
    assert!(results[0].contains('1') && results[6].contains('2'));
    assert!(editor.lua_bool("return paired()"));
    let texts = editor.lua_text(
        "local t = {} for _, c in ipairs(chat.messages[2].tools.calls) do t[#t + 1] = c['function'].arguments end return table.concat(t, ' ')",
    );
    assert_eq!(texts, r#"{"n":1} {} {} {} {} {} {"n":2}"#, "R041: history never carries [] nor half an object");
    editor.assert_quiet();
}

#[test]
fn r046_arguments_that_do_not_fit_reach_the_model_and_nothing_runs_or_asks() {
    let editor = editor();
    editor.lua(
        r#"
        local t = tool("t", { function() ran = true return { status = "success", data = 1 } end },
          { opts = { require_approval_before = true } })
        t.schema["function"].parameters = {
          type = "object",
          properties = { server = { type = "string" }, tool_name = { type = "string" }, n = { type = "integer" } },
          required = { "server", "tool_name" },
        }
        open({ answer("t", { server = "s" }, "t", { server = "s", tool_name = "x", n = "many" }), { text = "done" } }, { t = t })
        send("go")"#,
    );
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].contains("/tool_name") && results[0].contains("required"), "{results:?}");
    assert!(results[1].contains("/n") && results[1].contains("integer"), "{results:?}");
    assert!(editor.lua_bool("return ran == nil"));
    editor.assert_quiet();
}

#[test]
fn numbers_in_strings_pass_as_they_came_and_null_in_optional_fields_is_left_out() {
    let editor = editor();
    editor.lua(
        r#"
        local t = tool("t", { function(_, args) seen = args return { status = "success", data = "ok" } end })
        t.schema["function"].parameters = {
          type = "object", additionalProperties = false, required = { "n" },
          properties = { n = { type = "integer" }, note = { type = "string" }, kept = { type = { "string", "null" } } },
        }
        open({ answer("t", '{"n":"100","note":null,"kept":null}'), { text = "done" } }, { t = t })
        send("go")"#,
    );
    editor.wait_ended(1);
    assert!(editor.lua_bool("return seen.n == '100' and seen.note == nil and seen.kept == vim.NIL"));
}

#[test]
fn r153_the_third_identical_call_in_a_row_asks() {
    let editor = editor();
    editor.lua(
        r#"
        ran = 0
        open(function() return answer("read", { path = "a" }) end, {
          read = tool("read", { function() ran = ran + 1 return { status = "success", data = "text" } end }),
        })
        send("go")"#,
    );
    editor.wait_screen("g4");
    assert_eq!(editor.lua_int("return ran"), 2);
    assert!(!editor.screen().contains("g1"), "it cannot be accepted for ever: {}", editor.screen());
    editor.input("g4");
    editor.wait_ended(1);
    assert!(editor.lua_bool("return paired()"));
}

#[test]
fn r043_a_call_written_as_text_runs_nothing_and_is_told_once() {
    let editor = editor();
    editor.lua(
        r#"
        open({ { text = 'Sure:\n```json\n{"tool_calls": [{"name": "t", "arguments": {}}]}\n```' } }, {
          t = tool("t", { function() ran = true end }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.wait_buffer("as text");
    assert!(editor.lua_bool("return ran == nil and count('LatheRequestStarted') == 1"));
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

#[test]
fn run_tool_runs_one_call_by_the_same_path_and_calls_back_once() {
    let editor = editor();
    editor.lua(
        r#"
        require("lathe").setup({ interactions = { chat = { tools = {
          t = tool("t", { function(_, args) return { status = "success", data = "got " .. tostring(args.n) } end }),
          asks = tool("asks", { function() return { status = "success", data = "ran" } end },
            { opts = { require_approval_before = true } }),
        } } } })
        got = {}
        function try(name, args)
          require("lathe").run_tool(name, args, {}, function(result) got[#got + 1] = result.status .. ": " .. result.content end)
        end
        try("t", { n = 5 })"#,
    );
    editor.wait_lua("#got == 1");
    editor.lua("try('unknown', {})");
    editor.wait_lua("#got == 2");
    editor.lua("try('asks', {})");
    editor.wait_screen("Run the \"asks\" tool?");
    editor.lua("for w = 1, vim.fn.winnr('$') do if vim.bo[vim.fn.winbufnr(w)].filetype == 'lathe' then vim.cmd(w .. 'wincmd w') end end");
    editor.input("g2");
    editor.wait_lua("#got == 3");
    let got = editor.lua_text("return table.concat(got, ' | ')");
    assert!(got.starts_with("success: got 5 | error: "), "{got}");
    assert!(got.ends_with(" | success: ran"), "{got}");
    editor.wait_lua("require('lathe.core').lib.counts().chats == 0");
    editor.assert_quiet();
}

#[test]
fn arguments_are_what_vim_json_decode_gives() {
    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            (-(1i64 << 53)..(1 << 53)).prop_map(Into::into),
            any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(Into::into),
            ".{0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::vec((".{0,6}", inner), 0..6)
                    .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
            ]
        })
    }
    let editor = editor();
    editor.lua(
        r#"
        seen = {}
        require("lathe").setup({ interactions = { chat = { tools = {
          t = tool("t", { function(_, args) seen[#seen + 1] = args return { status = "success", data = 1 } end }),
        } } } })
        function same(a, b)
          if type(a) ~= type(b) or type(a) ~= "table" then return a == b end
          if getmetatable(a) ~= getmetatable(b) then return false end
          for k, v in pairs(a) do if not same(v, b[k]) then return false end end
          for k in pairs(b) do if a[k] == nil then return false end end
          return true
        end
        function try(texts)
          seen = {}
          local calls = {}
          for i, text in ipairs(texts) do calls[i] = { name = "t", arguments = text } end
          open({ { tool_calls = calls }, { text = "done" } },
            { t = tool("t", { function(_, args) seen[#seen + 1] = args return { status = "success", data = 1 } end }) })
          send("go")
          texts_sent = texts
        end
        function check()
          for i, text in ipairs(texts_sent) do
            if not same(seen[i], vim.json.decode(text)) then return text end
          end
          return ""
        end"#,
    );
    let mut runner = TestRunner::new(Config { cases: 4, ..Config::default() });
    let turns = std::cell::Cell::new(0);
    runner
        .run(&prop::collection::vec(prop::collection::vec((".{0,6}", json()), 0..6), 100), |objects| {
            let texts: Vec<_> = objects
                .into_iter()
                .map(|fields| serde_json::Value::Object(fields.into_iter().collect()).to_string())
                .enumerate()
                // The same arguments three times in a row would ask.
                .map(|(n, text)| if text == "{}" { format!("{{\"n\":{n}}}") } else { text })
                .map(Value::from)
                .collect();
            editor.lua_with("try(...)", vec![Value::Array(texts)]);
            turns.set(turns.get() + 1);
            editor.wait_ended(turns.get());
            prop_assert_eq!(editor.lua_text("return check()"), "");
            Ok(())
        })
        .unwrap();
}

#[test]
fn large_arguments_reach_lua_whole() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("t", '{"list":[' .. ("1,"):rep(299999) .. '1],"deep":{"a":[[],{}]}}'), { text = "done" } }, {
          t = tool("t", { function(_, args)
            return { status = "success", data = #args.list .. vim.inspect(args.deep):gsub("%s+", "") }
          end }),
        })"#,
    );
    editor.lua("send('go')");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["300000{a={{},vim.empty_dict()}}"]);
}
