//! Commands that misbehave, and values that want to be more than values.

use std::time::Instant;

use super::{SOON, assert_clean, call, editor, result, sh, sh_soon};

#[test]
fn a_model_cannot_pass_shell_syntax_as_a_raw_value() {
    let editor = editor();
    for (env, arguments) in [
        ("function(self) return { path = self.args.path } end", "{ path = { raw = 'x; echo injected' } }"),
        ("function(self) return self.args end", "{ path = { raw = 'x; echo injected' } }"),
        ("function(self) return { path = self.args.list[1] } end", "{ list = { { raw = 'x; echo injected' } } }"),
    ] {
        let text = call(&editor, &format!("run({{ 'echo ${{path}}' }}, {{ env = {env} }}, {arguments})"));
        assert!(text.contains("env: path must be"), "{text}");
    }
    let own = "function(self) return { path = { raw = 'a; echo b' } } end";
    assert_eq!(call(&editor, &format!("run({{ 'echo ${{path}}' }}, {{ env = {own} }})")), "a\nb\n");
}

#[test]
fn odd_values_arrive_as_they_are() {
    let editor = editor();
    for template in [
        "printf %s ${v}",
        "printf %s \"${v}\"",
        "printf %s '${v}'",
        "cat <<E\n${v}\nE",
        "x=${v}; printf %s \"$x\"",
        "printf %s \"$(printf %s ${v})\"",
        "printf %s \"`printf %s \\\"${v}\\\"`\"",
        "printf %s \"${u:-${v}}\"",
        "case ${v} in *) printf %s ${v};; esac",
        "printf %s \"$(cat <<E\n${v}\nE\n)\"",
        "f() { printf %s ${v}; }; f",
        "printf %s a\"${v}\"b'${v}'c${v} >/dev/null; printf %s ${v}",
        "printf %s ${v} # ${v} '",
        "[ 1 = 1 ] && printf %s ${v}",
        "cat <<-E\n\t${v}\n\tE",
        "if [ -n ${v} ]; then printf %s ${v}; fi",
        "printf %s $((1+1)) >/dev/null; printf %s ${v}",
    ] {
        for value in [
            "'; touch HACK; '",
            "\"; touch HACK; \"",
            "$(touch HACK)",
            "`touch HACK`",
            "\\",
            "a\\'b",
            "E",
            "x; touch HACK #",
            "*",
            "~",
            "-n",
            "${v}",
            "$v",
            "a&touch HACK&",
            "{a,b}",
            "!x",
            "'\"`$\\ *?[]{}()<>|&;#~=%!^",
        ] {
            editor.lua_with(
                "run({ (...) }, { env = function(self) return { v = self.args.v } end }, { v = select(2, ...) })",
                vec![template.into(), value.into()],
            );
            let text = result(&editor);
            let ok = text.trim() == value || text.contains("Nothing was run");
            assert!(ok, "{template:?} {value:?} -> {text:?}");
            assert!(!editor.home.path().join("HACK").exists(), "{template:?} {value:?}");
        }
    }
}

#[test]
fn commands_that_attack_their_surroundings_end_in_time() {
    let mut editor = editor();
    for text in [
        "kill -9 0",
        "kill -TERM 0; sleep 30",
        "kill -STOP $$",
        "exec >&- 2>&-; sleep 1; exit 3",
        "(sleep 0.3; echo late) & echo now",
        "setsid sh -c '(setsid sleep 30 &) & sleep 30' & echo x",
        "nohup sleep 30 >/dev/null 2>&1 & echo x",
        "(sh -c 'trap \"\" TERM HUP INT; (trap \"\" TERM; sleep 30) & sleep 30' &) ; echo x",
        "i=0; while [ $i -lt 200 ]; do sleep 30 & i=$((i+1)); done; echo x",
        "for i in 1 2 3 4 5 6; do (sh -c 'for j in 1 2 3 4 5 6 7 8 9 10; do (sleep 30 &) ; done' &) ; done; sleep 0.1; echo x",
        "yes | head -c 20000000 & yes err | head -c 20000000 >&2; wait",
        "i=0; while [ $i -lt 5000 ]; do printf '\\033[3%dm%d\\033[0m\\n' $((i%8)) $i; i=$((i+1)); done",
        "printf '\\033]0;title\\007\\033[2J\\033[1;1H\\0\\001\\377\\376'; printf '\\033['",
        "rm -rf \"$PWD/gone\"; mkdir gone; cd gone; rm -rf ../gone; pwd; echo x",
        "ulimit -n 3; echo x",
        "ulimit -v 1; ls",
        "exec 3<&1; echo x",
        "printf '\\n%.0s' $(seq 20000)",
    ] {
        // A stopped shell never ends by itself.
        if text.contains("STOP") {
            editor.lua_with("run({ (...) }, { opts = { timeout = 300 } })", vec![text.into()]);
            let start = Instant::now();
            let _ = result(&editor);
            assert!(start.elapsed() < SOON, "{text}");
            continue;
        }
        let text2 = sh_soon(&editor, text);
        assert!(!text2.contains('\u{1b}') && !text2.contains('\u{0}'), "{text}");
        assert!(text2.len() < 60_000);
    }
    assert!(editor.is_alive());
    assert_clean(&editor);
}

#[test]
fn odd_text_and_settings_are_explained() {
    let editor = editor();
    for text in [
        "echo \u{feff}a",
        "echo 'a",
        "echo \"a",
        "cat <<E",
        "$(",
        "`",
        "echo a\\",
        "\u{1}\u{2}",
        "if",
        "}",
        "echo ${v}",
        "echo ${",
        "#",
        ";;",
        "&",
        "!",
    ] {
        let result = sh(&editor, text);
        assert!(!result.trim().is_empty() && !result.contains("internal"), "{text:?}: {result:?}");
    }
    for shell in ["''", "'/nonsense'", "'bash -x'", "'/'", "'/etc/passwd'", "'sh\\0'", "'./sh'", "'~'"] {
        let text = call(&editor, &format!("run({{ 'echo hi' }}, nil, nil, {{ shell = {shell} }})"));
        assert!(text.contains("shell") && !text.contains("internal"), "{shell}: {text}");
    }
    editor.lua("vim.env.TMPDIR = '/nonsense'");
    let env = "{ env = function() return { v = ('x'):rep(200000) } end }";
    let text = call(&editor, &format!("run({{ 'printf %s ${{v}} | wc -c' }}, {env})"));
    assert!(text.contains("temporary file") && text.contains("Nothing was run"), "{text}");
    assert!(call(&editor, "run({ 'yes | head -c 300000' })").contains("output"));
    assert_eq!(editor.messages(), "");
}

#[test]
fn stop_skip_and_timeout_at_one_instant_end_a_call_once() {
    let editor = editor();
    for n in 0..10 {
        editor.lua("run({ 'echo a; sleep 30' }, { opts = { timeout = 60 } })");
        editor.wait_lua("count('LatheToolStarted') == 1");
        editor.lua(&format!("vim.wait({}) chat:skip() chat:stop() chat:skip()", 52 + n));
        editor.wait_ended(1);
        assert_eq!(editor.lua_int("return count('LatheToolFinished')"), 1);
        assert!(editor.lua_bool("return paired()"));
    }
    editor.wait_lua("require('lathe.core').lib.counts().commands == 0");
    assert_clean(&editor);
}

#[test]
fn fifty_at_once_then_quit() {
    let mut editor = editor();
    editor.run("fifty");
    editor.wait_lua("count('LatheToolStarted') == 50");
    let start = Instant::now();
    editor.quit();
    assert!(start.elapsed() < SOON);
    editor.wait_until("nothing is left", || super::survivors(&editor).is_empty());
}
