"""The worst that items without a verdict could do, against counting them in."""

from dataclasses import replace
from math import inf

import pytest

from tests.cases import each
from umpirical.domain.measures import Estimate, Interval
from umpirical.reports.checks import excluded_words, worst_ends
from umpirical.stats.differences import signed_mean


def moved(ups, downs, still, *, excluded=0):
    """Items of one cluster each that rise by one, fall by one or stay; the bounds count those left out either way."""
    n, net = ups + downs + still, ups - downs
    found = signed_mean([1] * ups + [0] * (n - ups), [0] * (n - downs) + [1] * downs, [1] * n)
    bounds = ((net - excluded) / (n + excluded), (net + excluded) / (n + excluded)) if excluded else None
    missing = {"without a verdict": excluded} if excluded else {}
    ends = Interval(found.low, found.high, method="signed mean")
    return Estimate(net / n, net, n, "item", ends, n, excluded=missing, bounds=bounds)


def test_where_nothing_is_excluded_the_interval_is_what_it_is():
    whole = moved(3, 2, 95)
    assert worst_ends(whole) == (whole.interval.low, whole.interval.high)


@each(("ups", "downs", "still"), [(0, 0, 200), (10, 10, 180), (60, 40, 100), (30, 0, 170)])
@each("excluded", [3, 20, 150])
def test_the_ends_are_near_those_of_counting_them_in(ups, downs, still, excluded):
    low, high = worst_ends(moved(ups, downs, still, excluded=excluded))
    counted_up, counted_down = moved(ups + excluded, downs, still), moved(ups, downs + excluded, still)
    width = counted_up.interval.high - counted_up.interval.low
    assert high == pytest.approx(counted_up.interval.high, abs=0.25 * width)
    assert low == pytest.approx(counted_down.interval.low, abs=0.25 * width)
    assert high > moved(ups, downs, still).interval.high


def test_without_bounds_or_an_interval_anything_may_be():
    unbounded = replace(moved(3, 2, 95, excluded=4), bounds=None)
    assert worst_ends(unbounded) == (-inf, inf)
    assert worst_ends(replace(unbounded, interval=None)) == (-inf, inf)


def test_what_is_excluded_is_said_by_reason():
    both = replace(moved(3, 2, 95), excluded={"without a verdict on the changed text": 60, "unasked": 1})
    assert excluded_words(both) == "60 items without a verdict on the changed text and 1 item unasked"
