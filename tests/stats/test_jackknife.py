"""The delete-one-cluster jackknife: known cases, several estimates at once, and what happens when one is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student_t

from umpirical.stats.intervals import jackknife

samples = st.lists(st.floats(-100, 100), min_size=3, max_size=30)


@given(samples)
def test_for_a_mean_it_is_the_textbook_standard_error(values):
    x = np.array(values)
    found = jackknife(lambda kept: x[kept].mean(), len(x))
    assert found.standard_error == pytest.approx(x.std(ddof=1) / np.sqrt(len(x)), abs=1e-9)
    assert found.bias == pytest.approx(0, abs=1e-9)
    half = student_t.ppf(0.975, len(x) - 1) * float(found.standard_error)
    assert (found.low, found.high) == pytest.approx((x.mean() - half, x.mean() + half), abs=1e-6)


def test_the_bias_of_the_plain_variance_is_found_exactly():
    x = np.array([1.0, 4.0, 9.0, 2.0])
    found = jackknife(lambda kept: x[kept].var(), 4)
    assert float(found.value - found.bias) == pytest.approx(x.var(ddof=1))


def test_a_ratio_of_sums_agrees_with_linearisation():
    rng = np.random.default_rng(1)
    y, n = rng.poisson(20, 400), rng.poisson(40, 400)
    found = jackknife(lambda kept: y[kept].sum() / n[kept].sum(), 400)
    residuals = (y - y.sum() / n.sum() * n) / n.sum()
    assert float(found.standard_error) == pytest.approx(np.sqrt((residuals**2).sum()), rel=0.01)


def test_several_estimates_at_once_are_the_same_as_one_by_one():
    x = np.random.default_rng(2).standard_normal((12, 3))
    together = jackknife(lambda kept: np.exp(x[kept].mean(axis=0)), 12)
    for column in range(3):
        alone = jackknife(lambda kept, column=column: np.exp(x[kept, column].mean()), 12)
        assert together.standard_error[column] == pytest.approx(float(alone.standard_error))
        assert together.high[column] == pytest.approx(float(alone.high))


def test_the_level_sets_the_width():
    x = np.arange(10.0)
    wide, narrow = (jackknife(lambda kept: x[kept].mean(), 10, level=level) for level in (0.95, 0.9))
    ratio = student_t.ppf(0.975, 9) / student_t.ppf(0.95, 9)
    assert float(wide.high - wide.low) == pytest.approx(ratio * float(narrow.high - narrow.low))


@pytest.mark.parametrize("lost", [np.inf, -np.inf, np.nan])
def test_an_estimate_that_hangs_on_one_cluster_is_open_and_the_others_are_untouched(lost):
    x = np.arange(5.0)
    found = jackknife(lambda kept: [x[kept].mean(), 1.0 if kept[2] else lost], 5)
    assert np.isfinite(found.standard_error[0])
    assert found.standard_error[1] == np.inf
    assert (found.low[1], found.high[1]) == (-np.inf, np.inf)
    assert np.isnan(found.bias[1])


def test_an_infinite_estimate_is_open_too():
    found = jackknife(lambda kept: np.inf if kept.all() else 1.0, 4)
    assert (found.value, found.standard_error, found.low) == (np.inf, np.inf, -np.inf)


def test_one_cluster_is_refused():
    with pytest.raises(ValueError, match="at least two clusters, got 1"):
        jackknife(np.mean, 1)
