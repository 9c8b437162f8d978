//! The built-in server `neovim`.

use super::editor;
use crate::support::Editor;

fn opened() -> Editor {
    let editor = editor();
    std::fs::write(editor.home.path().join("code.lua"), "function outer()\nlocal inner = 1\nend\n").unwrap();
    editor.run("opened");
    editor
}

#[test]
fn the_editor_is_told_as_tools() {
    let editor = opened();
    editor.lua("vim.api.nvim_buf_set_lines(buffer, 0, 1, false, { 'changed' })");
    let ask = |call: &str| editor.lua_text(&format!("return ask({call})"));
    let buffer = editor.lua_int("return buffer");
    assert_eq!(ask("'list_buffers'"), format!("{buffer}  code.lua  3 lines  lua  modified  visible"));
    assert_eq!(ask("'read_buffer'"), "changed\nlocal inner = 1\nend");
    assert_eq!(ask("'read_buffer', { bufnr = buffer, first_line = 2, last_line = 2 }"), "local inner = 1");
    assert_eq!(
        ask("'read_buffer', { bufnr = 999 }"),
        "ERROR There is no buffer 999: list_buffers tells which there are"
    );
    assert!(ask("'list_windows'").contains("code.lua  line 1 of 3"));
    assert_eq!(ask("'diagnostics'"), "No diagnostics.");
    assert_eq!(ask("'quickfix'"), "The quickfix list is empty.");
    editor.run("filled");
    assert_eq!(ask("'diagnostics', { severity = 'error' }"), "code.lua:1:1: error: bad");
    assert!(ask("'diagnostics', { bufnr = buffer }").contains("code.lua:2:7: warning: unused variable [lint]"));
    assert_eq!(ask("'quickfix'"), "make\ncode.lua:2:1: oops");
}

#[test]
fn the_editor_is_told_as_resources() {
    let editor = opened();
    let read = |uri: &str| {
        editor.lua_text(&format!(
            "local r, e = native.access_resource('neovim', '{uri}') return r and r.result.contents[1].text or e.code .. ' ' .. e.message"
        ))
    };
    let buffer = editor.lua_int("return buffer");
    assert!(read("neovim://buffers").contains("code.lua"));
    assert!(read("neovim://windows").contains("current"));
    assert_eq!(read("neovim://diagnostics"), "No diagnostics.");
    assert_eq!(read("neovim://quickfix"), "The quickfix list is empty.");
    assert!(read(&format!("neovim://buffer/{buffer}")).starts_with("function outer()"));
    assert_eq!(read(&format!("neovim://diagnostics/{buffer}")), "No diagnostics.");
    assert!(read("neovim://buffer/x").starts_with("ERROR There is no buffer x"));
}

#[test]
fn language_servers_are_asked_for_symbols_and_references() {
    let editor = opened();
    let without = editor.lua_text("return ask('symbols')");
    assert!(without.starts_with("ERROR No language server of code.lua"), "{without}");
    editor.run("language_server");
    editor.wait_lua("vim.lsp.get_clients({ bufnr = buffer, method = 'textDocument/documentSymbol' })[1]");
    assert_eq!(editor.lua_text("return ask('symbols')"), "code.lua:1:10  Function outer\ncode.lua:2:9  Variable inner");
    assert_eq!(editor.lua_text("return ask('references', { line = 1, column = 11 })"), "code.lua:1:10\ncode.lua:2:5");
    assert_eq!(editor.lua_int("return asked.position.character"), 10);
    assert!(editor.lua_text("return ask('references', { line = 1 })").starts_with("INVALID_ARGUMENTS"));
    // A call that is stopped takes its request back.
    editor.lua("hang = true handle = call('neovim', 'symbols')");
    editor.wait_lua("started()");
    editor.lua("handle.cancel()");
    editor.wait_called();
    assert!(editor.lua_bool("return cancelled"));
}

#[test]
fn it_is_off_unless_configured() {
    let editor = editor();
    editor.lua("require('lathe').setup({})");
    assert_eq!(editor.lua_int("return #native.list_servers()"), 0);
    editor.lua("require('lathe').setup({ native = { servers = { unknown = true } } }) count = #native.list_servers()");
    editor.wait_lua("#told == 1");
    assert!(
        editor.told().contains("native.servers.unknown: there is no built-in server of this name"),
        "{}",
        editor.told()
    );
}
