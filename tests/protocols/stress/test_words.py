"""Numbers with their sign, and checks as they were set."""

import doctest

import pytest

from umpirical.domain.measures import Interval, Measure
from umpirical.protocols.stress import policy as writing
from umpirical.protocols.stress.policy import allowed_words, interval_words, unit_words, value_words
from umpirical.reports import numbers

from .samples import SPECS, mean, rate, report


def record(name, result):
    return report("x", parts={}, measured=[(SPECS[name], Measure(name, result))], tests=[], calls=[]).measures[0]


@pytest.mark.parametrize(
    ("name", "result", "value", "interval", "unit"),
    [
        ("grade-shift", mean(0.4, -0.1, 0.9), "+0.40", "[-0.10, +0.90]", "grades"),
        ("shift-equivalence", mean(-0.4, -0.9, 0.0), "-0.40", "[-0.90, 0.00]", "grades"),
        ("grade-bias", mean(0.0, -0.004, 0.2), "0.00", "[0.00, +0.20]", "grades"),
        ("mean-absolute-error", mean(0.4, 0.1, 0.9), "0.40", "[0.10, 0.90]", "grades"),
        ("excess-change", mean(0.4, -0.1, 0.9), "+40 points", "[-10, +90]", ""),
        ("verdict-entropy", mean(0.918, 0.8, 1.0), "0.92", "[0.80, 1.00]", "bits"),
        ("weighted-kappa", mean(-0.12, -0.4, 0.2), "-0.12", "[-0.40, 0.20]", ""),
        ("change-rate", rate(30, 60), "50%", "[38, 62]", ""),
        ("compression", mean(0.7, 0.5, 0.9), "0.70", "[0.50, 0.90]", ""),
    ],
)
def test_a_measure_is_written_in_its_own_way(name, result, value, interval, unit):
    one = record(name, result)
    assert value_words(one, one.result) == value
    assert interval_words(one, one.result.interval) == interval
    assert unit_words(one) == unit


def test_an_open_or_missing_interval_is_said():
    one = record("grade-shift", mean(0.4, -0.1, 0.9))
    assert interval_words(one, None) == "none"
    assert interval_words(one, Interval(low=0.1, high=None, level=0.95, method="")) == "above 0.10"


@pytest.mark.parametrize(
    ("measure", "least", "most", "words"),
    [
        ("change-rate", None, 0.1, "at most 10%"),
        ("flip-detection", 0.8, None, "at least 80%"),
        ("weighted-kappa", 0.4, None, "at least 0.4"),
        ("weighted-kappa", 0.0, None, "at least 0"),
        ("shift-equivalence", -0.15000000000000002, 0.15000000000000002, "within ±0.15 grades"),
        ("change-rate", 0.0, 1.0, "from 0 to 100%"),
        ("excess-change", None, 0.025, "at most 2.5 points"),
        ("change-rate", None, None, "no threshold"),
    ],
)
def test_a_check_in_words(measure, least, most, words):
    assert allowed_words(measure, least, most) == words


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0, "0.00"), (0.004, "0.00"), (0.005, "+0.01"), (-0.004, "0.00"), (-0.5, "-0.50"), (1234.5, "+1,234.50")],
)
def test_a_shift_has_its_sign_and_zero_has_none(value, written):
    assert numbers.shift(value) == written
    assert numbers.shift(float("nan")) == "not finite"


@pytest.mark.parametrize("scale", ["bits", "coefficient"])
def test_bits_and_coefficients_have_two_decimals(scale):
    assert numbers.scaled(0.81251, scale) == "0.81"
    assert numbers.scaled_interval(-0.5, 1.0, scale) == "[-0.50, 1.00]"


def test_the_examples_hold():
    assert doctest.testmod(writing).failed == 0
