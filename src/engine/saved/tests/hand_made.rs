//! Files that nobody of us has written: nonsense is passed over or refused, never believed.

use super::*;
use crate::engine::saved::{MAX_LINE_BYTES, shorten};

fn version_of(lines: &str) -> Option<String> {
    load(lines.as_bytes()).foreign_version
}

#[test]
fn a_version_that_is_not_the_known_number_is_found_however_it_is_written() {
    let said = file(&[message(user("hi"))]);
    let said = String::from_utf8(said).unwrap();
    for good in [
        r#"{"t":"chat","v":1,"created":0,"meta":{}}"#,
        r#"{"t":"chat","v":1,"created":"never","meta":7}"#,
        r#"{"t":"chat","v":1}"#,
        "no JSON at all",
        r#"{"t":"unknown","v":9}"#,
        "",
    ] {
        assert_eq!(version_of(&format!("{good}\n{said}")), None, "{good}");
    }
    for (bad, shown) in [
        (r#"{"t":"chat","v":2,"created":0,"meta":{}}"#, "2"),
        (r#"{"t":"chat","v":0,"created":0,"meta":{}}"#, "0"),
        (r#"{"t":"chat","v":-1,"created":0,"meta":{}}"#, "-1"),
        (r#"{"t":"chat","v":1.5,"created":0,"meta":{}}"#, "1.5"),
        (r#"{"t":"chat","v":"1","created":0,"meta":{}}"#, "\"1\""),
        (r#"{"t":"chat","v":null,"created":0,"meta":{}}"#, "null"),
        (r#"{"t":"chat","v":[1],"created":0,"meta":{}}"#, "[1]"),
        (r#"{"t":"chat","v":4294967297,"created":0,"meta":{}}"#, "4294967297"),
        (r#"{"t":"chat","v":1e400,"created":0,"meta":{}}"#, ""),
        (r#"{"t":"chat","created":0,"meta":{}}"#, "null"),
        (r#"{"t":"chat"}"#, "null"),
    ] {
        let found = version_of(&format!("{bad}\n{said}"));
        // What is no JSON is passed over, as any such line is.
        assert_eq!(found.as_deref(), Some(shown).filter(|shown| !shown.is_empty()), "{bad}");
        assert_eq!(version_of(&format!("{said}{bad}\n{{\"t\":\"cleared\"}}\n")), found, "{bad}, later");
    }
    let long = format!(r#"{{"t":"chat","v":"{}"}}"#, "x".repeat(1000));
    assert!(version_of(&long).is_some_and(|shown| shown.len() <= 40));
}

#[test]
fn looks_and_titles_of_any_size_and_signs_are_bearable() {
    let huge = "é".repeat(MAX_BODY_BYTES);
    let look = Look {
        state: huge.clone(),
        head: huge.clone(),
        fact: Some(huge.clone()),
        files: [vec![huge.clone()], vec!["/f".to_owned(); 200]].concat(),
        body: Body::Text(huge.clone()),
    };
    let records = [
        message(user(&format!("a\u{0}b\tc\u{1b}[31m{huge}"))),
        message(llm("", &["c"])),
        done(result("c", "r", false)),
        Record::Look { call: "c".into(), look },
    ];
    let saved = load(&file(&records));
    let look = &saved.restored.looks["c"];
    let Body::Text(body) = &look.body else { panic!("{:?}", look.body) };
    assert_eq!(look.files.len(), 100);
    for text in [&look.state, &look.head, look.fact.as_ref().unwrap(), body, &look.files[0]] {
        assert!(text.len() <= MAX_BODY_BYTES && text.len() > MAX_BODY_BYTES - 4);
    }
    let title = saved.title.unwrap();
    assert!(title.starts_with("a b c [31m") && title.chars().count() == MAX_TITLE_CHARS + 1, "{title}");
}

/// The limit of who writes is that of who reads: `store/writer.rs` takes what is one byte longer apart.
#[test]
fn a_line_as_long_as_one_may_be_is_read_and_a_longer_one_is_not() {
    let mut line = file(&[message(user("hi"))]);
    line.pop();
    line.resize(MAX_LINE_BYTES, b' ');
    let saved = load(&line);
    assert_eq!((saved.records, saved.restored.skipped), (1, 0));
    line.push(b' ');
    let saved = load(&line);
    assert_eq!((saved.records, saved.restored.skipped), (0, 1));
}

/// What a shortened message must still be.
fn assert_fits(record: &Record) -> Message {
    let shorter = shorten(record, Some("/a/file")).unwrap();
    let line = file(std::slice::from_ref(&shorter));
    assert!(line.len() < MAX_LINE_BYTES / 8, "{}", line.len());
    let saved = load(&line);
    assert_eq!(saved.restored.skipped, 0);
    match &shorter {
        Record::Message { message } | Record::Result { message } => message.as_ref().clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_of_any_size_is_shortened_to_one_that_is_read_back() {
    let huge = "\u{1}é".repeat(2 << 20);
    let attachment = crate::message::Attachment { mime: "image/png".into(), data: huge.clone() };
    let note = "[cut: this message was too long to be saved here; the whole of it is in /a/file]";
    let Message::User { content, typed, attachments, .. } = assert_fits(&message(Message::User {
        content: huge.clone(),
        visible: true,
        typed: Some(huge.clone()),
        attachments: vec![attachment],
    })) else {
        panic!()
    };
    assert!(content.ends_with(note) && content.starts_with('\u{1}') && typed.unwrap().len() < 70_000);
    assert!(attachments.is_empty());
    let call = |id: usize, arguments: &str, extra: Option<Value>| Call {
        wire_id: format!("c{id}"),
        name: "glob".into(),
        arguments: arguments.into(),
        extra,
    };
    let huge_arguments = json!({"text": huge}).to_string();
    let extra = Some(json!({"huge": huge}));
    let mut calls = vec![call(0, &huge_arguments, extra.clone()), call(1, r#"{"small":1}"#, extra)];
    calls.extend((2..50_000).map(|id| call(id, "{}", None)));
    let Message::Llm { content, reasoning, calls, opaque } = assert_fits(&message(Message::Llm {
        content: String::new(),
        reasoning: huge.clone(),
        calls,
        opaque: Some(crate::message::Opaque { adapter: "a".into(), model: String::new(), data: json!(huge) }),
    })) else {
        panic!()
    };
    assert_eq!((content.as_str(), reasoning.len() < 70_000, opaque), (note, true, None));
    assert_eq!((calls[0].arguments.as_str(), calls[1].arguments.as_str()), ("{}", r#"{"small":1}"#));
    let Message::System { content } = assert_fits(&message(Message::System { content: huge.clone() })) else {
        panic!()
    };
    assert!(content.ends_with(note));
    let shorter = shorten(&done(result("c", &huge, true)), None).unwrap();
    let Record::Result { message } = shorter else { panic!() };
    assert!(matches!(message.as_ref(), Message::Tool { wire_id, is_error: true, .. } if wire_id == "c"));
}

/// Replaces one value anywhere in a JSON document.
fn replaced(value: &Value, at: &mut usize, with: &Value) -> Value {
    if *at == 0 {
        *at = usize::MAX;
        return with.clone();
    }
    *at = at.saturating_sub(1);
    match value {
        Value::Array(items) => Value::Array(items.iter().map(|item| replaced(item, at, with)).collect()),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, item)| (name.clone(), replaced(item, at, with))).collect())
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any one value of a good file is something else.
    #[test]
    fn a_wrong_type_anywhere_costs_a_line_at_most(line in 0..7_usize, at in 0..40_usize, with in 0..14_usize) {
        let call = Call { wire_id: "c".into(), name: "glob".into(), arguments: "{}".into(), extra: Some(json!({"a": 1})) };
        let answer = Message::Llm { content: "x".into(), reasoning: "y".into(), calls: vec![call], opaque: None };
        let look = Look { state: "success".into(), head: "h".into(), fact: None, files: vec!["/f".into()], body: Body::Text("b".into()) };
        let records = [
            Record::Chat { v: VERSION, created: 1, meta: Meta { cwd: "/tmp".into(), tools: vec!["glob".into()], ..Meta::default() } },
            message(user("hi")),
            message(answer),
            Record::Started { call: "c".into() },
            done(result("c", "r", false)),
            Record::Look { call: "c".into(), look },
            Record::TurnEnd,
        ];
        let values = [
            json!(null), json!(true), json!(-1), json!(0), json!(1.5e300), json!(u64::MAX), json!(""), json!("\u{0}\n\u{1b}"),
            json!([]), json!({}), json!([[[1]]]), json!({"t": "chat", "v": "x"}), json!("x".repeat(100_000)), json!("../../etc"),
        ];
        let mut lines: Vec<Value> =
            records.iter().map(|record| serde_json::from_slice(&file(std::slice::from_ref(record))).unwrap()).collect();
        lines[line] = replaced(&lines[line], &mut { at }, &values[with]);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let saved = load(text.as_bytes());
        prop_assert!(could_be_sent(&messages(&saved)), "{text}");
        prop_assert!(saved.restored.skipped <= 4, "{text}");
    }
}
