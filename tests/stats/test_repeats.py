"""Repeats: values by hand, published reliabilities, and how far few repeats mislead."""

from itertools import product
from math import comb, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student_t

from tests.cases import each
from umpirical.stats.intervals import jackknife
from umpirical.stats.repeats import answer_entropy, flip_chance, icc_of, modal_share, repeat_icc, repeat_sums

counts = st.lists(st.integers(0, 6), min_size=1, max_size=5).filter(lambda x: sum(x) >= 2)

SHROUT_FLEISS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
"""Six targets, four judges: table 2 of Shrout and Fleiss (1979)."""


def sums_of(table) -> np.ndarray:
    return repeat_sums(
        np.full(len(table), table.shape[1]), table.sum(axis=1), (table**2).sum(axis=1), np.ones(len(table))
    )


def expected(statistic, p: float, repeats: int) -> float:
    """Mean over every number of times that one of two answers can come up."""
    return sum(
        comb(repeats, x) * p**x * (1 - p) ** (repeats - x) * statistic([x, repeats - x]) for x in range(repeats + 1)
    )


# Of one question.


def test_flips_by_hand():
    assert flip_chance([5]) == 0
    assert flip_chance([1, 1]) == 1
    assert flip_chance([2, 1]) == pytest.approx(2 / 3)
    assert flip_chance([0, 2, 2]) == pytest.approx(2 / 3)


@given(counts)
@settings(deadline=None)
def test_a_flip_is_two_of_the_answers_that_differ(x):
    answers = [kind for kind, count in enumerate(x) for _ in range(count)]
    pairs = [one != other for i, one in enumerate(answers) for j, other in enumerate(answers) if i != j]
    assert flip_chance(x) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("repeats", [2, 3, 8])
@pytest.mark.parametrize("p", [0.02, 0.3, 0.5])
def test_flips_have_no_bias_whatever_the_number_of_repeats(p, repeats):
    assert expected(flip_chance, p, repeats) == pytest.approx(2 * p * (1 - p))


def test_the_modal_share_by_hand_and_its_bias():
    assert [modal_share(x) for x in ([4], [1, 1], [3, 1, 1])] == [1, 0.5, 0.6]
    # A coin toss asked twice agrees half of the time: 3/4 on average, though the truth is 1/2.
    assert expected(modal_share, 0.5, 2) == 0.75
    means = [expected(modal_share, 0.5, repeats) for repeats in (2, 5, 20, 60)]
    assert means == sorted(means, reverse=True)
    assert means[-1] > 0.5


def test_the_entropy_by_hand():
    assert answer_entropy([7]) == 0
    # psi(2) - psi(1) = 1 nat; psi(3) - psi(2) = 1/2.
    assert answer_entropy([1, 1]) == pytest.approx(1 / np.log(2))
    assert answer_entropy([2, 1]) == pytest.approx((2 / 3 * 1 / 2 + 1 / 3 * 3 / 2) / np.log(2))


@each("repeats", [2, 3, 5, 10])
@each("p", [0.05, 0.2, 0.5])
def test_the_entropy_falls_short_by_what_its_formula_says(p, repeats):
    truth = -(p * log2(p) + (1 - p) * log2(1 - p))
    short = sum((p * (1 - p) ** v + (1 - p) * p**v) / v for v in range(repeats, 2000)) / np.log(2)
    assert expected(answer_entropy, p, repeats) == pytest.approx(truth - short)


@each("repeats", [2, 3, 5, 10])
@each("p", [0.05, 0.2, 0.5])
def test_it_falls_short_by_less_than_the_entropy_of_the_shares_seen(p, repeats):
    def plain(x):
        shares = np.array([count for count in x if count]) / sum(x)
        return float(-(shares * np.log2(shares)).sum())

    truth = -(p * log2(p) + (1 - p) * log2(1 - p))
    ours, theirs = truth - expected(answer_entropy, p, repeats), truth - expected(plain, p, repeats)
    assert 0 <= ours < theirs


def test_a_coin_toss_as_the_measure_tells_it():
    plain = {2: 0.5, 5: 0.17}
    for repeats, short in {2: 0.28, 5: 0.02}.items():
        assert 1 - expected(answer_entropy, 0.5, repeats) == pytest.approx(short, abs=0.005)
        shares = [comb(repeats, x) / 2**repeats * entropy(x / repeats) for x in range(repeats + 1)]
        assert 1 - sum(shares) == pytest.approx(plain[repeats], abs=0.005)


def entropy(p: float) -> float:
    return 0.0 if p in (0, 1) else -(p * log2(p) + (1 - p) * log2(1 - p))


@given(counts)
@settings(deadline=None)
def test_order_and_empty_answers_do_not_matter(x):
    for statistic in (flip_chance, modal_share, answer_entropy):
        assert statistic(x) == pytest.approx(statistic([0, *sorted(x)]))


def test_one_answer_is_no_repeat():
    with pytest.raises(ValueError, match="at least 2 answers to one question, got 1"):
        flip_chance([0, 1])
    with pytest.raises(ValueError, match="at least 2"):
        answer_entropy([1])
    with pytest.raises(ValueError, match="at least 1"):
        modal_share([])


# The intraclass correlation.


def test_the_published_example():
    single = float(icc_of(sums_of(SHROUT_FLEISS).sum(axis=0)))
    assert round(single, 4) == 0.1657
    # Of the mean of four answers, by Spearman and Brown.
    assert round(4 * single / (1 + 3 * single), 4) == 0.4428


def test_the_analysis_of_variance_with_unequal_repeats():
    groups = [[1.0, 2.0], [4.0, 4.0, 5.0], [2.0, 3.0, 3.0, 4.0], [0.0, 1.0]]
    total = np.concatenate(groups)
    between = sum(len(g) * (np.mean(g) - total.mean()) ** 2 for g in groups) / 3
    within = sum(((g - np.mean(g)) ** 2).sum() for g in map(np.array, groups)) / (len(total) - 4)
    size = (len(total) - sum(len(g) ** 2 for g in groups) / len(total)) / 3
    parts = repeat_sums(
        [len(g) for g in groups], [sum(g) for g in groups], [sum(x * x for x in g) for g in groups], np.ones(4)
    )
    found = repeat_icc(parts, diversity=0.8)
    assert found.value == pytest.approx((between - within) / (between + (size - 1) * within))


def test_items_that_are_alike_may_be_counted_together():
    table = np.repeat(SHROUT_FLEISS, 3, axis=0)
    weights = repeat_sums(np.full(6, 4), SHROUT_FLEISS.sum(axis=1), (SHROUT_FLEISS**2).sum(axis=1), np.full(6, 3))
    assert icc_of(weights.sum(axis=0)) == pytest.approx(float(icc_of(sums_of(table).sum(axis=0))))


def test_limits_are_those_of_leaving_out_clusters_one_by_one():
    rng = np.random.default_rng(1)
    table = np.rint(2 * rng.standard_normal((40, 1)) + rng.standard_normal((40, 3)))
    parts = sums_of(table)
    clusters = parts.reshape(20, 2, 6).sum(axis=1)
    found = repeat_icc(clusters, diversity=0.8)
    slow = jackknife(lambda kept: icc_of(clusters[kept].sum(axis=0)), 20)

    def fisher(rho):
        return np.log((1 + 2 * rho) / (1 - rho)) / 2

    slope = 3 / (2 * (1 + 2 * found.value) * (1 - found.value))
    half = student_t.ppf(0.975, 19) * float(slow.standard_error) * slope
    assert fisher(found.high) - fisher(found.value) == pytest.approx(half)


def test_no_variance_is_no_number():
    assert np.isnan(icc_of(sums_of(np.full((5, 3), 2.0)).sum(axis=0)))
    assert np.isnan(icc_of(sums_of(np.array([[1.0, 2.0, 3.0]])).sum(axis=0)))
    # Nothing repeated: between and within cannot be told apart.
    assert np.isnan(icc_of(sums_of(np.array([[1.0], [2.0], [3.0]])).sum(axis=0)))


def test_perfect_repeats_are_one_and_not_certain():
    found = repeat_icc(sums_of(np.repeat([[0.0], [1.0], [2.0], [3.0]], 3, axis=1)), diversity=0.75)
    assert (found.value, found.high) == (1, 1)
    assert -0.5 <= found.low < 1


def test_repeats_that_always_differ_are_below_nothing():
    table = np.array(list(product([0.0, 1.0], repeat=1)) * 5)
    table = np.column_stack([table, 1 - table])
    found = repeat_icc(sums_of(table), diversity=0.5)
    # Every item has one of each answer: the least there is for two.
    assert (found.value, found.low) == (-1, -1)
    assert found.high > -1


@pytest.mark.parametrize("runs", [pytest.param(200, id="200"), pytest.param(2000, id="2000", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("rho", "items", "repeats"), [(0.1, 30, 3), (0.6, 30, 3), (0.9, 60, 2), (0.6, 60, 5)])
def test_the_interval_covers(rho, items, repeats, runs):
    rng, hits = np.random.default_rng([items, repeats, runs]), []
    for _ in range(runs):
        own = np.sqrt(rho) * rng.standard_normal((items, 1))
        found = repeat_icc(sums_of(own + np.sqrt(1 - rho) * rng.standard_normal((items, repeats))), diversity=1.0)
        hits.append(found.low <= rho <= found.high)
    low, high = (0.93, 0.975) if runs >= 2000 else (0.90, 0.99)
    assert low <= np.mean(hits) <= high
