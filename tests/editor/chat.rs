//! What tests of whole turns share: a chat with a scripted provider, and what became of it.

use crate::support::Editor;

/// `open(turns, tools, opts)` sets lathe up with a scripted provider and opens a chat as the global `chat`.
/// `answer(...)` makes a turn of calls: name, arguments, name, arguments. `results()` are the tool results so far.
pub const PRELUDE: &str = include_str!("prelude.lua");

/// An editor with these functions and no chat yet.
pub fn editor() -> Editor {
    let editor = Editor::start();
    editor.lua(PRELUDE);
    editor
}

impl Editor {
    /// Waits until so many turns have ended.
    #[track_caller]
    pub fn wait_ended(&self, turns: usize) {
        self.wait_lua(&format!("ended() >= {turns}"));
    }

    /// Nothing was told to the user.
    #[track_caller]
    pub fn assert_quiet(&self) {
        assert_eq!(self.messages().trim(), "", "nothing is in :messages");
    }

    /// Nothing went wrong; what Neovim says about the user's own commands is no matter.
    #[track_caller]
    pub fn assert_no_fault(&self) {
        let messages = self.messages();
        for sign in ["Error", "error", "traceback", "lathe"] {
            assert!(!messages.contains(sign), "{messages}");
        }
    }

    /// The text of the chat's buffer, without empty lines at its end.
    #[track_caller]
    pub fn chat_text(&self) -> String {
        let lines = r#"return table.concat(vim.api.nvim_buf_get_lines(chat.bufnr, 0, -1, false), "\n")"#;
        self.lua_text(lines).trim_end().to_owned()
    }

    /// The results that the model got so far.
    #[track_caller]
    pub fn results(&self) -> Vec<String> {
        let list = self.lua("return results()");
        let texts = list.as_array().cloned().unwrap_or_default();
        texts.iter().map(|text| text.as_str().unwrap_or("not a string").to_owned()).collect()
    }
}
