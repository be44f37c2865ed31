"""Rogan and Gladen: by hand, against the published limits, and how often its intervals hold the truth."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from umpirical.stats.corrections import Counted, confusion_inverse, rogan_gladen, separation

RUNS = [pytest.param(200, id="200"), pytest.param(2000, id="2000", marks=pytest.mark.slow)]
SCORES = [1, 0.5, 0]


def test_by_hand():
    # 300 of 1,000 are called positive, Se = 90/100, Sp = 160/200: (.3 + .8 - 1) / (.9 + .8 - 1) = 1/7.
    found = rogan_gladen(Counted(300, 1000), Counted(90, 100), Counted(160, 200))
    assert found.value == pytest.approx(1 / 7)
    assert found.separation == pytest.approx(0.7)


def test_the_interval_is_lang_and_reiczigels():
    # Their formulas, step by step, with z = 1.96.
    z = 1.959963984540054
    n, p = 1000 + z**2, (300 + z**2 / 2) / (1000 + z**2)
    se, sp = 91 / 102, 161 / 202
    centre = (p + sp - 1) / (se + sp - 1)
    shift = 2 * z**2 * (centre * se * (1 - se) / 102 - (1 - centre) * sp * (1 - sp) / 202)
    error = sqrt(p * (1 - p) / n + centre**2 * se * (1 - se) / 102 + (1 - centre) ** 2 * sp * (1 - sp) / 202) / (
        se + sp - 1
    )
    found = rogan_gladen(Counted(300, 1000), Counted(90, 100), Counted(160, 200))
    assert found.low == pytest.approx(centre + shift - z * error)
    assert found.high == pytest.approx(centre + shift + z * error)


def test_a_judge_known_to_be_perfect_leaves_agresti_and_coulls_interval():
    found = rogan_gladen(Counted(37, 120), Counted(1e9, 1e9), Counted(1e9, 1e9))
    low, high = proportion_confint(37, 120, method="agresti_coull")
    assert found.value == pytest.approx(37 / 120)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)


def test_two_kinds_inverted_are_rogan_and_gladen():
    found = confusion_inverse([300, 700], [[90, 10], [40, 160]], [1, 0])
    assert found.value == pytest.approx(1 / 7)
    assert found.separation == pytest.approx(0.7)


def test_three_kinds_by_hand():
    # Truths .5, .2, .3 and a judge that says tie instead in a tenth of wins and losses, and is right about ties.
    confusion = [[90, 10, 0], [0, 100, 0], [0, 10, 90]]
    given_verdicts = [450, 200 + 50 + 30, 270]
    found = confusion_inverse(given_verdicts, confusion, SCORES)
    assert found.value == pytest.approx(0.5 + 0.2 / 2)
    assert found.separation == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("matrix", "apart"),
    [
        ([[1, 0], [0, 1]], 1),
        ([[0.9, 0.1], [0.2, 0.8]], 0.7),
        ([[0.5, 0.5], [0.5, 0.5]], 0),
        ([[0, 1], [1, 0]], -1),
        ([[0, 0, 1], [0, 1, 0], [1, 0, 0]], -1),
        ([[0.8, 0.1, 0.1], [0.8, 0.1, 0.1], [0.1, 0.1, 0.8]], 0),
    ],
)
def test_separation_is_youdens_index_and_0_where_two_truths_look_alike(matrix, apart):
    assert separation(np.array(matrix, dtype=float)) == pytest.approx(apart, abs=1e-9)


def test_a_judge_that_always_says_the_same_corrects_nothing():
    with pytest.raises(ValueError, match="no better than chance"):
        rogan_gladen(Counted(100, 100), Counted(50, 50), Counted(0, 50))
    with pytest.raises(ValueError, match="does not separate the true labels"):
        confusion_inverse([100, 0, 0], [[50, 0, 0]] * 3, SCORES)


@given(st.integers(0, 500), st.integers(0, 60), st.integers(0, 60))
def test_the_interval_lies_in_the_scale_and_holds_the_estimate(hits, right, wrong):
    if right + wrong <= 60:
        return
    found = rogan_gladen(Counted(hits, 500), Counted(right, 60), Counted(wrong, 60))
    assert 0 <= found.low <= found.value <= found.high <= 1


BINARY = [
    (2000, 100, 100, 0.1, 0.9, 0.8),
    (2000, 100, 100, 0.5, 0.9, 0.8),
    (2000, 200, 200, 0.3, 0.75, 0.75),
    (500, 50, 50, 0.5, 0.95, 0.95),
    (200, 100, 100, 0.3, 0.9, 0.9),
    (2000, 300, 60, 0.6, 0.98, 0.8),
]


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("cell", BINARY, ids=str)
def test_intervals_hold_the_truth(cell, runs):
    rows, positives, negatives, truth, se, sp = cell
    random = np.random.default_rng(11)
    held = []
    for _ in range(runs):
        found = rogan_gladen(
            Counted(random.binomial(rows, truth * se + (1 - truth) * (1 - sp)), rows),
            Counted(random.binomial(positives, se), positives),
            Counted(random.binomial(negatives, sp), negatives),
        )
        held.append(found.low <= truth <= found.high)
    spare = 0.0 if runs >= 2000 else 0.03
    assert 0.93 - spare <= np.mean(held) <= 0.975 + spare


CONFUSED = {
    "fair": (100, [0.5, 0.2, 0.3], [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]),
    "rare wins": (100, [0.05, 0.05, 0.9], [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]),
    "leaning": (200, [0.4, 0.2, 0.4], [[0.8, 0.15, 0.05], [0.3, 0.6, 0.1], [0.15, 0.15, 0.7]]),
}


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("name", CONFUSED)
def test_intervals_with_ties_hold_the_truth(name, runs):
    labels, truths, matrix = CONFUSED[name]
    random, truth = np.random.default_rng(12), float(np.dot(truths, SCORES))
    held = []
    for _ in range(runs):
        verdicts = random.multinomial(2000, np.dot(truths, matrix))
        found = confusion_inverse(verdicts, [random.multinomial(labels, row) for row in matrix], SCORES)
        held.append(found.low <= truth <= found.high)
    spare = 0.0 if runs >= 2000 else 0.03
    assert 0.93 - spare <= np.mean(held) <= 0.975 + spare
