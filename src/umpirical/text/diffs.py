"""Two texts compared word by word: what was removed, what was added, and what stayed."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

MOST_TOKENS = 10_000
"""In a text with more tokens, lines are compared instead of words, which is quick for any text."""

# Each blank is a token, so that one more space is one space added. So is each character of scripts without spaces.
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKENS = re.compile(rf"\s|[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text. All pieces but the added ones make up the first text, all but the removed ones the second."""

    kind: Literal["same", "removed", "added"]
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch of the first text, and what replaces it in the second; the same for a stretch that has not changed."""

    removed: str
    added: str

    @property
    def same(self) -> bool:
        return self.removed == self.added


def word_diff(before: str, after: str) -> list[Piece]:
    """The second text compared with the first, in reading order: removed pieces come before added ones.

    >>> [(piece.kind, piece.text) for piece in word_diff("a red cat", "a blue cat")]
    [('same', 'a '), ('removed', 'red'), ('added', 'blue'), ('same', ' cat')]
    """
    return [piece for change in changes(before, after) for piece in _pieces(change)]


def changes(before: str, after: str) -> Iterator[Change]:
    """The changes and the stretches between them, in order. Joined, their sides are exactly the two texts."""
    return _runs(part for change in _joined(_compared(before, after)) for part in _trimmed(change))


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
    """Joins neighbouring changes with only blanks or punctuation between them: they read better as one.

    Changes without a word in them, such as of blanks, stay apart: what is between them has not changed.
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
    """Splits off spaces that both sides end with: they have not changed."""
    one, two = change.removed, change.added
    common = 0
    while not change.same and common < min(len(one), len(two)) and one[-1 - common] == two[-1 - common] == " ":
        common += 1
    yield Change(one[: len(one) - common], two[: len(two) - common])
    if common:
        yield Change(one[len(one) - common :], two[len(two) - common :])


def _runs(parts: Iterable[Change]) -> Iterator[Change]:
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


# Invisible characters made visible: blanks by a sign, hidden characters by their name.

SPACE = "·"

_CONTROLS = {0x00: "NUL", 0x07: "BELL", 0x08: "BACKSPACE", 0x0D: "CARRIAGE RETURN", 0x1B: "ESCAPE", 0x7F: "DELETE"}

# The names of characters never change, so every version of Python writes the same text alike.
_NAMED = (
    0x00A0, 0x00AD, 0x034F, 0x061C, 0x180E, *range(0x2000, 0x2010), *range(0x2028, 0x2030), 0x205F,
    *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0x3000, 0x3164, 0xFEFF,
)  # fmt: skip

_NAMES = {chr(code): f"⟦{name}⟧" for code, name in _CONTROLS.items()} | {
    chr(code): f"⟦{unicodedata.name(chr(code))}⟧" for code in _NAMED
}
_HIDDEN = re.compile(f"[{''.join(map(re.escape, _NAMES))}]")

# A space that a reader would overlook: one of several, or one at the edge of a line.
_OVERLOOKED = re.compile(r" {2,}|(?<=[\n\t]) +| +(?=[\n\t])")


def named(text: str) -> str:
    r"""`text` with hidden characters replaced by their names, where these are well known; the page spells out the rest.

    >>> named("a\u200bb")
    'a⟦ZERO WIDTH SPACE⟧b'
    """
    return _HIDDEN.sub(lambda found: _NAMES[found[0]], text)


def mark_blanks(text: str, *, newline: str, tab: str) -> str:
    r"""A piece that was added or removed, with a sign for line ends, tabs and spaces that a reader would overlook.

    >>> mark_blanks("two  spaces\n", newline="⏎", tab="⇥"), mark_blanks("plain words ", newline="⏎", tab="⇥")
    ('two··spaces⏎\n', 'plain words ')
    """
    dotted = text.replace(" ", SPACE) if text.isspace() else _OVERLOOKED.sub(lambda run: SPACE * len(run[0]), text)
    return dotted.replace("\t", tab).replace("\n", f"{newline}\n")


def signed(text: str) -> str:
    r"""A piece that was added or removed, with its blanks marked and its hidden characters named.

    >>> signed("two  spaces\n"), signed(" "), signed("a\u200b")
    ('two··spaces↵\n', '·', 'a⟦ZERO WIDTH SPACE⟧')
    """
    return named(mark_blanks(text, newline="↵", tab="→"))
