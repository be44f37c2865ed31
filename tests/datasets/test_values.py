"""What a value is taken for: its text, or missing."""

import math
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from umpirical.datasets.values import is_missing, label_text, number_of, plain_text, written_text
from umpirical.domain.scales import GradeScale

YES_NO = GradeScale("binary", ("no", "yes"))
GRADES = GradeScale("ordinal", ("1", "2", "3"))
DECIMALS = GradeScale("ordinal", ("1.0", "2.0", "2.5"))
BOTH = GradeScale("nominal", ("3", "3.0"))
TRUTH = GradeScale("binary", ("false", "true"))
PERCENT = GradeScale("interval", low=0, high=100)


@pytest.mark.parametrize("value", [None, "", " ", "\t\n", math.nan])
def test_nothing_is_missing_and_no_label(value):
    assert is_missing(value)
    for scale in (YES_NO, GRADES, PERCENT):
        assert label_text(value, scale) is None


@pytest.mark.parametrize("value", [0, 0.0, False, "0", "NaN", "null", "None", math.inf])
def test_what_looks_like_nothing_is_something(value):
    assert not is_missing(value)


@each(
    ("value", "scale", "label"),
    [
        ("yes", YES_NO, "yes"),
        ("3", GRADES, "3"),
        (3, GRADES, "3"),
        (3.0, GRADES, "3"),
        (-0.0, GradeScale("ordinal", ("-0", "1")), "-0"),
        (2.0, DECIMALS, "2.0"),
        (2.5, DECIMALS, "2.5"),
        (True, TRUTH, "true"),
        (False, TRUTH, "false"),
        (50, PERCENT, "50"),
        (50.5, PERCENT, "50.5"),
        ("50.50", PERCENT, "50.50"),
        (" 1e1 ", PERCENT, "1e1"),
        (100, PERCENT, "100"),
    ],
)
def test_a_label_is_the_text_that_the_scale_has(value, scale, label):
    assert label_text(value, scale) == label


@each(
    ("value", "scale", "message"),
    [
        ("Yes", YES_NO, "the label 'Yes' is not on the scale (no, yes); did you mean 'yes'?"),
        (" yes", YES_NO, "the label ' yes' is not on the scale (no, yes); did you mean 'yes'?"),
        ("3.0", GRADES, "the label '3.0' is not on the scale (1, 2, 3)"),
        ("03", GRADES, "the label '03' is not on the scale (1, 2, 3)"),
        ("NaN", GRADES, "the label 'NaN' is not on the scale (1, 2, 3)"),
        (4, GRADES, "the label '4' is not on the scale (1, 2, 3)"),
        (2.5, GRADES, "the label '2.5' is not on the scale"),
        (4.0, GRADES, "the label '4.0' is not on the scale"),
        (math.inf, GRADES, "the label 'inf' is not on the scale"),
        (3.0, BOTH, "the number 3.0 could mean '3' or '3.0', which are both on the scale: write labels as text"),
        (True, GRADES, "the label is the boolean true, but the scale (1, 2, 3) has no label 'true'"),
        (True, YES_NO, "write labels as text, or use true and false as the labels"),
        (True, PERCENT, "the label is the boolean true, but the scale of numbers has no label 'true'"),
        (1, TRUTH, "the label '1' is not on the scale (false, true)"),
        ("True", TRUTH, "the label 'True' is not on the scale (false, true); did you mean 'true'?"),
        ("x" * 500, YES_NO, f"the label '{'x' * 60}...' is not on the scale"),
        (["yes"], YES_NO, "expected text, got a list"),
        (Decimal(3), GRADES, "expected text, got a Decimal"),
        (101, PERCENT, "the label '101' is not between 0 and 100"),
        (-0.1, PERCENT, "the label '-0.1' is not between 0 and 100"),
        ("high", PERCENT, "the label 'high' is not a number"),
        ("1_0", PERCENT, "the label '1_0' is not a number"),
        ("nan", PERCENT, "the label 'nan' is not a number"),
        ("1e999", PERCENT, "the label '1e999' is not a number"),
        (math.inf, PERCENT, "the label 'inf' is not a number"),
        ("٣", PERCENT, "is not a number"),
    ],
)
def test_what_is_not_on_the_scale_is_refused_and_nothing_near_it_taken_instead(value, scale, message):
    with pytest.raises(ValueError, match=r".") as refused:
        label_text(value, scale)
    assert message in str(refused.value)


@given(st.text())
def test_text_is_its_own_text(text):
    assert written_text(text) == plain_text(text) == text


@given(st.integers())
def test_a_whole_number_is_its_digits(number):
    assert written_text(number) == plain_text(number) == str(number)


@given(st.text(min_size=1).filter(str.strip))
def test_a_text_label_is_on_the_scale_exactly_or_refused(text):
    scale = GradeScale("binary", (text, f"{text}'"))
    assert label_text(text, scale) == text
    with pytest.raises(ValueError, match="not on the scale"):
        label_text(f" {text}", scale)


@pytest.mark.parametrize("value", [3.5, 3.0, True, None, ["a"], {"a": 1}, b"a", date(2024, 1, 1)])
def test_a_response_that_is_no_text_is_refused(value):
    with pytest.raises(ValueError, match=r"expected text, got .*: write it as text"):
        written_text(value)


@pytest.mark.parametrize(("value", "text"), [(8.0, "8.0"), (8, "8"), (True, "true"), ("8", "8"), (0.1, "0.1")])
def test_a_stratum_is_spelt_as_it_stands(value, text):
    assert plain_text(value) == text


@pytest.mark.parametrize("value", [["a"], b"a", date(2024, 1, 1)])
def test_a_stratum_of_another_kind_is_refused(value):
    with pytest.raises(ValueError, match="expected text"):
        plain_text(value)


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1.0), ("-1.5", -1.5), ("+.5", 0.5), ("1.", 1.0), ("1e3", 1000.0), ("", None), ("1 ", None), ("inf", None)],
)
def test_a_number_is_spelt_in_plain_digits(text, number):
    assert number_of(text) == number
