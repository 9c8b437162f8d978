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

/// What answers are made of, by each provider's own name of it: what the codecs read, and what they knowingly pass over.
/// Tests throw all of it at them.
#[cfg(test)]
pub mod kinds {
    /// Events of Anthropic's streams.
    pub const ANTHROPIC_EVENTS: &[&str] = &[
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    ];

    /// Blocks of Anthropic's answers, those of its betas included. One that is not read is kept and goes back.
    pub const ANTHROPIC_BLOCKS: &[&str] = &[
        "text",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "server_tool_use",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "container_upload",
        "advisor_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "mcp_tool_listing",
        "compaction",
        "fallback",
    ];

    /// Pieces of such blocks.
    pub const ANTHROPIC_DELTAS: &[&str] =
        &["text_delta", "input_json_delta", "citations_delta", "thinking_delta", "signature_delta", "compaction_delta"];

    /// Events of OpenAI's responses.
    pub const OPENAI_RESPONSE_EVENTS: &[&str] = &[
        "error",
        "response.created",
        "response.in_progress",
        "response.queued",
        "response.completed",
        "response.incomplete",
        "response.failed",
        "response.output_item.added",
        "response.output_item.done",
        "response.output_text.delta",
        "response.refusal.delta",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.function_call_arguments.delta",
        // All below is in the item, when that is done.
        "response.output_text.done",
        "response.output_text.annotation.added",
        "response.refusal.done",
        "response.content_part.added",
        "response.content_part.done",
        "response.reasoning_summary_part.done",
        "response.reasoning_summary_text.done",
        "response.reasoning_text.done",
        "response.function_call_arguments.done",
        "response.custom_tool_call_input.delta",
        "response.custom_tool_call_input.done",
        "response.web_search_call.in_progress",
        "response.web_search_call.searching",
        "response.web_search_call.completed",
        "response.file_search_call.in_progress",
        "response.file_search_call.searching",
        "response.file_search_call.completed",
        "response.code_interpreter_call.in_progress",
        "response.code_interpreter_call.interpreting",
        "response.code_interpreter_call.completed",
        "response.code_interpreter_call_code.delta",
        "response.code_interpreter_call_code.done",
        "response.image_generation_call.in_progress",
        "response.image_generation_call.generating",
        "response.image_generation_call.partial_image",
        "response.image_generation_call.completed",
        "response.mcp_call.in_progress",
        "response.mcp_call.completed",
        "response.mcp_call.failed",
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "response.mcp_list_tools.in_progress",
        "response.mcp_list_tools.completed",
        "response.mcp_list_tools.failed",
        "response.shell_call_command.added",
        "response.shell_call_command.delta",
        "response.shell_call_command.done",
        "response.shell_call_output_content.delta",
        "response.shell_call_output_content.done",
        "response.compaction.compacting",
        "response.audio.delta",
        "response.audio.done",
        "response.audio.transcript.delta",
        "response.audio.transcript.done",
    ];

    /// Items of OpenAI's responses. One that is not read is kept and goes back.
    pub const OPENAI_RESPONSE_ITEMS: &[&str] = &[
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "web_search_call",
        "file_search_call",
        "computer_call",
        "computer_call_output",
        "code_interpreter_call",
        "image_generation_call",
        "local_shell_call",
        "local_shell_call_output",
        "shell_call",
        "shell_call_output",
        "apply_patch_call",
        "apply_patch_call_output",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "custom_tool_call",
        "custom_tool_call_output",
        "tool_search_call",
        "tool_search_output",
        "additional_tools",
        "program",
        "program_output",
        "compaction",
    ];

    /// Fields of the parts of Google's answers. A part with one that is not read is kept and goes back.
    pub const GEMINI_PARTS: &[&str] = &[
        "text",
        "thought",
        "thoughtSignature",
        "functionCall",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
        "inlineData",
        "fileData",
        "videoMetadata",
        "mediaResolution",
        "toolCall",
        "toolResponse",
        "partMetadata",
        "audioTranscription",
        "mediaProcessing",
        "speechMetadata",
        "documentMetadata",
        "spreadsheetMetadata",
        "audioMetadata",
    ];

    /// Parts of Mistral's contents.
    pub const MISTRAL_CHUNKS: &[&str] = &[
        "text",
        "thinking",
        "image_url",
        "document_url",
        "reference",
        "file",
        "input_audio",
        "resource",
        "resource_link",
    ];
}

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
