"""Whole stress runs of a latent examiner, drawn as arrays, and what every measure of them should come to.

An item of gold level y in 0..K-1 is placed at Z = mid + severity + slope·(y - mid) + noise·eps, and gets the nearest
grade. eps has a part of its cluster, a part that is frozen for the item, and one of the call. A change of the text
adds `shift`. A flipped text deserves K-1-y, and is taken for the original with probability `blind`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial, log, prod
from typing import NamedTuple
from zlib import crc32

import numpy as np
from scipy.special import ndtr

from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import CallTally, ChangeTally, GoldTally, RepeatTally, Tallies


@dataclass(frozen=True)
class Examiner:
    """What is built in."""

    severity: float = 0.0
    """Steps by which it is lenient; below 0 severe."""
    slope: float = 1.0
    """Below 1 it keeps to the middle."""
    noise: float = 0.5
    frozen: float = 0.5
    """Share of the noise variance that belongs to the item and its cluster, and is the same in every call."""
    shift: float = 0.0
    """Steps by which the stress test moves it."""
    blind: float = 0.0


@dataclass(frozen=True)
class Design:
    """What is asked."""

    shares: tuple[float, ...]
    """Of the gold levels."""
    clusters: int = 60
    per_cluster: int = 1
    clustered: float = 0.0
    """Part of the frozen noise variance that items of one cluster share."""
    repeats: int = 3
    missing: float = 0.0
    """Chance that an item has no verdict at all."""


def scale_of(levels: int) -> GradeScale:
    return GradeScale("binary" if levels == 2 else "ordinal", tuple(f"L{level}" for level in range(levels)))


# Drawing.


class _Row(NamedTuple):
    """One item, with what it was given."""

    name: str
    gold: int
    original: list[int]
    changed: list[int]
    flipped: list[int]
    answered: bool


def sample_stress(examiner: Examiner, design: Design, rng) -> Tallies:
    """One run: originals repeated, one test that should change nothing, one that should change the verdict."""
    levels, items = len(design.shares), design.clusters * design.per_cluster
    gold = rng.choice(levels, size=items, p=design.shares)
    frozen = np.repeat(rng.standard_normal(design.clusters), design.per_cluster) * np.sqrt(design.clustered)
    frozen = frozen + np.sqrt(1 - design.clustered) * rng.standard_normal(items)
    seen_flipped = np.where(rng.random(items) < examiner.blind, gold, levels - 1 - gold)
    original = _grades(examiner, gold, frozen, rng, levels, calls=design.repeats)
    changed = _grades(examiner, gold, frozen, rng, levels, calls=2, shift=examiner.shift)
    flipped = _grades(examiner, seen_flipped, frozen, rng, levels, calls=1)
    answered = rng.random(items) >= design.missing
    names = [f"c{number // design.per_cluster}" for number in range(items)]
    rows = [
        _Row(*row)
        for row in zip(
            names, gold.tolist(), original.tolist(), changed.tolist(), flipped.tolist(), answered, strict=True
        )
    ]
    return Tallies(
        calls=(CallTally("c0", "baseline", "original", "", None, 1, graded=1),),
        changes=tuple(_change(row, levels, test) for test in ("format", "label-flip") for row in rows),
        repeats=tuple(_repeat(row) for row in rows),
        golds=tuple(tally for row in rows for tally in _golds(row, levels)),
        scale=scale_of(levels),
        positive=tuple(scale_of(levels).labels[levels // 2 :]),
    )


def _grades(examiner, gold, frozen, rng, levels, *, calls, shift=0.0):
    mid = (levels - 1) / 2
    own = examiner.noise * np.sqrt(1 - examiner.frozen) * rng.standard_normal((len(gold), calls))
    place = mid + examiner.severity + shift + examiner.slope * (gold - mid)
    place = place + examiner.noise * np.sqrt(examiner.frozen) * frozen
    return np.clip(np.rint(place[:, None] + own), 0, levels - 1).astype(int)


def _change(row: _Row, levels: int, test: str) -> ChangeTally:
    flips = test == "label-flip"
    expectation = "flipped-verdict" if flips else "same-verdict"
    if not row.answered:
        return ChangeTally(row.name, "baseline", test, "", expectation, 0, incomplete=1)
    new, target = (row.flipped, levels - 1 - row.gold) if flips else (row.changed, row.gold)
    both = [(old, late) for old in row.original for late in new]
    differ = sum(late != old for old, late in both) / len(both)
    again = not flips
    return ChangeTally(
        row.name,
        "baseline",
        test,
        "",
        expectation,
        1,
        changed=differ,
        moved=sum((late - old) * (target - row.gold) > 0 for old, late in both) / len(both) if flips else 0.0,
        right_on_both=sum(old == row.gold and late == target for old, late in both) / len(both) if flips else 0.0,
        golden=1,
        shift=sum(late - old for old, late in both) / len(both),
        distance=sum(abs(late - old) for old, late in both) / len(both),
        retested=int(again),
        retest_changed=(_differing(row.original) + _differing(new)) / 2 if again else 0.0,
        changed_retested=differ if again else 0.0,
    )


def _differing(given: list[int]) -> float:
    return sum(a != b for a in given for b in given) / (len(given) * (len(given) - 1))


def _repeat(row: _Row) -> RepeatTally:
    given = row.original if row.answered else []
    kinds = sorted(set(given))
    answers = tuple((f"L{kind}", given.count(kind)) for kind in kinds)
    scores = tuple(float(kind) for kind in kinds)
    return RepeatTally(row.name, "baseline", "stability", "", answers, scores, 1, len(row.original))


def _golds(row: _Row, levels: int) -> Iterator[GoldTally]:
    texts = {
        "original": (row.original, row.gold),
        "format": (row.changed, row.gold),
        "label-flip": (row.flipped, levels - 1 - row.gold),
    }
    for test, (answers, right) in texts.items():
        gold = (row.name, "baseline", test, "", f"L{right}")
        long = 200 + crc32(row.name.encode()) % 800
        lengths = {"characters": long, "words": long // 6 + long % 7}
        if not row.answered:
            yield GoldTally(*gold, "", float(right), None, 1.0, **lengths)
            continue
        for kind in sorted(set(answers)):
            share = answers.count(kind) / len(answers)
            yield GoldTally(*gold, f"L{kind}", float(right), float(kind), share, **lengths)


# What it should come to.


def _rates(examiner: Examiner, gold, frozen, levels: int, *, shift: float = 0.0):
    """P(grade | gold, frozen noise): the last axis is the grade."""
    mid = (levels - 1) / 2
    place = mid + examiner.severity + shift + examiner.slope * (gold - mid)
    place = place + examiner.noise * np.sqrt(examiner.frozen) * frozen
    own = max(examiner.noise * np.sqrt(1 - examiner.frozen), 1e-9)
    upto = ndtr((np.arange(levels - 1) + 0.5 - place[..., None]) / own)
    ends = np.zeros((*upto.shape[:-1], 1))
    return np.diff(np.concatenate([ends, upto, ends + 1], axis=-1), axis=-1)


def _nodes(design: Design):
    """Gold levels and frozen noise on a grid, with their weights."""
    points = (np.arange(4001) - 2000) / 2000 * 6
    density = np.exp(-(points**2) / 2)
    gold, frozen = np.meshgrid(np.arange(len(design.shares)), points, indexing="ij")
    weight = np.outer(design.shares, density / density.sum())
    return gold, frozen, weight


def truths(examiner: Examiner, design: Design) -> dict[tuple[str, str], float]:
    """By measure and test, by summation; for measures that depend on the number of repeats, at that number."""
    levels = len(design.shares)
    gold, frozen, weight = _nodes(design)
    plain = _rates(examiner, gold, frozen, levels)
    shifted = _rates(examiner, gold, frozen, levels, shift=examiner.shift)
    other = _rates(examiner, levels - 1 - gold, frozen, levels)
    flipped = examiner.blind * plain + (1 - examiner.blind) * other
    steps = np.arange(levels)

    def mean(values) -> float:
        return float((weight * values).sum())

    retest = mean(1 - (plain**2).sum(axis=-1))
    change = mean(1 - (plain * shifted).sum(axis=-1))
    found = {
        ("change-rate", "format"): change,
        ("excess-change", "format"): mean(((plain - shifted) ** 2).sum(axis=-1) / 2),
        ("grade-shift", "format"): mean(shifted @ steps - plain @ steps),
        ("flip-rate", "stability"): retest,
        ("verdict-entropy", "stability"): mean(_expected_entropy(plain, design.repeats)),
        ("modal-share", "stability"): mean(_expected_mode(plain, design.repeats)),
        ("repeat-icc", "stability"): _icc(plain @ steps, plain @ steps**2, weight),
    }
    found["shift-equivalence", "format"] = found["grade-shift", "format"]
    rise = np.sign(levels - 1 - 2 * gold)[..., None, None] * (steps - steps[:, None]) > 0
    found["flip-detection", "label-flip"] = mean(np.einsum("geo,gen,geon->ge", plain, flipped, rise))
    right = np.take_along_axis(plain, gold[..., None], axis=-1)[..., 0]
    right_after = np.take_along_axis(flipped, (levels - 1 - gold)[..., None], axis=-1)[..., 0]
    found["right-on-both", "label-flip"] = mean(right * right_after)
    for test, rates in (("original", plain), ("format", shifted), ("label-flip", flipped)):
        table = np.einsum("ge,gek->gk", weight, rates)
        # What deserved y now deserves K-1-y.
        table = table[::-1] if test == "label-flip" else table
        found |= {(name, test): value for name, value in of_table(table).items()}
    return found


def of_table(table) -> dict[str, float]:
    """Every measure against gold, from P(gold, given); straight from the definitions, and slow."""
    levels = len(table)
    steps = np.arange(levels)
    gap = steps - steps[:, None]
    gold, given = table.sum(axis=1), table.sum(axis=0)
    mean_x, mean_y = gold @ steps, given @ steps
    var_x, var_y = gold @ steps**2 - mean_x**2, given @ steps**2 - mean_y**2
    cov = float(steps @ table @ steps - mean_x * mean_y)
    chance = np.outer(gold, given)
    mid, half = (levels - 1) / 2, levels // 2
    false_positive = table[:half, half:].sum() / gold[:half].sum()
    false_negative = table[half:, :half].sum() / gold[half:].sum()
    two = np.array([[table[:half, :half].sum(), table[:half, half:].sum()], [table[half:, :half].sum(), 0]])
    two[1, 1] = 1 - two.sum()
    p, q = two.sum(axis=1)[1], two.sum(axis=0)[1]
    return {
        "accuracy": float(np.trace(table)),
        "within-one": float(table[np.abs(gap) <= 1].sum()),
        "mean-absolute-error": float((table * np.abs(gap)).sum()),
        "grade-bias": float((table * gap).sum()),
        "weighted-kappa": 1 - float((table * gap**2).sum() / (chance * gap**2).sum()),
        "agreement-ccc": 2 * cov / (var_x + var_y + (mean_x - mean_y) ** 2),
        "pearson": cov / np.sqrt(var_x * var_y),
        # Lengths have nothing to do with grades here.
        "agreement-beyond-length": cov / np.sqrt(var_x * var_y),
        "spearman": _rank_correlation(table, gold, given),
        "krippendorff-alpha": _alpha(table, ordinal=levels > 2),
        "severity": float(mean_y + cov / var_x * (mid - mean_x) - mid),
        "compression": cov / var_x,
        "false-positive-rate": float(false_positive),
        "false-negative-rate": float(false_negative),
        "balanced-accuracy": 1 - float(false_positive + false_negative) / 2,
        "mcc": float((two[1, 1] - p * q) / np.sqrt(p * (1 - p) * q * (1 - q))),
    }


def _rank_correlation(table, gold, given) -> float:
    x, y = np.cumsum(gold) - gold / 2, np.cumsum(given) - given / 2
    cov = x @ table @ y - 0.25
    return float(cov / np.sqrt((gold @ x**2 - 0.25) * (given @ y**2 - 0.25)))


def _alpha(table, *, ordinal: bool) -> float:
    both = (table + table.T) / 2
    pooled = both.sum(axis=0)
    place = np.cumsum(pooled) - pooled / 2
    distance = (place - place[:, None]) ** 2 if ordinal else 1 - np.eye(len(table))
    return 1 - float((both * distance).sum() / (np.outer(pooled, pooled) * distance).sum())


def _expected_entropy(rates, repeats: int):
    """Mean of Zhang's estimator, in bits."""
    return sum((rates * (1 - rates) ** v).sum(axis=-1) / v for v in range(1, repeats)) / log(2)


def _expected_mode(rates, repeats: int):
    """Mean of the modal share of so many repeats, over every way they can come out."""
    levels, total = rates.shape[-1], 0.0
    for drawn in combinations_with_replacement(range(levels), repeats):
        counts = [drawn.count(level) for level in range(levels)]
        ways = factorial(repeats) / prod(factorial(count) for count in counts)
        total = total + ways * max(counts) / repeats * np.prod(rates ** np.array(counts), axis=-1)
    return total


def _icc(mean, square, weight) -> float:
    grand = (weight * mean).sum()
    between = (weight * (mean - grand) ** 2).sum()
    within = (weight * (square - mean**2)).sum()
    return float(between / (between + within))
