//! R155 (LOAD): a library that is missing, of another version or unusable is one clear message, and the editor starts.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::chat;
use crate::support::{Editor, Setup, library_folder, plugin_without_library};

/// Keeps what users of a notification plugin would read whole: `told`.
const LISTEN: &str =
    "told = {} vim.notify = function(text, level) told[#told + 1] = { text = text, level = level } end";

/// A plugin folder of its own, so that the repository's library is out of reach.
fn plugin() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("lathe-plugin-").tempdir().unwrap();
    plugin_without_library(folder.path());
    folder
}

fn setup(plugin: &Path) -> Setup {
    let code = format!("vim.opt.runtimepath:prepend({:?})", plugin.display().to_string());
    Setup::default().without_plugin().size(100, 24).before_plugins(&code)
}

/// A library made from C, as far as the loader is concerned.
fn compile(folder: &Path, code: &str) {
    let source = folder.join("library.c");
    fs::write(&source, code).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(folder.join("lua/lathe_core.so")).arg(&source);
    if cfg!(target_os = "macos") {
        cc.args(["-undefined", "dynamic_lookup"]);
    }
    assert!(cc.status().unwrap().success());
}

/// The file of the library under test with other bytes.
fn patched(folder: &Path, patch: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(library_folder().join("lua/lathe_core.so")).unwrap();
    patch(&mut bytes);
    fs::write(folder.join("lua/lathe_core.so"), bytes).unwrap();
}

/// The whole of R155 for a plugin whose library cannot be used: `reasons` are what the message must say.
#[track_caller]
fn assert_told(plugin: &Path, reasons: &[&str]) {
    let editor = setup(plugin).start();
    // The start, `setup()` and the commands' completion are undisturbed and load nothing.
    editor.lua("require('lathe').setup({})");
    assert_eq!(
        editor.lua_text("return table.concat(vim.fn.getcompletion('Lathe to', 'cmdline'), ' ')"),
        "toggle tools"
    );
    editor.assert_quiet();
    assert!(editor.lua_bool("return not package.loaded['lathe_core'] and require('lathe.core').lib == nil"));

    // Neovim's own notification is one line that says what to run; nothing waits for a key.
    editor.input(":Lathe chat<CR>");
    editor.wait_until("a message", || !editor.messages().trim().is_empty());
    let shown = editor.messages();
    assert!(
        (shown.starts_with("lathe: no library") || shown.starts_with("lathe: the library"))
            && shown.contains("make build"),
        "{shown}"
    );
    assert_eq!(shown.trim().lines().count(), 1, "{shown}");
    editor.input(":let g:typed = 1<CR>");
    editor.wait_lua("vim.g.typed == 1");

    // What was tried and why is in the log and in the health check.
    let log = "local f = assert(io.open(vim.fs.joinpath(vim.fn.stdpath('log'), 'lathe.log'))) return f:read('*a')";
    editor.input(":checkhealth lathe<CR>");
    editor.wait_buffer("markdown parser");
    let health = editor.buffer();
    let tried = plugin.join("lua/lathe_core.so").display().to_string();
    for text in [editor.lua_text(log), health] {
        for part in reasons.iter().copied().chain(["make build", plugin.to_str().unwrap()]) {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
        assert!(text.contains(&tried) || reasons.contains(&"package.preload"), "{tried} is not in {text}");
        assert!(!text.contains("traceback"), "{text}");
    }
    assert!(editor.buffer().contains("ERROR"), "{}", editor.buffer());

    // Each later use is a short message; the API says it too and throws nothing.
    editor.lua(LISTEN);
    editor.lua("chat, why = require('lathe').chat()");
    editor.lua("require('lathe').toggle() require('lathe').run_tool('x', {}, {}, function(r) result = r end)");
    editor.wait_lua("result and #told == 3");
    let told = editor.lua_text("return vim.inspect(told)");
    for n in 1..=3 {
        let text = editor.lua_text(&format!("return told[{n}].text"));
        assert_eq!(text, "lathe: the library is not loaded, see `:checkhealth lathe`", "{told}");
    }
    let why = editor.lua_text("return why");
    assert!(editor.lua_bool("return chat == nil and result.status == 'error'"));
    assert!(reasons.iter().all(|part| why.contains(part)), "{why}");
}

#[test]
fn r155_a_missing_library_is_told_with_the_places_that_were_tried() {
    let plugin = plugin();
    assert_told(plugin.path(), &["no library", "not there"]);
}

#[test]
fn r155_a_text_file_in_place_of_the_library_is_told_with_the_reason() {
    let plugin = plugin();
    fs::write(plugin.path().join("lua/lathe_core.so"), "version https://git-lfs.github.com/spec/v1\n").unwrap();
    assert_told(plugin.path(), &["no library", "lathe_core.so: "]);
}

#[test]
fn r155_a_cut_off_library_is_told() {
    let plugin = plugin();
    patched(plugin.path(), |bytes| bytes.truncate(100));
    assert_told(plugin.path(), &["no library", "lathe_core.so: "]);
}

#[test]
fn r155_a_library_of_another_version_is_told_with_both_versions() {
    let plugin = plugin();
    compile(
        plugin.path(),
        r#"
        typedef struct lua_State lua_State;
        extern void lua_createtable(lua_State *, int, int);
        extern void lua_pushstring(lua_State *, const char *);
        extern void lua_setfield(lua_State *, int, const char *);
        int luaopen_lathe_core(lua_State *L) {
          lua_createtable(L, 0, 1);
          lua_pushstring(L, "0.0.0-other");
          lua_setfield(L, -2, "version");
          return 1;
        }
        "#,
    );
    assert_told(plugin.path(), &["of another version", "0.0.0-other", env!("CARGO_PKG_VERSION")]);
}

#[test]
fn r155_a_library_without_our_entry_or_that_fails_in_it_is_told() {
    let plugin = plugin();
    compile(plugin.path(), "int luaopen_another(void *state) { return 0; }");
    assert_told(plugin.path(), &["no library", "luaopen_lathe_core"]);

    compile(
        plugin.path(),
        r#"
        typedef struct lua_State lua_State;
        extern int luaL_error(lua_State *, const char *, ...);
        int luaopen_lathe_core(lua_State *L) { return luaL_error(L, "no room for the loop"); }
        "#,
    );
    assert_told(plugin.path(), &["no library", "no room for the loop"]);
}

/// The loader's own words name the version of libc that is not there.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn r155_a_library_for_a_newer_libc_is_told_with_the_loaders_reason() {
    let plugin = plugin();
    patched(plugin.path(), |bytes| {
        let needed = b"GLIBC_2.";
        let mut found = 0;
        for at in 0..bytes.len() - needed.len() {
            if &bytes[at..at + needed.len()] == needed {
                bytes[at + 6] = b'9';
                found += 1;
            }
        }
        assert!(found > 0);
    });
    assert_told(plugin.path(), &["no library", "GLIBC_9.", "not found"]);
}

#[cfg(target_os = "linux")]
#[test]
fn r155_a_library_for_another_machine_is_told() {
    let plugin = plugin();
    // The machine of an ELF file: another one than this.
    patched(plugin.path(), |bytes| bytes[18] = if bytes[18] == 183 { 62 } else { 183 });
    assert_told(plugin.path(), &["no library", "lathe_core.so: "]);
}

#[test]
fn r155_a_preloaded_library_that_fails_is_told() {
    let plugin = plugin();
    let editor = setup(plugin.path()).start();
    editor.lua(LISTEN);
    editor.lua("package.preload.lathe_core = function() error('no luck today', 0) end");
    editor.input(":Lathe chat<CR>");
    editor.wait_lua("#told == 1");
    let text = editor.lua_text("return told[1].text");
    assert!(text.contains("package.preload: no luck today") && text.contains("make build"), "{text}");
    assert!(text.lines().count() > 1 && editor.lua_bool("return told[1].level == vim.log.levels.ERROR"));
    editor.input(":Lathe chat<CR>");
    editor.wait_lua("#told == 2");
    assert_eq!(editor.lua_text("return told[2].text"), "lathe: the library is not loaded, see `:checkhealth lathe`");
}

#[test]
fn nothing_is_loaded_before_the_first_use() {
    let editor = Editor::start();
    let ours = "local list = {} for name in pairs(package.loaded) do if name:find('^lathe') then list[#list + 1] = name end end \
                table.sort(list) return table.concat(list, ' ')";
    assert_eq!(editor.lua_text(ours), "", "plugin/ loads nothing");
    editor.lua(
        "require('lathe').setup({ interactions = { chat = { tools = { t = { path = 'no.such.module' } }, adapter = 'none' } } })",
    );
    assert_eq!(editor.lua_text(ours), "lathe lathe.config lathe.option_types");
    editor.assert_quiet();
    let files = "return #vim.fn.glob(vim.fn.stdpath('log') .. '/lathe*', false, true)";
    assert_eq!(editor.lua_int(files), 0, "setup() writes nothing");
    editor.lua("chat = require('lathe').chat()");
    assert!(editor.lua_bool("return package.loaded.lathe_core ~= nil"));
}

#[test]
fn the_health_check_of_a_good_installation_has_no_error() {
    let editor = chat::editor();
    editor.lua("open({}, { t = tool('t', {}) })");
    editor.input(":checkhealth lathe<CR>");
    editor.wait_buffer("log: ");
    let health = editor.buffer();
    for part in [
        "library and plugin have version",
        "options given to setup() are valid",
        "adapter: ",
        "tools: memory, run_command, t",
    ] {
        assert!(health.contains(part), "{health}");
    }
    assert!(!health.contains("ERROR") && !health.contains("WARNING"), "{health}");
}

#[test]
fn a_library_in_the_working_directory_is_never_loaded() {
    let plugin = plugin();
    let editor = setup(plugin.path()).start();
    let folder = editor.home.path();
    fs::create_dir(folder.join("lua")).unwrap();
    for place in ["lathe_core.so", "lua/lathe_core.so"] {
        fs::copy(library_folder().join("lua/lathe_core.so"), folder.join(place)).unwrap();
    }
    for path in ["", ".", "./"] {
        editor.lua_with("vim.opt.runtimepath:append(...)", vec![path.into()]);
    }
    assert!(editor.lua_bool("return require('lathe').chat() == nil and not package.loaded.lathe_core"));
}

#[test]
fn a_library_of_the_same_version_that_was_built_from_other_sources_is_refused() {
    let interface = fs::read_to_string(crate::support::repository().join("lua/lathe/interface.lua")).unwrap();
    let fingerprint = interface.split('"').nth(1).unwrap().to_owned();
    let refused = ["the library does not fit these Lua files", "make build", "has the same version"];
    // An older library beside newer Lua.
    let older = plugin();
    patched(older.path(), |bytes| {
        let at = memchr::memmem::find(bytes, fingerprint.as_bytes()).expect("the library holds it");
        bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
    });
    assert_told(older.path(), &refused);
    // A newer one beside older Lua.
    let newer = plugin();
    patched(newer.path(), |_| {});
    fs::write(newer.path().join("lua/lathe/interface.lua"), "return \"0123456789abcdef\"\n").unwrap();
    assert_told(newer.path(), &refused);
    // One from before there were fingerprints.
    let editor = Setup::default().start();
    editor.lua("package.loaded.lathe_core = { version = require('lathe.version') } told = {} vim.notify = function(t) told[1] = t end");
    assert!(editor.lua_bool("return require('lathe').chat() == nil"));
    editor.wait_lua("(told[1] or ''):find('does not fit', 1, true)");
    // And one that fits.
    let fitting = plugin();
    patched(fitting.path(), |_| {});
    let editor = setup(fitting.path()).start();
    editor.lua(chat::PRELUDE);
    editor.lua(r#"open({ { text = "works" } }, {}) send("go")"#);
    editor.wait_buffer("works");
}
