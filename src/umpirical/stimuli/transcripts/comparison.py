"""Two transcripts compared message by message."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from umpirical.domain.transcripts import Message, Transcript


@dataclass(frozen=True, slots=True)
class Changed:
    """A message that is not in both transcripts."""

    number: int | None
    """In the second transcript, from 1; None if it was taken out."""
    kind: Literal["changed", "added", "removed"]
    before: str
    after: str


def message_changes(before: Transcript, after: Transcript) -> Iterator[Changed]:
    """Yields what differs, in order. Messages in one place are taken for versions of each other."""
    one, two = ([_written(message) for message in each.messages] for each in (before, after))
    for kind, start, end, first, last in SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        gone, new = one[start:end], two[first:last]
        shared = min(len(gone), len(new))
        yield from (Changed(first + place + 1, "changed", gone[place], new[place]) for place in range(shared))
        yield from (Changed(None, "removed", text, "") for text in gone[shared:])
        yield from (Changed(first + place + 1, "added", "", new[place]) for place in range(shared, len(new)))


def _written(message: Message) -> str:
    return json.dumps(message.as_json(), ensure_ascii=False)
