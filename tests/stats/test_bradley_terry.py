"""Weights from comparisons with ties: by hand, against a log-linear model, and what must hold."""

from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from umpirical.stats.bradley_terry import estimate_weights, log_weights

PAIRS = list(combinations(range(5), 2))

JUDGES = {
    "mild": ((0.5, 0.2, 0.0, -0.2, -0.5), 1.0, 20, 3),
    "strong": ((1.2, 0.3, 0.0, -0.5, -1.0), 0.05, 40, 2),
    "equal": ((0.0, 0.0, 0.0, 0.0, 0.0), 4.0, 40, 5),
    "few": ((0.5, 0.2, 0.0, -0.2, -0.5), 1.0, 100, 1),
}
"""Log weights, tie parameter, tasks and pairs per task; the last is the design of the full recipe."""

CASES = [
    pytest.param("mild", 200, id="mild-200"),
    *(pytest.param(name, 2000, id=f"{name}-2000", marks=pytest.mark.slow) for name in JUDGES),
]

counts = arrays(np.int64, (4, 4), elements=st.integers(0, 20))


def sample(theta, tie, rng, *, tasks: int, per_task: int):
    """Both orders of `per_task` pairs in each task, by Davidson's model with log weights `theta`."""
    wins, ties = np.zeros((tasks, 5, 5)), np.zeros((tasks, 5, 5))
    for task in range(tasks):
        for turn in range(per_task):
            i, j = PAIRS[(task * per_task + turn) % len(PAIRS)]
            gap = theta[i] - theta[j]
            shares = np.array([np.exp(gap / 2), np.exp(-gap / 2), tie])
            for_i, for_j, neither = rng.multinomial(2, shares / shares.sum())
            wins[task, i, j] += for_i
            wins[task, j, i] += for_j
            ties[task, i, j] += neither
    return wins, ties


def test_two_weights_by_hand():
    # Named 30 times against 10: the odds are 3, however many ties.
    for tied in (0, 7, 300):
        wins = np.array([[0, 30], [10, 0]])
        ties = np.array([[0, tied], [0, 0]])
        weights = np.exp(log_weights(wins, ties, prior=1e-9))
        assert weights[0] / weights[1] == pytest.approx(3, rel=1e-6)
        assert weights.prod() == pytest.approx(1)


def test_it_is_the_log_linear_model_of_statsmodels():
    rng = np.random.default_rng(1)
    wins = rng.integers(1, 30, (5, 5)) * (1 - np.eye(5))
    ties = np.triu(rng.integers(1, 20, (5, 5)), 1)
    rows, response = [], []
    for number, (i, j) in enumerate(PAIRS):
        for outcome, count in ((1, wins[i, j]), (-1, wins[j, i]), (0, ties[i, j])):
            row = np.zeros(10 + 5 + 1)
            row[number] = 1
            row[10 + i], row[10 + j], row[15] = outcome / 2, -outcome / 2, outcome == 0
            rows.append(row)
            response.append(count)
    design = np.delete(np.array(rows), 10, axis=1)
    fit = sm.GLM(np.array(response), design, family=sm.families.Poisson()).fit(tol=1e-12)
    reference = np.r_[0, fit.params[10:14]]
    assert log_weights(wins, ties, prior=0.0) == pytest.approx(reference - reference.mean(), abs=1e-6)


def test_a_weight_that_always_wins_is_finite():
    wins, ties = np.zeros((3, 3)), np.zeros((3, 3))
    wins[0, 1] = wins[0, 2] = wins[1, 2] = 10
    weights = log_weights(wins, ties)
    assert np.isfinite(weights).all()
    assert weights[0] > weights[1] > weights[2]


def test_weights_never_compared_stay_at_the_common_weight():
    wins = np.zeros((4, 4))
    wins[0, 1] = 8
    weights = log_weights(wins, np.zeros((4, 4)))
    assert weights[2] == pytest.approx(weights[3])
    assert weights.sum() == pytest.approx(0)


@given(counts, counts)
def test_turned_round_they_are_inverted_and_renamed_they_move_along(wins, ties):
    np.fill_diagonal(wins, 0)
    weights = log_weights(wins, ties)
    assert log_weights(wins.T, ties) == pytest.approx(-weights, abs=1e-6)
    order = [2, 0, 3, 1]
    assert log_weights(wins[np.ix_(order, order)], ties[np.ix_(order, order)]) == pytest.approx(
        weights[order], abs=1e-6
    )


def test_ties_do_not_pull_weights_together():
    """Half wins in a model without ties would: the odds of 3 would come out as 1.3 with 80 % ties."""
    wins, ties = np.array([[0, 300], [100, 0]]), np.array([[0, 1600], [0, 0]])
    weights = np.exp(log_weights(wins, ties))
    assert weights[0] / weights[1] == pytest.approx(3, rel=0.01)


@pytest.mark.parametrize(("name", "runs"), CASES)
def test_weights_are_recovered_and_covered(name, runs):
    true_value, tie, tasks, per_task = JUDGES[name]
    theta, rng = np.array(true_value), np.random.default_rng([runs, tasks])
    found = [estimate_weights(*sample(theta, tie, rng, tasks=tasks, per_task=per_task)) for _ in range(runs)]
    values = np.array([weights.value for weights in found])
    # The added answers pull weights together, by less than a quarter of their own uncertainty.
    assert (np.abs(values.mean(axis=0) - theta) < (0.25 + 3.5 / np.sqrt(runs)) * values.std(axis=0)).all()
    coverage = np.mean([(weights.low <= theta) & (theta <= weights.high) for weights in found], axis=0)
    low, high = (0.93, 0.975) if runs >= 2000 else (0.90, 0.995)
    assert (coverage >= low).all()
    assert (coverage <= high).all()
    spread = np.ptp(theta)
    assert np.mean([weights.spread_low <= spread <= weights.spread_high for weights in found]) >= low


@pytest.mark.parametrize(
    ("tasks", "per_task", "runs"),
    [
        (12, 10, 200),
        pytest.param(12, 10, 2000, marks=pytest.mark.slow),
        pytest.param(40, 2, 2000, marks=pytest.mark.slow),
    ],
)
def test_equal_weights_are_rejected_as_seldom_as_they_should_be(tasks, per_task, runs):
    rng = np.random.default_rng([runs, tasks, 5])
    p = [
        estimate_weights(*sample(np.zeros(5), 1.0, rng, tasks=tasks, per_task=per_task)).equality_p for _ in range(runs)
    ]
    assert np.mean(np.array(p) < 0.05) <= 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / runs)


def test_unequal_weights_are_found():
    rng = np.random.default_rng(2)
    weights = estimate_weights(*sample(np.array([1.2, 0.3, 0.0, -0.5, -1.0]), 1.0, rng, tasks=40, per_task=5))
    assert weights.equality_p < 0.001
    assert weights.spread_low > 0


def test_with_few_tasks_there_is_no_test():
    rng = np.random.default_rng(3)
    assert estimate_weights(*sample(np.zeros(5), 1.0, rng, tasks=5, per_task=10)).equality_p is None
