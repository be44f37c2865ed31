"""What an editor reads of everything before a message: all of it if that is short, else a running summary."""

from collections.abc import Sequence
from dataclasses import dataclass

from umpirical.domain.transcripts import Message, Transcript
from umpirical.stimuli.transcripts.rewriting.questions import numbered, question

NOTHING = "(Nothing came before.)"


@dataclass(frozen=True, slots=True)
class Summary:
    """What was summarised."""

    text: str = ""
    upto: int = 0
    """The number of the last message that it covers; 0 if it covers none."""


def what_came_before(draft: Transcript, number: int, *, verbatim: int) -> str | None:
    """Returns everything before a message; None if that is more than an editor is to read in full."""
    before = numbered(draft.messages[: number - 1])
    if len(before) > verbatim:
        return None
    return before or NOTHING


def summary_prompt(summary: Summary, messages: Sequence[Message]) -> str:
    """Shows the summary so far and the messages since, as they now are."""
    return question(
        "summarise",
        {
            "summary": summary.text or NOTHING,
            "messages": numbered(messages, first=summary.upto + 1),
        },
    )
