//! What a call, a turn and the first chat cost, with the chat on the screen.

use std::time::Duration;

use rmpv::Value;

use crate::measure::{Report, medians};
use crate::support::{Editor, Gaps};

fn measure(code: &str) -> (Duration, Gaps) {
    let editor = Editor::start();
    editor.run("calls");
    editor.watch_loop();
    editor.lua(code);
    editor.wait_lua("took");
    let ns = editor.lua_int("return took");
    (Duration::from_nanos(ns.unsigned_abs()), editor.gaps())
}

/// A queued synchronous call, and a turn with one call, by number.
pub fn run(report: &mut Report) {
    const CALLS: [u32; 3] = [100, 1_000, 10_000];
    let mut gaps = None;
    let [few, some, many, bare] = medians(
        5,
        [
            &mut || measure("run(100)").0,
            &mut || measure("run(1000)").0,
            &mut || {
                let (time, seen) = measure("run(10000)");
                gaps = Some(seen);
                time
            },
            &mut || measure("bare(10000)").0,
        ],
    );
    report.ratio("queued call / bare call with a line", many / CALLS[2], bare / CALLS[2], 15.0);
    report.linear("queued call", &[(CALLS[0], few), (CALLS[1], some), (CALLS[2], many)]);
    if let Some(gaps) = gaps {
        report.gaps("10,000 queued calls", &gaps);
    }
    let (_, gaps) = measure("large(300000)");
    report.gaps("a call with 300,000 numbers", &gaps);
    let mut gaps = None;
    let [few, many] = medians(
        3,
        [&mut || measure("turns(500)").0, &mut || {
            let (time, seen) = measure("turns(5000)");
            gaps = Some(seen);
            time
        }],
    );
    report.linear("a turn with one call", &[(500, few), (5_000, many)]);
    if let Some(gaps) = gaps {
        report.gaps("5,000 turns", &gaps);
    }
}

/// The first chat, library and all, against a markdown buffer.
pub fn open(report: &mut Report) {
    let time = |kind: &str| {
        let ns = Editor::start().run_with("first_chat", vec![Value::from(kind)]).as_u64().unwrap_or_default();
        Duration::from_nanos(ns)
    };
    let [chat, markdown] = medians(15, [&mut || time("chat"), &mut || time("markdown")]);
    report.ratio("first chat / the text in a markdown buffer", chat, markdown, 1.3);
}
