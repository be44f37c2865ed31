"""Calls and answers are put together where ids are missing, and left alone where they are not."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from umpirical.datasets.transcripts.sources import with_call_ids
from umpirical.domain.transcripts import Message, ToolCall, Transcript

TOOLS = st.lists(st.sampled_from("ab"), min_size=1, max_size=3)


def turn(tools, start):
    calls = [ToolCall(f"c{start + place}", tool, "{}") for place, tool in enumerate(tools)]
    answers = [Message("tool", call.id, answers=call.id, tool=call.tool) for call in calls]
    return [Message("assistant", calls=tuple(calls)), *answers]


@given(turns=st.lists(TOOLS, max_size=4))
def test_answers_without_ids_find_their_calls(turns):
    whole = [message for place, tools in enumerate(turns) for message in turn(tools, 10 * place)]
    assert with_call_ids(whole) == tuple(whole)
    bare = [
        replace(each, answers="", tool="", calls=tuple(replace(call, id="") for call in each.calls)) for each in whole
    ]
    found = with_call_ids(bare)
    assert not turns or list(Transcript(found).problems()) == []
    # Which call an answer belongs to is told by its text.
    calls = [call.id for message in whole for call in message.calls]
    given_ids = [call.id for message in found for call in message.calls]
    assert {each.text: each.answers for each in found if each.role == "tool"} == dict(
        zip(calls, given_ids, strict=True)
    )


def test_an_answer_that_names_its_tool_does_not_take_the_call_of_another():
    calls = Message("assistant", calls=(ToolCall("", "a", "{}"), ToolCall("", "b", "{}")))
    _, one, two = with_call_ids([calls, Message("tool", tool="b"), Message("tool", tool="a")])
    assert (one.answers, two.answers) == ("call-2", "call-1")


def test_an_answer_to_nothing_stays_one():
    messages = (Message("tool", "x", answers="c9"), Message("tool", "y"))
    assert with_call_ids(messages) == messages
