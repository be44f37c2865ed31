"""The length of a candidate, by two ways to count tokens, and whether two candidates are equally long."""

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from umpirical.stimuli.controlled.ladder.transforms import LIST_MARK
from umpirical.stimuli.controlled.layouts import JSON_LAYOUT, PROSE, Layout
from umpirical.text.sentences import sentences_at_every_stop

TOKENIZERS = {"words and marks": re.compile(r"\w+|[^\w\s]"), "pieces": re.compile(r"\w{1,5}|[^\w\s]")}
"""Whole words, and pieces of up to five letters as subword tokenizers cut them. List marks are layout, not length."""

MOST_TOKENS = 2

MOST_SHARE: dict[Layout, float] = {PROSE: 0.02, JSON_LAYOUT: 0.10}
"""Two candidates are equally long if they differ by at most two tokens, or by this share: names of members are short,
and a joined one counts as one word or as four pieces."""


def length_gap(first: str, second: str, layout: Layout = PROSE) -> int:
    """By how many tokens two candidates differ beyond what is allowed, in the worse of the two counts."""
    return int(length_gaps(np.array(_lengths(first)), np.array(_lengths(second)), layout))


def length_gaps(first: NDArray[np.int64], second: NDArray[np.int64], layout: Layout) -> NDArray[np.int64]:
    """The same for many pairs at once: the last axis is the way to count."""
    allowed = np.maximum(MOST_TOKENS, (MOST_SHARE[layout] * np.maximum(first, second)).astype(np.int64))
    gaps: NDArray[np.int64] = np.maximum(0, np.abs(first - second) - allowed).max(axis=-1)
    return gaps


def equally_long(first: str, second: str, layout: Layout = PROSE) -> bool:
    return length_gap(first, second, layout) == 0


def _lengths(text: str) -> list[int]:
    counted = map(sentence_lengths, sentences_at_every_stop(text))
    return [sum(counts) for counts in zip(*counted, strict=True)] or [0, 0]


@lru_cache(maxsize=1 << 16)
def sentence_lengths(sentence: str) -> tuple[int, ...]:
    """The length of a sentence, by each way to count. Cached: answers are made of the same ones again and again."""
    plain = sentence.removeprefix(LIST_MARK)
    return tuple(len(pattern.findall(plain)) for pattern in TOKENIZERS.values())
