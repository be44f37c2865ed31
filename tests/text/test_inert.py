"""Text from outside, made visible."""

import sys
from unicodedata import category

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from umpirical.text.inert import inert


@each(
    ("text", "shown"),
    [
        ("plain text, with a\nnewline and a\ttab", "plain text, with a\nnewline and a\ttab"),
        ("naïve Δ75 ≤ 1, 判断, 🙂", "naïve Δ75 ≤ 1, 判断, 🙂"),
        ("a\u202eb", "a⟦U+202E⟧b"),
        ("a\u2066b\u2069", "a⟦U+2066⟧b⟦U+2069⟧"),
        ("a\u200bb\u200db\ufeff", "a⟦U+200B⟧b⟦U+200D⟧b⟦U+FEFF⟧"),
        ("\x1b[31mred\x07", "⟦U+001B⟧[31mred⟦U+0007⟧"),
        ("\x9b2J\x00\x7f", "⟦U+009B⟧2J⟦U+0000⟧⟦U+007F⟧"),
        ("a\r\nb", "a⟦U+000D⟧\nb"),
        ("a\u00a0b\u3000c", "a⟦U+00A0⟧b⟦U+3000⟧c"),
        ("a\u2028b\u2029c", "a⟦U+2028⟧b⟦U+2029⟧c"),
        ("\ud800 \udfff", "⟦U+D800⟧ ⟦U+DFFF⟧"),
        ("\ue000", "⟦U+E000⟧"),
        ("\U000e0041 tag", "⟦U+E0041⟧ tag"),
        ("\U000e0100 selector", "⟦U+E0100⟧ selector"),
        ("\u3164\u2800\uffff", "⟦U+3164⟧⟦U+2800⟧⟦U+FFFF⟧"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text, shown):
    assert inert(text) == shown


def test_every_character_of_the_hidden_categories_is_written_out():
    hidden = {"Cc", "Cf", "Zl", "Zp", "Co", "Cs", "Zs"}
    for code in range(sys.maxunicode + 1):
        if category(chr(code)) in hidden and chr(code) not in "\n\t ":
            assert inert(chr(code)) == f"⟦U+{code:04X}⟧"


@given(st.text(st.characters(exclude_categories=())))
def test_the_result_can_be_encoded_and_is_inert(text):
    shown = inert(text)
    shown.encode()
    assert inert(shown) == shown
