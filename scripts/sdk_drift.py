"""What the types of the providers' SDKs know and the codecs do not. Run by check-sdk-drift.sh.

The codecs' side is read from src/adapter/known.rs and lua/lathe/adapters: names of constants are part of the contract.
Something that the codecs know and no SDK does is no drift: other servers may say it.
"""

import importlib.metadata
import re
import sys
import typing
from pathlib import Path

import anthropic.types as anthropic
import anthropic.types.beta as anthropic_beta
import groq.types.chat.chat_completion_chunk as groq_chunk
import mistralai.client.models as mistral
import ollama._types as ollama
import openai.types.chat.chat_completion_chunk as openai_chunk
import openai.types.responses as responses
import openai.types.shared as openai_shared
from google.genai import types as gemini

PACKAGES = ["anthropic", "google-genai", "groq", "mistralai", "ollama", "openai"]
KNOWN = Path("src/adapter/known.rs").read_text()
ADAPTERS = Path("lua/lathe/adapters")

faults = []


def known(*names):
    """The words of constants."""
    words = set()
    for name in names:
        body = re.search(rf"\bconst {name}: [^=]*=\s*&\[(.*?)\];", KNOWN, re.S)
        if not body:
            sys.exit(f"src/adapter/known.rs has no constant {name}")
        code = re.sub(r"//[^\n]*", "", body.group(1))
        # Of a pair the first is the word.
        words.update(re.findall(r'\("([^"]+)",', code) or re.findall(r'"([^"]+)"', code))
    return words


def literals(annotation):
    """All texts that a type may be, however deep they are in it."""
    if isinstance(annotation, str):
        return {annotation}
    found = set()
    for argument in typing.get_args(annotation):
        found |= literals(argument)
    return found


def kinds(union, field="type"):
    """The values of the field that tells the members of a union apart."""
    found = set()
    for argument in typing.get_args(union):
        fields = getattr(argument, "model_fields", None)
        if fields is not None and field in fields:
            found |= literals(fields[field].annotation)
        else:
            found |= kinds(argument, field)
    return found


def finish_reasons(chunk):
    return literals(chunk.Choice.model_fields["finish_reason"].annotation)


def camel(name):
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)


def compare(what, theirs, ours):
    theirs = {word for word in theirs if word}
    if not theirs:
        faults.append(f"{what}: the SDK has no such type any more")
    for word in sorted(theirs - ours):
        faults.append(f"{what}: {word}")


def expect(what, holds):
    """What the codecs and adapters build on."""
    if not holds:
        faults.append(f"does not hold any more: {what}")


def has(kind, *fields):
    own = getattr(kind, "model_fields", None) or typing.get_type_hints(kind, include_extras=True)
    return all(field in own for field in fields)


chat_reasons = known("OPENAI_FINISH_REASONS", "MISTRAL_FINISH_REASONS", "COMPATIBLE_FINISH_REASONS")
compare("finish_reason of openai", finish_reasons(openai_chunk), chat_reasons)
compare("finish_reason of groq", finish_reasons(groq_chunk), chat_reasons)
compare("finish_reason of mistralai", literals(mistral.CompletionResponseStreamChoiceFinishReason), chat_reasons)
compare("status of responses", literals(responses.ResponseStatus), known("OPENAI_RESPONSE_STATUSES"))
incomplete = responses.response.IncompleteDetails.model_fields["reason"].annotation
compare("incomplete_details.reason", literals(incomplete), known("OPENAI_INCOMPLETE_REASONS"))
stop_reasons = literals(anthropic.StopReason) | literals(anthropic_beta.BetaStopReason)
compare("stop_reason of anthropic", stop_reasons, known("ANTHROPIC_STOP_REASONS"))
compare("finishReason of google-genai", {one.value for one in gemini.FinishReason}, known("GEMINI_FINISH_REASONS"))

compare("events of anthropic", kinds(anthropic.RawMessageStreamEvent), known("ANTHROPIC_EVENTS"))
blocks = kinds(anthropic.ContentBlock) | kinds(anthropic_beta.BetaContentBlock)
compare("blocks of anthropic", blocks, known("ANTHROPIC_BLOCKS"))
deltas = kinds(anthropic.RawContentBlockDelta) | kinds(anthropic_beta.BetaRawContentBlockDelta)
compare("deltas of anthropic", deltas, known("ANTHROPIC_DELTAS"))
compare("events of responses", kinds(responses.ResponseStreamEvent), known("OPENAI_RESPONSE_EVENTS"))
compare("items of responses", kinds(responses.ResponseOutputItem), known("OPENAI_RESPONSE_ITEMS"))
compare("parts of google-genai", {camel(field) for field in gemini.Part.model_fields}, known("GEMINI_PARTS"))
compare("chunks of mistralai", kinds(mistral.ContentChunk) - {"UNKNOWN"}, known("MISTRAL_CHUNKS"))

expect("a tool of anthropic has strict and eager_input_streaming", has(anthropic.ToolParam, "strict", "eager_input_streaming"))
expect("a tool use of anthropic has caller", has(anthropic.ToolUseBlockParam, "caller"))
expect("a request to anthropic has container", has(anthropic.message_create_params.MessageCreateParamsBase, "container"))
expect("a refusal of anthropic has category and explanation", has(anthropic.RefusalStopDetails, "category", "explanation"))
expect("google-genai takes JSON Schema of parameters", has(gemini.FunctionDeclaration, "parameters_json_schema"))
expect("google-genai takes JSON Schema of answers", has(gemini.GenerateContentConfig, "response_json_schema"))
expect("a candidate of google-genai has finish_message", has(gemini.Candidate, "finish_message"))
expect("thinking of mistralai has a signature", has(mistral.ThinkChunk, "signature"))
expect("mistralai takes reasoning_effort", has(mistral.ChatCompletionStreamRequest, "reasoning_effort"))
expect("a picture of responses has detail", has(responses.ResponseInputImageParam, "detail"))
expect("a message of ollama has thinking and tool_name", has(ollama.Message, "thinking", "tool_name"))
expect("an answer of ollama has done_reason", has(ollama.ChatResponse, "done_reason"))

facts = (ADAPTERS / "model_facts.lua").read_text()
defaults = dict(re.findall(r'^  (\w+) = "([^"]+)",$', facts, re.M))
for adapter, models in {
    "anthropic": literals(anthropic.Model),
    "openai": literals(openai_shared.AllModels) | literals(openai_shared.ChatModel),
}.items():
    expect(f"the default model of {adapter}, {defaults.get(adapter)}, is one that its SDK names", defaults.get(adapter) in models)

# The newest version of each tool that the provider runs.
own = set(re.findall(r'tool\("(\w+)", "(\d{8})"', (ADAPTERS / "anthropic.lua").read_text()))
versions = {}
for name in dir(anthropic):
    if name.endswith("Param") and re.search(r"\d{8}", name):
        for kind in literals(typing.get_type_hints(getattr(anthropic, name), include_extras=True).get("type")):
            tool, _, version = kind.rpartition("_")
            versions[tool] = max(version, versions.get(tool, ""))
for tool in sorted({tool for tool, _ in own}):
    newest = versions.get(tool, "none")
    expect(f"the newest {tool} of anthropic is {newest}", (tool, newest) in own)

for package in PACKAGES:
    print(f"{package} {importlib.metadata.version(package)}")
for fault in faults:
    print(f"not known: {fault}" if not fault.startswith("does not") else fault)
print("nothing has drifted" if not faults else f"{len(faults)} to look at")
sys.exit(1 if faults else 0)
