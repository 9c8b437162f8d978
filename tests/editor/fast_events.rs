//! Every public function in a fast event, where Neovim's API is out of reach: it works, now or a moment later, or refuses in
//! one line and has changed nothing.

use crate::chat::{self, PRELUDE};
use crate::support::{Editor, Setup};

fn editor() -> Editor {
    let editor = chat::editor();
    editor.run("calls");
    editor.run("opened");
    editor
}

fn names(editor: &Editor, where_: &str) -> Vec<String> {
    let list = editor.lua(&format!(
        "local names = {{}} for name, value in pairs(functions('{where_}')) do
           if type(value) == 'function' and not name:find('^__') then names[#names + 1] = name end end
         table.sort(names) return names"
    ));
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// In a fast event, one function in an editor of its own.
#[test]
fn every_public_function_works_or_refuses_in_one_line() {
    let list = editor();
    let mut refused = Vec::new();
    for area in ["lathe", "chat", "ui", "registry"] {
        for name in names(&list, area) {
            assert!(
                list.lua_bool(&format!("return calls.{area}['{name}'] ~= nil")),
                "{area}.{name} is not in the list"
            );
            if list.lua_bool(&format!("return calls.{area}['{name}'] == false")) {
                continue;
            }
            let editor = editor();
            editor.lua(&format!("in_fast_event('{area}', '{name}')"));
            editor.wait_lua("outcome");
            let outcome = editor.lua_text("return outcome");
            if outcome != "ok" {
                assert!(
                    outcome.starts_with("lathe: ") && outcome.contains("fast event") && !outcome.contains('\n'),
                    "{area}.{name}: {outcome}"
                );
                refused.push(format!("{area}.{name}"));
            }
            // Whatever it does later is done by now.
            editor.lua("vim.wait(30, function() end)");
            let told = editor.lua_text("return table.concat(told, '\\n')");
            for sign in ["E5560", "stack traceback", "internal error", "attempt to"] {
                assert!(!told.contains(sign) && !editor.messages().contains(sign), "{area}.{name}: {told}");
            }
            editor.assert_quiet();
            // The chat goes on as before, if it is still there.
            if name != "close" {
                editor.lua(&format!(
                    "events = {{}} vim.g.after = '{area}.{name}' chat:add_buf_message({{ role = 'user', content = 'again' }}) chat:submit()"
                ));
                editor.wait_lua("vim.g.after and ended() >= 1");
            }
        }
    }
    let expected =
        ["lathe.approvals", "lathe.chat", "lathe.get_chat", "ui.is_active", "ui.is_visible_non_curtab", "ui.last"];
    assert_eq!(refused, expected, "what has to answer at once, and cannot");
}

#[test]
fn what_is_asked_for_in_a_fast_event_is_done() {
    let t = |area: &str, name: &str, done: &str| {
        let editor = editor();
        editor.lua(&format!("in_fast_event('{area}', '{name}')"));
        editor.wait_lua("outcome == 'ok'");
        editor.wait_lua(done);
    };
    t("lathe", "toggle", "not chat:is_visible()");
    t("lathe", "add", "(chat.render:input() or ''):find('#{buffer:' .. other .. '}', 1, true)");
    t("lathe", "why", "why_lines");
    t("lathe", "run_tool", "ran and ran.output == 'x' or ran");
    t("lathe", "register_tool", "chat.tool_registry:knows('registered')");
    t("lathe", "setup", "require('lathe.config').get().display.icons == 'ascii'");
    t("lathe", "resume", "(told[1] or ''):find('no-such-chat', 1, true)");
    t("lathe", "add_tool", "require('lathe.native.store').get('s1')");
    t("chat", "hide", "not chat:is_visible()");
    t("chat", "set_auto", "chat.is_auto and count('LatheChatAuto') == 1");
    t("chat", "set_auto", "vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)[1] and chat.is_auto");
    t("chat", "close", "count('LatheChatClosed') == 1 and not vim.api.nvim_buf_is_valid(chat.bufnr)");
    t("chat", "add_message", "#chat.messages == 1");
    t("chat", "add_context", "#chat.messages == 1 and #chat.context_items == 1");
    t("chat", "add_buf_message", "(chat.render:input() or ''):find('typed')");
    t("chat", "clear", "true");
    t("registry", "add", "chat.tool_registry.in_use.u");
    t("registry", "remove", "not chat.tool_registry.in_use.t");
    t("ui", "hide", "not chat:is_visible()");
}

#[test]
fn a_fast_event_may_come_before_anything_was_loaded() {
    for call in [
        "lathe.chat()",
        "lathe.toggle()",
        "lathe.last_chat()",
        "lathe.get_chat(1)",
        "lathe.add()",
        "lathe.statusline()",
        "lathe.approvals()",
        "lathe.why('bash', 'ls', function() end)",
        "lathe.register_tool('x', { name = 'x', cmds = {}, schema = {} })",
        "lathe.run_tool('x', {}, {}, function() end)",
        "lathe.add_server('s', {})",
        "lathe.resume('x')",
        "lathe.setup({})",
    ] {
        let editor = Setup::default().start();
        editor.lua(PRELUDE);
        editor.run_with("before_all", vec![call.into()]);
        editor.wait_lua("outcome");
        let outcome = editor.lua_text("return outcome");
        assert!(
            outcome == "ok" || (outcome.starts_with("lathe: ") && outcome.contains("fast event")),
            "{call}: {outcome}"
        );
        editor.lua("vim.wait(50, function() end)");
        editor.assert_quiet();
        // Afterwards everything works.
        editor.lua(
            r#"open({ answer("t", {}), { text = "done" } }, { t = tool("t", { function() return { status = "success" } end }) }) send("go")"#,
        );
        editor.wait_ended(1);
    }
}
