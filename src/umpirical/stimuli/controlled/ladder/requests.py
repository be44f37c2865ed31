"""Judges that only match words: the candidate that has more in common with the request, or with the task, is theirs.

They read the task, so crossing alone does not hold them at a coin's level; the choice among drawn wordings does.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from umpirical.stimuli.controlled.layouts import statements
from umpirical.stimuli.controlled.tasks import Task
from umpirical.stimuli.controlled.trivial import words_of

__all__ = ["MATCHERS", "MatchTable", "Matcher"]

ENDINGS = re.compile(r"(?:ings?|ed|es|ly|s)$")

SHORTEST_STEM = 3

TRIPLE = 3

ROUNDING = 1e-9
"""Two scores that differ by less are equal."""

Cut = Callable[[str], tuple[str, ...]]
"""Cuts a statement into what is matched."""

Part = Literal["request", "task"]

Bag = Mapping[str, int]


def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(_stem, words_of(text)))


def _letters(text: str) -> tuple[str, ...]:
    """Three letters in a row."""
    plain = " ".join(words_of(text))
    return tuple(plain[place : place + TRIPLE] for place in range(len(plain) - TRIPLE + 1))


Measure = Literal["share", "cosine", "coverage"]
"""The share of a candidate's parts that the task has too; the cosine of both counts; how many of the task's parts the
candidate has."""


@dataclass(frozen=True)
class Matcher:
    """Prefers the candidate that has more in common with the request, or with the whole task."""

    measure: Measure
    cut: Cut
    part: Part

    def asked(self, task: Task) -> Bag:
        return _bag(self.cut, task.request if self.part == "request" else task.prompt)

    def __call__(self, task: Task, first: str, second: str) -> int:
        """1 if the first candidate matches the task better, -1 if the second does, 0 if neither."""
        gap = self._score(task, first) - self._score(task, second)
        return (gap > ROUNDING) - (gap < -ROUNDING)

    def _score(self, task: Task, text: str) -> float:
        wanted, found = self.asked(task), Counter[str]()
        for statement in statements(text, task.layout):
            found.update(_bag(self.cut, statement))
        match self.measure:
            case "share":
                total = found.total()
                return sum(count for part, count in found.items() if part in wanted) / total if total else 0.0
            case "cosine":
                dot = sum(count * wanted[part] for part, count in found.items() if part in wanted)
                return dot / math.sqrt(sum(count * count for count in found.values())) if dot else 0.0
            case "coverage":
                return float(len(found.keys() & wanted.keys()))


MATCHERS: dict[str, Matcher] = {
    f"{measure} of {cut} with the {part}": Matcher(measure, how, part)
    for measure, cut, how, part in (
        ("share", "words", words_of, "request"),
        ("share", "stems", _stems, "request"),
        ("share", "letters", _letters, "request"),
        ("share", "words", words_of, "task"),
        ("share", "letters", _letters, "task"),
        ("cosine", "words", words_of, "request"),
        ("cosine", "letters", _letters, "request"),
        ("cosine", "letters", _letters, "task"),
        ("coverage", "words", words_of, "request"),
        ("coverage", "letters", _letters, "request"),
        ("coverage", "letters", _letters, "task"),
    )
}
"""Where the versions differ in their figures the request is the same, and only the whole task can tell."""


class MatchTable:
    """What every matcher makes of many texts at once, each made of some of the same few statements."""

    def __init__(self, task: Task, rows: Sequence[str]) -> None:
        """`rows` are the statements."""
        self._scorers = [_scorer(matcher, matcher.asked(task), rows) for matcher in MATCHERS.values()]

    def told(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each pair of texts and each matcher, as the matcher says. A text is a row of numbers of statements."""
        gaps = np.stack([score(first) - score(second) for score in self._scorers], axis=1)
        return (gaps > ROUNDING).astype(np.int64) - (gaps < -ROUNDING)


Scorer = Callable[[NDArray[np.int64]], NDArray[np.float64]]


def _scorer(matcher: Matcher, wanted: Bag, rows: Sequence[str]) -> Scorer:
    bags = [_bag(matcher.cut, row) for row in rows]
    if matcher.measure == "coverage":
        held = np.array([[part in bag for part in wanted] for bag in bags])
        return lambda texts: held[texts].any(axis=1).sum(axis=1).astype(float)
    if matcher.measure == "cosine":
        dots = np.array([sum(count * wanted.get(part, 0) for part, count in bag.items()) for bag in bags], dtype=float)
        products = _products(bags)
        return lambda texts: (
            dots[texts].sum(axis=1)
            / np.sqrt(np.maximum(1.0, products[texts[:, :, None], texts[:, None, :]].sum(axis=(1, 2))))
        )
    shared = np.array([sum(count for part, count in bag.items() if part in wanted) for bag in bags], dtype=float)
    sizes = np.array([sum(bag.values()) for bag in bags], dtype=float)
    return lambda texts: shared[texts].sum(axis=1) / np.maximum(1.0, sizes[texts].sum(axis=1))


def _products(bags: Sequence[Bag]) -> NDArray[np.float64]:
    """The product of the counts of any two statements: those of a text add up to its length, squared."""
    places: dict[str, int] = {}
    for bag in bags:
        for part in bag:
            places.setdefault(part, len(places))
    counts = np.zeros((len(bags), len(places)))
    for row, bag in zip(counts, bags, strict=True):
        row[[places[part] for part in bag]] = list(bag.values())
    products: NDArray[np.float64] = counts @ counts.T
    return products


# Answers are made of the same sentences again and again, so what is found in a sentence is cached.


@lru_cache(maxsize=1 << 15)
def _bag(cut: Cut, text: str) -> Bag:
    return Counter(cut(text))


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    cut = ENDINGS.sub("", word)
    return cut if len(cut) >= SHORTEST_STEM else word
