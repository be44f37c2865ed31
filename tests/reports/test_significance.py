"""P-values are the intervals turned round, and the correction is the published one."""

import doctest
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, false_discovery_control, norm
from scipy.stats import t as student_t

from umpirical.domain.measures import Estimate, Interval
from umpirical.reports import significance
from umpirical.reports.significance import LEVEL, difference_p, false_discoveries, holm, p_value, survivors
from umpirical.stats.intervals import wilson


def estimate(value, low, high, n=100, level=0.95):
    limits = Interval(low=low, high=high, level=level, method="x")
    return Estimate(value=value, numerator=value * n, denominator=n, unit="item", interval=limits, clusters=n)


def share(k, n, level=0.95):
    return estimate(k / n, *wilson(k, n, level=level), n=n, level=level)


@pytest.mark.parametrize(("k", "n", "limit"), [(20, 60, 0.10), (9, 60, 0.10), (30, 54, 0.5), (1, 20, 0.01)])
def test_a_rate_above_its_limit_has_the_p_of_the_score_test(k, n, limit):
    z = (k / n - limit) / (limit * (1 - limit) / n) ** 0.5
    assert p_value(share(k, n), least=None, most=limit, is_rate=True) == pytest.approx(norm.sf(z), rel=1e-9)


def test_it_is_near_the_exact_p():
    exact = binomtest(20, 60, 0.2, alternative="greater").pvalue
    assert p_value(share(20, 60), least=None, most=0.2, is_rate=True) == pytest.approx(exact, abs=0.01)


def test_a_rate_below_its_limit_is_the_mirror_image():
    below = p_value(share(40, 60), least=0.8, most=None, is_rate=True)
    above = p_value(share(20, 60), least=None, most=0.2, is_rate=True)
    assert below == pytest.approx(above)


@pytest.mark.parametrize("level", [0.90, 0.95])
@pytest.mark.parametrize("is_rate", [True, False])
def test_at_the_interval_s_end_it_is_the_level(level, is_rate):
    one = share(20, 60, level) if is_rate else estimate(0.4, 0.1, 0.7, level=level)
    low = one.interval.low
    assert p_value(one, least=None, most=low, is_rate=is_rate) == pytest.approx((1 - level) / 2)
    high = one.interval.high
    assert p_value(one, least=high, most=None, is_rate=is_rate) == pytest.approx((1 - level) / 2)


def test_a_mean_is_as_many_standard_errors_away():
    error = 0.1
    one = estimate(0.5, 0.5 - 1.959964 * error, 0.5 + 1.959964 * error)
    assert p_value(one, least=-0.25, most=0.25, is_rate=False) == pytest.approx(norm.sf(2.5), rel=1e-5)
    down = estimate(-0.5, -0.5 - 1.959964 * error, -0.5 + 1.959964 * error)
    assert p_value(down, least=-0.25, most=0.25, is_rate=False) == pytest.approx(norm.sf(2.5), rel=1e-5)


def test_what_keeps_its_limit_is_not_surprising_at_all():
    assert p_value(share(2, 60), least=None, most=0.10, is_rate=True) == 1.0
    assert p_value(estimate(0.25, 0.0, 0.5), least=-0.25, most=0.25, is_rate=False) == 1.0


def test_without_an_interval_there_is_no_p():
    bare = replace(estimate(0.5, None, None), interval=None)
    assert p_value(bare, least=None, most=0.1, is_rate=False) is None
    assert p_value(estimate(0.5, None, 0.6), least=None, most=0.1, is_rate=False) is None
    assert p_value(estimate(0.5, 0.4, None), least=0.8, most=None, is_rate=False) is None
    assert p_value(share(20, 60), least=None, most=0.0, is_rate=True) is None


def test_benjamini_and_hochberg_s_own_example():
    """The fifteen p-values of their 1995 paper: four are rejected at 5 %."""
    published = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
                 0.6528, 0.7590, 1.0]  # fmt: skip
    assert sum(survivors(published)) == 4
    assert survivors(published)[:5] == [True, True, True, True, False]


def test_what_was_not_tested_neither_survives_nor_counts():
    assert survivors([]) == []
    assert survivors([None, None]) == [False, False]
    assert survivors([None, 0.04, None]) == [False, True, False]


@given(st.lists(st.none() | st.floats(0, 1), max_size=30))
def test_survivors_were_misses_by_themselves(p_values):
    kept = survivors(p_values)
    assert len(kept) == len(p_values)
    assert all(p is not None and p <= LEVEL for p, survives in zip(p_values, kept, strict=True) if survives)


def test_the_examples_hold():
    assert doctest.testmod(significance).failed == 0


# Differences, and several of them.


def test_a_difference_is_as_surprising_as_students_t_says():
    """The limit is 2.228 standard errors away with eleven clusters; 0 is twice as far."""
    twice = 2 * student_t.sf(2 * student_t.ppf(0.975, 10), 10)
    assert difference_p(estimate(0.2, 0.1, 0.3, n=11)) == pytest.approx(twice)
    assert difference_p(estimate(-0.1, -0.2, 0.0, n=11)) == pytest.approx(0.05)
    assert difference_p(estimate(0.0, -0.1, 0.1)) == 1
    assert difference_p(estimate(0.1, None, 0.3)) is None


def test_holm_by_hand():
    assert holm([0.01, 0.04, None, 0.03]) == [0.03, 0.06, None, 0.06]
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.none() | st.floats(0, 1), max_size=40))
def test_false_discoveries_are_those_of_scipy_to_the_last_digit(given_values):
    tested = [p for p in given_values if p is not None]
    known = iter(false_discovery_control(tested).tolist() if tested else [])
    assert false_discoveries(given_values) == [None if p is None else next(known) for p in given_values]
