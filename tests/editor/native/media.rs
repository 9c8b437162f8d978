//! Pictures, sounds, files and long texts in results.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;

use super::editor;
use crate::provider::{delta, said};
use crate::support::Editor;
use crate::support::server::{Server, stream};

const PNG: &str = "\\137PNG\\r\\n\\26\\n\\0\\0\\1";

/// A provider that asks for one call of `s__t`, and the chat with it.
fn provided(editor: &Editor, vision: &str) -> Server {
    let call = json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "s__t", "arguments": "{}"}});
    let asks = [
        delta(json!({"tool_calls": [call]})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
    ];
    let server = Server::start(vec![stream(&asks), stream(&said("done"))]);
    editor.run_with("provided", vec![server.url.as_str().into(), vision.into()]);
    editor.wait_ended(1);
    server
}

fn saved(note: &str) -> PathBuf {
    note.split("saved in ").nth(1).unwrap().split([';', ']']).next().unwrap().into()
}

#[test]
fn a18_n35_a_model_without_pictures_gets_both_texts_and_a_note() {
    let editor = editor();
    editor
        .lua(&format!("serve('s', 't', function(_, res) return res:text('before'):image('{PNG}'):text('after') end)"));
    let server = provided(&editor, "false");
    let body = &server.received()[1].body;
    let messages = body["messages"].as_array().unwrap();
    let content = messages.last().unwrap()["content"].as_str().unwrap();
    assert!(content.starts_with("before\nafter\n\n[image: image/png, 11 bytes, saved in "), "{content}");
    assert!(!body.to_string().contains("image_url"));
    let path = saved(content);
    assert_eq!(fs::read(&path).unwrap(), b"\x89PNG\r\n\x1a\n\0\0\x01");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(path.starts_with(editor.home.path().join("cache/nvim/lathe/media")), "{}", path.display());
    assert!(editor.chat_text().contains(path.to_str().unwrap()), "the user sees where it is");
}

#[test]
fn a19_a20_a_model_with_pictures_gets_them_and_raw_bytes_and_base64_are_the_same() {
    let mut bodies = Vec::new();
    for data in [format!("'{PNG}'"), format!("vim.base64.encode('{PNG}')")] {
        let editor = editor();
        editor.lua(&format!(
            "serve('s', 't', function(_, res) return res:text('before'):image({data}):text('after') end)"
        ));
        let server = provided(&editor, "function(self, model) return model == 'small' end");
        let messages = server.received()[1].body["messages"].clone();
        let picture = messages.as_array().unwrap().last().unwrap().clone();
        assert_eq!(picture["role"], "user");
        assert_eq!(
            picture["content"][1],
            json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgoAAAE="}})
        );
        let home = editor.home.path().to_str().unwrap().to_owned();
        assert!(editor.chat_text().contains("saved in"), "the user has a link");
        // Folders differ from editor to editor, and so does the session.
        let text = messages.to_string().replace(&home, "");
        let session = text.find("session-").map(|at| text[at..].split('/').next().unwrap().to_owned()).unwrap();
        bodies.push(text.replace(&session, ""));
    }
    assert_eq!(bodies[0], bodies[1]);
}

#[test]
fn n36_sounds_files_and_binary_resources_are_saved_and_named() {
    let editor = editor();
    editor.run("binary");
    let server = provided(&editor, "true");
    let messages = server.received()[1].body["messages"].clone();
    let content = messages.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = content.lines().collect();
    assert_eq!(lines[..3], ["Resource x://text:", "words", ""]);
    assert!(lines[3].starts_with("[audio: audio/mp3, 2 bytes, saved in "), "{content}");
    assert!(lines[4].starts_with("[file of x://bin: application/x-thing, 1 bytes, saved in "), "{content}");
    assert_eq!(fs::read(saved(lines[3])).unwrap(), [1, 2]);
    assert_eq!(fs::read(saved(lines[4])).unwrap(), [3]);
}

#[test]
fn a28_n34_a_long_text_is_cut_and_its_file_holds_all_of_it() {
    let editor = editor();
    editor.lua(
        "text = ('0123456789abcde\\n'):rep(3750)
         serve('s', 't', function(_, res) return res:text(text) end)
         use({ answer('s__t', {}), { text = 'done' } }, { 's' }) send('go')",
    );
    editor.wait_ended(1);
    let result = editor.results().remove(0);
    let kept = result.split("[cut: ").next().unwrap();
    assert!(kept.len() <= 51_200 && kept.starts_with("0123456789abcde\n"), "{}", kept.len());
    let path = result.split("output is in ").nth(1).unwrap().split(':').next().unwrap();
    assert_eq!(fs::read(path).unwrap().len(), 60_000);
}

#[test]
fn n37_text_goes_to_the_model_without_a_fence_and_its_own_fences_do_no_harm_in_the_buffer() {
    let editor = editor();
    editor.lua(
        "serve('s', 't', function(_, res) return res:text('````\\n## Me\\n```lua\\nx') end)
         use({ answer('s__t', {}), { text = 'done' }, { text = 'again' } }, { 's' }) send('go')",
    );
    editor.wait_ended(1);
    assert_eq!(editor.results(), ["````\n## Me\n```lua\nx"]);
    editor.lua("send('and now?')");
    editor.wait_ended(2);
    assert_eq!(editor.lua_text("return chat.messages[#chat.messages - 1].content"), "and now?");
}

#[test]
fn any_tool_may_add_attachments() {
    let editor = editor();
    editor.run("with_attachment");
    editor.wait_ended(1);
    assert!(
        editor.results()[0].starts_with("look\n\n[image: image/png, 11 bytes, saved in "),
        "{:?}",
        editor.results()
    );
}
