//! Code that was written for MCPHub runs as it stands: each example of its document, through the alias.

use super::editor;
use crate::support::{Editor, Setup, repository, script};

fn prepared() -> Editor {
    let editor = editor();
    let fixtures = repository().join("tests/fixtures/mcphub/");
    editor.run_with("around", vec![fixtures.to_str().unwrap().into()]);
    editor
}

#[test]
fn a01_the_greeting_runs_unchanged_in_a_chat() {
    let editor = prepared();
    editor.lua("example('greet') use({ answer('example__greet', { name = 'Ann' }), { text = 'done' } }, { 'example' }) send('go')");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["Hello Ann"]);
    assert_eq!(editor.told(), "");
}

#[test]
fn a04_the_file_reader_gets_no_defaults_unless_they_are_to_be_applied() {
    let editor = prepared();
    let file = editor.home.path().join("three.txt");
    std::fs::write(&file, "one\ntwo\nthree\n").unwrap();
    let path = file.to_str().unwrap();
    editor.lua_with(
        "path = ... example('read_file') approve() call('neovim', 'read_file', { path = path })",
        vec![path.into()],
    );
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "one\ntwo\nthree\n");
    editor.lua("call('neovim', 'read_file', { path = path, start_line = 2, end_line = 2 })");
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "   2 │ two");
    editor.lua("call('neovim', 'read_file', { path = '/no/such/file' })");
    editor.wait_called();
    assert_eq!(
        editor.lua_text("return texts() .. tostring(response.result.isError)"),
        "File not found: /no/such/filetrue"
    );
    editor.lua("approve({ apply_defaults = true }) call('neovim', 'read_file', { path = path })");
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "   1 │ one\n   2 │ two\n   3 │ three");
}

#[test]
fn dynamic_descriptions_and_schemas_run_unchanged() {
    let editor = prepared();
    editor.lua("example('search') example('edit') approve()");
    let description = "return require('lathe.tools').resolve('files__search').description";
    let count = editor.lua_int("return #vim.api.nvim_list_bufs()");
    assert_eq!(editor.lua_text(description), format!("Search {count} open buffers"));
    let schema = "return table.concat(require('lathe.tools').resolve('buffer__edit').schema['function'].parameters.properties.buffer.enum, ' ')";
    let loaded = "return table.concat(vim.tbl_map(tostring, vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs())), ' ')";
    assert_eq!(editor.lua_text(schema), editor.lua_text(loaded));
}

#[test]
fn rich_responses_run_unchanged() {
    let editor = prepared();
    editor.lua("around.generate_diagram = function() return '\\137PNG\\r\\n\\26\\n.' end example('diagram') approve() call('diagram', 'generate')");
    editor.wait_called();
    assert_eq!(
        editor.lua_text("return texts()"),
        "Generated diagram:|image|Diagram shows relationship between A and B"
    );
    let image = "local i = response.result.content[2] return i.mimeType .. ' ' .. i.data";
    assert_eq!(editor.lua_text(image), "image/png iVBORw0KGgou");
}

#[test]
fn errors_with_details_run_unchanged() {
    let editor = prepared();
    editor.lua("around.is_git_repo = function() return false end example('commit') approve() call('git', 'commit')");
    editor.wait_called();
    let text = editor.lua_text("return texts() .. tostring(response.result.isError)");
    assert!(text.starts_with("Not a git repository|Details: {") && text.ends_with("true"), "{text}");
    assert!(text.contains("suggestion = \"Initialize git with 'git init'\""), "{text}");
}

#[test]
fn editor_context_runs_unchanged() {
    let editor = prepared();
    editor.lua("example('analyze') approve() call('buffer', 'analyze')");
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "No active buffer");
    editor.lua("vim.cmd('edit here.lua') call('buffer', 'analyze')");
    editor.wait_called();
    let text = editor.lua_text("return texts()");
    for part in ["here.lua", "lines = 1", "modified = false", "type = \"lua\""] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn the_caller_is_the_one_that_such_tools_know() {
    let editor = prepared();
    editor.lua(
        "around.handle_codecompanion = function(chat, res) return res:text('chat ' .. chat.id):send() end
         example('caller') use({ answer('context__get_code', {}), { text = 'done' } }, { 'context' }) send('go')",
    );
    editor.wait_ended(1);
    assert_eq!(editor.results(), [format!("chat {}", editor.lua_int("return chat.id"))]);
    editor.lua("call('context', 'get_code', {}, { caller = { type = 'avante', avante = { code = 1 } } })");
    editor.wait_called();
    assert_eq!(editor.lua_text("return err.code"), "HANDLER_ERROR", "its handle_avante is not there");
    editor.lua("call('context', 'get_code', {}, { caller = 'script' })");
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "No special context");
}

#[test]
fn n05_the_alias_is_opt_in_names_what_it_has_not_and_never_hides_the_real_plugin() {
    let editor = editor();
    assert!(editor.lua_bool("return not pcall(require, 'mcphub')"));
    editor.lua("require('lathe.compat.mcphub').enable() require('lathe.compat.mcphub').enable()");
    let names = script("known_names");
    assert_eq!(editor.lua_text(&names), ["function"; 8].join(" "));
    let missing =
        "local ok, e = pcall(function() return require('mcphub').get_marketplace() end) return tostring(ok) .. e";
    let missing = editor.lua_text(missing);
    assert!(missing.starts_with("false") && missing.contains("mcphub.get_marketplace is not supported"), "{missing}");
    let module = editor.lua_text("local ok, e = pcall(require, 'mcphub.extensions') return tostring(ok) .. e");
    assert!(module.contains("the module mcphub.extensions is not supported"), "{module}");

    let editor = Setup::default().start();
    let folder = editor.home.path().join("real/lua/mcphub");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("init.lua"), "return { real = true }").unwrap();
    editor.lua_with(
        "require('lathe.compat.mcphub').enable() vim.opt.runtimepath:append(...)",
        vec![editor.home.path().join("real").to_str().unwrap().into()],
    );
    assert!(editor.lua_bool("return require('mcphub').real"));
}

#[test]
fn the_example_of_a_server_runs_in_a_chat() {
    let editor = editor();
    editor.run("example");
    editor.wait_ended(1);
    let results = editor.results();
    assert_eq!((results[0].as_str(), results[2].as_str()), ("Written: one", "one"));
    assert!(results[1].contains("Only letters"), "{results:?}");
    assert!(editor.lua_bool("return chat.tool_registry.in_use.neovim__list_buffers"));
    editor.lua("vim.ui.input = function(opts, done) done(opts.default) end send('/mcp:review')");
    editor.wait_lua("chat.render:input() == 'Look through the notes for mistakes. Read notes://all first.'");
    let read = "local r = native.access_resource('notes', 'notes://all') return r.result.contents[1].text";
    assert_eq!(editor.lua_text(read), "# one\nfirst");
    assert_eq!(editor.told(), "");
}

#[test]
fn the_first_server_of_the_help_has_ten_lines_and_works_as_it_stands() {
    let help = std::fs::read_to_string(repository().join("doc/lathe.txt")).unwrap();
    let code = help.split("A first one: >lua\n").nth(1).and_then(|rest| rest.split("\n<").next()).unwrap();
    assert_eq!(code.lines().count(), 10);
    let editor = editor();
    editor.lua(code);
    editor.lua("use({ answer('example__greet', { name = 'Ann' }), { text = 'done' } }, {}) send('Use @{example} to greet Ann')");
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["Hello Ann"]);
}
