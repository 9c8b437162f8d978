//! What tool authors and other plugins see: `chat.messages`, events, the methods of a chat.

mod life;
mod messages;
mod options;

use crate::chat;
use crate::support::{Editor, script};

fn editor() -> Editor {
    chat::editor()
}

#[test]
fn events_come_once_each_in_order_with_their_data() {
    let editor = editor();
    editor.run("three_calls");
    editor.wait_lua("count('LatheChatOpened') == 1");
    editor.lua("send('go')");
    editor.wait_screen("Run the \"asks\" tool?");
    editor.input("<Esc>g2");
    editor.wait_ended(1);
    editor.lua("chat:hide()");
    editor.wait_lua("count('LatheChatHidden') == 1");
    editor.lua("chat:open()");
    editor.wait_lua("count('LatheChatOpened') == 2");
    editor.lua("chat:close()");
    editor.wait_lua("count('LatheChatClosed') == 1");
    let names = editor.lua_text(
        "local n = {} for i, e in ipairs(events) do n[i] = e.name:sub(6) .. (e.data.tool and ' ' .. e.data.tool or '') .. \
         (e.data.status and '=' .. e.data.status or '') end return table.concat(n, '\\n')",
    );
    assert_eq!(
        names.split('\n').collect::<Vec<_>>(),
        [
            "ChatCreated",
            "ToolAdded asks",
            "ToolAdded t",
            "ChatOpened",
            "ChatSubmitted",
            "RequestStarted",
            "RequestFinished=success",
            "ToolsStarted",
            "ToolStarted t",
            "ToolFinished t=success",
            "ToolApprovalRequested asks",
            "ToolApprovalFinished asks=accept",
            "ToolStarted asks",
            "ToolFinished asks=error",
            "ToolFinished missing=error",
            "ToolsFinished=error",
            "RequestStarted",
            "RequestFinished=success",
            "ChatDone=done",
            "ChatHidden",
            "ChatOpened",
            "ChatHidden",
            "ChatClosed",
        ]
    );
    let wrong = editor.lua_text(&script("wrong_event"));
    assert_eq!(wrong, "");
    editor.assert_quiet();
}

#[test]
fn usage_reasoning_and_errors_in_the_middle_are_kept() {
    let editor = editor();
    editor.lua(
        r#"
        open({ { reasoning = "let me\nthink", text = "an answer", usage = { input = 12, output = 34 } }, { text = "half", error = "cut off" } }, {})
        send("go")"#,
    );
    editor.wait_ended(1);
    assert!(editor.lua_bool("return chat.usage.input == 12 and chat.usage.output == 34"));
    let shown = editor.buffer();
    assert!(shown.contains("· Reasoning\n  let me\n  think\n\nan answer"), "{shown}");
    editor.lua("send('more')");
    editor.wait_buffer("cut off");
    let shown = editor.buffer();
    assert!(shown.contains("half"), "{shown}");
    editor.assert_quiet();
}

#[test]
fn a_callback_of_run_tool_that_throws_is_told_by_name() {
    let editor = editor();
    editor.lua("told = {} vim.notify = function(text) told[#told + 1] = text end");
    editor.lua("require('lathe').run_tool('none', {}, {}, function() error('thrown on purpose') end)");
    editor.wait_lua("#told == 1");
    assert!(editor.lua_text("return told[1]").contains("run_tool: the callback failed: "));
    editor.lua("require('lathe').run_tool('none') require('lathe').run_tool('none', { f = print }, {}, function(r) result = r end)");
    editor.wait_lua("result and result.status == 'error'");
}

#[test]
fn tools_registered_later_work_in_open_chats() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("late", {}), { text = "done" } }, {})
        require("lathe").register_tool("late", tool("late", { function() return { status = "success", data = "ran" } end }))
        send("Use @{late}")"#,
    );
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["ran"]);
    editor.assert_quiet();
}

#[test]
fn the_command_runs_a_tool_and_lists_and_adds_tools() {
    let editor = editor();
    editor.lua(
        r#"
        told = {} vim.notify = function(text) told[#told + 1] = text end
        open({}, { t = tool("t", { function(_, args) return { status = "success", data = "got " .. args.n } end }) }, { tools = {} })"#,
    );
    editor.input(":Lathe call t {\"n\": 5}<CR>");
    editor.wait_screen("t: success\ngot 5");
    editor.input("<CR>:Lathe tools<CR>");
    editor.wait_screen("(* offered in this chat)");
    editor.input("q:Lathe tools t none<CR>");
    editor.wait_lua("#told == 1 and told[1]:find('none') and chat.tool_registry.in_use.t");
    editor.input(":Lathe log<CR>");
    editor.wait_lua("vim.fn.expand('%:t') == 'lathe.log'");
    editor.assert_no_fault();
}

#[test]
fn wrong_arguments_of_the_lua_functions_are_named_and_leave_nothing_behind() {
    let editor = editor();
    editor.lua("function fault(f, ...) local ok, err = pcall(f, ...) assert(not ok) return tostring(err) end");
    for (call, told) in [
        ("lathe.chat, 'x'", "opts: expected table"),
        ("lathe.chat, { tools = 't' }", "opts.tools: expected list of names"),
        ("lathe.chat, { tools = { 5 } }", "opts.tools: expected list of names"),
        ("lathe.chat, { prompt = 5 }", "opts.prompt: expected string"),
        ("lathe.chat, { messages = { { content = 'x' } } }", "opts.messages: expected list of { role"),
        ("lathe.run_tool, nil", "name: expected string"),
        ("lathe.run_tool, 't', 5", "args: expected table"),
        ("lathe.run_tool, 't', {}, {}, 'x'", "callback: expected callable"),
        ("lathe.run_tool, 't', {}, 'x'", "opts: expected table"),
        ("lathe.run_tool, 't', {}, { chat = 1 }", "opts.chat: unknown option"),
    ] {
        let fault = editor.lua_text(&format!("lathe = require('lathe') return fault({call})"));
        assert!(fault.contains(told), "{call}: {fault}");
    }
    assert!(editor.lua_bool("return lathe.last_chat() == nil and #vim.fn.getbufinfo() == 1"));
}
