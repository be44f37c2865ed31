"""The mean of moves up and down: by hand, as Student's t where there are many, and honest where there are none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student_t
from scipy.stats import ttest_1samp

from umpirical.stats.differences import signed_mean
from umpirical.stats.intervals import cluster_mean

tables = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 5)), min_size=2, max_size=20)


def test_by_hand():
    # Up 3 of 6 and down 1 of 6; residuals (0.5, 1.5, -1... ) joined with their correlation.
    up, down, n = np.array([1.0, 2.0, 0.0]), np.array([1.0, 0.0, 0.0]), np.array([2.0, 2.0, 2.0])
    found = signed_mean(up, down, n)
    rise, fall = cluster_mean(up, n), cluster_mean(down, n)
    r = np.corrcoef(up, down)[0, 1]
    below, above = rise.value - rise.low, fall.high - fall.value
    assert found.value == pytest.approx(1 / 3)
    assert found.low == pytest.approx(1 / 3 - np.sqrt(below**2 + above**2 - 2 * r * below * above))
    assert found.clusters == 3


def test_with_many_moves_it_is_students_t_on_the_net_moves():
    rng = np.random.default_rng(1)
    moves = rng.integers(-3, 5, size=3000)
    found = signed_mean(np.maximum(moves, 0), np.maximum(-moves, 0), np.ones(3000))
    low, high = ttest_1samp(moves, 0).confidence_interval(0.95)
    assert (found.low, found.high) == (pytest.approx(low, abs=0.01), pytest.approx(high, abs=0.01))


def test_where_nothing_moved_it_is_as_wide_as_no_event_leaves_it():
    found = signed_mean(np.zeros(40), np.zeros(40), np.ones(40))
    assert found.value == 0
    assert found.high == pytest.approx(student_t.ppf(0.975, 39) ** 2 / 40)
    assert found.low == -found.high


def test_where_all_moved_alike_it_still_has_width():
    found = signed_mean(np.ones(40), np.zeros(40), np.ones(40))
    assert found.value == 1
    assert found.low < 1 < found.high


def test_a_lower_level_is_narrower():
    up, down = [1, 0, 2, 0, 0, 1], [0, 1, 0, 0, 1, 0]
    wide, narrow = (signed_mean(up, down, np.ones(6), level=level) for level in (0.95, 0.90))
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high


@given(tables)
@settings(deadline=None)
def test_turning_the_scale_round_turns_the_interval_round(rows):
    up, down, n = zip(*rows, strict=True)
    one, other = signed_mean(up, down, n), signed_mean(down, up, n)
    assert (one.low, one.value, one.high) == pytest.approx((-other.high, -other.value, -other.low))


@given(tables)
@settings(deadline=None)
def test_it_holds_the_value_and_has_width(rows):
    up, down, n = zip(*rows, strict=True)
    found = signed_mean(up, down, n)
    assert found.value == pytest.approx((sum(up) - sum(down)) / sum(n))
    assert found.low <= found.value <= found.high
    assert found.high > found.low


SIZES = [pytest.param(300, id="300"), pytest.param(2000, id="2000", marks=pytest.mark.slow)]


@pytest.mark.parametrize("runs", SIZES)
@pytest.mark.parametrize("level", [0.95, 0.90])
@pytest.mark.parametrize(("up", "down", "items"), [(0.1, 0.1, 60), (0.3, 0.05, 60), (0.05, 0.05, 200), (0.02, 0.0, 60)])
def test_it_covers(up, down, items, level, runs):
    rng, hits = np.random.default_rng([items, round(100 * level), runs]), []
    for _ in range(runs):
        draw, size = rng.random(items), 1 + (rng.random(items) < 0.2)
        found = signed_mean((draw < up) * size, (draw > 1 - down) * size, np.ones(items), level=level)
        hits.append(found.low <= 1.2 * (up - down) <= found.high)
    slack = 0.02 if runs >= 2000 else 0.05
    assert np.mean(hits) >= level - slack
    if min(up, down) * items >= 5:
        assert np.mean(hits) <= level + slack + 0.015


@pytest.mark.parametrize("runs", SIZES)
@pytest.mark.parametrize(("flips", "extra"), [(0.05, 0.0), (0.2, 0.0), (0.2, 0.1)])
def test_it_covers_the_excess_of_change_over_retest(flips, extra, runs):
    """Two answers to the changed text and three to the original, on the same items."""
    rng, items, hits = np.random.default_rng([round(100 * flips), runs]), 60, []
    a, b = 0.5, 0.5 / (flips / 2) - 0.5
    flip = 2 * (a / (a + b)) * (b / (a + b + 1))
    truth = extra * (1 - 2 * flip)
    for _ in range(runs):
        p = rng.beta(a, b, items)
        other = rng.binomial(3, p)
        changed = rng.binomial(2, np.where(rng.random(items) < extra, 1 - p, p))
        differ = (changed * (3 - other) + (2 - changed) * other) / 6
        excess = differ - other * (3 - other) / 6 - changed * (2 - changed) / 2
        found = signed_mean(np.maximum(excess, 0), np.maximum(-excess, 0), np.ones(items))
        hits.append(found.low <= truth <= found.high)
    assert np.mean(hits) >= (0.93 if runs >= 2000 else 0.90)
