"""How many more: the number that is promised is the number that settles it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.cases import each
from tests.protocols.datasheet.samples import measure
from umpirical.domain.measures import Estimate, Interval
from umpirical.measures.estimates.rates import Counted, clustered_rate
from umpirical.reports.anytime import without_tasks
from umpirical.reports.checks import one_sided
from umpirical.reports.forecast import items_to_settle, settling_units, units_to_settle
from umpirical.stats.differences import signed_mean
from umpirical.stats.intervals import cluster_wilson, wilson


@pytest.mark.parametrize(
    ("k", "n", "check", "side", "needed"),
    [
        (5, 60, 0.10, "high", 3196),  # by hand: ((1.96 * 0.3 + 1.2816 * 0.2764) / 0.01667)²
        (20, 20, 0.95, "low", 73),  # 73 of 73
        (31, 120, 0.30, "high", 1227),
        (0, 30, 0.05, "high", 73),  # the mirror image of 20 of 20
    ],
)
def test_known_values(k, n, check, side, needed):
    bound = getattr(wilson(k, n), side)
    assert units_to_settle(k / n, check, bound=bound, units=n, is_rate=True) == needed


@given(st.integers(0, 60), st.integers(5, 60), st.floats(0.05, 0.95))
def test_with_that_many_units_the_whole_interval_is_on_one_side(k, n, place):
    k = min(k, n)
    low, high = wilson(k, n)
    check = low + place * (high - low)
    assume(abs(k / n - check) > 0.005 and 0 < check < 1)
    below = k / n < check
    needed = units_to_settle(k / n, check, bound=high if below else low, units=n, is_rate=True)
    assert needed > n
    then = wilson(k / n * needed, needed)
    assert (then.high <= check + 1e-9) if below else (then.low >= check - 1e-9)


IN_FAMILY = 5
"""Pairs of each task family."""


def settled(rng, value, check, *, needed, correlation):
    """Whether a sample of that size over families that each have a rate of their own settles the check."""
    families = needed // IN_FAMILY
    rates = np.full(families, value)
    if correlation:
        rates = rng.beta(*(share * (1 / correlation - 1) for share in (value, 1 - value)), families)
    counts = [Counted(str(at), k, IN_FAMILY) for at, k in enumerate(rng.binomial(IN_FAMILY, rates))]
    result = without_tasks(clustered_rate(counts, unit="pair", empty="", excluded={}))
    side = "high" if value < check else "low"
    end = one_sided(measure("dark-current", result), result, side, alpha=0.05, count_missing=True)
    return end <= check if side == "high" else end > check


@pytest.mark.parametrize("correlation", [0.0, 0.2])
@pytest.mark.parametrize(("value", "check"), [(0.05, 0.10), (0.02, 0.05), (0.20, 0.10), (0.90, 0.80), (0.70, 0.80)])
def test_so_many_settle_it_in_most_samples(value, check, correlation):
    """The number is honest: an earlier rule promised what held in a third to two thirds of samples."""
    rng, effect = np.random.default_rng(7), 1 + (IN_FAMILY - 1) * correlation
    needed = settling_units(value, check, effect=effect, units=0)
    share = np.mean([settled(rng, value, check, needed=needed, correlation=correlation) for _ in range(300)])
    assert share >= 0.8


def test_a_design_effect_asks_for_more():
    """Ten tasks whose pairs agree within the task: the interval is wider, and so is what is missing."""
    spread = cluster_wilson([0] * 9 + [6], [10] * 10)
    even = cluster_wilson([1] * 6 + [0] * 4, [10] * 10)
    assert spread.design_effect > 4 * even.design_effect
    wide, narrow = (units_to_settle(0.06, 0.10, bound=rate.high, units=100, is_rate=True) for rate in (spread, even))
    assert wide > 4 * narrow


def test_at_the_check_itself_no_number_is_enough():
    assert units_to_settle(0.1, 0.1, bound=0.2, units=60, is_rate=True) is None


@pytest.mark.parametrize("bound", [0.0, 1.0])
def test_a_bound_at_the_end_of_the_axis_tells_nothing(bound):
    assert units_to_settle(0.5, 0.6, bound=bound, units=60, is_rate=True) is None


def test_what_is_no_rate_shrinks_with_the_root_of_n():
    assert units_to_settle(0.4, 0.5, bound=0.6, units=50, is_rate=False) == 548  # 200 · (1 + 1.2816 / 1.96)²


def moved(ups, downs, still, *, size=1.0, level=0.95):
    """Items of one cluster each, of which some rise and some fall by `size`."""
    n = ups + downs + still
    rising, falling = [size] * ups + [0.0] * (n - ups), [0.0] * (n - downs) + [size] * downs
    found = signed_mean(rising, falling, [1] * n, level=level)
    ends = Interval(found.low, found.high, method="signed mean", level=level)
    return Estimate(found.value, found.value * n, n, "item", ends, n)


@each("level", [0.90, 0.95])
@each("size", [1.0, 3.0])
@each("counts", [(1, 0, 29), (1, 1, 38), (0, 2, 98), (5, 5, 20), (3, 1, 56)])
@each("room", [0.2, 0.5])
def test_so_many_items_settle_it_as_the_interval_itself_says(counts, room, size, level):
    """Every item comes as many times as it takes for the interval, computed anew, to end at the threshold."""
    few = moved(*counts, size=size, level=level)
    check = few.value + room * (few.interval.high - few.value)

    def holds(times):
        return moved(*(times * count for count in counts), size=size, level=level).interval.high > check

    enough = next(times for times in range(2, 100) if not holds(times))
    promised = items_to_settle(few, check) / few.denominator
    # Moves both ways, and larger than 1, are taken for more moves of size 1.
    assert 0.8 * (enough - 1) < promised < (2.2 if size > 1 and counts[0] and counts[1] else 1.1) * enough


def test_where_nothing_moved_the_number_itself_rules():
    assert items_to_settle(moved(0, 0, 30), 0.05) == 80
    assert moved(0, 0, 80).interval.high <= 0.05 < moved(0, 0, 79).interval.high
    assert items_to_settle(moved(0, 0, 30), -0.05) == 80


@each("items", range(2, 10))
@each("end", [1.0, 2.0])
def test_checks_that_are_cut_at_the_end_of_the_scale_promise_no_early_pass(items, end):
    """Who would cheat: two items without a change, of which five would have been called enough for a pass."""
    few = moved(0, 0, items)
    cut = replace(few.interval, low=max(few.interval.low, -end), high=min(few.interval.high, end))
    assert items_to_settle(replace(few, interval=cut), 0.05) == 80


@pytest.mark.parametrize("counts", [(1, 0, 1), (1, 0, 2), (2, 0, 2), (0, 1, 2)])
def test_nor_do_they_where_something_moved(counts):
    few = moved(*counts)
    cut = replace(few.interval, low=max(few.interval.low, -1.0), high=min(few.interval.high, 1.0))
    promised = items_to_settle(replace(few, interval=cut), 0.05)
    times = next(each for each in range(2, 400) if not _holds(moved(*(each * count for count in counts)), few.value))
    assert 0.8 * (times - 1) < promised / few.denominator < 1.25 * times


def _holds(found, value):
    """Whether the check of 0.05 is still inside, on the side of the value."""
    return found.interval.low < 0.05 if value > 0.05 else found.interval.high > 0.05


def test_no_number_of_items_tells_a_value_from_itself():
    few = moved(3, 1, 56)
    assert items_to_settle(few, few.value) is None
    assert items_to_settle(few, few.value + 1e-9) is None
    assert items_to_settle(replace(few, interval=None), 0.5) is None
