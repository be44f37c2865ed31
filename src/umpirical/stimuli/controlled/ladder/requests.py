"""Judges that only match words: the candidate that has more in common with the request, or with the task, is theirs.

They read the task, so crossing alone does not hold them at a coin's level; the choice among drawn wordings does.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from umpirical.stimuli.controlled.layouts import Layout, statements
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
        wanted, found = self.asked(task), _whole_bag(self.cut, text, task.layout)
        match self.measure:
            case "share":
                shared = sum(count for part, count in found.items() if part in wanted)
                return shared / sum(found.values()) if shared else 0.0
            case "cosine":
                dot = sum(count * wanted[part] for part, count in found.items() if part in wanted)
                return dot / math.sqrt(sum(count * count for count in found.values())) if dot else 0.0
            case "coverage":
                return float(len(found.keys() & wanted.keys()))


MATCHERS: dict[str, Matcher] = {
    "share of words with the request": Matcher("share", words_of, "request"),
    "share of stems with the request": Matcher("share", _stems, "request"),
    "share of letters with the request": Matcher("share", _letters, "request"),
    "share of words with the task": Matcher("share", words_of, "task"),
    "share of letters with the task": Matcher("share", _letters, "task"),
    "cosine of words with the request": Matcher("cosine", words_of, "request"),
    "cosine of letters with the request": Matcher("cosine", _letters, "request"),
    "cosine of letters with the task": Matcher("cosine", _letters, "task"),
    "coverage of words of the request": Matcher("coverage", words_of, "request"),
    "coverage of letters of the request": Matcher("coverage", _letters, "request"),
    "coverage of letters of the task": Matcher("coverage", _letters, "task"),
}
"""Where the versions differ in their figures the request is the same, and only the whole task can tell."""


Texts = NDArray[np.int64]
"""Texts of equally many statements: a row for each, of the numbers of its statements."""

Scores = NDArray[np.float64]


Scorer = Callable[[Texts], Scores]


class MatchTable:
    """What every matcher makes of many texts at once, each made of some of the same few statements."""

    def __init__(self, rows: Sequence[str]) -> None:
        """`rows` are the statements, which texts name by number."""
        self._counts = {cut: _Counts(cut, rows) for cut in {matcher.cut for matcher in MATCHERS.values()}}
        self._scorers: dict[str, list[Scorer]] = {}

    def told(self, task: Task, first: Texts, second: Texts) -> NDArray[np.int64]:
        """For each pair of texts and each matcher, what the matcher says under this task."""
        if task.id not in self._scorers:
            self._scorers[task.id] = [self._counts[m.cut].scorer(m.measure, m.asked(task)) for m in MATCHERS.values()]
        both = np.concatenate([first, second])
        scores = np.stack([score(both) for score in self._scorers[task.id]], axis=1)
        gaps = scores[: len(first)] - scores[len(first) :]
        return (gaps > ROUNDING).astype(np.int64) - (gaps < -ROUNDING)


class _Counts:
    """How often each part occurs in each statement. Whole numbers, so that no sum depends on its order."""

    def __init__(self, cut: Cut, rows: Sequence[str]) -> None:
        bags = [_bag(cut, row) for row in rows]
        parts = dict.fromkeys(part for bag in bags for part in bag)
        self._places = {part: place for place, part in enumerate(parts)}
        self._counts = np.zeros((len(bags), len(parts)))
        for row, bag in zip(self._counts, bags, strict=True):
            row[[self._places[part] for part in bag]] = list(bag.values())

    def scorer(self, measure: Measure, asked: Bag) -> Scorer:
        """Scores texts by what they have in common with `asked`."""
        wanted = np.zeros(len(self._places))
        for part in asked.keys() & self._places.keys():
            wanted[self._places[part]] = asked[part]
        match measure:
            case "share":
                shared, sizes = self._counts @ (wanted > 0), self._counts.sum(axis=1)
                return lambda texts: shared[texts].sum(axis=1) / np.maximum(1, sizes[texts].sum(axis=1))
            case "cosine":
                dots, products = self._counts @ wanted, self._products
                return lambda texts: dots[texts].sum(axis=1) / np.sqrt(np.maximum(1, _squares(products, texts)))
            case "coverage":
                held = self._counts[:, wanted > 0] > 0
                return lambda texts: held[texts].any(axis=1).sum(axis=1).astype(np.float64)

    @cached_property
    def _products(self) -> NDArray[np.float64]:
        return self._counts @ self._counts.T


def _squares(products: NDArray[np.float64], texts: Texts) -> Scores:
    """The length of each text, squared: the products of its statements, any two of them, added up."""
    squares: Scores = products[texts[:, :, None], texts[:, None, :]].sum(axis=(1, 2))
    return squares


# Answers are made of the same sentences again and again, so what is found in a sentence is cached.


@lru_cache(maxsize=1 << 15)
def _bag(cut: Cut, text: str) -> Bag:
    return Counter(cut(text))


@lru_cache(maxsize=1 << 10)
def _whole_bag(cut: Cut, text: str, layout: Layout) -> Bag:
    found = Counter[str]()
    for statement in statements(text, layout):
        found.update(_bag(cut, statement))
    return found


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    cut = ENDINGS.sub("", word)
    return cut if len(cut) >= SHORTEST_STEM else word
