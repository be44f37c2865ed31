"""Files that any system can hold, one for each test of each judge."""

import doctest
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from tests.reports.payloads import PAYLOADS
from umpirical.domain.errors import UsageError
from umpirical.protocols.stress import heat_map as naming
from umpirical.protocols.stress.heat_map import judge_keys, page_name

from .samples import judge, report, run, three

SAFE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*--[a-z0-9]+(-[a-z0-9]+)*\.html")


def test_plain_names_stay_as_they_are():
    assert page_name("gpt-4o", "label-flip") == "gpt-4o--label-flip.html"


@each("name", [*PAYLOADS, "", ".", "..", "../../etc/passwd", "CON", "a" * 500, "判断", "\ud800"])
def test_any_name_gives_a_safe_file(name):
    for made in (page_name(name, "stability"), page_name("judge", name)):
        assert SAFE.fullmatch(made)
        assert len(made) < 160


@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=12), min_size=2, max_size=2, unique=True))
def test_different_names_have_different_files(names):
    one, two = names
    assert page_name(one, "x") != page_name(two, "x")
    assert page_name("x", one) != page_name("x", two)


def test_names_that_differ_in_case_or_in_where_they_break_stay_apart():
    made = [
        page_name("A", "b"),
        page_name("a", "b"),
        page_name("a--b", "c"),
        page_name("a", "b--c"),
        page_name("a", "B"),
    ]
    assert len({name.lower() for name in made}) == 5


def test_a_judge_that_comes_up_twice_is_named_with_its_run():
    twice = [report(run=run("one")), report(run=run("two"))]
    assert judge_keys(twice) == ["wordy, easily told 2026-01-02-one", "wordy, easily told 2026-01-02-two"]
    assert judge_keys(three()) == ["sound-examiner", "wordy, easily told", "moody/7B"]


def test_the_same_run_twice_is_refused():
    one = report(judge=judge("x"))
    with pytest.raises(UsageError, match="named twice: x 2026"):
        judge_keys([one, one])


def test_the_examples_hold():
    assert doctest.testmod(naming).failed == 0
