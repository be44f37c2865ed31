"""Limits: the whole interval or nothing."""

import pytest

from tests.protocols.datasheet.samples import estimate, fitted, measure, paper_measures, undefined
from umpirical.protocols.datasheet.policy import POLICIES
from umpirical.reports.limits import Limit, hold_limits
from umpirical.reports.record import IntervalRecord


def limits(low, high):
    return IntervalRecord(low=low, high=high, level=0.95, method="any")


def held(result, kind="at_most", value=0.1, name="dark-current"):
    (found,) = hold_limits([Limit(name, "", kind, value)], [measure(name, result)], ["baseline"])
    return found


def test_the_mock_of_the_paper():
    found = {(h.measure, h.stratum): h for h in hold_limits(POLICIES["compare"], paper_measures(), ["baseline"])}
    assert {key: limit.verdict for key, limit in found.items()} == {
        ("dark-current", ""): "PASS",
        ("raw-false-preference", ""): "FAIL",
        ("positional-false-preference", ""): "INCONCLUSIVE",
        ("stable-cross-sensitivity", ""): "PASS",
        ("target-sensitivity", "1"): "PASS",
        ("target-sensitivity", "5"): "INCONCLUSIVE",
        ("unparsed-rate", ""): "PASS",
        ("failure-rate", ""): "PASS",
    }
    positional, largest = found["positional-false-preference", ""], found["target-sensitivity", "5"]
    assert (positional.needed, positional.more_needed, positional.unit) == (1245, 1185, "pair")
    assert (largest.needed, largest.more_needed, largest.unit) == (73, 53, "call")
    assert "about 1,250 pairs would settle it as a pass" in positional.why
    assert "the whole interval is outside" in found["raw-false-preference", ""].why


@pytest.mark.parametrize(
    ("low", "high", "kind", "verdict"),
    [
        (0.0, 0.1, "at_most", "PASS"),
        (0.0, 0.1000001, "at_most", "INCONCLUSIVE"),
        (0.1, 0.2, "at_most", "INCONCLUSIVE"),
        (0.1000001, 0.2, "at_most", "FAIL"),
        (0.1, 0.2, "at_least", "PASS"),
        (0.0999999, 0.2, "at_least", "INCONCLUSIVE"),
        (0.0, 0.1, "at_least", "INCONCLUSIVE"),
        (0.0, 0.0999999, "at_least", "FAIL"),
        (None, 0.05, "at_most", "PASS"),
        (None, 0.05, "at_least", "FAIL"),
        (0.05, None, "at_most", "INCONCLUSIVE"),
        (0.5, None, "at_least", "PASS"),
        (None, None, "at_most", "INCONCLUSIVE"),
    ],
)
def test_a_limit_passes_only_if_the_whole_interval_is_inside(low, high, kind, verdict):
    assert held(estimate(1, 10, interval=limits(low, high)), kind).verdict == verdict


def test_without_an_interval_nothing_is_settled():
    found = held(estimate(0, 100, interval=None))
    assert (found.verdict, found.needed) == ("INCONCLUSIVE", None)


def test_twenty_of_twenty_is_not_a_pass():
    assert held(estimate(20, 20), "at_least", 0.95).verdict == "INCONCLUSIVE"
    assert held(estimate(73, 73), "at_least", 0.95).verdict == "PASS"


def test_a_rate_on_the_wrong_side_would_be_settled_as_a_fail():
    found = held(estimate(8, 60))
    assert found.verdict == "INCONCLUSIVE"
    assert found.why.endswith("would settle it as a fail")
    assert held(estimate(found.needed * 8 / 60, found.needed)).verdict == "FAIL"


def test_a_rate_on_the_limit_is_settled_by_no_number():
    found = held(estimate(6, 60))
    assert (found.verdict, found.more_needed) == ("INCONCLUSIVE", None)
    assert "would not settle it" in found.why


def test_what_is_undefined_or_was_not_measured_is_not_applicable():
    assert (held(undefined("no pair")).verdict, held(undefined("no pair")).why) == ("N/A", "no pair")
    (missing,) = hold_limits([Limit("dark-current", "", "at_most", 0.1)], [], ["baseline"])
    assert (missing.verdict, missing.why, missing.title) == ("N/A", "not measured", "dark-current")


def test_every_arm_is_held_to_every_limit():
    found = hold_limits(POLICIES["compare"], paper_measures(), ["baseline", "strict"])
    assert len(found) == 2 * len(POLICIES["compare"])
    assert {limit.verdict for limit in found if limit.arm == "strict"} == {"N/A"}


def test_a_limit_on_what_is_no_rate():
    found = held(fitted(0.4, 0.2, 0.6, n=50), value=0.5, name="grade-spread")
    assert (found.verdict, found.needed) == ("INCONCLUSIVE", 200)


def test_a_value_that_is_no_number_passes_nothing():
    found = held(estimate(1, 2, value=float("nan"), interval=limits(float("nan"), float("nan"))))
    assert (found.verdict, found.needed) == ("INCONCLUSIVE", None)
