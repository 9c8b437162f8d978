//! What lathe adds to the start of Neovim.

use std::time::Duration;

use crate::measure::{Report, medians, time};
use crate::support::{Setup, run_headless, script};

/// `require` and `setup()` cost at most a tenth of an empty start, and load no library.
pub fn run(report: &mut Report) {
    let mut library_loaded = false;
    let mut empty_start = || {
        time(|| {
            run_headless(Setup::default().without_plugin(), &["+quit"]);
        })
    };
    let mut require_and_setup = || {
        let output = run_headless(Setup::default(), &["-c", &format!("lua {}", script("measure"))]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (ns, loaded) = text.trim().split_once(' ').unwrap_or_else(|| panic!("{output:?}"));
        library_loaded |= loaded != "false";
        Duration::from_nanos(ns.parse().unwrap_or_else(|_| panic!("{output:?}")))
    };
    let [empty_start, require_and_setup] = medians(21, [&mut empty_start, &mut require_and_setup]);
    report.ratio("require + setup() / an empty start", require_and_setup, empty_start, 0.1);
    report.holds("no library loaded by setup()", !library_loaded);
}
