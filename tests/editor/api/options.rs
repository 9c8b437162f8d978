//! What `chat()` takes, and what it does not.

use crate::chat;

#[test]
fn an_option_that_is_not_known_is_told_and_has_no_effect() {
    let editor = chat::editor();
    editor.run("unknown_options");
    editor.wait_lua("#told == 4");
    let told = editor.lua_text("return table.concat(told, '|')");
    let expected = "lathe: chat: _unlisted: unknown option; there are adapter, agent, hidden, messages, model, prompt, submit, tools";
    assert_eq!(told.split('|').next(), Some(expected), "{told}");
    for name in ["is_single_call", "on_turn_finished", "opens_for_questions"] {
        assert!(told.contains(&format!("chat: {name}: unknown option")), "{told}");
    }
    editor.lua("chat:submit()");
    editor.wait_ended(1);
    assert!(editor.lua_bool("return called == nil and require('lathe').last_chat() == chat and chat.is_saved == true"));
}
