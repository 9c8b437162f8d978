//! The judge's answer: which schema it must fit, and what it says. How the judge is asked is not here.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

/// The longest reason that is shown, in characters.
const MAX_REASON_CHARS: usize = 300;

/// The longest answer that is read, in bytes. It is one sentence.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// What came of asking the judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The call is safe; why.
    Safe(String),
    /// It is not; why.
    Unsafe(String),
    /// There is no verdict; why. The user is asked.
    Failed(String),
}

impl Judged {
    /// The word that autocommands use, and the reason.
    pub fn words(&self) -> (&'static str, &str) {
        match self {
            Self::Safe(reason) => ("safe", reason),
            Self::Unsafe(reason) => ("unsafe", reason),
            Self::Failed(why) => ("error", why),
        }
    }
}

/// The JSON Schema of an answer.
pub static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {"safe": {"type": "boolean"}, "reason": {"type": "string"}},
        "required": ["safe", "reason"],
        "additionalProperties": false,
    })
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    safe: bool,
    reason: String,
}

/// Reads an answer. Only a text that is one JSON object and nothing else is a verdict (it may stand in a code fence, after
/// what the model thought): an object that is merely somewhere in the text may be a quotation.
pub fn read(text: &str) -> Judged {
    let answer = body(text);
    if answer.is_empty() {
        return Judged::Failed("its answer is empty".to_owned());
    }
    // Serde would take a list of the fields' values as well.
    if !answer.starts_with('{') {
        return Judged::Failed(format!("its answer is not one JSON object: {}", one_line(answer)));
    }
    match serde_json::from_str::<Answer>(answer) {
        Ok(Answer { safe: true, reason }) => Judged::Safe(one_line(&reason)),
        Ok(Answer { safe: false, reason }) => Judged::Unsafe(one_line(&reason)),
        Err(error) if error.is_data() => {
            Judged::Failed(format!("its answer does not fit: {}", one_line(&error.to_string())))
        }
        Err(_) => Judged::Failed(format!("its answer is not JSON: {}", one_line(answer))),
    }
}

/// Reads an answer of a model that cannot keep to JSON: SAFE or UNSAFE first, then why. One that says both is no verdict.
pub fn read_plain(text: &str) -> Judged {
    let answer = body(text);
    let (word, reason) =
        answer.split_at(answer.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(answer.len()));
    let begins = reason.is_empty() || reason.starts_with([':', '.', ',', '\r', '\n']);
    let reason = one_line(reason.trim_start_matches([':', '.', ',', ' ', '\r', '\n', '\t', '-']));
    let says = |wanted: &str| {
        let mut words = reason.split(|letter: char| !letter.is_ascii_alphabetic());
        words.any(|word| word.eq_ignore_ascii_case(wanted))
    };
    match word {
        "SAFE" if begins && !says("unsafe") => Judged::Safe(reason),
        "UNSAFE" if begins => Judged::Unsafe(reason),
        _ => Judged::Failed(format!("its answer begins with neither SAFE nor UNSAFE: {}", one_line(answer))),
    }
}

/// The answer without thoughts before it and the fence around it.
fn body(text: &str) -> &str {
    let mut text = text.trim();
    if text.starts_with("<think>")
        && let Some((_, answer)) = text.rsplit_once("</think>")
    {
        text = answer.trim();
    }
    let inside = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    inside.map_or(text, |inside| inside.strip_prefix("json").unwrap_or(inside).trim())
}

/// A text that may hold anything, as a part of a line.
pub fn one_line(text: &str) -> String {
    let words =
        text.split(|letter: char| letter.is_whitespace() || letter.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for (count, letter) in words.flat_map(|word| [" ", word]).flat_map(str::chars).skip(1).enumerate() {
        if count == MAX_REASON_CHARS {
            line.push('…');
            break;
        }
        line.push(letter);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_whole_object_with_the_right_fields_is_a_verdict() {
        let safe = Judged::Safe("only reads".to_owned());
        for text in [
            r#"{"safe": true, "reason": "only reads"}"#,
            "\n {\"reason\": \"only\\n reads \", \"safe\": true}\n",
            "```json\n{\"safe\": true, \"reason\": \"only reads\"}\n```",
            "```\n{\"safe\": true, \"reason\": \"only reads\"}```",
            "<think>\nIs {\"safe\": false, \"reason\": \"x\"} right? </think>{\"safe\": true, \"reason\": \"only reads\"}",
        ] {
            assert_eq!(read(text), safe, "{text}");
        }
        assert_eq!(read(r#"{"safe":false,"reason":"deletes files"}"#), Judged::Unsafe("deletes files".to_owned()));
        for text in [
            "",
            " \n",
            "safe",
            "true",
            "null",
            "[]",
            r#"[true, "x"]"#,
            "{}",
            r#"{"safe": true}"#,
            r#"{"safe": "true", "reason": "x"}"#,
            r#"{"safe": 1, "reason": "x"}"#,
            r#"{"safe": null, "reason": "x"}"#,
            r#"{"safe": true, "reason": null}"#,
            r#"{"Safe": true, "reason": "x"}"#,
            r#"{"safe": false, "safe": true, "reason": "x"}"#,
            r#"{"safe": true, "reason": "x", "note": "y"}"#,
            r#"[{"safe": true, "reason": "x"}]"#,
            r#"{"safe": true, "reason": "x""#,
            r#"{"safe": true, "reason": "x"} {"safe": false, "reason": "y"}"#,
            r#"The call says {"safe": true, "reason": "x"}."#,
            "{\"safe\": false, \"reason\": \"x\"}\n```json\n{\"safe\": true, \"reason\": \"x\"}\n```",
            "{\"safe\": true, \"reason\": \"</think>\"",
        ] {
            assert!(matches!(read(text), Judged::Failed(_)), "{text}: {:?}", read(text));
        }
    }

    #[test]
    fn a_plain_verdict_is_the_first_word_and_nothing_speaks_against_it() {
        let safe = Judged::Safe("It only reads.".to_owned());
        for text in [
            "SAFE: It only reads.",
            " SAFE\nIt only reads.\n",
            "<think>UNSAFE?</think>\nSAFE: It only\nreads.",
            "```\nSAFE: It only reads.\n```",
        ] {
            assert_eq!(read_plain(text), safe, "{text}");
        }
        assert_eq!(read_plain("SAFE"), Judged::Safe(String::new()));
        assert_eq!(read_plain("UNSAFE: deletes what is SAFE"), Judged::Unsafe("deletes what is SAFE".to_owned()));
        for text in [
            "",
            "safe",
            "Safe: x",
            "SAFELY",
            "SAFE for now",
            "SAFE?",
            "SAFE or UNSAFE",
            "SAFE: but unsafe elsewhere",
            "The call is SAFE.",
            "I cannot say. SAFE: x",
            "{\"safe\": true}",
            "SAFE/UNSAFE",
        ] {
            assert!(matches!(read_plain(text), Judged::Failed(_)), "{text}: {:?}", read_plain(text));
        }
    }

    #[test]
    fn a_reason_is_one_line_of_bounded_length_whatever_it_holds() {
        let hostile = json!({"safe": false, "reason": format!("a\u{1b}[31m\r\n\tb\u{0}c {}", "é".repeat(100_000))});
        let Judged::Unsafe(reason) = read(&hostile.to_string()) else { panic!("a verdict") };
        assert!(reason.starts_with("a [31m b c éé") && reason.chars().count() == MAX_REASON_CHARS + 1, "{reason}");
        assert!(!reason.chars().any(char::is_control));
    }

    #[test]
    fn no_text_makes_the_reader_panic_or_grow() {
        for text in ["```", "``````", "<think>", "</think>", "<think></think>", "{\"a\":".repeat(20_000).as_str()] {
            let Judged::Failed(why) = read(text) else { panic!("{text:.20} is no verdict") };
            assert!(why.chars().count() < MAX_REASON_CHARS + 100);
        }
    }
}
