//! Resources and prompts: by the API, and in a chat's input.

use super::editor;

#[test]
fn a27_n42_a_static_uri_wins_then_the_first_template_that_fits() {
    let editor = editor();
    editor.run("templates");
    let read = |uri: &str| editor.lua_text(&format!("return read('{uri}', 'my-server')"));
    assert_eq!(
        read("my-server://7/a%2Fb"),
        "first7,a/b my-server://7/a%2Fbmy-server://{id}/{p}1 text/plain my-server://7/a%2Fb"
    );
    assert!(
        read("my-server://7/static").starts_with("staticnil,nil my-server://7/staticnilnil"),
        "{}",
        read("my-server://7/static")
    );
    assert!(read("my-server://1/2/3").starts_with("second"));
    assert_eq!(read("my_server://1"), "NOT_FOUND");
    assert!(editor.lua_text("return read('my-server://7/x')").starts_with("first"), "any server");
    assert_eq!(editor.lua_text("return read('x', 'nobody')"), "NOT_FOUND");
    editor.lua("native.disable('my-server')");
    assert_eq!(read("my-server://7/x"), "SERVER_DISABLED");
}

#[test]
fn resources_may_be_binary_and_fail_like_tools() {
    let editor = editor();
    editor.run("kinds_of_ends");
    let blob = "local c = native.access_resource('s', 'x://blob').result.contents return c[1].blob .. c[1].mimeType .. c[2].blob .. c[2].mimeType";
    assert_eq!(editor.lua_text(blob), "abcapplication/octet-streamdefimage/png");
    for (uri, wanted) in [("error", "ERROR no such thing"), ("throws", "HANDLER_ERROR"), ("never", "TIMEOUT")] {
        let text = editor.lua_text(&format!(
            "local _, e = native.access_resource('s', 'x://{uri}') return e.code .. ' ' .. e.message"
        ));
        assert!(text.starts_with(wanted), "{text}");
    }
    assert!(editor.lua_bool("return fired"));
    assert_eq!(editor.lua_text("return native.access_resource('s', 'x://text').result.contents[1].text"), "plain");
}

#[test]
fn n43_a_mention_inserts_the_text_and_a_failure_inserts_nothing_and_is_told() {
    let editor = editor();
    editor.run("mentioned");
    editor.wait_ended(1);
    let content = editor.lua_text("return chat.messages[1].content");
    assert_eq!(content, "see x://late and , x://late\n\nResource x://late:\ncontent");
    let told = editor.told();
    assert!(told.contains("#{mcp:x://bad} is left out: broken"), "{told}");
    assert_eq!(told.matches("have the same resource x://late").count(), 1, "{told}");
    let offers = "return vim.iter(require('lathe.chat.input.server_mentions').references()):map(function(r) return r.name .. '=' .. r.description end):join(' ')";
    assert_eq!(editor.lua_text(offers), "mcp:x://late=Late mcp:x://bad=s");
}

#[test]
fn n44_n45_a_prompt_asks_for_its_arguments_and_its_last_message_is_for_editing() {
    let editor = editor();
    editor.run("prompt_arguments");
    editor.wait_lua("#chat.messages == 3 and chat.render:input() == 'long'");
    assert_eq!(editor.lua_text("return table.concat(asked, '|')"), "greet: who (a person): nil|short/long");
    let roles = "return vim.iter(chat.messages):map(function(m) return m.role .. '=' .. m.content end):join('|')";
    assert_eq!(editor.lua_text(roles), "system=Be kind.|user=Greet Ann|llm=How?");
    assert_eq!(editor.lua_int("return count('LatheChatSubmitted')"), 0);
    editor.lua("chat:submit()");
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return chat.messages[4].content"), "long");
}

#[test]
fn n44_short_names_work_where_they_are_unique_and_a_missing_argument_ends_it() {
    let editor = editor();
    editor.run("short_names");
    editor.wait_lua("chat.render:input() == 'aonly'");
    let names =
        "local n = require('lathe.chat.input.server_mentions').commands() table.sort(n) return table.concat(n, ' ')";
    assert_eq!(editor.lua_text(names), "mcp:a:both mcp:a:needs mcp:a:only mcp:b:both mcp:needs mcp:only");
    editor.lua("chat.render:clear_input() send('/mcp:both')");
    editor.wait_lua("#told == 1");
    assert!(editor.told().contains("several servers have the prompt both"), "{}", editor.told());
    editor.lua("chat.render:clear_input() send('/mcp:needs')");
    editor.wait_lua("#told == 2");
    assert!(editor.told().contains("\"needs\" needs x"), "{}", editor.told());
    assert_eq!(editor.lua_int("return #chat.messages"), 0);
    let err = "local _, e = native.get_prompt('a', 'needs', {}) return e.code .. e.message";
    assert_eq!(editor.lua_text(err), "INVALID_ARGUMENTS/x: required, and missing");
}

#[test]
fn a29_n45_a_prompt_that_fails_adds_nothing() {
    let editor = editor();
    editor.run("failing_prompts");
    editor.wait_lua("#told == 1");
    assert!(editor.told().contains("added nothing: x"), "{}", editor.told());
    editor.lua("chat.render:clear_input() send('/mcp:never')");
    editor.wait_lua("#told == 2");
    assert!(editor.told().contains("timed out after 50 ms"), "{}", editor.told());
    assert_eq!(editor.lua_int("return #chat.messages"), 0);
    assert_eq!(editor.lua_text("return chat.render:input()"), "/mcp:never");
}

#[test]
fn n47_resources_and_prompts_fire_the_events_of_tools_with_their_kind() {
    let editor = editor();
    editor.run("events");
    assert_eq!(
        editor.lua_text("return table.concat(kinds, '\\n')"),
        "LatheToolStarted resource native s - -\nLatheToolFinished resource native s OK success\n\
         LatheToolStarted prompt native s - -\nLatheToolFinished prompt native s HANDLER_ERROR error"
    );
}

#[test]
fn n43_a_mention_in_a_message_that_waits_for_the_running_turn_is_read_as_well() {
    let editor = editor();
    editor.run("waiting_mention");
    editor.wait_lua("finish");
    editor.lua("send('see #{mcp:x://1}')");
    editor.wait_lua("chat.read_resources");
    editor.lua("finish()");
    editor.wait_ended(1);
    assert!(
        editor
            .lua_bool("return chat.messages[#chat.messages - 1].content == 'see x://1\\n\\nResource x://1:\\ncontent'")
    );
    assert_eq!(editor.told(), "");
}

#[test]
fn prompts_are_offered_after_a_slash_at_the_beginning_of_a_line() {
    let editor = editor();
    editor.lua("native.add_prompt('s', { name = 'greet', handler = print }) open({}, {})");
    editor.input("i/mc");
    editor.wait_lua("vim.fn.pumvisible() == 1");
    let words = "local items = vim.fn.complete_info({ 'items' }).items return items[1].word .. ' ' .. #items";
    assert!(editor.lua_text(words).starts_with("/mcp:"), "{}", editor.lua_text(words));
    editor.input("<Esc>cca path/");
    editor.wait_lua("vim.api.nvim_get_current_line() == 'a path/'");
    assert!(!editor.lua_bool("return vim.fn.pumvisible() == 1"));
}
