"""Words, figures and names, by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.timing import QUADRATIC, growth
from umpirical.text.words import (
    EditDistance,
    edit_distance,
    figures,
    names,
    number_words,
    placeholder_names,
    shared_triples,
    shorter_than,
    word_count,
    word_triples,
    words,
)

any_text = st.text(alphabet=st.characters(), max_size=200)


@given(any_text)
def test_the_count_of_words_is_theirs(text):
    assert word_count(text) == len(words(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("Don't  stop-me, NOW_2!", ("don't", "stop", "me", "now_2")),
        ("Don’t", ("don't",)),
        ("Straße STRASSE", ("strasse", "strasse")),
        ("港は quiet", ("港", "は", "quiet")),
        ("naïve Ωμέγα", ("naïve", "ωμέγα")),
        ("'quoted'", ("quoted",)),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("before", "after", "edit"),
    [
        ("a b c d", "a b c d", EditDistance(4, 0, 0)),
        ("a b c d", "A, b... c D!", EditDistance(4, 0, 0)),
        ("a b c d", "a c d", EditDistance(4, 1, 0)),
        ("a b c d", "a x b c d y", EditDistance(4, 0, 2)),
        ("a b c d", "a x c d", EditDistance(4, 1, 1)),
        # Words in another order are gone from their place and come in at another.
        ("a b c d", "b c d a", EditDistance(4, 1, 1)),
        ("a b", "", EditDistance(2, 2, 0)),
        ("", "a b", EditDistance(0, 0, 2)),
    ],
)
def test_edits(before, after, edit):
    assert edit_distance(before, after) == edit


def test_a_share_of_no_words_is_not_a_number():
    assert edit_distance("", "a").share(1) is None
    assert edit_distance("a b", "a").share(1) == 0.5


def test_edits_of_long_texts_take_no_more_time_than_comparing_all_words():
    def work(size, mark):
        long = " ".join([mark, *(f"word{number % 977}" for number in range(size - 1))])
        assert edit_distance(long, long[::-1]).original == size

    assert growth(work, size=10_000) < QUADRATIC


@settings(deadline=None)
@given(any_text, any_text)
def test_an_edit_adds_up(before, after):
    edit = edit_distance(before, after)
    assert edit.original == len(words(before))
    assert edit.original - edit.lost + edit.added == len(words(after))
    assert edit_distance(after, before).lost == edit.added


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("1,000 or 1.000 or 1'000", {"1000": 3}),
        ("3.5 and 3,5", {"3.5": 2}),
        ("1,234.56 is 1.234,56", {"1234.56": 2}),
        ("from 7 to 07, the 7th", {"7": 3}),
        ("10/12/1999 at 10:30, 50%", {"10": 2, "12": 1, "1999": 1, "30": 1, "50": 1}),
        ("1. First\n2) Second\n  3. Third of 4", {"4": 1}),
        ("Version 2.\n", {"2": 1}),
        ("000", {"0": 1}),
    ],
)
def test_figures(text, expected):
    assert figures(text) == expected


def test_number_words():
    assert number_words("Two or twelve, TWO; thirteen, someone.") == {"2": 2, "12": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Ann in Paris. Then Bob came.", {"ann", "paris", "bob"}),
        ("Luke's friend saw Luke’s dog and Mary's.", {"luke", "mary"}),
        # People put capitals where they like.
        ("I like The sea, and the sea likes Me and me.", set()),
        ("I went with PROPER_NAME to the EU.", {"eu"}),
        ("\nParis is a town.\nLondon is, too.", set()),
        ("ALL OF THIS IS LOUD, IN PARIS TOO", set()),
        ("a très Élégant hat, and Émile", {"élégant", "émile"}),
        ("", set()),
    ],
)
def test_names(text, expected):
    assert names(text) == expected


def test_placeholder_names():
    assert placeholder_names("PROPER_NAME met LOCATION_1 in NASA, proper_name and A_b") == {"PROPER_NAME", "LOCATION_1"}


def test_what_is_too_short_is_said_in_words():
    assert shorter_than(3)("one two") == "the response has fewer than 3 words"
    assert shorter_than(3)("one two three") == ""


@settings(deadline=None)
@given(any_text)
def test_nothing_raises(text):
    assert isinstance(names(text), frozenset)
    assert isinstance(placeholder_names(text), frozenset)
    assert all(times > 0 for times in (figures(text) + number_words(text)).values())


def test_triples_of_words_and_what_two_texts_share_of_them():
    assert word_triples("The cat sat DOWN.") == {("the", "cat", "sat"), ("cat", "sat", "down.")}
    assert word_triples("too short") == frozenset()
    one, other = word_triples("the cat sat down"), word_triples("the cat sat up")
    assert shared_triples(one, other) == 1 / 3
    assert shared_triples(one, one) == 1
    assert shared_triples(frozenset(), frozenset()) == 0
