//! `make demo` without a terminal: the transcript, and an exit code that tells whether all of it was there.

use std::fs;
use std::process::Output;

use crate::support::{Setup, plugin_without_library, repository, run_headless};

/// Runs the demo with another text of the calculator.
fn demo(change: impl Fn(&str) -> String) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let examples = folder.path().join("examples");
    fs::create_dir_all(examples.join("tools")).unwrap();
    fs::copy(repository().join("examples/demo.lua"), examples.join("demo.lua")).unwrap();
    // The configuration and the tool, as one text to change.
    const BORDER: &str = "\n-- border --\n";
    let files = ["calculator.lua", "tools/calculator.lua"];
    let texts = files.map(|file| fs::read_to_string(repository().join("examples").join(file)).unwrap());
    let changed = change(&texts.join(BORDER));
    for (file, text) in files.iter().zip(changed.split(BORDER)) {
        fs::write(examples.join(file), text).unwrap();
    }
    run_headless(Setup::default(), &["-u", examples.join("demo.lua").to_str().unwrap()])
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A demo that fails: its exit code and what it says at the end.
fn fault(from: &str, to: &str) -> String {
    let output = demo(|calculator| {
        assert!(calculator.contains(from));
        calculator.replace(from, to)
    });
    assert_ne!(output.status.code(), Some(0), "{from} -> {to}: {}", text(&output.stdout));
    assert!(output.status.code().is_some(), "{from} -> {to}: {:?}", output.status);
    text(&output.stderr)
}

#[test]
fn the_transcript_holds_the_message_the_call_its_result_and_the_answer() {
    let output = demo(str::to_owned);
    let (transcript, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{transcript}{errors}");
    let mut rest = transcript.as_str();
    for part in [
        "## Me",
        "Use the @{calculator} tool for 100*50",
        "## Lathe (Scripted)",
        "✓ calculator",
        "  5000",
        "100 × 50 is **5000**.",
    ] {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} does not follow in\n{transcript}"));
        rest = &rest[at + part.len()..];
    }
    assert!(!errors.contains("demo:"), "{errors}");
}

#[test]
fn a_calculator_that_is_wrong_throws_or_gives_nothing_fails_the_demo_and_is_named() {
    for (from, to, reason) in [
        ("result = num1 * num2", "result = num1 + num2", "\"150\", not 5000"),
        ("result = num1 * num2", "error('broken')", "not 5000"),
        ("return { status = \"success\", data = result }", "return { status = \"error\", data = 5000 }", "not 5000"),
        ("content = tostring(stdout[#stdout])", "content = tostring(#stdout)", "\"1\", not 5000"),
        ("text = (\"100 × 50 is **%s**.\"):format(last.content)", "text = \"\"", "no closing answer"),
        ("name = \"calculator\",\n      description", "name = \"other\",\n      description", "not 5000"),
    ] {
        let errors = fault(from, to);
        assert!(errors.contains("demo:") && errors.contains(reason), "{to}: {errors}");
    }
}

#[test]
fn a_config_that_does_not_even_load_fails_the_demo() {
    let errors = fault("require(\"lathe\").setup({", "require(\"lathe\").setup({ ]");
    assert!(errors.contains("calculator.lua"), "{errors}");
}

#[test]
fn a_demo_without_a_library_fails_and_says_what_to_run() {
    let folder = tempfile::tempdir().unwrap();
    plugin_without_library(folder.path());
    let demo = folder.path().join("examples/demo.lua");
    let output = run_headless(Setup::default().without_plugin(), &["-u", demo.to_str().unwrap()]);
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("demo:") && errors.contains("make build"), "{errors}");
}
