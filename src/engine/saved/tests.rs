//! What is written of a chat comes back, and whatever else a file holds, what comes back could be sent.

mod hand_made;

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::loader::{MAX_ENTRIES, MAX_TITLE_CHARS};
use super::recorder::MAX_BODY_BYTES;
use super::*;
use crate::engine::effect::{CallEffect, ChatEffect, TurnEnd};
use crate::engine::outcome::Outcome;
use crate::engine::restore::Body;
use crate::gate::approvals::Scope;
use crate::gate::verdict::{Cause, Question};
use crate::message::Call;
use crate::tool::{CallId, CallStatus, Runner};

fn user(content: &str) -> Message {
    Message::User { content: content.into(), visible: true, typed: None, attachments: vec![] }
}

fn llm(content: &str, ids: &[&str]) -> Message {
    let call = |id: &&str| Call { wire_id: (*id).into(), name: "glob".into(), arguments: "{}".into(), extra: None };
    Message::Llm {
        content: content.into(),
        reasoning: String::new(),
        calls: ids.iter().map(call).collect(),
        opaque: None,
    }
}

fn result(id: &str, content: &str, is_error: bool) -> Message {
    Message::Tool { wire_id: id.into(), content: content.into(), is_error, attachments: vec![] }
}

fn message(message: Message) -> Record {
    Record::Message { message: Arc::new(message) }
}

fn done(message: Message) -> Record {
    Record::Result { message: Arc::new(message) }
}

fn text(text: &str) -> Record {
    Record::Text { text: text.into() }
}

fn file(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    records.iter().for_each(|record| record.write(&mut bytes));
    bytes
}

fn messages(saved: &Saved) -> Vec<Message> {
    saved.restored.history.messages().iter().map(|message| message.as_ref().clone()).collect()
}

fn loaded(records: &[Record]) -> Saved {
    let saved = load(&file(records));
    assert_eq!((saved.restored.skipped, saved.records), (0, records.len()));
    saved
}

/// Whether every call has its result at once, in order, under an id of its own, and arguments that are an object.
fn could_be_sent(messages: &[Message]) -> bool {
    let mut awaited = std::collections::VecDeque::new();
    let mut used = HashSet::new();
    for message in messages {
        match message {
            Message::Tool { wire_id, .. } => {
                if awaited.pop_front() != Some(wire_id) {
                    return false;
                }
            }
            _ if !awaited.is_empty() => return false,
            Message::Llm { calls, .. } => {
                for call in calls {
                    awaited.push_back(&call.wire_id);
                    let is_object = matches!(serde_json::from_str(&call.arguments), Ok(Value::Object(_)));
                    if call.wire_id.is_empty() || !used.insert(&call.wire_id) || !is_object {
                        return false;
                    }
                }
            }
            Message::System { .. } | Message::User { .. } => {}
        }
    }
    awaited.is_empty()
}

#[test]
fn a_conversation_comes_back_as_it_was() {
    let extra = Some(json!({"signature": "x", "n": 1.5, "list": [1, null]}));
    let call = Call { wire_id: "c1".into(), name: "glob".into(), arguments: "{ \"a\" : 1 }".into(), extra };
    let answer =
        Message::Llm { content: "Hm.".into(), reasoning: "First,\nlook".into(), calls: vec![call], opaque: None };
    let typed = Message::User {
        content: "Use the glob tool".into(),
        visible: true,
        typed: Some("Use @{glob}".into()),
        attachments: vec![],
    };
    let context = Message::User { content: "context".into(), visible: false, typed: None, attachments: vec![] };
    let look = Look {
        files: vec!["/tmp/whole".into()],
        state: "success".into(),
        head: "glob  *".into(),
        fact: Some("1 ms".into()),
        body: Body::Text("shown".into()),
    };
    let meta = Meta {
        cwd: "/tmp/a".into(),
        adapter: Some("openai".into()),
        model: Some("m".into()),
        tools: vec!["glob".into()],
        groups: vec!["files".into()],
    };
    let said = [Message::System { content: "Be brief".into() }, context, typed, answer];
    let mut records = vec![Record::Chat { v: VERSION, created: 1, meta: Meta::default() }];
    records.extend(said.iter().cloned().map(message));
    records.extend([
        Record::Meta { meta: meta.clone() },
        Record::Asked { call: "c1".into() },
        Record::Started { call: "c1".into() },
        done(result("c1", "a\u{0}b\r\nc", false)),
        Record::Look { call: "c1".into(), look: look.clone() },
        message(llm("Done", &[])),
        Record::TurnEnd,
    ]);
    let saved = loaded(&records);
    let mut expected = said.to_vec();
    expected.extend([result("c1", "a\u{0}b\r\nc", false), llm("Done", &[])]);
    assert_eq!(messages(&saved), expected);
    assert_eq!(saved.restored.looks, HashMap::from([("c1".to_owned(), look)]));
    assert_eq!((saved.meta, saved.title.as_deref(), saved.foreign_version), (meta, Some("Use @{glob}"), None));
    assert_eq!((saved.made, saved.restored.interrupted), (Vec::new(), false));
}

#[test]
fn a_file_reads_as_the_documentation_of_its_format_says() {
    let written = |record: &Record| String::from_utf8(file(std::slice::from_ref(record))).unwrap();
    assert_eq!(
        written(&message(user("hi"))),
        "{\"t\":\"message\",\"message\":{\"User\":{\"content\":\"hi\",\"visible\":true}}}\n"
    );
    assert_eq!(written(&Record::Asked { call: "c1".into() }), "{\"t\":\"asked\",\"call\":\"c1\"}\n");
    assert_eq!(written(&Record::TurnEnd), "{\"t\":\"turn_end\"}\n");
}

#[test]
fn calls_without_result_say_how_far_they_had_come_and_the_others_keep_theirs() {
    let records = [
        message(user("go")),
        message(llm("", &["done", "asked", "started", "both", "queued"])),
        Record::Started { call: "started".into() },
        Record::Asked { call: "both".into() },
        Record::Started { call: "both".into() },
        Record::Started { call: "done".into() },
        done(result("done", "42", false)),
        Record::Asked { call: "asked".into() },
    ];
    let saved = loaded(&records);
    let contents: Vec<_> = messages(&saved)[2..]
        .iter()
        .map(|message| match message {
            Message::Tool { wire_id, content, is_error, .. } => {
                (wire_id.clone(), content.split(':').next().unwrap().to_owned(), *is_error)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        ("done", "42", false),
        ("asked", "not run", true),
        ("started", "state unknown", true),
        ("both", "state unknown", true),
        ("queued", "not run", true),
    ];
    assert_eq!(contents, expected.map(|(id, content, is_error)| (id.to_owned(), content.to_owned(), is_error)));
    assert_eq!((saved.restored.not_run.len(), saved.restored.unknown.len()), (2, 2));
    assert_eq!(saved.restored.looks["asked"].state, Look::NOT_RUN);
    assert_eq!(saved.restored.looks["started"].state, Look::UNKNOWN);

    // What it did at once may have ended the editor, before anything of it was written.
    let first = loaded(&[message(llm("", &["first", "second"]))]);
    assert_eq!((first.restored.unknown.len(), first.restored.not_run.len()), (1, 1));

    // What was made is written, and then nothing is told a second time.
    let again = loaded(&[&records[..], &saved.made].concat());
    assert_eq!(messages(&again), messages(&saved));
    assert_eq!((again.restored.not_run.len(), again.restored.unknown.len(), again.made), (0, 0, Vec::new()));
    assert_eq!(again.restored.looks, saved.restored.looks);
}

#[test]
fn what_is_left_of_an_answer_is_kept_and_a_whole_one_takes_its_place() {
    let start = [message(user("go")), Record::Reasoning { text: "hm".into() }, text("Hel"), text("lo")];
    let saved = loaded(&start);
    let half = Message::Llm { content: "Hello".into(), reasoning: "hm".into(), calls: Vec::new(), opaque: None };
    assert_eq!((messages(&saved), saved.restored.interrupted), (vec![user("go"), half.clone()], true));
    assert_eq!(saved.made, vec![message(half)]);
    let whole = loaded(&[&start[..], &[message(llm("Hello.", &[])), Record::TurnEnd]].concat());
    assert_eq!((messages(&whole), whole.restored.interrupted), (vec![user("go"), llm("Hello.", &[])], false));
    let thought = loaded(&[message(user("go")), Record::Reasoning { text: "hm".into() }]);
    assert_eq!((messages(&thought), thought.restored.interrupted), (vec![user("go")], false), "nothing was said");
}

#[test]
fn what_was_taken_back_cut_or_cleared_stays_away() {
    let start = [message(user("one")), message(llm("1", &["a"])), done(result("a", "r", false))];
    let t = |more: &[Record]| messages(&loaded(&[&start[..], more].concat()));
    assert_eq!(t(&[message(llm("2", &[])), Record::TakenBack]).len(), 3);
    assert_eq!(t(&[message(user("two")), message(llm("2", &[])), Record::Truncated { kept: 3 }]).len(), 3);
    assert_eq!(t(&[Record::Truncated { kept: 0 }, message(user("two"))]), vec![user("two")]);
    assert_eq!(t(&[Record::Cleared, message(user("two"))]), vec![user("two")]);
    let cleared = loaded(&[&start[..], &[Record::Cleared]].concat());
    assert_eq!((messages(&cleared), cleared.title, cleared.restored.looks.len()), (vec![], None, 0));
    let overlapping = [
        message(user("one")),
        message(llm("", &["a", "b"])),
        done(result("b", "2", false)),
        done(result("a", "1", false)),
        Record::Truncated { kept: 3 },
    ];
    assert_eq!(messages(&loaded(&overlapping)), vec![user("one")], "a cut between results leaves no call alone");
}

#[test]
fn broken_unknown_and_foreign_lines_are_counted_and_cost_nothing_else() {
    let mut bytes = file(&[message(user("one"))]);
    bytes.extend_from_slice(b"\n  \n{\"t\":\"mess\n\xff\xfe\n[1]\n{\"t\":\"from_the_future\",\"x\":1}\n");
    bytes.extend_from_slice(&[b'['; 100_000]);
    bytes.push(b'\n');
    bytes.extend(file(&[done(result("nobody", "x", false)), Record::Started { call: "nobody".into() }]));
    bytes.extend(file(&[message(llm("1", &[]))]));
    let saved = load(&bytes);
    assert_eq!(messages(&saved), vec![user("one"), llm("1", &[])]);
    assert_eq!((saved.restored.skipped, saved.records), (7, 2));
}

#[test]
fn ids_that_are_there_twice_and_arguments_that_are_no_object_are_made_fit() {
    let mut odd = llm("", &["a", "a", ""]);
    if let Message::Llm { calls, .. } = &mut odd {
        calls[1].arguments = "[1]".into();
        calls[2].extra = Some(json!("text"));
    }
    let saved = load(&file(&[
        message(llm("", &["a"])),
        done(result("a", "first", false)),
        message(odd),
        done(result("a", "second", false)),
    ]));
    let messages = messages(&saved);
    assert!(could_be_sent(&messages), "{messages:?}");
    let contents = messages.iter().filter_map(|message| match message {
        Message::Tool { content, .. } => Some(content.as_str()),
        _ => None,
    });
    assert!(contents.collect::<Vec<_>>().contains(&"second"));
}

#[test]
fn too_many_messages_are_not_read() {
    let one = file(&[message(user(""))]);
    assert!(load(&one.repeat(MAX_ENTRIES + 10)).is_too_long);
    assert!(!load(&one.repeat(1000)).is_too_long);
}

#[test]
fn a_title_is_the_first_line_that_the_user_typed() {
    let t = |content: &str| title(&user(content));
    assert_eq!(t("\n  Fix the bug  \nmore"), Some("Fix the bug".into()));
    assert_eq!(t(" \n"), None);
    assert_eq!(t(&"é".repeat(200)), Some("é".repeat(MAX_TITLE_CHARS) + "…"));
    assert_eq!(
        title(&Message::User { content: "context".into(), visible: false, typed: None, attachments: vec![] }),
        None
    );
    assert_eq!(title(&llm("text", &[])), None);
}

#[test]
fn effects_become_records_in_their_order_and_share_the_messages() {
    let mut recorder = Recorder::default();
    let call = CallId(7);
    let of_call = |effect| ChatEffect::Call { call, effect };
    let answer = Arc::new(llm("", &["c1"]));
    let outcome = Arc::new(result("c1", "42", false));
    let question = Box::new(Question::once(Cause::OwnApproval, Scope::Chat));
    let added =
        of_call(CallEffect::AddCall { wire_id: "c1".into(), name: "glob".into(), arguments: "{}".into(), runs: None });
    let (message, finished) = (Arc::clone(&outcome), Box::new(Outcome::new(CallStatus::Success)));
    let effects = [
        ChatEffect::StartTurn,
        ChatEffect::ShowText { text: "x".into() },
        ChatEffect::AddMessage { message: Arc::clone(&answer) },
        added,
        of_call(CallEffect::AskApproval { question, changes: Vec::new(), rest: 0 }),
        of_call(CallEffect::RunCmd { cmd: 0, runner: Runner::Lua, arguments: None }),
        of_call(CallEffect::RunCmd { cmd: 1, runner: Runner::Lua, arguments: None }),
        of_call(CallEffect::FinishCall { outcome: finished, changes: Vec::new(), duration_ms: 1, message }),
        ChatEffect::AddMessage { message: Arc::clone(&outcome) },
        ChatEffect::FinishTurn { end: TurnEnd::Done },
    ];
    let records: Vec<_> = effects.iter().filter_map(|effect| recorder.record(Note::of(effect)?)).collect();
    assert_eq!(
        records,
        vec![
            text("x"),
            Record::Message { message: Arc::clone(&answer) },
            Record::Asked { call: "c1".into() },
            Record::Started { call: "c1".into() },
            Record::Result { message: outcome },
            Record::TurnEnd,
        ]
    );
    let Record::Message { message } = &records[1] else { panic!("a message") };
    assert!(Arc::ptr_eq(message, &answer));
    let long = Look { body: Body::Text("é".repeat(MAX_BODY_BYTES)), ..Look::default() };
    let Some(Record::Look { call: id, look: Look { body: Body::Text(body), .. } }) = recorder.look(call, long) else {
        panic!("a look")
    };
    assert_eq!((id.as_str(), body.len()), ("c1", MAX_BODY_BYTES));
    assert_eq!(recorder.look(call, Look::default()), None, "it was the last that is heard of the call");
}

fn any_record() -> impl Strategy<Value = Record> {
    let id = || prop::sample::select(vec!["a", "b", "c", ""]);
    let odd = ("\\PC{0,5}", id(), prop::sample::select(vec!["{}", "{\"a\":1}", "[]", "{", ""]));
    prop_oneof![
        "\\PC{0,8}".prop_map(|content| message(user(&content))),
        prop::collection::vec(id(), 0..4).prop_map(|ids| message(llm("text", &ids))),
        odd.prop_map(|(content, id, arguments)| {
            let mut answer = llm(&content, &[id]);
            if let Message::Llm { calls, .. } = &mut answer {
                calls[0].arguments = arguments.into();
            }
            message(answer)
        }),
        (id(), "\\PC{0,8}", any::<bool>()).prop_map(|(id, content, is_error)| done(result(id, &content, is_error))),
        id().prop_map(|call| Record::Asked { call: call.into() }),
        id().prop_map(|call| Record::Started { call: call.into() }),
        id().prop_map(|call| Record::Look { call: call.into(), look: Look::default() }),
        "\\PC{0,8}".prop_map(|piece| text(&piece)),
        Just(Record::TakenBack),
        (0usize..12).prop_map(|kept| Record::Truncated { kept }),
        Just(Record::Cleared),
        Just(Record::TurnEnd),
    ]
}

proptest! {
    #[test]
    fn any_prefix_of_any_file_could_be_sent(records in prop::collection::vec(any_record(), 0..40), part in 0.0f64..1.0) {
        let bytes = file(&records);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let cut = (bytes.len() as f64 * part) as usize;
        for end in [cut, bytes.len()] {
            let saved = load(&bytes[..end]);
            let sent = messages(&saved);
            prop_assert!(could_be_sent(&sent), "{sent:?}");
            // Going on in the file says the same: nothing is told again, nothing has moved.
            let mut longer = bytes[..end].to_vec();
            longer.push(b'\n');
            longer.extend(file(&saved.made));
            let again = load(&longer);
            prop_assert_eq!(messages(&again), sent);
            prop_assert_eq!((again.made.len(), again.restored.interrupted), (0, false));
            prop_assert_eq!(again.restored.skipped, saved.restored.skipped);
        }
    }

    #[test]
    fn records_come_back_as_they_were_written(record in any_record()) {
        let bytes = file(std::slice::from_ref(&record));
        prop_assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
        prop_assert_eq!(serde_json::from_slice::<Record>(&bytes).unwrap(), record);
    }

    #[test]
    fn no_bytes_stop_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(could_be_sent(&messages(&load(&bytes))));
    }
}
