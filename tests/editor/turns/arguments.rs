//! What the model sends as a call and what reaches Lua of it.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rmpv::Value;

use crate::chat::editor;

#[test]
fn r030_r028_r038_unusable_calls_are_answered_and_their_siblings_run() {
    let editor = editor();
    editor.run("unusable");
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
    editor.run("misfitting");
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
    editor.run("number_in_string");
    editor.wait_ended(1);
    assert!(editor.lua_bool("return seen.n == '100' and seen.note == nil and seen.kept == vim.NIL"));
}

#[test]
fn r043_a_call_written_as_text_runs_nothing_and_is_told_once() {
    let editor = editor();
    editor.run("call_as_text");
    editor.wait_ended(1);
    editor.wait_buffer("as text");
    assert!(editor.lua_bool("return ran == nil and count('LatheRequestStarted') == 1"));
    assert_eq!(editor.chat_text().matches("as text").count(), 1, "{}", editor.chat_text());
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
    editor.run("decoded");
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
    editor.run("large");
    editor.lua("send('go')");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["300000{a={{},vim.empty_dict()}}"]);
}
