"""What a program sees: which messages changed, whether calls fit words, and what later messages still say."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stimuli.transcripts.rewriting.wanted import ASK_NOT, BOOKING
from umpirical.domain.transcripts import Message, ToolCall, Transcript
from umpirical.stimuli.transcripts.rewriting.edits import (
    Edit,
    checks,
    contradictions,
    dependents,
    edits_between,
    replaced,
    share_changed,
    values_in,
)


def changed(number, text, transcript=BOOKING, **fields):
    return replaced(transcript, number, replace(transcript.messages[number - 1], text=text, **fields))


def failed(results):
    return [result.check for result in results if not result.passed]


def test_a_planned_change_passes():
    assert failed(checks(BOOKING, changed(5, ASK_NOT), [5])) == []


@pytest.mark.parametrize(
    ("made", "planned"),
    [
        (changed(6, "Yes, and quickly.", changed(5, ASK_NOT)), [5]),
        (changed(1, "You book rooms.", changed(5, ASK_NOT)), [5]),
        (changed(5, ASK_NOT), [5, 9]),
        (BOOKING, [5]),
        (changed(5, ASK_NOT), []),
    ],
    ids=["the user's too", "the system's too", "one planned is as it was", "nothing changed", "nothing planned"],
)
def test_exactly_the_planned_messages_must_have_changed(made, planned):
    assert "only planned messages" in failed(checks(BOOKING, made, planned))


@pytest.mark.parametrize("count", [0, 1, 8])
def test_a_message_that_was_excluded_or_added_is_seen(count):
    assert failed(checks(BOOKING, Transcript(BOOKING.messages[:count]), [5])) == ["only planned messages"]
    longer = Transcript((*BOOKING.messages, Message("assistant", "Bye.")))
    assert failed(checks(BOOKING, longer, [5])) == ["only planned messages"]


@pytest.mark.parametrize(
    "field",
    [
        {"reasoning": "Hm."},
        {"error": "it broke"},
        {"attachments": ("an image",)},
        {"tool": "other"},
        {"calls": (ToolCall("c7", "pay", "{}"),)},
    ],
)
def test_a_change_outside_the_text_is_a_change(field):
    made = replaced(BOOKING, 9, replace(BOOKING.messages[8], **field))
    assert "only planned messages" in failed(checks(BOOKING, made, []))


def test_arguments_that_are_no_json_make_no_transcript():
    broken = replace(BOOKING.messages[6], calls=(ToolCall("c2", "book", '{"room": '),))
    assert "sound transcript" in failed(checks(BOOKING, replaced(BOOKING, 7, broken), [7]))


def test_values_are_numbers_ids_and_quoted_phrases():
    text = 'Room R-17 ("sea view", “king bed”) costs 1,250.50 on 2026-03-01; ask ann@example.org. {"city": "Oslo"}'
    found = values_in(text)
    assert found.exact == {"R-17", "1,250.50", "2026-03-01", "ann@example.org"}
    assert found.phrases == {"sea view", "king bed", "Oslo"}


@pytest.mark.parametrize(
    ("value", "text", "there"),
    [
        ("120", "for 120 kroner", True),
        ("120", "for 1200 kroner", False),
        ("120", "for 12 or 20", False),
        ("R-17", "room R-17.", True),
        ("R-17", "room R-171", False),
        ("sea view", "with a Sea View of course", True),
        ("sea view", "an overseas viewing", False),
        ("Oslo", "Oslo's fjord", True),
    ],
)
def test_a_value_occurs_as_a_whole_or_not_at_all(value, text, there):
    assert bool(values_in(f'"{value}"').shared(values_in(text))) is there


def test_only_later_messages_that_have_what_is_gone_depend_on_an_edit():
    assert dependents(BOOKING, changed(5, ASK_NOT)) == {}
    priced = changed(4, 'room R-17 in Oslo, 990 kroner, "sea view"')
    assert dependents(BOOKING, priced) == {5: ("840",), 9: ("840",)}
    assert dependents(BOOKING, changed(8, "booked, number BK-4000")) == {9: ("BK-2931",)}


def test_what_an_earlier_message_said_first_depends_on_that_one():
    # Message 5 repeats what the tool said, so leaving it out there makes nothing outdated.
    assert dependents(BOOKING, changed(5, "That one is dear. Shall I book it?")) == {}


def test_a_phrase_that_loses_its_quotes_is_still_found():
    messages = (
        Message("user", "Which hotel?"),
        Message("assistant", 'Take "The Blue Door".'),
        Message("assistant", "the blue door has rooms."),
    )
    made = replaced(Transcript(messages), 2, Message("assistant", 'Take "The Red Door".'))
    assert dependents(Transcript(messages), made) == {3: ("The Blue Door",)}


CALLING = BOOKING.messages[6]


@pytest.mark.parametrize(
    ("text", "arguments", "contrary"),
    [
        ("I book R-18.", '{"room": "R-18"}', False),
        ("I book it.", '{"room": "R-17"}', False),
        ("I book it.", '{"room": "R-18"}', False),
        ("I book R-17.", '{"room": "R-18"}', True),
        ("I book R-18.", '{"room": "R-17"}', True),
        ("I book R-17 now.", '{"room": "R-17", "card": "on file"}', False),
    ],
)
def test_what_a_message_says_fits_what_it_calls(text, arguments, contrary):
    after = replace(CALLING, text=text, calls=(ToolCall("c2", "book", arguments),))
    assert bool(list(contradictions(Edit(7, CALLING, after)))) is contrary


def test_the_answer_of_a_tool_that_is_no_longer_called_is_outdated():
    reserved = replace(CALLING, calls=(ToolCall("c2", "reserve", '{"room": "R-17"}'),))
    assert dependents(BOOKING, replaced(BOOKING, 7, reserved)) == {8: ("book",)}
    answered = replace(BOOKING.messages[7], tool="reserve")
    assert dependents(BOOKING, replaced(replaced(BOOKING, 7, reserved), 8, answered)) == {}


def test_the_share_of_characters_is_zero_for_a_copy_and_small_for_a_small_change():
    assert share_changed(BOOKING, BOOKING) == 0
    little, much = share_changed(BOOKING, changed(5, ASK_NOT)), share_changed(BOOKING, changed(5, "x" * 4000))
    assert 0 < little < 0.05
    assert little < much < 1


def test_the_share_by_hand():
    one = Transcript((Message("user", "ab"),))
    two = Transcript((Message("user", "ac"),))
    line = len('{"role": "user", "content": "ab"}')
    # One character is removed and one is added.
    assert share_changed(one, two) == 2 / (2 * line)


texts = st.text(st.characters(codec="utf-8"), max_size=80)


@given(texts, texts)
def test_no_text_breaks_the_checks(before, after):
    one = Transcript((Message("user", "Go."), Message("assistant", before), Message("assistant", before)))
    two = replaced(one, 2, Message("assistant", after))
    assert len(checks(one, two, [2])) == 4
    assert 0 <= share_changed(one, two) <= 1
    [*edits] = edits_between(one, two)
    for edit in edits:
        assert "".join(piece.text for piece in edit.diff if piece.kind != "added")


def test_a_large_transcript_is_checked_quickly_enough_to_finish():
    """Thousands of values in one result, and hundreds of messages after it: no product of the two is scanned."""
    listing = " ".join(f"item-{n} {n + 100_000}" for n in range(5_000))
    later = tuple(Message("assistant", f"Looked at {n} more. " * 40) for n in range(400))
    one = Transcript((Message("user", "Go."), Message("assistant", listing), *later))
    two = replaced(one, 2, Message("assistant", "Nothing."))
    assert dependents(one, two) == {}
