//! The life of a tool call.

use super::{debugging, editor};

#[test]
fn a01_a_tool_is_known_by_its_server_and_its_name_and_gives_its_text() {
    let editor = editor();
    editor.lua(
        "greet() use({ answer('example__greet', { name = 'Ann' }), { text = 'done' } }, { 'example' }) send('go')",
    );
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["Hello Ann"]);
    assert_eq!(editor.told(), "");
}

#[test]
fn a02_a03_n26_wrong_arguments_are_told_to_the_model_and_nobody_is_asked() {
    let editor = editor();
    editor.lua(
        "greet() use({ answer('example__greet', {}, 'example__greet', { name = 3 }), { text = 'done' } }, \
         { 'example__greet' }, { auto_approve = false }) send('go')",
    );
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].contains("/name") && results[0].contains("required"), "{results:?}");
    assert!(results[1].contains("/name") && results[1].contains("string"), "{results:?}");
    assert!(editor.lua_bool("return greeted == nil"));
    let codes = "local codes = {} for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then \
        codes[#codes + 1] = e.data.code .. ' ' .. e.data.source .. ' ' .. e.data.server end end return table.concat(codes, ', ')";
    assert_eq!(editor.lua_text(codes), "INVALID_ARGUMENTS native example, INVALID_ARGUMENTS native example");
    assert_eq!(editor.lua_int("return count('LatheToolApprovalRequested')"), 0);
}

#[test]
fn a05_n27_a_callback_comes_once_and_later() {
    let editor = editor();
    editor.lua(
        "approve() serve('s', 't', function(_, res) vim.schedule(function() res:text('x'):send() end) end) \
         call('s', 't') during = called",
    );
    editor.wait_called();
    assert_eq!(editor.lua_text("return during .. called .. texts() .. tostring(err)"), "01xnil");
}

#[test]
fn a07_the_first_send_counts_and_later_ones_are_one_line_in_the_log() {
    let editor = debugging();
    editor.lua(
        "approve() serve('s', 't', function(_, res) res:text('a'):send(); res:text('b'):send() end) call('s', 't')",
    );
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "a");
    assert_eq!(editor.lua_text("return log()").matches("after its result was sent").count(), 1);
}

#[test]
fn a06_n32_a_handler_that_never_sends_ends_at_its_limit_and_what_it_sends_later_changes_nothing() {
    let editor = debugging();
    editor.lua(
        "approve() serve('s', 't', function(req, res)
            vim.defer_fn(function() res:text('late'):send() late = true end, 500)
            req.signal.on_cancel(function() fired = (fired or 0) + 1 end)
         end)
         started = vim.uv.hrtime()
         call('s', 't', {}, { timeout = 200 })",
    );
    editor.wait_called();
    let ms = editor.lua("return (vim.uv.hrtime() - started) / 1e6").as_f64().unwrap();
    assert!(ms >= 200.0, "{ms}");
    assert_eq!(editor.lua_text("return err.code"), "TIMEOUT");
    assert!(editor.lua_text("return err.message").contains("200 ms"));
    editor.wait_lua("late");
    assert_eq!(editor.lua_text("return called .. tostring(response) .. fired"), "1nil1");
}

#[test]
fn n02_the_limit_of_all_native_calls_is_an_option_and_a_tool_may_have_its_own() {
    let editor = editor();
    editor.lua(
        "approve({ timeout = 100 })
         serve('s', 'all', function() end)
         serve('s', 'own', function() end, { timeout = 50 })
         call('s', 'all')",
    );
    editor.wait_called();
    assert!(editor.lua_text("return err.message").contains("100 ms"));
    editor.lua("call('s', 'own')");
    editor.wait_called();
    assert!(editor.lua_text("return err.message").contains("50 ms"));
    editor.lua("require('lathe').setup({ native = { timeuot = 1, also = 2 } })");
    editor.wait_lua("#told == 1");
    assert!(editor.told().contains("native.also: unknown option"), "{}", editor.told());
    assert!(editor.told().contains("native.timeuot: unknown option"), "{}", editor.told());
}

#[test]
fn a08_a09_n30_what_a_handler_may_return() {
    let editor = editor();
    editor.lua("approve() function gives(fn) serve('s', 't', fn, {}) native.remove_tool('s', 't') serve('s', 't', fn) call('s', 't') end");
    for (code, wanted) in [
        ("return res:text('a')", "a"),
        ("return 'x'", "x"),
        ("return { content = { { type = 'text', text = 'y' } } }", "y"),
        ("return { result = { content = { { type = 'text', text = 'z' } } } }", "z"),
        ("return { { type = 'text', text = '1' }, { type = 'text', text = '2' } }", "1|2"),
        ("res:send('sent')", "sent"),
        ("res:text('own'):send({ content = { { type = 'text', text = 'other' } } })", "other"),
        ("res:text('first'):send() return 'second'", "first"),
    ] {
        editor.lua(&format!("gives(function(req, res) {code} end)"));
        editor.wait_called();
        assert_eq!(editor.lua_text("return texts() .. tostring(err)"), format!("{wanted}nil"), "{code}");
    }
    for (code, kind) in [
        ("return 5", "number"),
        ("return true", "boolean"),
        ("return { foo = 1 }", "table"),
        ("return function() end", "function"),
        ("res:send(7)", "number"),
    ] {
        editor.lua(&format!("gives(function(req, res) {code} end)"));
        editor.wait_called();
        assert_eq!(editor.lua_text("return err.code"), "INVALID_RESULT", "{code}");
        let message = editor.lua_text("return err.message");
        assert!(message.contains(kind) && message.contains("\"t\" of the server \"s\" ran"), "{message}");
    }
    assert_eq!(editor.told(), "");
}

#[test]
fn n30_a_tool_that_returns_and_sends_is_told_once_and_the_first_counts() {
    let editor = editor();
    editor.lua(
        "approve() serve('s', 't', function(req, res) vim.schedule(function() res:send('late') late = (late or 0) + 1 end) return 'first' end)
         call('s', 't')",
    );
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "first");
    editor.lua("call('s', 't')");
    editor.wait_lua("late == 2 and #told > 0");
    assert_eq!(editor.told().matches("the tool \"t\" of the server \"s\"").count(), 1, "{}", editor.told());
}

#[test]
fn r119_a_throw_of_nothing_is_told_in_words() {
    let editor = editor();
    editor.lua(
        "serve('s', 't', function() error(nil) end)
         use({ answer('s__t', {}), { text = 'done' } }, { 's' }) send('go')",
    );
    editor.wait_ended(1);
    assert!(editor.results()[0].contains("did not say why"), "{:?}", editor.results());
}

#[test]
fn a10_a_throw_gives_the_model_the_message_and_the_log_the_traceback() {
    let editor = editor();
    editor.lua(
        "serve('s', 't', function() error('boom') end)
         serve('s', 'object', function() error({ disk = 'full' }) end)
         serve('s', 'guarded', function(_, res) vim.schedule(res:guard(function() error('in a callback') end)) end)
         serve('s', 'after', function(_, res) res:text('stands'):send() error('too late') end)
         use({ answer('s__t', {}, 's__object', {}, 's__guarded', {}, 's__after', {}), { text = 'done' } }, { 's' }) send('go')",
    );
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].contains("boom") && !results[0].contains("traceback"), "{results:?}");
    assert!(results[1].contains("full"), "{results:?}");
    assert!(results[2].contains("in a callback"), "{results:?}");
    assert_eq!(results[3], "stands");
    let log = editor.lua_text("return log()");
    assert!(log.contains("boom") && log.contains("traceback") && log.contains("too late"), "{log}");
    let ends = "local list = {} for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then \
        list[#list + 1] = e.data.status .. ' ' .. e.data.code end end return table.concat(list, ', ')";
    assert_eq!(editor.lua_text(ends), "error HANDLER_ERROR, error HANDLER_ERROR, error HANDLER_ERROR, success OK");
    let failed = "return vim.iter(chat.messages):map(function(m) return m.role == 'tool' and tostring(m.tools.is_error) or nil end):join(' ')";
    assert_eq!(editor.lua_text(failed), "true true true false");
    editor.assert_quiet();
}

#[test]
fn a11_a12_n22_an_error_replaces_what_was_added_and_can_be_sent_again_without_harm() {
    let editor = editor();
    editor.lua(
        "serve('s', 'details', function(_, res) res:text('t'); return res:error('No repo', { cwd = '/x' }) end)
         serve('s', 'sent', function(_, res) return res:error('e'):send() end)
         serve('s', 'plain', function(_, res) return res:error('e') end)
         serve('s', 'table', function(_, res) return res:error({ why = 1 }) end)
         use({ answer('s__details', {}, 's__sent', {}, 's__plain', {}, 's__table', {}), { text = 'done' } }, { 's' }) send('go')",
    );
    editor.wait_ended(1);
    let results = editor.results();
    assert_eq!(results[0], "No repo\nDetails: {\n  cwd = \"/x\"\n}");
    assert_eq!(results[1..3], ["e", "e"]);
    assert!(results[3].contains("why = 1"), "{results:?}");
    let failed = "return vim.iter(chat.messages):map(function(m) return m.role == 'tool' and tostring(m.tools.is_error) or nil end):join(' ')";
    assert_eq!(editor.lua_text(failed), "true true true true");
    editor.assert_quiet();
}

#[test]
fn n21_what_is_no_string_is_shown_readably() {
    let editor = editor();
    editor.lua(
        "approve() serve('s', 't', function(_, res) return res:text({ a = 1 }):text(nil):text(2) end) call('s', 't')",
    );
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "{\n  a = 1\n}|nil|2");
}

#[test]
fn n31_bad_items_become_notes_and_nothing_but_bad_ones_is_no_result() {
    let editor = editor();
    editor.lua(
        "approve()
         serve('s', 'some', function(_, res) return res:text('good'):image(12):resource({ text = 'no uri' }) end)
         serve('s', 'none', function() return { { type = 'text' }, { type = 'video' }, 3 } end)
         serve('s', 'empty', function(_, res) return res:send() end)
         use({ answer('s__some', {}, 's__none', {}, 's__empty', {}), { text = 'done' } }, { 's' }) send('go')",
    );
    editor.wait_ended(1);
    let results = editor.results();
    assert!(results[0].starts_with("good\n[left out: an image item"), "{results:?}");
    assert!(results[0].contains("[left out: a resource item without uri]"), "{results:?}");
    assert!(results[1].contains("cannot be used") && results[1].contains("\"video\""), "{results:?}");
    assert_eq!(results[2], "(no output)");
}

#[test]
fn a15_n24_a_call_is_checked_against_the_schema_that_was_sent() {
    let editor = editor();
    editor.lua(
        "allowed = { 'a' }
         serve('s', 't', function(req, res)
           return res:text('ran ' .. req.params.x)
         end, { inputSchema = function() return { type = 'object', properties = { x = { enum = vim.deepcopy(allowed), type = 'string' } } } end })
         use(function(messages)
           if #results() == 0 then
             allowed = { 'b' }
             return answer('s__t', { x = 'a' }, 's__t', { x = 'b' })
           elseif #results() == 2 then
             return answer('s__t', { x = 'b' })
           end
           return { text = 'done' }
         end, { 's' }) send('go')",
    );
    editor.wait_ended(1);
    let results = editor.results();
    // The schema changed after the first request was listed and before its answer.
    assert_eq!(results[0], "ran a");
    assert!(results[1].contains("/x"), "{results:?}");
    assert_eq!(results[2], "ran b");
}

#[test]
fn n24_no_type_is_coerced_and_formats_are_notes() {
    let editor = editor();
    editor.lua(
        "approve()
         serve('s', 't', function(req, res) return res:text(type(req.params.n)) end, { inputSchema = {
           type = 'object', properties = { n = { type = 'integer' }, at = { type = 'string', format = 'date' } },
         } })
         call('s', 't', { n = '3' })",
    );
    editor.wait_called();
    assert_eq!(editor.lua_text("return err.code"), "INVALID_ARGUMENTS");
    editor.lua("call('s', 't', { n = 3.0, at = 'no date' })");
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "number");
}

#[test]
fn a04_n25_defaults_are_notes_unless_they_are_to_be_applied() {
    let editor = editor();
    editor.lua(
        "function setup(apply)
           approve({ apply_defaults = apply })
           serve('s', 't', function(req, res)
             local p = req.params
             return res:text(p.path .. tostring(p.start_line) .. vim.inspect(p.deep))
           end, { inputSchema = { type = 'object', properties = {
             path = { type = 'string' }, start_line = { type = 'number', default = 1 },
             deep = { type = 'object', properties = { x = { default = { 'y' } } } },
           }, required = { 'path' } } }, { replace = true })
           call('s', 't', { path = 'p', deep = vim.empty_dict() })
         end
         setup(false)",
    );
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "pnilvim.empty_dict()");
    editor.lua("setup(true)");
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "p1{\n  x = { \"y\" }\n}");
}

#[test]
fn a32_n20_null_of_an_optional_field_is_nil_and_params_are_a_copy() {
    let editor = editor();
    editor.lua(
        r#"serve('s', 't', function(req, res)
             local p = req.params
             local text = tostring(p.x) .. tostring(p.list[1] == vim.NIL) .. #p.list
             p.list[2], p.more = 'changed', true
             return res:text(text)
           end, { inputSchema = { type = 'object', properties = { x = { type = 'string' }, list = { type = 'array' } } } })
           use({ answer('s__t', '{"x":null,"list":[null,1]}', 's__t', '{"x":null,"list":[null,1,2]}'), { text = 'done' } }, { 's' })
           send('go')"#,
    );
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["niltrue2", "niltrue3"]);
    let arguments = "return chat.messages[#chat.messages - 3].tools.calls[1]['function'].arguments";
    assert_eq!(editor.lua_text(arguments), r#"{"x":null,"list":[null,1]}"#);
}

#[test]
fn n19_the_request_tells_of_the_editor_the_caller_and_the_server() {
    let editor = editor();
    editor.lua(
        "vim.cmd.edit('one.lua') one = vim.api.nvim_get_current_buf()
         vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'a', 'b' }) vim.api.nvim_win_set_cursor(0, { 2, 0 })
         vim.cmd('silent! badd two.txt')
         tool_def = { name = 't', handler = function(req, res) seen = req return res:text('x') end }
         native.add_tool('s', tool_def)
         use({ answer('s__t', { k = 1 }), { text = 'done' } }, { 's' }) send('go')",
    );
    editor.wait_ended(1);
    let facts = r#"
        local info, first = seen.editor_info, nil
        for _, buffer in ipairs(info.buffers) do if buffer.bufnr == one then first = buffer end end
        return vim.json.encode({
          #info.buffers, info.last_active.bufnr == one, first.filename == vim.fn.getcwd() .. '/one.lua', first.filetype,
          first.line_count, first.is_visible, first.is_modified, first.is_loaded, first.lastused > 0, #first.windows,
          first.winnr == first.windows[1], first.cursor_pos,
          seen.params.k, seen.tool == tool_def, seen.server == native.is_native_server('s'), seen.server.displayName,
          seen.caller.type, seen.caller.auto_approve, seen.caller.lathe.chat == chat, seen.caller.lathe.bufnr == chat.bufnr,
          seen.caller.codecompanion == seen.caller.lathe, type(seen.caller.lathe.tool_call_id), seen.caller.meta,
          seen.signal.is_cancelled(),
        })"#;
    assert_eq!(
        editor.lua_text(facts),
        r#"[2,true,true,"lua",2,true,true,true,true,1,true,[2,0],1,true,true,"s","lathe",true,true,true,true,"string",[],false]"#
    );
}

#[test]
fn n28_without_a_callback_it_waits_and_in_a_fast_event_it_does_not() {
    let editor = editor();
    editor.lua(
        "approve({ sync_timeout = 300 })
         serve('s', 'soon', function(_, res) vim.defer_fn(function() res:text('x'):send() end, 20) end)
         serve('s', 'never', function() end)
         serve('s', 'throws', function() error('boom') end)",
    );
    let code = "local r, e = native.call_tool('s', 'soon') return r.result.content[1].text .. tostring(e)";
    assert_eq!(editor.lua_text(code), "xnil");
    let parsed = "return native.call_tool('s', 'soon', {}, { parse_response = true }).text";
    assert_eq!(editor.lua_text(parsed), "x");
    let never = "local r, e = native.call_tool('s', 'never') return tostring(r) .. e.code .. e.message";
    assert_eq!(editor.lua_text(never), "nilTIMEOUTno result after 300 ms (native.sync_timeout)");
    let thrown =
        "local r, e = native.call_tool('s', 'throws') return e.code .. tostring(e.traceback ~= nil) .. tostring(e)";
    let thrown = editor.lua_text(thrown);
    assert!(thrown.starts_with("HANDLER_ERRORtrue") && thrown.contains("boom"), "{thrown}");
    editor.lua(
        "local timer = vim.uv.new_timer()
         timer:start(1, 0, function()
           timer:close()
           local _, e = native.call_tool('s', 'soon')
           fast = e.code
           native.call_tool('s', 'soon', {}, { callback = function(r) late = r.result.content[1].text .. tostring(vim.in_fast_event()) end })
         end)",
    );
    editor.wait_lua("late");
    assert_eq!(editor.lua_text("return fast .. late"), "INVALID_CALLxfalse");
}

#[test]
fn n29_calls_of_one_chat_run_one_after_another() {
    let editor = editor();
    editor.lua(
        "order = {}
         serve('s', 't', function(req, res)
           table.insert(order, 'begin ' .. req.params.n)
           vim.defer_fn(function() table.insert(order, 'end ' .. req.params.n) res:text(''):send() end, 10)
         end)
         use({ answer('s__t', { n = 1 }, 's__t', { n = 2 }), { text = 'done' } }, { 's' }) send('go')",
    );
    editor.wait_ended(1);
    assert_eq!(editor.lua_text("return table.concat(order, ', ')"), "begin 1, end 1, begin 2, end 2");
    assert_eq!(editor.results(), ["(no output)", "(no output)"]);
}

#[test]
fn a30_stopping_the_chat_cancels_at_once_and_nothing_comes_later() {
    let editor = editor();
    editor.lua(
        "serve('s', 't', function(req, res)
           local process = vim.system({ 'sleep', '30' }, {}, function() res:text('late'):send() process_ended = true end)
           req.signal.on_cancel(function() process:kill(15) cancelled = req.signal.is_cancelled() end)
           waiting = true
         end)
         use({ answer('s__t', {}, 's__t', {}), { text = 'never' } }, { 's' }) send('go')",
    );
    editor.wait_lua("waiting");
    editor.lua("chat:stop()");
    editor.wait_ended(1);
    editor.wait_lua("process_ended");
    assert!(editor.lua_bool("return cancelled and paired()"));
    let results = editor.results();
    assert!(results.len() == 2 && results.iter().all(|text| text.contains("stopped")), "{results:?}");
    let codes = "local codes = {} for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then \
        codes[#codes + 1] = e.data.code end end return table.concat(codes, ', ')";
    assert!(editor.lua_text(codes).starts_with("CANCELLED"));
    assert!(!editor.buffer().contains("late"));
}

#[test]
fn n33_every_call_gets_exactly_one_result_in_every_outcome() {
    let editor = editor();
    editor.lua(
        "serve('s', 'ok', function(_, res) return res:text('ok') end)
         serve('s', 'throws', function() error('x') end)
         serve('s', 'bad', function() return 1 end)
         serve('s', 'slow', function() end, { timeout = 20 })
         serve('s', 'fails', function(_, res) return res:error('no') end)
         use({ answer('s__ok', {}, 's__throws', {}, 's__bad', {}, 's__slow', {}, 's__fails', {}, 's__gone', {}, 's__ok', '[1]'),
           { text = 'done' } }, { 's' }) send('go')",
    );
    editor.wait_ended(1);
    assert_eq!(editor.results().len(), 7);
    assert!(editor.lua_bool("return paired()"));
    let codes = "local codes = {} for _, e in ipairs(events) do if e.name == 'LatheToolFinished' then \
        codes[#codes + 1] = e.data.code or '-' end end return table.concat(codes, ', ')";
    assert_eq!(editor.lua_text(codes), "OK, HANDLER_ERROR, INVALID_RESULT, TIMEOUT, ERROR, -, INVALID_ARGUMENTS");
}

#[test]
fn a_handler_may_wait_for_another_call() {
    let editor = editor();
    editor.lua(
        "serve('s', 'inner', function(_, res) vim.defer_fn(function() res:text('inner'):send() end, 10) end)
         serve('s', 'outer', function(_, res)
           local response = native.call_tool('s', 'inner')
           return res:text('outer of ' .. response.result.content[1].text)
         end)
         use({ answer('s__outer', {}), { text = 'done' } }, { 's' }) send('go')",
    );
    editor.wait_lua("#results() == 1 and not chat.is_running");
    assert_eq!(editor.results(), ["outer of inner"]);
}

#[test]
fn a_server_may_be_registered_in_a_fast_event() {
    let editor = editor();
    editor.lua(
        "approve()
         local timer = vim.uv.new_timer()
         timer:start(1, 0, function()
           timer:close()
           made, fault = serve('fast', 't', function() return 'ran' end)
           done = true
         end)",
    );
    editor.wait_lua("done");
    assert!(editor.lua_bool("return made ~= nil and fault == nil"));
    editor.lua("call('fast', 't')");
    editor.wait_called();
    assert_eq!(editor.lua_text("return texts()"), "ran");
}
