"""How long two candidates are, by hand."""

import pytest

from umpirical.stimuli.controlled.ladder.transforms import equally_long, length_gap


@pytest.mark.parametrize(
    ("first", "second", "gap"),
    [
        ("", "", 0),
        ("One two three.", "One two three.", 0),
        # Four tokens against six: two more are allowed, a third is not.
        ("One two three.", "One two three four five.", 0),
        ("One two three.", "One two three four five six.", 1),
        # As many words, but "extraordinary" is cut into three pieces.
        ("One two three.", "One extraordinary three.", 0),
        ("One two three.", "Extraordinary extraordinary three.", 2),
        # Marks are tokens too, list marks are not.
        ("Well then so.", "Well, then; so: yes.", 2),
        ("- One two.\n- Three four.", "One two. Three four.", 0),
        ("a-b-c-d", "a b c d", 1),
    ],
)
def test_the_gap_beyond_what_is_allowed(first, second, gap):
    assert length_gap(first, second) == length_gap(second, first) == gap
    assert equally_long(first, second) is (gap == 0)


@pytest.mark.parametrize(("more", "gap"), [(0, 0), (4, 0), (5, 1), (6, 2)])
def test_in_a_long_answer_two_percent_are_allowed(more, gap):
    assert length_gap("word " * 200, "word " * (200 + more)) == gap
