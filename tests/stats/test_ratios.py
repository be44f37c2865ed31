"""Ratios over clusters: hand values, other people's software, and limits that are never without width."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student_t
from scipy.stats import ttest_1samp

from umpirical.stats.intervals import MIN_DESIGN_EFFECT, cluster_mean, cluster_ratio


def test_equal_denominators_give_the_t_interval_of_the_cluster_means():
    values = [1.0, 2.0, 4.0, 9.0]
    found = cluster_ratio(values, np.ones(4))
    low, high = ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found.value, found.low, found.high, found.clusters) == (4.0, pytest.approx(low), pytest.approx(high), 4)


def test_a_ratio_by_hand():
    # Ratio 6/4; residuals 2 - 1.5 = 0.5 and 4 - 4.5 = -0.5; variance 2/1 · 0.5 / 16 = 1/16.
    found = cluster_ratio([2, 4], [1, 3])
    half = student_t.ppf(0.975, 1) / 4
    assert (found.value, found.low, found.high) == (1.5, pytest.approx(1.5 - half), pytest.approx(1.5 + half))


def test_a_regression_through_the_origin_with_clustered_errors_is_the_same():
    rng = np.random.default_rng(3)
    task = np.repeat(np.arange(8), 5)
    x = rng.integers(1, 6, 40).astype(float)
    y = 0.7 * x + rng.standard_normal(40) + rng.standard_normal(8)[task]
    found = cluster_ratio(np.bincount(task, x * y), np.bincount(task, x * x))
    # HC-style factor G/(G-1) without the small-sample (n-1)/(n-k).
    fit = sm.OLS(y, x).fit(cov_type="cluster", cov_kwds={"groups": task, "use_correction": False})
    error = fit.bse[0] * np.sqrt(8 / 7)
    assert found.value == pytest.approx(fit.params[0])
    assert found.high - found.value == pytest.approx(student_t.ppf(0.975, 7) * error)


def test_clusters_that_all_agree_still_leave_an_interval():
    found = cluster_ratio([2, 4, 6], [1, 2, 3], least=0.01)
    assert found.value == 2
    assert found.high - 2 == pytest.approx(0.01 * student_t.ppf(0.975, 2))


@pytest.mark.parametrize("interval", [cluster_ratio, cluster_mean])
def test_one_cluster_is_refused_and_one_without_units_is_no_cluster(interval):
    with pytest.raises(ValueError, match="at least two clusters"):
        interval([1.0, 5.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="negative"):
        interval([1.0, 5.0], [1.0, -1.0])


# Means of distances.


def test_a_mean_of_a_share_by_hand():
    # Totals 1 and 3 of 4 units in turn: mean 1/2, residuals -1 and 1, factor 24/23·24/(96·0.5) = 12/23.
    found = cluster_mean([1, 3] * 12, [4] * 24)
    reach = student_t.ppf(0.975, 23) ** 2 * (12 / 23) / 96
    for limit in (found.low, found.high):
        # Each limit m solves |1/2 - m| = t sqrt(factor m / 96).
        assert (0.5 - limit) ** 2 == pytest.approx(reach * limit)
    assert found.low < 0.5 < found.high


def test_nothing_seen_has_the_limit_of_units_of_size_one():
    found = cluster_mean(np.zeros(10), np.full(10, 6))
    assert (found.value, found.low) == (0, 0)
    assert found.high == pytest.approx(student_t.ppf(0.975, 9) ** 2 / 60)


def test_a_negative_total_is_refused():
    with pytest.raises(ValueError, match="total is negative"):
        cluster_mean([1, -1], [2, 2])


totals = st.lists(st.tuples(st.floats(0, 20), st.integers(1, 9)), min_size=2, max_size=12)


@given(totals)
def test_the_interval_holds_the_mean_has_width_and_is_not_negative(rows):
    y, n = zip(*rows, strict=True)
    found = cluster_mean(y, n)
    assert 0 <= found.low <= found.value <= found.high
    assert found.high > found.low


@given(totals, st.floats(1, 8))
def test_units_of_measurement_do_not_matter_where_tasks_differ(rows, factor):
    y, n = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    mean = y.sum() / n.sum()
    seen = len(y) / (len(y) - 1) * ((y - mean * n) ** 2).sum()
    if mean > 0 and seen > MIN_DESIGN_EFFECT * y.sum():
        one, other = cluster_mean(y, n), cluster_mean(factor * y, n)
        assert [other.low, other.high] == pytest.approx([factor * one.low, factor * one.high])
