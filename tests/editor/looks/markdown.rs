//! Colours: what is Markdown, what is a mention, and that foreign text changes neither.

use super::opened;

#[test]
fn nothing_in_a_tools_output_or_a_question_changes_how_the_rest_looks() {
    let editor = opened(
        r#"
        open({ { text = "text **bold** one", tool_calls = { { name = "t", arguments = { x = "```\n<!-- never closed" } } } }, { text = "then **bold** two" } }, {
          t = said("t", "```lua\nnever closed <!-- and <div>\n## Not a heading", { opts = { require_approval_before = true },
            output = { cmd_string = function() return "``` <!--" end } }),
        })
        send("go")
        function captures(text, col)
          local row = row_of(text) - 1
          local names = {}
          local parser = vim.treesitter.get_parser(chat.bufnr)
          parser:parse(true)
          for _, c in ipairs(vim.treesitter.get_captures_at_pos(chat.bufnr, row, col)) do names[#names + 1] = c.capture end
          return " " .. table.concat(names, " ") .. " "
        end"#,
    );
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
    let headings = editor.lua_text(
        r#"
        local parser, found = vim.treesitter.get_parser(chat.bufnr, "markdown"), {}
        parser:parse(true)
        local query = vim.treesitter.query.parse("markdown", "(atx_heading) @h")
        parser:for_each_tree(function(tree, part)
          if part:lang() == "markdown" then
            for _, node in query:iter_captures(tree:root(), chat.bufnr) do
              found[#found + 1] = vim.split(vim.treesitter.get_node_text(node, chat.bufnr), "\n")[1]
            end
          end
        end)
        table.sort(found)
        return table.concat(found, ", ")"#,
    );
    assert_eq!(headings, "## A heading, ## Lathe (Scripted), ## Me, ## Me");
    editor.assert_quiet();
}

#[test]
fn mentions_have_a_colour_only_in_what_the_user_typed() {
    let editor = opened(
        r#"
        open({ { text = "use @{t} and #{buffer}" } }, { t = said("t", "x") })
        function mentioned(text)
          local row, found = row_of(text) - 1, {}
          local ns = vim.api.nvim_create_namespace("lathe.mention")
          for _, m in ipairs(vim.api.nvim_buf_get_extmarks(chat.bufnr, ns, { row, 0 }, { row, -1 }, { details = true })) do
            found[#found + 1] = vim.api.nvim_buf_get_text(chat.bufnr, row, m[3], row, m[4].end_col, {})[1]
          end
          return table.concat(found, " ")
        end"#,
    );
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
