//! The text that the model gets for the outcome of a command.

use rustix::process::Signal;

use super::{Exit, Leftover, Outcome, Stop};
use crate::output::{Output, end_line};

/// Writes an outcome for the model. Success: stdout, then stderr if any. Else what happened, stderr, stdout.
pub fn render(outcome: &Outcome) -> String {
    let Outcome { exit, stdout, stderr, ended, left, .. } = outcome;
    let mut text = match exit {
        Exit::Code(0) => success(stdout, stderr),
        Exit::Code(code) => {
            failure(&format!("The command failed with exit code {code}{}", meaning(*code)), stdout, stderr)
        }
        Exit::Signal(name) => failure(&format!("The command was ended by the signal {name}"), stdout, stderr),
        Exit::Stopped(why) => stopped(*why, outcome),
        Exit::NotStarted(error) => error.to_string(),
    };
    let code = if let Exit::Code(0) = exit { "exit code 0; " } else { "" };
    let mut note = |note: &str, processes: &[Leftover]| {
        if !processes.is_empty() {
            end_line(&mut text);
            text.push_str(&format!("[{code}{note}: {}]", list(processes)));
        }
    };
    note("still running in the background after the end of the command, so it was ended", ended);
    let left_note = match exit {
        Exit::Stopped(_) => "could not be ended",
        Exit::Code(_) | Exit::Signal(_) | Exit::NotStarted(_) => "still running in the background",
    };
    note(left_note, left);
    text
}

/// What a command printed, and nothing else; the stream is named only where both printed.
pub fn printed(outcome: &Outcome) -> String {
    let (stdout, stderr) = (&outcome.stdout, &outcome.stderr);
    if stderr.text.is_empty() {
        return stdout.text.clone();
    }
    let mut text = String::new();
    sections(&mut text, stdout, stderr);
    text
}

fn success(stdout: &Output, stderr: &Output) -> String {
    if stdout.text.is_empty() && stderr.text.is_empty() {
        return "The command succeeded (exit code 0) and printed nothing.".into();
    }
    let mut text = stdout.text.clone();
    if !stderr.text.is_empty() {
        end_line(&mut text);
        text.push_str("stderr (exit code 0):\n");
        text.push_str(&stderr.text);
    }
    text
}

fn failure(what: &str, stdout: &Output, stderr: &Output) -> String {
    if stdout.text.is_empty() && stderr.text.is_empty() {
        return format!("{what} and printed nothing.");
    }
    let mut text = format!("{what}.\n");
    sections(&mut text, stdout, stderr);
    text
}

fn stopped(why: Stop, outcome: &Outcome) -> String {
    let seconds = outcome.duration.as_secs_f64();
    let mut text = match why {
        Stop::User => format!("The command was stopped by the user after {seconds:.1} s."),
        Stop::TimedOut { limit_ms } => format!("The command timed out after {limit_ms} ms and was ended."),
        Stop::EditorExit => format!("The command was stopped after {seconds:.1} s, since the editor exits."),
    };
    if outcome.stdout.text.is_empty() && outcome.stderr.text.is_empty() {
        text.push_str(" It had printed nothing.");
    } else {
        text.push_str(" What it had printed:\n");
        sections(&mut text, &outcome.stdout, &outcome.stderr);
    }
    text
}

/// stderr first: it tells what went wrong.
fn sections(text: &mut String, stdout: &Output, stderr: &Output) {
    for (name, output) in [("stderr", stderr), ("stdout", stdout)] {
        if !output.text.is_empty() {
            end_line(text);
            text.push_str(&format!("{name}:\n{}", output.text));
        }
    }
}

/// What a shell means by some exit codes.
fn meaning(code: i32) -> String {
    match code {
        126 => " (not executable)".into(),
        127 => " (command not found)".into(),
        129..=159 => format!(" (128 + {}: a program was ended by {})", code - 128, signal_name(code - 128)),
        _ => String::new(),
    }
}

fn list(processes: &[Leftover]) -> String {
    const MAX_NAMES: usize = 10;
    let names: Vec<String> =
        processes.iter().take(MAX_NAMES).map(|process| format!("{} (pid {})", process.name, process.pid)).collect();
    let more = processes.len().saturating_sub(MAX_NAMES);
    let and_more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &and_more
}

/// The name of a signal.
pub(super) fn signal_name(number: i32) -> String {
    const NAMES: [(Signal, &str); 18] = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    let name = NAMES.iter().find(|(signal, _)| signal.as_raw() == number);
    name.map_or_else(|| format!("signal {number}"), |(_, name)| (*name).into())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::StartError;
    use super::*;

    fn outcome(exit: Exit, stdout: &str, stderr: &str) -> Outcome {
        let output = |text: &str| Output { text: text.into(), ..Output::default() };
        let duration = Duration::from_millis(2040);
        Outcome { exit, stdout: output(stdout), stderr: output(stderr), ended: Vec::new(), left: Vec::new(), duration }
    }

    #[test]
    fn success_is_stdout_then_stderr() {
        assert_eq!(render(&outcome(Exit::Code(0), "out\n", "")), "out\n");
        assert_eq!(render(&outcome(Exit::Code(0), "out", "warn")), "out\nstderr (exit code 0):\nwarn");
        assert_eq!(render(&outcome(Exit::Code(0), "", "warn\n")), "stderr (exit code 0):\nwarn\n");
        assert_eq!(render(&outcome(Exit::Code(0), "", "")), "The command succeeded (exit code 0) and printed nothing.");
    }

    #[test]
    fn failure_is_exit_code_stderr_stdout() {
        let text = render(&outcome(Exit::Code(3), "out\n", "bad"));
        assert_eq!(text, "The command failed with exit code 3.\nstderr:\nbad\nstdout:\nout\n");
        assert_eq!(render(&outcome(Exit::Code(1), "", "")), "The command failed with exit code 1 and printed nothing.");
        let text = render(&outcome(Exit::Code(127), "", "sh: 1: x: not found\n"));
        assert_eq!(text, "The command failed with exit code 127 (command not found).\nstderr:\nsh: 1: x: not found\n");
        let text = render(&outcome(Exit::Code(139), "", ""));
        assert!(text.contains("(128 + 11: a program was ended by SIGSEGV)"), "{text}");
        let text = render(&outcome(Exit::Signal(signal_name(9)), "", ""));
        assert_eq!(text, "The command was ended by the signal SIGKILL and printed nothing.");
    }

    #[test]
    fn stop_and_time_limit_keep_what_was_printed() {
        let text = render(&outcome(Exit::Stopped(Stop::User), "half\n", ""));
        assert_eq!(text, "The command was stopped by the user after 2.0 s. What it had printed:\nstdout:\nhalf\n");
        let text = render(&outcome(Exit::Stopped(Stop::TimedOut { limit_ms: 2000 }), "", ""));
        assert_eq!(text, "The command timed out after 2000 ms and was ended. It had printed nothing.");
    }

    #[test]
    fn what_was_printed_can_be_had_alone() {
        let t = |stdout, stderr| printed(&outcome(Exit::Stopped(Stop::User), stdout, stderr));
        assert_eq!(t("half\n", ""), "half\n");
        assert_eq!(t("", "bad"), "stderr:\nbad");
        assert_eq!(t("half", "bad"), "stderr:\nbad\nstdout:\nhalf");
        assert_eq!(t("", ""), "");
    }

    #[test]
    fn background_processes_are_named() {
        let process = |pid| Leftover { pid, name: "sleep".into() };
        let mut outcome = outcome(Exit::Code(0), "ready", "");
        outcome.ended = vec![process(7), process(8)];
        assert_eq!(
            render(&outcome),
            "ready\n[exit code 0; still running in the background after the end of the command, so it was ended: sleep (pid 7), sleep (pid 8)]"
        );
        outcome.left = (1..=12).map(process).collect();
        outcome.ended.clear();
        let text = render(&outcome);
        assert!(text.starts_with("ready\n[exit code 0; still running in the background: sleep (pid 1), "), "{text}");
        assert!(text.ends_with("sleep (pid 10) and 2 more]"), "{text}");
    }

    #[test]
    fn what_never_ran_names_the_next_step() {
        let error = StartError::FolderMissing { path: "/gone".into() };
        let text = render(&outcome(Exit::NotStarted(error), "", ""));
        assert_eq!(
            text,
            "The working directory \"/gone\" does not exist (any more), so nothing was run. Use a folder that exists."
        );
    }
}
