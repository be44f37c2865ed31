"""Planted values of the measures of quads are recovered, with families that differ.

Acceptance as in `test_recovery`: |bias| below 3.5 Monte-Carlo standard errors, coverage .93 to .975; with 300 runs .90
to .99. The correlation is that of two quads of one family.
"""

from functools import cache

import numpy as np
import pytest

from tests.recovery.quad_sampling import SHARES, sample_quads, truths
from umpirical.domain.measures import Estimate
from umpirical.measures.catalogue import MEASURES

QUADS = {
    "ladder": {
        "following": "task-following",
        "blind": "task-blind-preference",
        "reversed": "task-reversal",
        "one_version": "one-version-preference",
        "neither": "neither-version-preference",
        "both": "both-orders-sensitivity",
        "square": "text-appeal",
    },
    "figures": {
        "following": "figure-following",
        "blind": "figure-blind-preference",
        "right": "figure-sensitivity",
        "square": "text-appeal",
    },
    "carrier-figures": {"following": "carrier-following", "blind": "carrier-blind-preference"},
}

CASES = [
    *(pytest.param("ladder", correlation, 300, id=f"ladder-{correlation}-300") for correlation in (0.0, 0.05, 0.2)),
    *(pytest.param(family, 0.05, 300, id=f"{family}-300") for family in ("figures", "carrier-figures")),
    *(
        pytest.param(family, correlation, 2000, id=f"{family}-{correlation}-2000", marks=pytest.mark.slow)
        for family in QUADS
        for correlation in (0.0, 0.05, 0.2)
    ),
]


@cache
def simulate(family: str, correlation: float, runs: int) -> dict[str, list[Estimate]]:
    rng = np.random.default_rng([runs, int(100 * correlation), list(QUADS).index(family)])
    found: dict[str, list[Estimate]] = {key: [] for key in QUADS[family]}
    for _ in range(runs):
        tallies = sample_quads(rng, correlation=correlation, family=family)
        for key, name in QUADS[family].items():
            first, *_ = MEASURES.get(name).compute(tallies, "baseline")
            found[key].append(first.result)
    return found


def planted(key: str) -> float:
    value = truths()[key]
    return float(np.sqrt(value)) if key == "square" else value


@pytest.mark.parametrize(("family", "correlation", "runs"), CASES)
def test_every_measure_of_quads_is_recovered(family, correlation, runs):
    low, high = (0.93, 0.975) if runs >= 2000 else (0.90, 0.99)
    failures = []
    for key, estimates in simulate(family, correlation, runs).items():
        truth = planted(key)
        # A square root of a sum of noise is bent: what has no bias is the square.
        power = 2 if key == "square" else 1
        values = np.array([estimate.value**power for estimate in estimates])
        if abs(values.mean() - truth**power) > 3.5 * values.std(ddof=1) / np.sqrt(runs):
            failures.append(("bias", key, truth**power, values.mean()))
        coverage = np.mean([e.interval.low <= truth <= e.interval.high for e in estimates])
        if not low <= coverage <= high:
            failures.append(("coverage", key, truth, coverage))
    assert not failures


def test_a_judge_without_any_appeal_is_given_none():
    """Without texts that are liked for themselves, the interval reaches 0 in nearly every run and its end is low."""
    shares = {name: share / 0.76 if "likes" not in name else 0.0 for name, share in SHARES.items()}
    rng = np.random.default_rng(5)
    [*found] = (
        MEASURES.get("text-appeal").compute(sample_quads(rng, shares=shares), "baseline")[0] for _ in range(300)
    )
    estimates = [measure.result for measure in found if isinstance(measure.result, Estimate)]
    assert truths(shares)["square"] < 1e-3
    assert np.mean([estimate.interval.low == 0 for estimate in estimates]) >= 0.95
    assert np.median([estimate.interval.high for estimate in estimates]) < 0.35


def test_families_that_differ_widen_the_intervals():
    """Why quads are clustered: at a correlation of .2, an interval of independent quads would be far too narrow."""
    alone, alike = (simulate("ladder", correlation, 300)["following"] for correlation in (0.0, 0.2))
    width = [np.mean([e.interval.high - e.interval.low for e in estimates]) for estimates in (alone, alike)]
    assert 1.3 < width[1] / width[0] < 1.8
