"""Two texts, word by word: what was removed, what was added, and what stands between, folded where it is long."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from umpirical.reports import numbers
from umpirical.text.diffs import Change, changes
from umpirical.text.visible import named, signed

__all__ = ["Segment", "Stretch", "compare_words", "show_text"]

FOLD_OVER, CONTEXT = 400, 140
"""Characters of unchanged text beyond which it is folded, and how many of them stay on either side of a change."""

SHOWN, SHOWN_ALONE = 3_000, 900
"""Characters of a diff, and of a text alone, that are open; the rest is behind a fold."""

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


def compare_words(original: str, changed: str) -> tuple[Stretch, ...]:
    """The changed text against the original, made visible and folded for the page."""
    return _limited(_folded(list(changes(original, changed))), room=SHOWN)


def show_text(text: str) -> tuple[Stretch, ...]:
    """One text, made visible and folded for the page."""
    return _limited([Stretch((Segment("same", named(text)),))], room=SHOWN_ALONE)


def _folded(compared: Sequence[Change]) -> list[Stretch]:
    """Long unchanged text behind a fold, with some of it left on the sides where something changed."""
    stretches: list[Stretch] = []
    open_: list[Segment] = []
    for place, change in enumerate(compared):
        if not change.same:
            open_ += [Segment("removed", signed(change.removed))] if change.removed else []
            open_ += [Segment("added", signed(change.added))] if change.added else []
            continue
        text = change.removed
        if len(text) <= FOLD_OVER:
            open_.append(Segment("same", named(text)))
            continue
        before = _edge(text[:CONTEXT], keep="start") if place else ""
        after = _edge(text[-CONTEXT:], keep="end") if place + 1 < len(compared) else ""
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
