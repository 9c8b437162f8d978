//! How long processes live: no command hangs, none is left, and ending one never stops the editor.

use std::fs;
use std::time::Instant;

use super::*;
use crate::support::{at_best, script};

/// A command that SIGTERM does not end, and that its end can be told from.
const STUBBORN: &str = "trap '' TERM; echo half; : > up; while :; do sleep 1; done";

/// Starts a call of shell text and waits until it has made the file `up`.
#[track_caller]
fn start(editor: &Editor, text: &str) {
    let up = editor.home.path().join("up");
    let _ = fs::remove_file(&up);
    editor.lua_with("run({ (...) })", vec![text.into()]);
    editor.wait_until("the command to begin", || up.exists());
    editor.input("<Esc>");
}

#[track_caller]
fn wait_for_no_survivors(editor: &Editor) {
    let start = Instant::now();
    editor.wait_until("the end of all processes", || survivors(editor).is_empty());
    assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
}

// Ending by themselves ------------------------------------------------------------------------------------------------

#[test]
fn r061_a_background_child_that_holds_the_pipes_does_not_keep_the_call() {
    let editor = editor();
    for text in ["tail -f /dev/null & echo ready", "sleep 60 & echo ready"] {
        let result = sh_soon(&editor, text);
        assert!(result.starts_with("ready\n[exit code 0; still running in the background after the end"), "{result}");
        assert_has(&result, &["so it was ended", "(pid "]);
        assert_clean(&editor);
    }
}

#[test]
fn r063_a_background_child_that_keeps_writing_does_not_keep_the_call() {
    let editor = editor();
    let result = sh_soon(&editor, "(while :; do echo x; sleep 0.1; done) & echo fg");
    assert_has(&result, &["fg\n", "so it was ended"]);
    assert_clean(&editor);
}

#[test]
fn a_child_with_a_session_of_its_own_is_ended_too() {
    let editor = editor();
    assert_has(&sh_soon(&editor, "setsid sleep 60 & echo ready"), &["ready\n", "so it was ended: "]);
    wait_for_no_survivors(&editor);
    // In the foreground it is the shell that is waited for.
    start(&editor, ": > up; setsid sleep 60");
    editor.input("q");
    editor.wait_ended(1);
    wait_for_no_survivors(&editor);
    assert_clean(&editor);
}

#[test]
fn with_background_the_rest_is_left_and_named_until_the_editor_exits() {
    let mut editor = editor();
    let started = Instant::now();
    let code = "run({ \"(trap '' TERM; while :; do echo x; sleep 0.1; done) & echo ready\" }, { opts = { background = true } })";
    let result = call(&editor, code);
    assert!(started.elapsed() < SOON);
    assert_has(&result, &["ready\n", "[exit code 0; still running in the background: ", "(pid "]);
    assert!(!survivors(&editor).is_empty(), "it is left");
    editor.lua("chat:close()");
    editor.wait_lua("require('lathe.core').lib.counts().chats == 0");
    assert!(!survivors(&editor).is_empty(), "also by the end of its chat");
    editor.assert_quiet();
    editor.quit();
    assert!(survivors(&editor).is_empty(), "{:?}", survivors(&editor));
}

#[test]
fn r066_a_heredoc_in_a_chain_reaches_the_shell_byte_for_byte() {
    let editor = editor();
    assert_eq!(sh_soon(&editor, "true && cat <<'E'\nline  \"$x\"\nE"), "line  \"$x\"\n");
    assert_clean(&editor);
}

#[test]
fn r067_a_program_that_asks_gets_no_input_and_goes_on() {
    let editor = editor();
    assert_eq!(sh_soon(&editor, "read -r a; echo got:$a; cat"), "got:\n");
    assert_clean(&editor);
}

#[test]
fn r071_a_command_that_never_ends_has_a_time_limit_and_the_next_call_runs() {
    let editor = editor();
    editor.run("slow_then_fine");
    editor.wait_ended(1);
    assert_eq!(
        editor.results(),
        ["The command timed out after 200 ms and was ended. It had printed nothing.", "fine\n"]
    );
    assert_clean(&editor);
}

#[test]
fn r080_commands_leave_no_zombies() {
    let editor = editor();
    editor.run("thirty");
    editor.wait_ended(1);
    assert_eq!(editor.results().len(), 30);
    assert_clean(&editor);
}

// Ended by the user ---------------------------------------------------------------------------------------------------

#[test]
fn r074_stopping_the_chat_stops_what_it_started() {
    let editor = editor();
    start(&editor, "sh -c 'while :; do date >> beat.txt; : > up; sleep 0.05; done'");
    editor.input("q");
    wait_for_no_survivors(&editor);
    let beats = fs::read(editor.home.path().join("beat.txt")).unwrap();
    editor.wait_ended(1);
    assert_eq!(fs::read(editor.home.path().join("beat.txt")).unwrap(), beats);
    assert_clean(&editor);
}

#[test]
fn r077_stopping_a_command_that_ignores_it_never_holds_the_editor() {
    let editor = editor();
    start(&editor, STUBBORN);
    editor.watch_loop();
    editor.input("q");
    editor.wait_ended(1);
    let gaps = editor.gaps();
    assert!(gaps.p99_ms() < 50.0, "{gaps:?}");
    assert_clean(&editor);
}

#[test]
fn what_is_stopped_is_gone_within_two_seconds_though_it_ignores_the_first_signal() {
    let editor = editor();
    at_best(Duration::from_secs(2), || {
        start(&editor, STUBBORN);
        let stopped = Instant::now();
        editor.input("q");
        editor.wait_ended(1);
        wait_for_no_survivors(&editor);
        let took = stopped.elapsed();
        assert!(took >= Duration::from_secs(1), "it has its second to end by itself: {took:?}");
        took
    });
    assert_clean(&editor);
}

#[test]
fn r078_what_was_printed_before_a_skip_or_a_stop_reaches_the_model() {
    let editor = editor();
    for key in ["gs", "q"] {
        start(&editor, "echo half; echo warn >&2; : > up; sleep 60");
        editor.input(key);
        let result = result(&editor);
        assert_has(&result, &["half", "warn", "stopped by the user"]);
        assert!(!result.contains("timed out"), "{result}");
        wait_for_no_survivors(&editor);
    }
    assert_clean(&editor);
}

#[test]
fn r082_one_command_can_be_skipped_and_a_second_key_stops_the_turn() {
    let editor = editor();
    editor.run("four_calls");
    let up = |name: &str| editor.home.path().join(name).exists();
    editor.wait_until("the first", || up("up60"));
    editor.input("<Esc>gs");
    editor.wait_until("the third", || up("up61"));
    editor.input("q");
    editor.wait_lua("count('LatheChatStopped') == 1");
    let results = editor.results();
    assert_has(&results[0], &["stopped by the user", "began 60"]);
    assert_eq!(results[1], "began 0\n");
    assert_has(&results[2], &["stopped", "began 61"]);
    assert_eq!(results[3], "The user stopped the chat before the t tool was done");
    assert!(!up("up62") && editor.lua_bool("return paired()"));
    wait_for_no_survivors(&editor);
    assert_clean(&editor);
}

#[test]
fn cancel_at_a_question_runs_nothing_of_a_command() {
    let editor = editor();
    editor.lua("run({ ': > never' }, { opts = { require_approval_before = true } })");
    editor.wait_screen("Run the \"t\" tool?");
    editor.input("<Esc>g4");
    assert_eq!(result(&editor), "The user cancelled the t tool");
    assert!(!editor.home.path().join("never").exists());
    assert_clean(&editor);
}

#[test]
fn a_tree_of_fifty_descendants_is_stopped() {
    let editor = editor();
    start(&editor, "n=50; f() { [ $1 -gt 0 ] || { : > up; sleep 60; return; }; (f $(($1 - 1))) & wait; }; f $n");
    editor.input("q");
    editor.wait_ended(1);
    wait_for_no_survivors(&editor);
    assert_clean(&editor);
}

#[test]
fn endless_output_is_stopped_in_bounded_memory() {
    let editor = editor();
    sh(&editor, "seq 1 9000");
    let before = memory_kib(&editor);
    let result = call(&editor, "run({ 'yes' }, { opts = { timeout = 2000 } })");
    assert_has(&result, &["timed out after 2000 ms", "[cut: ", "lines"]);
    let grown = memory_kib(&editor).saturating_sub(before);
    assert!(grown < 32 * 1024, "{grown} KiB");
    assert_clean(&editor);
}

#[test]
fn deleting_the_buffer_ends_the_running_command() {
    let editor = editor();
    start(&editor, STUBBORN);
    editor.lua("vim.api.nvim_buf_delete(chat.bufnr, { force = true })");
    wait_for_no_survivors(&editor);
    editor.wait_lua("require('lathe.core').lib.counts().chats == 0 and count('LatheChatClosed') == 1");
    assert_clean(&editor);
}

#[test]
fn leaving_neovim_leaves_no_process_within_a_bound() {
    let tree = "f() { [ $1 -gt 0 ] || { : > up; exec sleep 60; }; (f $(($1 - 1))) & wait; }; f 10";
    at_best(Duration::from_secs(2), || {
        let mut editor = editor();
        editor.run_with("three_kinds", vec![STUBBORN.into(), tree.into()]);
        editor.wait_until("all of them", || survivors(&editor).len() >= 13);
        let start = Instant::now();
        assert_eq!(editor.quit(), Some(0));
        let took = start.elapsed();
        assert!(survivors(&editor).is_empty(), "{:?}", survivors(&editor));
        took
    });
}

#[test]
fn registered_jobs_are_ended_with_their_call_whatever_they_are() {
    let editor = editor();
    editor.run("jobs");
    editor.wait_until("the job", || editor.home.path().join("up").exists());
    editor.input("<Esc>gs");
    assert_eq!(result(&editor), "Stopped by the user before the t tool was done");
    editor.wait_lua("killed.signal == 9");
    assert!(editor.lua_bool("return killed.table == 15"));
    assert_has(&editor.lua_text("return fault"), &["register_job: expected a job with a method kill, got {}"]);
    // Too late is ended at once.
    editor.lua("register_later({ kill = function() killed.late = true end })");
    assert!(editor.lua_bool("return killed.late"));
    editor.assert_quiet();
}

// On the screen -------------------------------------------------------------------------------------------------------

#[test]
fn while_a_command_runs_the_chat_shows_its_last_line_and_how_long() {
    let editor = editor();
    let script = "printf '\\033[31mfirst\\033[0m line\\n'; until [ -e go ]; do sleep 0.05; done; printf '10%%\\r90%%'; \
                  until [ -e end ]; do sleep 0.05; done; printf '\\rall is through\\n'";
    editor.lua_with("run({ (...) })", vec![script.into()]);
    editor.wait_screen("  first line");
    // The time goes on by itself.
    editor.wait_until("another time", || {
        let screen = editor.screen();
        screen.contains("  gs skip") && !screen.contains("0:00  gs skip")
    });
    fs::write(editor.home.path().join("go"), "").unwrap();
    editor.wait_screen("  90%");
    assert!(!editor.screen().contains("10%"), "{}", editor.screen());
    fs::write(editor.home.path().join("end"), "").unwrap();
    assert_eq!(result(&editor), "first line\nall is through\n");
    editor.wait_screen("✓ t");
    editor.wait_screen_without("gs skip");
    editor.wait_screen("  all is through");
    assert_clean(&editor);
}

#[test]
fn a_command_after_a_slow_function_shows_its_last_line_too() {
    let editor = editor();
    let script = "printf 'now the command\\n'; until [ -e end ]; do sleep 0.05; done";
    editor.lua_with(
        "local function slow(_, _, opts) vim.defer_fn(function() opts.output_cb({ status = 'success', data = 'slow' }) end, 20) end
         run({ slow, (...) })",
        vec![script.into()],
    );
    editor.wait_screen("  now the command");
    fs::write(editor.home.path().join("end"), "").unwrap();
    assert_eq!(result(&editor), "slow\n\nnow the command\n");
    assert_clean(&editor);
}

// Many at once --------------------------------------------------------------------------------------------------------

#[test]
fn two_hundred_commands_of_twenty_chats_run_at_once_and_lose_nothing() {
    let editor = editor();
    editor.run("twenty_chats");
    let up = || {
        fs::read_dir(editor.home.path())
            .unwrap()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("up."))
            .count()
    };
    editor.wait_until("200 commands at once", || up() == 200);
    fs::write(editor.home.path().join("go"), "").unwrap();
    editor.wait_ended(20);
    let wrong = editor.lua_text(&script("wrong_results"));
    assert_eq!(wrong, "");
    assert_eq!(editor.lua_int("return require('lathe.core').lib.counts().commands"), 0);
    assert_clean(&editor);
}

#[test]
fn five_hundred_commands_between_as_many_of_neovims_own_each_see_their_exit() {
    let editor = editor();
    editor.run("five_hundred");
    editor.wait_ended(1);
    editor.wait_lua("theirs == 500");
    let results = editor.results();
    assert_eq!(results.len(), 500);
    for (n, result) in (1..).zip(&results) {
        let expected = match n % 5 {
            0 => "The command succeeded (exit code 0) and printed nothing.".to_owned(),
            code => format!("The command failed with exit code {code} and printed nothing."),
        };
        assert_eq!(*result, expected, "call {n}");
    }
    assert_eq!(editor.lua_text("return table.concat(wrong, ', ')"), "");
    assert_clean(&editor);
}
