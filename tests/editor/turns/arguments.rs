//! What the model sends as a call and what reaches Lua of it.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rmpv::Value;

use crate::chat::editor;

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
