//! Tools that throw, buffers that go, a core that panics: each call still gets its result.

use rmpv::Value;

use crate::chat::editor;

#[test]
fn r119_whatever_is_thrown_is_readable_and_tracebacks_stay_in_the_log() {
    let editor = editor();
    editor.run("throwing_values");
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].contains("disk full") && results[0].contains('7'), "{results:?}");
    assert_eq!(results[1], "plain");
    assert!(!results[2].trim().is_empty() && results[2] != "nil", "{results:?}");
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
        editor.run_with("throwing_at", vec![Value::from(place)]);
        if place.starts_with("prompt") {
            editor.wait_screen("g2");
            editor.input("g2");
        }
        editor.wait_ended(1);
        let results = editor.results();
        assert_eq!(results.len(), 2, "{place}: {results:?}");
        assert_eq!(results[1], "fine", "{place}");
        assert!(!results[0].contains("traceback"), "{place}: {results:?}");
        let told = match place {
            "cmd" => "error",
            // What comes beside the call or after it does not take its result.
            "on_exit" | "cmd_string" | "prompt_condition" | "prompt" => "success",
            _ => &format!("boom in {place}"),
        };
        assert!(results[0].contains(told), "{place}: {results:?}");
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
        editor.run_with("wiping_at", vec![Value::from(place)]);
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
        assert!(editor.lua_bool("return exits == setups"), "{place}: {}", editor.lua("return { setups, exits }"));
        // Another chat works.
        editor.lua("open({ { text = 'fresh' } }, {}) send('hi')");
        editor.wait_buffer("fresh");
    }
}
