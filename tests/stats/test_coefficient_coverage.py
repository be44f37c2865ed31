"""Intervals of coefficients cover as often as they say: few items, many, in clusters, and with a rare label."""

from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr

from tests.recovery.stress_sampling import of_table
from umpirical.stats.agreement import (
    Ratings,
    calibration_line,
    concordance,
    krippendorff_alpha,
    matthews,
    pearson,
    spearman,
)

EVEN, HUMPED = (1 / 6,) * 6, (0.05, 0.1, 0.25, 0.3, 0.2, 0.1)

JUDGES = {
    "sharp": (0.0, 1.0, 0.2, EVEN),
    "good": (0.0, 1.0, 0.5, EVEN),
    "compressed": (0.3, 0.7, 0.8, HUMPED),
    "poor": (-0.8, 0.4, 1.2, EVEN),
    "a step too high": (1.0, 1.0, 0.15, HUMPED),
    "two labels": (0.0, 1.0, 0.5, (0.5, 0.5)),
    "a rare label": (0.0, 1.0, 0.5, (0.85, 0.15)),
}
"""Severity, slope, noise and the shares of the gold levels."""

DESIGNS = {"20 items": (20, 1, 0.0), "60 items": (60, 1, 0.0), "40 clusters of 4": (40, 4, 0.6)}
"""Clusters, items in each, and how much of the noise they share."""

SIZES = [pytest.param(200, id="200"), pytest.param(2000, id="2000", marks=pytest.mark.slow)]

KNOWN = {("a rare label", "20 items"): 0.90}
"""Three items of the rarer label: one of them decides. Concordance and alpha cover .91 there."""


def table_of(severity, slope, noise, shares):
    """P(gold, given), by the latent rule."""
    levels = np.arange(len(shares))
    middle = (len(shares) - 1) / 2
    place = middle + severity + slope * (levels - middle)
    upto = ndtr((levels[:-1] + 0.5 - place[:, None]) / noise)
    edges = np.column_stack([np.zeros(len(shares)), upto, np.ones(len(shares))])
    return np.array(shares)[:, None] * np.diff(edges, axis=1)


def draw(judge, design, rng) -> Ratings:
    severity, slope, noise, shares = JUDGES[judge]
    clusters, size, shared = DESIGNS[design]
    gold = rng.choice(len(shares), size=(clusters, size), p=shares)
    common, own = rng.standard_normal((clusters, 1)), rng.standard_normal((clusters, size))
    middle = (len(shares) - 1) / 2
    place = middle + severity + slope * (gold - middle) + noise * (shared * common + np.sqrt(1 - shared**2) * own)
    given = np.clip(np.rint(place), 0, len(shares) - 1)
    return Ratings.of(gold.ravel(), given.ravel(), cluster=np.repeat(np.arange(clusters), size))


def limits(ratings: Ratings, levels: int) -> dict[str, tuple[float, float]]:
    """Of everything that is defined."""
    found = {
        "agreement-ccc": concordance(ratings),
        "pearson": pearson(ratings),
        "spearman": spearman(ratings),
        "krippendorff-alpha": krippendorff_alpha(ratings, metric="ordinal" if levels > 2 else "nominal"),
    }
    if levels == 2:
        found["mcc"] = matthews(ratings)
    known = {name: (value.low, value.high) for name, value in found.items() if np.isfinite(value.value)}
    line = calibration_line(ratings, place=(levels - 1) / 2)
    if line is not None:
        known |= {"compression": (line.slope.low, line.slope.high), "severity": (line.at.low, line.at.high)}
    return known


@cache
def coverages(judge, design, runs) -> dict[str, float]:
    levels = len(JUDGES[judge][3])
    truth = of_table(table_of(*JUDGES[judge]))
    rng = np.random.default_rng([4, runs, list(JUDGES).index(judge), list(DESIGNS).index(design)])
    hits: dict[str, list[bool]] = {}
    for _ in range(runs):
        for name, (low, high) in limits(draw(judge, design, rng), levels).items():
            hits.setdefault(name, []).append(low - 1e-9 <= truth[name] <= high + 1e-9)
    return {name: float(np.mean(held)) for name, held in hits.items()}


@pytest.mark.parametrize("runs", SIZES)
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("judge", JUDGES)
def test_every_interval_covers(judge, design, runs):
    found = coverages(judge, design, runs)
    assert len(found) == (7 if len(JUDGES[judge][3]) == 2 else 6)
    least = min(KNOWN.get((judge, design), 1.0), 0.93) if runs >= 2000 else 0.88
    for name, covered in found.items():
        assert covered >= least, (name, covered)


@pytest.mark.parametrize("runs", SIZES)
@pytest.mark.parametrize("judge", ["compressed", "poor", "two labels"])
def test_and_no_interval_is_wider_than_it_need_be(judge, runs):
    """A judge that varies: no least width comes into play."""
    for name, covered in coverages(judge, "40 clusters of 4", runs).items():
        assert covered <= (0.975 if runs >= 2000 else 0.995), (name, covered)


def test_independent_items_would_be_too_sure():
    """Items of one cluster taken for independent: the interval of the mean misses far more often than it says."""
    rng, truth, hits = np.random.default_rng(5), of_table(table_of(*JUDGES["poor"]))["severity"], []
    for _ in range(200):
        drawn = draw("poor", "40 clusters of 4", rng)
        line = calibration_line(Ratings.of(drawn.gold, drawn.given), place=2.5)
        hits.append(line.at.low <= truth <= line.at.high)
    assert np.mean(hits) < 0.90
