//! What *Always accept* remembers, for how long, and how it is taken back; the tool's own setting.

use std::fs;
use std::path::Path;

use crate::chat::PRELUDE;
use crate::support::{Editor, Setup};

fn editor() -> Editor {
    let editor = Setup::default().size(120, 40).start();
    prepare(&editor);
    editor
}

fn prepare(editor: &Editor) {
    editor.lua(PRELUDE);
    editor.run("asking");
}

/// Waits for question number `count` of the editor and answers it.
fn answer(editor: &Editor, count: usize, key: &str) {
    editor.wait_lua(&format!("asked() == {count} and chat.questions[1]"));
    editor.wait_lua("chat.render:is_written(chat.questions[1].call.block)");
    editor.input(&format!("<Esc>{key}"));
}

#[test]
fn r015_r016_always_accept_names_its_scope_is_listed_and_can_be_taken_back() {
    let editor = editor();
    editor.lua(
        r#"open({ answer("t", { n = 1 }), answer("t", { n = 2 }), answer("t", { n = 3 }), { text = "one" },
             answer("t", { n = 4 }), { text = "two" } }, { t = asking("t") }) send("go")"#,
    );
    editor.wait_buffer("remembers every call of t in this chat");
    answer(&editor, 1, "g1");
    editor.wait_ended(1);
    assert_eq!(editor.lua_int("return #ran"), 3);
    assert_eq!(editor.lua_int("return asked()"), 1, "asked once, then not again");
    assert_eq!(editor.lua_text("return table.concat(approvals(), ';')"), "chat t (all)");
    editor.lua("take_back('t: every call of t  in chat')");
    editor.wait_lua("#approvals() == 0");
    let told = editor.lua_text("return told[#told]");
    assert!(told.contains("asks again"), "{told}");
    editor.lua("send('again')");
    answer(&editor, 2, "g2");
    editor.wait_ended(2);
    assert_eq!(editor.lua_int("return #ran"), 4);
    editor.lua("vim.cmd('Lathe approvals')");
    editor.wait_lua("told[#told]:find('no approval is remembered')");
}

#[test]
fn r015_an_approval_of_a_chat_ends_with_it() {
    let editor = editor();
    editor.lua(r#"open({ answer("t", {}), { text = "one" } }, { t = asking("t") }) send("go")"#);
    answer(&editor, 1, "g1");
    editor.wait_ended(1);
    editor.lua("chat:close()");
    editor.wait_lua("#approvals() == 0");
    editor.lua(r#"open({ answer("t", {}), { text = "one" } }, { t = asking("t") }) send("go")"#);
    answer(&editor, 2, "g2");
    editor.wait_ended(2);
}

/// An editor in the folder, with the state folder of others, that remembers for the project.
fn in_project(state: &Path, folder: &Path) -> Editor {
    let editor = Setup::default().size(120, 40).env("XDG_STATE_HOME", state.to_str().unwrap()).start();
    prepare(&editor);
    editor.lua_with("vim.fn.chdir(...)", vec![folder.to_str().unwrap().into()]);
    editor.run("in_project");
    editor
}

#[test]
fn r015_an_approval_of_a_project_survives_a_restart_and_counts_in_no_other() {
    let folders = tempfile::tempdir().unwrap();
    let (state, one, other) = (folders.path().join("state"), folders.path().join("one"), folders.path().join("other"));
    for folder in [one.join(".git"), one.join("deep/er"), other.join(".git")] {
        fs::create_dir_all(folder).unwrap();
    }
    let mut first = in_project(&state, &one);
    first.lua("go()");
    first.wait_buffer("remembers every call of t in this project");
    answer(&first, 1, "g1");
    first.wait_ended(1);
    // What is on its way is written before the end.
    assert_eq!(first.quit(), Some(0));

    let second = in_project(&state, &one.join("deep/er"));
    second.lua("go()");
    second.wait_ended(1);
    assert_eq!(second.results(), ["ran t"]);
    assert_eq!(second.lua_int("return asked()"), 0);
    assert_eq!(second.lua_text("return table.concat(approvals(), ';')"), "project t (all)");
    let root = second.lua_text("return require('lathe').approvals()[1].project");
    assert_eq!(Path::new(&root), one.canonicalize().unwrap());

    let elsewhere = in_project(&state, &other);
    elsewhere.lua("go()");
    answer(&elsewhere, 1, "g2");
    // Taken back in one editor, it counts in none.
    elsewhere.lua("take_back('/one')");
    second.wait_lua("#approvals() == 0");
    second.lua("go()");
    answer(&second, 1, "g2");
    second.wait_ended(2);
}

#[test]
fn approvals_of_a_project_do_not_count_where_only_the_chat_is_to_remember() {
    let folders = tempfile::tempdir().unwrap();
    let (state, one) = (folders.path().join("state"), folders.path().join("one"));
    fs::create_dir_all(one.join(".git")).unwrap();
    let first = in_project(&state, &one);
    first.lua("go()");
    answer(&first, 1, "g1");
    first.wait_ended(1);
    first.wait_lua("#approvals() == 1");
    let chat_only = Setup::default().size(120, 40).env("XDG_STATE_HOME", state.to_str().unwrap()).start();
    prepare(&chat_only);
    chat_only.lua_with("vim.fn.chdir(...)", vec![one.to_str().unwrap().into()]);
    chat_only.lua(r#"open({ answer("t", {}), { text = "done" } }, { t = asking("t") }) send("go")"#);
    answer(&chat_only, 1, "g2");
    assert_eq!(
        chat_only.lua_text("return table.concat(approvals(), ';')"),
        "project t (all)",
        "it is listed all the same"
    );
}

#[test]
fn approvals_that_cannot_be_understood_or_written_are_told_and_nothing_runs_unasked() {
    let folders = tempfile::tempdir().unwrap();
    let (state, one) = (folders.path().join("state"), folders.path().join("one"));
    fs::create_dir_all(one.join(".git")).unwrap();
    let file = {
        let first = in_project(&state, &one);
        Path::new(&first.lua_text("return vim.fn.stdpath('state')")).join("lathe/approvals.json")
    };
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, r#"{"version":1,"approvals":[{"project":"*","tool":"t","since":"now"}]}"#).unwrap();
    let editor = in_project(&state, &one);
    editor.lua("go()");
    answer(&editor, 1, "g1");
    editor.wait_ended(1);
    editor.wait_lua("vim.iter(told):any(function(text) return text:find('cannot be understood', 1, true) end)");
    assert_eq!(editor.results(), ["ran t"]);
    editor.lua("go()");
    answer(&editor, 2, "g2");
    editor.wait_ended(2);
    assert!(fs::read_to_string(&file).unwrap().contains("now"), "nobody's file is overwritten");
    let messages = editor.messages();
    assert!(!messages.contains("traceback"), "{messages}");
}

#[test]
fn cc_approval_always_accept_is_for_one_command_with_require_cmd_approval() {
    let editor = editor();
    editor.run("one_command");
    for (at, remembered) in [
        "`make test`",
        "`make clean`",
        "`printf %s test`",
        "`printf %s clean`",
        r#"`{"also":{"a":"x","b":1},"what":"test"}`"#,
        r#"`{"also":{"a":"x","b":1},"what":"clean"}`"#,
    ]
    .into_iter()
    .enumerate()
    {
        editor.wait_lua(&format!("asked() == {} and chat.questions[1]", at + 1));
        let said = editor.lua_text("return require('lathe.chat.ask.question').remembers(chat.questions[1])");
        assert_eq!(said, format!("remembers {remembered} in this chat"));
        answer(&editor, at + 1, "g1");
    }
    editor.wait_ended(1);
    assert_eq!(editor.results().len(), 9);
    assert_eq!(editor.lua_int("return #approvals()"), 6);
    assert_eq!(editor.lua_int("return asked()"), 6, "each command was asked about once");
}

#[test]
fn r011_a_star_in_a_remembered_command_is_a_star() {
    let editor = editor();
    editor.run("star");
    answer(&editor, 1, "g1");
    answer(&editor, 2, "g3<CR>");
    answer(&editor, 3, "g1");
    editor.wait_ended(1);
    assert_eq!(editor.lua_int("return #ran"), 2);
    editor.lua("chat.adapter.position = 1 send('again')");
    answer(&editor, 4, "g4");
    editor.wait_ended(2);
}

#[test]
fn a_command_that_cannot_be_known_is_never_remembered() {
    let editor = editor();
    editor.run("unknown_commands");
    for at in 1..=4 {
        editor.wait_lua(&format!("asked() == {at} and chat.questions[1]"));
        assert!(editor.lua_bool("return chat.questions[1].remember == nil"));
        editor.wait_screen("g2  Accept");
        assert!(!editor.screen().contains("Always"), "{}", editor.screen());
        answer(&editor, at, "g2");
    }
    editor.wait_ended(1);
    assert_eq!(editor.lua_int("return #ran"), 4);
}

#[test]
fn r012_an_approval_of_one_command_or_tool_says_nothing_of_another() {
    let editor = editor();
    editor.lua(
        r#"open({ answer("a", {}), answer("b", {}), answer("a", { n = 2 }), { text = "done" } }, { a = asking("a"), b = asking("b") })
           send("go")"#,
    );
    answer(&editor, 1, "g1");
    answer(&editor, 2, "g4");
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return table.concat(ran, ' ')"), "a");
}

#[test]
fn r021_enter_and_other_keys_of_a_habit_choose_nothing() {
    let editor = editor();
    editor.lua(r#"open({ answer("t", {}), { text = "done" } }, { t = asking("t") }) send("go")"#);
    editor.wait_screen("Run the \"t\" tool?");
    editor.input("<Esc><CR>y<Esc>1a<CR><CR><Esc><CR>");
    editor.input(":let g:typed = 1<CR>");
    editor.wait_lua("vim.g.typed == 1");
    assert!(editor.lua_bool("return #ran == 0 and #chat.questions == 1 and #results() == 0 and #approvals() == 0"));
    answer(&editor, 1, "g2");
    editor.wait_lua("#ran == 1");
    assert_eq!(editor.lua_int("return #approvals()"), 0);
}

#[test]
fn r022_a_closed_window_leaves_the_question_open_and_it_can_be_shown_again() {
    let editor = editor();
    editor.lua(r#"open({ answer("t", {}), { text = "done" } }, { t = asking("t") }) send("go")"#);
    editor.wait_screen("Run the \"t\" tool?");
    editor.input("<Esc>:q<CR>");
    editor.wait_screen_without("Run the \"t\" tool?");
    assert!(editor.lua_bool("return #chat.questions == 1 and chat.is_running and #ran == 0"));
    editor.input(":Lathe toggle<CR>");
    editor.wait_screen("Run the \"t\" tool?");
    answer(&editor, 1, "g2");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran t"]);
}

#[test]
fn cc_approval_setting_is_a_boolean_a_function_or_a_value_for_prompt_condition() {
    let editor = editor();
    editor.run("settings");
    editor.wait_ended(1);
    let wrong = editor.lua_text(
        "return table.concat(vim.iter(cases):map(function(case)            if (asked_about[case[1]] or false) ~= case[2] then return case[1] end end):totable(), ' ')",
    );
    assert_eq!(wrong, "");
    assert_eq!(editor.lua_int("return #ran - #cases"), 0);
}

#[test]
fn r153_the_third_identical_call_is_asked_about_although_it_is_remembered_and_cannot_be_for_ever() {
    let editor = editor();
    editor.lua(
        r#"open({ answer("t", { path = "a" }), answer("t", { path = "a" }), answer("t", { path = "a" }), { text = "done" } },
             { t = asking("t") }) send("go")"#,
    );
    answer(&editor, 1, "g1");
    editor.wait_buffer("third time in a row");
    let question = editor.buffer();
    assert!(!question.contains("Always accept"), "{question}");
    answer(&editor, 2, "g1");
    editor
        .wait_lua("vim.iter(told):any(function(text) return text:find('only be answered for this call', 1, true) end)");
    answer(&editor, 2, "g2");
    editor.wait_ended(1);
    assert_eq!(editor.lua_int("return #ran"), 3);
}
