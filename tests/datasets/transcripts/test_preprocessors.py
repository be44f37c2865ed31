"""What preprocessors take out, and that everything else stays as it was."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umpirical.datasets.transcripts.files import PREPROCESSORS, TAKEN_OUT, preprocessed
from umpirical.domain.transcripts import Message, ToolCall, Transcript

TRANSCRIPT = Transcript(
    (
        Message("system", "Be careful."),
        Message("user", "Go.", attachments=("image",)),
        Message("assistant", "Going.", reasoning="Hm.", calls=(ToolCall("c1", "a", "{}"), ToolCall("c2", "b", "{}"))),
        Message("tool", "", answers="c1", tool="a", attachments=("picture",)),
        Message("tool", "trace", answers="c2", tool="b", error="it broke"),
        Message("system", "Again."),
        Message("assistant", "Done."),
    ),
    "run",
    {"level": "1"},
    {"rubric": "Be kind."},
)


def test_there_are_these():
    assert list(PREPROCESSORS) == ["drop-tool-output", "drop-reasoning", "strip-system"]


def test_output_of_tools_is_replaced_even_where_it_was_empty():
    found = preprocessed(TRANSCRIPT, ["drop-tool-output"])
    assert found.messages[3] == Message("tool", TAKEN_OUT, answers="c1", tool="a")
    # That there was an error stays known; what it said is output too.
    assert found.messages[4] == Message("tool", TAKEN_OUT, answers="c2", tool="b", error=TAKEN_OUT)
    assert [*found.messages[:3], *found.messages[5:]] == [*TRANSCRIPT.messages[:3], *TRANSCRIPT.messages[5:]]


def test_reasoning_is_taken_out_and_nothing_else():
    found = preprocessed(TRANSCRIPT, ["drop-reasoning"])
    assert [each.reasoning for each in found.messages] == [""] * 7
    assert [replace(each, reasoning="") for each in TRANSCRIPT.messages] == list(found.messages)


def test_system_messages_are_taken_out_wherever_they_stand():
    found = preprocessed(TRANSCRIPT, ["strip-system"])
    assert list(found.messages) == [each for each in TRANSCRIPT.messages if each.role != "system"]


@pytest.mark.parametrize("name", PREPROCESSORS)
def test_a_second_time_changes_nothing_and_what_is_known_stays(name):
    once = preprocessed(TRANSCRIPT, [name])
    assert preprocessed(once, [name]) == once
    assert (once.name, once.strata, once.columns) == (TRANSCRIPT.name, TRANSCRIPT.strata, TRANSCRIPT.columns)
    assert once.id != TRANSCRIPT.id


@given(names=st.lists(st.sampled_from(sorted(PREPROCESSORS)), max_size=5))
def test_structure_stays_valid_and_the_order_makes_no_difference(names):
    found = preprocessed(TRANSCRIPT, names)
    assert list(found.problems()) == []
    assert found == preprocessed(TRANSCRIPT, sorted(set(names)))
