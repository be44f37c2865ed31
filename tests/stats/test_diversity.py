"""The effective number of categories: hand values, a slow reference, and its limits."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student_t

from umpirical.stats.repeats import effective_number, effective_number_interval

tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 3), min_size=width, max_size=width), min_size=2, max_size=5)
)


def slow(table):
    """Every unit of a cluster against every unit of another."""
    units = [
        (cluster, kind) for cluster, row in enumerate(table) for kind, count in enumerate(row) for _ in range(count)
    ]
    held = [kind == other for (one, kind), (two, other) in permutations(units, 2) if one != two]
    if not held:
        return float("nan")
    return len(held) / sum(held) if any(held) else float("inf")


@given(tables)
def test_it_is_that_of_the_reference(table):
    assert effective_number(table) == pytest.approx(slow(table), nan_ok=True)


def test_by_hand():
    assert effective_number([[5], [3]]) == 1
    assert effective_number(np.full((3, 4), 2)) == pytest.approx(4)
    # Two clusters of two units, 4 pairs across: a-a and a-b twice each.
    assert effective_number([[2, 0], [1, 1]]) == 2
    assert effective_number([[2, 0], [0, 2]]) == float("inf")


def test_it_is_without_bias_where_the_plain_number_is_not():
    rng, shares = np.random.default_rng(4), np.array([0.5, 0.3, 0.2])
    tables = rng.multinomial(2, shares, size=(4000, 6))
    chance = [1 / effective_number(table) for table in tables]
    truth = float((shares**2).sum())
    assert np.mean(chance) == pytest.approx(truth, abs=4 * np.std(chance) / np.sqrt(4000))
    plain = [((table.sum(axis=0) / 12) ** 2).sum() for table in tables]
    assert np.mean(plain) > truth + 0.03


def test_one_grade_for_all_still_leaves_an_interval():
    found = effective_number_interval([[0, 6]] * 10)
    assert (found.value, found.low, found.clusters) == (1, 1, 10)
    assert found.high == pytest.approx(np.exp(student_t.ppf(0.975, 9) * 2 / 60))


@pytest.mark.parametrize("runs", [pytest.param(300, id="300"), pytest.param(2000, id="2000", marks=pytest.mark.slow)])
@pytest.mark.parametrize("tasks", [12, 40])
def test_the_interval_covers_with_and_without_task_effects(tasks, runs):
    rng, shares = np.random.default_rng([tasks, runs]), np.array([0.5, 0.25, 0.15, 0.1])
    truth = 1 / float((shares**2).sum())
    for spread in (None, 8.0):
        hits = []
        for _ in range(runs):
            own = np.tile(shares, (tasks, 1)) if spread is None else rng.dirichlet(spread * shares, tasks)
            found = effective_number_interval(np.array([rng.multinomial(12, row) for row in own]))
            hits.append(found.low <= truth <= found.high)
        low, high = (0.93, 0.975) if runs >= 2000 else (0.90, 0.99)
        assert low <= np.mean(hits) <= high, spread
