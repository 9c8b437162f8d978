//! Registration, definitions and their faults, state and events of servers.

use super::{Editor, editor};
use crate::support::script;

/// Registers something and returns the code and the path of the fault.
fn fault(editor: &Editor, code: &str) -> String {
    editor.lua_text(&format!("local _, e = {code} return e and e.type .. ' ' .. e.code .. ' ' .. e.path or 'none'"))
}

#[test]
fn n06_n08_faults_say_what_and_where_and_nothing_is_thrown() {
    let editor = editor();
    editor.lua("function h() error('never called') end");
    for (code, wanted) in [
        ("native.add_server('')", "INVALID_NAME name"),
        ("native.add_server(nil)", "INVALID_NAME name"),
        ("native.add_server('s', 7)", "INVALID_DEFINITION "),
        ("native.add_server('s', { capabilities = 7 })", "INVALID_DEFINITION capabilities"),
        ("native.add_server('s', { capabilities = { tools = { a = 1 } } })", "INVALID_DEFINITION capabilities.tools"),
        ("native.add_server('s', { description = 7 })", "INVALID_DEFINITION description"),
        ("native.add_tool('s', nil)", "INVALID_DEFINITION "),
        ("native.add_tool('', { name = 't', handler = h })", "INVALID_NAME name"),
        ("native.add_tool('s', { handler = h })", "INVALID_NAME name"),
        ("native.add_tool('s', { name = ' ', handler = h })", "INVALID_NAME name"),
        ("native.add_tool('s', { name = 't' })", "INVALID_HANDLER handler"),
        ("native.add_tool('s', { name = 't', handler = 'x' })", "INVALID_HANDLER handler"),
        ("native.add_tool('s', { name = 't', handler = h, inputSchema = 1 })", "INVALID_SCHEMA inputSchema"),
        (
            "native.add_tool('s', { name = 't', handler = h, inputSchema = { type = 'array' } })",
            "INVALID_SCHEMA inputSchema",
        ),
        (
            "native.add_tool('s', { name = 't', handler = h, inputSchema = { type = 'object', properties = 1 } })",
            "INVALID_SCHEMA inputSchema",
        ),
        (
            "native.add_tool('s', { name = 't', handler = h, inputSchema = { type = 'object', required = { 1 } } })",
            "INVALID_SCHEMA inputSchema",
        ),
        ("native.add_tool('s', { name = 't', handler = h, timeout = false })", "INVALID_DEFINITION timeout"),
        ("native.add_tool('s', { name = 't', handler = h, timeout = 0.5 })", "INVALID_DEFINITION timeout"),
        ("native.add_resource('s', { handler = h })", "INVALID_URI uri"),
        ("native.add_resource('s', { uri = 'x' })", "INVALID_HANDLER handler"),
        ("native.add_resource_template('s', { uriTemplate = 'x://y', handler = h })", "INVALID_URI uriTemplate"),
        ("native.add_prompt('s', { name = 'p', handler = h, arguments = 'x' })", "INVALID_DEFINITION arguments"),
        ("native.add_prompt('s', { name = 'p' })", "INVALID_HANDLER handler"),
    ] {
        assert_eq!(fault(&editor, code), format!("VALIDATION {wanted}"), "{code}");
    }
    assert_eq!(
        fault(
            &editor,
            "native.add_tool('s', { name = 't', handler = h, timeout = false, needs_confirmation_window = false })"
        ),
        "none"
    );
    let text = "local _, e = native.add_tool('s', { name = 'x' }) return tostring(e)";
    assert_eq!(editor.lua_text(text), "handler: expected a function, got nil (INVALID_HANDLER)");
    // Nothing was loaded for it.
    assert!(editor.lua_bool("return require('lathe.core').lib == nil"));
    assert_eq!(editor.told(), "");
}

#[test]
fn n09_a24_a_name_is_taken_once_and_can_be_replaced() {
    let editor = editor();
    let code = "local a = native.add_server('x', { displayName = 'X' }) local b, e = native.add_server('x', { displayName = 'Y' }) \
        return tostring(a == b) .. e.code .. a.displayName";
    assert_eq!(editor.lua_text(code), "trueALREADY_EXISTSX");
    editor.lua(
        "approve()
         serve('x', 't', function(_, res) finish = function() res:text('old'):send() end end)
         call('x', 't')",
    );
    editor.wait_lua("finish");
    editor.lua(
        "_, dup = serve('x', 't', function() return 'never' end)
         native.add_tool('x', { name = 't', handler = function() return 'new' end }, { replace = true })
         finish()",
    );
    editor.wait_called();
    assert_eq!(editor.lua_text("return dup.code .. texts()"), "DUPLICATEold", "the running call keeps the old one");
    editor.lua("call('x', 't')");
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "new");
}

#[test]
fn n01_events_come_once_per_tick_and_listeners_may_fail_or_leave() {
    let editor = editor();
    editor.run("events");
    editor.wait_lua("#seen >= 4");
    assert_eq!(editor.lua_int("return before"), 0);
    assert_eq!(
        editor.lua_text("table.sort(seen) return table.concat(seen, ' ')"),
        "prompt_list_changed:a resource_list_changed:a servers_updated:a+b tool_list_changed:a+b"
    );
    editor.wait_lua("#told == 2");
}

#[test]
fn n03_n07_a23_bad_servers_of_setup_are_left_out_and_one_notice_lists_every_fault() {
    let editor = editor();
    editor.run("bad_servers");
    editor.wait_lua("#told > 0");
    assert_eq!(editor.lua_text("return table.concat(names, ' ')"), "alpha nothing zeta");
    assert_eq!(editor.lua_int("return #told"), 1);
    let told = editor.told();
    assert!(told.contains("native.servers.weather.capabilities.tools[2].handler"), "{told}");
    assert!(told.contains("INVALID_HANDLER") && told.contains("DUPLICATE"), "{told}");
    assert!(told.contains("native.servers.weather.capabilities.tools[3].name"), "{told}");
}

#[test]
fn n03_another_setup_takes_its_servers_away_and_leaves_what_was_added() {
    let editor = editor();
    editor.run("two_setups");
    assert_eq!(editor.lua_text("return names()"), "one.a one.mine two.a");
    editor.lua("require('lathe').setup({})");
    assert_eq!(editor.lua_text("return names()"), "one.mine");
    assert!(editor.lua_bool("return native.is_native_server('two') == nil"));
}

#[test]
fn n46_disable_cancels_what_runs_and_persists_only_when_asked() {
    let editor = editor();
    editor.lua(
        "approve()
         serve('s', 't', function(req, res) req.signal.on_cancel(function() fired = true end) end)
         call('s', 't')",
    );
    editor.wait_lua("started()");
    assert!(editor.lua_bool("return native.is_native_server('s').status == 'connected' and native.disable('s')"));
    editor.wait_called();
    assert_eq!(editor.lua_text("return err.code .. tostring(fired)"), "CANCELLEDtrue");
    assert_eq!(editor.lua_text("return native.is_native_server('s').status"), "disabled");
    editor.lua("call('s', 't')");
    editor.wait_called();
    assert_eq!(editor.lua_text("return err.code"), "SERVER_DISABLED");
    assert_eq!(editor.lua_int("return #native.list_servers()"), 0);
    assert_eq!(editor.lua_int("return #native.list_servers({ include_disabled = true })"), 1);
    let file = editor.home.path().join("state/nvim/lathe/native.json");
    assert!(!file.exists());
    editor.lua("native.enable('s')");
    assert!(editor.lua_bool("return native.disable('s', { persist = true })"));
    assert_eq!(std::fs::read_to_string(file).unwrap(), r#"{"s":true}"#);
    assert_eq!(
        editor.lua_text("local ok, e = native.disable('nobody') return tostring(ok) .. e"),
        "falsethere is no native server \"nobody\""
    );
}

#[test]
fn n04_settings_turn_servers_and_items_off_and_are_checked() {
    let editor = editor();
    editor.run("settings");
    let list = script("listed");
    assert_eq!(editor.lua_text(&list), r#"1[["a"],["x://1"],[],["p"]]"#);
    editor.wait_lua("#told == 1");
    assert!(editor.told().contains("native.settings.wrong"), "{}", editor.told());
}

#[test]
fn lists_are_plain_copies_and_removal_says_whether_there_was_something() {
    let editor = editor();
    editor.run("one_server");
    let code = "local s = native.list_servers()[1] local t = s.capabilities.tools[1] \
        return s.description .. t.description .. t.inputSchema.type .. tostring(t.handler) .. s.capabilities.resourceTemplates[1].name";
    assert_eq!(editor.lua_text(code), "madedynamicobjectnilx://{y}");
    assert_eq!(
        editor.lua_text(
            "return table.concat(vim.tbl_map(tostring, { native.remove_tool('s', 't'), native.remove_tool('s', 't'), \
            native.remove_server('s'), native.remove_server('s') }), ' ')"
        ),
        "true false true false"
    );
}

#[test]
fn calls_of_what_is_not_there_name_what_is() {
    let editor = editor();
    editor.lua("approve() serve('files', 'search', print) call('files', 'serch')");
    editor.wait_called();
    assert_eq!(
        editor.lua_text("return err.code .. ': ' .. err.message"),
        "NOT_FOUND: there is no tool \"serch\" in the server \"files\"; there are: search"
    );
    editor.lua("call('fils', 'search')");
    editor.wait_called();
    assert_eq!(
        editor.lua_text("return err.code .. ': ' .. err.message"),
        "NOT_FOUND: there is no server \"fils\"; there are: files"
    );
}

#[test]
fn a_handle_cancels_its_call() {
    let editor = editor();
    editor.lua("approve() serve('s', 't', function() began = true end) handle = call('s', 't')");
    editor.wait_lua("began");
    editor.lua("handle.cancel()");
    editor.wait_called();
    assert_eq!(editor.lua_text("return err.code .. type(handle.id) .. called"), "CANCELLEDnumber1");
}

#[test]
fn the_functions_are_also_on_the_module_lathe() {
    let editor = editor();
    editor.run("on_module");
    let count = "local c = native.is_native_server('s').capabilities return #c.tools + #c.resources + #c.resourceTemplates + #c.prompts";
    assert_eq!(editor.lua_int(count), 4);
}
