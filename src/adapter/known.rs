//! The providers' own words as far as the codecs know them: why a model stops, and what answers are made of. They are data,
//! so that `scripts/check-sdk-drift.sh` can compare them with the types of the newest SDKs; each constant that it reads
//! begins with the provider's name.

/// What a word for the end of an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The model had no more to say.
    Stop,
    /// It waits for the results of its calls.
    ToolCalls,
    /// A limit cut it off.
    Length,
    /// A filter cut it off.
    Filtered,
    /// The provider refuses to go on, with this turn in the history.
    Refused,
    /// Sent back as it is, the answer goes on.
    Paused,
    /// The answer is none: something failed.
    Broken,
    /// The word says all there is to say.
    Shown,
}

/// Words and what they mean.
pub type Words = [(&'static str, Meaning)];

/// `finish_reason` of chat completions at OpenAI and Groq.
pub const OPENAI_FINISH_REASONS: &Words = &[
    ("stop", Meaning::Stop),
    ("length", Meaning::Length),
    ("tool_calls", Meaning::ToolCalls),
    ("function_call", Meaning::ToolCalls),
    ("content_filter", Meaning::Filtered),
];

/// The same at Mistral, where it differs.
pub const MISTRAL_FINISH_REASONS: &Words = &[("error", Meaning::Broken), ("model_length", Meaning::Length)];

/// The same at servers without a Python SDK of their own: DeepSeek, Z.ai, vLLM, SGLang, and those that pass the words of
/// another wire on.
pub const COMPATIBLE_FINISH_REASONS: &Words = &[
    ("eos", Meaning::Stop),
    ("end_turn", Meaning::Stop),
    ("stop_sequence", Meaning::Stop),
    ("tool_use", Meaning::ToolCalls),
    ("max_tokens", Meaning::Length),
    ("model_context_window_exceeded", Meaning::Length),
    ("sensitive", Meaning::Filtered),
    ("safety", Meaning::Filtered),
    ("recitation", Meaning::Filtered),
    ("refusal", Meaning::Filtered),
    ("insufficient_system_resource", Meaning::Broken),
    ("network_error", Meaning::Broken),
    ("abort", Meaning::Broken),
];

/// `status` of a response.
pub const OPENAI_RESPONSE_STATUSES: &Words = &[
    ("completed", Meaning::Stop),
    ("failed", Meaning::Broken),
    ("cancelled", Meaning::Broken),
    ("incomplete", Meaning::Shown),
    ("in_progress", Meaning::Shown),
    ("queued", Meaning::Shown),
];

/// `incomplete_details.reason` of a response.
pub const OPENAI_INCOMPLETE_REASONS: &Words = &[
    ("max_output_tokens", Meaning::Length),
    ("max_messages", Meaning::Length),
    ("content_filter", Meaning::Filtered),
    ("steered", Meaning::Shown),
];

/// `stop_reason` of Anthropic's messages.
pub const ANTHROPIC_STOP_REASONS: &Words = &[
    ("end_turn", Meaning::Stop),
    ("stop_sequence", Meaning::Stop),
    ("tool_use", Meaning::ToolCalls),
    ("max_tokens", Meaning::Length),
    ("model_context_window_exceeded", Meaning::Length),
    ("refusal", Meaning::Refused),
    ("pause_turn", Meaning::Paused),
    ("compaction", Meaning::Paused),
];

/// `finishReason` of Google's candidates.
pub const GEMINI_FINISH_REASONS: &Words = &[
    ("STOP", Meaning::Stop),
    ("MAX_TOKENS", Meaning::Length),
    ("CONTINUATION", Meaning::Length),
    ("SAFETY", Meaning::Filtered),
    ("RECITATION", Meaning::Filtered),
    ("LANGUAGE", Meaning::Filtered),
    ("BLOCKLIST", Meaning::Filtered),
    ("PROHIBITED_CONTENT", Meaning::Filtered),
    ("SPII", Meaning::Filtered),
    ("IMAGE_SAFETY", Meaning::Filtered),
    ("IMAGE_PROHIBITED_CONTENT", Meaning::Filtered),
    ("IMAGE_RECITATION", Meaning::Filtered),
    ("MODEL_ARMOR", Meaning::Filtered),
    ("ESCALATION", Meaning::Filtered),
    ("MALFORMED_FUNCTION_CALL", Meaning::Broken),
    ("UNEXPECTED_TOOL_CALL", Meaning::Broken),
    ("TOO_MANY_TOOL_CALLS", Meaning::Broken),
    ("MISSING_THOUGHT_SIGNATURE", Meaning::Broken),
    ("MALFORMED_RESPONSE", Meaning::Broken),
    ("PUP_LIMITED_DISABLED", Meaning::Broken),
    ("OTHER", Meaning::Shown),
    ("IMAGE_OTHER", Meaning::Shown),
    ("NO_IMAGE", Meaning::Shown),
    // Not an end.
    ("FINISH_REASON_UNSPECIFIED", Meaning::Shown),
];

/// `done_reason` of Ollama's chat. `load` and `unload` answer a request without messages.
pub const OLLAMA_DONE_REASONS: &Words =
    &[("stop", Meaning::Stop), ("length", Meaning::Length), ("load", Meaning::Stop), ("unload", Meaning::Stop)];

/// What a word means; none: it is not known.
pub fn meaning(tables: &[&Words], word: &str) -> Option<Meaning> {
    let mut words = tables.iter().flat_map(|table| table.iter());
    words.find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, meaning)| *meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_the_same_in_either_case_and_an_unknown_one_nothing() {
        assert_eq!(meaning(&[GEMINI_FINISH_REASONS], "STOP"), Some(Meaning::Stop));
        assert_eq!(meaning(&[MISTRAL_FINISH_REASONS, OPENAI_FINISH_REASONS], "Stop"), Some(Meaning::Stop));
        assert_eq!(meaning(&[OPENAI_FINISH_REASONS], "weird"), None);
        assert_eq!(meaning(&[OPENAI_FINISH_REASONS], ""), None);
    }
}
