//! What `#{...}` in a message brings to the model.

use super::{editor, texts};

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
    editor.run("queued_mention");
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
