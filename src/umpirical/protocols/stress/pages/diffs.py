"""Compares two texts word by word: what was removed, what was added, and what is unchanged, folded if it is long."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from umpirical.reports import numbers
from umpirical.text.diffs import Change, changes, named, signed

FOLD_OVER, CONTEXT = 400, 140
"""Unchanged text longer than this many characters is folded, with this many left on either side of a change."""

SHOWN, SHOWN_ALONE = 3_000, 900
"""How many characters of a diff, and of a single text, are visible; the rest is behind a fold."""

Kind = Literal["same", "removed", "added"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Adjacent segments, visible or behind a fold."""

    segments: tuple[Segment, ...]
    fold: str = ""
    """The label of the fold; empty if the stretch is visible."""


def compare_words(original: str, changed: str) -> tuple[Stretch, ...]:
    """Compares the changed text with the original, with invisible characters shown, folded for the page."""
    return _limited(_folded(list(changes(original, changed))), room=SHOWN)


def show_text(text: str) -> tuple[Stretch, ...]:
    """Returns one text, with invisible characters shown, folded for the page."""
    return _limited([Stretch((Segment("same", named(text)),))], room=SHOWN_ALONE)


def _folded(compared: Sequence[Change]) -> list[Stretch]:
    """Puts long unchanged text behind a fold, leaving some of it next to each change."""
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
    """Trims the text so that no word is split at the fold."""
    words = re.match(r"(?s)(.*\s)", text) if keep == "start" else re.search(r"(?s)\s(\S.*)", text)
    return words[1] if words else text


def _limited(stretches: Sequence[Stretch], *, room: int) -> tuple[Stretch, ...]:
    """Leaves the first stretches visible and puts the rest behind one fold; short texts stay as they are."""
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
    """Splits segments after this many characters."""
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
