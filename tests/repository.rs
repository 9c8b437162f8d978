//! Rules about the repository itself: who may do what, and that lists which must agree do.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "repository/circles.rs"]
mod circles;
#[path = "repository/headers.rs"]
mod headers;
#[path = "repository/interface.rs"]
mod interface;
#[path = "repository/layers.rs"]
mod layers;
#[path = "repository/map.rs"]
mod map;
#[path = "repository/names.rs"]
mod names;
#[path = "repository/rust_circles.rs"]
mod rust_circles;
#[path = "repository/shapes.rs"]
mod shapes;
#[path = "repository/test_lua.rs"]
mod test_lua;
#[path = "repository/texts.rs"]
mod texts;
#[path = "repository/tokens.rs"]
mod tokens;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All files with one of the endings below the folders, as (path in the repository, text). A folder may be missing.
fn files(folders: &[&str], endings: &[&str]) -> Vec<(String, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut paths = Vec::new();
    folders.iter().for_each(|folder| walk(&root().join(folder), &mut paths));
    paths.sort();
    paths.retain(|path| endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)));
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// Lua or Rust code without its comments, so that they may name what the code may not.
fn code(text: &str, comment: &str) -> String {
    text.lines().map(|line| line.find(comment).map_or(line, |at| &line[..at])).collect::<Vec<_>>().join("\n")
}

fn lua_code(folders: &[&str]) -> Vec<(String, String)> {
    files(folders, &[".lua"]).into_iter().map(|(path, text)| (path, code(&text, "--"))).collect()
}

/// The files outside `allowed` whose code holds one of the words.
fn offenders(sources: &[(String, String)], words: &[&str], allowed: &[&str]) -> Vec<String> {
    let elsewhere = sources.iter().filter(|(path, _)| !allowed.iter().any(|name| path.starts_with(name)));
    elsewhere
        .flat_map(|(path, text)| {
            let used = words.iter().filter(|word| text.contains(**word));
            used.map(move |word| format!("{path}: {word}"))
        })
        .collect()
}

const NOBODY: Vec<String> = Vec::new();

#[test]
fn only_notify_tells_the_user() {
    assert_eq!(offenders(&lua_code(&["lua", "plugin"]), &["vim.notify"], &["lua/lathe/notify.lua"]), NOBODY);
}

#[test]
fn only_core_loads_the_library() {
    assert_eq!(offenders(&lua_code(&["lua", "plugin"]), &["lathe_core\""], &["lua/lathe/core.lua"]), NOBODY);
}

#[test]
fn only_render_writes_the_chat_buffer() {
    let words = ["nvim_buf_set_lines", "nvim_buf_set_text", "vim.fn.setline", "vim.fn.append", "vim.fn.setbufline"];
    // One room draws; in it `render.lua` and the files of its methods write a chat's buffer, and two windows have buffers of their own.
    let allowed = ["lua/lathe/chat/draw/"];
    assert_eq!(offenders(&lua_code(&["lua/lathe/chat", "lua/lathe/init.lua"]), &words, &allowed), NOBODY);
}

#[test]
fn lua_makes_no_globals() {
    assert_eq!(offenders(&lua_code(&["lua", "plugin"]), &["_G.", "_G[", "setfenv"], &[]), NOBODY);
}

#[test]
fn nothing_waits_on_the_main_loop() {
    let waits = [
        "vim.wait(",
        "vim.uv.sleep(",
        ":wait()",
        "vim.fn.system(",
        "vim.fn.systemlist(",
        "vim.fn.confirm(",
        "vim.fn.input(",
    ];
    assert_eq!(offenders(&lua_code(&["lua", "plugin"]), &waits, &["lua/lathe/native/"]), NOBODY);
    let bridge = files(&["src"], &[".rs"]).into_iter().filter(|(path, _)| path.starts_with("src/bridge"));
    let bridge: Vec<_> = bridge.map(|(path, text)| (path, code(&text, "//"))).collect();
    assert_eq!(offenders(&bridge, &["block_on", "blocking_recv", "thread::sleep"], &[]), NOBODY);
}

#[test]
fn only_the_bridge_knows_lua_and_neovim() {
    let sources: Vec<_> = files(&["src"], &[".rs"]).into_iter().map(|(path, text)| (path, code(&text, "//"))).collect();
    assert!(!sources.is_empty());
    assert_eq!(offenders(&sources, &["mlua", "nvim_oxi"], &["src/bridge"]), NOBODY);
}

/// A provider's habits are in its adapter and its codec, and nobody else asks which provider it is.
#[test]
fn only_adapters_and_codecs_name_providers() {
    let providers = [
        "anthropic",
        "azure",
        "claude",
        "copilot",
        "deepseek",
        "gemini",
        "groq",
        "lm_studio",
        "mistral",
        "ollama",
        "openai",
        "openrouter",
        "vllm",
        "\"xai\"",
    ];
    let lower = |(path, text): (String, String)| (path, text.to_lowercase());
    let lua: Vec<_> = lua_code(&["lua", "plugin"]).into_iter().map(lower).collect();
    assert_eq!(offenders(&lua, &providers, &["lua/lathe/adapters/"]), NOBODY);
    let rust = files(&["src"], &[".rs"]).into_iter().map(|(path, text)| (path, code(&text, "//"))).map(lower);
    // Tests may need one to send to.
    let rust: Vec<_> = rust.filter(|(path, _)| !path.ends_with("tests.rs") && !path.contains("/tests/")).collect();
    assert_eq!(offenders(&rust, &providers, &["src/adapter"]), NOBODY);
}

#[test]
fn engine_has_no_clock_and_does_no_io() {
    let pure = ["engine", "gate", "message", "tool"];
    let sources = files(&["src"], &[".rs"]).into_iter().map(|(path, text)| (path, code(&text, "//")));
    let sources: Vec<_> = sources
        .filter(|(path, _)| {
            pure.iter().any(|name| *path == format!("src/{name}.rs") || path.starts_with(&format!("src/{name}/")))
        })
        .collect();
    let outside =
        ["crate::runtime", "crate::bridge", "tokio", "std::fs", "std::thread", "std::env", "Instant::", "SystemTime"];
    assert_eq!(offenders(&sources, &outside, &[]), NOBODY);
}

#[test]
fn no_mod_rs_and_at_most_two_levels() {
    let sources = files(&["src", "lua/lathe"], &[".rs", ".lua"]);
    let deep = |path: &str| {
        // Tests that outgrew their file have a folder below it.
        let path = &path.replace("/tests/", "/");
        let depth = path.trim_start_matches("lua/lathe/").trim_start_matches("src/").matches('/').count();
        depth > 2 || (path.starts_with("src/") && path.ends_with("/mod.rs"))
    };
    let deep: Vec<_> = sources.iter().map(|(path, _)| path).filter(|path| deep(path)).collect();
    assert!(deep.is_empty(), "{deep:?}");
}

/// Rule ids in a text: `R` and three digits, `N-` or `P-` and digits, not inside a longer word.
fn rule_ids(text: &str) -> BTreeSet<String> {
    let bytes = text.as_bytes();
    let digits_from = |start: usize| bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices(['R', 'N', 'P']) {
        let in_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || b"-_".contains(&bytes[at - 1]));
        let dashed = bytes[at] != b'R';
        let first = if dashed { at + 2 } else { at + 1 };
        if in_word || (dashed && bytes.get(at + 1) != Some(&b'-')) || first > bytes.len() {
            continue;
        }
        let digits = digits_from(first);
        let ends = !bytes.get(first + digits).is_some_and(u8::is_ascii_alphanumeric);
        if ends && digits > 0 && (dashed || digits == 3) {
            found.insert(text[at..first + digits].to_string());
        }
    }
    found
}

/// The entries of doc/rules.md: id and text.
fn rules() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("doc/rules.md")).unwrap();
    let entries = text.split("\n- **").skip(1).map(|entry| entry.split("\n\n").next().unwrap());
    entries
        .map(|entry| {
            let (id, text) = entry.split_once("** ").expect("an entry is `- **id** text`");
            (id.to_string(), text.to_string())
        })
        .collect()
}

#[test]
fn every_rule_id_is_explained() {
    let rules = rules();
    let known: BTreeSet<String> = rules.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(known.len(), rules.len(), "an id has two entries");
    let sources = files(&["src", "lua", "plugin", "examples", "tests", "benches"], &[".rs", ".lua"]);
    let missing: Vec<String> = sources
        .iter()
        .filter(|(path, _)| path != "tests/repository.rs")
        .flat_map(|(path, text)| rule_ids(text).into_iter().map(move |id| (id, path)))
        .filter(|(id, _)| !known.contains(id))
        .map(|(id, path)| format!("{id} in {path}"))
        .collect();
    assert!(missing.is_empty(), "not in doc/rules.md: {missing:#?}");
    for (id, text) in rules {
        assert!(rule_ids(&id).contains(&id), "{id} is no rule id");
        assert!(text.split_whitespace().count() >= 8, "{id} is not explained");
    }
}

#[test]
fn rule_ids_are_seen_in_code_and_comments() {
    let ids = rule_ids("// R026, N-28 and (P-7): not R26, R0261, PR-1, UTF-8, ERR012, MIN-2 or R026x\nN-");
    assert_eq!(ids, ["N-28", "P-7", "R026"].map(String::from).into());
}

#[test]
fn the_list_of_promises_is_made_from_the_tests() {
    let output = Command::new("sh").arg("scripts/contract.sh").current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let made = String::from_utf8(output.stdout).unwrap();
    assert!(made.lines().filter(|line| line.starts_with("- ")).count() > 40, "{made}");
    let kept = fs::read_to_string(root().join("doc/contract.md")).unwrap();
    assert!(made == kept, "stale: sh scripts/contract.sh > doc/contract.md");
}

#[test]
fn every_rule_and_example_of_native_servers_has_a_test() {
    let sources = files(&["src", "tests"], &[".rs"]);
    let names: Vec<&str> = sources
        .iter()
        .flat_map(|(_, text)| text.split("\nfn ").chain(text.split("    fn ")).skip(1))
        .map(|rest| rest.split('(').next().unwrap_or_default())
        .collect();
    let named = |id: &str| names.iter().any(|name| name.split('_').any(|word| word == id));
    let ids = (1..=47).map(|number| format!("n{number:02}")).chain((1..=33).map(|number| format!("a{number:02}")));
    let missing: Vec<String> = ids.filter(|id| !named(id)).collect();
    assert_eq!(missing, NOBODY);
}

#[test]
fn plugin_and_library_have_one_version() {
    let text = fs::read_to_string(root().join("lua/lathe/version.lua")).unwrap();
    let quoted: Vec<&str> = code(&text, "--").leak().split('"').skip(1).step_by(2).collect();
    assert_eq!(quoted, [env!("CARGO_PKG_VERSION")]);
}

fn make(arguments: &[&str]) -> String {
    let mut command = Command::new("make");
    // The variables that an outer make and cargo hand down would change what is printed.
    command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").env_remove("CARGO");
    let output = command.args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn help_lists_every_target() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let phony = makefile.lines().find_map(|line| line.strip_prefix(".PHONY: ")).unwrap();
    let targets: BTreeSet<&str> = phony.split_whitespace().collect();
    let help = make(&["help"]);
    let listed = help.lines().filter_map(|line| line.trim_start().strip_prefix("make ")?.split_whitespace().next());
    assert_eq!(listed.collect::<BTreeSet<_>>(), targets);
    assert_eq!(make(&["-s"]), help, "help is the default");
}

#[test]
fn build_needs_only_cargo_and_cc() {
    let steps = make(&["--dry-run", "build"]);
    let programs: BTreeSet<&str> = steps.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(programs, ["cargo", "sh"].into());
    let script = fs::read_to_string(root().join("scripts/install-library.sh")).unwrap();
    assert!(!script.contains("nvim") && !script.contains("python"), "the script is part of the build");
}

/// Runs scripts/find-nvim.sh in an empty folder with a Neovim of that version on PATH and a pip that gets nothing.
fn find_nvim(version: &str) -> std::process::Output {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let program = |name: &str, code: &str| {
        let path = folder.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{code}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    fs::create_dir(folder.path().join("bin")).unwrap();
    program("nvim", &format!("echo 'NVIM v{version}'; echo 'Build type: Release'"));
    program("python3", "case $3 in --version) exit 0 ;; esac; exit 1");
    let path = format!("{}:/usr/bin:/bin", folder.path().join("bin").display());
    let script = root().join("scripts/find-nvim.sh");
    let mut command = Command::new("sh");
    command.arg(script).env("PATH", path).env_remove("LATHE_NVIM").current_dir(folder.path()).output().unwrap()
}

#[test]
fn neovim_from_0_11_on_is_taken_from_path() {
    for version in ["0.11.0", "0.11.4", "0.12.0-dev-42+gabc", "1.0.0"] {
        let output = find_nvim(version);
        assert!(output.status.success(), "{version}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).trim().ends_with("/bin/nvim"), "{version}: {output:?}");
    }
}

#[test]
fn without_a_fit_neovim_or_a_wheel_it_says_what_to_do() {
    for version in ["0.9.5", "0.10.4", "0.1.11"] {
        let output = find_nvim(version);
        assert!(!output.status.success(), "{version}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("Install Neovim 0.11 or newer by hand and run this again."), "{message}");
    }
}
