//! Closing, clearing and stopping a chat at every point.

use super::editor;

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
    editor.run("held_call");
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
        editor.run_with("at_point", vec![point.into()]);
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
        editor.run_with("stopping_at", vec![point.into()]);
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
fn r026_after_a_cancel_the_next_message_is_sent_and_tools_still_work() {
    let editor = editor();
    editor.run("asking");
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
    editor.run("two_outcomes");
    editor.wait_lua("count('LatheRequestFinished') == 2 and not chat.is_running");
    assert_eq!(editor.results(), ["ran", "no"]);
    assert!(editor.lua_bool("return events[#events].data.status == 'held' and paired()"));
    editor.lua("chat:submit()");
    editor.wait_buffer("after the error");
    editor.assert_quiet();
}

#[test]
fn stop_ends_a_tool_that_runs_without_a_chat() {
    let editor = editor();
    editor.run("without_chat");
    editor.input(":Lathe call slow<CR>");
    editor.wait_lua("started");
    editor.input(":Lathe stop<CR>");
    editor.wait_lua("count('LatheChatStopped') == 1");
    editor.wait_lua("require('lathe.core').lib.counts().chats == 0");
}
