"""Four ways to find sentences: each by hand, where they agree, and why none of them can replace another."""

import re

import pytest

from tests.stimuli.built import built
from umpirical.testing.sample_texts import ORDINARY_TEXTS
from umpirical.text.blocks import markdown_blocks
from umpirical.text.sentences import (
    CERTAIN_GAP,
    ends_as_prose,
    ends_whole,
    needs_no_blank,
    sentences_at_every_stop,
    sentences_in_any_script,
    spans_past_abbreviations,
)

PARAGRAPH = ORDINARY_TEXTS[1]


def for_certain(text):
    return re.split(CERTAIN_GAP, text)


def past_abbreviations(text):
    spans = [span for block in markdown_blocks(text) for span in spans_past_abbreviations(text, block)]
    return [text[span.start : span.end] for span in spans]


def in_any_script(text):
    return sentences_in_any_script(text)


def at_every_stop(text):
    return list(sentences_at_every_stop(text))


SPLITTERS = (for_certain, past_abbreviations, in_any_script, at_every_stop)


def test_on_a_plain_paragraph_all_agree():
    found = [split(PARAGRAPH) for split in SPLITTERS]
    assert found == [found[0]] * 4
    assert len(found[0]) == 5


def test_on_the_built_in_answers_the_two_that_are_closest_agree():
    answers = {text for stimulus in built("screen", ladder="filler") for text in stimulus.candidates if text.strip()}
    assert len(answers) > 200
    assert all(at_every_stop(text) == in_any_script(text) for text in answers)


@pytest.mark.parametrize(
    ("text", "certain", "past", "script", "every"),
    [
        # A number or a capital before the stop is not certain enough.
        ("It cost 5. We paid the bill.", 1, 2, 2, 2),
        # An abbreviation ends no sentence, unless nobody looks.
        ("They met Dr. Lund at the door.", 1, 1, 1, 2),
        ("They like fruit, e.g. Apples and pears.", 1, 1, 1, 2),
        # Two words may be what an abbreviation left over; but the gate on tasks has to count them as a sentence.
        ("Go on. Then the clock has to be stopped.", 1, 2, 1, 2),
        # A small letter may begin a sentence, and does not for those that heed abbreviations.
        ("That is all there is. iPhones are next on the list.", 1, 1, 2, 2),
        # Stops of a script without blanks.
        ("港は静かだった。誰もいなかった。", 1, 1, 2, 1),
        # A line break in a paragraph ends no sentence where it stands for a blank.
        ("A sentence that goes on\nin the next line of it.", 1, 1, 2, 2),
        # A list item is a sentence, and its mark is not part of it.
        ("- One thing is here.\n- Another thing is there.", 1, 2, 2, 2),
        # Code is one piece.
        ("```\nprint(1). Then it\nprint(2). And it\n```", 1, 1, 2, 6),
        # A quotation mark after the stop.
        ('He said "it is over." Then he left us.', 2, 2, 2, 1),
    ],
)
def test_where_they_differ(text, certain, past, script, every):
    found = [len(split(text)) for split in SPLITTERS]
    assert found == [certain, past, script, every], [split(text) for split in SPLITTERS]


def test_a_full_stop_after_an_abbreviation_ends_no_sentence():
    assert past_abbreviations("Dr. Smith and J. Doe, e.g. Ann, met at 5 p.m. Monday. They left. See no. 5 there.") == [
        "Dr. Smith and J. Doe, e.g. Ann, met at 5 p.m. Monday.",
        "They left.",
        "See no. 5 there.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("... !", []),
        ("One two three. Four five six! Seven?", ["One two three.", "Four five six!", "Seven?"]),
        ('He said "no it is." Then he left.', ['He said "no it is.', "Then he left."]),
        ("One two three\nFour five six", ["One two three", "Four five six"]),
        ("Dr. Lund is here. So am I.", ["Dr. Lund is here.", "So am I."]),
        ("港は静か。誰もいない。", ["港は静か。", "誰もいない。"]),
        ("It is 3.5 m high.", ["It is 3.5 m high."]),
    ],
)
def test_sentences_in_any_script(text, expected):
    assert sentences_in_any_script(text) == expected


@pytest.mark.parametrize(
    ("text", "prose", "whole"),
    [
        ("It ended.", True, True),
        ("It ended.  \n", True, True),
        ('"It ended."', True, True),
        ("(It **ended.**)", False, True),
        ("It ended", False, False),
        ("It ended\n", False, True),
        ("終わり。", False, True),
        ("Well, then…", False, True),
        ("As follows:", False, False),
        ("", False, False),
    ],
)
def test_how_a_text_ends(text, prose, whole):
    assert ends_as_prose(text) is prose
    assert ends_whole(text) is whole


def test_where_a_sentence_may_begin_without_a_blank():
    assert [mark for mark in ".!?。！？… \n" if needs_no_blank(mark)] == ["。", "！", "？", " ", "\n"]
