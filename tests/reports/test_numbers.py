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
        (0, "0.000"),
        (1, "1.000"),
        (-0.0, "0.000"),
        (-0.0001, "0.000"),
        (-0.0005, "-0.001"),
        (0.0005, "0.001"),
        (0.0625, "0.063"),  # the binary value is exact; `round` would go to the even 0.062
        (0.8125, "0.813"),
        (0.3125, "0.313"),
        (0.5005, "0.501"),  # the binary value is a little less
        (1.0005, "1.001"),
        (2 / 3, "0.667"),
        (31 / 120, "0.258"),
        (1e-300, "0.000"),
        (0.9999, "1.000"),
        (1234.5, "1,234.500"),
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
        (0.03612, 0.180689, "[0.036, 0.181]"),
        (0.0, 0.031019, "[0.000, 0.031]"),
        (-1e-18, 1.0, "[0.000, 1.000]"),
        (None, 0.5, "below 0.500"),
        (0.5, None, "above 0.500"),
        (None, None, "open on both sides"),
    ],
)
def test_interval(low, high, written):
    assert numbers.interval(low, high) == written


@pytest.mark.parametrize(
    ("scale", "value", "written", "interval"),
    [
        ("rate", 0.25, "0.250", "[0.250, 0.500]"),
        ("difference", 0.25, "+0.250", "[+0.250, +0.500]"),
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
    [(0.0, "0.000"), (-0.0833, "-0.083"), (0.0004, "0.000"), (0.0005, "+0.001"), (-0.0004, "0.000"), (1.0, "+1.000")],
)
def test_a_difference_has_its_sign_and_zero_has_none(value, written):
    assert numbers.difference(value) == written


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
    ("value", "written"), [(0.95, "95 %"), (0.9, "90 %"), (0.975, "97.5 %"), (0.56, "56 %"), (0.999, "99.9 %")]
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
    assert written != "-0.000"
    assert float(written.replace(",", "")) == pytest.approx(value, abs=0.000501)


@pytest.mark.parametrize("module", [numbers, inert, settling])
def test_the_examples_of_the_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0
