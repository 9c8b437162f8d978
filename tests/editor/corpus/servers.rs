//! Servers written for the hub, by each way to register them.

use super::compatible;
use crate::support::Editor;

/// Loads a file of servers, then opens a chat whose model makes these calls, with these tools.
fn serve(editor: &Editor, file: &str, calls: &str, tools: &str) {
    editor.lua(&format!("corpus('servers', '{file}')()"));
    use_tools(editor, calls, tools);
}

/// Only a chat; the rest of the configuration stays.
fn use_tools(editor: &Editor, calls: &str, tools: &str) {
    editor.run_with("use_tools", vec![calls.into(), tools.into()]);
}

fn accept(editor: &Editor, times: usize) {
    for done in 0..times {
        editor.wait_lua(&format!("#results() == {done} and is_asking()"));
        editor.input("<Esc>g2");
    }
}

#[test]
fn setup_registers_servers_and_tells_when_it_is_ready() {
    let editor = compatible();
    serve(
        &editor,
        "weather",
        "'weather__get_weather', { city = 'London' }, 'weather__get_weather', { city = 'Atlantis' }",
        "'weather'",
    );
    assert_eq!(editor.turn_over(), ["London: 15°C", "Unknown city: Atlantis"]);
    assert_eq!(editor.lua_text("return statuses()"), "success error");
    assert!(editor.lua_bool("return ready_hub == require('mcphub').get_hub_instance() and hub_error == nil"));
    let told = editor.told_all();
    assert_eq!(told.matches("mcphub.setup").count(), 1, "one notice about what is ignored: {told}");
    assert!(told.contains("port") && told.contains("ui") && !told.contains("native_servers"), "{told}");
    // A file that says 'weather' twice, or sets up again, changes nothing.
    editor.lua("corpus('servers', 'weather')()");
    assert_eq!(editor.told_all(), told);
}

#[test]
fn a_server_comes_as_one_table() {
    let editor = compatible();
    serve(
        &editor,
        "issues",
        "'issues__create', { title = 'Broken' }, 'issues__show', { id = 'ISSUE-1' }, 'issues__show', { id = 'X' }",
        "'issues'",
    );
    accept(&editor, 3);
    let results = editor.turn_over();
    assert_eq!(results[..2], ["created ISSUE-1", "ISSUE-1\nBroken"]);
    assert!(results[2].starts_with("No such issue\nDetails: "), "{results:?}");
    let text = editor
        .lua_text("return require('lathe.native').access_resource('issues', 'issues://all').result.contents[1].text");
    assert!(text.contains("Broken"));
}

#[test]
fn tools_are_made_in_a_loop_and_make_their_server() {
    let editor = compatible();
    editor.lua("require('mcphub').setup({ auto_approve = true })");
    serve(
        &editor,
        "database",
        "'database__query_users', { row = 'bob' }, 'database__query_cities', {}, 'database__query_users', { row = 'eve' }",
        "'database'",
    );
    let results = editor.turn_over();
    assert_eq!(results[..2], ["found bob", "Rome"]);
    assert!(results[2].contains("row"), "the enum counts: {results:?}");
    assert!(editor.lua_bool(
        "return chat.tool_registry.schemas.database__query_users['function'].description == 'Query 2 users'"
    ));
}

#[test]
fn tools_resources_templates_and_prompts_are_added_in_a_chain() {
    let editor = compatible();
    editor.lua("require('mcphub').setup({ auto_approve = true })");
    serve(&editor, "notes", "'notes__write', { name = 'later', text = 'read' }", "'notes'");
    assert_eq!(editor.turn_over(), ["written"]);
    let read = |uri: &str| {
        editor.lua_text(&format!(
            "return require('lathe.native').access_resource('notes', '{uri}').result.contents[1].text"
        ))
    };
    assert_eq!(read("notes://today"), "water the plants");
    assert_eq!(read("notes://by-name/later"), "read");
    let prompt = "local r = require('lathe.native').get_prompt('notes', 'plan', { day = 'Monday' })
        return vim.iter(r.result.messages):map(function(m) return m.role .. ':' .. m.content.text end):join('|')";
    assert_eq!(editor.lua_text(prompt), "system:You plan days.|user:Plan Monday|assistant:Gladly.");
}

#[test]
fn tools_see_the_caller_that_they_know() {
    let editor = compatible();
    editor.lua("require('mcphub').setup({ auto_approve = true })");
    serve(&editor, "caller", "'context__get_code', {}", "'context'");
    let results = editor.turn_over();
    assert_eq!(results, [format!("chat {} has 2 messages", editor.lua_int("return chat.id"))]);
}

#[test]
fn the_hub_can_be_read_and_called() {
    let editor = compatible();
    editor.lua("corpus('servers', 'hub_user')()");
    editor.wait_lua("hub_found and hub_later");
    assert_eq!(
        editor.lua_text("return table.concat(hub_found.servers, ',') .. ' ' .. table.concat(hub_found.tools, ',') .. ' ' .. hub_found.text .. ' ' .. hub_later"),
        "math math.double 42 8"
    );
    assert!(editor.lua_bool("return hub_found.ready and hub_found.resources == 0"));
    let prompt = editor.lua_text("return hub_found.prompt");
    assert!(prompt.contains("math") && prompt.contains("double") && prompt.contains("Double a number"), "{prompt}");
}

#[test]
fn changes_are_heard() {
    let editor = compatible();
    editor.lua("corpus('servers', 'events')()");
    editor.wait_lua("#heard >= 2");
    editor.lua(
        "n = #heard stop_listening() require('mcphub').add_tool('other', { name = 'x', handler = function() end })",
    );
    editor.told_all();
    assert!(editor.lua_bool("return #heard == n"));
}

#[test]
fn a_function_decides_what_runs_without_a_question() {
    let editor = compatible();
    serve(&editor, "approver", "'store__read', {}, 'store__write', {}, 'store__drop', {}", "'store'");
    editor.wait_lua("#results() == 1 and is_asking()");
    editor.input("<Esc>g2");
    let results = editor.turn_over();
    assert_eq!(results[..2], ["read done", "write done"]);
    assert!(results[2].contains("Nothing is ever dropped"), "{results:?}");
    assert_eq!(editor.lua_text("return statuses()"), "success success denied");
}

#[test]
fn a_mention_of_a_name_with_a_dash_finds_the_group() {
    let editor = compatible();
    editor.lua("require('mcphub').setup({ auto_approve = true }) corpus('servers', 'my_server')()");
    editor.run("dashed");
    assert_eq!(editor.turn_over(), ["hi from my-server"]);
    assert_eq!(editor.told_all(), "");
    assert!(editor.lua_bool("return chat.messages[1].content:find('my_server__say_hi', 1, true) ~= nil"));
}

#[test]
fn required_beside_a_property_is_lifted_and_a_wrong_schema_is_told_at_once() {
    let editor = compatible();
    editor.lua("require('mcphub').setup({ auto_approve = true })");
    editor.lua("corpus('servers', 'required_flags')()");
    let told = editor.told_all();
    assert!(told.contains("bad") && told.contains("nummer"), "{told}");
    assert!(editor.lua_bool("return flag_server ~= nil and flag_wrong == nil"));
    use_tools(&editor, "'flags__mail', { to = 'ann' }, 'flags__mail', {}", "'flags'");
    let results = editor.turn_over();
    assert_eq!(results[0], "sent to ann");
    assert!(results[1].contains("to"), "{results:?}");
    let told = editor.told_all();
    assert!(told.contains("mail") && told.contains("required"), "{told}");
}

#[test]
fn pictures_come_with_texts_in_the_chain() {
    let editor = compatible();
    editor.lua("require('mcphub').setup({ auto_approve = true })");
    serve(&editor, "pictures", "'diagram__draw', {}", "'diagram'");
    let results = editor.turn_over();
    assert!(results[0].starts_with("Drawn:\nThat was it.") && results[0].contains("image/png"), "{results:?}");
}

#[test]
fn handlers_return_in_many_ways() {
    let editor = compatible();
    editor.lua("require('mcphub').setup({ auto_approve = true })");
    let names = ["builder", "text", "content", "result", "throws"];
    let calls: Vec<String> = names.iter().map(|name| format!("'returns__{name}', {{}}")).collect();
    serve(&editor, "returns", &calls.join(", "), "'returns'");
    let results = editor.turn_over();
    assert_eq!(results[..4], ["builder", "plain", "content", "result"]);
    assert!(results[4].contains("out of paper") && !results[4].contains("traceback"), "{results:?}");
}

#[test]
fn the_hubs_extension_for_chats_is_ours() {
    let editor = compatible();
    editor.lua("corpus('servers', 'hub_extension')()");
    use_tools(
        &editor,
        "'use_mcp_tool', { server_name = 'clock', tool_name = 'now', tool_input = {} }, 'clock__now', {}",
        "'mcp', 'clock'",
    );
    assert_eq!(editor.turn_over(), ["12:00", "12:00"]);
    assert!(!editor.told_all().contains("extensions.mcphub"));
}

#[test]
fn what_other_clients_require_of_the_hub_loads() {
    let editor = compatible();
    editor.lua("corpus('servers', 'other_clients')()");
    assert!(editor.lua_bool(
        "return no_hub_prompt == '' and #avante_tools == 2 and avante_tools[1].name ~= nil and type(lualine) == 'table'"
    ));
}

#[test]
fn handlers_use_processes_and_the_state_of_the_editor() {
    let editor = compatible();
    editor.lua("require('mcphub').setup({ auto_approve = true })");
    std::fs::write(editor.home.path().join("open.txt"), "a\nb\n").unwrap();
    editor.lua("vim.cmd('edit open.txt')");
    serve(
        &editor,
        "workspace",
        "'workspace__run', { words = { 'printf', 'ran' } }, 'workspace__run', { words = { 'false' } }, 'workspace__buffer', {}",
        "'workspace'",
    );
    let results = editor.turn_over();
    assert_eq!(results[0], "ran");
    assert!(results[1].starts_with("exit code 1\nDetails: "), "{results:?}");
    assert_eq!(results[2], "open.txt 2 lines");
}

#[test]
fn prompts_have_arguments_made_by_functions() {
    let editor = compatible();
    editor.lua("corpus('servers', 'dynamic_prompts')()");
    let prompt = "local r, e = require('lathe.native').get_prompt('library', 'translate', { language = 'Latin' })
        return r and r.result.messages[1].content.text or tostring(e)";
    assert_eq!(editor.lua_text(prompt), "Translate into Latin, formal");
    let listed = editor.lua_text("return require('mcphub').get_hub_instance() == nil and 'none' or 'hub'");
    assert_eq!(listed, "none", "there is no hub before it is set up");
    editor.lua("require('mcphub').setup({})");
    assert_eq!(editor.lua_int("return #require('mcphub').get_hub_instance():get_prompts()"), 2);
    let broken =
        "local r, e = require('mcphub').get_hub_instance():get_prompt('library', 'broken', {}) return tostring(e)";
    assert!(editor.lua_text(broken).contains("no books"));
}
