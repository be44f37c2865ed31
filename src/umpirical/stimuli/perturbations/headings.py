"""Which lines are headings, whatever the case of their letters."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from umpirical.text.prose import LETTER, blocks

__all__ = ["Heading", "headings"]

MOST_WORDS, MOST_CHARACTERS, FEWEST_LETTERS = 10, 80, 4

_MARKS = re.compile(r"#{1,6}[ \t]+")
_LETTER = re.compile(LETTER)
# A comma is more often that of a salutation, an underscore that of a name which was taken out.
_PLAIN = re.compile(rf"{LETTER}[^,_|\r\n]*[^\s.!?:;,_|]\Z")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading in a text."""

    start: int
    """Where its words begin, after the marks of a Markdown heading."""
    end: int
    marked: bool
    """Whether it is a Markdown heading."""


def headings(text: str) -> Iterator[Heading]:
    """Markdown headings, and short lines that stand alone above something and do not end as a sentence does."""
    found = blocks(text)
    for place, block in enumerate(found):
        alone = len(block) == 1 and place < len(found) - 1
        for line in block:
            if marks := _MARKS.match(line[0]):
                yield Heading(line.start() + marks.end(), line.end(), marked=True)
            elif alone and _looks_like_one(line[0]):
                yield Heading(line.start(), line.end(), marked=False)


def _looks_like_one(line: str) -> bool:
    if len(line) > MOST_CHARACTERS or len(line.split()) > MOST_WORDS or not _PLAIN.match(line):
        return False
    return len(_LETTER.findall(line)) >= FEWEST_LETTERS
