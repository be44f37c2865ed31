"""Runs of an agent, drawn at random and sound."""

import json

from hypothesis import strategies as st

from umpirical.domain.transcripts import Message, ToolCall, Transcript

TOOLS = ("find_room", "book_room", "check_price", "send_mail")

words = st.text("abcdefgh ,.", min_size=1, max_size=30)
figures = st.integers(1, 9_999).map(str)


@st.composite
def transcripts(draw, *, least=3):
    """A run with at least `least` calls, some of them in one message, that ends with a closing message."""
    messages = [Message("system", draw(words)), Message("user", f"Please do it for {draw(figures)} people.")]
    returned, number = [], 0
    for _ in range(draw(st.integers(least, least + 4))):
        calls, results = [], []
        for _ in range(draw(st.sampled_from((1, 1, 2)))):
            number += 1
            tool, figure = draw(st.sampled_from(TOOLS)), draw(figures)
            returned.append(figure)
            calls.append(ToolCall(f"c{number}", tool, json.dumps({"n": number})))
            results.append(Message("tool", f"{tool}: {figure} euros", answers=f"c{number}", tool=tool))
        messages += [Message("assistant", draw(st.sampled_from(("", "I look."))), calls=tuple(calls)), *results]
    said = " and ".join(draw(st.lists(st.sampled_from(returned), min_size=1, max_size=3, unique=True)))
    messages.append(Message("assistant", f"It comes to {said} euros."))
    return Transcript(tuple(messages), name=f"run-{draw(st.integers(0, 999))}")
