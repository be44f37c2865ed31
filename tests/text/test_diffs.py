"""The word diff: complete, readable, and quick for any text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.timing import QUADRATIC, growth
from umpirical.text.diffs import MOST_TOKENS, Piece, changes, word_diff

TEXTS = st.text(st.sampled_from("ab \n\t.,é語\u202e\u00a0"), max_size=40)


def told(before, after):
    return [(piece.kind, piece.text) for piece in word_diff(before, after)]


@given(TEXTS, TEXTS)
def test_the_pieces_make_up_both_texts(before, after):
    pieces = word_diff(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == after
    assert all(piece.text for piece in pieces)


@given(TEXTS, TEXTS)
def test_no_two_neighbours_have_not_changed(before, after):
    kinds = [piece.kind for piece in word_diff(before, after)]
    assert ("same", "same") not in list(pairwise(kinds))


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text):
    assert word_diff(text, text) == ([Piece("same", text)] if text else [])


@given(TEXTS, TEXTS)
def test_different_texts_are_shown_to_differ(before, after):
    assert (before == after) == all(change.same for change in changes(before, after))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("one cat", "one dog", [("same", "one "), ("removed", "cat"), ("added", "dog")]),
        # One space more is one space added.
        ("a b", "a  b", [("same", "a "), ("added", " "), ("same", "b")]),
        ("a\nb", "a\n\nb", [("same", "a\n"), ("added", "\n"), ("same", "b")]),
        # A hidden character is a change of its own.
        ("go on", "go\u200b on", [("same", "go"), ("added", "\u200b"), ("same", " on")]),
        # Words that changed one after another read as one change.
        ("the red cat", "the big dog", [("same", "the "), ("removed", "red cat"), ("added", "big dog")]),
        # Scripts without spaces are compared character by character.
        ("日本語", "日本人", [("same", "日本"), ("removed", "語"), ("added", "人")]),
        ("", "new", [("added", "new")]),
        ("old", "", [("removed", "old")]),
    ],
)  # fmt: skip
def test_what_changed_is_told_as_a_reader_would(before, after, expected):
    assert told(before, after) == expected


def test_beyond_the_limit_lines_are_compared():
    lines = [f"line {number} is here" for number in range(MOST_TOKENS // 4)]
    changed = [*lines]
    changed[100] = "line 100 is gone"
    found = [piece for piece in word_diff("\n".join(lines), "\n".join(changed)) if piece.kind != "same"]
    assert found == [Piece("removed", "line 100 is here\n"), Piece("added", "line 100 is gone\n")]


def test_the_work_grows_with_the_square_of_the_text_at_most():
    def work(size, mark):
        words = [f"{mark}{number % 97}" for number in range(size)]
        return word_diff(" ".join(words), " ".join(reversed(words)))

    assert growth(work, size=500) < QUADRATIC
