//! Questions before a call: where they show, what answers them, and that nothing else does.

use crate::chat::{self, PRELUDE};
use crate::support::{Editor, Setup, run_headless, script};

fn editor() -> Editor {
    let editor = chat::editor();
    editor.run("asking");
    editor
}

#[test]
fn two_chats_ask_at_once_and_each_answer_is_for_its_own() {
    let editor = editor();
    editor.run("two_chats");
    editor.wait_lua("#first.questions == 1");
    // The cursor is in the second chat, the first is behind it.
    editor.wait_screen("Run the \"b\" tool?");
    editor.input("g2");
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return table.concat(ran, ' ')"), "b");
    assert!(editor.lua_bool("return #first.questions == 1 and #second.questions == 0 and #results(first) == 0"));
    editor.lua("first:open()");
    editor.wait_screen("Run the \"a\" tool?");
    editor.lua("vim.ui.input = function(_, done) done('') end");
    editor.input("<Esc>g3");
    editor.wait_ended(2);
    assert_eq!(editor.lua_text("return results(first)[1]"), "The user rejected the a tool");
    assert_eq!(editor.lua_text("return table.concat(ran, ' ')"), "b");
    editor.assert_quiet();
}

#[test]
fn a_hidden_chat_that_asks_says_so_and_shows_its_question_when_opened() {
    let editor = editor();
    editor.lua("open({ answer('t', {}), { text = 'done' } }, { t = asking('t') }, { hidden = true }) send('go')");
    editor.wait_lua("#told == 1");
    let told = editor.lua_text("return told[1]");
    assert!(told.contains("hidden chat asks: Run the \"t\" tool?") && told.contains(":Lathe toggle"), "{told}");
    editor.input(":Lathe toggle<CR>");
    editor.wait_screen("g2  Accept");
    editor.input("g2");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran t"]);
}

#[test]
fn notify_on_approval_false_is_silent() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("t", {}), { text = "done" } }, { t = asking("t"), opts = { notify_on_approval = false } },
          { hidden = true })
        send("go")"#,
    );
    editor.wait_lua("#chat.questions == 1");
    editor.lua("chat:open()");
    editor.wait_screen("g2  Accept");
    assert_eq!(editor.lua_int("return #told"), 0);
}

#[test]
fn without_a_user_interface_a_question_is_rejected_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("unattended.lua");
    let code = script("unattended");
    std::fs::write(&file, format!("{PRELUDE}\n{code}")).unwrap();
    let output = run_headless(Setup::default(), &["-S", file.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("0 ") && text.contains("no user interface"), "{text}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn nothing_but_its_answers_in_its_own_buffer_answers_a_question() {
    let editor = editor();
    editor.lua("open({ answer('t', {}), { text = 'done' } }, { t = asking('t') }) send('go')");
    editor.wait_screen("Run the \"t\" tool?");
    // Another buffer: neither the keys, nor the maps, nor the commands.
    editor.input("<C-w>pg2g1g3g4");
    for name in ["Accept", "AlwaysAccept", "Reject", "Cancel"] {
        editor.lua(&format!("vim.keymap.set('n', '<F5>', '<Plug>(Lathe{name})')"));
        editor.input("<F5>");
        editor.input(&format!(
            ":Lathe {}<CR>",
            if name == "AlwaysAccept" { "always_accept".into() } else { name.to_lowercase() }
        ));
    }
    // A typed message, a closed window, and time.
    editor.input("<C-w>p");
    editor.wait_lua("vim.api.nvim_get_current_buf() == chat.bufnr");
    editor.input("Goyes, accept it<C-s>");
    editor.wait_lua("vim.fn.mode() == 'n'");
    editor.input(":close<CR>");
    editor.wait_lua("not chat:is_visible()");
    assert!(editor.lua_bool("return #ran == 0 and #results() == 0 and #chat.questions == 1 and chat.is_running"));
    // It is there when the chat is shown again.
    editor.input(":Lathe toggle<CR>");
    editor.wait_screen("Run the \"t\" tool?");
    editor.input("g2");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran t"]);
}

#[test]
fn moving_between_headings_from_another_buffer_leaves_it_alone() {
    let editor = editor();
    editor.lua("open({ { text = ('line\\n'):rep(50) } }, {}) send('go')");
    editor.wait_ended(1);
    editor.lua("told = {}");
    editor.input("<C-w>p:Lathe prev_heading<CR>:Lathe next_heading<CR>");
    editor.input(":let g:typed = 1<CR>");
    editor.wait_lua("vim.g.typed == 1");
    let messages = editor.messages();
    assert!(!messages.contains("Error") && !messages.contains("traceback"), "{messages}");
}

#[test]
fn the_question_shows_tool_and_arguments_whatever_they_hold() {
    let editor = Setup::default().size(100, 40).start();
    editor.lua(PRELUDE);
    editor.run("asking");
    editor.run("any_arguments");
    editor.wait_screen("Run the \"t\" tool?");
    let screen = editor.screen();
    for part in [
        "path: a.txt",
        "text: line 1",
        "more lines  gV view all",
        "nested: ",
        "odd",
        "Always accept",
        "remembers every call",
    ] {
        assert!(screen.contains(part), "{part:?}\n{screen}");
    }
    assert!(!screen.contains("line 40"), "{screen}");
    editor.input("g2");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran t"]);
    // The question goes with its answer.
    editor.wait_screen_without("Always accept");
    editor.assert_quiet();
}

#[test]
fn a_large_argument_is_one_line_of_json_cut_and_counted() {
    let editor = editor();
    editor.run("large_argument");
    editor.wait_buffer("  many: [[1],[2],[3],");
    editor.wait_buffer(" more bytes)");
    editor.input("<Esc>g2");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran t"]);
}

#[test]
fn an_escaped_reason_leaves_the_question_open_and_a_void_one_takes_no_answer() {
    let editor = editor();
    editor.lua(
        "open({ answer('t', {}), { text = 'done' } }, { t = asking('t') }) \
         vim.ui.input = function(_, done) answer_later = done end send('go')",
    );
    editor.wait_screen("Run the \"t\" tool?");
    editor.input("g3");
    editor.wait_lua("answer_later");
    editor.lua("answer_later(nil)");
    assert!(editor.lua_bool("return #chat.questions == 1 and chat.is_running"));
    // While a reason is typed the chat is stopped.
    editor.lua("answer_later = nil");
    editor.input("g3");
    editor.wait_lua("answer_later");
    editor.lua("chat:stop()");
    editor.wait_ended(1);
    editor.lua("answer_later('too late')");
    assert!(!editor.results()[0].contains("too late"));
    assert!(editor.lua_bool("return paired() and #ran == 0"));
    // Now there is nothing to answer.
    editor.input("g2");
    editor.wait_lua("#told == 1 and told[1]:find('no question')");
}

#[test]
fn calls_that_may_overlap_ask_one_after_another() {
    let editor = editor();
    editor.run("overlapping");
    editor.wait_screen("Run the \"a\" tool?");
    assert_eq!(editor.lua_int("return #chat.questions"), 1);
    editor.input("<Esc>Gg3<CR>");
    editor.wait_screen("Run the \"b\" tool?");
    editor.input("g2");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["The user rejected the a tool", "ran b"]);
    editor.assert_quiet();
}

#[test]
fn a_question_that_is_removed_from_the_buffer_can_still_be_answered() {
    let editor = editor();
    editor.lua("open({ answer('t', {}), { text = 'done' } }, { t = asking('t') }) send('go')");
    editor.wait_screen("Run the \"t\" tool?");
    editor.input("<Esc>ggdG");
    editor.wait_screen_without("Run the \"t\" tool?");
    editor.input("g2");
    editor.wait_ended(1);
    editor.wait_buffer("✓ t");
    editor.wait_buffer("## Me");
    assert_eq!(editor.results(), ["ran t"]);
    editor.assert_quiet();
}
