//! Many chats with many calls of every outcome, cancels and deleted buffers: what was taken is given back.

use super::editor;

const CHATS: i64 = 200;
const WARM_UP: i64 = 40;
const AT_ONCE: i64 = 20;

/// What the editor's own tables hold for chats: one for each buffer that lives.
const LEFT: &str =
    "return #vim.tbl_filter(function(b) return vim.bo[b].filetype == 'lathe' end, vim.api.nvim_list_bufs())";

#[test]
fn two_hundred_chats_of_twenty_calls_leave_nothing_behind() {
    let editor = editor();
    editor.run("world");
    let seed: i64 = std::env::var("LATHE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut memory = Vec::new();
    for from in (0..CHATS + WARM_UP).step_by(usize::try_from(AT_ONCE).unwrap()) {
        editor.lua(&format!("round({from}, {}, {seed})", from + AT_ONCE - 1));
        editor.wait_lua("at_rest()");
        assert_eq!(editor.lua_int(LEFT), 0, "buffers are left");
        editor.wait_lua("is_free()");
        // What is made once (modules, caches, the log) is made before it is measured.
        if from >= WARM_UP {
            memory.push(editor.lua("return memory()").as_f64().unwrap());
        }
    }
    assert!(editor.lua_bool("return setups == exits and setups > 500 and deleted > 10"), "too little happened");
    // One small table kept of each call would be ten times as much.
    let grown = memory[memory.len() - 1] - memory[0];
    assert!(grown < 100.0, "seed {seed}, KB: {memory:.0?}");
    editor.assert_quiet();
    assert!(!editor.lua_text("return table.concat(told, '\\n')").contains("internal"), "seed {seed}");
}
