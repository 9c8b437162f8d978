//! Command cmds through a whole chat: the contract of cmds, `env` and settings here, how long processes live in
//! `commands/life.rs`, what the model reads of their output in `commands/output.rs`.

mod hostile;
mod life;
mod output;

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use rmpv::Value;

use crate::chat;
use crate::support::{Editor, script};

/// Far below what the commands here would run for (30 s and more), and far above what a busy machine needs.
const SOON: Duration = Duration::from_secs(15);

fn editor() -> Editor {
    let editor = chat::editor();
    editor.run("running");
    editor
}

/// Runs Lua code that calls `run`; gives the result of the call.
#[track_caller]
fn call(editor: &Editor, code: &str) -> String {
    editor.lua(code);
    result(editor)
}

#[track_caller]
fn result(editor: &Editor) -> String {
    editor.wait_ended(1);
    let mut results = editor.results();
    assert_eq!(results.len(), 1, "{results:?}");
    results.remove(0)
}

/// Runs shell text as the only cmd of a call; gives its result.
#[track_caller]
fn sh(editor: &Editor, text: &str) -> String {
    editor.lua_with("run({ (...) })", vec![text.into()]);
    result(editor)
}

/// Runs shell text whose result must not wait for what it leaves behind.
#[track_caller]
fn sh_soon(editor: &Editor, text: &str) -> String {
    let start = Instant::now();
    let result = sh(editor, text);
    let took = start.elapsed();
    assert!(took < SOON, "{took:?} for {text:?}");
    result
}

/// The rows of `ps`: process, its parent, its state.
fn processes() -> Vec<(u32, u32, String)> {
    let output = Command::new("ps").args(["-A", "-o", "pid=,ppid=,stat="]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?.to_owned()))
    });
    rows.collect()
}

/// The processes, other than the editor, that work below its home: all that commands started and that still lives.
#[cfg(target_os = "linux")]
fn survivors(editor: &Editor) -> Vec<String> {
    let home = editor.home.path().canonicalize().unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| entry.file_name().to_str() != Some(&editor.pid().to_string()))
        .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&home)))
        .map(|entry| fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default())
        .filter(|line| !line.is_empty())
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn survivors(editor: &Editor) -> Vec<String> {
    let home = editor.home.path().canonicalize().unwrap();
    let output = Command::new("lsof").args(["-a", "-d", "cwd", "-Fpn"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let own = format!("p{}", editor.pid());
    let mut process = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        match line.strip_prefix('n') {
            Some(folder) if process != own && std::path::Path::new(folder).starts_with(&home) => {
                found.push(process.clone());
            }
            Some(_) => {}
            None if line.starts_with('p') => process = line.to_owned(),
            None => {}
        }
    }
    found
}

/// How much memory the editor has, in KiB.
fn memory_kib(editor: &Editor) -> u64 {
    let output = Command::new("ps").args(["-o", "rss=", "-p", &editor.pid().to_string()]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}

/// Nothing of any command is left: no process, no zombie, nothing in `:messages`.
#[track_caller]
fn assert_clean(editor: &Editor) {
    let left = survivors(editor);
    assert!(left.is_empty(), "still running: {left:?}");
    let zombies =
        processes().iter().filter(|(_, parent, state)| *parent == editor.pid() && state.starts_with('Z')).count();
    assert_eq!(zombies, 0, "zombies");
    editor.assert_quiet();
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
}

// What a cmd may be ---------------------------------------------------------------------------------------------------

#[test]
fn cmds_may_be_strings_lists_or_tables_with_a_flag_and_flags_tell_how_they_ended() {
    let editor = editor();
    for (cmd, expected) in [
        ("[[printf '%s' 'a  b\tc']]", "a  b\tc"),
        ("{ 'printf', '%s', 'x y' }", "xy"),
        ("{ 'echo', 1, 2.5 }", "1 2.5\n"),
        ("{ cmd = 'echo text', flag = 'good' }", "text\n"),
        ("{ cmd = { 'echo', 'a', '&&', 'echo', 'b' }, flag = 'good' }", "a\nb\n"),
        ("{ cmd = 'false', flag = 'bad' }", "The command failed with exit code 1 and printed nothing."),
        ("{ cmd = { 'true' } }", "The command succeeded (exit code 0) and printed nothing."),
    ] {
        assert_eq!(call(&editor, &format!("run({{ {cmd} }})")), expected, "{cmd}");
    }
    let flags =
        "run({ { cmd = 'true', flag = 'good' }, { cmd = 'false', flag = 'bad' }, { cmd = 'true', flag = 'never' } })";
    call(&editor, flags);
    assert_eq!(
        editor.lua_text("local f = chat.tool_registry.flags return vim.inspect({ f.good, f.bad, f.never })"),
        "{ true, false }"
    );
    // What could not be started did not succeed.
    call(&editor, "run({ { cmd = 'echo ${v}', flag = 'unstarted' } }, { env = function() return { v = print } end })");
    assert!(editor.lua_bool("return chat.tool_registry.flags.unstarted == false"));
    assert_clean(&editor);
}

#[test]
fn an_entry_that_is_no_command_is_named_and_runs_nothing() {
    let editor = editor();
    for (cmd, expected) in [
        (
            "42",
            "cmd 1 of the tool \"t\": expected a function, a string, a list of words or { cmd = …, flag = … }, got number",
        ),
        ("{ 'echo', {} }", "cmd 1 of the tool \"t\": word 2 is {}, not a string"),
        ("' \\n'", "cmd 1 of the tool \"t\": the command is empty"),
        ("{}", "cmd 1 of the tool \"t\": the command is empty"),
    ] {
        assert_eq!(call(&editor, &format!("run({{ {cmd}, 'echo never > never' }})")), expected, "{cmd}");
    }
    assert!(!editor.home.path().join("never").exists());
    editor.assert_quiet();
}

#[test]
fn commands_and_functions_follow_one_another_each_with_the_result_before() {
    let editor = editor();
    let result = call(&editor, &script("alternating"));
    assert_eq!(result, "one\n\ntwo\n\ntwo!\n\nthree\n\n\nfour\n\n\nafter four");
    assert_eq!(
        editor.lua_text("return vim.json.encode(seen)"),
        r#"["string1",["one\n\ntwo","one","","two",3,true],"function2","table3","table4","function5"]"#
    );
    assert_clean(&editor);
}

#[test]
fn a_failed_command_ends_the_call_with_its_error_and_the_rest_does_not_run() {
    let editor = editor();
    let result = call(&editor, "run({ 'echo first', 'echo out; echo bad >&2; exit 3', 'echo never > never' })");
    assert_eq!(result, "first\n\n\nThe command failed with exit code 3.\nstderr:\nbad\nstdout:\nout\n");
    assert!(!editor.home.path().join("never").exists());
    let told = "Error calling t\n\nThe command failed with exit code 3 and printed nothing.";
    assert_eq!(call(&editor, "run({ 'exit 3' }, { output = false }) "), told);
    assert_clean(&editor);
}

#[test]
fn setup_may_build_the_cmds_from_the_arguments() {
    let editor = editor();
    let result = call(
        &editor,
        r#"run({}, { handlers = { setup = function(self)
          for _, word in ipairs(self.args.words) do self.cmds[#self.cmds + 1] = { "echo", word } end
        end } }, { words = { "a", "b" } })"#,
    );
    assert_eq!(result, "a\n\n\nb\n");
    // Each call has its own: nothing of the first is left in the definition.
    assert_eq!(editor.lua_int("return #require('lathe.tools').resolve('t').cmds"), 0);
    assert_clean(&editor);
}

// Values --------------------------------------------------------------------------------------------------------------

#[test]
fn env_gives_words_lists_numbers_and_raw_text_and_leaves_other_names_to_the_shell() {
    let editor = editor();
    for (cmd, env, expected) in [
        ("printf '<%s>' ${v}", r#"{ v = "a  $HOME `id` 'q' \"d\" *\n" }"#, "<a  $HOME `id` 'q' \"d\" *\n>"),
        ("printf '<%s>' \"x${v}y\" 'x${v}y' x${v}y", r#"{ v = "'\"$" }"#, "<x'\"$y><x'\"$y><x'\"$y>"),
        ("cat <<E\n${v}\nE", r#"{ v = "$(id)\\E" }"#, "$(id)\\E\n"),
        ("printf '<%s>' ${v}", r#"{ v = { "a b", "", "c" } }"#, "<a b><><c>"),
        ("printf '<%s>' \"${v}\"", r#"{ v = { "a b", "c" } }"#, "<a b c>"),
        ("printf '<%s>' ${n} $((${n} + 1)) ${b}", r#"{ n = 41, b = true }"#, "<41><42><true>"),
        ("echo a ${v}", r#"{ v = { raw = "&& echo b | tr b c" } }"#, "a\nc\n"),
        ("x=1; printf '<%s>' \"${x}${y:-2}${v}\"", r#"{ v = "3" }"#, "<123>"),
        ("printf '<%s>' \"${v}\"", "nil", "<>"),
    ] {
        editor.lua_with(
            "local cmd, env = ... env = assert(load('return ' .. env))() run({ cmd }, { env = function() return env end })",
            vec![cmd.into(), env.into()],
        );
        assert_eq!(result(&editor), expected, "{cmd}");
    }
    assert_clean(&editor);
}

#[test]
fn large_values_and_scripts_reach_the_command_whole_and_leave_no_file() {
    let editor = editor();
    fs::create_dir(editor.home.path().join("tmp")).unwrap();
    editor.lua("vim.env.TMPDIR = vim.env.HOME .. '/tmp'");
    let result = call(
        &editor,
        "run({ \"printf %s ${v} | wc -c\" }, { env = function() return { v = ('\\n'):rep(300000) } end })",
    );
    assert_eq!(result.trim(), "300000");
    editor.lua("run({ 'exit ' .. (' '):rep(300000) .. '7' })");
    assert_has(&self::result(&editor), &["exit code 7"]);
    assert_clean(&editor);
}

#[test]
fn what_env_must_not_hold_is_named_and_nothing_runs() {
    let editor = editor();
    for (env, expected) in [
        (
            "{ v = print }",
            "cmd 1 of the tool \"t\": env: v must be a string, a list of strings or { raw = string }, got <function 1>",
        ),
        ("{ v = { 'a', {} } }", "env: v must be a string, a list of strings or { raw = string }"),
        ("{ v = { raw = {} } }", "env: v must be a string, a list of strings or { raw = string }"),
        ("{ v = { x = 1 } }", "env: v must be a string, a list of strings or { raw = string }"),
        ("{ 'a' }", "env: 1 must be"),
        ("'text'", "env failed: expected a table, got string"),
        (
            "{ v = 'a\\0b' }",
            "The value of ${v} contains a NUL byte, which no shell takes: remove it or pass it in a file. Nothing was run.",
        ),
    ] {
        let code = format!("run({{ 'echo ${{v}} > never' }}, {{ env = function() return {env} end }})");
        assert_has(&call(&editor, &code), &[expected]);
    }
    let quoted = "run({ \"cat > never <<'E'\\n${v}\\nE\" }, { env = function() return { v = 'x' } end })";
    assert_has(&call(&editor, quoted), &["${v} can't stand in", "here-document", "Nothing was run."]);
    assert_has(&call(&editor, "run({ 'echo a\\0b > never' })"), &["NUL byte", "Nothing was run."]);
    assert!(!editor.home.path().join("never").exists());
    editor.assert_quiet();
}

#[test]
fn r108_a_line_from_the_model_is_one_shell_text_and_an_array_stays_words() {
    let editor = editor();
    let run = script("line_or_words");
    editor.lua_with(&run, vec!["echo a && echo b | tr b c".into()]);
    assert_eq!(result(&editor), "a\nc\n");
    let words = ["printf", "%s", "a && b"].map(Value::from);
    editor.lua_with(&run, vec![Value::Array(words.to_vec())]);
    assert_eq!(result(&editor), "a && b");
    assert_clean(&editor);
}

#[test]
fn r110_a_code_block_in_an_answer_is_never_run() {
    let editor = editor();
    editor.lua(
        r#"
        open({ { text = "Look:\n```csharp\ntouch mark\n```\n```sh\ntouch mark\n```\n" } }, { t = tool("t", { "touch mark" }) })
        send("go")"#,
    );
    editor.wait_ended(1);
    assert!(editor.results().is_empty() && !editor.home.path().join("mark").exists());
    assert_eq!(editor.lua_int("return count('LatheToolStarted') + count('LatheToolApprovalRequested')"), 0);
    editor.assert_quiet();
}

// Settings ------------------------------------------------------------------------------------------------------------

#[test]
fn a_time_limit_ends_the_command_and_the_error_keeps_what_was_printed() {
    let editor = editor();
    let start = Instant::now();
    let script = "echo half; echo warn >&2; sleep 60";
    let result = call(&editor, &format!("run({{ '{script}' }}, {{ opts = {{ timeout = 300 }} }})"));
    assert_eq!(
        result,
        "The command timed out after 300 ms and was ended. What it had printed:\nstderr:\nwarn\nstdout:\nhalf\n"
    );
    assert!(start.elapsed() < SOON);
    // Without an output function of its own, and with the limit of all tools.
    let result = call(&editor, "run({ 'echo half; sleep 60' }, { output = false }, {}, { timeout = 300 })");
    assert_has(&result, &["Error calling t", "timed out after 300 ms", "half"]);
    assert_clean(&editor);
}

#[test]
fn commands_run_in_the_folder_of_their_chat() {
    let editor = editor();
    let home = editor.home.path().canonicalize().unwrap();
    for folder in ["a", "b"] {
        fs::create_dir(home.join(folder)).unwrap();
    }
    editor.lua_with("vim.cmd.cd(...)", vec![home.join("a").to_str().unwrap().into()]);
    editor.lua("open(function(messages) return messages[#messages].role == 'user' and answer('t', { n = #messages }) or { text = 'done' } end, { t = tool('t', { 'pwd' }) })");
    editor.lua_with("vim.cmd.cd(...) send('go')", vec![home.join("b").to_str().unwrap().into()]);
    assert_eq!(result(&editor), format!("{}\n", home.join("a").display()));
    // Gone, then a file.
    fs::remove_dir(home.join("a")).unwrap();
    editor.lua("events = {} send('again')");
    editor.wait_ended(1);
    assert_has(
        editor.results().last().unwrap(),
        &["working directory", "/a\"", "does not exist", "Use a folder that exists."],
    );
    fs::write(home.join("a"), "").unwrap();
    editor.lua("events = {} send('again')");
    editor.wait_ended(1);
    assert_has(editor.results().last().unwrap(), &["working directory", "/a\"", "is not a folder"]);
    editor.assert_quiet();
}

#[test]
fn a_chat_opened_in_a_deleted_folder_says_what_to_do() {
    let editor = editor();
    let gone = editor.home.path().join("gone");
    fs::create_dir(&gone).unwrap();
    editor.lua_with("vim.cmd.cd(...)", vec![gone.to_str().unwrap().into()]);
    fs::remove_dir(&gone).unwrap();
    assert_has(&sh(&editor, "echo never"), &["working directory was deleted", "nothing was run", ":cd"]);
    editor.assert_quiet();
}

#[test]
fn r133_commands_neither_ask_nor_page_nor_see_the_keys_of_adapters() {
    let editor = crate::support::Setup::default()
        .env("OWN_API_KEY", "secret-1")
        .env("KEPT_API_KEY", "secret-2")
        .env("GH_TOKEN", "for git")
        .env("HARMLESS", "fine")
        .env("PAGER", "less")
        .start();
    editor.lua(chat::PRELUDE);
    editor.run("environment");
    let result = result(&editor);
    let lines: Vec<&str> = result.lines().collect();
    for line in [
        "PAGER=cat",
        "GIT_PAGER=cat",
        "GIT_TERMINAL_PROMPT=0",
        "NO_COLOR=1",
        "TERM=dumb",
        "HARMLESS=fine",
        "GH_TOKEN=for git",
        "KEPT_API_KEY=secret-2",
    ] {
        assert!(lines.contains(&line), "no {line} in {result}");
    }
    assert!(!result.contains("OWN_API_KEY") && !result.contains("secret-1") && !result.contains("lathe_"), "{result}");
    editor.assert_quiet();
}

#[test]
fn another_shell_and_one_that_is_missing() {
    let editor = editor();
    let shell = |name: &str| format!("run({{ 'echo $0' }}, nil, nil, {{ shell = '{name}' }})");
    assert_eq!(call(&editor, &shell("/bin/sh")), "/bin/sh\n");
    assert_has(&call(&editor, &shell("no-such-shell")), &["no shell \"no-such-shell\"", "tools.opts.shell"]);
    editor.assert_quiet();
}
