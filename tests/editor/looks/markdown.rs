//! Colours: what is Markdown, what is a mention, and that foreign text changes neither.

use super::opened_by;
use crate::support::script;

#[test]
fn nothing_in_a_tools_output_or_a_question_changes_how_the_rest_looks() {
    let editor = opened_by("hostile_marks");
    editor.wait_screen("g4  Cancel");
    editor.lua("vim.cmd('redraw')");
    let has = |text: &str, col: usize, name: &str| {
        let names = editor.lua_text(&format!("return captures([[{text}]], {col})"));
        assert!(names.contains(name), "{text}: {names}\n{}", editor.buffer());
    };
    has("text **bold** one", 8, "markup.strong");
    assert_eq!(editor.lua_text("return captures('g1  Always', 5)").trim(), "");
    has("## Lathe", 3, "markup.heading.2");
    editor.input("<Esc>g2");
    editor.wait_ended(1);
    editor.wait_buffer("then **bold** two");
    editor.lua("vim.cmd('redraw')");
    has("then **bold** two", 8, "markup.strong");
    has("text **bold** one", 8, "markup.strong");
    assert_eq!(editor.lua_text("return captures('never closed', 5)").trim(), "");
    assert_eq!(editor.lua_text("return captures('## Not a heading', 5)").trim(), "");
    // What is typed at the end is read as well.
    editor.input("Gosome **bold** text<CR><CR>## A heading");
    editor.wait_buffer("## A heading");
    has("some **bold** text", 8, "markup.strong");
    has("## A heading", 5, "markup.heading.2");
    // A plugin that asks the parser for what there is to draw.
    let headings = editor.lua_text(&script("headings"));
    assert_eq!(headings, "## A heading, ## Lathe (Scripted), ## Me, ## Me");
    editor.assert_quiet();
}

#[test]
fn mentions_have_a_colour_only_in_what_the_user_typed() {
    let editor = opened_by("mentioned");
    editor.input("iwith @{t}, @t, #{buffer}, not @{none} a@t");
    editor.wait_lua("row_of('with') and mentioned('with') == '@{t} @t #{buffer}'");
    editor.input("<C-s>");
    editor.wait_ended(1);
    editor.wait_buffer("use @{t}");
    assert_eq!(editor.lua_text("return mentioned('with')"), "@{t} @t #{buffer}");
    editor.input("<Esc>Goand @t");
    editor.wait_lua("mentioned('and @t') == '@t'");
    assert_eq!(editor.lua_text("return mentioned('use @{t}')"), "");
}
