//! README and help: their code is code, and their links lead somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::{Editor, Setup, repository, run_headless, script};

#[test]
fn lua_in_the_readme_compiles() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let blocks: Vec<&str> = readme.split("```lua\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect();
    assert!(blocks.len() >= 2);
    let editor = Setup::default().without_plugin().start();
    for block in blocks {
        // A plugin spec is an expression, the rest are statements.
        let check = "local code = ... local chunk, err = loadstring(code) \
            if not chunk then chunk = loadstring('return ' .. code) end return chunk and '' or err";
        assert_eq!(editor.lua_with(check, vec![block.into()]).as_str(), Some(""), "{block}");
    }
}

#[test]
fn help_has_unique_tags_and_no_dead_links() {
    let editor = Setup::default().without_plugin().start();
    let folder = editor.home.path().join("doc");
    fs::create_dir(&folder).unwrap();
    fs::copy(repository().join("doc/lathe.txt"), folder.join("lathe.txt")).unwrap();
    // Tags that exist twice are an error of `:helptags`.
    editor.lua_with("vim.cmd.helptags(vim.fn.fnameescape(...))", vec![folder.to_str().unwrap().into()]);
    let tags = fs::read_to_string(folder.join("tags")).unwrap();
    let known = |name: &str| tags.lines().any(|line| line.split('\t').next() == Some(name));
    let help = fs::read_to_string(folder.join("lathe.txt")).unwrap();
    let links = help.split('|').filter(|word| word.to_lowercase().trim_start_matches(':').starts_with("lathe"));
    let dead: Vec<&str> = links.filter(|word| !word.contains(char::is_whitespace) && !known(word)).collect();
    assert!(dead.is_empty(), "{dead:?}");
    assert!(known("lathe"), "no tag for `:help lathe`");
}

#[test]
fn the_first_tool_of_the_readme_works_as_it_stands() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let mut blocks = readme.split("```lua\n").skip(1).filter_map(|rest| rest.split("```").next());
    let code = blocks.find(|code| code.contains("dice")).expect("the README has a tool");
    let editor = Editor::start();
    editor.lua(code);
    editor.input(":Lathe chat<CR>");
    editor.wait_screen("## Me");
    editor.input("iRoll three @{dice}<C-s>");
    editor.wait_buffer("There you are.");
    editor.wait_buffer("Rolled ");
    assert_eq!(editor.messages().trim(), "");
}

#[test]
fn the_test_of_a_tool_in_the_readme_passes_and_can_fail() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let mut blocks = readme.split("```lua\n").skip(1).filter_map(|rest| rest.split("```").next());
    let code = blocks.find(|code| code.contains("print(\"passed\")")).expect("the README has a test");
    let folder = tempfile::tempdir().unwrap();
    let tools = folder.path().join("lua/user/tools");
    fs::create_dir_all(&tools).unwrap();
    let example = fs::read_to_string(repository().join("examples/tools/calculator.lua")).unwrap();
    let wrong = example.replace("num1 * num2", "num1 + num2");
    for (calculator, passes) in [(&example, true), (&wrong, false)] {
        fs::write(tools.join("calculator.lua"), calculator).unwrap();
        fs::write(folder.path().join("calculator_test.lua"), code).unwrap();
        let path = |path: std::path::PathBuf| path.display().to_string();
        let test = path(folder.path().join("calculator_test.lua"));
        let rtp = format!("set rtp^={}", folder.path().display());
        let output = run_headless(Setup::default().argument("--cmd").argument(rtp), &["-l", &test]);
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success() && said.contains("passed"), passes, "{said}");
    }
}

#[test]
fn the_example_of_a_command_tool_works_as_it_stands() {
    let editor = Setup::default().start();
    editor.lua_with("vim.cmd.cd(...)", vec![repository().to_str().unwrap().into()]);
    editor.lua("dofile('examples/cmd_tool.lua')");
    editor.input(":Lathe chat<CR>");
    editor.wait_screen("## Me");
    editor.input("iHow many lines has README.md? Use @{count_lines}<C-s>");
    editor.wait_buffer("Run the command `wc -l < 'README.md'`?");
    editor.input("<Esc>g2");
    let lines = fs::read_to_string(repository().join("README.md")).unwrap().lines().count();
    editor.wait_buffer(&format!("It has {lines} lines."));
}

/// The text of a section of the help, by the tag of its title.
fn section(tag: &str) -> String {
    let help = fs::read_to_string(repository().join("doc/lathe.txt")).unwrap();
    let title = format!("*{tag}*");
    let found = help.split("\n====").find(|text| text.lines().nth(1).is_some_and(|line| line.ends_with(&title)));
    found.unwrap_or_else(|| panic!("no section {tag}")).to_owned()
}

/// Names that are no word of a text.
fn missing(names: &[String], text: &str) -> Vec<String> {
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    names.iter().filter(|name| !words.contains(name.as_str())).cloned().collect()
}

fn list(editor: &Editor, code: &str) -> Vec<String> {
    let value = editor.lua(code);
    let names: Vec<String> = value.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    assert!(names.len() > 3, "{names:?}");
    names
}

#[test]
fn every_subcommand_key_option_and_event_is_in_the_help() {
    let editor = Editor::start();
    let commands = list(&editor, "return require('lathe.command').names()");
    assert_eq!(missing(&commands, &section(":Lathe")), [""; 0]);
    let actions = list(&editor, "return vim.tbl_keys(require('lathe.config').get().interactions.chat.keymaps)");
    assert_eq!(missing(&actions, &section("lathe-keys")), [""; 0]);
    let maps = "return vim.iter(vim.api.nvim_get_keymap('n')):map(function(map) \
        return map.lhs:match('^<Plug>%((Lathe%a+)%)$') end):totable()";
    assert_eq!(missing(&list(&editor, maps), &section("lathe-keys")), [""; 0]);
    let groups = "local names = {} require('lathe.chat.draw.block')
        for name in pairs(vim.api.nvim_get_hl(0, {})) do if name:find('^Lathe') then names[#names + 1] = name end end return names";
    assert_eq!(missing(&list(&editor, groups), &section("lathe-chat")), [""; 0]);
    let icons = "return vim.tbl_keys(require('lathe.chat.draw.block').icons(nil))";
    assert_eq!(missing(&list(&editor, icons), &section("lathe-chat")), [""; 0]);
    let options = script("option_names");
    let help = section("lathe-options") + &section("lathe-tools") + &section("lathe-adapters");
    assert_eq!(missing(&list(&editor, &options), &help), [""; 0]);

    let mut events = Vec::new();
    for code in lua_sources(&repository().join("lua/lathe")).iter().filter(|code| code.contains("events.emit")) {
        let names =
            code.split('"').filter(|word| ["Chat", "Tool", "Request"].iter().any(|start| word.starts_with(start)));
        events.extend(names.filter(|word| word.chars().all(char::is_alphabetic)).map(|word| format!("Lathe{word}")));
    }
    assert!(events.len() > 10, "{events:?}");
    assert_eq!(missing(&events, &section("lathe-events")), [""; 0]);
}

/// The texts of all Lua files below a folder.
fn lua_sources(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(lua_sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "lua") {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
    texts
}

#[test]
fn the_documented_types_of_the_library_are_its_exports_and_performers() {
    let types = fs::read_to_string(repository().join("lua/lathe/bridge_types.lua")).unwrap();
    let fields = |class: &str| -> BTreeSet<String> {
        let lines = types.lines().skip_while(|line| !line.ends_with(class)).skip(1);
        let fields = lines.map_while(|line| line.strip_prefix("---@field "));
        fields.map(|field| field.split([' ', '?']).next().unwrap().to_owned()).collect()
    };
    let editor = Editor::start();
    let exports = list(&editor, "return vim.tbl_keys(require('lathe.core').load())");
    assert_eq!(fields(" lathe.Core"), exports.into_iter().collect());
    let performers = list(&editor, "return vim.tbl_keys(require('lathe.chat.effects').performers({}))");
    assert_eq!(fields(" lathe.Performers"), performers.into_iter().collect());
}
