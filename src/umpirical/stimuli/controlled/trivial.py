"""Judges that read nothing: each goes by one surface feature.

On sound stimuli none of them does better than a coin. They are tried on every stimulus set before it is used, and can
be run as judges: `callable: umpirical.stimuli.controlled.trivial:longer`.
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

from umpirical.text.sentences import sentences_at_every_stop

SlotVerdict = Literal["1", "2", "tie"]

TrivialJudge = Callable[[str, str, str], SlotVerdict]
"""From a task and the two candidates in their slots to a verdict."""

_WORD = re.compile(r"\w+")
_CAPITALS = re.compile(r"[A-Z0-9]")
_VOWELS = re.compile(r"[aeiouy]+", re.IGNORECASE)


def longer(_: str, first: str, second: str) -> SlotVerdict:
    """The one with more characters."""
    return _higher(len(first), len(second))


def shorter(_: str, first: str, second: str) -> SlotVerdict:
    return _higher(-len(first), -len(second))


def first_slot(_task: str, _first: str, _second: str) -> SlotVerdict:
    """Slot 1, whatever is in it."""
    return "1"


def alphabetical(_: str, first: str, second: str) -> SlotVerdict:
    """The one that would come first in a dictionary."""
    return "tie" if first == second else "1" if first.casefold() < second.casefold() else "2"


def readability(_: str, first: str, second: str) -> SlotVerdict:
    """The one that is easier to read, by Flesch's formula."""
    return _higher(_reading_ease(first), _reading_ease(second))


def gzip_size(_: str, first: str, second: str) -> SlotVerdict:
    """The one that is larger after compression: the one with more in it."""
    return _higher(len(zlib.compress(first.encode())), len(zlib.compress(second.encode())))


def prompt_overlap(task: str, first: str, second: str) -> SlotVerdict:
    """The one that takes more of its words from the task."""
    words = frozenset(words_of(task))
    return _higher(_overlap(first, words), _overlap(second, words))


def capitals(_: str, first: str, second: str) -> SlotVerdict:
    """The one with more capital letters and figures."""
    return _higher(len(_CAPITALS.findall(first)), len(_CAPITALS.findall(second)))


TRIVIAL: dict[str, TrivialJudge] = {
    "longer": longer,
    "shorter": shorter,
    "first-slot": first_slot,
    "alphabetical": alphabetical,
    "readability": readability,
    "gzip-size": gzip_size,
}
"""None of these may do better or worse than a coin."""

REPORTED: dict[str, TrivialJudge] = {"prompt-overlap": prompt_overlap, "capitals": capitals}
"""Good answers do share words with the task and do name names: what these score is printed and blocks nothing."""


def _higher(first: float, second: float) -> SlotVerdict:
    return "1" if first > second else "2" if second > first else "tie"


def _reading_ease(text: str) -> float:
    counted = [_counts(sentence) for sentence in sentences_at_every_stop(text)]
    words, syllables = (sum(column) for column in zip(*counted, strict=True)) if counted else (0, 0)
    return 206.835 - 1.015 * words / len(counted) - 84.6 * syllables / words if words else 0.0


def _overlap(text: str, words: frozenset[str]) -> float:
    found = [word for sentence in sentences_at_every_stop(text) for word in words_of(sentence)]
    return sum(map(words.__contains__, found)) / len(found) if found else 0.0


# Answers are made of the same sentences again and again, so what is found in a sentence is cached.


@lru_cache(maxsize=1 << 15)
def _counts(sentence: str) -> tuple[int, int]:
    """Words and syllables, by groups of vowels."""
    words = _WORD.findall(sentence)
    return len(words), sum(map(_syllables, words))


@lru_cache(maxsize=1 << 14)
def _syllables(word: str) -> int:
    return max(1, len(_VOWELS.findall(word)))


@lru_cache(maxsize=1 << 15)
def words_of(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


# The choice among several drawn pairs: the one that keeps trivial judges at a coin's level.
#
# What a pair states is fixed by the design; how it is worded is drawn. Among some draws, the one is used that best
# evens out how often each surface feature has favoured the better answer so far: minimisation, as Pocock and Simon
# (Biometrics 31, 1975) balance covariates in trials. It works the same way at every step and at equal quality.

Draw = tuple[str, str]
"""Two texts, the better one first, or content a if neither is better."""

# `shorter` is `longer` turned round, and `first-slot` cannot see a content.
CUES = [judge for name, judge in (TRIVIAL | REPORTED).items() if name not in ("shorter", "first-slot")]

POINTS = {"1": 1, "2": -1, "tie": 0}


CHARACTERS = 8.0
"""A gap of this many characters weighs as much as one pair that a cue favours."""


class Balancer:
    """Keeps count of what each cue has favoured, over a whole stimulus set and in each part of it."""

    def __init__(self) -> None:
        self._leads: defaultdict[object, list[float]] = defaultdict(lambda: [0.0] * (len(CUES) + 1))

    def choose(self, task: str, draws: Sequence[Draw], *, family: str, step: float) -> int:
        """The place of the draw to be used."""
        points = [_points(task, draw) for draw in draws]
        leads = [self._leads[family], self._leads[family, step]]

        def imbalance(place: int) -> float:
            return sum((now + new) ** 2 for lead in leads for now, new in zip(lead, points[place], strict=True))

        best = min(range(len(draws)), key=imbalance)
        for lead in leads:
            lead[:] = [now + new for now, new in zip(lead, points[best], strict=True)]
        return best


def _points(task: str, draw: Draw) -> list[float]:
    """What each cue says, and by how much the better text is longer, which must not grow with the step either."""
    gap = (len(draw[0]) - len(draw[1])) / CHARACTERS
    return [*(POINTS[cue(task, *draw)] for cue in CUES), gap]
