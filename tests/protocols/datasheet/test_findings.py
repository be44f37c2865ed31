"""Sentences by stated rules."""

import pytest

from umpirical.protocols.datasheet.findings import find
from umpirical.protocols.datasheet.limits import hold_limits
from umpirical.protocols.datasheet.policy_files import preset

from .samples import estimate, measure, threshold, undefined


def one(name, result, arm="baseline"):
    measures = [measure(name, result, "", arm)]
    return find(measures, hold_limits(preset(), "compare", measures, [arm]))


@pytest.mark.parametrize(
    ("name", "counts", "start"),
    [
        ("dark-current", (0, 120), "Where there is nothing to compare it rarely"),
        ("dark-current", (5, 120), "Dark current is not settled at this size: 0.042"),
        ("dark-current", (80, 120), "It names a winner where there is nothing"),
        ("positional-false-preference", (5, 60), "Positional false preference is not settled"),
        ("stable-cross-sensitivity", (0, 60), "It rarely keeps to one wording"),
        ("unparsed-rate", (60, 540), "Many of its answers are not on its scale"),
    ],
)
def test_a_sentence_for_each_headline(name, counts, start):
    (said,) = one(name, estimate(*counts))
    assert said.startswith(start)


def test_nothing_is_said_of_few_failures_of_strata_or_of_unknown_measures():
    assert one("failure-rate", estimate(0, 540)) == []
    assert one("moon-phase", estimate(1, 2)) == []
    assert find([measure("dark-current", estimate(0, 40), "empty")], []) == []


def test_an_arm_that_is_a_probe_is_named():
    (said,) = one("dark-current", estimate(0, 120), arm="strict")
    assert said.startswith("Arm strict: ")


def test_what_is_undefined_or_has_no_interval_is_not_called_low():
    assert one("dark-current", undefined("no vacuum")) == ["Dark current could not be measured: no vacuum."]
    (said,) = one("dark-current", estimate(0, 120, interval=None, planning_effect=None))
    assert "not settled" in said


def test_the_threshold():
    assert "smallest difference that was shown" in one("detection-threshold", threshold())[0]
    assert "does not see even" in one("detection-threshold", threshold(5.0, "right", 5.0, None))[0]
    assert "about 2.50 requirements" in one("detection-threshold", threshold(2.5, "none", 2, 3))[0]
    assert "could not be measured" in one("detection-threshold", undefined())[0]
