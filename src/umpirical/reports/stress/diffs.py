"""Two texts, word by word: what was removed, what was added, and what stands between, folded where it is long."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from umpirical.reports import numbers
from umpirical.reports.stress.visible import named, signed

__all__ = ["Segment", "Stretch", "compare_words", "show_text"]

MOST_TOKENS = 10_000
"""Of one text: beyond that, lines are compared and not words, which is quick for any text."""

FOLD_OVER, CONTEXT = 400, 140
"""Characters of unchanged text beyond which it is folded, and how many of them stay on either side of a change."""

SHOWN, SHOWN_ALONE = 3_000, 900
"""Characters of a diff, and of a text alone, that are open; the rest is behind a fold."""

# Each blank by itself, so that one space more is one space added. Of scripts without spaces, each character.
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKENS = re.compile(rf"\s|[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

Kind = Literal["same", "removed", "added"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Segments that stand together, open or behind a fold."""

    segments: tuple[Segment, ...]
    fold: str = ""
    """What is written on the fold; empty if it is open."""


@dataclass(frozen=True, slots=True)
class Change:
    """What stood in the original, and what stands in its place. Equal for what has not changed."""

    removed: str
    added: str

    @property
    def same(self) -> bool:
        return self.removed == self.added


def compare_words(original: str, changed: str) -> tuple[Stretch, ...]:
    """The changed text against the original, made visible and folded for the page."""
    changes = _joined(_changes(original, changed))
    return _limited(_folded(list(changes)), room=SHOWN)


def show_text(text: str) -> tuple[Stretch, ...]:
    """One text, made visible and folded for the page."""
    return _limited([Stretch((Segment("same", named(text)),))], room=SHOWN_ALONE)


def _changes(original: str, changed: str) -> Iterator[Change]:
    from rapidfuzz.distance import Indel

    one, two = _TOKENS.findall(original), _TOKENS.findall(changed)
    if max(len(one), len(two)) > MOST_TOKENS:
        one, two = _LINES.findall(original), _LINES.findall(changed)
    removed, added = "", ""
    for step in Indel.opcodes(one, two):
        before = "".join(one[step.src_start : step.src_end])
        after = "".join(two[step.dest_start : step.dest_end])
        if step.tag != "equal":
            removed, added = removed + before, added + after
            continue
        if removed or added:
            yield Change(removed, added)
            removed, added = "", ""
        yield Change(before, after)
    if removed or added:
        yield Change(removed, added)


def _joined(changes: Iterable[Change]) -> Iterator[Change]:
    """Neighbouring changes with nothing but blanks or punctuation between them as one: sentences read better whole.

    Changes of blanks alone stay apart, since there the words between are what has not changed.
    """
    waiting: list[Change] = []
    for change in changes:
        waiting.append(change)
        if len(waiting) == 3 and _reads_as_one(*waiting):
            waiting = [Change("".join(c.removed for c in waiting), "".join(c.added for c in waiting))]
        while len(waiting) > 2 or (waiting and waiting[0].same):
            yield from _trimmed(waiting.pop(0))
    for change in waiting:
        yield from _trimmed(change)


def _trimmed(change: Change) -> Iterator[Change]:
    """Blanks that both sides end with have not changed."""
    one, two = change.removed, change.added
    common = 0
    while not change.same and common < min(len(one), len(two)) and one[-1 - common] == two[-1 - common] == " ":
        common += 1
    yield Change(one[: len(one) - common], two[: len(two) - common])
    if common:
        yield Change(one[len(one) - common :], two[len(two) - common :])


def _reads_as_one(first: Change, between: Change, second: Change) -> bool:
    if not between.same or re.search(r"\w", between.removed):
        return False
    return all(re.search(r"\w", change.removed + change.added) for change in (first, second))


def _folded(changes: Sequence[Change]) -> list[Stretch]:
    """Long unchanged text behind a fold, with some of it left on the sides where something changed."""
    stretches: list[Stretch] = []
    open_: list[Segment] = []
    for place, change in enumerate(changes):
        if not change.same:
            open_ += [Segment("removed", signed(change.removed))] if change.removed else []
            open_ += [Segment("added", signed(change.added))] if change.added else []
            continue
        text = change.removed
        if len(text) <= FOLD_OVER:
            open_.append(Segment("same", named(text)))
            continue
        before = _edge(text[:CONTEXT], keep="start") if place else ""
        after = _edge(text[-CONTEXT:], keep="end") if place + 1 < len(changes) else ""
        hidden = text[len(before) : len(text) - len(after)]
        open_ += [Segment("same", named(before))] if before else []
        stretches += [Stretch(tuple(open_))] if open_ else []
        words = f"{numbers.count(len(hidden))} characters unchanged"
        stretches.append(Stretch((Segment("same", named(hidden)),), fold=words))
        open_ = [Segment("same", named(after))] if after else []
    return [*stretches, Stretch(tuple(open_))] if open_ else stretches


def _edge(text: str, *, keep: Literal["start", "end"]) -> str:
    """Without half a word at the side of the fold."""
    words = re.match(r"(?s)(.*\s)", text) if keep == "start" else re.search(r"(?s)\s(\S.*)", text)
    return words[1] if words else text


def _limited(stretches: Sequence[Stretch], *, room: int) -> tuple[Stretch, ...]:
    """The first stretches open, and all that follows behind one fold; short texts as they are."""
    shown: list[Stretch] = []
    for place, stretch in enumerate(stretches):
        size = 0 if stretch.fold else sum(len(segment.text) for segment in stretch.segments)
        if size <= room:
            shown.append(stretch)
            room -= size
            continue
        opened, rest = _split(stretch.segments, room)
        later = [segment for following in stretches[place + 1 :] for segment in following.segments]
        shown += [Stretch(opened)] if opened else []
        characters = sum(len(segment.text) for segment in (*rest, *later))
        return (*shown, Stretch((*rest, *later), fold=f"The rest: {numbers.count(characters)} characters"))
    return tuple(shown)


def _split(segments: Sequence[Segment], room: int) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Segments up to so many characters, and those after."""
    opened: list[Segment] = []
    for place, segment in enumerate(segments):
        if len(segment.text) <= room:
            opened.append(segment)
            room -= len(segment.text)
            continue
        parts = [Segment(segment.kind, segment.text[:room]), Segment(segment.kind, segment.text[room:])]
        opened += [parts[0]] if parts[0].text else []
        return tuple(opened), (parts[1], *segments[place + 1 :])
    return tuple(opened), ()
