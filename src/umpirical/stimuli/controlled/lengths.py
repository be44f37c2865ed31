"""The length of a candidate, by two ways to count tokens, and whether two candidates are equally long."""

import re
from functools import lru_cache

from umpirical.stimuli.controlled.ladder.transforms import LIST_MARK
from umpirical.text.sentences import sentences_at_every_stop

__all__ = ["TOKENIZERS", "equally_long", "length_gap"]

TOKENIZERS = {"words and marks": re.compile(r"\w+|[^\w\s]"), "pieces": re.compile(r"\w{1,5}|[^\w\s]")}
"""Whole words, and pieces of up to five letters as subword tokenizers cut them. List marks are layout, not length."""

MOST_TOKENS, MOST_SHARE = 2, 0.02
"""Two candidates are equally long if they differ by at most two tokens, or by 2 %."""


def length_gap(first: str, second: str) -> int:
    """By how many tokens two candidates differ beyond what is allowed, in the worse of the two counts."""
    gaps = []
    for one, other in zip(_lengths(first), _lengths(second), strict=True):
        allowed = max(MOST_TOKENS, MOST_SHARE * max(one, other))
        gaps.append(max(0, abs(one - other) - int(allowed)))
    return max(gaps)


def equally_long(first: str, second: str) -> bool:
    return length_gap(first, second) == 0


def _lengths(text: str) -> list[int]:
    counted = map(_sentence_lengths, sentences_at_every_stop(text))
    return [sum(counts) for counts in zip(*counted, strict=True)] or [0, 0]


@lru_cache(maxsize=1 << 16)
def _sentence_lengths(sentence: str) -> tuple[int, ...]:
    """Cached, since answers are made of the same sentences again and again."""
    plain = sentence.removeprefix(LIST_MARK)
    return tuple(len(pattern.findall(plain)) for pattern in TOKENIZERS.values())
