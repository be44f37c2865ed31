"""The texts of crossed families are spelt right, and their English is sound by the rules of a checker of grammar.

CI checks the grammar of one set of parameters of each family, with every second wording; the slow run checks all of
them, with figures exchanged as well.
"""

import os
from functools import cache

import pytest

from tests.english.checkers import DICTIONARIES, FOLDER, allowed, grammar, missing, spelling
from tests.english.family_texts import Text, names_of, texts_of
from umpirical.stimuli.controlled.family_files import builtin_families

FAMILIES = builtin_families()

pytestmark = pytest.mark.english


@pytest.fixture(scope="module", autouse=True)
def checkers():
    """Where they must be there, as in CI, the absence of a checker is an error and not a skip."""
    if needed := missing():
        if os.environ.get("UMPIRICAL_REQUIRE_ENGLISH"):
            pytest.fail(f"not installed: {', '.join(needed)}")
        pytest.skip(f"needs {', '.join(needed)}")


@cache
def every_text():
    return [text for family in FAMILIES for text in texts_of(family, range(len(family.sets)), exchanged=True)]


def test_one_task_of_each_family_is_in_sound_english():
    texts = [
        text
        for n, family in enumerate(FAMILIES)
        for text in texts_of(family, [n % len(family.sets)], wordings=slice(n % 2, None, 2))
    ]
    assert len({text.task for text in texts}) == len(FAMILIES)
    assert grammar(texts) == []


@pytest.mark.slow
def test_every_task_of_each_family_is_in_sound_english():
    assert grammar(every_text()) == []


@pytest.mark.parametrize("language", DICTIONARIES)
def test_every_word_of_every_family_is_spelt_right(language):
    names = {name for family in FAMILIES for name in names_of(family)}
    possessives = {f"{name}'s" for name in names}
    words = {word for text in every_text() if text.language == language for word in text.words}
    assert len(words) > 200
    assert spelling(words - names - possessives, language) == []


BROKEN = {
    "A invoice that was in an earlier file is skipped.": "AnA",
    "The price is shown on an board near the door.": "AnA",
    "In 46 days from now you can post links freely.": "InTimeFromNow",
    "The train could of arrived on time.": "ModalOf",
    "The coach leaves at the the stop by noon.": "RepeatedWords",
}
"""Broken English, and the rule that says so."""


def test_broken_english_is_found():
    # Together, since the checker takes seconds to start.
    found = grammar([Text("a task", "en", text) for text in BROKEN])
    assert {(finding.text, finding.rule) for finding in found} >= set(BROKEN.items())


@pytest.mark.parametrize(
    ("language", "word"), [("en", "recieve"), ("en", "color"), ("de", "Farrad"), ("es", "habitacion")]
)
def test_a_word_that_is_spelt_wrong_is_found(language, word):
    assert spelling({word}, language) == [word]


def test_what_is_allowed_has_a_reason():
    assert all(allowed()["rules"].values())
    assert all(one["why"] for one in allowed()["findings"])
    assert all(group["why"] for groups in allowed()["words"].values() for group in groups)


def test_harper_is_pinned():
    assert '"harper.js": "2.10.0"' in (FOLDER / "package.json").read_text(encoding="utf-8")
