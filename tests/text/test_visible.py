"""What cannot be seen is written out."""

import doctest
import sys
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from umpirical.text import diffs
from umpirical.text.diffs import mark_blanks, named, signed
from umpirical.text.inert import inert


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words, 判断 🙂", "plain words, 判断 🙂"),
        ("a\u200bb", "a⟦ZERO WIDTH SPACE⟧b"),
        ("a\u200d\u2060b", "a⟦ZERO WIDTH JOINER⟧⟦WORD JOINER⟧b"),
        ("\u202etxt\u202c", "⟦RIGHT-TO-LEFT OVERRIDE⟧txt⟦POP DIRECTIONAL FORMATTING⟧"),
        ("\u2066x\u2069", "⟦LEFT-TO-RIGHT ISOLATE⟧x⟦POP DIRECTIONAL ISOLATE⟧"),
        ("a\u00a0b\u3000", "a⟦NO-BREAK SPACE⟧b⟦IDEOGRAPHIC SPACE⟧"),
        ("\ufeffa\u00ad", "⟦ZERO WIDTH NO-BREAK SPACE⟧a⟦SOFT HYPHEN⟧"),
        ("a\r\nb\x1b[2J\x00", "a⟦CARRIAGE RETURN⟧\nb⟦ESCAPE⟧[2J⟦NUL⟧"),
        ("two  spaces\tand\n", "two  spaces\tand\n"),
    ],
)
def test_hidden_characters_are_named(text, shown):
    assert named(text) == shown


@each(
    ("text", "shown"),
    [
        (" ", "·"),
        ("   ", "···"),
        ("\n", "↵\n"),
        ("\t", "→"),
        (" \n ", "·↵\n·"),
        ("one two", "one two"),
        (" one ", " one "),
        ("one   two", "one···two"),
        ("one \ntwo", "one·↵\ntwo"),
        ("\n  one", "↵\n··one"),
        ("one\u00a0two", "one⟦NO-BREAK SPACE⟧two"),
        ("\u00a0 ", "⟦NO-BREAK SPACE⟧·"),
    ],
)
def test_blanks_of_a_change_have_a_sign(text, shown):
    assert signed(text) == shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" ", "·"),
        ("\t", "⇥"),
        ("\n", "⏎\n"),
        ("a b", "a b"),
        ("a  b", "a··b"),
        ("a \nb", "a·⏎\nb"),
        ("a\n b", "a⏎\n·b"),
        ("\u00a0", "\u00a0"),
    ],
)
def test_blanks_have_a_sign_where_they_would_be_overlooked(text, expected):
    assert mark_blanks(text, newline="⏎", tab="⇥") == expected


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_hidden_is_left_when_the_page_has_written_out_the_rest(text):
    shown = inert(signed(text))
    hidden = {"Cc", "Cf", "Zl", "Zp", "Co", "Cs"}
    assert not [char for char in shown if category(char) in hidden and char != "\n"]
    assert inert(shown) == shown


def test_only_hidden_characters_are_renamed():
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if named(char) != char:
            assert inert(char) != char


def test_the_examples_hold():
    assert doctest.testmod(diffs).failed == 0
