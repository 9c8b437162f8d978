//! A stream on which nothing was printed is not cut, whatever the other has and whatever the limits are.

use super::*;

#[test]
fn a_silent_stream_is_never_cut() {
    let bench = Bench::new();
    for (max_lines, max_bytes) in [(1, 1), (1, 100), (2, 2), (3, 50), (4, 1000), (10, 10), (50, 200), (2000, 51_200)] {
        for size in [0, 1, 2, 60, 3000] {
            for (script, silent) in [
                (format!("seq 1 {size} >&2"), "stdout"),
                (format!("seq 1 {size} >&2; exit 3"), "stdout"),
                (format!("printf '\\033[31m\\033[0m'; seq 1 {size} >&2; exit 3"), "stdout"),
                (format!("seq 1 {size}; exit 3"), "stderr"),
                (format!("seq 1 {size}"), "stderr"),
            ] {
                let mut command = bench.command(script.as_str());
                (command.limits.max_lines, command.limits.max_bytes) = (max_lines, max_bytes);
                let outcome = bench.run_command(command, 20 * SECOND);
                let stream = if silent == "stdout" { &outcome.stdout } else { &outcome.stderr };
                let expected = Output::default();
                assert_eq!(*stream, expected, "{silent} of {script:?} within {max_lines} lines, {max_bytes} bytes");
                let text = render(&outcome);
                assert!(!text.contains(&format!("{silent}:")), "{text}");
            }
        }
    }
}
