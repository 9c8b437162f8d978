//! What came of a call: as data, which the user interface shows in words of its own, and as the one text that the model reads.
//! Every sentence of ours that a result can hold stands here.

use std::path::PathBuf;

use crate::gate::verdict::Denial;
use crate::tool::{CallStatus, OfferedTool, shown};

/// What came of a call, besides what its tool added.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub status: CallStatus,
    /// What is said in the tool's place where it says nothing.
    pub default_text: Option<String>,
    /// A cmd failed, and nothing else is said of it: the user wants to know what it gave.
    pub is_unexplained: bool,
    /// What went wrong: with the arguments, in a function of the tool, by the user's own settings.
    pub message: Option<String>,
    /// What the permission rules say.
    pub denial: Option<Denial>,
    /// How its commands ended and what they printed, where no output function has passed it on.
    pub report: Option<String>,
    /// What a command had printed that was ended, and nothing else.
    pub printed: Option<String>,
    /// A line for each picture, sound and file.
    pub media_notes: Option<String>,
    /// Files that hold the whole of what was cut.
    pub files: Vec<PathBuf>,
}

/// What is said in a tool's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefaultText {
    /// It ran.
    Executed,
    /// A cmd failed.
    Failed,
    /// Its time limit passed; none: its report says so.
    TimedOut(Option<u64>),
    /// The user said no; why.
    Rejected(Option<String>),
    /// The user cancelled it, or a call before it.
    Cancelled,
    /// The chat was stopped.
    Stopped,
    /// The user ended this call only.
    Skipped,
    /// The tool adds its results itself, and added none.
    NoResult,
}

impl Outcome {
    /// An outcome of which nothing is to be said.
    pub fn new(status: CallStatus) -> Self {
        Self {
            status,
            default_text: None,
            is_unexplained: false,
            message: None,
            denial: None,
            report: None,
            printed: None,
            media_notes: None,
            files: Vec::new(),
        }
    }

    /// Whether nothing is said of it.
    pub fn is_silent(&self) -> bool {
        self.default_text.is_none() && self.message.is_none() && self.denial.is_none() && self.report.is_none()
    }

    /// What the model reads, but for the notes on media: the texts that the tool added, then ours.
    pub fn text(&self, added: &[String], has_media: bool) -> String {
        let denial = self.denial.as_ref().map(denied);
        let ours = [self.default_text.clone(), self.message.clone(), denial, self.report.clone()];
        let parts: Vec<_> = added.iter().cloned().chain(ours.into_iter().flatten()).collect();
        match parts.join("\n\n") {
            // The media speak for themselves.
            empty if empty.trim().is_empty() && has_media => String::new(),
            empty if empty.trim().is_empty() => "(no output)".to_owned(),
            text => text,
        }
    }

    /// The same text, shortened meanwhile, with the notes on media.
    pub fn with_notes(&self, text: String) -> String {
        match &self.media_notes {
            Some(notes) if text.is_empty() => notes.clone(),
            Some(notes) => format!("{text}\n\n{notes}"),
            None => text,
        }
    }
}

impl DefaultText {
    /// The sentence. The name may be the model's, of a tool that does not exist.
    pub fn text(&self, name: &str) -> String {
        let name = shown(name);
        match self {
            Self::Executed => format!("Executed {name}"),
            Self::Failed | Self::TimedOut(None) => format!("Error calling {name}"),
            Self::TimedOut(Some(limit_ms)) => format!("Error calling {name}: it {}", timed_out(*limit_ms)),
            Self::Rejected(Some(reason)) => format!("The user rejected the {name} tool: {reason}"),
            Self::Rejected(None) => format!("The user rejected the {name} tool"),
            Self::Cancelled => format!("The user cancelled the {name} tool"),
            Self::Stopped => format!("The user stopped the chat before the {name} tool was done"),
            Self::Skipped => format!("Stopped by the user before the {name} tool was done"),
            Self::NoResult => format!("The call of the {name} tool did not complete: the tool gave no result"),
        }
    }
}

/// How a time limit is told.
pub fn timed_out(limit_ms: u64) -> String {
    format!("timed out after {limit_ms} ms")
}

/// What is told of an output function that threw.
pub fn threw(name: &str, error: &str) -> String {
    format!("An output function of the tool `{}` failed: {error}", shown(name))
}

/// Why a call does not run.
fn denied(denial: &Denial) -> String {
    /// So much of what the call wanted is told.
    const MAX_CHARS: usize = 200;
    let value = match denial.value.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &denial.value[..end]),
        None => denial.value.clone(),
    };
    let rule = denial.rule.as_ref().map(|rule| format!(" {:?} ({})", rule.pattern, rule.source)).unwrap_or_default();
    format!("denied by rule {}{rule}: {value}", denial.key)
}

/// R030: what the model is told when it calls a tool that this chat does not offer.
pub fn unknown_tool(name: &str, tools: &[OfferedTool]) -> String {
    /// So many names are told. Each wrong call tells them again.
    const MAX_NAMES: usize = 50;
    let name = shown(name);
    let names: Vec<_> = tools.iter().take(MAX_NAMES).map(|tool| format!("`{}`", shown(&tool.name))).collect();
    let more = match tools.len() - names.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    match names.len() {
        0 => format!("Tool \"{name}\" not found. No tools are available in this chat."),
        _ => format!("Tool \"{name}\" not found. Available tools: {}{more}", names.join(", ")),
    }
}

/// How far a call had come when the end of the editor interrupted its chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// It waited for its turn.
    Queued,
    /// The user was being asked.
    Asked,
    /// It had its turn.
    Started,
}

impl Interrupted {
    /// What the model reads as its result.
    pub fn text(self) -> &'static str {
        match self {
            Self::Queued => "not run: the chat was interrupted before this call",
            Self::Asked => "not run: the chat was interrupted while the user was being asked",
            Self::Started => {
                "state unknown: the chat was interrupted when this call had its turn. It may have done all of its work, \
                 some or none. Look before you do it again."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::verdict::RuleText;

    fn of(status: CallStatus) -> Outcome {
        Outcome::new(status)
    }

    fn text(outcome: &Outcome, added: &[&str]) -> String {
        outcome.text(&added.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), false)
    }

    #[test]
    fn the_text_is_made_of_its_parts_in_their_order() {
        let outcome = Outcome {
            default_text: Some(DefaultText::Failed.text("t")),
            report: Some("code 3".into()),
            // Only the user interface shows it by itself.
            printed: Some("half".into()),
            ..of(CallStatus::Error)
        };
        assert_eq!(text(&outcome, &["one", "two"]), "one\n\ntwo\n\nError calling t\n\ncode 3");
        assert_eq!(text(&Outcome { message: Some("bad".into()), ..of(CallStatus::Error) }, &[]), "bad");
        assert_eq!(text(&of(CallStatus::Success), &["", " \n"]), "(no output)");
        assert_eq!(of(CallStatus::Success).text(&[String::new()], true), "", "media speak for themselves");
    }

    #[test]
    fn notes_on_media_come_last() {
        let outcome = Outcome { media_notes: Some("[image]".into()), ..of(CallStatus::Success) };
        assert_eq!(outcome.with_notes("text".into()), "text\n\n[image]");
        assert_eq!(outcome.with_notes(String::new()), "[image]");
        assert_eq!(of(CallStatus::Success).with_notes("text".into()), "text");
    }

    #[test]
    fn every_default_names_the_tool_and_no_name_is_too_long() {
        let all = [
            (DefaultText::Executed, "Executed t"),
            (DefaultText::Failed, "Error calling t"),
            (DefaultText::TimedOut(None), "Error calling t"),
            (DefaultText::TimedOut(Some(5)), "Error calling t: it timed out after 5 ms"),
            (DefaultText::Rejected(None), "The user rejected the t tool"),
            (DefaultText::Rejected(Some("no".into())), "The user rejected the t tool: no"),
            (DefaultText::Cancelled, "The user cancelled the t tool"),
            (DefaultText::Stopped, "The user stopped the chat before the t tool was done"),
            (DefaultText::Skipped, "Stopped by the user before the t tool was done"),
            (DefaultText::NoResult, "The call of the t tool did not complete: the tool gave no result"),
        ];
        for (default, expected) in all {
            assert_eq!(default.text("t"), expected);
            assert!(default.text(&"x".repeat(10_000)).len() < 300);
        }
    }

    #[test]
    fn a_denial_quotes_its_rule_whatever_is_in_it_and_not_all_of_a_long_value() {
        let rule = |pattern: &str, source: &str| {
            Some(RuleText { key: "bash".into(), pattern: pattern.into(), source: source.into() })
        };
        let t = |rule, value: &str| {
            let denial = Some(Denial { key: "bash".into(), value: value.into(), rule });
            text(&Outcome { denial, ..of(CallStatus::Denied) }, &[])
        };
        assert_eq!(t(rule("rm *", "setup()"), "rm x"), "denied by rule bash \"rm *\" (setup()): rm x");
        let odd = "denied by rule bash \"(a|b) \\\")\\\"\" (/p (old)/x.json:3): y";
        assert_eq!(t(rule("(a|b) \")\"", "/p (old)/x.json:3"), "y"), odd);
        assert_eq!(t(None, "x"), "denied by rule bash: x");
        assert!(t(rule("*", "setup()"), &"é".repeat(1_000)).ends_with(&format!(": {}…", "é".repeat(200))));
    }

    #[test]
    fn r030_the_answer_to_an_unknown_tool_is_short_whatever_its_name_and_however_many_there_are() {
        let offered = |count: usize| -> Vec<OfferedTool> {
            let name = |number: usize| format!("tool_{number}");
            let tool = |number| OfferedTool { name: name(number), ..OfferedTool::default() };
            (1..=count).map(tool).collect()
        };
        let text = unknown_tool(&"é".repeat(1_000_000), &offered(2));
        assert_eq!(text, format!("Tool \"{}…\" not found. Available tools: `tool_1`, `tool_2`", "é".repeat(100)));
        assert!(unknown_tool(&"é".repeat(100), &[]).starts_with(&format!("Tool \"{}\" not found.", "é".repeat(100))));
        assert!(unknown_tool("x", &offered(50)).ends_with(", `tool_49`, `tool_50`"));
        assert!(unknown_tool("x", &offered(1234)).ends_with(", `tool_49`, `tool_50`, and 1184 more"));
    }
}
