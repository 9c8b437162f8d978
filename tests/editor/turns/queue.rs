//! Many calls, calls beside each other, chats beside each other, calls from callbacks.

use crate::chat::editor;

#[test]
fn callbacks_may_stop_submit_and_answer_reentrantly() {
    let editor = editor();
    editor.run("reentrant");
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
    editor.run("ten_thousand");
    editor.wait_ended(1);
    assert_eq!(editor.lua_int("return ran"), 10_000);
    assert_eq!(editor.lua_int("return count('LatheRequestStarted')"), 2, "one turn");
    assert_eq!(editor.lua_int("return #results()"), 10_000);
    assert!(editor.lua_bool("return results()[10000] == '10000' and paired()"));
    assert!(editor.lua_int("return deepest") < 20, "no growth of the stack: {}", editor.lua_int("return deepest"));
    editor.assert_quiet();
}

#[test]
fn an_earlier_parallel_call_that_grows_on_the_screen_moves_the_later_ones() {
    let editor = editor();
    editor.run("parallel");
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
    editor.run("two_chats");
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
fn r071_a_tool_that_never_answers_ends_at_its_limit_and_the_next_runs() {
    let editor = editor();
    editor.run("silent");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["timed out after 100 ms", "fine"]);
    assert_eq!(editor.lua_int("return job.killed"), 1);
    editor.assert_quiet();
}

#[test]
fn r082_skip_ends_the_running_call_and_a_second_key_stops_the_turn() {
    let editor = editor();
    editor.run("three_waiting");
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
fn run_tool_runs_one_call_by_the_same_path_and_calls_back_once() {
    let editor = editor();
    editor.run("run_tool");
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
