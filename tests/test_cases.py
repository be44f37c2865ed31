"""A test over many cases names every case that fails."""

import inspect

import pytest

from tests.cases import each


def test_every_case_that_fails_is_named_and_no_other():
    @each(("number", "square"), [(1, 1), (2, 5), (3, 9), (4, 17)])
    def check(number, square):
        """A docstring."""
        assert number**2 == square, f"not {square}"

    with pytest.raises(pytest.fail.Exception) as failure:
        check()
    said = str(failure.value)
    assert said.startswith("2 of 4 cases fail:\nnumber=2, square=5\n  AssertionError: not 5")
    assert "number=4, square=17" in said
    assert "number=3" not in said
    assert check.__doc__ == "A docstring."


def test_an_error_is_a_failure_too_and_the_other_cases_are_still_tried():
    tried = []

    @each("number", [0, 1])
    def check(number):
        tried.append(number)
        assert 1 / number

    with pytest.raises(pytest.fail.Exception, match=r"1 of 2 cases fail:\nnumber=0\n  ZeroDivisionError"):
        check()
    assert tried == [0, 1]


def test_what_is_no_case_is_asked_of_fixtures_and_loops_can_be_nested():
    seen = []

    @each("second", "ab")
    @each("first", [1, 2])
    def check(first, second, tmp_path):
        seen.append((first, second, tmp_path))

    assert list(inspect.signature(check).parameters) == ["tmp_path"]
    check(tmp_path="here")
    assert seen == [(1, "a", "here"), (2, "a", "here"), (1, "b", "here"), (2, "b", "here")]


def test_no_cases_at_all_is_a_failure():
    @each("number", [])
    def check(number):
        """Never called."""

    with pytest.raises(AssertionError, match="no cases"):
        check()


def test_cases_with_marks_are_refused():
    with pytest.raises(TypeError, match="marks"):
        each("number", [1, pytest.param(2, marks=pytest.mark.slow)])
