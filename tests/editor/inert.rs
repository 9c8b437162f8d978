//! What lathe itself writes into the input means nothing but itself: no name, text or address of others offers a tool, attaches
//! a buffer, reads a resource or becomes a command. What the user types does, unless a backslash stands before it.

use crate::chat::{self, PRELUDE};
use crate::support::{Editor, Setup};

/// All that would do something if the user had typed it.
const SIGNS: [&str; 12] = [
    "@{danger}",
    "@danger",
    "(@danger)",
    "`@{danger}`",
    "@{nobody_knows}",
    "#{buffer}",
    "#{selection}",
    "#{buffer:secret.txt}",
    "#{buffer:1}",
    "#{mcp:x://secret}",
    "\\@{danger} and \\\\#{buffer}",
    "/mcp:evil",
];

fn editor() -> Editor {
    let editor = Setup::default().start();
    editor.lua(PRELUDE);
    editor.run("world");
    editor
}

/// Sends what stands in the input; gives what the model reads.
#[track_caller]
fn send(editor: &Editor) -> String {
    let turn = editor.lua_int("return chat.turn");
    editor.lua("chat:submit()");
    editor.wait_lua(&format!("chat.turn > {turn} and not chat.is_running"));
    editor.lua_text("return sent()")
}

#[track_caller]
fn assert_inert(editor: &Editor, what: &str) {
    assert!(!editor.lua_bool("return in_use()"), "{what} offers a tool");
    assert_eq!(editor.lua_int("return read"), 0, "{what} reads a resource");
    assert_eq!(editor.lua_int("return made"), 0, "{what} makes a prompt");
    let told = editor.lua_text("return table.concat(told, ' ')");
    assert!(!told.contains("There is no tool") && !told.contains("left out"), "{what}: {told}");
}

#[test]
fn a_file_name_is_not_a_mention() {
    for sign in SIGNS {
        let editor = editor();
        let name = format!("{}.md", sign.replace('/', "%"));
        editor.run_with("file_name", vec![name.as_str().into()]);
        let input = editor.lua_text("return chat.render:input()");
        assert!(input.contains("first\nsecond"), "{input}");
        let sent = send(&editor);
        assert!(sent.contains("first\nsecond") && !sent.contains("SECRET"), "{sign}: {sent}");
        assert!(sent.contains(&name), "{sign} is as it is: {sent}");
        assert_inert(&editor, sign);
        // The whole buffer is a mention by its number, which nothing in its name can change.
        editor.lua("vim.cmd('Lathe add')");
        let sent = send(&editor);
        assert!(sent.contains("first\nsecond") && !sent.contains("SECRET"), "{sign}: {sent}");
        assert_inert(&editor, sign);
    }
}

#[test]
fn added_lines_and_selections_are_text_even_where_a_fence_is_open() {
    for before in ["", "look:", "```lua", "````\nopen", "~~~"] {
        let editor = editor();
        editor.run_with(
            "fences",
            vec![before.into(), SIGNS.iter().map(|sign| (*sign).into()).collect::<Vec<crate::support::Value>>().into()],
        );
        let sent = send(&editor);
        let lines = editor.lua_text("return table.concat(lines, '\\n')");
        assert_eq!(sent.matches(&lines).count(), 2, "{before:?}: {sent}");
        assert!(!sent.contains("SECRET"), "{before:?}: {sent}");
        assert_inert(&editor, before);
    }
}

#[test]
fn the_text_of_a_prompt_is_text() {
    for sign in SIGNS {
        let editor = editor();
        editor.run_with("prompts", vec![sign.into()]);
        editor.wait_lua("chat.render:input() ~= '/mcp:good' and chat.render:input()");
        assert_eq!(send(&editor), sign);
        assert_inert(&editor, sign);
        // The same message in the input again.
        editor.lua("require('lathe.chat.actions').edit_last(chat)");
        editor.wait_lua("chat.render:input()");
        assert_eq!(send(&editor), sign);
        assert_inert(&editor, sign);
        // And one that was never there.
        editor.lua("chat:add_message({ role = 'user', content = sign }) require('lathe.chat.actions').edit_last(chat)");
        editor.wait_lua("chat.render:input()");
        assert_eq!(send(&editor), sign);
        assert_inert(&editor, sign);
        editor.lua("start() chat:add_buf_message({ role = 'user', content = '/mcp:fenced' }) chat:submit()");
        editor.wait_lua("(chat.render:input() or ''):find('see')");
        assert_eq!(send(&editor), format!("see\n```\n{sign}\n```\n{sign}"));
        assert_inert(&editor, sign);
    }
}

#[test]
fn a_message_of_a_resumed_chat_is_text_when_it_is_edited() {
    for sign in SIGNS {
        let editor = editor();
        editor.lua_with(
            r#"
            start()
            chat:add_message({ role = "user", content = ... })
            chat:add_message({ role = "llm", content = "yes" })
            chat:add_buf_message({ role = "user", content = "hi" })
            chat:submit()"#,
            vec![sign.into()],
        );
        editor.wait_lua("chat.turn == 1 and not chat.is_running");
        editor.lua("require('lathe.chat.actions').edit_last(chat)");
        editor.wait_lua("chat.render:input() == 'hi'");
        editor.run("resumed");
        editor.wait_lua("chat.render:input()");
        assert_eq!(send(&editor), sign);
        assert_inert(&editor, sign);
    }
}

#[test]
fn what_the_user_types_is_a_mention_and_a_backslash_makes_it_text() {
    let editor = editor();
    for (typed, sent, offers) in [
        ("use @{danger}", "use the danger tool", true),
        ("use @danger", "use the danger tool", true),
        (r"use \@{danger}", "use @{danger}", false),
        (r"use \@danger", "use @danger", false),
        (r"use \\@{danger}", r"use \@{danger}", false),
        (r"me\@danger.example", r"me\@danger.example", false),
        (r"a \@{nobody_knows}", "a @{nobody_knows}", false),
        (
            r"a \#{buffer}, \#{selection}, \#{buffer:1}, \#{mcp:x://secret}",
            "a #{buffer}, #{selection}, #{buffer:1}, #{mcp:x://secret}",
            false,
        ),
        (r"\#{other}", r"\#{other}", false),
        (r"`\#{buffer}`", r"`\#{buffer}`", false),
        ("`#{mcp:x://secret}`", "`#{mcp:x://secret}`", false),
        ("```\n\\@{danger} #{mcp:x://secret}\n```", "```\n\\@{danger} #{mcp:x://secret}\n```", false),
        (r"\/mcp:evil", "/mcp:evil", false),
    ] {
        editor.lua_with("told = {} start() chat:add_buf_message({ role = 'user', content = ... })", vec![typed.into()]);
        let before = editor.lua_int("return read");
        assert!(send(&editor).contains(sent), "{typed}: {}", editor.lua_text("return sent()"));
        assert_eq!(editor.lua_bool("return in_use()"), offers, "{typed}");
        assert_eq!(editor.lua_int("return read"), before, "{typed}");
    }
    assert_eq!(editor.lua_text("return table.concat(told, ' ')"), "");
    editor.lua(
        "start() chat:add_buf_message({ role = 'user', content = 'see #{mcp:x://secret} and #{buffer:secret.txt}' })",
    );
    let sent = send(&editor);
    assert!(sent.starts_with("see x://secret and the buffer") && sent.matches("SECRET").count() == 3, "{sent}");
}

// Limits --------------------------------------------------------------------------------------------------------------

#[test]
fn resources_and_prompts_obey_the_limits_of_tool_output() {
    let editor = chat::editor();
    editor.run("limits");
    for (name, lines, mark) in [
        ("lines", 50, Some("cut at 264 of 25020 bytes")),
        ("bytes", 2, Some("cut at 1000 of 80020 bytes")),
        ("short", 2, None),
        ("exact", 2, None),
    ] {
        editor.lua_with("told = {} start() send('see #{mcp:x://' .. ... .. '}')", vec![name.into()]);
        editor.wait_lua("chat.turn == 1 and not chat.is_running");
        let sent = editor.lua_text("return chat.messages[1].content");
        let behind = sent.strip_prefix(&format!("see x://{name}\n\n")).unwrap();
        assert_eq!(behind.contains("[cut at"), mark.is_some(), "{behind}");
        assert!(behind.lines().count() <= lines + 1 && behind.len() <= 1100, "{name}: {}", behind.len());
        if let Some(mark) = mark {
            assert!(behind.ends_with(&format!("[{mark}]")), "{behind}");
            editor.wait_buffer(&format!("#{{mcp:x://{name}}} is {mark}"));
        }
        editor.lua_with("start() send('/mcp:' .. ...)", vec![name.into()]);
        editor.wait_lua("chat.messages[1] and not (chat.render:input() or '/'):find('^/')");
        for text in ["chat.messages[1].content", "chat.render:input()"] {
            let text = editor.lua_text(&format!("return {text}"));
            assert_eq!(text.contains("[cut at"), mark.is_some(), "{text}");
            assert!(text.lines().count() <= lines + 1 && text.len() <= 1100, "{name}: {}", text.len());
        }
        let told = editor.lua_text("return table.concat(told, '\\n')");
        assert_eq!(told.contains("a message of the prompt is cut at"), mark.is_some(), "{told}");
    }
}
