"""Similarity by wording: which words two texts share, and which runs of letters."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from zlib import crc32

import numpy as np
import numpy.typing as npt

from umpirical.stimuli.similarity.cache import TextCache

GRAM = 4
"""Letters in a run: enough to tell words apart, few enough to recognise an inflected word."""

MOST_BYTES = 256 * 2**20
"""The most bytes of vectors that are kept: some 14,000 texts of 300 words."""

OVERHEAD = 400
"""About how many bytes a vector takes besides its numbers."""

_WORD = re.compile(r"\w+")

Vector = tuple[npt.NDArray[np.uint32], npt.NDArray[np.float64]]
"""Features as sorted numbers, and the weight of each; of length 1, or empty for an empty text."""


class Lexical:
    """The mean of two cosines: of words, and of runs of four characters, both without case.

    A feature that occurs n times weighs 1 + log n, so that frequent words do not drown the rest. It needs no model and
    no other texts, and is the same everywhere.

    Measured on 93 school essays: two essays on one subject by two people are at most 0.66 alike, on two subjects at
    most 0.58; an essay with 10 % of its words replaced is at least 0.89 like itself, with 20 % at least 0.80.
    """

    name = "lexical/1"
    near_copy = 0.75

    def between(self, one: str, other: str) -> float:
        if one == other:
            return 1.0
        return _cosine(_vector(one), _vector(other))

    def to_each(self, text: str, others: Sequence[str]) -> list[float]:
        vector = _vector(text)
        return [1.0 if text == other else _cosine(vector, _vector(other)) for other in others]


def _cosine(one: Vector, other: Vector) -> float:
    (ids, weights), (other_ids, other_weights) = one, other
    if not (len(ids) and len(other_ids)):
        return 0.0
    there = np.minimum(np.searchsorted(other_ids, ids), len(other_ids) - 1)
    here = other_ids[there] == ids
    return min(1.0, float(weights[here] @ other_weights[there[here]]))


def _computed(text: str) -> Vector:
    plain = " ".join(text.casefold().split())
    grams = (plain[start : start + GRAM] for start in range(max(0, len(plain) - GRAM + 1)))
    weights: dict[int, float] = {}
    for kind, features in (("w", _WORD.findall(plain)), ("c", grams)):
        for feature, weight in _weighted(features):
            number = crc32(f"{kind}{feature}".encode("utf-8", "surrogatepass"))
            weights[number] = weights.get(number, 0.0) + weight
    ids = np.array(sorted(weights), dtype=np.uint32)
    values = np.array([weights[number] for number in sorted(weights)], dtype=np.float64)
    length = float(np.sqrt(values @ values))
    return ids, values / length if length else values


# A text is compared with many others, and each of these with many more.
_vector = TextCache(_computed, size=lambda vector: vector[0].nbytes + vector[1].nbytes + OVERHEAD, most=MOST_BYTES)


def _weighted(features: Iterable[str]) -> list[tuple[str, float]]:
    """Weights of length 1, so that words and runs of letters count alike."""
    counts = Counter(features)
    weights = {feature: 1 + math.log(times) for feature, times in counts.items()}
    length = math.sqrt(sum(weight**2 for weight in weights.values()))
    return [(feature, weight / length) for feature, weight in weights.items()]
