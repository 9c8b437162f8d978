//! What commands for keys give, say and must not see.

use std::sync::mpsc::{Receiver, channel};

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

fn command(text: &str) -> KeyCommand {
    KeyCommand { chat: ChatId(1), waiting: Waiting::User, text: text.to_owned(), without: vec![], kept: vec![] }
}

fn start(keys: &Keys, processes: &Processes, command: KeyCommand) -> Receiver<Result<String, String>> {
    let (done, ended) = channel();
    keys.run(processes, command, move |found| done.send(found).unwrap());
    ended
}

#[track_caller]
fn run(text: &str) -> Result<String, String> {
    start(&Keys::default(), &Processes::default(), command(text)).recv_timeout(PATIENCE).unwrap()
}

#[test]
fn the_key_is_what_is_printed_without_blanks_around() {
    assert_eq!(run("echo '  a key\t'; echo warning >&2"), Ok("a key".to_owned()));
    assert_eq!(run("sleep 60 & echo left-a-child"), Ok("left-a-child".to_owned()));
}

#[test]
fn a_failure_shows_the_end_of_stderr_and_nothing_of_stdout() {
    let t = |text: &str, message: &str| assert_eq!(run(text), Err(message.to_owned()), "{text}");
    t("exit 3", "the command gave no value (exit code 3)");
    t("true", "the command gave no value (exit code 0)");
    t("echo secret-half; echo a >&2; echo >&2; echo b >&2; exit 1", "the command gave no value (exit code 1): a\nb");
    t("seq 1 9 >&2; exit 1", "the command gave no value (exit code 1): 7\n8\n9");
    t("echo secret-half; echo is secret-half >&2; exit 1", "the command gave no value (exit code 1): is [hidden]");
    t("kill -KILL $$", "the command was ended by the signal SIGKILL");
    t("seq 1 100000", "the command printed more than a key");
    let long = run("head -c 1000 /dev/zero | tr '\\0' x >&2; exit 1").unwrap_err();
    assert_eq!(long.chars().filter(|letter| *letter == 'x').count(), SHOWN_CHARS + 1, "{long}");
    assert!(run("echo x\0").is_err());
}

#[test]
fn commands_end_with_who_waits_for_them() {
    let (keys, processes) = (Keys::default(), Processes::default());
    let of = |chat, waiting| KeyCommand { chat: ChatId(chat), waiting, ..command("sleep 60; echo never") };
    let request = start(&keys, &processes, of(1, Waiting::Request(RequestId(7))));
    let judge = start(&keys, &processes, of(1, Waiting::Judge(CallId(7))));
    let models = start(&keys, &processes, of(1, Waiting::User));
    let other = start(&keys, &processes, of(2, Waiting::Request(RequestId(8))));
    let stopped = Err("the command was stopped".to_owned());
    keys.stop(Waiting::Request(RequestId(7)));
    assert_eq!(request.recv_timeout(PATIENCE).unwrap(), stopped);
    keys.stop(Waiting::Judge(CallId(7)));
    assert_eq!(judge.recv_timeout(PATIENCE).unwrap(), stopped);
    keys.stop_chat(ChatId(1));
    assert_eq!(models.recv_timeout(PATIENCE).unwrap(), stopped);
    assert!(other.try_recv().is_err(), "the other chat waits on");
    assert!(processes.stop_all_and_wait(PATIENCE));
    assert_eq!(other.recv_timeout(PATIENCE).unwrap(), stopped);
    assert!(lock(&keys.0).running.is_empty());
}

#[test]
fn what_a_command_has_printed_is_hidden_from_all_but_the_same_command() {
    let (keys, processes) = (Keys::default(), Processes::default());
    keys.add(["plain-value".to_owned(), String::new()]);
    assert!(start(&keys, &processes, command("echo printed-value")).recv_timeout(PATIENCE).unwrap().is_ok());
    let sorted = |secrets: Arc<[Secret]>| {
        let mut values: Vec<_> = secrets.iter().map(|secret| secret.value.clone()).collect();
        values.sort();
        values
    };
    assert_eq!(sorted(keys.secrets()), ["plain-value", "printed-value"]);
    keys.add_sent(&Secrets::new(["printed-value", "sent-value"].map(str::to_owned).into_iter()));
    let state = lock(&keys.0);
    assert_eq!(sorted(state.secrets_for(&"echo printed-value".to_owned())), ["plain-value", "sent-value"]);
    assert_eq!(sorted(state.secrets_for(&"another".to_owned())), ["plain-value", "printed-value", "sent-value"]);
}
