"""Bounds: by hand, against a search over all mixtures, and that they hold the truth."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.stats.corrections import score_bounds
from umpirical.stats.intervals import exact_high, exact_low

FREE = (0.0, 1.0)
SCORES = (1.0, 0.5, 0.0)


def pairs(right, wrong, equal):
    """The limits of a judge that compares, as claims make them."""
    better, worse = (right, 1.0), (0.0, wrong)
    return ((better, FREE, worse), (FREE, (1 - equal, 1.0), FREE), (worse, FREE, better))


def exactly(*shares):
    return [(share, share) for share in shares]


def test_a_judge_that_never_errs_is_believed():
    assert score_bounds(exactly(0.5, 0.2, 0.3), pairs(1, 0, 0), SCORES) == pytest.approx((0.6, 0.6))


def test_a_judge_of_which_nothing_is_known_says_nothing():
    assert score_bounds(exactly(0.5, 0.2, 0.3), [[FREE] * 3] * 3, SCORES) == pytest.approx((0, 1))


def test_two_kinds_by_hand():
    # p = pi Se + (1 - pi)(1 - Sp) = .4. Least for Se = 1, 1 - Sp = .2: (.4 - .2)/(1 - .2) = .25;
    # greatest for Se = .8, Sp = 1: .4/.8 = .5.
    limits = [[(0.8, 1.0), FREE], [(0.0, 0.2), FREE]]
    assert score_bounds(exactly(0.4, 0.6), limits, (1.0, 0.0)) == pytest.approx((0.25, 0.5))


def test_rows_without_a_verdict_may_be_anything():
    bounds = score_bounds(exactly(0.5, 0.2, 0.3), pairs(1, 0, 0), SCORES, missing=0.1)
    assert bounds == pytest.approx((0.9 * 0.6, 0.9 * 0.6 + 0.1))


def test_verdicts_that_such_a_judge_cannot_give_have_no_bounds():
    # It names nobody between equals and somebody wherever there is a difference, so nothing gives half of both errors.
    assert score_bounds(exactly(0.0, 0.0, 1.0), pairs(1, 0, 0), SCORES) == pytest.approx((0, 0))
    limits = [[(0.9, 1.0), FREE], [(0.5, 1.0), FREE]]
    assert score_bounds(exactly(0.2, 0.8), limits, (1.0, 0.0)) is None


def test_a_judge_that_always_says_the_same_teaches_nothing():
    # Slot 1 in every order: right in half of the pairs, wrong in the others, and it never says tie.
    assert score_bounds(exactly(0.5, 0.0, 0.5), pairs(0.5, 0.5, 1), SCORES) == pytest.approx((0, 1))


@settings(max_examples=25, deadline=None)
@given(st.floats(0.6, 1), st.floats(0, 0.3), st.floats(0, 0.4), st.integers(1, 9), st.integers(0, 4))
def test_no_mixture_that_is_allowed_lies_outside(right, wrong, equal, wins, ties):
    """Mixtures of truths and judges, drawn on a grid: each is inside the bounds of the verdicts that it gives."""
    win, tie = wins / 10, (1 - wins / 10) * ties / 10
    truth = np.array([win, tie, 1 - win - tie])
    for s, r in product((right, (1 + right) / 2, 1.0), (0.0, equal / 2, equal)):
        w = min(wrong, 1 - s)
        matrix = np.array([[s, 1 - s - w, w], [r, 1 - r, 0], [w, 1 - s - w, s]])
        bounds = score_bounds(exactly(*(truth @ matrix)), pairs(right, wrong, equal), SCORES)
        assert bounds is not None
        assert bounds.low - 1e-7 <= truth @ SCORES <= bounds.high + 1e-7


def test_wider_limits_are_never_narrower():
    narrow = score_bounds(exactly(0.5, 0.2, 0.3), pairs(0.9, 0.05, 0.1), SCORES)
    wide = score_bounds(exactly(0.5, 0.2, 0.3), pairs(0.8, 0.1, 0.2), SCORES)
    assert wide.low < narrow.low < narrow.high < wide.high


RUNS = [pytest.param(100, id="100"), pytest.param(2000, id="2000", marks=pytest.mark.slow)]


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize(
    ("truth", "right", "wrong", "equal", "lean"),
    [
        ((0.5, 0.2, 0.3), 0.9, 0.04, 0.1, 0.5),
        ((0.2, 0.6, 0.2), 0.8, 0.1, 0.3, 1.0),
        ((0.7, 0.0, 0.3), 0.95, 0.02, 0.05, 0.0),
        ((0.1, 0.1, 0.8), 0.7, 0.2, 0.5, 1.0),
    ],
    ids=str,
)
def test_bounds_from_measured_rates_hold_the_truth(truth, right, wrong, equal, lean, runs):
    """Rates from 96 pairs each, verdicts on 500 rows; `lean` is which way the judge leans between equals."""
    random, alpha = np.random.default_rng(5), 0.05 / 2
    matrix = np.array(
        [
            [right, 1 - right - wrong, wrong],
            [equal * lean, 1 - equal, equal * (1 - lean)],
            [wrong, 1 - right - wrong, right],
        ]
    )
    held = []
    for _ in range(runs):
        seen, missed = random.multinomial(96, [right, wrong, 1 - right - wrong])[:2]
        limits = pairs(
            exact_low(seen, 96, alpha / 3),
            exact_high(missed, 96, alpha / 3),
            exact_high(random.binomial(96, equal), 96, alpha / 3),
        )
        counts = random.multinomial(500, np.array(truth) @ matrix)
        shares = [(exact_low(k, 500, alpha / 6), exact_high(k, 500, alpha / 6)) for k in counts]
        bounds = score_bounds(shares, limits, SCORES)
        held.append(bounds is not None and bounds.low <= np.dot(truth, SCORES) <= bounds.high)
    assert np.mean(held) >= 0.95
