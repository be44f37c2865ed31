"""Word diffs: nothing lost on either side, quick for any text, and folded where nothing happens."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from tests.reports.payloads import PAYLOADS
from tests.timing import QUADRATIC, growth
from umpirical.protocols.stress.rendering import (
    CONTEXT,
    FOLD_OVER,
    SHOWN,
    SHOWN_ALONE,
    Segment,
    compare_words,
    show_text,
)
from umpirical.text import diffs as diffing
from umpirical.text.diffs import named

from .samples import ESSAY, INJECTED, LONGER, SPACED

TEXT = st.text(st.sampled_from("ab cd.\n\t,é判断\u200b "), max_size=60)


def pieces(original, changed):
    return [(piece.kind, piece.text) for stretch in compare_words(original, changed) for piece in stretch.segments]


def sides(original, changed):
    """Both texts put together again from the pieces, with the signs taken off."""
    found = pieces(original, changed)
    one = "".join(text if kind == "same" else plain(text) for kind, text in found if kind != "added")
    two = "".join(text if kind == "same" else plain(text) for kind, text in found if kind != "removed")
    return one, two


def plain(text):
    return text.replace("↵\n", "\n").replace("→", "\t").replace("·", " ")


@pytest.mark.parametrize(
    ("original", "changed", "expected"),
    [
        ("a b", "a b", [("same", "a b")]),
        ("a b c", "a x c", [("same", "a "), ("removed", "b"), ("added", "x"), ("same", " c")]),
        ("a b", "a  b", [("same", "a "), ("added", "·"), ("same", "b")]),
        ("a b", "a\tb", [("same", "a"), ("removed", "·"), ("added", "→"), ("same", "b")]),
        ("a\nb", "a\n\nb", [("same", "a\n"), ("added", "↵\n"), ("same", "b")]),
        ("It is.", "It's.", [("same", "It"), ("removed", " is"), ("added", "'s"), ("same", ".")]),
        ("teh cat", "the cat", [("removed", "teh"), ("added", "the"), ("same", " cat")]),
        ("“x”", '"x"', [("removed", "“"), ("added", '"'), ("same", "x"), ("removed", "”"), ("added", '"')]),
        ("", "new", [("added", "new")]),
        ("old", "", [("removed", "old")]),
        ("判断文", "判定文", [("same", "判"), ("removed", "断"), ("added", "定"), ("same", "文")]),
    ],
)
def test_small_changes(original, changed, expected):
    assert pieces(original, changed) == expected


def test_sentences_that_were_rewritten_read_whole():
    """Blanks that happen to be equal do not cut a rewritten phrase into words."""
    assert pieces("He quickly ran home today.", "She slowly walked away today.") == [
        ("removed", "He quickly ran home"),
        ("added", "She slowly walked away"),
        ("same", " today."),
    ]


def test_spacing_alone_never_swallows_a_word():
    found = pieces("one two three four", "one  two  three  four")
    assert [text for kind, text in found if kind == "added"] == ["·", "·", "·"]
    assert not [text for kind, text in found if kind == "removed"]


@given(TEXT, TEXT)
def test_both_texts_can_be_put_together_again(original, changed):
    assert sides(original, changed) == (named(original), named(changed))


@pytest.mark.parametrize("changed", [LONGER, INJECTED, SPACED, ESSAY])
def test_both_texts_of_an_essay_can_be_put_together_again(changed):
    assert sides(ESSAY, changed) == (named(ESSAY), named(changed))


def test_text_that_has_not_changed_is_folded_but_for_some_on_either_side():
    original = "start " + "word " * 400 + "middle " + "word " * 400 + "end"
    stretches = compare_words(original, original.replace("middle", "centre"))
    assert [bool(one.fold) for one in stretches] == [True, False, True]
    assert re.fullmatch(r"1,\d\d\d characters unchanged", stretches[0].fold)
    before, removed, added, after = stretches[1].segments
    assert (removed.text, added.text) == ("middle", "centre")
    assert 0 < len(before.text) <= CONTEXT
    assert 0 < len(after.text) <= CONTEXT
    assert before.text.startswith("word")
    assert after.text.endswith(" ")


def test_short_texts_are_not_folded():
    original = "word " * (FOLD_OVER // 6)
    assert [one.fold for one in compare_words(original, original + "more")] == [""]


def test_what_is_too_long_to_show_is_behind_a_fold_and_nothing_is_lost():
    original = "word " * 4000
    changed = original.replace("word ", "word  ")
    stretches = compare_words(original[:9000], changed[:9000])
    assert [bool(one.fold) for one in stretches] == [False, True]
    assert sum(len(piece.text) for piece in stretches[0].segments) == SHOWN
    assert stretches[1].fold.startswith("The rest: ")
    assert sides(original[:9000], changed[:9000]) == (original[:9000], changed[:9000])


def test_one_long_insertion_is_cut_at_the_fold():
    stretches = compare_words("a", "a" + " b" * SHOWN)
    assert [piece.kind for piece in stretches[0].segments] == ["same", "added"]
    assert [piece.kind for piece in stretches[1].segments] == ["added"]


def test_a_text_alone_is_shown_and_folded_in_the_same_way():
    assert show_text("a\u200b b")[0].segments == (Segment("same", "a⟦ZERO WIDTH SPACE⟧ b"),)
    assert [bool(one.fold) for one in show_text("x" * SHOWN_ALONE)] == [False]
    assert [bool(one.fold) for one in show_text("x" * (SHOWN_ALONE + 1))] == [False, True]
    assert show_text("")[0].segments == (Segment("same", ""),)


def test_texts_of_many_tokens_are_compared_by_lines(monkeypatch):
    monkeypatch.setattr(diffing, "MOST_TOKENS", 5)
    found = pieces("a b c d\ne f\n", "a b c d\ne g\n")
    assert found == [("same", "a b c d\n"), ("removed", "e f↵\n"), ("added", "e g↵\n")]


def test_a_long_text_takes_no_more_time_than_comparing_all_words():
    """Every other word differs, which is what a naive diff is slowest at."""

    def work(size, mark):
        one = " ".join([mark, *(f"word{n}" for n in range(size))])
        two = " ".join([mark, *(f"word{n if n % 2 else -n}" for n in range(size))])
        assert pieces(one, two)

    assert growth(work, size=1250) < QUADRATIC


@each("payload", PAYLOADS)
def test_hostile_text_is_text_like_any_other(payload):
    found = pieces(f"before {payload} after", "before after")
    assert {kind for kind, _ in found} <= {"same", "removed", "added"}
    assert "before" in found[0][1]
