"""Exact one-sided limits of a rate."""

import pytest
from scipy.stats import binom, binomtest

from umpirical.stats.intervals import exact_high, exact_low, few_clusters


def test_nothing_in_sixty():
    """By hand: (1 - p)^60 = 0.05."""
    assert exact_high(0, 60, 0.05) == pytest.approx(1 - 0.05 ** (1 / 60)) == pytest.approx(0.0487, abs=5e-5)
    assert exact_low(60, 60, 0.05) == pytest.approx(0.05 ** (1 / 60))
    assert (exact_low(0, 60, 0.05), exact_high(60, 60, 0.05)) == (0.0, 1.0)


@pytest.mark.parametrize(("hits", "units", "alpha"), [(1, 20, 0.05), (7, 40, 0.01), (38, 40, 0.025)])
def test_against_scipy(hits, units, alpha):
    found = binomtest(hits, units).proportion_ci(1 - 2 * alpha, method="exact")
    assert (exact_low(hits, units, alpha), exact_high(hits, units, alpha)) == pytest.approx((found.low, found.high))


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.2])
def test_a_rate_at_the_limit_is_taken_for_lower_in_at_most_the_stated_share(rate):
    """Summed over every possible count: exact, so no simulation is needed."""
    passed = sum(binom.pmf(hits, 80, rate) for hits in range(81) if exact_high(hits, 80, 0.05) <= rate)
    failed = sum(binom.pmf(hits, 80, rate) for hits in range(81) if exact_low(hits, 80, 0.01) > rate)
    assert passed <= 0.05
    assert failed <= 0.01


def test_few_clusters_cost_what_students_t_costs():
    assert few_clusters(24, 0.05) == pytest.approx((1.6449 / 1.7139) ** 2, abs=1e-4)
    assert few_clusters(10_000, 0.05) == pytest.approx(1.0, abs=1e-3)
