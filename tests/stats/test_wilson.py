"""Wilson: values by hand, a reference implementation, and what must always hold."""

import doctest
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from umpirical.stats import intervals as module
from umpirical.stats.intervals import wilson

counts = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_the_example_in_the_docstring():
    assert doctest.testmod(module).failed == 0


def test_by_hand_at_one_half_with_z_2():
    # p = 1/2, n = 16, z = 2: centre 1/2, half-width 2 * sqrt(1/64 + 1/256) / (1 + 4/16)
    low, high = wilson(8, 16, critical=2.0)
    half = 2 * sqrt(1 / 64 + 1 / 256) / 1.25
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half))


@given(counts, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_agrees_with_statsmodels(count, level):
    k, n = count
    assert wilson(k, n, level=level) == pytest.approx(proportion_confint(k, n, 1 - level, "wilson"), abs=1e-9)


@given(counts)
def test_holds_the_estimate_stays_in_range_and_is_never_of_zero_width(count):
    k, n = count
    low, high = wilson(k, n)
    assert 0 <= low <= k / n <= high <= 1
    assert high > low


@given(counts)
def test_is_symmetric(count):
    k, n = count
    low, high = wilson(k, n)
    assert wilson(n - k, n) == pytest.approx((1 - high, 1 - low))


def test_limits_at_0_and_1_are_exact():
    assert wilson(0, 120).low == 0.0
    assert wilson(120, 120).high == 1.0


@pytest.mark.parametrize("n", [0, -1])
def test_refuses_an_empty_denominator(n):
    with pytest.raises(ValueError, match="positive denominator"):
        wilson(0, n)
