"""Judges that only match words: the candidate that has more in common with the request, or with the task, is theirs.

They read the task, so crossing alone does not hold them at a coin's level; the choice among drawn wordings does.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from operator import mul
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from umpirical.stimuli.controlled.tasks import Layout, Task, statements
from umpirical.stimuli.controlled.trivial import words_of

ENDINGS = re.compile(r"(?:ings?|ed|es|ly|s)$")

SHORTEST_STEM = 3

ROUNDING = 1e-9
"""Two scores that differ by less are equal."""

Cut = Callable[[str], tuple[str, ...]]
"""Cuts a statement into what is matched."""

Part = Literal["request", "task"]

Bag = Mapping[str, int]

STATEMENTS = 1 << 14
"""Answers are made of the same statements again and again, so that the parts of as many are cached."""


@lru_cache(maxsize=STATEMENTS)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(_stem, words_of(text)))


@lru_cache(maxsize=STATEMENTS)
def _letters(text: str) -> tuple[str, ...]:
    """Three letters in a row."""
    plain = " ".join(words_of(text))
    return tuple(map("".join, zip(plain, plain[1:], plain[2:], strict=False)))


Likeness = Literal["share", "cosine", "coverage"]
"""The share of a candidate's parts that the task has too; the cosine of both counts; how many of the task's parts the
candidate has."""


@dataclass(frozen=True)
class Matcher:
    """Prefers the candidate that has more in common with the request, or with the whole task."""

    likeness: Likeness
    cut: Cut
    part: Part

    def asked(self, task: Task) -> Bag:
        return _bag(self.cut, task.request if self.part == "request" else task.prompt)

    def __call__(self, task: Task, first: str, second: str) -> int:
        """1 if the first candidate matches the task better, -1 if the second does, 0 if neither."""
        gap = self._score(task, first) - self._score(task, second)
        return (gap > ROUNDING) - (gap < -ROUNDING)

    def _score(self, task: Task, text: str) -> float:
        wanted, found = self.asked(task), _found(self.cut, text, task.layout)
        common = found.parts.keys() & wanted.keys()
        if not common:
            return 0.0
        match self.likeness:
            case "share":
                return sum(map(found.parts.__getitem__, common)) / found.size
            case "cosine":
                dot: int = sum(map(mul, map(found.parts.__getitem__, common), map(wanted.__getitem__, common)))
                return dot / math.sqrt(found.squares)
            case "coverage":
                return float(len(common))


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

Bits = NDArray[np.uint8]
"""Flags, eight to a number."""


class MatchTable:
    """What every matcher makes of many texts at once, each made of some of the same few statements."""

    def __init__(self, rows: Sequence[str]) -> None:
        """`rows` are the statements, which texts name by number."""
        self._counts = {cut: _Counts(cut, rows) for cut in {matcher.cut for matcher in MATCHERS.values()}}
        self._scorers: dict[str, list[_Scorer]] = {}

    def told(self, tasks: Sequence[Task], first: Texts, second: Texts) -> list[NDArray[np.int64]]:
        """For each task: for each pair of texts and each matcher, what the matcher says under it."""
        both = np.concatenate([first, second])
        seen = {cut: _Seen(counts, both) for cut, counts in self._counts.items()}
        found = []
        for task in tasks:
            scores = [score(seen[matcher.cut]) for matcher, score in self._scorers_of(task)]
            gaps = np.stack([each[: len(first)] - each[len(first) :] for each in scores], axis=1)
            found.append((gaps > ROUNDING).astype(np.int64) - (gaps < -ROUNDING))
        return found

    def _scorers_of(self, task: Task) -> Iterator[tuple[Matcher, "_Scorer"]]:
        if task.id not in self._scorers:
            self._scorers[task.id] = [self._counts[m.cut].scorer(m.likeness, m.asked(task)) for m in MATCHERS.values()]
        return zip(MATCHERS.values(), self._scorers[task.id], strict=True)


class _Counts:
    """How often each part occurs in each statement. Whole numbers, so that no sum depends on its order."""

    def __init__(self, cut: Cut, rows: Sequence[str]) -> None:
        cuts = [cut(row) for row in rows]
        parts = list(chain.from_iterable(cuts))
        self._places = {part: place for place, part in enumerate(dict.fromkeys(parts))}
        columns = np.fromiter(map(self._places.__getitem__, parts), dtype=np.intp, count=len(parts))
        numbers = np.repeat(np.arange(len(rows)), list(map(len, cuts))) * len(self._places) + columns
        counts = np.bincount(numbers, minlength=len(rows) * len(self._places))
        # Single precision holds whole numbers up to 16 million.
        self._counts = counts.reshape(len(rows), -1).astype(np.float32)

    def scorer(self, likeness: Likeness, asked: Bag) -> "_Scorer":
        """Scores texts by what they have in common with `asked`."""
        wanted = np.zeros(len(self._places), dtype=np.float32)
        for part in asked.keys() & self._places.keys():
            wanted[self._places[part]] = asked[part]
        match likeness:
            case "share":
                shared = self._dots(np.minimum(wanted, 1))
                return lambda seen: shared[seen.texts].sum(axis=1) / seen.sizes
            case "cosine":
                dots = self._dots(wanted)
                return lambda seen: dots[seen.texts].sum(axis=1) / seen.lengths
            case "coverage":
                bits = _packed(wanted > 0)
                return lambda seen: np.bitwise_count(seen.held & bits).sum(axis=1).astype(np.float64)

    # By einsum, which keeps to one thread: with matrices as small as these, BLAS spends more on threads than it saves.

    def _dots(self, wanted: NDArray[np.float32]) -> Scores:
        dots: Scores = np.einsum("ap,p->a", self._counts, wanted).astype(np.float64)
        return dots

    @cached_property
    def sizes(self) -> Scores:
        """How many parts each statement has."""
        sizes: Scores = self._counts.sum(axis=1).astype(np.float64)
        return sizes

    @cached_property
    def products(self) -> Scores:
        """The products of any two statements."""
        products: Scores = np.einsum("ap,bp->ab", self._counts, self._counts).astype(np.float64)
        return products

    @cached_property
    def held(self) -> Bits:
        """Which parts each statement has."""
        return _packed(self._counts > 0)


@dataclass(frozen=True)
class _Seen:
    """Texts cut in one way, and what of them does not depend on the task: matchers share it."""

    counts: _Counts
    texts: Texts

    @cached_property
    def sizes(self) -> Scores:
        """How many parts each text has, or 1 if it has none."""
        sizes: Scores = np.maximum(1, self.counts.sizes[self.texts].sum(axis=1))
        return sizes

    @cached_property
    def lengths(self) -> Scores:
        """The length of each text as a vector: the products of its statements, any two of them, added up."""
        squares = self.counts.products[self.texts[:, :, None], self.texts[:, None, :]].sum(axis=(1, 2))
        lengths: Scores = np.sqrt(np.maximum(1, squares))
        return lengths

    @cached_property
    def held(self) -> Bits:
        """Which parts each text has."""
        held: Bits = np.bitwise_or.reduce(self.counts.held[self.texts], axis=1)
        return held


_Scorer = Callable[[_Seen], Scores]


def _packed(flags: NDArray[np.bool_]) -> Bits:
    return np.packbits(flags, axis=-1)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a text is made of, and what every matcher would count of it again."""

    parts: Bag
    size: int
    squares: int
    """The sum of the squared counts."""


@lru_cache(maxsize=1 << 10)
def _bag(cut: Cut, text: str) -> Bag:
    return Counter(cut(text))


@lru_cache(maxsize=1 << 10)
def _found(cut: Cut, text: str, layout: Layout) -> _Found:
    parts = Counter(chain.from_iterable(map(cut, statements(text, layout))))
    return _Found(parts, parts.total(), sum(map(mul, parts.values(), parts.values())))


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    cut = ENDINGS.sub("", word)
    return cut if len(cut) >= SHORTEST_STEM else word
