//! What lathe adds to the start of Neovim.

use std::time::Duration;

use crate::measure::{Report, medians, time};
use crate::support::{Setup, run_headless};

/// In a Neovim that has just started: nanoseconds for `require` and `setup()`, and whether the library is loaded after it.
const MEASURE: &str = r#"
local start = vim.uv.hrtime()
require("lathe").setup({})
local ns = vim.uv.hrtime() - start
local loaded = package.loaded.lathe_core ~= nil
for line in io.open("/proc/self/maps") and io.lines("/proc/self/maps") or function() end do
  loaded = loaded or line:find("lathe_core", 1, true) ~= nil
end
io.stdout:write(("%d %s\n"):format(ns, tostring(loaded)))
vim.cmd.quit()
"#;

/// `require` and `setup()` cost at most a tenth of an empty start, and load no library.
pub fn run(report: &mut Report) {
    let mut library_loaded = false;
    let mut empty_start = || {
        time(|| {
            run_headless(Setup::default().without_plugin(), &["+quit"]);
        })
    };
    let mut require_and_setup = || {
        let output = run_headless(Setup::default(), &["-c", &format!("lua {MEASURE}")]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (ns, loaded) = text.trim().split_once(' ').unwrap_or_else(|| panic!("{output:?}"));
        library_loaded |= loaded != "false";
        Duration::from_nanos(ns.parse().unwrap_or_else(|_| panic!("{output:?}")))
    };
    let [empty_start, require_and_setup] = medians(21, [&mut empty_start, &mut require_and_setup]);
    report.ratio("require + setup() / an empty start", require_and_setup, empty_start, 0.1);
    report.holds("no library loaded by setup()", !library_loaded);
}
