//! `build.lua`, run as lazy.nvim runs it and by hand, with a stand-in for cargo that takes as long as the test wants.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::support::{Editor, Setup, repository, run_headless};

/// A copy of what a build needs, with a stand-in for cargo in `bin/`.
struct Project {
    folder: tempfile::TempDir,
}

/// Reports what cargo reports. Waits for `step-1` and `step-2`, fails when there is a file `broken`.
const CARGO: &str = r#"#!/bin/sh
printf '    Updating the index\n' >&2
printf '    Building [==>         ] 1/118: serde, syn         \r' >&2
until [ -e step-1 ]; do sleep 0.01; done
printf '   Compiling serde v1.0.0\n    Building [=====>      ] 60/118: jsonschema\r' >&2
until [ -e step-2 ]; do sleep 0.01; done
if [ -e broken ]; then printf 'error: linking with `cc` failed\n' >&2; exit 101; fi
case $(uname -s) in Darwin) suffix=dylib ;; *) suffix=so ;; esac
mkdir -p target/release
echo "$*" > target/release/liblathe_core.$suffix
printf '    Finished `release` profile\n' >&2
"#;

impl Project {
    fn new() -> Self {
        let project = Self { folder: tempfile::Builder::new().prefix("lathe-build-").tempdir().unwrap() };
        for name in ["bin", "lua", "scripts"] {
            fs::create_dir(project.path(name)).unwrap();
        }
        for name in ["build.lua", "Makefile", "scripts/install-library.sh"] {
            fs::copy(repository().join(name), project.path(name)).unwrap();
        }
        project.program("cargo", CARGO);
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn touch(&self, name: &str) {
        fs::write(self.path(name), "").unwrap();
    }

    fn program(&self, name: &str, code: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, code).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn setup(&self) -> Setup {
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        Setup::default().without_plugin().before_plugins(&format!("vim.env.PATH = {path:?}"))
    }

    fn editor(&self) -> Editor {
        let editor = self.setup().start();
        editor.lua(include_str!("lazy.lua"));
        editor
    }

    fn build_lua(&self) -> String {
        self.path("build.lua").to_str().unwrap().to_string()
    }

    fn library(&self) -> Option<String> {
        fs::read_to_string(self.path("lua/lathe_core.so")).ok()
    }
}

/// The same build with both ways in which lazy.nvim lets a coroutine wait.
fn slow_build_succeeds(with_sleep: bool) {
    let project = Project::new();
    let editor = project.editor();
    editor.lua_with("Lazy.start(...)", vec![project.build_lua().into(), with_sleep.into()]);
    editor.wait_lua("Lazy.has('Compiling serde, syn %(1/118%)')");

    // The build goes on only when the test says so: what follows would never show if it held the editor.
    editor.input("ityped while it builds<Esc>");
    editor.wait_screen("typed while it builds");
    // Every tick of the stand-in for lazy is a second for build.lua; shell builds are killed after 120.
    editor.wait_lua("Lazy.clock_ms > 180000");
    assert!(!editor.lua_bool("return Lazy.done"));

    project.touch("step-1");
    editor.wait_lua("Lazy.has('Compiling jsonschema %(60/118%), %d%d%d+ s')");
    assert_eq!(project.library(), None);
    project.touch("step-2");
    editor.wait_lua("Lazy.done");
    assert_eq!(editor.lua("return Lazy.error"), rmpv::Value::Nil);
    assert!(editor.lua_bool("return Lazy.has('built in %d+ s')"));
    let library = project.library().expect("a library");
    assert!(library.contains("rustc --locked --lib --release"), "{library}");
    assert!(!editor.lua_bool("return Lazy.has_time_limit"), "a process with a time limit");
    assert_eq!(editor.lua_bool("return Lazy.sleeps > 0"), with_sleep);
    assert_eq!(editor.messages(), "");
}

#[test]
fn slow_build_shows_progress_and_leaves_the_editor_usable() {
    slow_build_succeeds(false);
}

#[test]
fn slow_build_sleeps_where_lazy_can() {
    slow_build_succeeds(true);
}

#[test]
fn failed_build_raises_the_last_lines() {
    let project = Project::new();
    for name in ["step-1", "step-2", "broken"] {
        project.touch(name);
    }
    let editor = project.editor();
    editor.lua_with("Lazy.start(...)", vec![project.build_lua().into(), false.into()]);
    editor.wait_lua("Lazy.done");
    let error = editor.lua_text("return Lazy.error");
    assert!(error.starts_with("lathe.nvim: the build failed (make build, exit code 2):\n"), "{error}");
    assert!(error.contains("error: linking with `cc` failed"), "{error}");
    assert!(!error.contains("Building ["), "{error}");
    assert_eq!(project.library(), None);
}

#[test]
fn missing_tools_are_named_before_anything_starts() {
    let project = Project::new();
    let editor = project.editor();
    for name in ["cargo", "make", "cc"] {
        project.program(name, "#!/bin/sh\ntouch started\n");
    }
    for missing in ["cargo", "make", "cc"] {
        let bin = project.path("bin");
        fs::rename(bin.join(missing), project.path(missing)).unwrap();
        editor.lua_with("vim.env.PATH = ...", vec![bin.to_str().unwrap().into()]);
        editor.lua_with("Lazy.start(...)", vec![project.build_lua().into(), false.into()]);
        editor.wait_lua("Lazy.done");
        let error = editor.lua_text("return Lazy.error");
        assert!(error.starts_with(&format!("lathe.nvim: the build failed: {missing} was not found.")), "{error}");
        assert!(error.contains(":Lazy build lathe.nvim"), "{error}");
        fs::rename(project.path(missing), bin.join(missing)).unwrap();
    }
    assert!(!project.path("started").exists());
}

#[test]
fn sourced_by_hand_it_runs_in_the_background() {
    let project = Project::new();
    let editor = project.editor();
    editor.input(&format!(":luafile {}<CR>", project.build_lua()));
    editor.wait_screen("Compiling serde, syn (1/118)");
    editor.input("ityped while it builds<Esc>");
    editor.wait_screen("typed while it builds");
    project.touch("step-1");
    project.touch("step-2");
    editor.wait_screen("lathe.nvim: built in");
    assert!(project.library().is_some());
}

#[test]
fn run_as_a_script_it_waits_and_its_exit_code_tells() {
    let project = Project::new();
    project.touch("step-1");
    project.touch("step-2");
    let built = run_headless(project.setup(), &["-l", &project.build_lua()]);
    assert!(built.status.success(), "{built:?}");
    assert!(project.library().is_some());

    project.touch("broken");
    let failed = run_headless(project.setup(), &["-l", &project.build_lua()]);
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert!(String::from_utf8_lossy(&failed.stderr).contains("linking with `cc` failed"), "{failed:?}");
}
