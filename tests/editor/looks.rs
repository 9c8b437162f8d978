//! How a chat looks: folds, reasoning, facts beside the input, questions at any size, the window with all of a call, and that
//! neither cursor nor view of somebody who is elsewhere moves.

use crate::chat::{self, PRELUDE};
use crate::support::{Editor, Setup};

/// `lines(n)`: a text of so many lines. `said(name, text)`: a tool that gives the text. `row_of(text)`: the line number of
/// the first line that holds it.
const HELPERS: &str = r#"
function lines(n)
  local list = {}
  for i = 1, n do list[i] = "line " .. i .. " of it" end
  return table.concat(list, "\n")
end
function said(name, text, extra)
  return tool(name, { function() return { status = "success", data = text } end }, extra)
end
function row_of(text)
  for i, line in ipairs(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)) do
    if line:find(text, 1, true) then return i end
  end
end
function alone() vim.cmd("only") end
"#;

fn editor() -> Editor {
    let editor = chat::editor();
    editor.lua(HELPERS);
    editor
}

/// One that shows nothing but the chat.
fn opened(code: &str) -> Editor {
    let editor = editor();
    editor.lua(code);
    editor.lua("alone()");
    editor
}

/// The screen's line that holds the text.
#[track_caller]
fn line(editor: &Editor, text: &str) -> String {
    let screen = editor.screen();
    screen.lines().find(|line| line.contains(text)).unwrap_or_else(|| panic!("no {text:?}\n{screen}")).to_owned()
}

#[test]
fn a_long_output_is_one_line_with_its_facts_until_it_is_unfolded() {
    let editor = opened("open({ answer('t', {}), { text = 'done' } }, { t = said('t', lines(214)) }) send('go')");
    editor.wait_ended(1);
    editor.wait_screen("done");
    let folded = line(&editor, "✓ t");
    assert!(folded.contains("214 lines") && folded.ends_with("  zo"), "{folded}");
    assert_eq!(folded.chars().count(), 80, "the facts stand at the right edge: {folded}");
    assert!(!editor.screen().contains("line 1 of it"), "{}", editor.screen());
    editor.input("<Esc>gg/✓ t<CR>zo");
    editor.wait_screen("line 1 of it");
    assert!(!line(&editor, "✓ t").contains("zo"));
    editor.input("zc");
    editor.wait_screen_without("line 1 of it");
    editor.input("zR");
    editor.wait_screen("line 1 of it");
    editor.assert_quiet();
}

#[test]
fn one_line_that_is_as_long_as_many_is_folded_too() {
    let editor =
        opened("open({ answer('t', {}), { text = 'done' } }, { t = said('t', ('word '):rep(5000)) }) send('go')");
    editor.wait_ended(1);
    editor.wait_screen("done");
    assert!(line(&editor, "✓ t").contains("25 KB") && !editor.screen().contains("word"), "{}", editor.screen());
}

#[test]
fn a_short_output_is_shown_and_with_fold_output_off_a_long_one_too() {
    let editor = opened("open({ answer('t', {}), { text = 'done' } }, { t = said('t', lines(8)) }) send('go')");
    editor.wait_ended(1);
    editor.wait_screen("line 8 of it");
    let editor = editor_with_display("{ chat = { fold_output = false } }");
    editor.wait_ended(1);
    editor.wait_screen("line 12 of it");
    assert_eq!(editor.lua_int("return vim.fn.foldlevel(row_of('line 12 of it'))"), 0);
    editor.assert_quiet();
}

/// A chat in which the model has thought two lines, called a tool of twelve lines and said so.
fn editor_with_display(display: &str) -> Editor {
    let editor = editor();
    editor.lua(&format!(
        r#"
        require("lathe").setup({{
          adapters = {{ http = {{ fake = require("lathe.adapters").extend("scripted", {{
            turns = {{ {{ reasoning = "thought one\nthought two", tool_calls = {{ {{ name = "t", arguments = {{}} }} }} }}, {{ text = "done" }} }},
          }}) }} }},
          interactions = {{ chat = {{ adapter = "fake", tools = {{ t = said("t", lines(12)) }} }} }},
          display = {display},
        }})
        chat = require("lathe").chat({{ tools = {{ "t" }}, prompt = "go", submit = true }})
        alone()"#
    ));
    editor
}

#[test]
fn no_fold_closes_under_the_cursor() {
    let editor = opened(
        "open({ answer('t', {}), { text = 'done' } }, { t = tool('t', { function(_, _, opts) go_on = opts.output_cb end }) }) \
         send('go')",
    );
    editor.wait_lua("go_on");
    editor.wait_buffer("· t");
    editor.input("<Esc>gg/· t<CR>l");
    editor.wait_lua("vim.fn.col('.') > 1");
    editor.lua("go_on({ status = 'success', data = lines(50) })");
    editor.wait_ended(1);
    assert!(editor.lua_bool("return vim.fn.line('.') == row_of('✓ t') and vim.fn.foldclosed('.') == -1"));
    assert_eq!(editor.lua_int("return vim.fn.foldlevel('.')"), 1, "it can be closed");
    editor.input("zc");
    editor.wait_screen("50 lines");
    editor.assert_quiet();
}

#[test]
fn folding_moves_neither_the_cursor_nor_the_view_of_a_window_that_is_elsewhere_and_one_at_the_end_follows() {
    let editor = opened(
        r#"
        open({ { text = lines(60) }, answer("t", {}, "t", {}), { text = lines(3) } },
          { t = tool("t", { function(_, _, opts) go_on = opts.output_cb end }) })
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.lua(
        r#"
        at_end = vim.api.nvim_get_current_win()
        vim.cmd("split")
        elsewhere = vim.api.nvim_get_current_win()
        vim.api.nvim_win_set_cursor(elsewhere, { row_of("line 20 of it"), 3 })
        vim.cmd("redraw")
        function view(win)
          return vim.api.nvim_win_call(win, function() return vim.inspect(vim.fn.winsaveview()) end)
        end
        before = view(elsewhere)
        vim.api.nvim_set_current_win(at_end)
        vim.cmd("normal! G")
        send("more")"#,
    );
    for _ in 0..2 {
        editor.wait_lua("go_on");
        editor.lua("local f = go_on go_on = nil f({ status = 'success', data = lines(500) })");
    }
    editor.wait_ended(2);
    editor.wait_buffer("500 of it");
    editor.lua("vim.cmd('redraw')");
    assert_eq!(editor.lua_text("return view(elsewhere)"), editor.lua_text("return before"));
    // The end is at the end of its window, with nothing empty below it.
    assert!(editor.lua_bool("return vim.fn.line('w$', at_end) == vim.api.nvim_buf_line_count(chat.bufnr)"));
    assert!(
        editor.lua_bool(
            "local top = vim.fn.line('w0', at_end) - 1
         return vim.api.nvim_win_text_height(at_end, { start_row = top }).all >= vim.api.nvim_win_get_height(at_end)"
        ),
        "{}",
        editor.screen()
    );
    for win in ["at_end", "elsewhere"] {
        let folded = format!(
            "return vim.api.nvim_win_call({win}, function() return vim.fn.foldclosed(row_of('✓ t')) == row_of('✓ t') end)"
        );
        assert!(editor.lua_bool(&folded), "{win}");
    }
    editor.assert_quiet();
}

#[test]
fn a_window_opened_later_has_the_folds_too_and_shows_the_end() {
    let editor = editor();
    editor.lua(
        r#"
        local turn = { tool_calls = {} }
        for i = 1, 900 do turn.tool_calls[i] = { name = "t", arguments = { n = i } } end
        open({ turn, { text = "done" }, { text = "more" } }, { t = said("t", lines(20)) }, { hidden = true })
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.lua("chat:open()");
    editor.wait_screen("done");
    editor.wait_screen("20 lines");
    assert!(!editor.screen().contains("of it"), "{}", editor.screen());
    let all = r#"
        local n = 0
        for i, text in ipairs(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false)) do
          if text:find("✓ t", 1, true) and vim.fn.foldclosed(i) == i and vim.fn.foldclosedend(i) == i + 20 then n = n + 1 end
        end
        return n"#;
    editor.wait_until("all are folded", || editor.lua_int(all) == 900);
    // A window that had other folds of it before the text changed.
    editor.lua("chat:hide() send('more')");
    editor.wait_ended(2);
    editor.lua("chat:open()");
    editor.wait_until("all are folded again", || editor.lua_int(all) == 900);
    editor.assert_quiet();
}

#[test]
fn another_buffer_in_the_chats_window_has_its_own_options() {
    let editor = editor();
    let file = editor.home.path().join("file.txt");
    std::fs::write(&file, "text\n").unwrap();
    editor.lua_with(
        r#"
        file = ...
        vim.o.number, vim.o.foldmethod, vim.o.wrap = true, "indent", false
        options = { "number", "foldmethod", "foldtext", "foldenable", "wrap", "linebreak", "winhighlight", "smoothscroll" }
        function state()
          local list = {}
          for _, name in ipairs(options) do list[#list + 1] = name .. "=" .. tostring(vim.wo[name]) end
          return table.concat(list, " ")
        end
        vim.cmd("edit " .. file .. "2")
        own = state()
        require("lathe").setup({
          adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = { { text = "x" } } }) } },
          interactions = { chat = { adapter = "fake" } },
          display = { chat = { window = { layout = "buffer" } } },
        })
        chat = require("lathe").chat()
        its = state()"#,
        vec![file.to_str().unwrap().into()],
    );
    assert!(
        editor.lua_bool("return its ~= own and its:find('foldmethod=manual') and its:find('number=false') and true")
    );
    for command in ["'edit ' .. file", "'enew'", "'buffer ' .. vim.fn.fnameescape(file .. '2')"] {
        editor.lua(&format!("vim.cmd({command})"));
        assert_eq!(editor.lua_text("return state()"), editor.lua_text("return own"), "{command}");
        editor.lua("vim.api.nvim_win_set_buf(0, chat.bufnr)");
        assert_eq!(editor.lua_text("return state()"), editor.lua_text("return its"), "{command}");
    }
    // A window that was split off it.
    editor.lua("vim.cmd('split') vim.cmd('edit ' .. file)");
    assert_eq!(editor.lua_text("return state()"), editor.lua_text("return own"));
    editor.assert_quiet();
}

#[test]
fn reasoning_is_one_line_while_it_streams_and_folded_afterwards() {
    let editor = opened(
        r#"
        open({ answer("t", {}), { text = "done" } }, { t = tool("t", { function(_, _, opts) go_on = opts.output_cb end }) })
        send("go")"#,
    );
    editor.wait_lua("go_on");
    // The way of the model's reasoning into the buffer.
    editor.lua(
        "chat.render:add_text('first I think\\nthen I th', 'reasoning') chat.render:add_text('ink again', 'reasoning')",
    );
    editor.wait_screen("then I think again");
    assert!(!editor.buffer().contains("first I think"), "it is virtual text: {}", editor.buffer());
    assert_eq!(editor.buffer().matches("Reasoning").count(), 1);
    editor.lua("chat.render:add_text('the answer', 'text')");
    editor.wait_screen("2 lines  zo");
    editor.wait_screen_without("think again");
    assert!(line(&editor, "· Reasoning").ends_with("2 lines  zo"));
    assert!(
        editor.buffer().contains("· Reasoning\n  first I think\n  then I think again\n\nthe answer"),
        "{}",
        editor.buffer()
    );
    assert!(!editor.screen().contains("I think"), "{}", editor.screen());
    editor.lua("go_on({ status = 'success', data = 'x' })");
    editor.wait_ended(1);
    editor.assert_quiet();
}

#[test]
fn reasoning_is_folded_even_where_output_is_not_and_left_out_when_not_wanted() {
    let editor = editor_with_display("{ chat = { fold_output = false } }");
    editor.wait_ended(1);
    editor.wait_screen("2 lines  zo");
    assert!(!editor.screen().contains("thought"), "{}", editor.screen());
    let editor = editor_with_display("{ chat = { show_reasoning = false } }");
    editor.wait_ended(1);
    editor.wait_buffer("done");
    assert!(!editor.buffer().contains("thought") && !editor.buffer().contains("Reasoning"), "{}", editor.buffer());
    assert_eq!(editor.lua_text("return chat.messages[2].reasoning.content"), "thought one\nthought two");
}

#[test]
fn a_failure_of_the_provider_is_one_line_that_names_the_key_to_send_again() {
    let editor = opened(
        r#"
        open({ { error = "400: Invalid schema for function 'my_tool'" }, { error = "one\ntwo" } }, {})
        chat.config.keymaps.retry = { modes = { n = "gr" } }
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.wait_screen("gr send again");
    let shown = line(&editor, "my_tool");
    assert!(shown.starts_with("! Scripted 400: Invalid schema for function 'my_tool'  "), "{shown}");
    assert!(shown.ends_with("gr send again") && shown.chars().count() == 80, "{shown}");
    editor.lua("chat.config.keymaps.retry = nil chat:submit()");
    editor.wait_ended(2);
    editor.wait_buffer("! Scripted: one\n  two");
    editor.wait_screen("! Scripted: one");
    assert!(!line(&editor, "Scripted: one").contains("again"));
    editor.assert_quiet();
}

#[test]
fn the_line_of_a_request_that_is_tried_again_changes_in_place_and_the_last_failure_takes_it() {
    let editor = opened("open({ { hang = true } }, {}) send('go')");
    editor.wait_lua("chat.is_running");
    editor.lua("notice = require('lathe.chat.draw.notice_line') notice.retry(chat, 'rate limit reached', 1, 4, 8000)");
    editor.wait_screen("retry 1 of 4 in 8 s  q stop");
    assert!(line(&editor, "rate limit").starts_with("! Scripted: rate limit reached"));
    editor.wait_screen("retry 1 of 4 in 7 s  q stop");
    editor.lua("notice.retry(chat, 'overloaded', 2, 4, 100)");
    editor.wait_screen("retry 2 of 4  q stop");
    assert!(!editor.buffer().contains("rate limit"), "{}", editor.buffer());
    editor.lua("notice.failed(chat, 'overloaded for good')");
    editor.wait_buffer("! Scripted: overloaded for good");
    assert_eq!(editor.buffer().matches("overloaded").count(), 1, "{}", editor.buffer());
    // The next one has a line of its own, and the answer settles it.
    editor.lua("notice.retry(chat, 'again', 1, 4, 90000)");
    editor.wait_screen("retry 1 of 4 in 90 s  q stop");
    editor.lua("notice.settle(chat)");
    editor.wait_screen_without("in 90 s");
    assert!(line(&editor, "! Scripted: again").ends_with("retry 1 of 4"));
    editor.assert_quiet();
}

#[test]
fn facts_beside_the_input_fit_its_window_and_name_the_keys_that_are_set() {
    let editor = opened("open({ { text = 'hi', usage = { input = 1234, output = 100 } } }, {})");
    editor.wait_screen("g? keys   @ tools");
    editor.lua("send('go')");
    editor.wait_ended(1);
    editor.wait_screen("g? keys   @ tools   1.2k/0.1k tokens");
    assert_eq!(line(&editor, "tokens").chars().count(), 80);
    editor.resize(40, 24);
    editor.wait_screen_without("tokens");
    editor.wait_screen("g? keys   @ tools");
    editor.resize(18, 24);
    editor.wait_screen_without("@ tools");
    editor.wait_screen("g? keys");
    editor.resize(12, 24);
    editor.wait_screen_without("keys");
    editor.resize(80, 24);
    editor.wait_screen("tokens");
    editor.assert_quiet();
}

#[test]
fn an_empty_chat_says_how_to_begin_until_the_first_character() {
    let editor = opened("open({ { text = 'hi' } }, {})");
    editor.wait_screen("i to write, <CR> to send (<C-s> while writing)");
    editor.input("iW");
    editor.wait_screen_without("to send");
    editor.input("<BS>");
    editor.wait_screen("i to write");
    editor.input("hello<C-s>");
    editor.wait_ended(1);
    editor.wait_buffer("hi");
    assert!(!editor.screen().contains("to write"), "{}", editor.screen());
    editor.lua("chat:clear()");
    editor.wait_screen("i to write");
    editor.assert_quiet();
}

#[test]
fn a_question_says_what_each_answer_means() {
    let editor = opened(
        r#"
        open({ answer("t", { path = "a" }, "t", {}, "t", {}), { text = "done" } }, {
          t = said("t", "x", { opts = { require_approval_before = true } }),
        })
        send("go")"#,
    );
    editor.wait_screen("g4");
    for part in [
        "Always accept   remembers every call of t in this chat",
        "with a reason for the model",
        "this and 2 more calls",
    ] {
        assert!(editor.buffer().contains(part), "{part}: {}", editor.buffer());
    }
    let groups = |text: &str| {
        editor.lua_text(&format!(
            "local row = row_of('{text}') - 1
             local groups = {{}}
             for _, m in ipairs(vim.api.nvim_buf_get_extmarks(chat.bufnr, -1, {{ row, 0 }}, {{ row, -1 }}, {{ details = true }})) do
               if m[4].hl_group then groups[#groups + 1] = m[4].hl_group .. m[3] .. '-' .. m[4].end_col end
             end
             return table.concat(groups, ' ')"
        ))
    };
    assert_eq!(groups("g3  Reject"), "LatheKey2-4 LatheFact22-49");
    editor.input("<Esc>g4");
    editor.wait_ended(1);
    let left = editor.lua_int(
        "return #vim.api.nvim_buf_get_extmarks(chat.bufnr, vim.api.nvim_create_namespace('lathe.question'), 0, -1, {})",
    );
    assert_eq!(left, 0, "its colours are gone with it");
}

#[test]
fn r093_the_answers_are_in_view_whatever_the_arguments_and_the_window() {
    for (width, height) in [(80, 24), (36, 24), (120, 40), (80, 16)] {
        let editor = Setup::default().size(width, height).start();
        editor.lua(PRELUDE);
        editor.lua(HELPERS);
        editor.lua(
            r#"
            open({ { text = lines(30) }, answer("t", { command = lines(300), cwd = ".", more = ("word "):rep(500) }, "t", {}), { text = "done" } }, {
              t = said("t", "x", { opts = { require_approval_before = true }, output = { prompt = function() return "Run `" .. lines(300) .. "`?" end } }),
            })
            alone()
            send("go")"#,
        );
        editor.wait_ended(1);
        editor.lua("send('go')");
        editor.wait_screen("g4  Cancel");
        let screen = editor.screen();
        for part in [
            "? t",
            "g1  Always accept",
            "remembers every call of t",
            "g2  Accept",
            "g3  Reject",
            "1 more call",
            "gV view all",
        ] {
            assert!(screen.contains(part), "{width}x{height}: {part}\n{screen}");
        }
        assert!(screen.contains("## Me"), "the input is in view: {screen}");
        let rows = editor.lua_int(
            "return vim.api.nvim_win_text_height(0, { start_row = row_of('? t') - 1, end_row = row_of('g4  Cancel') }).all",
        );
        assert!(rows <= i64::from(height / 2) + 2, "{width}x{height}: {rows} rows\n{screen}");
        editor.input("<Esc>g4");
        editor.wait_ended(2);
        editor.assert_quiet();
    }
}

#[test]
fn view_all_shows_the_whole_of_a_question_and_q_closes_it() {
    let editor = opened(
        r#"
        open({ answer("t", { command = lines(300), n = 5 }), { text = "done" } }, {
          t = said("t", "x", { opts = { require_approval_before = true } }),
        })
        send("go")"#,
    );
    editor.wait_screen("more lines  gV view all");
    editor.input("<Esc>gV");
    editor.wait_buffer("line 300 of it");
    let shown = editor.buffer();
    for part in ["? t\nasks\n", "Arguments\n", "command:\n  line 1 of it\n", "n: 5", "No result yet"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    editor.input("q");
    editor.wait_lua("vim.api.nvim_get_current_buf() == chat.bufnr");
    editor.input("g2");
    editor.wait_ended(1);
    editor.assert_quiet();
}

#[test]
fn view_all_finds_a_finished_call_folded_or_not_and_shows_what_the_model_read() {
    let editor = opened(
        r#"
        open({ { reasoning = "one\ntwo", tool_calls = { { name = "long", arguments = { a = "x" } }, { name = "short", arguments = { b = { 1, 2 } } } } }, { error = "broken" } }, {
          long = said("long", lines(3000)),
          short = tool("short", { function() return { status = "error", data = "bad" } end }, { output = {
            error = function(self, stderr, meta) meta.tools.chat:add_tool_output(self, { content = "for the model", display = "for the user" }) end,
          } }),
        })
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.wait_buffer("broken");
    let view = |at: &str, parts: &[&str]| {
        editor.lua(&format!("vim.api.nvim_win_set_cursor(0, {{ row_of('{at}'), 0 }})"));
        editor.input("<Esc>gV");
        editor.wait_lua("vim.api.nvim_get_current_buf() ~= chat.bufnr");
        let shown = editor.buffer();
        editor.input("q");
        editor.wait_lua("vim.api.nvim_get_current_buf() == chat.bufnr");
        for part in parts {
            assert!(shown.contains(part), "{at}, {part}: {shown}");
        }
        shown
    };
    let shown = view(
        "✓ long",
        &["✓ long\nsuccess", "a: x", "The whole output is in this file\n/", "line 1 of it\nline 2 of it"],
    );
    assert!(shown.contains(&editor.results()[0]), "all that the model read: {shown}");
    // Inside of the fold as well.
    view("line 17 of it", &["✓ long\nsuccess", "a: x"]);
    let shown = view("✗ short", &["✗ short\nerror", "b: { 1, 2 }", "for the model"]);
    assert!(!shown.contains("for the user"));
    view("for the user", &["✗ short\nerror"]);
    view("Reasoning", &["Reasoning", "\none\ntwo"]);
    view("broken", &["! Scripted: broken"]);
    // Nowhere: a message.
    editor.lua(
        "told = {} vim.notify = function(text) told[#told + 1] = text end vim.api.nvim_win_set_cursor(0, { 1, 0 })",
    );
    editor.input("gV");
    editor.wait_lua("told[1] and told[1]:find('no call here')");
}

#[test]
fn a_call_that_runs_can_be_viewed() {
    let editor = opened(
        "open({ answer('t', { n = 1 }), { text = 'done' } }, { t = tool('t', { 'echo some output; sleep 30' }) }) send('go')",
    );
    editor.wait_screen("some output");
    editor.lua("vim.api.nvim_win_set_cursor(0, { row_of('· t'), 0 })");
    editor.input("<Esc>gV");
    editor.wait_buffer("No result yet; its last line\nsome output");
    assert!(editor.buffer().contains("running") && editor.buffer().contains("n: 1"), "{}", editor.buffer());
    editor.input("q");
    editor.lua("chat:stop()");
    editor.wait_ended(1);
}

#[test]
fn yank_code_takes_the_block_under_the_cursor_else_the_last_one_above_and_never_a_tools() {
    let editor = opened(
        r#"
        open({
          { text = "First:\n\n```lua\nlocal a = 1\n\nreturn a\n```\n\n- item\n\n  ~~~~\n  ```\n  indented\n  ~~~~\n\nend", tool_calls = { { name = "t", arguments = {} } } },
          { text = "after" },
        }, { t = said("t", "```\nof the tool\n```\n~~~") })
        told = {} vim.notify = function(text) told[#told + 1] = text end
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.wait_buffer("after");
    let yank = |at: &str, keys: &str, register: &str| {
        editor.lua(&format!(
            "vim.fn.setreg('{register}', 'untouched') vim.api.nvim_win_set_cursor(0, {{ row_of('{at}'), 0 }})"
        ));
        editor.input(keys);
        editor.wait_lua(&format!("vim.fn.getreg('{register}') ~= 'untouched'"));
        editor.lua_text(&format!("return vim.fn.getreg('{register}')"))
    };
    let lua = "local a = 1\n\nreturn a\n";
    assert_eq!(yank("return a", "<Esc>gy", "\""), lua);
    assert_eq!(yank("```lua", "gy", "\""), lua);
    assert_eq!(yank("- item", "gy", "\""), lua);
    assert_eq!(yank("indented", "\"agy", "a"), "```\nindented\n");
    assert_eq!(yank("after", "gy", "\""), "```\nindented\n");
    assert_eq!(yank("of the tool", "gy", "\""), "```\nindented\n");
    editor.lua("vim.api.nvim_win_set_cursor(0, { row_of('First'), 0 })");
    editor.input("gy");
    editor.wait_lua("told[1] and told[1]:find('no code block here or above')");
}

#[test]
fn nothing_in_a_tools_output_or_a_question_changes_how_the_rest_looks() {
    let editor = opened(
        r#"
        open({ { text = "text **bold** one", tool_calls = { { name = "t", arguments = { x = "```\n<!-- never closed" } } } }, { text = "then **bold** two" } }, {
          t = said("t", "```lua\nnever closed <!-- and <div>\n## Not a heading", { opts = { require_approval_before = true },
            output = { cmd_string = function() return "``` <!--" end } }),
        })
        send("go")
        function captures(text, col)
          local row = row_of(text) - 1
          local names = {}
          local parser = vim.treesitter.get_parser(chat.bufnr)
          parser:parse(true)
          for _, c in ipairs(vim.treesitter.get_captures_at_pos(chat.bufnr, row, col)) do names[#names + 1] = c.capture end
          return " " .. table.concat(names, " ") .. " "
        end"#,
    );
    editor.wait_screen("g4  Cancel");
    editor.lua("vim.cmd('redraw')");
    let has = |text: &str, col: usize, name: &str| {
        let names = editor.lua_text(&format!("return captures([[{text}]], {col})"));
        assert!(names.contains(name), "{text}: {names}\n{}", editor.buffer());
    };
    has("text **bold** one", 8, "markup.strong");
    assert_eq!(editor.lua_text("return captures('g1  Always', 5)").trim(), "");
    has("## Lathe", 3, "markup.heading.2");
    editor.input("<Esc>g2");
    editor.wait_ended(1);
    editor.wait_buffer("then **bold** two");
    editor.lua("vim.cmd('redraw')");
    has("then **bold** two", 8, "markup.strong");
    has("text **bold** one", 8, "markup.strong");
    assert_eq!(editor.lua_text("return captures('never closed', 5)").trim(), "");
    assert_eq!(editor.lua_text("return captures('## Not a heading', 5)").trim(), "");
    // What is typed at the end is read as well.
    editor.input("Gosome **bold** text<CR><CR>## A heading");
    editor.wait_buffer("## A heading");
    has("some **bold** text", 8, "markup.strong");
    has("## A heading", 5, "markup.heading.2");
    // A plugin that asks the parser for what there is to draw.
    let headings = editor.lua_text(
        r#"
        local parser, found = vim.treesitter.get_parser(chat.bufnr, "markdown"), {}
        parser:parse(true)
        local query = vim.treesitter.query.parse("markdown", "(atx_heading) @h")
        parser:for_each_tree(function(tree, part)
          if part:lang() == "markdown" then
            for _, node in query:iter_captures(tree:root(), chat.bufnr) do
              found[#found + 1] = vim.split(vim.treesitter.get_node_text(node, chat.bufnr), "\n")[1]
            end
          end
        end)
        table.sort(found)
        return table.concat(found, ", ")"#,
    );
    assert_eq!(headings, "## A heading, ## Lathe (Scripted), ## Me, ## Me");
    editor.assert_quiet();
}

#[test]
fn mentions_have_a_colour_only_in_what_the_user_typed() {
    let editor = opened(
        r#"
        open({ { text = "use @{t} and #{buffer}" } }, { t = said("t", "x") })
        function mentioned(text)
          local row, found = row_of(text) - 1, {}
          local ns = vim.api.nvim_create_namespace("lathe.mention")
          for _, m in ipairs(vim.api.nvim_buf_get_extmarks(chat.bufnr, ns, { row, 0 }, { row, -1 }, { details = true })) do
            found[#found + 1] = vim.api.nvim_buf_get_text(chat.bufnr, row, m[3], row, m[4].end_col, {})[1]
          end
          return table.concat(found, " ")
        end"#,
    );
    editor.input("iwith @{t}, @t, #{buffer}, not @{none} a@t");
    editor.wait_lua("row_of('with') and mentioned('with') == '@{t} @t #{buffer}'");
    editor.input("<C-s>");
    editor.wait_ended(1);
    editor.wait_buffer("use @{t}");
    assert_eq!(editor.lua_text("return mentioned('with')"), "@{t} @t #{buffer}");
    editor.input("<Esc>Goand @t");
    editor.wait_lua("mentioned('and @t') == '@t'");
    assert_eq!(editor.lua_text("return mentioned('use @{t}')"), "");
}

#[test]
fn a_user_at_the_end_sees_the_input_whatever_comes() {
    let editor = opened(
        r#"
        open({ { text = "one" }, { text = lines(500) }, { text = ("word "):rep(3000) }, answer("t", {}), { text = "end" } }, {
          t = said("t", lines(7)),
        })"#,
    );
    for (turn, mode) in [(1, "<Esc>"), (2, "<Esc>"), (3, "Go"), (4, "")] {
        editor.input(mode);
        editor.lua("send('go')");
        editor.wait_ended(turn);
        editor.wait_screen("g? keys");
        editor.lua("vim.cmd('redraw')");
        assert!(editor.lua_bool("return vim.fn.line('w$') == vim.fn.line('$')"), "{turn}: {}", editor.screen());
        if turn > 1 {
            assert!(!editor.screen().contains('~'), "{turn}: nothing is empty below it: {}", editor.screen());
        }
    }
    editor.assert_no_fault();
}

#[test]
fn a_chat_that_fits_its_window_is_shown_from_its_first_line() {
    let editor = opened(
        r#"
        open({ answer("t", {}, "t", {}), { text = "end" } }, {
          t = tool("t", { function(_, _, opts) go_on = opts.output_cb end }),
        })
        send("go")"#,
    );
    for _ in 0..2 {
        editor.wait_lua("go_on");
        editor.lua("local f = go_on go_on = nil f({ status = 'success', data = lines(100) })");
    }
    editor.wait_ended(1);
    editor.wait_screen("end");
    editor.lua("vim.cmd('redraw')");
    assert!(editor.screen().starts_with("## Me\n"), "{}", editor.screen());
    editor.assert_quiet();
}

#[test]
fn in_a_narrow_window_the_name_of_a_folded_call_is_worth_more_than_its_facts() {
    let editor = Setup::default().size(36, 24).start();
    editor.lua(PRELUDE);
    editor.lua(HELPERS);
    editor.lua(
        r#"
        open({ { reasoning = "a\nb", tool_calls = { { name = "find_everything", arguments = {} } } }, { text = "done" } }, {
          find_everything = said("find_everything", lines(100), { output = { cmd_string = function() return "here" end } }),
        })
        alone()
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.wait_screen("done");
    let shown = line(&editor, "find_everything");
    assert!(shown.starts_with("✓ find_everything  here  ") && shown.ends_with("100 lines"), "{shown}");
    assert!(line(&editor, "Reasoning").ends_with("2 lines  zo"));
    editor.assert_quiet();
}

#[test]
fn an_edit_of_the_history_is_said_to_have_no_effect_once() {
    let editor = opened("open({ { text = 'one answer' }, { text = 'two' } }, {})");
    editor.input("ifirst words<C-s>");
    editor.wait_ended(1);
    editor.wait_buffer("one answer");
    assert!(!editor.screen().contains("not sent"), "{}", editor.screen());
    editor.input("<Esc>Gotyped<Esc>");
    editor.wait_buffer("typed");
    assert!(!editor.screen().contains("not sent"), "{}", editor.screen());
    editor.input("gg/first<CR>cwlast<Esc>");
    editor.wait_screen("last words   not sent: the history stays as it was");
    editor.input("/one<CR>x");
    editor.wait_buffer("ne answer");
    assert_eq!(editor.screen().matches("not sent").count(), 1);
    assert_eq!(editor.lua_text("return chat.messages[1].content"), "first words");
    editor.input("<CR>");
    editor.wait_ended(2);
    editor.wait_screen_without("not sent");
    editor.assert_quiet();
}

#[test]
fn every_icon_is_one_cell_wide() {
    let editor = editor();
    let wide = editor.lua_text(
        r#"
        local block, wide = require("lathe.chat.draw.block"), {}
        for _, given in ipairs({ "ascii", {} }) do
          local icons = block.icons(given ~= "ascii" and given or "ascii")
          assert(vim.tbl_count(icons) > 10)
          for state, icon in pairs(icons) do
            if vim.fn.strdisplaywidth(icon) ~= 1 or (given == "ascii" and #icon ~= 1) then wide[#wide + 1] = state end
          end
        end
        return table.concat(wide, " ")"#,
    );
    assert_eq!(wide, "");
}

#[test]
fn what_a_skipped_command_had_printed_stays_with_its_call() {
    let editor = opened(
        "open({ answer('t', {}), { text = 'done' } }, { t = tool('t', { 'echo printed before; sleep 30' }) }) send('go')",
    );
    editor.wait_screen("printed before");
    editor.input("<Esc>gs");
    editor.wait_ended(1);
    editor.wait_buffer("■ t");
    assert!(editor.buffer().contains("\n  printed before\n"), "{}", editor.buffer());
    assert!(!editor.buffer().contains("stopped by the user"), "the line says so: {}", editor.buffer());
    editor.assert_quiet();
}

#[test]
fn a_denied_call_is_one_line_that_names_the_rule() {
    let editor = editor();
    editor.lua(
        r#"
        require("lathe").setup({
          adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = { answer("t", {}), { text = "done" } } }) } },
          interactions = { chat = { adapter = "fake", tools = { t = tool("t", { "rm -rf target" }) } } },
          permission = { bash = { { "rm *", "deny" } } },
        })
        chat = require("lathe").chat({ tools = { "t" }, prompt = "go", submit = true })
        alone()"#,
    );
    editor.wait_ended(1);
    editor.wait_screen("done");
    let shown = line(&editor, "✗ t");
    assert!(shown.ends_with("denied by rule bash \"rm *\" (setup())") && shown.chars().count() == 80, "{shown}");
    assert!(!editor.buffer().contains("rm -rf"), "{}", editor.buffer());
    editor.assert_quiet();
}

#[test]
fn ten_thousand_calls_with_long_output_are_folded_and_do_not_hold_the_editor() {
    let editor = Setup::default().size(100, 40).start();
    editor.lua(PRELUDE);
    editor.lua(HELPERS);
    editor.lua(
        r#"
        local turn = { tool_calls = {} }
        for i = 1, 10000 do turn.tool_calls[i] = { name = "t", arguments = { n = i } } end
        open({ turn, { text = "done" } }, { t = said("t", lines(12)) })
        alone()"#,
    );
    editor.watch_loop();
    editor.lua("send('go')");
    editor.wait_ended(1);
    editor.wait_screen("done");
    let gaps = editor.gaps();
    // A debug build on a busy machine: what matters is that no work grows with what is there.
    assert!(gaps.max_ms() < 500.0, "{:?}", gaps.max_ms());
    editor.wait_screen("12 lines");
    let first_last = "return vim.fn.foldclosed(row_of('✓ t')) > 0 and vim.fn.foldclosed(vim.fn.line('$') - 6) > 0";
    assert!(editor.lua_bool(first_last), "{}", editor.screen());
    editor.assert_quiet();
}

#[test]
fn an_open_question_fits_its_window_again_when_that_becomes_wider() {
    let editor = editor();
    editor.lua(
        "open({ answer('t', {}) }, { t = tool('t', {}, { opts = { require_approval_before = true } }) })
         vim.cmd('vertical resize 30')
         send('go')",
    );
    editor.wait_lua("chat.questions[1]");
    editor.wait_screen("g3  Reject");
    assert!(!editor.screen().contains("with a reason for the model"), "{}", editor.screen());
    editor.lua("alone()");
    editor.wait_screen("g3  Reject          with a reason for the model");
}

#[test]
fn a_fact_that_does_not_fit_beside_its_line_stands_below_it_and_is_whole() {
    let editor = editor();
    let error = "400: the schema of the function has no properties, and this server wants some";
    editor.lua_with(
        "local error = ... open({ { error = error } }, {}) vim.cmd('vertical resize 50') send('go')",
        vec![error.into()],
    );
    editor.wait_ended(1);
    editor.wait_screen("  gr send again");
    let row = |text: &str| editor.screen().lines().position(|line| line.contains(text));
    assert!(row("gr send again") > row("wants some"), "{}", editor.screen());
}

#[test]
fn auto_mode_is_in_sight_as_long_as_it_is_on() {
    let editor = opened("open({}, {})");
    editor.wait_screen("g? keys");
    editor.lua("chat:set_auto(true)");
    editor.wait_screen("auto mode   g? keys");
    assert!(editor.lua_text("return require('lathe').statusline(chat.bufnr)").contains("auto"));
    editor.lua("chat:set_auto(false)");
    editor.wait_screen_without("auto mode   g?");
}

#[test]
fn a_long_chat_that_is_read_again_keeps_its_text_and_tells_nothing() {
    let editor = crate::chat::editor();
    editor.lua(
        r#"
        local turns = {}
        for i = 1, 40 do turns[i] = answer("t", { n = i }) end
        turns[41] = { text = "end" }
        open(turns, { t = tool("t", { function() return { status = "success", data = ("r"):rep(3000) } end }) })
        send("go")"#,
    );
    editor.wait_ended(1);
    editor.wait_lua(r#"table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), "\n"):find("end")"#);
    let before = editor.chat_text();
    editor.lua(r#"vim.cmd("buffer " .. chat.bufnr .. " | edit!")"#);
    editor.wait_lua(r#"vim.api.nvim_buf_line_count(chat.bufnr) > 40"#);
    assert_eq!(editor.chat_text(), before);
    editor.assert_quiet();
}
