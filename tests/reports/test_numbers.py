"""Numbers as people read them."""

import doctest
from decimal import Decimal
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from tests.protocols.datasheet.samples import measure, threshold
from umpirical.measures import catalogue as spec
from umpirical.measures.catalogue import Scale
from umpirical.reports import forecast as settling
from umpirical.reports import numbers
from umpirical.text import inert


@each(
    ("value", "written"),
    [
        (0, "0%"),
        (1, "100%"),
        (-0.0, "0%"),
        (-0.0001, "0%"),
        (-0.0005, "-0.1%"),
        (0.0005, "0.1%"),
        (0.0004, "<0.1%"),
        (0.0099, "1.0%"),
        (0.01, "1%"),
        (0.625, "63%"),
        (0.125, "13%"),  # the binary value is exact; `round` would go to the even 12
        (0.565, "57%"),  # the binary value is a little less
        (2 / 3, "67%"),
        (31 / 120, "26%"),
        (1e-300, "0%"),
        (0.99, "99%"),
        (0.994, "99.4%"),
        (0.9999, ">99.9%"),
        (12.345, "1,235%"),
        (float("nan"), "not finite"),
        (float("inf"), "not finite"),
    ],
)
def test_rate(value, written):
    assert numbers.rate(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0"),
        (31.0, "31"),
        (30.5, "30.5"),
        (999, "999"),
        (1000, "1,000"),
        (1234567, "1,234,567"),
        (12345.5, "12,345.5"),
        (-0.0, "0"),
        (-1200, "-1,200"),
        (1e30, "1,000,000,000,000,000,000,000,000,000,000"),
        (float("nan"), "not finite"),
    ],
)
def test_count(value, written):
    assert numbers.count(value) == written


@pytest.mark.parametrize(
    ("numerator", "denominator", "written"),
    [(30.5, 72, "30.5/72"), (0, 120, "0/120"), (12000.0, 24000, "12,000/24,000"), (0.5, 1, "0.5/1")],
)
def test_fraction(numerator, denominator, written):
    assert numbers.fraction(numerator, denominator) == written


@pytest.mark.parametrize(
    ("low", "high", "written"),
    [
        (0.03612, 0.180689, "[4, 18]"),
        (0.0, 0.0031019, "[0, 0.3]"),
        (-1e-18, 1.0, "[0, 100]"),
        (None, 0.5, "below 50"),
        (0.5, None, "above 50"),
        (None, None, "open on both sides"),
    ],
)
def test_interval(low, high, written):
    assert numbers.interval(low, high) == written


@pytest.mark.parametrize(
    ("scale", "value", "written", "interval"),
    [
        ("rate", 0.25, "25%", "[25, 50]"),
        ("difference", 0.25, "+25 points", "[+25, +50]"),
        ("coefficient", 0.25, "0.25", "[0.25, 0.50]"),
        ("requirements", 4.0, "4", "[4, 4.25]"),
        ("requirements", 2.714286, "2.71", "[2.71, 2.96]"),
        ("latent", 1.155, "1.16", "[1.16, 1.41]"),
        ("steps", 0.2, "0.20", "[0.20, 0.45]"),
        ("ratio", 2.0, "2.00", "[2.00, 2.25]"),
        ("p-value", 0.04, "p = 0.040", "[p = 0.040, p = 0.290]"),
    ],
)
def test_a_value_is_written_on_the_scale_of_its_measure(scale, value, written, interval):
    assert numbers.scaled(value, scale) == written
    assert numbers.scaled_interval(value, value + 0.25, scale) == interval


@pytest.mark.parametrize("scale", get_args(Scale))
def test_every_scale_has_a_way_to_be_written(scale):
    assert numbers.scaled(0.5, scale)
    assert numbers.scaled_interval(None, 0.5, scale).startswith("below")
    assert isinstance(numbers.unit_of_scale(scale), str)


def test_the_scales_are_those_of_the_measures():
    assert set(get_args(Scale)) == set(get_args(spec.Scale))


@pytest.mark.parametrize(
    ("value", "written"),
    [(0.0, "0"), (-0.0833, "-8"), (0.0004, "+<0.1"), (0.0005, "+0.1"), (-0.0004, "0"), (1.0, "+100")],
)
def test_a_difference_has_its_sign_and_zero_has_none(value, written):
    assert numbers.difference(value) == f"{written} points"
    assert numbers.difference(0.01) == "+1 point"
    assert numbers.points(value) == written


@pytest.mark.parametrize(
    ("result", "written"),
    [
        (threshold(), "≤ 1 (left-censored)"),
        (threshold(5.0, "right", 5.0, None), "> 5 (right-censored)"),
        (threshold(2.714286, "none", 2.0, 3.5), "2.71"),
    ],
)
def test_a_censored_value_says_on_which_side_the_truth_lies(result, written):
    assert numbers.measured_value(measure("detection-threshold", result), result) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("0", "$0"), ("0.000123", "$0.00012"), ("0.0999", "$0.100"), ("0.1", "$0.10"), ("1234.567", "$1,234.57"),
        ("NaN", "not finite"), ("Infinity", "not finite"), ("1E+20", "$100,000,000,000,000,000,000.00"),
    ],
)  # fmt: skip
def test_dollars(value, written):
    assert numbers.dollars(Decimal(value)) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [("words as they are", "words as they are"), (0.5, "0.500"), (2.0, "2"), (float("nan"), "not finite")],
)
def test_what_a_gate_found(value, written):
    assert numbers.checked(value) == written


@pytest.mark.parametrize(
    ("value", "written"), [(0.95, "95%"), (0.9, "90%"), (0.975, "97.5%"), (0.56, "56%"), (0.999, "99.9%")]
)
def test_level(value, written):
    assert numbers.level(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(None, "not set"), (True, "true"), (False, "false"), (0.1, "0.1"), (20260101, "20260101"), ("x", "x"), (0, "0")],
)
def test_setting(value, written):
    assert numbers.setting(value) == written


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_keeps_its_value_and_never_is_a_negative_zero(value):
    written = numbers.rate(value)
    assert not written.startswith("-0%")
    assert float(Decimal(written.strip("%<>").replace(",", "")) / 100) == pytest.approx(value, abs=0.00501, rel=1e-9)


@pytest.mark.parametrize(
    ("value", "threshold", "written"),
    [(0.104, 0.1, "10.4%"), (0.0996, 0.1, "9.96%"), (0.1, 0.1, "10%"), (0.31, 0.1, "31%"), (0.100001, 0.1, "10.000%")],
)
def test_a_bound_is_never_written_like_the_threshold_that_it_misses(value, threshold, written):
    assert numbers.beside(value, threshold, "rate") == written


@pytest.mark.parametrize(
    ("measure", "kind", "value", "written"),
    [
        ("dark-current", "at_most", 0.05, "at most 5%"),
        ("target-sensitivity", "at_least", 0.8, "at least 80%"),
        ("conflict-excess", "at_most", 0.1, "at most 10 points"),
        ("grade-spread", "at_most", 0.5, "at most 0.50"),
        ("of-a-plugin-that-is-gone", "at_least", 0.025, "at least 2.5%"),
    ],
)
def test_a_threshold_is_written_on_the_scale_of_its_measure(measure, kind, value, written):
    assert numbers.threshold(kind, value, measure) == written


@pytest.mark.parametrize("module", [numbers, inert, settling])
def test_the_examples_of_the_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0
