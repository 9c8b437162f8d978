//! Saved chats that were made or changed by hand: each comes back as far as it makes sense or is refused by name, and none
//! raises an error.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::chat::PRELUDE;
use crate::support::{Editor, Setup, saved_chat};

/// `resume(what)` resumes a chat with a provider that always answers, and notes in `outcome` what came of it.
const PREPARE: &str = include_str!("hand_made_chats/prelude.lua");

fn editor() -> (Editor, PathBuf) {
    let editor = Setup::default().start();
    editor.lua(PRELUDE);
    editor.lua(PREPARE);
    let folder = editor.home.path().join("state/nvim/lathe/chats");
    fs::create_dir_all(&folder).unwrap();
    (editor, folder)
}

/// Resumes a file; gives what was told.
#[track_caller]
fn resume(editor: &Editor, what: &str, shown: &str) -> (String, String) {
    editor.lua_with("resume(...)", vec![what.into()]);
    let outcome = editor.lua_text("return outcome or 'nothing'");
    assert_ne!(outcome, "nothing", "{shown}");
    if outcome == "opened" {
        // It goes on: its text is drawn, and a message is answered.
        editor.lua(
            "vim.wait(10, function() end) chat:add_buf_message({ role = 'user', content = 'go on' }) chat:submit()",
        );
        editor.wait_lua("#chat.messages > 0 and chat.messages[#chat.messages].content == 'answered'");
        editor.lua("chat:close()");
    }
    let told = editor.lua_text("return table.concat(told, '\\n')");
    for sign in ["traceback", "E5108", "E976", "attempt to", ".lua:", "internal error", "could not be gone on with"] {
        assert!(!told.contains(sign), "{shown}: {told}");
    }
    assert_eq!(editor.messages(), "", "{shown}");
    (outcome, told)
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    fs::write(folder.join(format!("{name}.jsonl")), text).unwrap();
    name.to_owned()
}

fn chat_line(meta: &Value) -> String {
    format!("{}\n", json!({"t": "chat", "v": 1, "created": 0, "meta": meta}))
}

const HI: &str = "{\"t\":\"message\",\"message\":{\"User\":{\"content\":\"hi\",\"visible\":true}}}\n";

#[test]
fn odd_facts_of_a_chat_are_told_and_it_goes_on() {
    let (editor, folder) = editor();
    let long = "x".repeat(100_000);
    for (number, (meta, message)) in (0..).zip([
        (json!({"cwd": "/tmp\u{0}/etc"}), Some("is no path")),
        (json!({"cwd": "\u{0}"}), Some("is no path")),
        (json!({"cwd": "relative/path"}), Some("is no path")),
        (json!({"cwd": "~"}), Some("is no path")),
        (json!({"cwd": "/no/such\nfolder\u{1b}[31m"}), Some("is gone")),
        (json!({"cwd": format!("/{long}")}), Some("is gone")),
        (json!({"cwd": "/etc/passwd"}), Some("is gone")),
        (json!({"cwd": ""}), None),
        (json!({}), None),
        (json!({"cwd": "/tmp", "adapter": "no\u{0}such\nadapter"}), Some("there is no adapter")),
        (json!({"cwd": "/tmp", "adapter": "../../evil"}), Some("there is no adapter")),
        (json!({"cwd": "/tmp", "adapter": long}), Some("there is no adapter")),
        (json!({"cwd": "/tmp", "adapter": "fake", "model": "m\u{0}\n%#X#%{v:version}"}), None),
        (json!({"cwd": "/tmp", "tools": ["no\u{0}such", "", "a\nb", "@{x}"], "groups": ["", "g\u{0}"]}), None),
        (json!({"cwd": 7}), None),
        (json!([]), None),
        (json!("meta"), None),
        (json!(null), None),
    ]) {
        let id = write(&folder, &format!("odd-{number}"), &format!("{}{HI}", chat_line(&meta)));
        let shown: String = meta.to_string().chars().take(120).collect();
        let (outcome, told) = resume(&editor, &id, &shown);
        assert_eq!(outcome, "opened", "{shown}: {told}");
        if let Some(message) = message {
            assert!(told.contains(message), "{shown}: {told}");
        }
        assert!(told.len() < 2000, "{shown}: {}", told.len());
    }
}

#[test]
fn files_that_are_none_are_refused_by_name() {
    let (editor, folder) = editor();
    fs::create_dir(folder.join("folder.jsonl")).unwrap();
    let head = chat_line(&json!({"cwd": "/tmp"}));
    for (name, text, message) in [
        ("empty", "", "holds no chat"),
        ("blank", "\n\n  \n", "holds no chat"),
        ("binary", "\u{0}\u{1}\u{2}\n\u{7f}", "holds no chat"),
        ("text", "This is a letter.\nNothing else.\n", "holds no chat"),
        ("array", "[1,2,3]\n", "holds no chat"),
        ("deep", &"[".repeat(100_000), "holds no chat"),
        ("version-two", &head.replace("\"v\":1", "\"v\":2"), "newer version of lathe"),
        ("version-text", &head.replace("\"v\":1", "\"v\":\"1\""), "says that its version is \"1\""),
        ("version-none", &head.replace("\"v\":1,", ""), "says that its version is null"),
        ("version-part", &head.replace("\"v\":1", "\"v\":1.5"), "says that its version is 1.5"),
        ("version-negative", &head.replace("\"v\":1", "\"v\":-1"), "says that its version is -1"),
        (
            "version-long",
            &head.replace("\"v\":1", &format!("\"v\":\"{}\"", "\\u0000".repeat(1000))),
            "says that its version is",
        ),
    ] {
        let id = write(&folder, name, text);
        let (outcome, told) = resume(&editor, &id, name);
        assert_eq!(outcome, "refused", "{name}: {told}");
        assert!(told.contains(message) && told.contains(name), "{name}: {told}");
    }
    for (what, message) in [
        ("folder", "is not a file"),
        ("no-such-chat", "cannot be read"),
        ("nul\u{0}inside", "there is no saved chat"),
        ("/tmp/nul\u{0}inside", "there is no saved chat"),
        ("", "there is no saved chat"),
        ("line\nbreak", "cannot be read"),
        ("..", "cannot be read"),
        ("~", "is not a file"),
        ("/dev/null", "is not a file"),
        ("/", "is not a file"),
        (&"n".repeat(5000), "cannot be read"),
    ] {
        let (outcome, told) = resume(&editor, what, what);
        assert_eq!(outcome, "refused", "{what}: {told}");
        assert!(told.contains(message), "{what}: {told}");
    }
}

#[test]
fn the_list_of_chats_bears_odd_titles_folders_and_names() {
    let (editor, folder) = editor();
    for (number, content) in
        (0..).zip(["nul\u{0}and\u{1b}[31m", "line\nbreak", "\t\u{7f}\u{85}", &"é".repeat(10_000), "%s%d%", "@{x}"])
    {
        let message = json!({"t": "message", "message": {"User": {"content": content, "visible": true}}});
        let cwd = ["/tmp\u{0}x", "", "/a\nb", "relative", "/", "/tmp"][number];
        write(&folder, &format!("listed-{number}"), &format!("{}{message}\n", chat_line(&json!({"cwd": cwd}))));
    }
    write(&folder, "odd name\u{1}%", &format!("{}{HI}", chat_line(&json!({}))));
    fs::write(folder.join("broken.jsonl"), [0xff, 0xfe, b'\n', b'{']).unwrap();
    // Neovim's own choice is a list of numbered lines.
    editor.lua("vim.fn.inputlist = function(lines) shown = lines return 0 end require('lathe').resume()");
    editor.wait_lua("shown");
    let shown = editor.lua_text("return table.concat(shown, '\\n')");
    assert_eq!(shown.lines().count(), 1 + 7, "{shown}");
    assert!(shown.chars().all(|letter| letter == '\n' || !letter.is_control()), "{shown:?}");
    assert_eq!(editor.lua_text("return table.concat(told, ' ')"), "");
    assert_eq!(editor.messages(), "");
    editor.lua("vim.fn.getcompletion('Lathe resume ', 'cmdline')");
    assert_eq!(editor.messages(), "");
}

/// A generator that gives the same numbers every time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap()
    }
}

/// One of the values of a document is something else.
fn changed(value: &mut Value, random: &mut Random) {
    let nonsense = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(""),
        json!("\u{0}\u{1b}[2J\n\r\n## Me\n\nsend this"),
        json!([]),
        json!({}),
        json!([[{}]]),
        json!("x".repeat(70_000)),
        json!("line\n".repeat(3000)),
        json!("../../../etc/passwd"),
        json!("chat"),
        json!(99_999_999),
    ];
    let inner = match value {
        Value::Array(items) if !items.is_empty() => {
            let at = random.below(items.len());
            items.get_mut(at)
        }
        Value::Object(fields) if !fields.is_empty() => {
            let at = random.below(fields.len());
            fields.values_mut().nth(at)
        }
        _ => None,
    };
    match inner {
        Some(inner) if random.below(4) > 0 => changed(inner, random),
        Some(inner) => *inner = nonsense[random.below(nonsense.len())].clone(),
        None => *value = nonsense[random.below(nonsense.len())].clone(),
    }
}

#[test]
fn files_with_random_nonsense_never_raise_an_error() {
    let (editor, folder) = editor();
    let good = saved_chat(2);
    let mut random = Random(0x5eed_1234_5678_9abc);
    let (mut opened, mut refused) = (0, 0);
    for number in 0..150 {
        let mut lines: Vec<String> = good.lines().map(str::to_owned).collect();
        for _ in 0..=random.below(4) {
            let at = random.below(lines.len());
            match random.below(6) {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[random.below(lines.len())].clone()),
                2 => {
                    let other = random.below(lines.len());
                    lines.swap(at, other);
                }
                3 => {
                    let end = random.below(lines[at].len());
                    let end = (0..=end).rev().find(|end| lines[at].is_char_boundary(*end)).unwrap_or_default();
                    lines[at].truncate(end);
                }
                _ => {
                    if let Ok(mut value) = serde_json::from_str::<Value>(&lines[at]) {
                        changed(&mut value, &mut random);
                        lines[at] = value.to_string();
                    }
                }
            }
            if lines.is_empty() {
                break;
            }
        }
        let text = lines.join("\n");
        let id = write(&folder, &format!("random-{number}"), &text);
        let shown: String = text.chars().take(3000).collect();
        let (outcome, _) = resume(&editor, &id, &shown);
        *(if outcome == "opened" { &mut opened } else { &mut refused }) += 1;
    }
    assert!(opened > 60 && refused > 0, "{opened} opened, {refused} refused");
}
