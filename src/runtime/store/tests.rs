//! Saved chats as the runtime writes and reads them: with a disk that takes everything, nothing, or half of it.

mod large;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::mpsc;

use super::files::Sink;
use super::*;
use crate::engine::effect::{ChatEffect, Effect, TurnEnd};
use crate::engine::event::Remedy;
use crate::message::Message;

const CHAT: ChatId = ChatId(1);

/// Longer than anything here takes on a busy machine; only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(20);

fn user(content: &str) -> Arc<Message> {
    Arc::new(Message::User { content: content.into(), visible: true, typed: None, attachments: vec![] })
}

fn llm(content: &str) -> Arc<Message> {
    Arc::new(Message::Llm { content: content.into(), reasoning: String::new(), calls: Vec::new(), opaque: None })
}

fn said(message: Arc<Message>) -> Effect {
    Effect::chat(CHAT, ChatEffect::AddMessage { message })
}

fn store(folder: &Path) -> (Store, Arc<Inbox>) {
    let inbox = Arc::new(Inbox::new(|| {}));
    let store = Store::new(Arc::clone(&inbox));
    store.keep_in(folder.to_owned());
    (store, inbox)
}

fn meta() -> Meta {
    Meta { cwd: "/tmp".into(), ..Meta::default() }
}

/// Waits for what a store does elsewhere.
fn wait<T: Send + 'static>(start: impl FnOnce(Box<dyn FnOnce(T) + Send>)) -> T {
    let (done, waited) = mpsc::channel();
    start(Box::new(move |value| done.send(value).unwrap()));
    waited.recv_timeout(PATIENCE).expect("an answer in time")
}

fn list(store: &Store) -> Vec<Entry> {
    wait(|done| store.list(done)).unwrap()
}

fn load(store: &Store, id: &str) -> Loaded {
    wait(|done| store.load(id.to_owned(), done)).unwrap()
}

fn contents(loaded: &Loaded) -> Vec<String> {
    let messages = loaded.saved.restored.history.messages().iter();
    let text = |message: &Arc<Message>| match message.as_ref() {
        Message::User { content, .. } | Message::Llm { content, .. } => content.clone(),
        other => panic!("{other:?}"),
    };
    messages.map(text).collect()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// The only file of a folder.
fn only_file(folder: &Path) -> PathBuf {
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[test]
fn a_chat_is_written_from_its_first_message_on_private_and_listed() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("lathe/chats");
    let (store, _) = store(&folder);
    let id = store.save(CHAT, meta()).expect("a new chat");
    assert_eq!(store.save(CHAT, Meta { model: Some("m".into()), ..meta() }), None);
    store.record(&said(Arc::new(Message::System { content: "Be brief".into() })));
    assert_eq!(list(&store), vec![]);
    assert!(!folder.exists());
    store.record(&said(user("hello\nthere")));
    let listed = list(&store);
    assert_eq!(listed.len(), 1);
    let Entry { id: listed, title, cwd, .. } = &listed[0];
    assert_eq!((listed, title.as_str(), cwd.as_str()), (&id, "hello", "/tmp"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&only_file(&folder))), (0o700, 0o600));
    // What changed before the first line was written is in it.
    assert!(text(&only_file(&folder)).lines().next().unwrap().contains("\"model\":\"m\""));
    store.record(&Effect::chat(ChatId(2), ChatEffect::ShowText { text: "of a chat that is not saved".into() }));
    store.finish();
    assert!(!text(&only_file(&folder)).contains("not saved"));
}

#[test]
fn what_is_not_written_when_the_editor_ends_is_written_then() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = store(folder.path());
    store.save(CHAT, meta());
    store.record(&said(user("hello")));
    store.record(&Effect::chat(CHAT, ChatEffect::ShowText { text: "half an ans".into() }));
    store.finish();
    assert!(text(&only_file(folder.path())).contains("half an ans"));
    store.record(&said(user("too late")));
    store.finish();
}

#[test]
fn a_file_goes_on_in_its_place_after_a_line_that_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1-2-3.jsonl");
    let mut bytes = Vec::new();
    Record::Message { message: user("hello") }.write(&mut bytes);
    Record::Text { text: "half".into() }.write(&mut bytes);
    bytes.extend_from_slice(b"{\"t\":\"text\",\"te");
    fs::write(&path, &bytes).unwrap();
    let (store, _) = store(folder.path());
    let loaded = load(&store, "1-2-3");
    assert_eq!((contents(&loaded), loaded.copied), (vec!["hello".to_owned(), "half".to_owned()], None));
    let (id, restored) = store.go_on(CHAT, loaded, true);
    assert_eq!((id.as_deref(), restored.skipped, restored.interrupted), (Some("1-2-3"), 1, true));
    store.record(&said(user("more")));
    store.record(&Effect::chat(CHAT, ChatEffect::CloseChat));
    let again = load(&store, "1-2-3");
    assert_eq!((contents(&again), again.copied), (["hello", "half", "more"].map(String::from).to_vec(), None));
    assert_eq!((again.saved.restored.skipped, again.saved.restored.interrupted), (1, false));
    assert!(fs::read(&path).unwrap().starts_with(&bytes), "it is appended to");
}

#[test]
fn a_chat_that_is_open_a_closed_file_and_one_elsewhere_go_on_in_copies() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("chats");
    let (store, _) = store(&folder);
    let id = store.save(CHAT, meta()).unwrap();
    store.record(&said(user("hello")));
    let busy = load(&store, &id);
    assert_eq!((contents(&busy), busy.copied), (vec!["hello".to_owned()], Some(CopyReason::Busy)));
    let (copy, _) = store.go_on(ChatId(2), busy, true);
    assert_ne!(copy.as_ref(), Some(&id));
    assert_eq!(list(&store).len(), 1, "a copy of which nothing is new is none");
    store.record(&Effect::chat(ChatId(2), ChatEffect::AddMessage { message: user("more") }));
    assert_eq!(list(&store).len(), 2);
    store.record(&Effect::chat(ChatId(2), ChatEffect::CloseChat));
    assert_eq!(contents(&load(&store, &copy.unwrap())), ["hello", "more"]);

    let elsewhere = home.path().join("mine.jsonl");
    fs::copy(folder.join(format!("{id}.jsonl")), &elsewhere).unwrap();
    let loaded = load(&store, elsewhere.to_str().unwrap());
    assert_eq!(loaded.copied, Some(CopyReason::Elsewhere));
    let (none, restored) = store.go_on(ChatId(3), loaded, false);
    assert_eq!((none, restored.history.messages().len()), (None, 1));
    store.record(&Effect::chat(ChatId(3), ChatEffect::AddMessage { message: user("more") }));
    assert_eq!(list(&store).len(), 2, "it is not saved");
}

#[test]
fn what_is_no_chat_is_refused_by_name() {
    let home = tempfile::tempdir().unwrap();
    let (store, _) = store(home.path());
    let refused = |name: &str| {
        let path = home.path().join(name).to_str().unwrap().to_owned();
        wait(|done| store.load(path, done)).err().expect("an error").to_string()
    };
    fs::write(home.path().join("empty.jsonl"), "").unwrap();
    fs::write(home.path().join("newer.jsonl"), "{\"t\":\"chat\",\"v\":2,\"created\":0,\"meta\":{}}\n").unwrap();
    File::create(home.path().join("large.jsonl")).unwrap().set_len(1 << 40).unwrap();
    assert!(refused("empty.jsonl").ends_with("empty.jsonl holds no chat"));
    assert!(refused("newer.jsonl").contains("newer version"));
    assert!(refused("large.jsonl").contains("too large"));
    assert!(refused("none.jsonl").contains("none.jsonl cannot be read: No such file"));
    assert!(refused("").ends_with("is not a file"));
    let nowhere = Store::new(Arc::new(Inbox::new(|| {})));
    assert!(matches!(wait(|done| nowhere.list(done)), Err(StoreError::NoFolder)));
    assert_eq!(nowhere.save(CHAT, meta()), None, "nothing is saved");
}

#[test]
fn a_file_in_place_of_the_folder_is_told_and_what_was_said_is_saved_when_it_is_gone() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("chats");
    fs::write(&folder, "").unwrap();
    let (store, inbox) = store(&folder);
    store.save(CHAT, meta());
    let told = || match inbox.pop() {
        Some(Event::Addressed { chat: CHAT, event: ChatEvent::SavingChanged(saving) }) => Some(saving),
        None => None,
        other => panic!("{other:?}"),
    };
    // A listing says when all before is done.
    for content in ["one", "two"] {
        store.record(&said(user(content)));
        let _ = wait(|done| store.list(done));
    }
    let Some(Saving::Failed { path, .. }) = told() else { panic!("it is told") };
    assert!(Path::new(&path).starts_with(&folder), "{path}");
    assert_eq!(told(), None, "it is told once");
    fs::remove_file(&folder).unwrap();
    store.record(&said(user("three")));
    assert_eq!(list(&store).len(), 1);
    assert!(matches!(told(), Some(Saving::Works { lost: 0, .. })));
    store.record(&Effect::chat(CHAT, ChatEffect::CloseChat));
    let id = only_file(&folder).file_stem().unwrap().to_str().unwrap().to_owned();
    assert_eq!(contents(&load(&store, &id)), ["one", "two", "three"]);
}

// One chat on its way ----------------------------------------------------------------------------------------------------

/// A disk in memory that takes only so many bytes.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Disk>>);

#[derive(Default)]
struct Disk {
    bytes: Vec<u8>,
    room: usize,
    syncs: usize,
}

impl Sink for Memory {
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut disk = lock(&self.0);
        if lines.len() > disk.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        disk.room -= lines.len();
        disk.bytes.extend_from_slice(lines);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        lock(&self.0).syncs += 1;
        Ok(())
    }
}

impl Memory {
    fn records(&self) -> Vec<Record> {
        let disk = lock(&self.0);
        let lines = disk.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }

    fn flush(&self, writing: &mut Writing, now: Instant) -> Option<Saving> {
        writing.flush(&mut |_| Ok(Box::new(self.clone())), now, false)
    }
}

fn writing() -> (Writing, Memory) {
    let disk = Memory::default();
    lock(&disk.0).room = usize::MAX;
    (Writing::new(Place::new(Path::new("/chats"), "1"), 7, meta()), disk)
}

#[test]
fn pieces_of_an_answer_are_gathered_and_dropped_when_the_whole_is_there() {
    let (mut writing, disk) = writing();
    let start = Instant::now();
    let after = |ms| start + Duration::from_millis(ms);
    let piece = |text: &str| Record::Text { text: text.into() };
    writing.take(Record::Message { message: user("hi") }, start);
    for ms in 0..250 {
        writing.take(piece("x"), after(ms));
        assert_eq!(disk.flush(&mut writing, after(ms)), None);
    }
    assert_eq!(writing.due(), Some(after(250)));
    assert_eq!(disk.records().len(), 2, "the first line and the message");
    disk.flush(&mut writing, after(250));
    assert_eq!(disk.records()[2..], [piece(&"x".repeat(250))]);
    writing.take(Record::Reasoning { text: "hm".into() }, after(251));
    writing.take(piece("y"), after(252));
    writing.take(Record::Message { message: llm("whole") }, after(253));
    writing.take(Record::TurnEnd, after(253));
    disk.flush(&mut writing, after(254));
    let rest = [Record::Reasoning { text: "hm".into() }, Record::Message { message: llm("whole") }, Record::TurnEnd];
    assert_eq!(disk.records()[3..], rest, "of what came before it nothing is left to write");
    assert_eq!((writing.due(), lock(&disk.0).syncs), (None, 1), "a turn's end reaches the disk");
}

#[test]
fn a_full_disk_is_told_once_and_nothing_is_lost_when_there_is_room_again() {
    let (mut writing, disk) = writing();
    lock(&disk.0).room = 200;
    let now = Instant::now();
    let mut say = |content: &str| {
        writing.take(Record::Message { message: user(content) }, now);
        disk.flush(&mut writing, now)
    };
    assert_eq!(say("one"), None);
    let told = say(&"x".repeat(200));
    assert!(
        matches!(&told, Some(Saving::Failed { path, remedy: Remedy::MakeRoom, .. }) if path == "/chats/1.jsonl"),
        "{told:?}"
    );
    assert_eq!(say("three"), None);
    lock(&disk.0).room = usize::MAX;
    assert_eq!(say("four"), Some(Saving::Works { path: "/chats/1.jsonl".into(), lost: 0 }));
    assert_eq!(disk.records().len(), 5);
    let mut forbidden = Writing::new(Place::new(Path::new("/chats"), "1"), 7, meta());
    let mut closed = |_: &mut Place| Err(io::ErrorKind::PermissionDenied.into());
    forbidden.take(Record::Message { message: user("one") }, now);
    let told = forbidden.flush(&mut closed, now, false);
    assert!(matches!(told, Some(Saving::Failed { remedy: Remedy::MakeWritable, .. })), "{told:?}");
    // A disk at its limit does not fill the chat with the same two sentences.
    let mut told = 0;
    for _ in 0..20 {
        lock(&disk.0).room = 0;
        told += usize::from(say("x").is_some());
        lock(&disk.0).room = usize::MAX;
        told += usize::from(say("x").is_some());
    }
    assert!(told <= 6, "{told}");
    assert_eq!(disk.records().len(), 45);
}

#[test]
fn what_waits_for_a_full_disk_is_bounded_and_what_is_lost_is_told() {
    let (mut writing, disk) = writing();
    lock(&disk.0).room = 0;
    let now = Instant::now();
    let large = user(&"x".repeat(8 << 20));
    for _ in 0..12 {
        writing.take(Record::Message { message: Arc::clone(&large) }, now);
        disk.flush(&mut writing, now);
    }
    lock(&disk.0).room = usize::MAX;
    writing.take(Record::TurnEnd, now);
    assert!(matches!(disk.flush(&mut writing, now), Some(Saving::Works { lost: 5, .. })));
    assert!(lock(&disk.0).bytes.len() < 80 << 20);
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_without_room_is_the_same_as_any_full_disk() {
    let (mut writing, _) = writing();
    writing.take(Record::Message { message: user("hi") }, Instant::now());
    let told = writing.flush(&mut |_| files::at(Path::new("/dev/full")), Instant::now(), false);
    let Some(Saving::Failed { reason, remedy: Remedy::MakeRoom, .. }) = told else { panic!("{told:?}") };
    assert!(reason.contains("No space left on device"), "{reason}");
}

#[test]
fn a_file_that_is_there_is_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("1.jsonl"), "another's").unwrap();
    let mut place = Place::new(folder.path(), "1");
    files::create(&mut place).unwrap().append(b"{}\n").unwrap();
    assert_eq!(text(place.path()), "{}\n");
    assert_eq!(text(&folder.path().join("1.jsonl")), "another's");
}

#[test]
fn half_a_line_that_was_written_is_no_line_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1.jsonl");
    fs::write(&path, "{\"t\":\"turn_end\"}\n{\"t\":").unwrap();
    let mut sink = files::at(&path).unwrap();
    sink.append(b"{\"t\":\"cleared\"}\n").unwrap();
    assert_eq!(text(&path), "{\"t\":\"turn_end\"}\n{\"t\":\n{\"t\":\"cleared\"}\n");
}

#[test]
fn ends_of_turns_are_written_in_order_with_what_came_before() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = store(folder.path());
    store.save(CHAT, meta());
    for turn in 0..200 {
        store.record(&said(user(&turn.to_string())));
        store.record(&Effect::chat(CHAT, ChatEffect::FinishTurn { end: TurnEnd::Done }));
    }
    store.finish();
    let text = text(&only_file(folder.path()));
    let kinds: Vec<_> = text.lines().skip(1).map(|line| line.contains("turn_end")).collect();
    assert_eq!(kinds, [false, true].repeat(200));
}
