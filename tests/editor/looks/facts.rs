//! The short facts beside a line: a failure, a denial, what keys there are, what an edit means.

use super::{editor, line, opened};
use crate::support::script;

#[test]
fn a_failure_of_the_provider_is_one_line_that_names_the_key_to_send_again() {
    let editor = opened(
        r#"
        open({ { error = "Invalid schema for function 'my_tool'", status = 400 }, { error = "one\ntwo" } }, {})
        chat.config.keymaps.retry = { modes = { n = "gr" } }
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.wait_screen("gr send again");
    let shown = line(&editor, "my_tool");
    assert!(shown.starts_with("! Scripted 400: Invalid schema for function 'my_tool'  "), "{shown}");
    assert!(shown.ends_with("gr send again") && shown.chars().count() == 80, "{shown}");
    editor.lua("chat.config.keymaps.retry = nil chat:submit()");
    editor.wait_ended(2);
    editor.wait_buffer("! Scripted: one\n  two");
    editor.wait_screen("! Scripted: one");
    assert!(!line(&editor, "Scripted: one").contains("again"));
    editor.assert_quiet();
}

#[test]
fn the_line_of_a_request_that_is_tried_again_changes_in_place_and_the_last_failure_takes_it() {
    let editor = opened("open({ { hang = true } }, {}) send('go')");
    editor.wait_lua("chat.is_running");
    editor.lua("notice = require('lathe.chat.draw.notice_line')");
    let retry = |message: &str, attempt: u32, wait_ms: u32| {
        let fields = format!("{{ message = '{message}', attempt = {attempt}, of = 4, wait_ms = {wait_ms} }}");
        editor.lua(&format!("notice.retry(chat, {fields})"));
    };
    retry("rate limit reached", 1, 8000);
    let left = || {
        let screen = editor.screen();
        let (seconds, _) = screen.split("retry 1 of 4 in ").nth(1)?.split_once(" s  q stop")?;
        seconds.parse::<u32>().ok()
    };
    editor.wait_until("the seconds that are left", || left().is_some_and(|left| left <= 8));
    assert!(line(&editor, "rate limit").starts_with("! Scripted: rate limit reached"));
    let first = left();
    editor.wait_until("fewer of them", || left() < first);
    retry("overloaded", 2, 100);
    editor.wait_screen("retry 2 of 4  q stop");
    assert!(!editor.buffer().contains("rate limit"), "{}", editor.buffer());
    editor.lua("notice.failed(chat, { message = 'overloaded for good' })");
    editor.wait_buffer("! Scripted: overloaded for good");
    assert_eq!(editor.buffer().matches("overloaded").count(), 1, "{}", editor.buffer());
    // The next one has a line of its own, and the answer settles it.
    retry("again", 1, 90000);
    editor.wait_until("the seconds that are left", || left().is_some_and(|left| left > 60));
    editor.lua("notice.settle(chat)");
    editor.wait_screen_without(" s  q stop");
    assert!(line(&editor, "! Scripted: again").ends_with("retry 1 of 4"));
    editor.assert_quiet();
}

#[test]
fn facts_beside_the_input_fit_its_window_and_name_the_keys_that_are_set() {
    let editor = opened("open({ { text = 'hi', usage = { input = 1234, output = 100 } } }, {})");
    editor.wait_screen("g? keys   @ tools");
    editor.lua("send('go')");
    editor.wait_ended(1);
    editor.wait_screen("g? keys   @ tools   1.2k/0.1k tokens");
    assert_eq!(line(&editor, "tokens").chars().count(), 80);
    editor.resize(40, 24);
    editor.wait_screen_without("tokens");
    editor.wait_screen("g? keys   @ tools");
    editor.resize(18, 24);
    editor.wait_screen_without("@ tools");
    editor.wait_screen("g? keys");
    editor.resize(12, 24);
    editor.wait_screen_without("keys");
    editor.resize(80, 24);
    editor.wait_screen("tokens");
    editor.assert_quiet();
}

#[test]
fn an_empty_chat_says_how_to_begin_until_the_first_character() {
    let editor = opened("open({ { text = 'hi' } }, {})");
    editor.wait_screen("i to write, <CR> to send (<C-s> while writing)");
    editor.input("iW");
    editor.wait_screen_without("to send");
    editor.input("<BS>");
    editor.wait_screen("i to write");
    editor.input("hello<C-s>");
    editor.wait_ended(1);
    editor.wait_buffer("hi");
    assert!(!editor.screen().contains("to write"), "{}", editor.screen());
    editor.lua("chat:clear()");
    editor.wait_screen("i to write");
    editor.assert_quiet();
}

#[test]
fn an_edit_of_the_history_is_said_to_have_no_effect_once() {
    let editor = opened("open({ { text = 'one answer' }, { text = 'two' } }, {})");
    editor.input("ifirst words<C-s>");
    editor.wait_ended(1);
    editor.wait_buffer("one answer");
    assert!(!editor.screen().contains("not sent"), "{}", editor.screen());
    editor.input("<Esc>Gotyped<Esc>");
    editor.wait_buffer("typed");
    assert!(!editor.screen().contains("not sent"), "{}", editor.screen());
    editor.input("gg/first<CR>cwlast<Esc>");
    editor.wait_screen("last words   not sent: the history stays as it was");
    editor.input("/one<CR>x");
    editor.wait_buffer("ne answer");
    assert_eq!(editor.screen().matches("not sent").count(), 1);
    assert_eq!(editor.lua_text("return chat.messages[1].content"), "first words");
    editor.input("<CR>");
    editor.wait_ended(2);
    editor.wait_screen_without("not sent");
    editor.assert_quiet();
}

#[test]
fn every_icon_is_one_cell_wide() {
    let editor = editor();
    let wide = editor.lua_text(&script("wide_icons"));
    assert_eq!(wide, "");
}

#[test]
fn what_a_skipped_command_had_printed_stays_with_its_call() {
    let editor = opened(
        "open({ answer('t', {}), { text = 'done' } }, { t = tool('t', { 'echo printed before; sleep 30' }) }) send('go')",
    );
    editor.wait_screen("printed before");
    editor.input("<Esc>gs");
    editor.wait_ended(1);
    editor.wait_buffer("■ t");
    assert!(editor.buffer().contains("\n  printed before\n"), "{}", editor.buffer());
    assert!(!editor.buffer().contains("stopped by the user"), "the line says so: {}", editor.buffer());
    editor.assert_quiet();
}

#[test]
fn a_denied_call_is_one_line_that_names_the_rule() {
    let editor = editor();
    editor.run("denied");
    editor.wait_ended(1);
    editor.wait_screen("done");
    let shown = line(&editor, "✗ t");
    assert!(shown.ends_with("denied by rule bash \"rm *\" (setup())") && shown.chars().count() == 80, "{shown}");
    assert!(!editor.buffer().contains("rm -rf"), "{}", editor.buffer());
    editor.assert_quiet();
}

#[test]
fn a_fact_that_does_not_fit_beside_its_line_stands_below_it_and_is_whole() {
    let editor = editor();
    let error = "the schema of the function has no properties, and this server wants some";
    editor.lua_with(
        "local error = ... open({ { error = error, status = 400 } }, {}) vim.cmd('vertical resize 50') send('go')",
        vec![error.into()],
    );
    editor.wait_ended(1);
    editor.wait_screen("  gr send again");
    let row = |text: &str| editor.screen().lines().position(|line| line.contains(text));
    assert!(row("gr send again") > row("wants some"), "{}", editor.screen());
}

#[test]
fn auto_mode_is_in_sight_as_long_as_it_is_on() {
    let editor = opened("open({}, {})");
    editor.wait_screen("g? keys");
    editor.lua("chat:set_auto(true)");
    editor.wait_screen("auto mode   g? keys");
    assert!(editor.lua_text("return require('lathe').statusline(chat.bufnr)").contains("auto"));
    editor.lua("chat:set_auto(false)");
    editor.wait_screen_without("auto mode   g?");
}
