"""The paper's diagnostic, a bootstrap of whole task families, beside our interval: where they agree, and where not."""

import numpy as np
import pytest

from umpirical.stats.intervals import cluster_wilson

RUNS, REPLICATES, PAIRS = 400, 400, 6

CASES = {(families, rate) for families in (10, 48) for rate in (0.05, 0.5)}


def bootstrap(errors, rng):
    """The 95% percentiles of the rate over families drawn again. All families have as many pairs."""
    drawn = rng.integers(0, len(errors), size=(REPLICATES, len(errors)))
    return np.percentile(errors[drawn].mean(axis=1) / PAIRS, [2.5, 97.5])


def coverage(families, rate, *, alike=0.1, seed=1):
    """How often each interval holds the true rate, and the ratio of their median widths."""
    rng = np.random.default_rng([seed, families, round(100 * rate)])
    spread = (1 - alike) / alike
    held, widths = np.zeros(2), []
    for _ in range(RUNS):
        errors = rng.binomial(PAIRS, rng.beta(rate * spread, (1 - rate) * spread, size=families))
        ours = cluster_wilson(errors, np.full(families, PAIRS))
        ends = np.array([bootstrap(errors, rng), (ours.low, ours.high)])
        held += (ends[:, 0] <= rate) & (rate <= ends[:, 1])
        widths.append(ends[:, 1] - ends[:, 0])
    paper, own = np.median(widths, axis=0)
    return *(held / RUNS), paper / own


@pytest.fixture(scope="module")
def measured():
    return {case: coverage(*case) for case in CASES}


def test_ours_keeps_its_level_with_few_families_and_the_bootstrap_does_not(measured):
    # The standard error of a coverage is .011.
    assert {case: own for case, (_, own, _) in measured.items() if not 0.91 <= own <= 0.999} == {}
    assert measured[10, 0.05][0] < 0.82
    assert measured[10, 0.5][0] < 0.94


def test_with_many_families_both_say_the_same(measured):
    for rate in (0.05, 0.5):
        paper, own, widths = measured[48, rate]
        assert abs(paper - own) < 0.06
        assert 0.8 < widths < 1.05


def test_without_an_error_the_bootstrap_has_no_width():
    assert tuple(bootstrap(np.zeros(10), np.random.default_rng(1))) == (0, 0)
    assert cluster_wilson(np.zeros(10), np.full(10, PAIRS)).high > 0.05
