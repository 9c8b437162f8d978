//! `User` autocommands of others: each hears each event once, as Neovim would tell it, and an error in one is told once and
//! keeps neither lathe nor the others from going on.

use crate::chat::{self, PRELUDE};
use crate::support::{Editor, Setup, repository};

const TURN: &str = r#"open({ answer("t", {}), { text = "answered" } }, { t = tool("t", { function() return { status = "success" } end }) }) send("go")"#;

/// What was told, one message a line.
#[track_caller]
fn told(editor: &Editor) -> String {
    editor.lua_text("return table.concat(told, '\\n')")
}

fn editor() -> Editor {
    let editor = chat::editor();
    editor.lua("told = {} vim.notify = function(text) told[#told + 1] = text end");
    editor
}

#[test]
fn an_error_is_told_once_per_event_and_error_and_logged_and_the_turn_goes_on() {
    let editor = editor();
    editor.run("failing");
    for turn in 1..=3 {
        editor.lua(if turn == 1 { TURN } else { "send('again')" });
        editor.wait_lua(&format!("count('LatheChatDone') == {turn} or count('LatheChatStopped') > 0 or chat.turn > 3"));
        editor.wait_lua("not chat.is_running");
    }
    let told = told(&editor);
    let place = repository().join("tests/editor/listeners.lua");
    let place = place.display();
    for event in ["ChatCreated", "ChatSubmitted", "RequestStarted", "ToolStarted", "ToolFinished", "ChatDone"] {
        let message = format!("lathe: an autocommand for Lathe{event} failed: {place}");
        assert_eq!(told.matches(&message).count(), 1, "{event}: {told}");
    }
    assert_eq!(told.matches("failed: { code = 7 }").count(), 1, "{told}");
    assert_eq!(told.matches("nonsense").count(), 1, "{told}");
    let same = editor.lua_bool(
        "local names = {} for i, event in ipairs(events) do names[i] = event.name end return vim.deep_equal(names, heard)",
    );
    assert!(same, "who comes after one that fails hears everything");
    let log = std::fs::read_to_string(editor.lua_text("return require('lathe.log').path")).unwrap();
    assert!(log.contains("boom at LatheChatDone"), "{log}");
    assert_eq!(editor.messages(), "");
    assert_eq!(editor.lua_text("return vim.api.nvim_get_mode().mode"), "n", "nothing waits for a key");
}

/// With Neovim's own `vim.notify`, which would stop at `Press ENTER` for what is longer than a line.
#[test]
fn the_editor_never_stops_at_press_enter() {
    let editor = Setup::default().size(60, 20).start();
    editor.lua(PRELUDE);
    editor.run("long_errors");
    editor.lua(TURN);
    editor.wait_ended(1);
    assert!(!editor.lua_bool("return vim.api.nvim_get_mode().blocking"));
    assert!(!editor.screen().contains("Press ENTER"), "{}", editor.screen());
    editor.input("<Esc>:let g:typed = 1<CR>");
    editor.wait_lua("vim.g.typed == 1");
}

#[test]
fn commands_and_functions_of_scripts_hear_events_and_their_errors_are_told_once() {
    let editor = editor();
    let script = editor.home.path().join("listen.vim");
    std::fs::write(
        &script,
        "let g:heard = []\n\
         function! s:note(name) abort\n  call add(g:heard, a:name)\nendfunction\n\
         autocmd User LatheChatSubmitted call s:note(expand('<amatch>'))\n\
         function! s:caught() abort\n  try\n    nonsense\n  catch\n    call s:note('caught')\n  endtry\nendfunction\n\
         autocmd User LatheChatDone call s:caught()\n\
         autocmd User LatheToolStarted echoerr 'from a script'\n",
    )
    .unwrap();
    editor.lua_with("vim.cmd.source(...)", vec![script.to_str().unwrap().into()]);
    editor.lua(TURN);
    editor.wait_ended(1);
    editor.lua("send('again')");
    editor.wait_ended(2);
    let heard = editor.lua_text("return table.concat(vim.g.heard, ' ')");
    assert_eq!(heard, "LatheChatSubmitted caught LatheChatSubmitted caught");
    assert_eq!(told(&editor).matches("from a script").count(), 1, "{}", told(&editor));
}

#[test]
fn a_callback_gets_what_neovim_gives_it() {
    let editor = editor();
    editor.run("callbacks");
    for turn in 1..=2 {
        editor.lua(if turn == 1 { TURN } else { "send('again')" });
        editor.wait_ended(turn);
    }
    let seen = editor.lua_text(
        "local lines = {} for i, one in ipairs(seen) do lines[i] = vim.inspect(one, { newline = '', indent = '' }) end \
         return table.concat(lines, '\\n')",
    );
    let line = |name: &str| format!("{{ \"{name}\", \"User\", \"{name}\", true, true, \"{name}\", true, true }}");
    let turn = [line("LatheChatSubmitted"), line("LatheChatDone")].join("\n");
    assert_eq!(seen, format!("{turn}\n{turn}"));
    assert!(editor.lua_bool("return once == 1 and data_ok and deleted == 1 and ok == false"));
    assert!(editor.messages().contains("printed by a callback"), "what they print is shown");
    assert_eq!(told(&editor), "");
}

#[test]
fn events_inside_of_a_callback_are_heard_as_well() {
    let editor = editor();
    editor.lua(
        r#"
        vim.api.nvim_create_autocmd("User", { pattern = "LatheChatDone", once = true, callback = function()
          inner = require("lathe").chat({ hidden = true })
        end })"#,
    );
    editor.lua(TURN);
    editor.wait_ended(1);
    editor.wait_lua("count('LatheChatCreated') == 2");
    // Who clears all autocommands does not silence lathe for those who register again.
    editor.lua(
        r#"
        vim.cmd("autocmd! User")
        vim.api.nvim_create_autocmd("User", { pattern = "LatheChatDone", callback = function() again = true end })
        send("once more")"#,
    );
    editor.wait_lua("again");
    assert_eq!(told(&editor), "");
}

#[test]
fn chat_done_comes_after_the_last_text_is_in_the_buffer_whatever_its_size() {
    let editor = editor();
    editor.run("last_texts");
    editor.wait_ended(1);
    editor.watch_loop();
    editor.lua("send('two')");
    editor.wait_ended(2);
    let gaps = editor.gaps();
    assert!(gaps.p99_ms() < 50.0, "{gaps:?}");
    editor.lua("send('three')");
    editor.wait_ended(3);
    // The next turn begins while the last one is written: the end of that comes before it.
    editor.run("next_turn");
    editor.wait_ended(5);
    let whole = editor.lua_text("return table.concat(whole, ' ')");
    assert!(
        whole.starts_with("Submitted1- Done1+ Submitted2- Done2+ Submitted3- Done3+ Submitted4- Done4+ Submitted5- "),
        "{whole}"
    );
    assert_eq!(told(&editor), "");
}
