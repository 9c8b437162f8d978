//! The list of tools for a request, with hundreds of native tools.

use std::time::Duration;

use crate::measure::{Report, medians};
use crate::support::{Editor, Gaps};

fn measure(servers: u32) -> (Duration, Gaps) {
    let editor = Editor::start();
    editor.run("listing");
    editor.watch_loop();
    editor.lua(&format!("go({servers})"));
    editor.wait_lua("took");
    let ns = editor.lua_int("return took");
    (Duration::from_nanos(ns.unsigned_abs()), editor.gaps())
}

/// 500 tools over 20 servers hold the editor no longer than anything else, and cost what each of few costs.
pub fn run(report: &mut Report) {
    let mut gaps = None;
    let [few, many] = medians(
        5,
        [&mut || measure(4).0, &mut || {
            let (time, seen) = measure(20);
            gaps = Some(seen);
            time
        }],
    );
    report.linear("a native tool in a list", &[(100, few), (500, many)]);
    if let Some(gaps) = gaps {
        report.gaps("a list of 500 native tools", &gaps);
    }
}
