"""What may be taken out of transcripts before a judge sees them, known by name: nothing is imported by a path."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from umpirical.domain.errors import UsageError
from umpirical.domain.transcripts import Message, Transcript

Preprocessor = Callable[[Transcript], Transcript]

TAKEN_OUT = "[tool output taken out]"
"""Stands for a tool's output, so that every call still has its answer."""


def drop_tool_output(transcript: Transcript) -> Transcript:
    """What tools answered is replaced by a placeholder, and an error by the fact that there was one."""
    return _each(
        transcript,
        lambda message: (
            replace(message, text=TAKEN_OUT, error=message.error and TAKEN_OUT, attachments=())
            if message.role == "tool"
            else message
        ),
    )


def drop_reasoning(transcript: Transcript) -> Transcript:
    """What the agent thought is taken out; what it said and called stays."""
    return _each(transcript, lambda message: replace(message, reasoning=""))


def strip_system(transcript: Transcript) -> Transcript:
    """System messages are taken out, wherever they stand."""
    return replace(transcript, messages=tuple(each for each in transcript.messages if each.role != "system"))


PREPROCESSORS: Mapping[str, Preprocessor] = {
    "drop-tool-output": drop_tool_output,
    "drop-reasoning": drop_reasoning,
    "strip-system": strip_system,
}


def preprocessed(transcript: Transcript, names: Sequence[str]) -> Transcript:
    """Returns the transcript after each of the named preprocessors, in that order."""
    for name in names:
        transcript = PREPROCESSORS[name](transcript)
    return transcript


def check_names(names: Sequence[str]) -> None:
    """Raises UsageError for a name that no preprocessor has."""
    for name in names:
        if name not in PREPROCESSORS:
            near = get_close_matches(name, PREPROCESSORS, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(PREPROCESSORS)}"
            raise UsageError(f"no preprocessor is named {name!r:.80}", fix=fix)


def _each(transcript: Transcript, change: Callable[[Message], Message]) -> Transcript:
    return replace(transcript, messages=tuple(map(change, transcript.messages)))
