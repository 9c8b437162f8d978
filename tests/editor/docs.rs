//! README and help: their code is code, and their links lead somewhere.

use std::fs;

use crate::support::{Editor, Setup, repository};

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
