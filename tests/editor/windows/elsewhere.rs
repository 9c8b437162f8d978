//! What the user and other plugins do elsewhere while a chat works.

use super::editor;
use crate::chat;

/// R083.
#[test]
fn other_windows_can_be_typed_in_while_a_tool_or_command_runs_r083() {
    let editor = editor();
    editor.lua(
        r#"
        open({ answer("wait", {}), { text = "done" } }, { wait = tool("wait", { "while ! [ -e go ]; do echo still; sleep 0.02; done; echo gone" }) })
        send("go")"#,
    );
    editor.wait_screen("still");
    editor.lua(
        "vim.cmd('wincmd p') timer = vim.uv.new_timer() ticks = 0 timer:start(5, 5, function() ticks = ticks + 1 end)",
    );
    editor.watch_loop();
    for word in 0..40 {
        editor.input(&format!("oword {word}<Esc>"));
    }
    editor.wait_lua("ticks > 100 and vim.fn.getline('$') == 'word 39'");
    let gaps = editor.gaps();
    // The budget is 8 ms, in a build that is optimised, on a machine that is quiet.
    assert!(gaps.p99_ms() < 50.0, "{} ms", gaps.p99_ms());
    assert!(editor.lua_bool("return chat.is_running and #results() == 0 and vim.fn.line('$') == 41"));
    std::fs::write(editor.home.path().join("go"), "").unwrap();
    editor.wait_ended(1);
    assert!(editor.results()[0].contains("gone"));
    editor.assert_quiet();
}

/// R085.
#[test]
fn a_question_that_comes_while_the_user_types_elsewhere_takes_no_key_r085() {
    let editor = editor();
    editor.lua(
        "layout('vertical', { answer('asks', {}), { text = 'the end' } }) vim.cmd('edit mine.txt') vim.fn.setline(1, { 'a', 'b', 'c' }) \
         mine = vim.api.nvim_get_current_buf() chat = require('lathe').chat({ hidden = true })",
    );
    // The first half of a command, the question, and the second half.
    editor.input("d");
    editor.request("nvim_exec_lua", vec!["vim.schedule(function() send('go') end)".into(), rmpv::Value::Array(vec![])]);
    editor.wait_until("a question", || {
        editor.request("nvim_get_mode", vec![]).to_string().contains("no")
            && editor.lua_bool("return #chat.questions == 1")
    });
    editor.input("d");
    editor.wait_lua("table.concat(vim.fn.getbufline(mine, 1, '$'), ' ') == 'b c'");
    editor.input("g2yyp:1delete<CR>ig1<CR>g4<Esc>");
    editor.wait_lua("vim.fn.mode() == 'n' and vim.fn.getline(1) == 'g1'");
    assert!(
        editor.lua_bool("return #chat.questions == 1 and #results() == 0 and vim.api.nvim_get_current_buf() == mine")
    );
    editor.wait_lua("told[1] and told[1]:find('a hidden chat asks')");
    editor.lua("chat:open()");
    editor.wait_screen("g2  Accept");
    editor.input("<Esc>g2");
    editor.wait_lua("finish");
    editor.lua("finish({ status = 'success', data = 1 })");
    editor.wait_ended(1);
}

/// R088.
#[test]
fn whatever_lathe_calls_may_use_all_of_neovims_functions_r088() {
    let editor = editor();
    editor.run("using_functions");
    for answered in 1..=2 {
        editor.wait_lua("chat.questions[1] and chat.render:is_written(chat.questions[1].call.block)");
        editor.input("<Esc>g2");
        editor.wait_lua(&format!("count('LatheToolApprovalFinished') == {answered}"));
    }
    editor.wait_ended(1);
    editor.lua("require('lathe').run_tool('late', {}, {}, function() use('callback') end)");
    editor.wait_lua("(require('lathe.chat').running() or { questions = {} }).questions[1]");
    editor.lua("run = require('lathe.chat').running() run:open()");
    editor.wait_lua("run.render:is_written(run.questions[1].call.block)");
    editor.input("<Esc>g2");
    editor.wait_lua("used.callback");
    for place in
        ["setup", "on_exit", "success", "error", "prompt", "label", "env", "LatheToolFinished", "LatheChatDone"]
    {
        assert!(editor.lua_bool(&format!("return used['{place}'] == true")), "{place}");
    }
    assert_eq!(editor.lua_text("return table.concat(fast, ' ')"), "");
    editor.assert_quiet();
}

/// R091.
#[test]
fn autocommands_of_other_plugins_that_throw_or_split_windows_do_not_cost_a_call_r091() {
    for layout in ["vertical", "float", "tab", "buffer"] {
        let editor = editor();
        editor.lua_with(
            "layout(..., { answer('asks', {}), { text = 'the end' } }) chat = require('lathe').chat() send('go')",
            vec![layout.into()],
        );
        editor.wait_screen("g2  Accept");
        editor.run("hostile_autocommands");
        editor.input("<Esc>g2");
        editor.wait_lua("finish");
        editor.lua("pcall(function() chat:hide() end) pcall(function() chat:open() end)");
        editor.lua("finish({ status = 'success', data = 1 })");
        editor.wait_ended(1);
        assert!(editor.lua_bool("return paired() and #results() == 1"), "{layout}");
        let messages = editor.messages();
        assert!(!messages.contains("internal error"), "{layout}: {messages}");
        editor.lua("vim.api.nvim_clear_autocmds({ event = { 'WinEnter', 'WinLeave', 'BufEnter', 'BufWinLeave', 'WinClosed' } })");
    }
}

/// R094.
#[test]
fn ten_editors_started_at_once_each_have_a_working_chat_r094() {
    let threads: Vec<_> = (0..10)
        .map(|_| {
            std::thread::spawn(|| {
                let editor = chat::editor();
                editor
                    .lua("open({ answer('t', {}), { text = 'done' } }, { t = tool('t', { 'echo ran' }) }) send('go')");
                editor.wait_ended(1);
                assert!(editor.results()[0].contains("ran"));
                editor.assert_quiet();
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_tool_that_wipes_the_chat_while_it_is_opened_tells_no_traceback() {
    let editor = chat::editor();
    editor.lua(
        "open({}, { wiper = tool('wiper', {}, { enabled = function() vim.cmd('silent! %bwipeout!') return true end }) })",
    );
    editor.wait_lua("require('lathe.core').lib.counts().chats == 0");
    editor.assert_no_fault();
}
