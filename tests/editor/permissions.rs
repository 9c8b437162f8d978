//! Permission rules in a chat: what is denied, asked about and allowed, for tools of every kind, and what the user is told.

use crate::chat::editor;
use crate::support::Editor;

/// Presses a key once the question can be seen.
fn press(editor: &Editor, keys: &str) {
    editor.wait_lua("chat.questions[1] and chat.render:is_written(chat.questions[1].call.block)");
    editor.input(keys);
}

fn ruled() -> Editor {
    let editor = editor();
    editor.run("rules");
    editor
}

#[test]
fn p41_a_denied_part_denies_the_command_and_the_model_reads_the_rule() {
    let editor = ruled();
    editor.lua(
        r#"rules({ bash = { { "*", "allow" }, { "rm *", "deny" } } }, { shell("echo one", "echo $(rm -rf x)", "echo three") })
        send("go")"#,
    );
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].contains("one") && results[2].contains("three"), "{results:?}");
    assert!(results[1].contains(r#"denied by rule bash "rm *" (setup()): rm -rf x"#), "{results:?}");
    assert!(editor.chat_text().contains("echo $(rm -rf x)"), "{}", editor.chat_text());
    editor.assert_quiet();
}

#[test]
fn p35_a_rule_beats_the_tools_own_setting_both_ways() {
    let editor = ruled();
    editor.lua(r#"rules({ plain = "ask", bash = { ["echo *"] = "allow" } }, { shell("echo hi"), answer("plain", {}) }) send("go")"#);
    // run_command asks by itself: the rule lets it run.
    editor.wait_lua("#results() == 1 and #chat.questions == 1");
    assert!(editor.results()[0].contains("hi"));
    editor.wait_screen("asked by rule plain");
    press(&editor, "g2");
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return ran[1]"), "plain");
}

#[test]
fn p40_and_row_43_a_tool_that_is_denied_for_every_input_is_not_offered() {
    let editor = ruled();
    editor.lua(r#"rules({ plain = "deny" }, { answer("plain", {}) }) send("go")"#);
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].starts_with("Tool \"plain\" not found. Available tools: `reader`"), "{results:?}");
    assert_eq!(editor.lua_int("return #ran"), 0);
}

#[test]
fn p66_always_accept_offers_the_very_command_or_a_pattern_to_edit() {
    let editor = ruled();
    editor.run("pattern");
    editor.wait_lua("#chat.questions == 1");
    editor.wait_screen("Always accept");
    press(&editor, "g1");
    editor.wait_lua("#results() == 2 and #chat.questions == 1");
    assert_eq!(editor.lua("return { picked[1], default }").to_string(), r#"["only `echo one`", "echo *"]"#);
    let list = editor.lua(
        "local list = require('lathe').approvals() return { #list, list[1].tool, list[1].value, list[1].is_pattern }",
    );
    assert_eq!(list.to_string(), r#"[1, "bash", "echo *", true]"#);
    press(&editor, "g4");
    editor.wait_ended(1);
}

#[test]
fn r125_a_path_outside_of_the_project_asks_and_what_is_accepted_is_its_folder() {
    let editor = ruled();
    editor.lua(
        r#"rules(nil, { answer("reader", { path = "inside.txt" }), answer("reader", { path = "/etc/hosts" }), answer("reader", { path = "/etc/passwd" }) })
        send("go")"#,
    );
    editor.wait_lua("#ran == 1 and #chat.questions == 1");
    editor.wait_screen("external_directory: /etc/*");
    press(&editor, "g1");
    editor.wait_ended(1);
    assert_eq!(editor.lua("return ran").to_string(), r#"["inside.txt", "/etc/hosts", "/etc/passwd"]"#);
}

#[test]
fn p45_auto_mode_lifts_ask_and_never_deny() {
    let editor = ruled();
    editor.run("secret_in_auto_mode");
    editor.wait_ended(1);
    assert_eq!(editor.lua("return ran").to_string(), r#"["plain"]"#);
    assert!(editor.results()[1].contains("denied by rule read \"secret*\""), "{:?}", editor.results());
}

#[test]
fn p33_an_agents_rules_count_for_its_chats_only() {
    let editor = ruled();
    editor.lua(
        r#"agent = "plan"
        rules({ plain = "allow" }, { answer("plain", {}) }, { agent = { plan = { permission = { plain = "deny" } } } })
        send("go")"#,
    );
    editor.wait_ended(1);
    assert!(editor.results()[0].contains("not found"), "{:?}", editor.results());
    editor.lua("agent = nil chat = require('lathe').chat({ tools = { 'plain' } }) send('go')");
    editor.wait_lua("#ran == 1");
}

#[test]
fn p33_files_of_the_project_only_tighten_and_are_read_anew_for_each_request() {
    let editor = ruled();
    editor.run("project_file");
    editor.wait_lua("#results() == 1 and #chat.questions == 1");
    assert!(editor.results()[0].contains("not found"));
    editor.wait_screen("asked by rule bash");
    press(&editor, "g4");
    editor.wait_ended(1);
    editor.lua(r#"vim.fn.delete(folder .. "/lathe.json") send("again")"#);
    editor.wait_ended(2);
    editor.lua(r#"send("and again")"#);
    editor.wait_lua("#ran == 1");
}

#[test]
fn a_bad_rule_in_a_file_asks_and_is_told_once() {
    let editor = ruled();
    editor.run("bad_rule");
    for round in 1..=2 {
        editor.wait_lua(&format!("#ran == {} and #chat.questions == 1", round - 1));
        editor.wait_screen("asked by rule plain");
        press(&editor, "g2");
    }
    editor.wait_ended(1);
    let told = editor.lua_text(r#"return table.concat(told, "\n")"#);
    assert_eq!(told.matches("counts as ask: \"alow\"").count(), 1, "{told}");
    assert!(told.contains("lathe.json:1"), "{told}");
}

#[test]
fn a_throw_in_what_a_tool_declares_asks() {
    let editor = ruled();
    editor.lua(
        r#"
        reader.permission.values = function() error("no") end
        rules({ read = "allow" }, { answer("reader", { path = "x" }) })
        send("go")"#,
    );
    editor.wait_lua("#chat.questions == 1");
    editor.wait_screen("what it wants could not be found");
    press(&editor, "g3<CR>");
    editor.wait_ended(1);
    assert_eq!(editor.lua_int("return #ran"), 0);
}

#[test]
fn every_shell_text_that_lathe_runs_is_judged_as_bash() {
    let editor = ruled();
    editor.run("shell_text");
    editor.wait_ended(1);
    assert!(editor.results()[0].contains("denied by rule bash \"touch *\""), "{:?}", editor.results());
}

#[test]
fn r009_why_names_each_part_with_the_rule_that_decides() {
    let editor = ruled();
    editor.lua(r#"rules({ bash = { { "git *", "allow" }, { "rm *", "deny" } } }, {})"#);
    editor.lua(r#"require("lathe").why("bash", "git log && rm -rf x; $X", function(l, o) lines, outcome = l, o end)"#);
    editor.wait_lua("lines");
    assert_eq!(
        editor.lua_text(r#"return table.concat(lines, "\n") .. "\n" .. outcome"#),
        "allow bash  git log\n      bash \"git *\" allow (setup())\n\
         deny  bash  rm -rf x\n      bash \"rm *\" deny (setup())\n\
         ask   bash  $X\n      what it would run cannot be told before it runs: which program it is\n\
         → deny (step 1: a rule denies; nothing lifts that)\ndeny"
    );
    editor.lua("lines = nil; require('lathe').why('plain', nil, function(l, o) lines, outcome = l, o end)");
    editor.wait_lua("lines");
    let text = editor.lua_text(r#"return table.concat(lines, "\n")"#);
    assert!(text.contains("no rule decides: step 8, the tool's own setting, which runs"), "{text}");
    editor.lua(r#"vim.cmd("Lathe why bash 'git status'")"#);
    editor.wait_screen("allow (step 3");
}

#[test]
fn why_answers_before_there_is_a_chat() {
    let editor = crate::chat::editor();
    editor.lua(r#"require("lathe").setup({ permission = { bash = { { "*", "allow" }, { "rm *", "deny" } } } })"#);
    editor.lua(r#"require("lathe").why("bash", "rm x", function(l, o) lines, outcome = l, o end)"#);
    editor.wait_lua("lines");
    assert_eq!(editor.lua_text("return outcome"), "deny");
}

#[test]
fn safe_commands_are_the_same_letter_by_letter() {
    let editor = ruled();
    editor.run("safe_commands");
    editor.wait_lua("#results() == 1 and #chat.questions == 1");
    press(&editor, "g4");
    editor.wait_ended(1);
}
