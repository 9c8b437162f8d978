//! What a command costs as a tool, and what 100 MB of its output do to the editor.

use std::fs::File;
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use rmpv::Value;

use crate::measure::{Report, medians, time};
use crate::support::{Editor, Gaps};

const CALLS: u32 = 200;
const OUTPUT: &str = "yes 0123456789abcdef | head -c 104857600";
const GIGABYTE: &str = "yes 0123456789abcdef | head -c 1073741824";
const MAX_MORE_KB: i64 = 32 * 1024;

fn editor() -> Editor {
    let editor = Editor::start();
    editor.run("commands");
    editor
}

fn took(editor: &Editor) -> Duration {
    editor.wait_lua("took");
    Duration::from_nanos(editor.lua_int("return took").unsigned_abs())
}

fn run(editor: &Editor, command: &str, calls: u32) -> Duration {
    editor.lua_with("run(...)", vec![Value::from(command), Value::from(calls)]);
    took(editor)
}

/// `sh -c true`, started by `posix_spawn` and awaited.
fn spawn() -> Duration {
    time(|| {
        for _ in 0..CALLS {
            let status = Command::new("sh").args(["-c", "true"]).stdin(Stdio::null()).status();
            assert!(status.is_ok_and(|status| status.success()));
        }
    })
}

/// `true` as a command tool.
pub fn start(report: &mut Report) {
    let small = editor();
    let large = editor();
    large.lua("hold()");
    run(&small, "true", 10);
    run(&large, "true", 10);
    small.watch_loop();
    let [bare, ours, ours_large, system, system_large] = medians(
        5,
        [
            &mut || spawn(),
            &mut || run(&small, "true", CALLS),
            &mut || run(&large, "true", CALLS),
            &mut || {
                small.lua_with("system(...)", vec![Value::from(CALLS)]);
                took(&small)
            },
            &mut || {
                large.lua_with("system(...)", vec![Value::from(CALLS / 10)]);
                took(&large) * 10
            },
        ],
    );
    report.ratio("`true` as a tool / posix_spawn of sh", ours / CALLS, bare / CALLS, 1.6);
    report.ratio("`true` with 300 MB held / without", ours_large / CALLS, ours / CALLS, 1.2);
    report.time("vim.system", system / CALLS);
    report.time("vim.system with 300 MB held", system_large / CALLS);
}

/// 100 MB from a command, against the same pipe read and written to a file.
pub fn output(report: &mut Report) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut gaps: Option<Gaps> = None;
    let mut more_kb = 0;
    let [bare, ours] = medians(
        3,
        [
            &mut || {
                time(|| {
                    let mut child = Command::new("sh").args(["-c", OUTPUT]).stdout(Stdio::piped()).spawn().expect("sh");
                    let mut file = File::create(folder.path().join("copy")).expect("a file");
                    let mut pipe = child.stdout.take().expect("piped");
                    // Through memory, as anybody who looks at the bytes must: the kernel could move them by itself.
                    let mut buffer = vec![0; 64 * 1024];
                    loop {
                        let count = io::Read::read(&mut pipe, &mut buffer).expect("a pipe");
                        if count == 0 {
                            break;
                        }
                        io::Write::write_all(&mut file, &buffer[..count]).expect("a disk with room");
                    }
                    child.wait().expect("an exit");
                })
            },
            &mut || {
                let editor = editor();
                run(&editor, "true", 1);
                let before_kb = editor.lua_int("return memory_kb()");
                editor.watch_loop();
                let took = run(&editor, OUTPUT, 1);
                gaps = Some(editor.gaps());
                more_kb = more_kb.max(editor.lua_int("return memory_kb()") - before_kb);
                took
            },
        ],
    );
    report.ratio("100 MB from a command / pipe to file", ours, bare, 3.0);
    report.holds(&format!("memory: {:.1} MiB more, at most 32", more_kb as f64 / 1024.0), more_kb <= MAX_MORE_KB);
    if let Some(gaps) = gaps {
        report.gaps("100 MB from a command", &gaps);
    }
}

/// 1 GB from a command: ten times the output, and no more memory than for a tenth.
pub fn gigabyte(report: &mut Report) {
    let editor = editor();
    run(&editor, OUTPUT, 1);
    let before_kb = editor.lua_int("return memory_kb()");
    editor.watch_loop();
    let took = run(&editor, GIGABYTE, 1);
    let gaps = editor.gaps();
    let more_kb = editor.lua_int("return memory_kb()") - before_kb;
    report.time("1 GB from a command", took);
    report.holds(&format!("memory: {:.1} MiB more, at most 4", more_kb as f64 / 1024.0), more_kb <= 4 * 1024);
    let saved = editor.home.path().join("state/nvim/lathe/output").read_dir().expect("a folder").flatten();
    let largest = saved.filter_map(|entry| entry.metadata().ok()).map(|data| data.len()).max();
    report.holds("all of it is in the file", largest == Some(1 << 30));
    report.gaps("1 GB from a command", &gaps);
}
