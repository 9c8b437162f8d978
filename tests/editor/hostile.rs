//! What tools, models, users and other plugins do that nobody would expect. It may fail; the rest must go on.

use crate::chat::editor;

#[test]
fn a_notify_that_is_a_callable_table_gets_the_messages() {
    let editor = editor();
    editor.lua(
        "told = {}
         vim.notify = setmetatable({}, { __call = function(_, text) told[#told + 1] = text end })
         require('lathe').setup({ unheard = 1 })",
    );
    editor.wait_lua("(told[1] or ''):find('unheard: unknown option')");
    editor.assert_quiet();
}

#[test]
fn a_long_name_or_label_with_nul_bytes_is_shown() {
    let editor = editor();
    editor.run("nul_bytes");
    editor.wait_ended(1);
    let results = editor.results();
    assert_eq!(results[0], "ran");
    assert!(results[1].ends_with("not found. Available tools: `t`"), "{results:?}");
    editor.wait_buffer("✓ t  é");
    editor.assert_quiet();
}

#[test]
fn r093_a_question_shows_hostile_arguments_and_its_answers() {
    let editor = editor();
    editor.run("hostile_arguments");
    for (shown, most_lines) in [("a ⏎ b: 1", 20), ("more bytes)", 25), ("more arguments", 70), ("more lines", 45)] {
        editor.wait_buffer(shown);
        editor.wait_screen("g4  Cancel");
        let (lines, bytes) = (editor.buffer().lines().count(), editor.buffer().len());
        assert!(lines < most_lines && bytes < 5_000, "{shown}: {lines} lines, {bytes} bytes");
        editor.input("g2");
        editor.wait_until("the question is gone", || !editor.buffer().contains(shown));
    }
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["newline", "wide", "many", "prompt"]);
    editor.assert_quiet();
}

#[test]
fn a_result_that_throws_when_it_is_read_is_an_error_and_the_queue_goes_on() {
    let editor = editor();
    editor.run("traps");
    editor.wait_ended(1);
    let results = editor.results();
    assert_eq!(results.len(), 3, "{results:?}");
    for (name, result) in ["returned", "called", "later"].into_iter().zip(results) {
        assert!(result.starts_with(&format!("cmd 1 of \"{name}\" gave no valid status")), "{result}");
    }
    editor.assert_quiet();
}

#[test]
fn an_unmodifiable_chat_shows_the_whole_turn() {
    let editor = editor();
    editor.run("unmodifiable");
    editor.wait_ended(1);
    editor.wait_buffer("done");
    assert!(editor.buffer().contains("✓ t"));
    assert!(editor.lua_bool("return not vim.bo[chat.bufnr].modifiable and vim.bo[chat.bufnr].readonly"));
    editor.assert_quiet();
}

#[test]
fn a_prompt_of_very_many_lines_is_sent_whole() {
    let editor = editor();
    editor.lua(r#"open({ { text = "done" } }, {}) send(("line\n"):rep(100000) .. "end")"#);
    editor.wait_ended(1);
    assert_eq!(editor.lua_int("return #chat.messages[1].content"), 500_003);
    editor.assert_quiet();
}

#[test]
fn a_call_whose_lines_the_user_has_moved_about_ends_in_sight() {
    let editor = editor();
    editor.run("asking");
    editor.wait_screen("g4  Cancel");
    editor.input(":g/./m0<CR>");
    editor.wait_lua("vim.fn.getline(1) == '## Me'");
    editor.input("g2");
    editor.wait_ended(1);
    editor.wait_buffer("✓ t");
    editor.wait_buffer("done");
    assert!(!editor.messages().contains("Error"), "{}", editor.messages());
}

#[test]
fn a_jump_to_a_heading_that_was_deleted_is_none() {
    let editor = editor();
    editor.lua("open({ { text = 'done' } }, {}) send('go')");
    editor.wait_ended(1);
    editor.input("ggdG");
    editor.wait_lua("vim.fn.line('$') == 1");
    editor.input("]][[]]");
    editor.input(":let done = 1<CR>");
    editor.wait_lua("vim.g.done == 1");
    assert!(!editor.messages().contains("Error"), "{}", editor.messages());
}

#[test]
fn a_write_that_fails_is_told_and_the_turn_ends() {
    let editor = editor();
    editor.run("failing_write");
    editor.wait_ended(1);
    editor.wait_lua("vim.api.nvim_exec2('messages', { output = true }).output:find('internal error')");
    editor.lua("send('again')");
    editor.wait_ended(2);
    editor.wait_buffer("shown");
}

#[test]
fn a_tool_that_takes_itself_apart_gets_results_and_its_on_exit() {
    let editor = editor();
    editor.run("taking_apart");
    editor.wait_ended(1);
    assert_eq!(
        editor.results(),
        [
            "Tool \"options\": setup left opts that is nil, not a table",
            "Tool \"cmds\": setup left cmds that is nil, not a table",
            "handlers",
            "The call of the output tool did not complete: the tool gave no result",
            "view"
        ]
    );
    assert_eq!(editor.lua_text("return table.concat(exits, ' ')"), "options cmds handlers output view");
    editor.assert_quiet();
}

#[test]
fn listeners_and_a_notify_that_throw_stop_nothing() {
    let editor = editor();
    editor.run("throwing_listeners");
    editor.wait_ended(2); // the tool that runs alone has a turn of its own
    editor.wait_lua("ran == 'ran'");
    assert_eq!(editor.results()[0], "ran");
    editor.lua("chat:hide() chat:open() chat:close()");
    editor.wait_lua("count('LatheChatHidden') >= 1 and count('LatheChatClosed') >= 2");
}

#[test]
fn schemas_that_take_for_ever_hold_up_their_own_chats_only() {
    let mut editor = editor();
    editor.run("endless_schemas");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran"]);
    editor.lua("for _, which in ipairs(stuck) do which:stop() end");
    editor.wait_ended(4);
    assert_eq!(editor.quit(), Some(0));
}

#[test]
fn a_time_limit_may_be_fractional_or_infinite() {
    let editor = editor();
    editor.run("odd_limits");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["half", "huge"]);
    editor.assert_quiet();
}

#[test]
fn a_message_is_sent_although_looking_at_its_mentions_fails() {
    let editor = editor();
    editor.run("failing_mentions");
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return chat.messages[1].content"), "use @{g} now");
    editor.wait_lua("told:find('could not be added')");
}

#[test]
fn a_question_without_room_for_a_split_is_asked_in_a_float() {
    let editor = editor();
    editor.run("no_room");
    editor.wait_screen("g4  Cancel");
    editor.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('lathe://2'))");
    editor.input("g2");
    editor.wait_lua("ran == 'ran'");
    editor.assert_quiet();
}

#[test]
fn what_talks_to_a_chat_or_runs_a_tool_works_in_a_fast_event() {
    let editor = editor();
    editor.run("fast_event");
    editor.wait_ended(1);
    editor.wait_lua("ran == 'ran'");
    editor.wait_buffer("noticed");
    let roles =
        "local r = {} for _, m in ipairs(chat.messages) do r[#r + 1] = m.content end return table.concat(r, ' ')";
    assert_eq!(editor.lua_text(roles), "known typed done");
    editor.assert_quiet();
}

#[test]
fn a_plugin_reloaded_while_a_turn_runs_closes_the_old_chat_and_opens_new_ones() {
    let editor = editor();
    for with_library in [false, true] {
        editor.run_with("reloaded", vec![with_library.into()]);
        editor.wait_ended(1);
        assert_eq!(editor.lua_text("return chat.messages[2].content"), "fresh");
        editor.wait_lua("not vim.api.nvim_buf_is_valid(old.bufnr)");
        editor.wait_lua("require('lathe.core').lib.counts().commands == 0");
        assert_eq!(editor.lua_int("return require('lathe.core').lib.counts().chats"), 1);
        editor.assert_quiet();
    }
}

#[test]
fn an_answer_is_not_for_a_question_that_is_not_yet_shown() {
    let editor = editor();
    editor.run("two_asking");
    editor.wait_screen("n: 1");
    editor.run("accepting_early");
    editor.wait_screen("n: 2");
    editor.wait_lua("told == 'lathe: the question has just changed'");
    assert_eq!(editor.results(), ["ran 1"]);
    editor.input("g3<CR>");
    editor.wait_ended(1);
    assert_eq!(editor.results()[1], "The user rejected the t tool");
}
