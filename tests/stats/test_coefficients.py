"""The interval of a coefficient: Fisher's own formulas, limits that stay possible, and never without width."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student_t

from umpirical.stats import agreement
from umpirical.stats.agreement import Sample, coefficient_interval, delete_one, jackknife_error
from umpirical.stats.intervals import jackknife

LARGE = Sample(clusters=100, units=100, diversity=0.8)


def test_for_two_answers_it_is_students_t_on_the_inverse_hyperbolic_tangent():
    found = coefficient_interval(0.6, 0.08, LARGE)
    half = student_t.ppf(0.975, 99) * 0.08 / (1 - 0.36)
    assert found.low == pytest.approx(np.tanh(np.arctanh(0.6) - half))
    assert found.high == pytest.approx(np.tanh(np.arctanh(0.6) + half))
    assert (found.value, found.clusters) == (0.6, 100)


def test_for_more_answers_it_is_fishers_scale_of_intraclass_correlations():
    sample = Sample(clusters=50, units=50, diversity=0.8, answers=4)
    found = coefficient_interval(0.3, 0.09, sample)

    def fisher(rho):
        return np.log((1 + 3 * rho) / (1 - rho)) / 2

    slope = (fisher(0.3 + 1e-6) - fisher(0.3 - 1e-6)) / 2e-6
    half = student_t.ppf(0.975, 49) * 0.09 * slope
    assert fisher(0.3) - fisher(found.low) == pytest.approx(half, rel=1e-6)
    assert fisher(found.high) - fisher(0.3) == pytest.approx(half, rel=1e-6)


def test_with_normal_data_the_error_is_one_over_the_root_of_n():
    """Fisher's variance 1/(n - 3) of the transformed correlation, seen from the data alone."""
    rng, errors = np.random.default_rng(1), []
    for _ in range(200):
        x = rng.standard_normal(200)
        y = 0.7 * x + np.sqrt(1 - 0.49) * rng.standard_normal(200)
        columns = np.column_stack([np.ones(200), x, y, x * x, x * y, y * y])

        def correlation(s):
            n, a, b, aa, ab, bb = np.moveaxis(s, -1, 0)
            return (ab / n - a * b / n**2) / np.sqrt((aa / n - a**2 / n**2) * (bb / n - b**2 / n**2))

        value, replicates = delete_one(columns, correlation)
        errors.append(jackknife_error(replicates) / (1 - value**2))
    assert np.mean(errors) == pytest.approx(1 / np.sqrt(197), rel=0.03)


def test_the_error_is_that_of_the_slow_jackknife():
    values = np.random.default_rng(2).lognormal(size=(30, 2))
    value, replicates = delete_one(values, lambda sums: sums[..., 0] / sums[..., 1])
    slow = jackknife(lambda kept: values[kept, 0].sum() / values[kept, 1].sum(), 30)
    assert value == pytest.approx(float(slow.value))
    assert jackknife_error(replicates) == pytest.approx(float(slow.standard_error))


def test_blocks_do_not_matter(monkeypatch):
    values = np.random.default_rng(3).lognormal(size=(30, 2))
    whole = delete_one(values, lambda sums: sums[..., 0] / sums[..., 1])
    monkeypatch.setattr(agreement, "BLOCK", 7)
    parts = delete_one(values, lambda sums: sums[..., 0] / sums[..., 1])
    assert parts[0] == whole[0]
    assert np.array_equal(parts[1], whole[1])


def test_an_estimate_that_hangs_on_one_cluster_says_nothing():
    assert jackknife_error(np.array([0.4, np.nan, 0.5])) == np.inf
    found = coefficient_interval(0.5, np.inf, LARGE)
    assert (found.low, found.high) == (-1, 1)


def test_an_undefined_coefficient_stays_undefined():
    found = coefficient_interval(float("nan"), 0.1, LARGE)
    assert np.isnan(found.value)
    assert (found.low, found.high) == (-1, 1)


def test_at_one_the_limit_is_that_of_random_answers_that_did_not_show():
    found = coefficient_interval(1.0, 0.0, LARGE)
    t = student_t.ppf(0.975, 99)
    # Wilson's upper limit of 0 of 100, over the chance that a random answer shows.
    assert found.low == pytest.approx(1 - t**2 / (100 + t**2) / 0.8)
    assert found.high == 1
    below = coefficient_interval(-1.0, 0.0, LARGE)
    assert (below.low, below.high) == (-1, pytest.approx(-found.low))


def test_at_one_with_nothing_to_tell_apart_everything_is_possible():
    found = coefficient_interval(1.0, 0.0, Sample(clusters=20, units=20, diversity=0.0))
    assert (found.low, found.high) == (-1, 1)


def test_a_spread_of_nothing_is_not_believed():
    found = coefficient_interval(0.2, 0.0, LARGE)
    least = student_t.ppf(0.975, 99) * np.sqrt(0.25 / 100)
    assert np.arctanh(found.high) - np.arctanh(0.2) == pytest.approx(least)
    # With few items of another label than the rest, not even half of what chance makes.
    rare = coefficient_interval(0.2, 0.0, Sample(clusters=100, units=100, diversity=0.08))
    assert np.arctanh(rare.high) - np.arctanh(0.2) == pytest.approx(2 * least)


def test_many_labels_agree_by_chance_less_variably():
    one, six = (coefficient_interval(0.0, 0.0, Sample(100, 100, 0.8, freedom=free)) for free in (1.0, 5.0))
    assert np.arctanh(one.high) == pytest.approx(np.sqrt(5) * np.arctanh(six.high))


def test_a_lower_level_is_narrower():
    wide, narrow = (coefficient_interval(0.4, 0.1, LARGE, level=level) for level in (0.95, 0.90))
    assert wide.low < narrow.low < 0.4 < narrow.high < wide.high


@given(
    st.floats(-1, 1),
    st.one_of(st.floats(0, 5), st.just(float("inf"))),
    st.integers(2, 500),
    st.floats(0, 1),
    st.sampled_from([2.0, 3.0, 7.5]),
)
@settings(deadline=None)
def test_the_limits_are_possible_hold_the_value_and_are_never_one(value, error, units, diversity, answers):
    least = -1 / (answers - 1)
    sample = Sample(clusters=units, units=units, diversity=diversity, answers=answers)
    found = coefficient_interval(max(value, least), error, sample)
    assert least - 1e-12 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= 1
    assert found.high > found.low
