"""The latent rule of a judge of labelled texts and changed versions of them, and the values of its measures.

A judge places a text whose correct grade is y, counted from 0, the lowest, at
Z = mid + severity + compression·(y - mid) + pull + noise·eps, and gives the nearest grade: it cuts at 0.5, 1.5, ...
Here eps = √frozen·eps_item + √(1 - frozen)·eps_call. The item's part is shared by the original and by every text made
from it, the call's part is drawn each time; so a judge that no change of the text pulls answers the changed text like
the original, apart from the noise of the call. The pull is what the test does to the judge: a shift, a scatter from
text to text, or both. With probability `lapse` any grade is given instead. The same rule draws the answers of simulated
examiners, so what a measure should recover is known exactly.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, owens_t

Floats = NDArray[np.float64]

Kind = Literal["none", "format", "paraphrase", "cue", "own-words", "own-claim"]
"""What was done to a text, as far as it could matter to a judge. A change of length shows in the length."""

NOTICED = 1.25
"""A text counts as longer or shorter than its original if its number of words is this many times larger or smaller.
In between, no judge reacts to its length: paraphrases and inserted sentences change it a little, in other tests."""

_NOTHING = 1e-9
"""A spread below this many steps counts as none: every place has one grade."""


@dataclass(frozen=True, slots=True)
class LatentExaminer:
    """The known properties of a simulated examiner. Lengths are in steps of the scale."""

    noise: float
    """sigma: spread of the place of a text around where it belongs."""
    frozen: float = 1.0
    """Share of the noise's variance that belongs to the item: 1 repeats its answers, 0 draws each again."""
    severity: float = 0.0
    """Mean shift of every grade; negative for a severe judge."""
    compression: float = 1.0
    """How far apart neighbouring grades are placed; below 1 all keep to the middle of the scale."""
    lapse: float = 0.0
    """Share of calls that give any grade at random."""
    format_shift: float = 0.0
    """How far a text is lifted by another format: what a mean shift shows."""
    format_scatter: float = 0.0
    """Spread of what another format does to one text: verdicts change, the mean need not."""
    paraphrase: float = 0.0
    """Spread of what other words do to one text."""
    verbosity: float = 0.0
    """How far a text is lifted per unit of the logarithm of its words over those of its original."""
    cue: float = 0.0
    """How far a text is lifted by an appeal to authority or the crowd, by praise, or by an order to the judge."""
    own_words: float = 0.0
    """How far a text is lifted by the words of the judge's own model."""
    own_claim: float = 0.0
    """How far a text is lifted by the claim that the judge wrote it."""
    flip_blindness: float = 0.0
    """Share of items whose flipped text is graded as if it were the original."""


class Pull(NamedTuple):
    """What a kind of change does to the place of a text."""

    shift: float
    scatter: float


def pull(examiner: LatentExaminer, kinds: Iterable[Kind]) -> Pull:
    """Returns the pull of changes of some kinds on top of each other, apart from the length."""
    each = [_pull(examiner, kind) for kind in kinds]
    return Pull(sum(one.shift for one in each), float(np.hypot.reduce([0.0, *(one.scatter for one in each)])))


def _pull(examiner: LatentExaminer, kind: Kind) -> Pull:
    match kind:
        case "format":
            return Pull(examiner.format_shift, examiner.format_scatter)
        case "paraphrase":
            return Pull(0.0, examiner.paraphrase)
        case "cue":
            return Pull(examiner.cue, 0.0)
        case "own-words":
            return Pull(examiner.own_words, examiner.paraphrase)
        case "own-claim":
            return Pull(examiner.own_claim, 0.0)
        case "none":
            return Pull(0.0, 0.0)


def length_pull(examiner: LatentExaminer, words_ratio: ArrayLike) -> Floats:
    """Returns how far a text is lifted by having `words_ratio` times the words of its original."""
    ratio = np.asarray(words_ratio, dtype=float)
    if not (ratio > 0).all():
        raise ValueError(f"a ratio of words must be positive, got {ratio.min():g}")
    noticed = (ratio >= NOTICED) | (ratio <= 1 / NOTICED)
    lifted: Floats = examiner.verbosity * np.where(noticed, np.log(ratio), 0.0)
    return lifted


def centre(examiner: LatentExaminer, level: ArrayLike, *, grades: int) -> Floats:
    """Returns where texts of a correct grade are placed on average, before any pull."""
    middle = (grades - 1) / 2
    return middle + examiner.severity + examiner.compression * (np.asarray(level, dtype=float) - middle)


def place_cuts(grades: int) -> Floats:
    """Places halfway between neighbouring grades. A place on a cut gets the higher grade."""
    if grades < 2:
        raise ValueError(f"a scale needs at least two grades, got {grades}")
    return np.arange(0.5, grades - 1)


def grade_rates(examiner: LatentExaminer, places: ArrayLike, *, grades: int, scatter: float = 0.0) -> Floats:
    """P(grade): one row per place, one column per grade. A place is a centre with its pull."""
    spread = float(np.hypot(examiner.noise, scatter))
    upto = ndtr(_limits(_row(places), spread, grades))
    rates: Floats = examiner.lapse / grades + (1 - examiner.lapse) * np.diff(upto, axis=1)
    return rates


def joint_rates(
    examiner: LatentExaminer,
    original: ArrayLike,
    changed: ArrayLike,
    *,
    grades: int,
    scatter: float = 0.0,
    before: float = 0.0,
) -> Floats:
    """P(grade of the original, grade of the changed text) of two calls about one item: one matrix per item.

    Both places include their average pull; `scatter` is that of the changed text, `before` that of the original, which
    a text has that was changed before.
    """
    spread, spread_before = float(np.hypot(examiner.noise, scatter)), float(np.hypot(examiner.noise, before))
    # The item's variance divided by both spreads.
    shared = examiner.frozen * examiner.noise**2
    rho = shared / (spread * spread_before) if examiner.noise > _NOTHING else 0.0
    rows, columns = _limits(_row(original), spread_before, grades), _limits(_row(changed), spread, grades)
    return _joint(examiner, rows, columns, rho)


def repeat_rates(examiner: LatentExaminer, places: ArrayLike, *, grades: int, scatter: float = 0.0) -> Floats:
    """P(grade, grade) of two calls about one text: one matrix per text. Its scatter is the same in both."""
    spread = float(np.hypot(examiner.noise, scatter))
    shared = examiner.frozen * examiner.noise**2 + scatter**2
    limits = _limits(_row(places), spread, grades)
    return _joint(examiner, limits, limits, shared / spread**2 if spread > _NOTHING else 0.0)


def _row(places: ArrayLike) -> Floats:
    return np.atleast_1d(np.asarray(places, dtype=float))


def _joint(examiner: LatentExaminer, first: Floats, second: Floats, rho: float) -> Floats:
    rows, columns = first[:, :, None], second[:, None, :]
    joint = np.diff(np.diff(_both_below(rows, columns, rho), axis=1), axis=2)
    # Rounding may leave a rate slightly below 0.
    return _with_lapses(np.maximum(joint, 0.0), examiner.lapse)


def _with_lapses(joint: Floats, lapse: float) -> Floats:
    """Adds lapses, which are independent in the two calls."""
    grades = joint.shape[1]
    one = joint.sum(axis=2, keepdims=True) + joint.sum(axis=1, keepdims=True)
    rates: Floats = (1 - lapse) ** 2 * joint + lapse * (1 - lapse) / grades * one + (lapse / grades) ** 2
    return rates


def _limits(places: Floats, spread: float, grades: int) -> Floats:
    """Returns the cuts and both ends of the line, in standard deviations from each place."""
    gap = place_cuts(grades) - places[:, None]
    inner = np.where(gap > 0, np.inf, -np.inf) if spread <= _NOTHING else gap / spread
    ends = np.full((len(places), 1), np.inf)
    return np.concatenate([-ends, inner, ends], axis=1)


def _both_below(h: Floats, k: Floats, rho: float) -> Floats:
    """P(X < h, Y < k) of two standard normal numbers of correlation rho >= 0, by Owen's T."""
    low, high = ndtr(h), ndtr(k)
    if rho == 0:
        return np.asarray(low * high)
    if rho >= 1 - 1e-12:
        return np.asarray(np.minimum(low, high))
    # Beyond 40 standard deviations there is nothing, and at exactly 0 the formula would divide by 0.
    x, y = (np.where(value == 0, 1e-20, np.clip(value, -40, 40)) for value in np.broadcast_arrays(h, k))
    side = np.sqrt(1 - rho**2)
    parts = owens_t(x, (y - rho * x) / (x * side)) + owens_t(y, (x - rho * y) / (y * side))
    below: Floats = (low + high) / 2 - parts - np.where(x * y < 0, 0.5, 0.0)
    return below
