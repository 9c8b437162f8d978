//! The complete examples of the document, typed into a chat. The files are its own text but for the module's name.

use std::fs;

use super::{editor, editor_with_program, type_and_send};
use crate::support::server::{Server, text};
use crate::support::{Editor, repository};

/// Opens a chat by its command.
fn open(editor: &Editor) {
    editor.input(":Lathe chat<CR>");
    editor.wait_screen("## Me");
    editor.lua("chat = require('lathe').last_chat()");
}

const MULTIPLY: &str = "play('calculator', { num1 = 100, num2 = 50, operation = 'multiply' })";

/// Puts the calculator where `path = "user.tools.calculator"` leads, with more fields from one of the examples.
fn calculator_file(editor: &Editor, more: &str) {
    let folder = editor.home.path().join("config/nvim/lua/user/tools");
    fs::create_dir_all(&folder).unwrap();
    let code = fs::read_to_string(repository().join("tests/fixtures/codecompanion/calculator.lua")).unwrap();
    let start = code.find("        calculator = ").unwrap() + "        calculator = ".len();
    let end = code.rfind("        },\n      },\n    },\n  },\n})").unwrap();
    let table = format!("{}}}", &code[start..end]);
    let file = format!("local tool = {table}\n{more}\nreturn tool\n");
    fs::write(folder.join("calculator.lua"), file).unwrap();
    editor.lua("vim.opt.runtimepath:append(vim.fn.stdpath('config'))");
}

#[test]
fn cc_example_calculator_shows_5000() {
    let editor = editor();
    editor.run("model");
    editor.lua(MULTIPLY);
    editor.lua("example('calculator')");
    open(&editor);
    type_and_send(&editor, "Use the @{calculator} tool for 100*50");
    editor.wait_buffer("It gave: 5000.");
    assert!(editor.buffer().contains("\n  5000\n"), "{}", editor.buffer());
    assert_eq!(editor.lua_text("return table.concat(told, '|')"), "setup function called|on_exit function called");
    assert!(editor.lua_text("return sent[1].content").starts_with("## Calculator Tool (`calculator`)\n"));
    editor.assert_quiet();
}

#[test]
fn cc_example_calculator_reports_its_errors() {
    let editor = editor();
    editor.run("model");
    editor.lua("play('calculator', { num1 = 1, num2 = 0, operation = 'divide' })");
    editor.lua("example('calculator')");
    open(&editor);
    type_and_send(&editor, "@calculator, please");
    editor.wait_buffer("It gave: Cannot divide by zero.");
}

#[test]
fn cc_example_calculator_lives_in_its_own_file() {
    let editor = editor();
    calculator_file(&editor, "");
    editor.run("model");
    editor.lua(MULTIPLY);
    editor.lua("example('calculator_file')");
    open(&editor);
    type_and_send(&editor, "Use the @{calculator} tool for 100*50");
    editor.wait_buffer("It gave: 5000.");
}

#[test]
fn cc_example_calculator_asks_its_own_question_and_runs_when_accepted() {
    let editor = editor();
    calculator_file(&editor, "tool.output.prompt = example('calculator_prompt').output.prompt");
    editor.run("model");
    editor.lua(MULTIPLY);
    editor.lua("example('calculator_asks')");
    open(&editor);
    type_and_send(&editor, "Use the @{calculator} tool for 100*50");
    editor.wait_buffer("Perform the calculation `100 multiply 50`?");
    for answer in ["g1  Always accept", "g2  Accept", "g3  Reject", "g4  Cancel"] {
        assert!(editor.buffer().contains(answer), "{}", editor.buffer());
    }
    editor.input("g2");
    editor.wait_buffer("It gave: 5000.");
}

#[test]
fn cc_example_calculator_says_itself_that_it_was_rejected_or_cancelled() {
    for (keys, said) in [
        ("g3<CR>", "The user declined to run the calculator tool"),
        ("g4", "The user cancelled the execution of the calculator tool"),
    ] {
        let editor = editor();
        calculator_file(&editor, "tool.output = example('calculator_answers').output");
        editor.run("model");
        editor.lua(MULTIPLY);
        editor.lua("example('calculator_asks')");
        open(&editor);
        type_and_send(&editor, "Use the @{calculator} tool for 100*50");
        editor.wait_buffer("Run the \"calculator\" tool?");
        editor.input(keys);
        editor.wait_lua("not chat.is_running and #chat.messages > 2");
        assert_eq!(editor.results(), [said]);
    }
}

/// Stands for curl: the tests need nothing that the Makefile does not get.
const CURL: &str = r#"#!/bin/sh
for last; do :; done
exec python3 - "$last" <<'EOF'
import sys, urllib.request
try:
    sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())
except Exception as error:
    sys.stderr.write("curl: " + str(error))
    sys.exit(22)
EOF
"#;

/// The tool around the document's asynchronous function.
const FETCH: &str = r#"
  local url = ...
  require("lathe").setup({ interactions = { chat = { tools = { fetch = tool("fetch", example("curl").cmds) } } } })
  play("fetch", { url = url })
"#;

#[test]
fn cc_example_curl_gives_its_result_later() {
    let server = Server::start(vec![text(200, "content-type: text/plain\r\n", "the page")]);
    let (editor, _programs) = editor_with_program("curl", CURL);
    editor.run("model");
    editor.lua_with(FETCH, vec![server.url.as_str().into()]);
    open(&editor);
    type_and_send(&editor, "@fetch the page");
    editor.wait_buffer("It gave: the page.");
    assert_eq!(server.received().len(), 1);
    // The next answer is an error.
    type_and_send(&editor, "once more");
    editor.wait_buffer("It gave: curl: HTTP Error 500");
    editor.assert_quiet();
}

#[test]
fn cc_example_curl_is_killed_when_the_chat_is_stopped() {
    let (editor, _programs) = editor_with_program("curl", "#!/bin/sh\necho $$ > \"$HOME/curl.pid\"\nexec sleep 600\n");
    editor.run("model");
    editor.lua_with(FETCH, vec!["http://127.0.0.1:9/".into()]);
    open(&editor);
    type_and_send(&editor, "@fetch the page");
    let pid = editor.home.path().join("curl.pid");
    editor.wait_until("curl", || fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')));
    let pid: i32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    editor.input("<Esc>q");
    editor.wait_until("the end of curl", || editor.lua_bool(&format!("return vim.uv.kill({pid}, 0) ~= 0")));
    editor.wait_lua("not chat.is_running");
}

#[test]
fn cc_example_docker_gets_its_values() {
    let (editor, _programs) = editor_with_program(
        "docker",
        "#!/bin/sh\nfor word; do echo \"<$word>\"; done >> \"$HOME/docker.log\"\necho did $1\n",
    );
    editor.run("model");
    editor.lua(
        r#"
        local fields = example("docker")
        require("lathe").setup({ interactions = { chat = { tools = { run = tool("run", fields.cmds, { env = fields.env }) } } } })
        play("run", { lang = "python; touch stolen" })"#,
    );
    open(&editor);
    type_and_send(&editor, "Use @{run}");
    editor.wait_buffer("It gave: did pull");
    let log = fs::read_to_string(editor.home.path().join("docker.log")).unwrap();
    let words: Vec<&str> = log.lines().collect();
    let (lang, dir) = ("<python; touch stolen>", words[5]);
    assert_eq!(words[..5], ["<pull>", lang, "<run>", "<--rm>", "<-v>"]);
    let folder = dir.trim_matches(['<', '>']).split_once(':').unwrap();
    assert_eq!(folder.0, folder.1);
    assert_eq!(words[6..8], [lang, lang]);
    assert!(words[8].starts_with(&format!("<{}/", folder.0)), "{log}");
    assert!(!editor.home.path().join("stolen").exists());
}

const BD: &str = "#!/bin/sh\necho \"bd got: $*\"\n";

fn beads(editor: &Editor) {
    open(editor);
    type_and_send(editor, "What is next in @{beads}?");
    editor.wait_buffer("Run the command `bd show bd-a1b2`?");
    assert!(editor.buffer().contains("beads  bd show bd-a1b2"), "{}", editor.buffer());
    editor.input("g2");
    editor.wait_buffer("It gave: bd got: show bd-a1b2");
    assert!(editor.lua_text("return sent[1].content").starts_with("Beads is a local, hash-based task tracking"));
}

#[test]
fn cc_example_beads_inline_runs_its_command() {
    let (editor, _programs) = editor_with_program("bd", BD);
    editor.run("model");
    editor.lua("play('beads', { action = 'show', task_id = 'bd-a1b2' }) example('beads')");
    beads(&editor);
}

#[test]
fn cc_example_beads_in_a_file_runs_its_command() {
    let (editor, _programs) = editor_with_program("bd", BD);
    let folder = editor.home.path().join(".dotfiles/.config/tools");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(repository().join("tests/fixtures/codecompanion/beads_file.lua"), folder.join("beads.lua")).unwrap();
    editor.run("model");
    editor.lua("play('beads', { action = 'show', task_id = 'bd-a1b2' }) example('beads_path')");
    beads(&editor);
}
