"""List or prose: the sentences of a paragraph become a list, those of a list a paragraph."""

import re
from bisect import bisect
from itertools import pairwise

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.text.blocks import FENCED, LINE_END, LINE_START, Target, drawn, line_runs, spliced
from umpirical.text.sentences import CERTAIN_END, CERTAIN_GAP, CERTAIN_START

FEWEST_SENTENCES = 3
"""The fewest sentences of a paragraph that becomes a list."""

_SENTENCE_GAP = Target(CERTAIN_GAP)
_SENTENCE = re.compile(CERTAIN_START)
_ITEM = re.compile(rf"[-*+•] {CERTAIN_START}")
_CLOSED = re.compile(rf"{CERTAIN_END}\Z")

# What comes first is seen at a glance, so that the rest is looked at only there.
_BULLETS = Target(rf"(?=[-*+•]){LINE_START}(?:[-*+•] )++{CERTAIN_START}", kept=FENCED)
_JOINT = Target(rf"(?=[ \r\n]){CERTAIN_END}(?: |{LINE_END}){CERTAIN_START}", kept=FENCED)

TextEdit = tuple[int, int, str]


def _change(text: str, rng: np.random.Generator) -> str:
    line_break = "\r\n" if "\r\n" in text else "\n"
    gaps = [gap.start() for gap in _SENTENCE_GAP.places(text)]
    possible = [_as_prose(block) or _as_list(block, gaps, line_break) for block in line_runs(text)]
    return spliced(text, [edit for edits in drawn([edits for edits in possible if edits], 0.5, rng) for edit in edits])


def _as_prose(block: list[re.Match[str]]) -> list[TextEdit]:
    """Edits that join a list of whole sentences, which a line may introduce; none if it is not such a list."""
    items = block[0 if _ITEM.match(block[0][0]) else 1 :]
    if len(items) < 2 or not all(_ITEM.match(item[0]) for item in items):
        return []
    if not all(_CLOSED.search(item[0]) for item in items[:-1]):
        return []
    first = (items[0].start(), items[0].start() + 2, "")
    joints = [(one.end(), other.start() + 2, " ") for one, other in pairwise(items)]
    return [first, *joints]


def _as_list(block: list[re.Match[str]], gaps: list[int], line_break: str) -> list[TextEdit]:
    """Edits that make each sentence of a paragraph an item; none if it has few sentences or several lines."""
    line = block[0]
    inside = gaps[bisect(gaps, line.start()) : bisect(gaps, line.end())]
    if len(block) > 1 or len(inside) < FEWEST_SENTENCES - 1 or not _SENTENCE.match(line[0]):
        return []
    return [(line.start(), line.start(), "- "), *((gap, gap + 1, f"{line_break}- ") for gap in inside)]


def _normal(text: str) -> str:
    """Without bullets before a sentence, and with each sentence on a line of its own; all else stays."""
    return _JOINT.replaced(_BULLETS.replaced(text, lambda _: ""), lambda _: "\n")


PERTURBATION = ProvedPerturbation(
    name="list-or-prose",
    title="List or prose",
    about="Half of the paragraphs of three sentences or more become bullet lists, and bullet lists become paragraphs.",
    version=1,
    change=_change,
    normal=_normal,
    alters="format",
)
