"""Limits on intervals: the whole interval or nothing."""

import pytest

from tests.protocols.datasheet.samples import estimate, measure
from umpirical.domain.measures import Interval
from umpirical.reports.checks import hold, units_needed


def held(result, *, least=None, most=None):
    forecast = units_needed(measure("dark-current", result))
    return hold(result, least, most, forecast=forecast, count_missing=False)


@pytest.mark.parametrize(
    ("low", "high", "allowed", "verdict"),
    [
        (0.0, 0.1, {"most": 0.1}, "PASS"),
        (0.0, 0.1000001, {"most": 0.1}, "INCONCLUSIVE"),
        (0.1, 0.2, {"most": 0.1}, "INCONCLUSIVE"),
        (0.1000001, 0.2, {"most": 0.1}, "FAIL"),
        (0.1, 0.2, {"least": 0.1}, "PASS"),
        (0.0999999, 0.2, {"least": 0.1}, "INCONCLUSIVE"),
        (0.0, 0.0999999, {"least": 0.1}, "FAIL"),
        (None, 0.05, {"most": 0.1}, "PASS"),
        (None, 0.05, {"least": 0.1}, "FAIL"),
        (0.05, None, {"most": 0.1}, "INCONCLUSIVE"),
        (None, None, {"most": 0.1}, "INCONCLUSIVE"),
    ],
)
def test_a_check_passes_only_if_the_whole_interval_is_inside(low, high, allowed, verdict):
    ends = Interval(low=low, high=high, level=0.95, method="any")
    assert held(estimate(1, 10, interval=ends), **allowed).verdict == verdict


def test_without_an_interval_nothing_is_settled():
    found = held(estimate(0, 100, interval=None), most=0.1)
    assert (found.verdict, found.needed) == ("INCONCLUSIVE", None)


def test_a_rate_on_the_check_is_settled_by_no_number():
    assert held(estimate(6, 60), most=0.1).needed is None
