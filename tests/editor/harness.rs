//! The test harness itself: it needs neither the library nor the plugin.

use crate::support::{Editor, Setup};

fn bare() -> Editor {
    Setup::default().without_plugin().start()
}

#[test]
fn typed_keys_show_on_the_screen() {
    let editor = bare();
    editor.input("ihällo 世界<Esc>");
    editor.wait_screen("hällo 世界");
    assert_eq!(editor.buffer(), "hällo 世界");
}

#[test]
fn screen_follows_scrolling_and_resizing() {
    let editor = Setup::default().without_plugin().size(20, 8).start();
    editor.lua("vim.o.laststatus = 0 vim.o.ruler = false vim.o.showcmd = false");
    editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, vim.split(('abcdefghijklmnopqrstuvwxyz'), ''))");
    editor.wait_screen("a\nb\nc\nd\ne\nf\ng");
    editor.input("<C-e><C-e><C-e>");
    editor.wait_screen("d\ne\nf\ng\nh\ni\nj");
    editor.input("<C-y>");
    editor.wait_screen("c\nd\ne\nf\ng\nh\ni");
    editor.input("gg");
    editor.wait_screen("a\nb\nc\nd\ne\nf\ng");
    editor.resize(30, 5);
    editor.wait_screen_without("\ng");
    assert_eq!(editor.screen().lines().next(), Some("a"));
}

#[test]
fn lua_values_and_errors_come_back() {
    let editor = bare();
    assert_eq!(
        editor.lua_with("return select('#', ...) + select(2, ...)", vec!["x".into(), 40.into()]).as_i64(),
        Some(42)
    );
    let error = editor.try_lua("error('no such thing')", vec![]).unwrap_err();
    assert!(error.contains("no such thing"), "{error}");
    editor.lua("vim.api.nvim_echo({ { 'seen' } }, true, {})");
    assert_eq!(editor.messages(), "seen");
}

#[test]
fn a_held_loop_is_a_gap() {
    let editor = bare();
    editor.watch_loop();
    editor.lua("vim.uv.sleep(60)");
    editor.lua("ticked = 0 timer = vim.uv.new_timer() timer:start(1, 1, function() ticked = ticked + 1 end)");
    editor.wait_lua("ticked > 20");
    let gaps = editor.gaps();
    assert!(gaps.max_ms() >= 60.0, "{gaps:?}");
    assert!(gaps.count() > 20, "{gaps:?}");
}

#[test]
fn the_users_files_are_out_of_reach() {
    let editor = bare();
    let home = editor.home.path().to_str().unwrap();
    for what in ["config", "data", "state", "cache", "log"] {
        let folder = editor.lua_text(&format!("return vim.fn.stdpath('{what}')"));
        assert!(folder.starts_with(home), "{what} is {folder}");
    }
    assert_eq!(editor.lua_text("return vim.uv.os_homedir()"), home);
}

#[test]
fn quitting_ends_the_process() {
    let mut editor = bare();
    assert!(editor.is_alive());
    assert_eq!(editor.quit(), Some(0));
}
