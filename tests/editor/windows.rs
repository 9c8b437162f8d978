//! Windows, tab pages and sessions: where a chat shows, what the user's own windows keep, and that nothing done to windows
//! and buffers breaks a chat or loses what is the user's.

use crate::chat::{self, PRELUDE};
use crate::support::{Editor, Setup};

/// `layout(name, opts)` sets lathe up with a layout; `answer`s come from `turns`. `widths()` are those of the windows.
const WORLD: &str = r#"
told = {}
vim.notify = function(text) told[#told + 1] = text end
vim.o.swapfile = false
function hanging(name, extra)
  return tool(name, { function(_, _, o) finish = o.output_cb end }, extra)
end
function layout(name, turns, window)
  require("lathe").setup({
    adapters = { http = { fake = require("lathe.adapters").extend("scripted", { turns = turns or { { text = "answered" } } }) } },
    interactions = { chat = { adapter = "fake", tools = {
      slow = hanging("slow"), asks = hanging("asks", { opts = { require_approval_before = true } }),
      opts = { default_tools = { "slow", "asks" } },
    } } },
    display = { chat = { window = vim.tbl_extend("force", { layout = name }, window or {}) } },
  })
end
function widths()
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):map(vim.api.nvim_win_get_width):join(" ")
end
function names()
  return vim.iter(vim.api.nvim_tabpage_list_wins(0)):map(function(win)
    return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)), ":t")
  end):join(" ")
end
"#;

fn editor_of(width: u16, height: u16) -> Editor {
    let editor = Setup::default().size(width, height).start();
    editor.lua(PRELUDE);
    editor.lua(WORLD);
    editor
}

fn editor() -> Editor {
    editor_of(80, 24)
}

/// The names of the events of chats so far, without the prefix.
fn chat_events(editor: &Editor) -> String {
    editor.lua_text("return vim.iter(events):map(function(e) return e.name:match('^LatheChat(%a+)') end):join(' ')")
}

#[test]
fn a_chat_beside_other_windows_is_readable_and_leaves_them_room() {
    for (columns, chat) in [(200, 90), (120, 54), (80, 50), (76, 50), (60, 34), (30, 20)] {
        let editor = editor_of(columns, 24);
        editor.lua("layout('vertical') chat = require('lathe').chat()");
        let others = columns - chat - 1;
        assert_eq!(editor.lua_text("return widths()"), format!("{others} {chat}"), "{columns} columns");
    }
    // What the user says in columns counts.
    let editor = editor();
    editor.lua("layout('vertical', nil, { width = 30 }) chat = require('lathe').chat()");
    assert_eq!(editor.lua_text("return widths()"), "49 30");
    // It keeps its width when others come and go.
    editor.lua("vim.cmd('wincmd p | vsplit')");
    assert_eq!(editor.lua_int("return vim.api.nvim_win_get_width(vim.fn.bufwinid(chat.bufnr))"), 30);
}

#[test]
fn a_float_is_wide_stays_on_the_screen_and_follows_its_size() {
    let editor = editor();
    editor.lua("layout('float') chat = require('lathe').chat()");
    let config = "local c = vim.api.nvim_win_get_config(vim.fn.bufwinid(chat.bufnr)) \
        return table.concat({ c.width, c.height, c.row, c.col }, ' ')";
    assert_eq!(editor.lua_text(config), "78 16 2 0");
    editor.resize(40, 12);
    editor.wait_until("the new size", || editor.lua_text(config) == "38 7 1 0");
    editor.resize(200, 50);
    editor.wait_until("the new size", || editor.lua_text(config) == "89 37 5 54");
    editor.resize(12, 5);
    editor.wait_until("the new size", || editor.lua_text(config).starts_with("10 1 0 0"));
    editor.assert_no_fault();
}

#[test]
fn toggle_shows_and_hides_in_every_layout_and_comes_back_to_where_the_user_was() {
    for layout in ["vertical", "horizontal", "float", "buffer", "tab"] {
        let editor = editor();
        editor.lua_with("layout(...)", vec![layout.into()]);
        editor.lua("vim.cmd('edit one.txt | tabedit two.txt | split three.txt') chat = require('lathe').chat({ hidden = true })");
        let place =
            "return table.concat({ names(), vim.fn.tabpagenr(), vim.fn.tabpagenr('$'), vim.fn.expand('%:t') }, ' ')";
        let before = editor.lua_text(place);
        assert_eq!(before, "three.txt two.txt 2 2 three.txt");
        for _ in 0..3 {
            editor.input(":Lathe toggle<CR>");
            editor.wait_lua("chat:is_visible() and vim.api.nvim_get_current_buf() == chat.bufnr");
            let shown = editor.lua_text(place);
            let wanted = match layout {
                "buffer" => "1 two.txt 2 2 1",
                "tab" => "1 3 3 1",
                "vertical" | "horizontal" => "three.txt two.txt 1 2 2 1",
                _ => "three.txt two.txt 1 2 2 1",
            };
            assert_eq!(shown, wanted, "{layout}");
            editor.input(":Lathe toggle<CR>");
            editor.wait_lua("not chat:is_visible()");
            assert_eq!(editor.lua_text(place), before, "{layout}");
        }
        editor.assert_quiet();
    }
}

#[test]
fn a_chat_in_a_tab_page_of_its_own_is_found_from_any_other() {
    let editor = editor();
    editor.lua("layout('tab') vim.cmd('edit one.txt') chat = require('lathe').chat()");
    assert_eq!(editor.lua_int("return vim.fn.tabpagenr('$')"), 2);
    editor.input("gt:Lathe toggle<CR>");
    editor.wait_lua("vim.api.nvim_get_current_buf() == chat.bufnr");
    assert_eq!(editor.lua_int("return vim.fn.tabpagenr('$')"), 2);
    // A question of `:Lathe call` or what is added does not take the user there.
    editor.lua("vim.cmd('tabfirst') chat:hide() chat:open({ enter = false })");
    assert!(editor.lua_bool("return vim.fn.tabpagenr() == 1 and vim.fn.expand('%:t') == 'one.txt'"));
    editor.assert_quiet();
}

#[test]
fn without_being_asked_for_a_chat_never_takes_the_users_window() {
    for layout in ["buffer", "tab", "float", "horizontal"] {
        let editor = editor();
        editor.lua_with("layout(...)", vec![layout.into()]);
        editor.lua("vim.cmd('edit one.txt') require('lathe').run_tool('asks', {}, {}, function() end)");
        editor.wait_screen("g2  Accept");
        assert!(
            editor.lua_bool("return vim.fn.expand('%:t') == 'one.txt' and names():find('one.txt') == 1"),
            "{layout}"
        );
        editor.assert_quiet();
    }
}

#[test]
fn a_file_that_is_opened_in_the_chats_window_gets_the_users_own_options() {
    for layout in ["vertical", "horizontal", "float", "buffer", "tab"] {
        let editor = editor();
        editor.lua("vim.o.number = true vim.o.relativenumber = true vim.o.wrap = false vim.o.linebreak = false");
        editor.lua_with("layout(...) chat = require('lathe').chat()", vec![layout.into()]);
        let options = "return vim.inspect({ vim.wo.number, vim.wo.relativenumber, vim.wo.wrap, vim.wo.linebreak, vim.wo.breakindent, \
             vim.wo.smoothscroll, vim.wo.winfixwidth or vim.wo.winfixheight }):gsub('%s', '')";
        let of_chat = editor.lua_text(options);
        assert!(of_chat.starts_with("{false,false,true,true,true,true,"), "{layout}: {of_chat}");
        editor.input(":edit some.txt<CR>");
        editor.wait_lua("vim.fn.expand('%:t') == 'some.txt'");
        assert_eq!(editor.lua_text(options), "{true,true,false,false,false,false,false}", "{layout}");
        // What is set for the file is the file's, what the chat needs is the chat's.
        editor.input(":setlocal nonumber<CR>:buffer #<CR>");
        editor.wait_lua("vim.api.nvim_get_current_buf() == chat.bufnr");
        assert!(editor.lua_text(options).starts_with("{false,false,true,true,true,true,"), "{layout}");
        editor.input(":buffer #<CR>");
        editor.wait_lua("vim.fn.expand('%:t') == 'some.txt'");
        assert_eq!(editor.lua_text(options), "{false,true,false,false,false,false,false}", "{layout}");
        editor.input(":vsplit other.txt<CR>");
        editor.wait_lua("vim.fn.expand('%:t') == 'other.txt'");
        assert_eq!(editor.lua_text(options), "{true,true,false,false,false,false,false}", "{layout}");
        // The chat lives on, and shows in a place of its own.
        editor.lua("chat:open()");
        editor.input("ihi<C-s>");
        editor.wait_buffer("answered");
        editor.assert_quiet();
    }
}

#[test]
fn chats_shown_by_the_users_own_commands_look_like_chats_and_are_taken_out_of_their_windows() {
    let editor = editor();
    editor.lua("layout('vertical') vim.o.number = true vim.cmd('edit one.txt') chat = require('lathe').chat({ hidden = true })");
    editor.lua("vim.cmd('buffer ' .. chat.bufnr)");
    assert!(editor.lua_bool("return vim.wo.wrap and not vim.wo.number and not vim.wo.winfixwidth"));
    // It is the only window: another buffer shows.
    editor.input(":Lathe toggle<CR>");
    editor.wait_lua("not chat:is_visible()");
    assert!(
        editor
            .lua_bool("return #vim.api.nvim_list_wins() == 1 and vim.fn.expand('%:t') == 'one.txt' and vim.wo.number")
    );
    editor.assert_quiet();
}

#[test]
fn events_of_a_chat_come_once_and_in_order() {
    let editor = editor();
    editor.lua("layout('vertical') chat = require('lathe').chat()");
    editor.wait_lua("count('LatheChatOpened') == 1");
    assert_eq!(editor.lua_int("return count('LatheToolAdded')"), 2);
    editor.lua("vim.cmd('split | tab split') send('go')");
    editor.wait_ended(1);
    editor.lua("vim.cmd('tabclose') vim.cmd('close')");
    editor.input("<Esc>");
    assert_eq!(chat_events(&editor), "Created Opened Submitted Done", "it still shows in a window");
    editor.lua("chat:hide()");
    editor.wait_lua("count('LatheChatHidden') == 1");
    editor.lua("chat:open()");
    editor.wait_lua("count('LatheChatOpened') == 2");
    editor.lua("chat:close()");
    editor.wait_lua("count('LatheChatClosed') == 1");
    assert_eq!(chat_events(&editor), "Created Opened Submitted Done Hidden Opened Hidden Closed");
    // The other ways to end one.
    for (how, is_open) in [("bdelete!", true), ("bwipeout!", true), ("%bwipeout!", true), ("", false)] {
        editor.lua_with(
            "events = {} local hidden = ... chat = require('lathe').chat({ hidden = hidden })",
            vec![(!is_open).into()],
        );
        if is_open {
            editor.wait_lua("count('LatheChatOpened') == 1");
            editor.lua_with("vim.cmd(...)", vec![how.into()]);
        } else {
            editor.lua("chat:close()");
        }
        editor.wait_lua("count('LatheChatClosed') == 1");
        let wanted = if is_open { "Created Opened Hidden Closed" } else { "Created Closed" };
        assert_eq!(chat_events(&editor), wanted, "{how}");
    }
    let ids = editor.lua_text("return vim.iter(events):map(function(e) return tostring(e.data.chat_id == chat.id and e.data.bufnr == chat.bufnr) end):join(' ')");
    assert!(!ids.contains("false"), "{ids}");
    editor.assert_no_fault();
}

#[test]
fn a_chat_whose_buffer_or_window_goes_while_it_runs_ends_or_goes_on_without_a_word() {
    for (how, lives) in [
        ("bdelete!", false),
        ("bwipeout!", false),
        ("bdelete", false),
        ("%bwipeout", false),
        ("close", true),
        ("hide", true),
        ("quit", true),
        ("tabclose", true),
        ("tabonly", true),
        ("only", true),
        ("edit other.txt", true),
        ("enew", true),
        ("tabnew | tabonly", true),
        ("vnew | only", true),
        ("wincmd T", true),
        ("buffer 1", true),
        ("ball", true),
    ] {
        for is_asking in [false, true] {
            let editor = editor();
            editor.lua(
                "layout('vertical', { answer('slow', {}, 'slow', {}), { text = 'the end' } }) \
                 vim.cmd('edit mine.txt | tabedit mine.txt') chat = require('lathe').chat()",
            );
            if is_asking {
                editor.lua("layout('vertical', { answer('asks', {}, 'slow', {}), { text = 'the end' } }) chat:close() chat = require('lathe').chat()");
            }
            editor.lua("send('go')");
            editor.wait_lua(if is_asking { "#chat.questions == 1" } else { "finish" });
            editor.lua_with("vim.cmd('stopinsert') vim.cmd(...)", vec![how.into()]);
            if lives {
                assert!(editor.lua_bool("return chat.is_running and #results() == 0"), "{how}");
                if is_asking {
                    editor.lua("chat:open() vim.cmd.stopinsert()");
                    editor.wait_screen("g2  Accept");
                    editor.input("<Esc>g2");
                    editor.wait_lua("finish");
                }
                editor.lua("local f = finish finish = nil f({ status = 'success', data = 1 })");
                editor.wait_lua("finish");
                editor.lua("finish({ status = 'success', data = 2 })");
                editor.wait_ended(1);
                editor.lua("chat:open()");
                editor.wait_buffer("the end");
                assert!(editor.lua_bool("return paired() and #results() == 2"), "{how}");
            } else {
                editor.wait_until(how, || editor.lua_bool("return count('LatheChatClosed') == chat.id"));
                editor.wait_lua("require('lathe.core').lib.counts().chats == 0");
                assert_eq!(editor.lua_int("return count('LatheChatDone')"), 0, "{how}");
            }
            let told = editor.lua_text("return table.concat(told, '\\n')");
            assert!(!told.contains("rror") && !told.contains("stack"), "{how}: {told}");
            editor.assert_no_fault();
        }
    }
}

#[test]
fn unloading_a_chats_buffer_stops_the_turn_and_keeps_what_was_said() {
    let editor = editor();
    editor.lua(
        "layout('vertical', { answer('slow', {}), { text = 'the end' } }) vim.cmd('edit mine.txt') \
         chat = require('lathe').chat() send('remember this')",
    );
    editor.wait_lua("finish");
    editor.input("<Esc>Gihalf a message<Esc>");
    editor.wait_lua("chat.render:input() == 'half a message'");
    editor.lua("vim.cmd('bunload!')");
    editor.wait_ended(1);
    editor.wait_lua("vim.api.nvim_buf_is_loaded(chat.bufnr)");
    editor.lua("chat:open()");
    editor.wait_buffer("remember this");
    editor.wait_buffer("■ slow");
    assert!(editor.lua_bool("return paired() and #results() == 1 and chat.render:input() == 'half a message'"));
    editor.input("<C-s>");
    editor.wait_buffer("the end");
    assert_eq!(editor.lua_int("return count('LatheChatClosed')"), 0);
    editor.assert_quiet();
}

#[test]
fn nothing_of_the_users_is_lost_by_quitting_or_wiping_while_a_chat_asks() {
    let mut editor = editor();
    editor.lua(
        "layout('vertical', { answer('asks', {}) }) vim.cmd('edit mine.txt') vim.fn.setline(1, 'not written') \
         mine = vim.api.nvim_get_current_buf() chat = require('lathe').chat() send('go')",
    );
    editor.wait_screen("g2  Accept");
    for (command, error) in [("qall", "E37"), ("%bwipeout", "E89")] {
        editor.input(&format!("<Esc>:{command}<CR>"));
        editor.wait_screen(error);
        editor.input("<CR><Esc>");
        assert!(editor.lua_bool("return vim.fn.getbufline(mine, 1)[1] == 'not written' and vim.bo[mine].modified"));
        let messages = editor.messages();
        assert!(!messages.contains("stack") && !messages.contains("lathe"), "{command}: {messages}");
        editor.lua("vim.cmd('messages clear')");
        if command == "%bwipeout" {
            editor.wait_lua("require('lathe.core').lib.counts().chats == 0");
        } else {
            assert!(editor.lua_bool("return #chat.questions == 1 and chat.is_running"));
        }
    }
    // The chat is the last window, and another buffer is modified: Neovim says so and stays.
    editor.lua("chat = require('lathe').chat() vim.cmd('only') send('go')");
    editor.wait_screen("g2  Accept");
    editor.input("<Esc>:q<CR>");
    editor.wait_screen("E37");
    editor.input("<CR><Esc>");
    // The question is void, but the chat is all there.
    editor.wait_lua("not chat.is_running and vim.api.nvim_buf_is_loaded(chat.bufnr)");
    editor.lua("chat:open()");
    editor.wait_buffer("■ asks");
    editor.input("Goand on<Esc>");
    editor.wait_lua("chat.render:input() == 'and on'");
    // With everything written it is left at once.
    editor.lua("vim.api.nvim_buf_call(mine, function() vim.cmd('silent write') end) chat:open()");
    editor.input("<Esc>:qall<CR>");
    assert_eq!(editor.wait_exit(), Some(0));
    assert_eq!(std::fs::read_to_string(editor.home.path().join("mine.txt")).unwrap(), "not written\n");
}

#[test]
fn closing_the_last_window_of_a_chat_leaves_a_usable_editor_in_every_layout() {
    for layout in ["vertical", "horizontal", "float", "buffer", "tab"] {
        let editor = editor();
        editor.lua_with(
            "layout(...) vim.cmd('edit one.txt') chat = require('lathe').chat() vim.cmd('silent! only')",
            vec![layout.into()],
        );
        editor.input(":Lathe toggle<CR>");
        editor.wait_lua("not chat:is_visible()");
        assert!(editor.lua_bool("return #vim.api.nvim_list_wins() >= 1 and vim.bo.filetype ~= 'lathe'"), "{layout}");
        editor.input(":Lathe toggle<CR>");
        editor.wait_lua("chat:is_visible()");
        editor.lua("chat:close()");
        editor.wait_lua("count('LatheChatClosed') == 1");
        editor.wait_lua(
            "#vim.tbl_filter(function(b) return vim.bo[b].filetype == 'lathe' end, vim.api.nvim_list_bufs()) == 0",
        );
        editor.input("ix<Esc>");
        editor.wait_lua("vim.fn.mode() == 'n'");
        editor.assert_quiet();
    }
}

#[test]
fn closing_a_chat_that_shows_in_many_tab_pages_leaves_the_users_windows() {
    let editor = editor();
    editor.lua(
        "layout('vertical') vim.cmd('edit one.txt') chat = require('lathe').chat() vim.cmd('only') \
         vim.cmd('tab split | vsplit two.txt | tab split | silent! only') vim.cmd('buffer ' .. chat.bufnr) \
         vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false, { relative = 'editor', row = 1, col = 1, \
           width = 5, height = 2 }) vim.cmd('tabnew three.txt') chat:close()",
    );
    editor.wait_lua("count('LatheChatClosed') == 1 and not vim.api.nvim_buf_is_valid(chat.bufnr)");
    editor.lua("vim.cmd('tabdo redraw!') vim.cmd('redrawtabline | tablast')");
    let names = "local list = {} for _, tab in ipairs(vim.api.nvim_list_tabpages()) do \
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do \
          list[#list + 1] = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)), ':t') end \
        list[#list + 1] = '|' end return table.concat(list, ' ')";
    // A window that was a tab page's last shows what it showed before, or nothing.
    assert_eq!(editor.lua_text(names), "one.txt | two.txt | two.txt  | three.txt |");
    editor.assert_quiet();
}

#[test]
fn windows_that_keep_their_buffer_and_the_command_line_window_are_left_alone() {
    for layout in ["vertical", "horizontal", "float", "buffer", "tab"] {
        let editor = editor();
        editor.lua_with(
            "layout(...) vim.cmd('edit one.txt') vim.wo.winfixbuf = true chat = require('lathe').chat()",
            vec![layout.into()],
        );
        assert!(editor.lua_bool("return chat:is_visible()"), "{layout}");
        let kept = "vim.iter(vim.api.nvim_list_wins()):any(function(w) return vim.wo[w].winfixbuf and \
            vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(w)), ':t') == 'one.txt' end)";
        assert!(editor.lua_bool(&format!("return {kept}")), "{layout}");
        // Hiding waits for the command-line window as showing does.
        editor.input("<Esc>q:");
        editor.wait_lua("vim.fn.getcmdwintype() == ':'");
        editor.input("<Esc>:Lathe toggle<CR>:Lathe help<CR>:let g:typed = 1<CR>");
        editor.wait_lua("vim.g.typed == 1");
        assert!(editor.lua_bool("return chat:is_visible()"));
        editor.input(":q<CR>");
        editor.wait_lua("not chat:is_visible()");
        editor.wait_screen("Next heading");
        editor.input("q");
        editor.wait_screen_without("Next heading");
        assert!(editor.lua_bool(&format!("return {kept}")), "{layout}");
        editor.assert_quiet();
    }
}

#[test]
fn an_old_name_of_a_layout_is_told_and_the_default_is_taken() {
    let editor = editor();
    editor.lua("layout('current')");
    editor.wait_lua("#told == 1 and told[1]:find('display.chat.window.layout: expected one of buffer, float, horizontal, tab, vertical')");
    editor.lua("chat = require('lathe').chat()");
    assert!(editor.lua_bool("return chat:is_visible() and #vim.api.nvim_list_wins() == 2"));
}

#[test]
fn a_session_written_beside_a_chat_brings_back_the_other_windows_and_no_broken_buffer() {
    let mut editor = editor();
    let session = editor.home.path().join("session.vim");
    editor.lua(
        "layout('vertical') vim.cmd('edit one.txt | split two.txt') chat = require('lathe').chat() other = require('lathe').chat() \
         chat:open() vim.cmd('tabedit three.txt') chat:open() vim.cmd('split') other:open() vim.cmd('tabfirst')",
    );
    editor.input("ihello<C-s>");
    editor.wait_buffer("answered");
    editor.lua_with("vim.cmd('mksession ' .. ...)", vec![session.to_str().unwrap().into()]);
    let shape = "local list = {} for _, tab in ipairs(vim.api.nvim_list_tabpages()) do \
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do \
          list[#list + 1] = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)), ':t') end \
        list[#list + 1] = '|' end return table.concat(list, ' ')";
    // In the same editor the chats are back where they were.
    editor.lua("before = vim.api.nvim_list_bufs()");
    let before = editor.lua_text(shape);
    assert_eq!(before, "two.txt one.txt 1 | three.txt 2 1 |");
    editor.input(&format!("<Esc>:silent source {}<CR>", session.display()));
    editor.wait_lua("vim.g.SessionLoad == nil");
    assert_eq!(editor.lua_text(shape), before);
    assert!(editor.lua_bool("return vim.api.nvim_buf_get_name(chat.bufnr) == 'lathe://1'"));
    assert!(
        editor.lua_bool("return #vim.tbl_filter(function(b) return vim.api.nvim_buf_get_name(b):find('^lathe:') end, vim.api.nvim_list_bufs()) == 2")
    );
    editor.lua("chat:open()");
    editor.input("<Esc>Goagain<C-s>");
    editor.wait_ended(2);
    assert!(!editor.messages().contains('E'), "{}", editor.messages());
    // In a new one they are gone, and nothing of them is left.
    assert_eq!(editor.quit(), Some(0));
    let editor = Setup::default().argument("-S").argument(session.to_str().unwrap()).start();
    editor.wait_lua("vim.g.SessionLoad == nil and vim.fn.bufexists('three.txt') == 1");
    assert_eq!(editor.lua_text(shape), "two.txt one.txt | three.txt |");
    assert!(editor.lua_bool("return #vim.tbl_filter(function(b) return vim.api.nvim_buf_get_name(b):find('^lathe:') end, vim.api.nvim_list_bufs()) == 0"));
    assert!(editor.lua_bool("return package.loaded['lathe.core'] == nil"), "no library is loaded for that");
    assert_eq!(editor.lua_text("return vim.o.shortmess"), Editor::start().lua_text("return vim.o.shortmess"));
    editor.input(":Lathe chat<CR>");
    editor.wait_screen("## Me");
    editor.assert_no_fault();
}

#[test]
fn a_session_of_nothing_but_a_chat_leaves_an_empty_window() {
    let editor = editor();
    let session = editor.home.path().join("session.vim");
    editor.lua("layout('buffer') chat = require('lathe').chat() vim.cmd('silent! only')");
    editor.lua_with("vim.cmd('mksession ' .. ...)", vec![session.to_str().unwrap().into()]);
    let editor = Setup::default().argument("-S").argument(session.to_str().unwrap()).start();
    editor.wait_lua("vim.g.SessionLoad == nil and vim.v.this_session ~= ''");
    assert!(editor.lua_bool("return #vim.api.nvim_list_wins() == 1 and vim.api.nvim_buf_get_name(0) == ''"));
    editor.assert_no_fault();
}

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
    editor.lua(
        r#"
        fast, used = {}, {}
        function use(where)
          used[where] = true
          if vim.in_fast_event() then fast[#fast + 1] = where end
          vim.fn.shellescape("x")
          vim.api.nvim_get_current_buf()
        end
        local function user(where, value) return function() use(where) return value end end
        vim.api.nvim_create_autocmd("User", { pattern = "Lathe*", callback = function(event) use(event.match) end })
        local handlers = { setup = user("setup"), on_exit = user("on_exit"), prompt_condition = user("condition", true) }
        local function shown(where)
          return function(self, _, meta) use(where) meta.tools.chat:add_tool_output(self, where) end
        end
        local output = { success = shown("success"), error = shown("error"), prompt = user("prompt", "Sure?"), cmd_string = user("label", "label") }
        open({ answer("command", {}, "late", {}), { text = "done" } }, {
          command = tool("command", { "echo $((1 + 1))", "exit 3" }, { handlers = handlers, output = output, env = user("env", {}) }),
          late = tool("late", { function(_, _, opts)
            local timer = vim.uv.new_timer()
            timer:start(1, 0, function() timer:close() opts.output_cb({ status = "success", data = 1 }) end)
          end }, { handlers = handlers, output = output, opts = { require_approval_before = true } }),
        })
        send("go")"#,
    );
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
        editor.lua(
            r#"
            splits = 0
            vim.api.nvim_create_autocmd({ "WinEnter", "WinLeave", "BufEnter", "BufWinLeave", "WinClosed" }, { callback = function(event)
              if splits < 3 then
                splits = splits + 1
                vim.cmd("split")
              end
              error("thrown on purpose by " .. event.event)
            end })"#,
        );
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
