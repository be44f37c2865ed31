"""Transcripts: recognised, compared message by message, and edited without breaking them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.domain.transcripts import Message, ToolCall, Transcript
from umpirical.review.desk import ItemView
from umpirical.review.web.item_screen import InvalidEdit, edited, item_screen, pair_messages, parts_of, read_transcript
from umpirical.review.web.requests import from_editor, to_editor

from . import samples

WORDS = st.text(max_size=12)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool"])},
        optional={
            "content": st.none() | WORDS | st.lists(st.fixed_dictionaries({"text": WORDS})),
            "reasoning": st.none() | WORDS | st.fixed_dictionaries({"text": WORDS}),
            "error": WORDS,
            "attachments": st.lists(WORDS),
            "weight": st.integers(),
            "tool_calls": st.lists(
                st.fixed_dictionaries({"function": WORDS, "arguments": st.dictionaries(WORDS, st.integers())})
                | st.fixed_dictionaries({"function": st.fixed_dictionaries({"name": WORDS, "arguments": WORDS})})
            ),
        },
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize(
    "text",
    [
        "", "words", "[", "[]", "[1]", '{"role": "user"}', '[{"content": "no role"}]', '[{"role": 3}]',
        '[{"role": "user"}, "words"]', "[" * 100_000, '[{"role": "user", "content": NaN}]',
    ],
)  # fmt: skip
def test_what_is_no_list_of_messages_is_a_text(text):
    assert read_transcript(text) is None


def test_whatever_a_judge_reads_of_a_transcript_is_on_a_card():
    message = Message(
        "tool", "text", "thought", (ToolCall("c1", "add", '{"x": 1}'),), "c0", "adder", "broken", ("image, 5 bytes",)
    )
    [found] = read_transcript(Transcript((message,)).text)
    parts = {part.name: part.text for part in parts_of(found)}
    assert list(parts) == ["reasoning", "content", "error", "attachments", "call0"]
    assert json.loads(parts["attachments"]) == ["image, 5 bytes"]
    # A field that the domain gets is shown, or is a name or an id.
    assert set(message.as_json()) - set(parts) == {"role", "name", "tool_call_id", "tool_calls"}


@pytest.mark.parametrize(("field", "typed", "value"), [("reasoning", "new", "new"), ("attachments", '["x"]', ["x"])])
def test_whatever_a_message_says_can_be_edited(field, typed, value):
    before = [{"role": "assistant", "reasoning": "old", "attachments": ["y"], "content": "c"}]
    saved = json.loads(edited(json.dumps(before), {f"m0.{field}": typed}))
    assert saved == [{**before[0], field: value}]


def test_a_list_of_messages_is_a_transcript():
    assert [message["role"] for message in read_transcript(samples.transcript().after)] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]


@settings(deadline=None)
@given(MESSAGES, MESSAGES)
def test_every_message_of_both_has_its_card(before, after):
    cards = pair_messages(before, after)
    assert [card.before for card in cards if card.before is not None] == before
    assert [card.after for card in cards if card.after is not None] == after
    assert [card.number for card in cards if card.number is not None] == list(range(len(after)))


@settings(deadline=None)
@given(MESSAGES, MESSAGES)
def test_no_change_stays_unseen(before, after):
    seen_to_differ(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"role": "user"}, {"role": "tool"}),
        ({"role": "user", "id": 1}, {"role": "user", "id": True}),
        ({"role": "user", "content": [1]}, {"role": "user", "content": [True]}),
        ({"role": "user", "tool_calls": [{"arguments": "1"}]}, {"role": "user", "tool_calls": [{"arguments": "1 "}]}),
        ({"role": "user", "tool_calls": [{"function": "a"}]}, {"role": "user", "tool_calls": [{"function": "b"}]}),
    ],
)
def test_a_change_in_an_odd_place_is_seen(before, after):
    seen_to_differ([before], [after])


def seen_to_differ(before, after):
    item = samples.paraphrase(before=json.dumps(before), after=json.dumps(after))
    screen = item_screen(ItemView(item, (), None, ()))
    for shown in screen.cards:
        kinds = {piece.kind for block in shown.blocks for piece in block.pieces}
        assert shown.card.kind != "changed" or kinds - {"same"}
    texts = [json.dumps(messages, sort_keys=True) for messages in (before, after)]
    assert any(shown.is_open for shown in screen.cards) == (texts[0] != texts[1])


@settings(deadline=None)
@given(MESSAGES)
def test_saved_as_it_was_shown_nothing_is_changed(messages):
    for text in (json.dumps(messages), json.dumps(messages, indent=2, ensure_ascii=False)):
        fields = {
            f"m{number}.{part.name}": to_editor(part.text)
            for number, message in enumerate(messages)
            for part in parts_of(message)
        }
        assert edited(text, fields) == text


@given(WORDS)
def test_words_come_back_from_the_editor_as_they_were_typed(words):
    text = json.dumps([{"role": "user", "content": "?"}])
    [message] = json.loads(edited(text, {"m0.content": to_editor(words)}))
    assert message["content"] == words


@given(st.text())
def test_what_an_editor_holds_stands_for_the_text(text):
    assert from_editor(to_editor(text)) == text


@pytest.mark.parametrize("nested", [True, False])
def test_the_arguments_of_a_call_are_edited_as_json(nested):
    text = samples.transcript(nested=nested).after
    saved = json.loads(edited(text, {"m2.call0": '{"query": "parcels"}'}))
    call = saved[2]["tool_calls"][0]
    arguments = json.loads(call["function"]["arguments"]) if nested else call["arguments"]
    assert arguments == {"query": "parcels"}
    # Everything else is unchanged.
    unchanged = json.loads(text)
    assert [saved[place] for place in (0, 1, 3, 4)] == [unchanged[place] for place in (0, 1, 3, 4)]


@pytest.mark.parametrize("typed", ["", "{", '{"query": }', "NaN", "{'query': 1}", "[" * 100_000])
@pytest.mark.parametrize("nested", [True, False])
def test_arguments_that_are_no_json_are_refused(nested, typed):
    with pytest.raises(InvalidEdit, match="Message 3, search"):
        edited(samples.transcript(nested=nested).after, {"m2.call0": typed})


@pytest.mark.parametrize("style", [{}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}])
def test_an_edited_transcript_is_written_like_the_one_before(style):
    messages = [{"role": "user", "content": "é"}, {"role": "assistant", "content": "yes"}]
    text = json.dumps(messages, **style)
    messages[1]["content"] = "no"
    assert edited(text, {"m1.content": "no"}) == json.dumps(messages, **style)


@pytest.mark.parametrize(
    "calls",
    [None, 3, "x", [3], [{}], [{"function": 3}], [{"function": {"arguments": 3}}], [{"arguments": None}]],
)
def test_calls_of_any_shape_can_be_shown(calls):
    text = json.dumps([{"role": "assistant", "tool_calls": calls, "content": None}])
    messages = read_transcript(text)
    assert [part.name for part in parts_of(messages[0])] in ([], ["call0"])
    assert edited(text, {}) == text


def nested(depth):
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("depth", [101, 975, 100_000])
def test_a_transcript_too_deep_to_be_written_again_is_shown_as_a_text(depth):
    text = f'[{{"role": "user", "content": {nested(depth)}}}]'
    assert read_transcript(text) is None
    screen = item_screen(ItemView(samples.paraphrase(after=text), (), None, ()))
    assert (screen.cards, screen.blocks[0].editor) == ((), text)


def test_a_message_is_not_edited_into_one_that_could_not_be_shown():
    text = '[{"role": "user", "content": ["a"]}]'
    assert edited(text, {"m0.content": nested(50)}) == f'[{{"role": "user", "content": {nested(50)}}}]'
    with pytest.raises(InvalidEdit, match="nested too deeply"):
        edited(text, {"m0.content": nested(101)})
    with pytest.raises(InvalidEdit, match="too large a number"):
        edited(text, {"m0.content": "[1e999]"})
