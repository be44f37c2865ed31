"""Isotonic fit, threshold and its interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from umpirical.stats.isotonic import isotonic_fit, threshold, threshold_interval

STEPS = [1, 2, 3, 4, 5]
rates = st.lists(st.floats(0, 1), min_size=5, max_size=5)
weights = st.lists(st.integers(1, 50), min_size=5, max_size=5)


def test_fit_by_hand():
    # .6 and .4 break the order; weighted 1 to 3 they pool to .45.
    assert isotonic_fit([0.2, 0.6, 0.4, 0.9], [1, 1, 3, 1]) == pytest.approx([0.2, 0.45, 0.45, 0.9])


@given(rates, weights)
def test_fit_agrees_with_scikit_learn(values, given_weights):
    reference = IsotonicRegression().fit_transform(STEPS, values, sample_weight=given_weights)
    assert isotonic_fit(values, given_weights) == pytest.approx(reference, abs=1e-9)


def test_crossing_by_hand():
    # From .5 at 2 to 1.0 at 3: .75 is half way.
    assert threshold(STEPS, [0.1, 0.5, 1.0, 1.0, 1.0]).value == pytest.approx(2.5)


def test_a_step_that_reaches_the_target_exactly_is_the_threshold():
    found = threshold(STEPS, [0.61, 0.625, 0.7333, 0.75, 1.0])
    assert (found.value, found.censoring) == (4.0, "none")


@given(rates, weights)
def test_censoring_says_which_side_the_threshold_is_on(values, given_weights):
    fit = isotonic_fit(values, given_weights)
    found = threshold(STEPS, fit)
    if fit[0] >= 0.75:
        assert (found.value, found.censoring) == (1, "left")
    elif fit[-1] < 0.75 - 1e-12:
        assert (found.value, found.censoring) == (5, "right")
    else:
        assert found.censoring == "none"
        assert 1 <= found.value <= 5


def test_a_better_judge_never_has_a_higher_threshold():
    base = np.array([0.3, 0.5, 0.6, 0.8, 0.9])
    for raised in range(5):
        better = base.copy()
        better[raised:] += 0.1
        assert threshold(STEPS, better).value <= threshold(STEPS, base).value


def ladder(seed: int, tasks: int, rate_by_step: list[float]) -> tuple[np.ndarray, np.ndarray]:
    n = np.full((tasks, 5), 3.0)
    return np.random.default_rng(seed).binomial(n.astype(int), rate_by_step).astype(float), n


def test_the_interval_holds_the_threshold_and_narrows_with_tasks():
    widths = []
    for tasks in (30, 120, 480):
        y, n = ladder(1, tasks, [0.3, 0.5, 0.7, 0.85, 0.95])
        low, high = threshold_interval(STEPS, y, n)
        value = threshold(STEPS, isotonic_fit(y.sum(axis=0) / n.sum(axis=0), n.sum(axis=0))).value
        assert low <= value <= high
        widths.append(high - low)
    assert widths[0] > widths[1] > widths[2]


def test_the_interval_is_open_where_the_ladder_ends():
    assert threshold_interval(STEPS, *ladder(2, 20, [0.99] * 5))[0] is None
    assert threshold_interval(STEPS, *ladder(3, 20, [0.1, 0.15, 0.2, 0.2, 0.2]))[1] is None
