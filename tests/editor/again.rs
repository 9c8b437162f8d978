//! Sending again: the last answer anew, the last message edited.

use crate::chat::editor;

#[test]
fn retry_replaces_the_last_answer_and_keeps_what_the_tools_did() {
    let editor = editor();
    editor.run("calls_once");
    editor.wait_ended(1);
    editor.lua("vim.cmd('Lathe retry')");
    editor.wait_ended(2);
    let text = editor.chat_text();
    assert!(text.contains("second answer") && !text.contains("first answer"), "{text}");
    assert_eq!(text.matches("## Lathe").count(), 1, "{text}");
    assert!(text.contains("once"), "{text}");
    assert_eq!(editor.lua("return { ran, #chat.messages }").to_string(), "[1, 4]");
}

#[test]
fn a_failed_answer_is_sent_again() {
    let editor = editor();
    editor.lua(
        r#"open({ { text = "half an", error = "overloaded" }, { text = "a whole answer" } }, {})
        send("go")"#,
    );
    editor.wait_ended(1);
    assert!(editor.chat_text().contains("half an"));
    editor.lua("vim.cmd('Lathe retry')");
    editor.wait_ended(2);
    let text = editor.chat_text();
    assert!(text.contains("a whole answer") && !text.contains("half an"), "{text}");
    assert_eq!(editor.lua("return chat.messages[#chat.messages].content"), "a whole answer".into());
}

#[test]
fn the_last_message_comes_back_as_it_was_typed_and_what_is_in_the_input_stays() {
    let editor = editor();
    editor.lua(
        r#"open({ { text = "one" }, { text = "two" } }, { once = tool("once", { function() end }) })
        send("first")
        "#,
    );
    editor.wait_ended(1);
    editor.lua(r#"send("use @{once} please")"#);
    editor.wait_ended(2);
    editor.lua(r#"chat:add_buf_message({ role = "user", content = "a draft" }); vim.cmd("Lathe edit_last")"#);
    editor.wait_lua("#chat.messages == 2");
    let text = editor.chat_text();
    assert!(text.ends_with("## Me\n\na draft\n\nuse @{once} please"), "{text}");
    assert!(text.contains("one") && !text.contains("two"), "{text}");
    editor.lua("vim.cmd('Lathe edit_last')");
    editor.wait_lua("#chat.messages == 0");
    assert!(editor.chat_text().starts_with("## Me\n\na draft"), "{}", editor.chat_text());
    editor.assert_no_fault();
}
