"""The transcripts that a judge of agents was shown, as a log for `inspect view`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.transcripts import Message, Transcript, transcript_from_text
from umpirical.runs.run import open_run

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessage

MOST_SAMPLES = 20_000
"""Texts of one log; Inspect reads a log into memory."""


def export_transcripts(folder: Path, out: Path) -> tuple[Path, int]:
    """Writes the texts of a run, each once, with the policy, the truth and the edit; returns path and number."""
    run = open_run(folder)
    if run.manifest["protocol"] != "umpirical-agent/1":
        raise UsageError(f"{run.name} is no run on transcripts", fix="--to inspect  exports its answers")
    if run.stimuli.manifest["stimuli"] > MOST_SAMPLES:
        raise UsageError(f"more than {MOST_SAMPLES:,} texts", fix="export a smaller run")
    samples = list(_samples(run.stimuli))
    return write_log(samples, out, name=run.name), len(samples)


def write_log(samples: "list[EvalSample]", out: Path, *, name: str) -> Path:
    """Writes samples as a log of Inspect's."""
    try:
        from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec, write_eval_log
    except ImportError:
        raise UsageError("Inspect's logs need Inspect AI", fix="pip install 'umpirical[inspect]'") from None
    spec = EvalSpec(
        created="2000-01-01T00:00:00+00:00",
        task="umpirical/transcripts",
        task_id=name,
        run_id=name,
        eval_id=name,
        dataset=EvalDataset(name=name, samples=len(samples), sample_ids=[str(sample.id) for sample in samples]),
        model="none/none",
        config=EvalConfig(),
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    write_eval_log(EvalLog(status="success", eval=spec, samples=samples), str(out))
    return out


def _samples(stimuli: Iterable[Stimulus]) -> "Iterator[EvalSample]":
    for stimulus in stimuli:
        about = {"edit": stimulus.family, "truth": stimulus.gold, "policy": stimulus.version, **stimulus.strata}
        shown = transcript_from_text(stimulus.candidates[0])
        name = f"{stimulus.task_id} {stimulus.family} {stimulus.version} {stimulus.id[:8]}"
        yield sample_of(shown, name=name, policy=stimulus.task, about={**about, **stimulus.evidence})


def sample_of(transcript: Transcript, *, name: str, policy: str, about: dict[str, Any]) -> "EvalSample":
    """Returns a transcript as a sample: the policy is its input, and its messages are the transcript's."""
    from inspect_ai.log import EvalSample

    messages = [_chat_message(message) for message in transcript.messages]
    return EvalSample(id=name, epoch=1, input=policy, target="", messages=messages, metadata=about)


def _chat_message(message: Message) -> "ChatMessage":
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
        ContentReasoning,
        ContentText,
    )
    from inspect_ai.tool import ToolCall, ToolCallError

    match message.role:
        case "system":
            return ChatMessageSystem(content=message.text)
        case "user":
            return ChatMessageUser(content=message.text)
        case "tool":
            kind, _, said = message.error.partition(": ")
            failed: Any = {"type": kind, "message": said} if message.error else None
            error = ToolCallError(**failed) if failed else None
            return ChatMessageTool(
                content=message.text, tool_call_id=message.answers, function=message.tool or None, error=error
            )
        case "assistant":
            calls = [
                ToolCall(
                    id=call.id,
                    function=call.tool,
                    arguments=call.named or {},
                    parse_error=_unparsed(call.arguments, call.named),
                )
                for call in message.calls
            ]
            content: Any = message.text
            if message.reasoning:
                content = [ContentReasoning(reasoning=message.reasoning), ContentText(text=message.text)]
            return ChatMessageAssistant(content=content, tool_calls=calls or None)


def _unparsed(written: str, named: dict[str, Any] | None) -> str | None:
    return f"not a JSON object: {written[:200]}" if named is None else None
