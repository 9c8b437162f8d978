//! An editor that is killed at each point of a turn, and the chat that comes back.

use std::fs;

use serde_json::json;

use super::{calls, chat, dies, done, hang, restart, results, sent, start, wait_saved};
use crate::provider::{delta, said};
use crate::support::server::{Server, stream};

#[test]
fn killed_while_idle_nothing_is_lost() {
    let replies = vec![stream(&calls(&[("quick", "{\"n\": 1}")])), stream(&said("first answer")), done()];
    let (editor, _, messages) = dies(replies, |editor, _| {
        editor.wait_ended(1);
        wait_saved(editor, "turn_end");
    });
    assert_eq!(results(&messages), ["quick 1"]);
    assert!(messages.iter().any(|message| message["content"] == "first answer"));
    assert!(!editor.buffer().contains("interrupted"), "{}", editor.buffer());
}

#[test]
fn killed_while_text_streams_what_had_come_is_kept() {
    let replies = vec![hang(&[delta(json!({"content": "half an ans"}))]), done()];
    let (editor, _, messages) = dies(replies, |editor, _| wait_saved(editor, "half an ans"));
    assert!(messages.iter().any(|message| message["role"] == "assistant" && message["content"] == "half an ans"));
    assert!(editor.buffer().contains("The last answer is incomplete."), "{}", editor.buffer());
}

#[test]
fn half_an_answer_that_was_saved_can_be_asked_for_again_and_the_message_before_it_edited() {
    let replies = vec![hang(&[delta(json!({"content": "half an ans"}))]), stream(&said("a whole answer"))];
    let server = Server::start(replies);
    let editor = start(&server);
    chat(&editor);
    editor.lua("send('Use @{quick} first')");
    wait_saved(&editor, "half an ans");
    let editor = restart(editor.kill(), &server);
    editor.lua("last():retry()");
    editor.wait_ended(1);
    let messages = sent(&server);
    assert_eq!(messages.last().unwrap()["content"], "Use the quick tool first");
    editor.wait_buffer("a whole answer");
    assert!(!editor.buffer().contains("half an ans"), "{}", editor.buffer());
    editor.lua("last():edit_last()");
    editor.wait_lua("last().render:input() == 'Use @{quick} first'");
    assert!(!editor.buffer().contains("a whole answer"), "{}", editor.buffer());
}

#[test]
fn killed_while_arguments_stream_the_call_is_gone_and_the_text_kept() {
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "quick", "arguments": "{\"n"}}]});
    let replies = vec![hang(&[delta(json!({"content": "let me"})), delta(call)]), done()];
    let (_, _, messages) = dies(replies, |editor, _| wait_saved(editor, "let me"));
    assert!(messages.iter().any(|message| message["role"] == "assistant" && message["content"] == "let me"));
    assert!(messages.iter().all(|message| message.get("tool_calls").is_none()), "{messages:#?}");
}

#[test]
fn killed_at_a_question_with_calls_behind_it_they_come_back_as_not_run() {
    let replies = vec![stream(&calls(&[("quick", "{\"n\": 1}"), ("asks", "{}"), ("quick", "{\"n\": 2}")])), done()];
    let (editor, _, messages) = dies(replies, |editor, _| {
        editor.wait_screen("Run the \"asks\" tool?");
        wait_saved(editor, "asked");
    });
    let results = results(&messages);
    assert_eq!(results[0], "quick 1");
    assert!(results[1].starts_with("not run: ") && results[1].contains("being asked"), "{results:?}");
    assert!(results[2].starts_with("not run: "), "{results:?}");
    let buffer = editor.buffer();
    assert!(buffer.contains("2 calls were not run: asks, quick."), "{buffer}");
    assert!(buffer.contains("✓ quick  number 1\n  quick 1") && buffer.contains("■ asks"), "{buffer}");
    assert!(!buffer.contains("Run the \"asks\" tool?"), "no question comes back: {buffer}");
    assert!(!editor.home.path().join("ran").exists());
}

#[test]
fn killed_while_a_function_runs_its_state_is_unknown() {
    let replies = vec![stream(&calls(&[("hangs", "{}"), ("quick", "{}")])), done()];
    let (editor, _, messages) = dies(replies, |editor, _| {
        editor.wait_lua("hanging");
        wait_saved(editor, "started");
    });
    let results = results(&messages);
    assert!(results[0].starts_with("state unknown: "), "{results:?}");
    assert!(results[1].starts_with("not run: "), "{results:?}");
    assert!(editor.buffer().contains("1 call had started, and what was done is not known: hangs."));
}

#[test]
fn killed_while_a_command_runs_its_state_is_unknown() {
    let replies = vec![stream(&calls(&[("command", "{}")])), done()];
    let (editor, _, messages) = dies(replies, |editor, _| {
        editor.wait_until("the command", || editor.home.path().join("running").exists());
        wait_saved(editor, "started");
    });
    assert!(results(&messages)[0].starts_with("state unknown: "));
    // It outlived the editor.
    fs::remove_file(editor.home.path().join("running")).unwrap();
}

#[test]
fn killed_between_the_results_and_the_next_request_the_results_are_there() {
    let replies = vec![stream(&calls(&[("quick", "{\"n\": 1}"), ("quick", "{\"n\": 2}")])), hang(&[]), done()];
    let (_, _server, messages) = dies(replies, |editor, server| {
        editor.wait_until("the second request", || server.received().len() == 2);
        wait_saved(editor, "quick 2");
    });
    assert_eq!(results(&messages), ["quick 1", "quick 2"]);
}

#[test]
fn what_was_interrupted_is_told_once() {
    let (mut editor, server, _) = dies(vec![stream(&calls(&[("hangs", "{}")])), done()], |editor, _| {
        editor.wait_lua("hanging");
        wait_saved(editor, "started");
    });
    wait_saved(&editor, "turn_end");
    assert_eq!(editor.quit(), Some(0));
    let editor = restart(editor.kill(), &server);
    assert!(!editor.buffer().contains("interrupted"), "{}", editor.buffer());
    assert!(editor.buffer().contains("■ hangs"), "{}", editor.buffer());
}
