//! Today's form and what holds for every form: schemas, results, words.

use super::{editor, either_way};

#[test]
fn cc_generation_newest_options_carry_the_result_before() {
    either_way(|editor| {
        assert_eq!(editor.outcome("'pipeline_current', { n = 4 }", "one('pipeline_current')"), ["kept 9"]);
        assert!(editor.lua_text("return shown()").contains("\n  piped\n"));
    });
}

#[test]
fn cc_function_input_after_a_command_is_its_lines_without_an_empty_last_one() {
    either_way(|editor| {
        let results = editor.outcome("'mixed_cmds', {}", "one('mixed_cmds')");
        assert_eq!(results, ["success 2 lines, the last \"two\", whole \"one\\\ntwo\\\n\\\n\"\n\nthree 1"]);
        assert!(editor.lua_bool("return chat.tool_registry.flags.printed"));
    });
}

#[test]
fn jobs_that_are_registered_answer_by_the_callback() {
    either_way(|editor| {
        let results = editor.outcome("'jira', { key = 'ABC-1' }", "one('jira')");
        assert_eq!(results, ["ABC-1: open"]);
        assert!(editor.lua_text("return shown()").contains("Looked up ABC-1"));
    });
}

#[test]
fn cc_schema_may_stand_without_its_envelope() {
    either_way(|editor| {
        assert_eq!(
            editor.outcome("'flat_schema', { city = 'Rome' }, 'flat_schema', {}", "one('flat_schema')")[0],
            "Rome is sunny"
        );
        assert!(editor.results()[1].contains("city"), "the schema counts: {:?}", editor.results());
        assert!(editor.lua_bool("return chat.tool_registry.schemas.flat_schema['function'].name == 'flat_schema'"));
    });
}

#[test]
fn cc_schema_missing_field_that_may_be_null_counts_as_null() {
    either_way(|editor| {
        let calls = "'flat_schema_typed', { city = 'Rome', unit = 'celsius' }, 'flat_schema_typed', { city = 'Oslo' }, \
            'flat_schema_typed', { city = 'Bonn', unit = vim.NIL }, 'flat_schema_typed', { unit = vim.NIL }";
        let results = editor.outcome(calls, "one('flat_schema_typed')");
        assert_eq!(results[..3], ["Rome in celsius", "Oslo in null", "Bonn in null"]);
        assert!(results[3].contains("city"), "a field that may not be null is missing: {}", results[3]);
    });
}

#[test]
fn cc_schema_required_inside_a_property_is_lifted_with_a_notice() {
    either_way(|editor| {
        let calls = "'property_required', { title = 'T', owner = { name = 'Ann' } }, 'property_required', { title = 'T', owner = vim.empty_dict() }, \
            'property_required', { owner = { name = 'Ann' } }";
        let results = editor.outcome(calls, "one('property_required')");
        assert_eq!(results[0], "T for Ann");
        assert!(results[1].contains("name") && results[2].contains("title"), "{results:?}");
        let told = editor.told_all();
        assert_eq!(told.matches("property_required").count(), 1, "{told}");
        assert!(told.contains("required"), "{told}");
    });
}

#[test]
fn string_callbacks_and_paths_lead_to_older_tools() {
    let editor = editor();
    let folder = editor.home.path().join("of_the_user/lua/user");
    std::fs::create_dir_all(&folder).unwrap();
    let source = crate::support::repository().join("tests/corpus/tools/calculator_agent.lua");
    std::fs::copy(source, folder.join("calculator_agent.lua")).unwrap();
    editor.lua("vim.opt.runtimepath:append(vim.env.HOME .. '/of_the_user')");
    let call = "'calculator_agent', { left = 2, right = 3, operation = 'multiply' }";
    let results =
        editor.outcome(call, "{ calculator_agent = { callback = 'user.calculator_agent', description = 'x' } }");
    assert_eq!(results, ["6"]);
}
#[test]
fn success_without_a_result_is_a_success() {
    either_way(|editor| {
        editor.lua("tools = one('quiet_success') tools.opts = { auto_submit_errors = false }");
        let results = editor.outcome("'quiet_success', {}", "tools");
        assert!(results[0].contains("quiet_success"), "the model reads a stand-in: {results:?}");
        assert_eq!(editor.lua_text("return statuses()"), "success");
        assert!(editor.lua_bool("return quiet_ran and quiet_stdout == 0"));
        assert!(editor.lua_bool("return chat.messages[#chat.messages].content == 'done'"), "its result was sent");
    });
}

#[test]
fn reason_of_a_refusal_is_passed_on_although_rejected_throws() {
    either_way(|editor| {
        editor.play("'stubborn_reject', {}", "one('stubborn_reject')");
        editor.wait_lua("is_asking() and shown():find('Run the \"stubborn_reject\" tool?', 1, true)");
        editor.input("<Esc>g3wrong branch<CR>");
        let results = editor.turn_over();
        assert!(results[0].contains("wrong branch"), "{results:?}");
        assert_eq!(editor.lua_text("return statuses()"), "rejected");
    });
}
