//! README and help: their code is code, and their links lead somewhere.

use std::fs;

use crate::support::{Editor, Setup, repository};

#[test]
fn lua_in_the_readme_compiles() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let blocks: Vec<&str> = readme.split("```lua\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect();
    assert!(blocks.len() >= 3);
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

/// The first tool and the provider for it, typed in as the README has them.
#[test]
fn the_first_tool_of_the_readme_works_as_it_says() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let part = readme.split("## A first tool of your own").nth(1).unwrap();
    let blocks: Vec<&str> =
        part.split("```lua\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 2);
    let editor = Editor::for_chats();
    for block in blocks {
        editor.lua(block);
    }
    editor.input(":Lathe chat<CR>");
    editor.wait_screen("## Me");
    editor.input("iRoll three @{dice}<Esc><CR>");
    editor.wait_buffer("There you are.");
    editor.lua("chat = require('lathe').last_chat()");
    let result = &editor.results()[0];
    assert!(result.starts_with("Rolled "), "what the tool gave reaches the model: {result}");
    editor.lua("require('lathe').run_tool('dice', { count = 3 }, {}, function(r) rolled = r end)");
    editor.wait_lua("rolled");
    assert_eq!(editor.lua_text("return rolled.status"), "success");
    assert!(editor.lua_text("return rolled.content").starts_with("Rolled "));
    editor.assert_quiet();
}
