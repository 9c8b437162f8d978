//! A source of tools that the plugin does not know: a file that implements the interface and a line that adds it. All that
//! is told and done of tools finds its tools without another edit.

use serde_json::Value as Json;

use crate::chat;
use crate::provider::said;
use crate::support::server::{Server, stream};
use crate::support::{Editor, repository};

fn editor() -> Editor {
    let editor = chat::editor();
    let path = repository().join("tests/editor/sources/late.lua");
    editor.run_with("world", vec![path.to_str().unwrap().into()]);
    editor
}

/// The names of the functions that a request offers.
fn offered(server: &Server, request: usize) -> Vec<String> {
    let body = server.received()[request].body.clone();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Json| tool["function"]["name"].as_str().unwrap().to_owned();
    tools.iter().map(name).collect()
}

/// A chat with a provider that answers so many requests with a word.
fn provided(editor: &Editor, answers: usize, opts: &str) -> Server {
    let server = Server::start((0..answers).map(|_| stream(&said("done"))).collect());
    editor.run_with("provided", vec![server.url.as_str().into(), opts.into()]);
    server
}

fn text(editor: &Editor, expression: &str) -> String {
    editor.lua_text(&format!("return {expression}"))
}

fn health(editor: &Editor) -> String {
    editor.lua("vim.cmd('checkhealth lathe')");
    editor.wait_lua("vim.bo.filetype == 'checkhealth'");
    let report = editor.buffer();
    editor.lua("vim.cmd('bwipeout!')");
    report
}

fn why(editor: &Editor, tool: &str) -> String {
    editor.lua("lines = nil");
    editor.lua(&format!("require('lathe').why('{tool}', nil, function(given) lines = table.concat(given, ' ') end)"));
    editor.wait_lua("lines ~= nil");
    text(editor, "lines")
}

#[test]
fn a_list_that_arrives_late_is_awaited_and_offered_with_the_next_request() {
    let editor = editor();
    let server = provided(&editor, 2, "{ tools = { 'echo' } }");
    assert!(text(&editor, "listed()").contains("late  starting"), "{}", text(&editor, "listed()"));
    assert!(health(&editor).contains("the source late is still starting"));
    assert!(why(&editor, "echo").contains("The source late is still starting."), "{}", why(&editor, "echo"));
    editor.lua("send('Use @{shout} too')");
    editor.wait_ended(1);
    assert!(offered(&server, 0).is_empty());
    let told = text(&editor, "table.concat(told, '|')");
    assert_eq!(told, "lathe: There is no tool or group \"shout\". The source late is still starting.");
    editor.lua("late.arrive({ echo = 'Says it again', shout = 'Says it aloud' }) send('once more')");
    editor.wait_ended(2);
    let mut names = offered(&server, 1);
    names.sort();
    assert_eq!(names, ["echo", "shout"]);
    let body = server.received()[1].body.to_string();
    assert!(body.contains("Says it again"), "{body}");
    assert_eq!(editor.lua_int("return #told"), 1, "what came is told by nobody");
}

#[test]
fn its_tools_are_found_listed_completed_and_explained() {
    let editor = editor();
    let _server = provided(&editor, 0, "{}");
    editor.lua("late.arrive({ echo = 'Says it again' })");
    let listed = text(&editor, "listed()");
    assert!(listed.contains("echo") && listed.contains("late") && listed.contains("Says it again"), "{listed}");
    assert!(listed.contains("all_late") && !listed.contains("not ready"), "{listed}");
    assert!(health(&editor).contains("echo"));
    assert!(why(&editor, "echo").contains("the tool's own setting, which asks"), "{}", why(&editor, "echo"));
    assert!(text(&editor, "words()").contains("echo"));
    assert_eq!(text(&editor, "table.concat(require('lathe.command').complete('ec', 'Lathe tools ec'), ' ')"), "echo");
    editor.lua("chat:open()");
    editor.input("GAUse @ec");
    editor.wait_lua("vim.fn.pumvisible() == 1");
    let items = "vim.inspect(vim.fn.complete_info({ 'items' }).items)";
    assert!(text(&editor, items).contains("@{echo}"), "{}", text(&editor, items));
}

#[test]
fn its_tools_are_called_asked_about_and_refused() {
    let editor = editor();
    editor.lua(
        "late.arrive({ echo = 'Says it again' })
         open({ answer('echo', {}, 'echo', {}), { text = 'done' } }, {}, { tools = { 'echo' } }) send('go')",
    );
    let asks = "#chat.questions == 1 and chat.render:is_written(chat.questions[1].call.block)";
    editor.wait_lua(asks);
    editor.lua("require('lathe.chat.actions').accept(chat)");
    editor.wait_lua(&format!("ran == 1 and {asks}"));
    editor.lua("vim.ui.input = function(_, done) done('not now') end require('lathe.chat.actions').reject(chat)");
    editor.wait_ended(1);
    let results = text(&editor, "table.concat(results(), '|')");
    assert!(results.starts_with("echo ran|") && results.contains("not now"), "{results}");
    assert_eq!(editor.lua_int("return ran"), 1);
    let source = "for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then return e.data.source end end";
    assert_eq!(editor.lua_text(source), "late");
}

#[test]
fn a_group_follows_the_list_as_it_changes() {
    let editor = editor();
    editor.lua("late.arrive({ one = '1' })");
    let server = provided(&editor, 4, "{ tools = { 'all_late' } }");
    editor.lua("send('first')");
    editor.wait_ended(1);
    editor.lua("late.arrive({ one = '1', two = '2' }) send('second')");
    editor.wait_ended(2);
    editor.lua("late.arrive({ two = 'another' }) send('third')");
    editor.wait_ended(3);
    editor.lua("late.fail('the server has gone') send('fourth')");
    editor.wait_ended(4);
    assert_eq!(offered(&server, 0), ["one"]);
    assert_eq!(offered(&server, 1), ["one", "two"]);
    assert_eq!(offered(&server, 2), ["two"]);
    assert!(server.received()[2].body.to_string().contains("another"));
    assert!(offered(&server, 3).is_empty());
}

#[test]
fn a_source_that_fails_takes_only_its_own_tools_away() {
    let editor = editor();
    editor.run("failing");
    editor.wait_ended(1);
    let results = text(&editor, "table.concat(results(), '|')");
    assert!(results.contains("\"echo\" not found") && results.ends_with("went on"), "{results}");
    assert_eq!(editor.lua_int("return ran or 0"), 0);
    assert!(text(&editor, "listed()").contains("late  failed: gone"), "{}", text(&editor, "listed()"));
    assert!(health(&editor).contains("the source late has failed: gone"));
    let why_not = text(&editor, "select(2, chat.tool_registry:add('shout'))");
    assert_eq!(why_not, "There is no tool \"shout\". The source late has failed: gone.");
    // It comes back.
    editor.lua("late.arrive({ echo = 'Says it again' })");
    assert_eq!(text(&editor, "vim.inspect(chat.tool_registry:find('echo') ~= nil)"), "true");
}

#[test]
fn a_source_that_throws_has_failed_and_the_others_go_on() {
    let editor = editor();
    editor.lua(
        "late.arrive({ throws = 'no list today' })
         open({ answer('t', {}), { text = 'done' } }, { t = tool('t', { function() return { status = 'success', data = 'ran' } end }) })
         send('go')",
    );
    editor.wait_ended(1);
    assert_eq!(text(&editor, "table.concat(results(), '|')"), "ran");
    let listed = text(&editor, "listed()");
    assert!(listed.contains("late  failed: list failed: no list today"), "{listed}");
    editor.lua("late.arrive({ echo = 'Says it again' })");
    let listed = text(&editor, "listed()");
    assert!(listed.contains("echo") && !listed.contains("no list today"), "{listed}");
}

#[test]
fn a_snapshot_stays_as_it_was_and_the_next_one_has_another_generation() {
    let editor = editor();
    editor.run("snapshots");
    assert!(editor.lua_bool("return same and second ~= first and second.generation > first.generation"));
    assert!(editor.lua_bool(
        "return vim.deep_equal(copy, { first.names, first.group_names, vim.tbl_keys(first.tools), first.generation })"
    ));
    assert!(editor.lua_bool(
        "return first.tools.echo and not first.tools.shout and not second.tools.echo and second.tools.own ~= nil"
    ));
}

#[test]
fn a_source_that_lacks_a_function_is_refused_with_its_name() {
    let editor = editor();
    let error = editor
        .try_lua("require('lathe.tools.sources').add({ name = 'half', list = print, resolve = print })", vec![])
        .unwrap_err();
    assert!(error.contains("source.refresh: expected function"), "{error}");
}
