//! What a chat looks like, as pictures of the whole screen at 80 and 120 columns. Whoever changes the looks sees here what
//! it does: `cargo insta review`, or `INSTA_UPDATE=always`.

use crate::chat::PRELUDE;
use crate::support::{Editor, Setup, script};

fn opened(setup: Setup, width: u16, code: &str) -> Editor {
    let editor = setup.size(width, 30).start();
    editor.lua(PRELUDE);
    editor.run("prelude");
    editor.lua(code);
    editor.lua("alone()");
    editor
}

/// Compares the screen with the picture of that name. Spinners differ from run to run; times are the same in these tests.
#[track_caller]
fn shows(editor: &Editor, name: &str, width: u16) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../screens");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", "⠹");
    settings.add_filter(r"\b0:\d\d\b", "0:00");
    let screen = settled(editor);
    settings.bind(|| insta::assert_snapshot!(format!("{name}-{width}"), screen));
}

/// The screen once nothing on it moves any more, but for spinners.
#[track_caller]
fn settled(editor: &Editor) -> String {
    const FRAMES: &[char] = &['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
    let still = |screen: &str| screen.replace(FRAMES, "");
    let (mut before, mut same) = (editor.screen(), 0);
    editor.wait_until("a screen that stands still", || {
        editor.lua("vim.cmd.redraw()");
        let screen = editor.screen();
        same = if still(&screen) == still(&before) { same + 1 } else { 0 };
        before = screen;
        same >= 10
    });
    before
}

fn both(name: &str, code: &str, then: impl Fn(&Editor)) {
    for width in [80, 120] {
        let editor = opened(Setup::default(), width, code);
        then(&editor);
        shows(&editor, name, width);
    }
}

#[test]
fn an_empty_chat() {
    both("empty", "open({}, {})", |editor| editor.wait_screen("@ for tools"));
}

#[test]
fn an_answer_that_streams() {
    let code = r#"open({ { text = "A list:\n\n- one\n- **two**\n\n```lua\nprint(1)\n```\n\nand so", hang = true } }, {})
    alone()
    send("Make me a list, please")"#;
    both("streaming", code, |editor| editor.wait_screen("and so"));
}

#[test]
fn a_call_that_runs() {
    let code = script("running");
    both("running", &code, |editor| {
        editor.wait_screen("rule::deny");
        editor.lua("chat:add_buf_message({ role = 'user', content = 'Also check the docs build.' }) chat:submit()");
        editor.wait_screen("waits for the tools");
        editor.wait_screen("gs skip");
    });
}

#[test]
fn output_folded() {
    both("folded", &script("done"), |editor| {
        editor.wait_ended(1);
        editor.wait_screen("tokens");
    });
}

#[test]
fn output_unfolded() {
    both("unfolded", &script("done"), |editor| {
        editor.wait_ended(1);
        editor.wait_screen("tokens");
        editor.lua("vim.fn.search('grep_search  ', 'b') vim.cmd('normal! zo')");
        editor.wait_screen("src/file2.rs");
    });
}

#[test]
fn a_question() {
    let code = script("question");
    both("question", &code, |editor| editor.wait_screen("g4"));
}

#[test]
fn a_question_with_long_arguments() {
    let code = script("long_question");
    both("long-question", &code, |editor| editor.wait_screen("g4"));
}

#[test]
fn a_rejected_call() {
    let code = script("rejected");
    both("rejected", &code, |editor| {
        editor.wait_screen("g4");
        editor.input("<Esc>g3");
        editor.wait_ended(1);
        editor.wait_screen("I use cargo clean then.");
    });
}

#[test]
fn a_denied_call() {
    let code = script("denied");
    both("denied", &code, |editor| {
        editor.wait_ended(1);
        editor.wait_screen("I may not.");
    });
}

#[test]
fn an_error_of_the_provider() {
    let code = r#"open({ { error = "Invalid schema for function 'my_tool'", status = 400 } }, {}) alone() send("go")"#;
    both("error", code, |editor| {
        editor.wait_ended(1);
        editor.wait_screen("send again");
    });
}

#[test]
fn a_chat_that_was_resumed() {
    for width in [80, 120] {
        let editor = opened(Setup::default(), width, &script("done"));
        editor.wait_ended(1);
        editor.wait_lua("chat.saved_id and saved():find('turn_end')");
        let home = editor.kill();
        let code = script("resumed");
        let editor = opened(Setup::default().home(home), width, &code);
        editor.wait_screen("**214**");
        editor.lua("alone()");
        editor.wait_screen("@ tools");
        shows(&editor, "resumed", width);
    }
}

#[test]
fn the_help() {
    both("help", "open({}, {})", |editor| {
        editor.wait_screen("@ for tools");
        editor.input("<Esc>g?");
        editor.wait_screen("Send the message");
    });
}
