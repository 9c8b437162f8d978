//! The menu behind `@` and `#`.

use super::editor;

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
    // The next letter opens it again; text that comes meanwhile waits until something is chosen.
    editor.input("g");
    editor.wait_lua("words() == '@{grep-files} @{grep_search}'");
    editor.lua("chat:add_message({ role = 'llm', content = 'and yet more' })");
    editor.wait_lua("chat.render.is_held");
    editor.input("<C-n><C-n><C-y>!");
    editor.wait_lua("vim.api.nvim_get_current_line() == '@{grep_search}!'");
    editor.wait_buffer("and yet more");
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
    editor.run("many_tools");
    editor.watch_loop();
    editor.input("i@");
    editor.wait_lua("vim.fn.pumvisible() == 1 and #vim.fn.complete_info({ 'items' }).items == 501");
    let gaps = editor.gaps();
    assert!(gaps.max_ms() < 250.0, "{} ms in a build without optimisation", gaps.max_ms());
    editor.input("b");
    editor.wait_lua("words() == '@{broken}'");
    assert_eq!(editor.lua_int("return #told"), 0);
}
