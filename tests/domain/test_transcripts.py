import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umpirical.domain.transcripts import Message, ToolCall, Transcript, transcript_from_text

CALL = ToolCall("c1", "find_room", '{"city":"Oslo"}')

BOOKING = Transcript(
    (
        Message("system", "You book rooms."),
        Message("user", "A room in Oslo."),
        Message("assistant", "I look.", reasoning="Find first.", calls=(CALL,)),
        Message("tool", "room 4 is free", answers="c1", tool="find_room"),
        Message("assistant", "Room 4 is free."),
    )
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
calls = st.builds(ToolCall, texts, texts, st.one_of(texts, st.dictionaries(texts, st.integers()).map(json.dumps)))
messages = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    texts,
    texts,
    st.lists(calls, max_size=3).map(tuple),
    texts,
    texts,
    texts,
    st.lists(texts, max_size=2).map(tuple),
)


@given(st.lists(messages, max_size=5).map(tuple))
def test_a_transcript_is_read_back_from_its_text(given_messages):
    assert transcript_from_text(Transcript(given_messages).text).messages == given_messages


def test_the_text_has_one_message_to_a_line_and_arguments_as_they_are():
    lines = BOOKING.text.splitlines()
    assert len(lines) == len(BOOKING.messages) + 2
    assert '"arguments": {"city": "Oslo"}' in lines[3]
    assert json.loads(BOOKING.text)[3] == {
        "role": "tool",
        "name": "find_room",
        "tool_call_id": "c1",
        "content": "room 4 is free",
    }


def test_a_sound_transcript_has_no_problems_nor_has_one_that_is_cut_off():
    assert list(BOOKING.problems()) == []
    assert list(Transcript(BOOKING.messages[:3]).problems()) == []


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ((), "no messages"),
        ((*BOOKING.messages[:3], *BOOKING.messages[4:]), "before the answer to find_room"),
        ((*BOOKING.messages[:2], *BOOKING.messages[3:]), "answers a tool call that does not exist"),
        ((*BOOKING.messages[:4], *BOOKING.messages[2:]), "repeats the call id"),
        ((Message("user", calls=(CALL,)),), "its role is user"),
        ((Message("assistant", calls=(ToolCall("c", "t", "oops"),)),), "not a JSON object"),
    ],
)
def test_what_no_agent_can_have_had_is_a_problem(broken, problem):
    assert any(problem in found for found in Transcript(broken).problems())


@pytest.mark.parametrize(
    "text",
    ["{}", "[1]", '[{"role": "judge"}]', '[{"role": "user", "content": 3}]', "[" * 100_000, '[{"role": "user"}', "NaN"],
)
def test_what_is_no_transcript_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011  # the words are for people
        transcript_from_text(text)
