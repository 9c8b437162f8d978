//! What is too large to be read back is not written without a word: its beginning is in the chat's file, the whole beside.

use super::*;
use crate::engine::event::Saving;
use crate::engine::saved::MAX_LINE_BYTES;

/// What the user was told.
fn told(inbox: &Inbox) -> Vec<Saving> {
    std::iter::from_fn(|| inbox.pop())
        .filter_map(|event| match event {
            Event::Addressed { event: ChatEvent::SavingChanged(saving), .. } => Some(saving),
            _ => None,
        })
        .collect()
}

fn beside(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    files.sort();
    files
}

#[test]
fn a_message_over_the_limit_is_told_and_kept_whole_beside() {
    let folder = tempfile::tempdir().unwrap();
    let (store, inbox) = store(folder.path());
    let id = store.save(CHAT, meta()).unwrap();
    let too_long = format!("begin {}", "y".repeat(MAX_LINE_BYTES));
    for message in [user("hello"), user(&too_long), llm("fine")] {
        store.record(&said(message));
    }
    store.finish();
    // The writer may still be at it: `finish` waits for half a second.
    let deadline = Instant::now() + PATIENCE;
    while beside(folder.path()).is_empty() || !text_ends(folder.path(), &id) {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
    let [whole] = &beside(folder.path())[..] else { panic!("{:?}", beside(folder.path())) };
    assert!(text(whole).contains(&too_long));
    assert_eq!(fs::metadata(whole).unwrap().permissions().mode() & 0o777, 0o600);
    let told = told(&inbox);
    let bytes = fs::read(whole).unwrap().len();
    assert_eq!(told, [Saving::TooLong { bytes, whole: Ok(whole.display().to_string()) }]);

    let (again, _) = super::store(folder.path());
    let loaded = load(&again, &id);
    assert_eq!(loaded.saved.restored.skipped, 0);
    let contents = contents(&loaded);
    assert_eq!(contents.len(), 3);
    assert!(contents[1].starts_with("begin yyy") && contents[1].len() < 100_000);
    assert!(contents[1].ends_with(&format!("the whole of it is in {}]", whole.display())));
    assert_eq!(list(&again).len(), 1, "what lies beside is no chat");
}

/// Whether the last message is in the file.
fn text_ends(folder: &Path, id: &str) -> bool {
    let bytes = fs::read(folder.join(format!("{id}.jsonl"))).unwrap_or_default();
    memchr::memmem::rfind(&bytes, b"\"fine\"").is_some() && bytes.ends_with(b"\n")
}

#[test]
fn every_record_within_a_small_limit_is_read_back_and_nothing_is_lost_in_silence() {
    for limit in [2048, 8192, 100_000] {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::new(folder.path(), "1-2-3");
        let mut writing = Writing::new(place, 0, meta()).with_max_line_bytes(limit);
        let long = "\u{1}é\"\\".repeat(limit);
        let now = Instant::now();
        let mut cuts = Vec::new();
        let records = [
            Record::Message { message: user("hello") },
            Record::Text { text: long.clone() },
            Record::TurnEnd,
            Record::Message { message: user(&long) },
            Record::Reasoning { text: long.clone() },
            Record::Text { text: long.clone() },
        ];
        for record in records {
            writing.take(record, now);
            assert_eq!(writing.flush(&mut super::files::create, now, true), None);
            cuts.extend(writing.take_cuts());
        }
        let path = folder.path().join("1-2-3.jsonl");
        // The shortened form has some length of its own.
        let most = limit.max(500_000);
        assert!(text(&path).lines().all(|line| line.len() <= most), "{limit}");
        assert!(matches!(&cuts[..], [Saving::TooLong { whole: Ok(_), .. }]), "{cuts:?}");
        let saved = crate::engine::saved::load(&fs::read(&path).unwrap());
        assert_eq!(saved.restored.skipped, 0);
        let last = saved.restored.history.messages().last().cloned().unwrap();
        assert!(
            matches!(last.as_ref(), Message::Llm { content, reasoning, .. } if *content == long && *reasoning == long)
        );
    }
}

#[test]
fn where_nothing_can_be_put_beside_the_user_is_told_that_the_rest_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new(&folder.path().join("a"), "1-2-3");
    fs::write(folder.path().join("a"), "in the way").unwrap();
    let mut writing = Writing::new(place, 0, meta()).with_max_line_bytes(2048);
    let now = Instant::now();
    writing.take(Record::Message { message: user(&"x".repeat(5000)) }, now);
    assert!(matches!(writing.flush(&mut super::files::create, now, true), Some(Saving::Failed { .. })));
    assert!(matches!(&writing.take_cuts()[..], [Saving::TooLong { whole: Err(_), .. }]));
}

#[test]
fn a_file_that_would_be_too_large_to_be_read_back_does_not_grow_and_the_user_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1-2-3.jsonl");
    let mut bytes = Vec::new();
    Record::Message { message: user("hello") }.write(&mut bytes);
    fs::write(&path, &bytes).unwrap();
    // A hole takes no room; what is after it is no line.
    File::options().write(true).open(&path).unwrap().set_len(512 << 20).unwrap();
    let mut sink = super::files::at(&path).unwrap();
    let error = sink.append(b"{}\n").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(fs::metadata(&path).unwrap().len(), 512 << 20);
}

#[test]
fn a_list_of_chats_reads_no_line_that_is_too_long_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1-2-3.jsonl");
    let mut bytes = b"{\"t\":\"chat\",\"v\":1,\"created\":0,\"meta\":{\"cwd\":\"/tmp\"}}\n".to_vec();
    let start = bytes.len() as u64;
    fs::write(&path, &bytes).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(start + (100 << 20)).unwrap();
    drop(file);
    bytes.clear();
    bytes.push(b'\n');
    Record::Message { message: user("after it") }.write(&mut bytes);
    io::Write::write_all(&mut File::options().append(true).open(&path).unwrap(), &bytes).unwrap();
    let (store, _) = store(folder.path());
    let listed = list(&store);
    assert_eq!((listed.len(), listed[0].title.as_str()), (1, "after it"));
}

#[test]
fn a_version_that_is_none_of_ours_is_refused_with_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = store(folder.path());
    for (version, message) in [
        ("2", "was saved by a newer version of lathe: update the plugin"),
        ("4000000000", "was saved by a newer version of lathe: update the plugin"),
        ("\"one\"", "says that its version is \"one\", which is none that lathe writes"),
        ("0", "says that its version is 0, which is none that lathe writes"),
        ("null", "says that its version is null"),
        ("99999999999", "says that its version is 99999999999"),
    ] {
        let mut bytes = format!("{{\"t\":\"chat\",\"v\":{version},\"created\":0,\"meta\":{{}}}}\n").into_bytes();
        Record::Message { message: user("hello") }.write(&mut bytes);
        let path = folder.path().join("1-2-3.jsonl");
        fs::write(&path, bytes).unwrap();
        let refused: Result<Loaded, StoreError> = wait(|done| store.load("1-2-3".to_owned(), done));
        let error = refused.map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with(&path.display().to_string()), "{error}");
        assert!(error.contains(message), "{version}: {error}");
    }
}
