"""What in a text is prose: patterns that a text has nothing for are left out, and nothing else is found for it."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stimuli.perturbations.test_proved import FRAGMENTS
from umpirical.text.blocks import FENCED, INLINE, VERBATIM, Target
from umpirical.text.words import LETTER

WORDS = Target(rf"{LETTER}++")
CODE = [
    "    ",
    "\n    x = 1;",
    "\n\ta b",
    "```\nx\n```",
    "a_b",
    "WWW.a",
    "wwW.b c",
    "a\\b",
    "$x$",
    "`x y`",
    "<a b>",
    "x@y",
]
TEXTS = st.lists(st.sampled_from([*FRAGMENTS, *CODE]), max_size=12).map("".join)


def whole(target):
    """The pattern with everything that is kept, whatever the text."""
    return re.compile(f"(?P<kept>{'|'.join(one.pattern for one in target.kept)})|(?:{target.wanted})")


def is_data(text):
    return Target(r"(?s:.)", kept=()).places(text) == [] and text != ""


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from([VERBATIM, FENCED, INLINE]), st.sampled_from([r"[^\r\n]+", rf"{LETTER}++", r"\s"]))
def test_a_pattern_is_excluded_only_where_it_would_find_nothing(text, kept, wanted):
    target = Target(wanted, kept)
    expected = [match.span() for match in whole(target).finditer(text) if match["kept"] is None]
    assert [match.span() for match in target.places(text)] == ([] if is_data(text) else expected)
    blanked = whole(target).sub(lambda match: "#" if match["kept"] is None else match[0], text)
    assert target.replaced(text, lambda _: "#") == (text if is_data(text) else blanked)


@pytest.mark.parametrize("sample", CODE[1:])
def test_every_sign_of_something_kept_is_looked_for(sample):
    """Whoever changes a pattern and forgets what it needs would change code."""
    skipped = [match[0] for match in whole(WORDS).finditer(sample) if match["kept"] is not None]
    assert skipped
    assert [match[0] for match in WORDS.places(sample)] == [
        match[0] for match in whole(WORDS).finditer(sample) if match["kept"] is None
    ]
