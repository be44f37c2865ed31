"""How many more: the number that is promised is the number that settles it."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from umpirical.reports.settling import units_to_settle
from umpirical.stats.clusters import cluster_wilson
from umpirical.stats.wilson import wilson


@pytest.mark.parametrize(
    ("k", "n", "limit", "side", "needed"),
    [
        (5, 60, 0.10, "high", 1245),  # UX section 3.3: about 1,250 pairs
        (20, 20, 0.95, "low", 73),  # 73 of 73
        (31, 120, 0.30, "high", 465),
        (0, 30, 0.05, "high", 73),  # the mirror image of 20 of 20
    ],
)
def test_known_values(k, n, limit, side, needed):
    bound = getattr(wilson(k, n), side)
    assert units_to_settle(k / n, limit, bound=bound, units=n, is_rate=True) == needed


@given(st.integers(0, 60), st.integers(5, 60), st.floats(0.05, 0.95))
def test_with_that_many_units_the_whole_interval_is_on_one_side_and_with_fewer_it_is_not(k, n, place):
    k = min(k, n)
    low, high = wilson(k, n)
    limit = low + place * (high - low)
    assume(abs(k / n - limit) > 0.005 and 0 < limit < 1)
    below = k / n < limit
    needed = units_to_settle(k / n, limit, bound=high if below else low, units=n, is_rate=True)
    assert needed > n
    then, before = wilson(k / n * needed, needed), wilson(k / n * (needed - 1), needed - 1)
    assert (then.high <= limit + 1e-9) if below else (then.low >= limit - 1e-9)
    if needed > n + 1:
        assert before.low < limit < before.high


def test_a_design_effect_asks_for_more():
    """Ten tasks whose pairs agree within the task: the interval is wider, and so is what is missing."""
    spread = cluster_wilson([0] * 9 + [6], [10] * 10)
    even = cluster_wilson([1] * 6 + [0] * 4, [10] * 10)
    assert spread.design_effect > 4 * even.design_effect
    wide, narrow = (units_to_settle(0.06, 0.10, bound=rate.high, units=100, is_rate=True) for rate in (spread, even))
    assert wide > 4 * narrow


def test_at_the_limit_itself_no_number_is_enough():
    assert units_to_settle(0.1, 0.1, bound=0.2, units=60, is_rate=True) is None


@pytest.mark.parametrize("bound", [0.0, 1.0])
def test_a_bound_at_the_end_of_the_axis_tells_nothing(bound):
    assert units_to_settle(0.5, 0.6, bound=bound, units=60, is_rate=True) is None


def test_what_is_no_rate_shrinks_with_the_root_of_n():
    assert units_to_settle(0.4, 0.5, bound=0.6, units=50, is_rate=False) == 200
