//! What the user writes: completion of mentions, `#{buffer}` and `#{selection}`, and `:Lathe add`.

use crate::chat;
use crate::support::{Editor, Value};

/// A chat with two tools, one of them with a name that needs braces, a group, one tool that is off and one that is not
/// shown; `got()` is what the model read last.
const WORLD: &str = r#"
told = {}
vim.notify = function(text) told[#told + 1] = text end
vim.o.swapfile = false
function world(opts)
  local tools = {
    grep_search = tool("grep_search", {}, { description = "Search the project for a text" }),
    ["grep-files"] = tool("grep-files", {}),
    hidden = tool("hidden", {}, { visible = false }),
    off = tool("off", {}, { enabled = false }),
    run_command = false,
    memory = false,
    groups = { files = { description = "Work with files", tools = { "grep_search" } } },
  }
  require("lathe").setup({
    adapters = { http = { fake = require("lathe.adapters").extend("scripted", {
      turns = function(messages) seen = messages[#messages].content return { text = "answered" } end,
    }) } },
    interactions = { chat = { adapter = "fake", tools = tools } },
    tool_output = { max_bytes = opts and opts.max_bytes },
  })
  chat = require("lathe").chat({ hidden = opts and opts.hidden })
end
function got()
  for i = #chat.messages, 1, -1 do
    if chat.messages[i].role == "user" then return chat.messages[i].content end
  end
end
function words()
  return vim.iter(vim.fn.complete_info({ "items" }).items):map(function(item) return item.word end):join(" ")
end
-- A buffer in the window beside the chat, by its lines.
function file(name, lines)
  vim.cmd("topleft vsplit " .. name)
  vim.fn.setline(1, lines)
  return vim.api.nvim_get_current_buf()
end
"#;

fn editor() -> Editor {
    let editor = chat::editor();
    editor.lua(WORLD);
    editor
}

fn texts(lines: &[&str]) -> Vec<Value> {
    vec![Value::Array(lines.iter().map(|line| Value::from(*line)).collect())]
}

#[test]
fn an_at_sign_offers_the_visible_enabled_tools_and_groups_and_takes_no_key() {
    let editor = editor();
    editor.lua("world()");
    editor.input("iUse @");
    editor.wait_lua("vim.fn.pumvisible() == 1");
    assert_eq!(editor.lua_text("return words()"), "@{files} @{grep-files} @{grep_search}");
    editor.wait_screen("Search the project");
    editor.wait_screen("group");
    // Nothing is selected: the text is as typed, and what is typed goes on.
    assert_eq!(editor.lua_int("return vim.fn.complete_info({ 'selected' }).selected"), -1);
    editor.input("gre");
    editor.wait_lua("words() == '@{grep-files} @{grep_search}'");
    editor.input("p-");
    editor.wait_lua("words() == '@{grep-files}'");
    editor.input("<BS>_");
    editor.wait_lua("words() == '@{grep_search}'");
    editor.input("<C-n>");
    editor.wait_lua("vim.api.nvim_get_current_line() == 'Use @{grep_search}'");
    editor.input("<C-y> now");
    editor.wait_lua("vim.api.nvim_get_current_line() == 'Use @{grep_search} now' and vim.fn.pumvisible() == 0");
    editor.input("<CR>@{fi");
    editor.wait_lua("words() == '@{files}'");
    // With nothing chosen <CR> is a line end.
    editor.input("<CR>x");
    editor.wait_lua("vim.api.nvim_get_current_line() == 'x'");
    assert_eq!(editor.lua_text("return vim.fn.getline(vim.fn.line('.') - 1)"), "@{fi");
    editor.assert_quiet();
}

#[test]
fn the_menu_does_not_open_where_no_mention_begins() {
    let editor = editor();
    editor.lua("world()");
    for text in ["mail a@", "a/@", "C#", "##", "@ ", "@{files} ", "@nothing"] {
        editor.input(&format!("<Esc>Go{text}"));
        editor.wait_lua(&format!("vim.fn.mode() == 'i' and vim.api.nvim_get_current_line() == '{text}'"));
        editor.lua("vim.cmd('redraw')");
        assert_eq!(editor.lua_int("return vim.fn.pumvisible()"), 0, "{text}");
    }
    // Above the input.
    editor.input("<Esc>ggO@");
    editor.wait_lua("vim.fn.mode() == 'i' and vim.api.nvim_get_current_line() == '@'");
    assert_eq!(editor.lua_int("return vim.fn.pumvisible()"), 0);
    // While a macro is recorded, and when it is played.
    editor.input("<Esc>qaGo@<Esc>q");
    editor.wait_lua("vim.fn.getreg('a') == 'Go@\\27'");
    editor.input("<Esc>@aA");
    editor.wait_lua("vim.fn.mode() == 'i' and vim.api.nvim_get_current_line() == '@'");
    assert_eq!(editor.lua_int("return vim.fn.pumvisible()"), 0);
    // In another buffer, the same sign is any sign.
    editor.input("<Esc>");
    editor.lua("vim.cmd('topleft vnew')");
    editor.input("i@");
    editor.wait_lua("vim.api.nvim_get_current_line() == '@'");
    assert_eq!(editor.lua_int("return vim.fn.pumvisible()"), 0);
    editor.assert_quiet();
}

#[test]
fn a_menu_that_was_closed_stays_closed_while_the_model_writes() {
    let editor = editor();
    editor.lua("world() release = nil");
    editor.lua("chat:add_message({ role = 'user', content = 'hi' })");
    editor.input("i@");
    editor.wait_lua("vim.fn.pumvisible() == 1");
    editor.input("<C-e>");
    editor.wait_lua("vim.fn.pumvisible() == 0");
    editor.lua("for i = 1, 3 do chat:add_message({ role = 'llm', content = 'more ' .. i }) end");
    editor.wait_buffer("more 3");
    editor.lua("vim.cmd('redraw')");
    assert_eq!(editor.lua_int("return vim.fn.pumvisible()"), 0);
    assert_eq!(editor.lua_text("return vim.fn.mode() .. vim.api.nvim_get_current_line()"), "i@");
    // The next letter opens it again; text that comes meanwhile leaves the menu and what is chosen in it alone.
    editor.input("g");
    editor.wait_lua("words() == '@{grep-files} @{grep_search}'");
    editor.lua("chat:add_message({ role = 'llm', content = 'and yet more' })");
    editor.wait_buffer("and yet more");
    editor.input("<C-n><C-n><C-y>!");
    editor.wait_lua("vim.api.nvim_get_current_line() == '@{grep_search}!'");
    editor.assert_quiet();
}

#[test]
fn omni_completion_offers_the_same_and_only_in_the_input() {
    let editor = editor();
    editor.lua("world()");
    editor.input("iUse @gr<C-e><C-x><C-o>");
    editor.wait_lua("words() == '@{grep-files} @{grep_search}' and vim.fn.complete_info({ 'mode' }).mode == 'omni'");
    editor.input("ep_");
    editor.wait_lua("words() == '@{grep_search}'");
    editor.input("<C-n><C-y>");
    editor.wait_lua("vim.api.nvim_get_current_line() == 'Use @{grep_search}'");
    editor.input("<Esc>ggO@gr<C-x><C-o>");
    editor.wait_lua("vim.api.nvim_get_current_line() == '@gr'");
    assert_eq!(editor.lua_int("return vim.fn.pumvisible()"), 0);
    // The options of other buffers are the user's.
    assert!(editor.lua_bool("return vim.go.completeopt ~= vim.bo[chat.bufnr].completeopt and vim.go.omnifunc == ''"));
}

#[test]
fn a_brace_that_another_plugin_has_closed_is_not_closed_again() {
    let editor = editor();
    editor.lua("world()");
    editor.lua("vim.keymap.set('i', '{', '{}<Left>', { buffer = chat.bufnr })");
    editor.input("i@");
    editor.input("{");
    editor.input("fil");
    editor.wait_lua("words() == '@{files'");
    editor.input("<C-n><C-y>");
    editor.wait_lua("vim.api.nvim_get_current_line() == '@{files}'");
}

#[test]
fn a_hash_sign_offers_the_buffer_the_selection_and_buffers_by_name() {
    let editor = editor();
    editor.lua("world({ hidden = true }) file('a.lua', { 'local a' }) vim.cmd('badd other.txt') chat:open()");
    editor.input("i#");
    editor.wait_lua("words() == '#{buffer}'");
    editor.wait_screen("a.lua");
    editor.input("<Esc>");
    editor.lua("vim.cmd('wincmd p')");
    editor.input("VGo<Esc>");
    editor.wait_lua("vim.fn.mode() == 'n'");
    editor.lua("chat:open()");
    editor.input("A{");
    editor.wait_lua("words() == '#{buffer} #{selection}'");
    editor.input("buffer:");
    editor.wait_lua("words() == '#{buffer:a.lua} #{buffer:other.txt}'");
    editor.input("o");
    editor.wait_lua("words() == '#{buffer:other.txt}'");
    editor.input("<C-n><C-y>");
    editor.wait_lua("vim.api.nvim_get_current_line() == '#{buffer:other.txt}'");
    editor.assert_quiet();
}

#[test]
fn many_tools_and_one_that_fails_to_load_are_offered_without_a_wait() {
    let editor = editor();
    editor.lua(
        r#"
        local tools = { broken = { path = "no.such.module" }, moody = { path = "x", enabled = function() error("moody") end }, run_command = false, memory = false }
        for i = 1, 500 do tools["t" .. i] = { path = "module.of." .. i, description = "number " .. i } end
        require("lathe").setup({ interactions = { chat = { tools = tools } } })
        chat = require("lathe").chat()"#,
    );
    editor.watch_loop();
    editor.input("i@");
    editor.wait_lua("vim.fn.pumvisible() == 1 and #vim.fn.complete_info({ 'items' }).items == 501");
    let gaps = editor.gaps();
    assert!(gaps.max_ms() < 250.0, "{} ms in a build without optimisation", gaps.max_ms());
    editor.input("b");
    editor.wait_lua("words() == '@{broken}'");
    assert_eq!(editor.lua_int("return #told"), 0);
}

#[test]
fn the_mentioned_buffer_is_read_when_the_message_is_sent_and_the_chat_shows_what_was_typed() {
    let editor = editor();
    editor.lua("world({ hidden = true }) bufnr = file('src/a.lua', { 'local a = 1' }) chat:open()");
    editor.input("iWhat does #{buffer} do?");
    editor
        .lua_with("vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, ...)", texts(&["local b = '```'", "", "return b"]));
    editor.input("<C-s>");
    editor.wait_ended(1);
    assert_eq!(
        editor.lua_text("return got()"),
        "What does the buffer `src/a.lua` do?\n\nThe buffer `src/a.lua`, lines 1-3, not saved:\n\n\
         ````lua\nlocal b = '```'\n\nreturn b\n````"
    );
    assert!(editor.lua_bool("return seen == got()"), "that is what the model reads");
    assert!(editor.lua_bool("return chat.messages[#chat.messages - 1]._meta.typed == 'What does #{buffer} do?'"));
    assert!(editor.buffer().contains("\nWhat does #{buffer} do?\n"), "{}", editor.buffer());
    assert!(!editor.buffer().contains("return b"), "{}", editor.buffer());
    editor.assert_quiet();
}

#[test]
fn buffers_are_named_by_number_path_or_the_end_of_the_path_and_files_need_not_be_loaded() {
    let editor = editor();
    std::fs::write(editor.home.path().join("on_disk.rs"), "from the disk\nend\n").unwrap();
    editor.lua(
        "world({ hidden = true }) one = file('src/deep/a.lua', { 'one' }) two = file('other/a.lua', { 'two' }) \
         vim.cmd('badd on_disk.rs')",
    );
    for (mention, wanted) in [
        ("#{buffer:deep/a.lua}", "`src/deep/a.lua`, line 1, not saved:\n\n```lua\none\n```"),
        ("#{buffer:other/a.lua}", "`other/a.lua`, line 1, not saved:\n\n```lua\ntwo\n```"),
        ("#{buffer:on_disk.rs}", "`on_disk.rs`, lines 1-2:\n\n```rust\nfrom the disk\nend\n```"),
        ("#{buffer:NUMBER}", "`src/deep/a.lua`, line 1, not saved:\n\n```lua\none\n```"),
    ] {
        let mention = mention.replace("NUMBER", &editor.lua_int("return one").to_string());
        editor.lua_with("before = ended() send(...)", vec![mention.clone().into()]);
        editor.wait_lua("ended() == before + 1");
        let got = editor.lua_text("return got()");
        assert!(got.ends_with(wanted), "{mention}: {got}");
    }
    // One block for a buffer, however often it is mentioned.
    editor.lua("send('#{buffer} and #{buffer}')");
    editor.wait_ended(5);
    let got = editor.lua_text("return got()");
    assert!(got.starts_with("the buffer `other/a.lua` and the buffer `other/a.lua`\n\nThe buffer"), "{got}");
    assert_eq!(got.matches("```lua").count(), 1, "{got}");
    editor.assert_quiet();
}

#[test]
fn what_is_not_there_is_told_by_name_and_the_message_stays_in_the_input() {
    let editor = editor();
    editor.lua("world() one = file('x/a.lua', {}) two = file('y/a.lua', {}) chat:open()");
    for (mention, fault) in [
        ("#{buffer:none.lua}", "#{buffer:none.lua}: there is no buffer none.lua"),
        ("#{buffer:9999}", "#{buffer:9999}: there is no buffer 9999"),
        ("#{buffer:99999999999999999999}", "there is no buffer 99999999999999999999"),
        ("#{buffer:a.lua}", "2 buffers are called a.lua; use a number"),
        ("#{selection}", "#{selection}: nothing was selected in y/a.lua"),
    ] {
        editor.lua("told = {}");
        editor.input(&format!("<Esc>Goread {mention}<C-s>"));
        editor.wait_lua("#told == 1");
        let told = editor.lua_text("return told[1]");
        assert!(told.contains(fault) && told.contains("was not sent"), "{mention}: {told}");
        assert!(editor.lua_bool("return #chat.messages == 0 and not chat.is_running"), "{mention}");
        assert!(editor.lua_text("return chat.render:input()").contains(mention), "{mention}");
        editor.input("<Esc>Gdd");
    }
    // Queued, and gone before its turn came.
    editor.lua("told = {}");
    editor.lua(
        "require('lathe').setup({ adapters = { http = { fake = require('lathe.adapters').extend('scripted', { turns = { \
           answer('later', {}), { text = 'done' } } }) } }, interactions = { chat = { adapter = 'fake', tools = { \
           later = tool('later', { function(_, _, o) finish = o.output_cb end }) } } } }) \
         chat = require('lathe').chat({ tools = { 'later' } }) send('go')",
    );
    editor.wait_lua("finish");
    editor.lua("chat:add_buf_message({ role = 'user', content = 'read #{buffer:' .. two .. '}' }) chat:submit()");
    editor.wait_screen("(waits for the tools)");
    editor.lua("vim.api.nvim_buf_delete(two, { force = true }) finish({ status = 'success', data = 1 })");
    editor.wait_ended(1);
    editor.wait_lua("#told == 1 and told[1]:find('there is no buffer')");
    assert!(editor.lua_bool("return chat.render:input():find('read #{buffer:' .. two .. '}', 1, true) ~= nil"));
    assert_eq!(editor.lua_text("return got()"), "go");
}

#[test]
fn a_failed_request_is_not_sent_again_by_a_message_that_cannot_be_sent() {
    let editor = editor();
    editor.lua("open({ { error = 'broken' }, { text = 'again' } }, {}) send('go')");
    editor.wait_ended(1);
    editor.input("<Esc>Go#{buffer:gone}<C-s>");
    editor.wait_lua("#told == 1");
    assert_eq!(editor.lua_int("return count('LatheRequestStarted')"), 1);
}

#[test]
fn long_texts_are_cut_and_both_the_model_and_the_user_know() {
    let editor = editor();
    editor.lua("world({ max_bytes = 1000 })");
    editor.lua(
        "local lines = {} for i = 1, 100 do lines[i] = ('line %03d of the text'):format(i) end \
         file('long.txt', lines) chat:open()",
    );
    editor.input("i#{buffer}<C-s>");
    editor.wait_ended(1);
    let got = editor.lua_text("return got()");
    assert!(
        got.contains("`long.txt`, cut at 1000 bytes: lines 1-47 of 1-100, not saved:\n\n```text\nline 001"),
        "{got}"
    );
    assert!(got.ends_with("line 047 of the text\n```"), "{got}");
    editor.wait_buffer("! #{buffer} is cut at 1000 bytes: lines 1-47 of 1-100");
    // One line that is longer than all that is allowed; never cut in a character.
    editor.lua("file('one.txt', { ('ü'):rep(5000) }) chat:open()");
    editor.input("i#{buffer}<C-s>");
    editor.wait_ended(2);
    let got = editor.lua_text("return got()");
    assert!(got.contains("cut at 1000 bytes") && got.contains("üüü…\n```"), "{got}");
    assert!(got.len() < 1300, "{}", got.len());
}

#[test]
fn a_selection_is_what_was_selected_in_each_mode() {
    let editor = editor();
    let lines = ["one two", "thréé fóur", "five\tsix", "x", "last line here"];
    editor.lua("world({ hidden = true })");
    editor.lua_with("bufnr = file('s.txt', ...)", texts(&lines));
    let mut turns = 0;
    let mut check = |keys: &str, range: &str, wanted: &str| {
        editor.input(&format!("<Esc>gg0{keys}<Esc>"));
        editor.wait_lua("vim.fn.mode() == 'n'");
        editor.lua("send('#{selection}')");
        turns += 1;
        editor.wait_ended(turns);
        let got = editor.lua_text("return got()");
        let whole = format!(
            "the selection in `s.txt`\n\nThe selection in `s.txt`, {range}, not saved:\n\n```text\n{wanted}\n```"
        );
        assert_eq!(got, whole, "{keys}");
    };
    check("wve", "line 1", "two");
    check("wvjt ", "lines 1-2", "two\nthréé");
    check("v2j$", "lines 1-3", "one two\nthréé fóur\nfive\tsix");
    check("jVj", "lines 2-3", "thréé fóur\nfive\tsix");
    check("jVjO<Esc>gvo", "lines 2-3", "thréé fóur\nfive\tsix");
    check("l<C-v>jl", "lines 1-2", "ne\nhr");
    check("l<C-v>4j$", "lines 1-5", "ne two\nhréé fóur\nive\tsix\n\nast line here");
    check("jfév", "line 2", "é");
    editor.lua("vim.o.selection = 'exclusive'");
    check("wvl", "line 1", "t");
    editor.assert_quiet();
}

#[test]
fn bytes_of_a_buffer_are_not_altered_and_names_cannot_break_out() {
    let editor = editor();
    editor.lua("world({ hidden = true })");
    editor.lua(
        "bufnr = file('tabs.txt', { 'a\\tb  ', '@{grep_search} #{buffer} #{selection}', 'nul\\nbyte', '~~~', '' }) \
         vim.api.nvim_buf_set_name(bufnr, vim.uv.cwd() .. '/we`ird ``name.txt')",
    );
    editor.lua("send('#{buffer}')");
    editor.wait_ended(1);
    let got = editor.lua_text("return got()");
    assert!(got.ends_with("```text\na\tb  \n@{grep_search} #{buffer} #{selection}\nnul\0byte\n~~~\n\n```"), "{got:?}");
    assert!(got.starts_with("the buffer ``` we`ird ``name.txt ```\n"), "{got:?}");
    assert!(editor.lua_bool("return next(chat.tool_registry.in_use) == nil"), "a tool in the text is no mention");
}

#[test]
fn in_code_a_sign_is_the_languages_own() {
    let editor = editor();
    editor.lua("world() file('a.lua', { 'x' })");
    let message = "`#{buffer}` and\n```ruby\nputs \"#{selection}\" @grep_search\n@{grep_search}\n```\nand #{other}";
    editor.lua_with("send(...)", vec![message.into()]);
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return got()"), message);
    assert!(editor.lua_bool("return next(chat.tool_registry.in_use) == nil"));
    assert_eq!(editor.lua_int("return #told"), 0);
}

#[test]
fn the_buffer_is_that_of_the_last_normal_window() {
    let editor = editor();
    editor.lua("world({ hidden = true }) first = file('first.txt', { '1' }) second = file('second.txt', { '2' })");
    let mut turns = 0;
    let mut name = |code: &str| {
        editor.lua(code);
        editor.lua("send('#{buffer}')");
        turns += 1;
        editor.wait_ended(turns);
        let got = editor.lua_text("return got()");
        got.split('`').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(name("chat:open()"), "second.txt");
    assert_eq!(name("vim.cmd('wincmd p | wincmd p')"), "second.txt");
    assert_eq!(name("vim.fn.win_gotoid(vim.fn.bufwinid(first)) chat:open()"), "first.txt");
    // Lists, terminals and floats are passed through.
    assert_eq!(name("vim.cmd('copen') chat:open()"), "first.txt");
    assert_eq!(
        name(
            "vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true, { relative = 'editor', row = 1, col = 1, \
             width = 5, height = 2 }) chat:open() vim.cmd('fclose')"
        ),
        "first.txt"
    );
    // Another buffer in that window.
    assert_eq!(name("vim.api.nvim_win_set_buf(vim.fn.bufwinid(first), second)"), "second.txt");
    // The window is gone: the buffer is still the last.
    assert_eq!(name("vim.cmd('cclose') chat:open() vim.cmd('only')"), "second.txt");
    editor.assert_quiet();
}

#[test]
fn adding_lines_puts_them_into_the_last_chat_and_leaves_the_user_where_they_are() {
    let editor = editor();
    editor.lua("world({ hidden = true }) chat:close()");
    editor.lua_with("bufnr = file('src/a.lua', ...)", texts(&["one", "two", "three"]));
    editor.input(":2,3Lathe add<CR>");
    editor.wait_lua("require('lathe').last_chat()");
    editor.wait_screen("two");
    assert!(editor.lua_bool("return vim.api.nvim_get_current_buf() == bufnr"));
    let input = editor.lua_text("chat = require('lathe').last_chat() return chat.render:input()");
    assert_eq!(input, "`src/a.lua`, lines 2-3, not saved:\n\n```lua\ntwo\nthree\n```");
    editor.input("ggV:Lathe add<CR>");
    editor.wait_lua("chat.render:input():find('one', 1, true)");
    editor.input(":Lathe add<CR>");
    editor.wait_lua("chat.render:input():find('#{buffer:' .. bufnr .. '}', 1, true)");
    editor.lua("chat:submit()");
    editor.wait_ended(1);
    let got = editor.lua_text("return got()");
    assert!(got.contains("the buffer `src/a.lua`") && got.ends_with("```lua\none\ntwo\nthree\n```"), "{got}");
    assert!(editor.lua_bool("return vim.api.nvim_get_current_buf() == bufnr and vim.fn.mode() == 'n'"));
    // From the chat itself there is no buffer to add.
    editor.lua("chat:open() told = {}");
    editor.input(":Lathe add<CR>");
    editor.wait_lua("#told == 1 and told[1]:find('this is a chat')");
    // Only this subcommand has to do with lines.
    editor.lua("told = {}");
    editor.input(":%Lathe stop<CR>");
    editor.wait_lua("#told == 1 and told[1]:find('no range is allowed')");
}

#[test]
fn what_is_being_selected_is_added_by_a_map_or_from_lua() {
    let editor = editor();
    editor.lua("world({ hidden = true })");
    editor.lua_with("bufnr = file('a.txt', ...)", texts(&["one two three"]));
    editor.lua("vim.keymap.set({ 'n', 'x' }, '<F5>', '<Plug>(LatheAdd)')");
    editor.lua("vim.keymap.set({ 'n', 'x' }, '<F6>', require('lathe').add)");
    editor.input("wve<F5>");
    editor.wait_lua(
        "vim.fn.mode() == 'n' and chat.render:input() == '`a.txt`, line 1, not saved:\\n\\n```text\\ntwo\\n```'",
    );
    assert!(editor.lua_bool("return vim.api.nvim_get_current_buf() == bufnr"));
    editor.wait_lua("told[1] and told[1]:find('added to the chat')");
    editor.input("wviw<F6>");
    editor.wait_lua("chat.render:input():find('```text\\nthree\\n```', 1, true)");
    editor.input("<F6>");
    editor.wait_lua("vim.endswith(chat.render:input(), '\\n#{buffer:' .. bufnr .. '}')");
    assert!(editor.try_lua("require('lathe').add({ range = 3 })", vec![]).unwrap_err().contains("range"));
}

#[test]
fn the_statusline_says_what_goes_on_and_is_empty_without_a_chat() {
    let editor = editor();
    assert_eq!(editor.lua_text("return require('lathe').statusline()"), "");
    assert_eq!(editor.lua_text("return require('lathe').statusline(77)"), "");
    editor.lua(
        r#"
        local turns = { answer("asks", {}), { text = "done", usage = { input = 1234, output = 56 } } }
        require("lathe").setup({
          adapters = { http = { fake = require("lathe.adapters").extend("scripted", {
            turns = turns, formatted_name = "100%", schema = { model = { default = "big-one" } },
          }) } },
          interactions = { chat = { adapter = "fake", tools = {
            asks = tool("asks", { function(_, _, o) finish = o.output_cb end }, { opts = { require_approval_before = true } }),
          } } },
        })
        "#,
    );
    // As the help says.
    let help = std::fs::read_to_string(crate::support::repository().join("doc/lathe.txt")).unwrap();
    let code = help.split("*lathe-statusline*").nth(1).unwrap().split(">lua\n").nth(1).unwrap();
    editor.lua(code.split("\n<").next().unwrap());
    editor.lua("chat = require('lathe').chat({ tools = { 'asks' } })");
    assert!(editor.lua_bool("return vim.wo.winbar ~= '' and vim.wo[vim.fn.win_getid(1)].winbar == ''"));
    editor.wait_screen("100% · big-one");
    assert_eq!(editor.lua_text("return require('lathe').statusline()"), "100%% · big-one");
    editor.lua("send('go')");
    editor.wait_screen("100% · big-one  asks 0:00");
    // It goes on by itself.
    editor.wait_screen("asks 0:01");
    editor.input("<Esc>g2");
    editor.wait_screen("100% · big-one  running 0:0");
    editor.lua("chat:add_buf_message({ role = 'user', content = 'more' }) chat:submit()");
    editor.wait_screen("  queued");
    editor.lua("finish({ status = 'success', data = 1 })");
    editor.wait_ended(1);
    editor.wait_screen("100% · big-one  1.2k/56 tokens");
    editor.wait_screen_without("queued");
    assert!(editor.lua_bool("return require('lathe').statusline(chat.bufnr):find('running') == nil"));
    // From another buffer: the last chat's; of a buffer that is no chat: nothing.
    editor.lua("vim.cmd('vnew')");
    assert!(editor.lua_bool("return require('lathe').statusline() ~= '' and require('lathe').statusline(0) == ''"));
    editor.lua("chat.adapter = setmetatable({}, { __index = function() error('broken') end })");
    assert_eq!(editor.lua_text("return require('lathe').statusline()"), "");
    editor.assert_quiet();
}
