//! Auto mode: what runs without asking, what asks all the same, and the judge.

mod judge;

use crate::chat::PRELUDE;
use crate::support::{Editor, Setup};

/// `gated(name, opts, gates)`: a tool that notes its runs in `ran`.
const GATED: &str = include_str!("auto/prelude.lua");

fn editor() -> Editor {
    let editor = Setup::default().size(120, 40).start();
    editor.lua(PRELUDE);
    editor.lua(GATED);
    editor
}

/// Waits for question number `count`, and returns the chat's text.
fn question(editor: &Editor, count: usize) -> String {
    editor.wait_lua(&format!("asked() == {count} and chat.questions[1]"));
    editor.wait_lua("chat.render:is_written(chat.questions[1].call.block)");
    editor.wait_screen("g2  Accept");
    editor.buffer()
}

#[test]
fn cc_auto_runs_tools_without_asking_until_its_key_or_the_end_of_the_chat() {
    let editor = editor();
    editor.lua(
        r#"open({ answer("t", { n = 1 }), { text = "one" }, answer("t", { n = 2 }), { text = "two" } }, { t = gated("t") })"#,
    );
    editor.input("<Esc>ga");
    editor.wait_buffer("Auto mode is on in this chat: tools run without asking");
    let text = editor.buffer();
    assert!(text.contains("protect") && text.contains("`ga` turns it off"), "{text}");
    assert!(editor.lua_bool("return chat.is_auto"));
    editor.lua("send('go')");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran t"]);
    assert_eq!(editor.lua_int("return asked()"), 0);
    // Back to asking (R016).
    editor.input("<Esc>ga");
    editor.wait_buffer("Auto mode is off");
    editor.lua("send('go')");
    question(&editor, 1);
    editor.input("<Esc>g2");
    editor.wait_ended(2);
    let states = "return table.concat(vim.iter(events):map(function(e) return e.name == 'LatheChatAuto' and e.data.status or nil end):totable(), ' ')";
    assert_eq!(editor.lua_text(states), "on off");
    // A new chat knows nothing of it.
    editor.lua("chat:set_auto(true) chat:close()");
    editor.lua(r#"open({ answer("t", {}), { text = "one" } }, { t = gated("t") }) send("go")"#);
    question(&editor, 2);
    assert!(editor.lua_bool("return not chat.is_auto"));
}

#[test]
fn the_command_turns_auto_mode_on_and_off_and_completes() {
    let editor = editor();
    editor.input(":Lathe auto<CR>");
    editor.wait_lua("#told == 1 and told[1]:find('no chat')");
    editor.lua("open({ { text = 'x' } }, {})");
    for (command, on) in [("auto on", true), ("auto on", true), ("auto off", false), ("auto", true), ("auto", false)] {
        editor.lua(&format!("vim.cmd('Lathe {command}')"));
        assert_eq!(editor.lua_bool("return chat.is_auto"), on, "{command}");
    }
    editor.lua("vim.cmd('Lathe auto maybe')");
    editor.wait_lua("told[#told]:find('usage: :Lathe auto', 1, true)");
    let complete = "return table.concat(vim.fn.getcompletion('Lathe auto ', 'cmdline'), ' ')";
    assert_eq!(editor.lua_text(complete), "off on");
}

#[test]
fn an_open_question_stays_open_when_auto_mode_is_turned_on() {
    let editor = editor();
    editor.lua(r#"open({ answer("t", {}), { text = "one" } }, { t = gated("t") }) send("go")"#);
    question(&editor, 1);
    editor.input("<Esc>ga");
    editor.wait_buffer("Auto mode is on");
    assert!(editor.lua_bool("return #chat.questions == 1 and #ran == 0"));
    editor.input("<Esc>g2");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran t"]);
}

#[test]
fn cc_auto_protect_in_the_entry_asks_and_turns_both_gates_off() {
    let editor = editor();
    editor.run("protected");
    let text = question(&editor, 1);
    assert!(text.contains("is protected") && !text.contains("Always accept"), "{text}");
    editor.input("<Esc>g1");
    editor
        .wait_lua("vim.iter(told):any(function(text) return text:find('only be answered for this call', 1, true) end)");
    editor.input("<Esc>g2");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran sly", "ran own"]);
    assert_eq!(editor.lua_int("return looked"), 0);
}

#[test]
fn protect_and_require_cmd_approval_of_the_entry_change_nothing_without_auto_mode_but_what_is_remembered() {
    let editor = editor();
    editor.run("guarded_without_auto_mode");
    // Those that need no question by themselves have run; the one that needs one is asked about as ever.
    let text = question(&editor, 1);
    assert_eq!(editor.lua_text("return table.concat(ran, ' ')"), "protected guarded");
    assert!(!text.contains("is protected") && !text.contains("auto mode"), "{text}");
    // What is remembered is the command, not the tool.
    assert!(text.contains("remembers `cmd 1` in this chat"), "{text}");
    editor.input("<Esc>g1");
    question(&editor, 2);
    assert_eq!(editor.lua_text("return table.concat(ran, ' ')"), "protected guarded asks asks");
    assert_eq!(editor.lua_int("return chat.questions[1].call.args.n"), 2);
    editor.input("<Esc>g2");
    editor.wait_ended(1);
}

#[test]
fn cc_auto_is_safe_lets_a_guarded_command_run_and_only_by_saying_true() {
    let editor = editor();
    editor.run("safe_or_not");
    for (at, note) in ["", "", "is_safe failed", "is_safe failed", "is_safe failed", ""].into_iter().enumerate() {
        let text = question(&editor, at + 1);
        assert!(text.contains("not known to be safe asks"), "{text}");
        assert!(text.contains("remembers `cmd 1` in this chat"), "{text}");
        assert_eq!(text.contains("failed"), !note.is_empty(), "{text}");
        assert!(text.contains(note), "{text}");
        editor.input("<Esc>g2");
    }
    editor.wait_ended(1);
    assert_eq!(editor.lua_int("return #ran"), 7);
    assert_eq!(editor.lua_text("return ran[1]"), "yes");
}

#[test]
fn run_command_runs_listed_commands_in_auto_mode_and_asks_about_others_one_by_one() {
    let editor = editor();
    editor.run("listed_commands");
    let text = question(&editor, 1);
    assert!(text.contains("remembers `echo safe; echo more` in this chat"), "{text}");
    editor.input("<Esc>g2");
    let text = question(&editor, 2);
    assert!(text.contains("remembers `echo 'a*'` in this chat"), "{text}");
    editor.input("<Esc>g1");
    // What differs by a blank is another command.
    question(&editor, 3);
    editor.input("<Esc>g2");
    question(&editor, 4);
    editor.input("<Esc>g2");
    editor.wait_ended(1);
    assert_eq!(editor.results()[0].trim(), "safe");
    editor.lua("chat.adapter.position = 2 send('again')");
    // Remembered, so not asked about; the next one is.
    question(&editor, 5);
    assert_eq!(editor.lua_text("return chat.questions[1].call.args.cmd"), "echo  'a*'");
}

#[test]
fn r153_auto_mode_does_not_lift_the_question_about_the_third_identical_call() {
    let editor = editor();
    editor.lua(
        r#"open({ answer("t", {}), answer("t", {}), answer("t", {}), { text = "done" } }, { t = gated("t") })
           chat:set_auto(true) send("go")"#,
    );
    let text = question(&editor, 1);
    assert!(text.contains("third time in a row"), "{text}");
    editor.input("<Esc>g4");
    editor.wait_ended(1);
    assert_eq!(editor.lua_int("return #ran"), 2);
}
