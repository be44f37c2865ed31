"""Numbers as people read them."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umpirical.reports import inert, numbers


@pytest.mark.parametrize(
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
    ("low", "high", "written"),
    [
        (None, 1.0, "below 1"),
        (5.0, None, "above 5"),
        (2.714286, 4.0, "[2.71, 4]"),
        (2.5, 3.005, "[2.50, 3.01]"),
        (None, None, "open on both sides"),
    ],
)
def test_step_interval(low, high, written):
    assert numbers.step_interval(low, high) == written


@pytest.mark.parametrize(
    ("value", "censoring", "written"),
    [
        (1.0, "left", "≤ 1 (left-censored)"),
        (5.0, "right", "> 5 (right-censored)"),
        (4.0, "none", "4"),
        (2.714286, "none", "2.71"),
    ],
)
def test_threshold(value, censoring, written):
    assert numbers.threshold(value, censoring) == written


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


@pytest.mark.parametrize("module", [numbers, inert])
def test_the_examples_of_the_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0
