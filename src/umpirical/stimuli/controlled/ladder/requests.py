"""Judges that only match words: the candidate that shares more with the request, or with the whole task, is theirs.

They read the task, so crossing alone does not hold them at a coin's level; the choice among drawn wordings does.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from umpirical.stimuli.controlled.tasks import Task
from umpirical.stimuli.controlled.trivial import words_of
from umpirical.text.sentences import sentences_at_every_stop

__all__ = ["MATCHERS", "Matcher"]

Matcher = Callable[[Task, str, str], int]
"""1 if the first candidate matches the task better, -1 if the second does, 0 if neither."""

ENDINGS = re.compile(r"(?:ings?|ed|es|ly|s)$")

SHORTEST_STEM = 3

TRIPLE = 3


Cut = Callable[[str], tuple[str, ...]]
"""Cuts a text into what is matched."""


def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(_stem, words_of(text)))


def _letters(text: str) -> tuple[str, ...]:
    """Three letters in a row."""
    plain = " ".join(words_of(text))
    return tuple(plain[place : place + TRIPLE] for place in range(len(plain) - TRIPLE + 1))


def _share(cut: Cut, asked: str, text: str) -> float:
    """The share of a candidate's parts that the task has too."""
    counted = [_shared(cut, asked, sentence) for sentence in sentences_at_every_stop(text)]
    total = sum(parts for _, parts in counted)
    return sum(both for both, _ in counted) / total if total else 0.0


def _matcher(cut: Cut, part: Callable[[Task], str]) -> Matcher:
    def judge(task: Task, first: str, second: str) -> int:
        one, other = _share(cut, part(task), first), _share(cut, part(task), second)
        return (one > other) - (one < other)

    return judge


def _request(task: Task) -> str:
    return task.request


def _whole(task: Task) -> str:
    return task.prompt


MATCHERS: dict[str, Matcher] = {
    "words of the request": _matcher(words_of, _request),
    "stems of the request": _matcher(_stems, _request),
    "letters of the request": _matcher(_letters, _request),
    "words of the task": _matcher(words_of, _whole),
    "letters of the task": _matcher(_letters, _whole),
}
"""Where the versions differ in their figures the request is the same, and only the whole task can tell."""


# Answers are made of the same sentences again and again, so what is found in a sentence is cached.


@lru_cache(maxsize=1 << 16)
def _shared(cut: Cut, asked: str, sentence: str) -> tuple[int, int]:
    """How many parts of a sentence the task has too, and how many parts there are."""
    wanted, found = _parts(cut, asked), cut(sentence)
    return sum(part in wanted for part in found), len(found)


@lru_cache(maxsize=1 << 10)
def _parts(cut: Cut, text: str) -> frozenset[str]:
    return frozenset(cut(text))


@lru_cache(maxsize=1 << 14)
def _stem(word: str) -> str:
    cut = ENDINGS.sub("", word)
    return cut if len(cut) >= SHORTEST_STEM else word
