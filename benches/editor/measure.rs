//! Measuring and judging: medians, the three kinds of budget, and the table that is printed.
#![allow(dead_code)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::support::Gaps;

/// A cost per item may differ this much between the smallest and the largest run and still counts as linear.
const LINEAR_SLACK: f64 = 0.30;
/// Nothing of ours holds the main loop longer.
const GAP_P99_MS: f64 = 8.0;
const GAP_MAX_MS: f64 = 50.0;

/// The middle of the samples; of two middles the lower one.
pub fn median(mut samples: Vec<Duration>) -> Duration {
    assert!(!samples.is_empty(), "nothing was measured");
    samples.sort();
    samples[(samples.len() - 1) / 2]
}

/// How long it takes.
pub fn time(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Medians of several measurements, taken in turn so that a noisy moment hits all of them.
pub fn medians<const N: usize>(rounds: usize, mut measure: [&mut dyn FnMut() -> Duration; N]) -> [Duration; N] {
    let mut samples = [const { Vec::new() }; N];
    // The first round warms caches.
    for round in 0..=rounds {
        for (samples, measure) in samples.iter_mut().zip(&mut measure) {
            let sample = measure();
            if round > 0 {
                samples.push(sample);
            }
        }
    }
    samples.map(median)
}

/// What was measured, and which budgets it broke.
#[derive(Default)]
pub struct Report {
    broken: Vec<String>,
}

impl Report {
    /// A heading.
    pub fn section(&mut self, name: &str) {
        println!("\n{name}");
    }

    /// A time for information.
    pub fn time(&mut self, what: &str, time: Duration) {
        println!("  {what:<52} {:>12}", display(time));
    }

    /// A statement that must hold, such as that something was not loaded.
    pub fn holds(&mut self, what: &str, holds: bool) {
        self.row(what, if holds { "yes" } else { "no" }, "yes", holds);
    }

    /// `measured` may cost at most `limit` times `reference`, which was measured beside it.
    pub fn ratio(&mut self, what: &str, measured: Duration, reference: Duration, limit: f64) {
        self.time(&format!("{what}: measured"), measured);
        self.time(&format!("{what}: reference"), reference);
        let ratio = measured.as_secs_f64() / reference.as_secs_f64();
        self.row(what, &format!("{ratio:.3}"), &format!("≤ {limit:.3}"), ratio <= limit);
    }

    /// The cost per item of the largest run may be at most 30 % above that of the smallest: (items, time) by size.
    /// A falling cost is what a fixed part looks like, and no fault.
    pub fn linear(&mut self, what: &str, runs: &[(u32, Duration)]) {
        let each = |(items, time): (u32, Duration)| time.as_secs_f64() / f64::from(items);
        for &(items, time) in runs {
            self.time(&format!("{what}: {items}, each"), time / items);
        }
        let (Some(&smallest), Some(&largest)) = (runs.first(), runs.last()) else { return };
        let growth = each(largest) / each(smallest) - 1.0;
        let (shown, limit) = (format!("{:+.0} %", growth * 100.0), format!("≤ +{:.0} %", LINEAR_SLACK * 100.0));
        self.row(&format!("{what}: growth"), &shown, &limit, growth <= LINEAR_SLACK);
    }

    /// How long the main loop was held.
    pub fn gaps(&mut self, what: &str, gaps: &Gaps) {
        for (name, gap, limit) in [("p99", gaps.p99_ms(), GAP_P99_MS), ("longest", gaps.max_ms(), GAP_MAX_MS)] {
            let what = format!("{what}: {name} gap of {}", gaps.count());
            self.row(&what, &format!("{gap:.1} ms"), &format!("≤ {limit} ms"), gap <= limit);
        }
    }

    fn row(&mut self, what: &str, measured: &str, limit: &str, kept: bool) {
        println!("  {what:<52} {measured:>12}   {limit:<12} {}", if kept { "ok" } else { "BROKEN" });
        if !kept {
            self.broken.push(format!("{what}: {measured}, budget {limit}"));
        }
    }

    /// Prints what is broken; success when nothing is.
    pub fn finish(self) -> ExitCode {
        if self.broken.is_empty() {
            println!("\nall budgets kept");
            return ExitCode::SUCCESS;
        }
        println!("\n{} budgets broken:", self.broken.len());
        self.broken.iter().for_each(|line| println!("  {line}"));
        ExitCode::FAILURE
    }
}

fn display(time: Duration) -> String {
    let us = time.as_secs_f64() * 1e6;
    match us {
        ..1e3 => format!("{us:.1} µs"),
        ..1e6 => format!("{:.2} ms", us / 1e3),
        _ => format!("{:.2} s", us / 1e6),
    }
}
