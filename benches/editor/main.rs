//! `make bench`: the release library in a real Neovim, with a screen attached. A run fails on ratios, growth and gaps of the
//! main loop only; times are for information. One module for each area.
#![allow(clippy::unwrap_used)]

#[path = "../../tests/support/mod.rs"]
mod support;

mod calls;
mod commands;
mod measure;
mod native;
mod provider;
mod resume;
mod rules;
mod startup;
mod typing;

use std::process::ExitCode;

use measure::Report;

/// A benchmark: a name that `FILTER` picks by, and what it measures.
type Bench = (&'static str, fn(&mut Report));

const BENCHES: &[Bench] = &[
    ("startup", startup::run),
    ("open", calls::open),
    ("calls", calls::run),
    ("command start", commands::start),
    ("command output", commands::output),
    ("command gigabyte", commands::gigabyte),
    ("provider text", provider::text),
    ("provider arguments", provider::arguments),
    ("typing", typing::run),
    ("resume", resume::run),
    ("native list", native::run),
    ("rules", rules::run),
];

fn main() -> ExitCode {
    // cargo passes `--bench`; anything else is the filter.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let mut report = Report::default();
    for (name, run) in BENCHES {
        if filter.as_ref().is_none_or(|filter| name.contains(filter.as_str())) {
            report.section(name);
            run(&mut report);
        }
    }
    report.finish()
}
