//! What permission rules cost: taking a shell text apart and judging it, off the main loop, and in a chat.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use lathe_core::gate::Permissions;
use lathe_core::gate::pair::Wants;
use lathe_core::gate::path::Places;
use lathe_core::gate::rule::{Action, Layer, Pattern, Rule, Rules, Source, defaults};
use lathe_core::gate::shell::BASH;
use lathe_core::runtime::permissions::judge;

use crate::measure::{Report, medians, time};
use crate::support::Editor;

fn permissions(count: usize) -> Permissions {
    let source = Source { layer: Layer::Setup, agent: None, place: "setup()".into(), line: None };
    let source = Arc::new(source);
    let rule = |at: usize| Rule {
        key: Pattern::key(if at.is_multiple_of(4) { "*" } else { BASH }),
        pattern: Pattern::value(&format!("program{at} *--flag{at}*"), "/home/me"),
        action: [Action::Allow, Action::Ask, Action::Deny][at % 3],
        source: Arc::clone(&source),
    };
    let rules = Rules::new(defaults("/home/me").into_iter().chain((0..count).map(rule)).collect());
    Permissions { rules, places: Places { session: "/w".into(), worktree: "/w".into(), ..Places::default() } }
}

/// A command of so many bytes.
fn command(bytes: usize) -> String {
    let mut text = "program7 --flag7".to_owned();
    for word in 0.. {
        if text.len() >= bytes {
            break;
        }
        text.push_str(&format!(" argument{word}"));
    }
    text.truncate(bytes);
    text
}

fn decisions(rules: usize, bytes: usize, count: u32) -> Duration {
    let permissions = permissions(rules);
    let wants = Wants { key: BASH.into(), values: vec![command(bytes)], ..Wants::default() };
    time(|| {
        for _ in 0..count {
            black_box(judge(black_box(&wants), &permissions));
        }
    })
}

/// Decisions by number, by rules and by length, and a chat in which large commands are judged.
pub fn run(report: &mut Report) {
    report.time("10,000 decisions, 200 rules, 40 bytes", decisions(200, 40, 10_000));
    let [few, many] = medians(3, [&mut || decisions(20, 10_000, 200), &mut || decisions(200, 10_000, 200)]);
    report.time("one decision, 200 rules, 10 kB", many / 200);
    report.linear("a rule, 10 kB", &[(20, few), (200, many)]);
    let [short, long] = medians(3, [&mut || decisions(200, 1_000, 1_000), &mut || decisions(200, 10_000, 1_000)]);
    report.linear("a byte, 200 rules", &[(1_000, short), (10_000, long)]);

    let editor = Editor::start();
    editor.run("commands");
    editor.watch_loop();
    editor.lua("chat:submit()");
    editor.wait_lua("done");
    report.gaps("20 calls of 600 commands each, 200 rules", &editor.gaps());
}
