"""Two texts, word by word: what was removed, what was added, and what stayed."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["Change", "Piece", "changes", "signed", "word_diff"]

MOST_TOKENS = 10_000
"""Of one text: beyond that, lines are compared and not words, which is quick for any text."""

SPACE, NEWLINE, TAB = "·", "⏎", "⇥"

# Each blank by itself, so that one space more is one space added. Of scripts without spaces, each character.
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKENS = re.compile(rf"\s|[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

# A space that a reader would overlook: one of several, or one at the edge of a line.
_OVERLOOKED = re.compile(r" {2,}|(?<=[\n\t]) +| +(?=[\n\t])")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text. The pieces that were not added make up the first text, those not removed the second."""

    kind: Literal["same", "removed", "added"]
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """What stood in the first text, and what stands in its place. Equal for what has not changed."""

    removed: str
    added: str

    @property
    def same(self) -> bool:
        return self.removed == self.added


def word_diff(before: str, after: str) -> list[Piece]:
    """The second text against the first, in the order of reading: what was removed comes before what was added.

    >>> [(piece.kind, piece.text) for piece in word_diff("a red cat", "a blue cat")]
    [('same', 'a '), ('removed', 'red'), ('added', 'blue'), ('same', ' cat')]
    """
    return [piece for change in changes(before, after) for piece in _pieces(change)]


def changes(before: str, after: str) -> Iterator[Change]:
    """Changes and what stands between them, in order. Joined, the two sides are the two texts, to the letter."""
    return _runs(part for change in _joined(_compared(before, after)) for part in _trimmed(change))


def signed(text: str) -> str:
    r"""A piece that was added or removed: line ends, tabs, and spaces that a reader would overlook have a sign.

    >>> signed("two  spaces\n"), signed(" "), signed("plain words ")
    ('two··spaces⏎\n', '·', 'plain words ')
    """
    dotted = text.replace(" ", SPACE) if text.isspace() else _OVERLOOKED.sub(lambda run: SPACE * len(run[0]), text)
    return dotted.replace("\t", TAB).replace("\n", f"{NEWLINE}\n")


def _pieces(change: Change) -> Iterator[Piece]:
    if change.same:
        yield Piece("same", change.removed)
        return
    if change.removed:
        yield Piece("removed", change.removed)
    if change.added:
        yield Piece("added", change.added)


def _compared(before: str, after: str) -> Iterator[Change]:
    from rapidfuzz.distance import Indel

    one, two = _TOKENS.findall(before), _TOKENS.findall(after)
    if max(len(one), len(two)) > MOST_TOKENS:
        one, two = _LINES.findall(before), _LINES.findall(after)
    steps = (
        (
            step.tag == "equal",
            "".join(one[step.src_start : step.src_end]),
            "".join(two[step.dest_start : step.dest_end]),
        )
        for step in Indel.opcodes(one, two)
    )
    removed, added = "", ""
    for is_equal, gone, new in steps:
        if not is_equal:
            removed, added = removed + gone, added + new
            continue
        if removed or added:
            yield Change(removed, added)
            removed, added = "", ""
        yield Change(gone, new)
    if removed or added:
        yield Change(removed, added)


def _joined(compared: Iterable[Change]) -> Iterator[Change]:
    """Neighbouring changes with nothing but blanks or punctuation between them as one: sentences read better whole.

    Changes of blanks alone stay apart, since there the words between are what has not changed.
    """
    waiting: list[Change] = []
    for change in compared:
        waiting.append(change)
        if len(waiting) == 3 and _reads_as_one(*waiting):
            waiting = [Change("".join(each.removed for each in waiting), "".join(each.added for each in waiting))]
        while len(waiting) > 2 or (waiting and waiting[0].same):
            yield waiting.pop(0)
    yield from waiting


def _reads_as_one(first: Change, between: Change, second: Change) -> bool:
    if not between.same or re.search(r"\w", between.removed):
        return False
    return all(re.search(r"\w", change.removed + change.added) for change in (first, second))


def _trimmed(change: Change) -> Iterator[Change]:
    """Spaces that both sides end with have not changed."""
    one, two = change.removed, change.added
    common = 0
    while not change.same and common < min(len(one), len(two)) and one[-1 - common] == two[-1 - common] == " ":
        common += 1
    yield Change(one[: len(one) - common], two[: len(two) - common])
    if common:
        yield Change(one[len(one) - common :], two[len(two) - common :])


def _runs(parts: Iterable[Change]) -> Iterator[Change]:
    """Neighbours that have not changed as one."""
    waiting: Change | None = None
    for part in parts:
        if not (part.removed or part.added):
            continue
        if waiting is not None and waiting.same and part.same:
            waiting = Change(waiting.removed + part.removed, waiting.added + part.added)
            continue
        if waiting is not None:
            yield waiting
        waiting = part
    if waiting is not None:
        yield waiting
