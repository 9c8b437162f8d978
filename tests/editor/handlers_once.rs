//! `use_handlers_once`: calls of one tool in a row share a copy, its `setup`, its `on_exit` and the user's yes.

use crate::chat;
use crate::support::Editor;

fn editor() -> Editor {
    let editor = chat::editor();
    editor.run("sharing");
    editor
}

fn seen(editor: &Editor) -> String {
    editor.lua_text("return table.concat(seen, ' ')")
}

fn answer(editor: &Editor, count: usize, key: &str) {
    editor.wait_lua(&format!("asked() == {count} and chat.questions[1]"));
    editor.wait_lua("chat.render:is_written(chat.questions[1].call.block)");
    editor.input(&format!("<Esc>{key}"));
}

#[test]
fn cc_options_use_handlers_once_runs_setup_and_on_exit_once_for_calls_in_a_row() {
    let editor = editor();
    editor.lua(
        r#"open({ edits({}, {}, {}), edits({ n = 4 }), { text = "done" } }, { edit = editor_tool() }) send("go")"#,
    );
    editor.wait_ended(1);
    assert_eq!(seen(&editor), "env1 setup1 run1 env2 run2 env3 run3 exit3 env4 setup4 run4 exit4");
    assert_eq!(editor.results(), ["edit 1 of 1", "edit 2 of 2", "edit 3 of 3", "edit 4 of 1"]);
    editor.assert_quiet();
}

#[test]
fn only_calls_next_to_each_other_share_and_broken_ones_between_them_do_not_part_them() {
    let editor = editor();
    editor.run("parted");
    editor.wait_ended(1);
    assert_eq!(seen(&editor), "env1 setup1 run1 env2 run2 exit2 other env4 setup4 run4 env6 run6 exit6");
    assert!(editor.lua_bool("return paired() and #results() == 6"));
}

#[test]
fn cc_options_use_handlers_once_skips_approval_after_the_first_call() {
    let editor = editor();
    editor.lua(
        r#"open({ edits({}, {}, {}), edits({ n = 4 }, { n = 5 }), { text = "done" } },
             { edit = editor_tool({ opts = { require_approval_before = true } }) }) send("go")"#,
    );
    answer(&editor, 1, "g2");
    // The next answer of the model is another run.
    answer(&editor, 2, "g2");
    editor.wait_ended(1);
    assert_eq!(editor.lua_int("return asked()"), 2);
    assert_eq!(editor.results().len(), 5);
}

#[test]
fn after_a_no_the_next_call_asks_again() {
    let editor = editor();
    editor.lua(
        r#"open({ edits({}, {}, {}), { text = "done" } },
             { edit = editor_tool({ opts = { require_approval_before = true } }) }) send("go")"#,
    );
    answer(&editor, 1, "g3<CR>");
    answer(&editor, 2, "g2");
    editor.wait_ended(1);
    assert_eq!(seen(&editor), "env1 setup1 env2 run2 env3 run3 exit3");
    assert_eq!(editor.lua_int("return asked()"), 2);
}

#[test]
fn with_require_cmd_approval_each_command_asks_all_the_same() {
    let editor = editor();
    editor.lua(
        r#"open({ edits({}, {}), { text = "done" } },
             { edit = editor_tool({ opts = { require_approval_before = true, require_cmd_approval = true } }) }) send("go")"#,
    );
    answer(&editor, 1, "g2");
    answer(&editor, 2, "g2");
    editor.wait_ended(1);
    assert_eq!(seen(&editor), "env1 setup1 run1 env2 run2 exit2");
}

#[test]
fn whatever_ends_the_run_of_calls_its_exit_runs_once() {
    for (calls, extra, keys, expected) in [
        ("{}, {}", "", "g4", "env1 setup1 exit1"),
        ("{}, {}", "", "stop", "env1 setup1 exit1"),
        ("{}, { bad_env = true }", "", "g2", "env1 setup1 run1 env2 exit2"),
        ("{ bad_env = true }, {}", "", "g2", "env1 env2 setup2 run2 exit2"),
        ("{ bad_setup = true }, {}, {}", "", "g2", "env1 setup1 exit1 env2 setup2 run2 env3 run3 exit3"),
        ("{ fail = true }, { fail = true }", "", "g2", "env1 setup1 run1 env2 run2 exit2"),
        (
            "{}, {}",
            "handlers = { on_exit = function() seen[#seen + 1] = 'threw' error('no exit') end }",
            "g2",
            "env1 setup1 run1 env2 run2 threw",
        ),
    ] {
        let editor = editor();
        editor.lua(&format!(
            r#"open({{ edits({calls}), {{ text = "done" }} }},
                 {{ edit = editor_tool(vim.tbl_deep_extend("force", {{ opts = {{ require_approval_before = true }} }}, {{ {extra} }})) }})
               send("go")"#
        ));
        if keys == "stop" {
            editor.wait_lua("asked() == 1");
            editor.lua("chat:stop()");
        } else {
            answer(&editor, 1, keys);
        }
        editor.wait_ended(1);
        // A call that is cancelled in the queue has a copy of its own that nobody set up, so the exit is the first one's.
        assert_eq!(seen(&editor), expected, "{calls} {keys}");
        assert!(editor.lua_bool("return paired()"), "{calls} {keys}");
        assert!(editor.lua_bool("return chat.shared == nil"), "nothing is held after the last call");
    }
}

#[test]
fn a_stop_in_the_middle_of_a_run_of_calls_runs_the_exit_after_the_running_one() {
    let editor = editor();
    editor.lua(
        r#"
        local hangs = { cmds = { function(self) seen[#seen + 1] = "hangs" .. self.tool.args.n end } }
        open({ edits({}, {}, {}), { text = "done" } }, { edit = editor_tool(hangs) })
        send("go")"#,
    );
    editor.wait_lua("seen[#seen] == 'hangs1'");
    editor.lua("chat:stop()");
    editor.wait_ended(1);
    assert_eq!(seen(&editor), "env1 setup1 hangs1 exit1");
    assert!(editor.lua_bool("return paired() and #results() == 3"));
    editor.assert_quiet();
}
