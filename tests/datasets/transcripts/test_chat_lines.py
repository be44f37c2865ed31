"""JSON Lines of chat messages, in every form that programs write them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.datasets.transcripts.chat import chat_messages, read_messages
from umpirical.datasets.transcripts.files import read_transcripts
from umpirical.datasets.transcripts.sources import TranscriptLimits, TranscriptSource
from umpirical.domain.errors import ConfigError
from umpirical.domain.transcripts import Message, ToolCall, Transcript

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"x":1}'}}


def lines(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def said(part):
    return {"role": "user", "content": [part]}


def called(call):
    return {"role": "assistant", "tool_calls": [call]}


def in_process(path, **more):
    """Reads in this process, which is faster; returns transcripts and notes."""
    notes = []
    return list(read_messages(TranscriptSource(path, path.name, **more), notes.append)), notes


def test_a_file_is_read_with_names_strata_and_columns(tmp_path):
    file = lines(
        tmp_path / "runs.jsonl",
        {
            "id": "first",
            "metadata": {"level": 3, "rubric": "Be kind."},
            "split": "test",
            "messages": [
                {"role": "developer", "content": "Add."},
                {"role": "user", "content": [{"type": "text", "text": "1+2?"}, {"type": "text", "text": "Now."}]},
                {"role": "assistant", "content": None, "reasoning_content": "Easy.", "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c1", "content": "3"},
                {"role": "assistant", "content": "3"},
            ],
        },
        [{"role": "user", "content": "hello"}],
    )
    found = read_transcripts(file, strata=["level", "split"], columns=["rubric"])
    first, second = found.transcripts
    assert first.messages == (
        Message("system", "Add."),
        Message("user", "1+2?\nNow."),
        Message("assistant", reasoning="Easy.", calls=(ToolCall("c1", "add", '{"x": 1}'),)),
        Message("tool", "3", answers="c1", tool="add"),
        Message("assistant", "3"),
    )
    assert (first.name, first.strata, first.columns) == (
        "first",
        {"level": "3", "split": "test"},
        {"rubric": "Be kind."},
    )
    assert (second.name, second.strata, second.columns) == ("runs.jsonl:2", {}, {"rubric": ""})
    assert found.notes == ()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "assistant", "content": None, "refusal": "No."}, Message("assistant", "No.")),
        ({"role": "assistant", "content": "x", "reasoning": "r"}, Message("assistant", "x", reasoning="r")),
        (
            {"role": "assistant", "content": "x", "reasoning": "r", "reasoning_content": "r"},
            Message("assistant", "x", reasoning="r"),
        ),
        (
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "x"}]},
            Message("assistant", "x", reasoning="t"),
        ),
        (
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}],
            },
            Message("user", attachments=("image/png, 5 bytes, sha256 2cf24dba5fb0a30e",)),
        ),
        (
            said({"type": "image_url", "image_url": {"url": "https://a.example/x.png\u202e"}}),
            Message("user", attachments=("image at https://a.example/x.png⟦U+202E⟧",)),
        ),
        (
            {
                "role": "user",
                "content": [{"type": "input_audio", "input_audio": {"data": "aGVsbG8=", "format": "wav"}}],
            },
            Message("user", attachments=("audio, 5 bytes, sha256 2cf24dba5fb0a30e",)),
        ),
        (
            {"role": "assistant", "function_call": {"name": "add", "arguments": '{"x": 1}'}},
            Message("assistant", calls=(ToolCall("call-1", "add", '{"x": 1}'),)),
        ),
        (
            {
                "role": "assistant",
                "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sh", "input": "ls"}}],
            },
            Message("assistant", calls=(ToolCall("c", "sh", "ls"),)),
        ),
        (
            called({"id": "c", "function": "add", "arguments": {"x": 1}}),
            Message("assistant", calls=(ToolCall("c", "add", '{"x": 1}'),)),
        ),
    ],
)
def test_every_form_of_a_message(message, expected):
    assert chat_messages([message])[0] == (expected,)


def test_the_old_form_of_calls_is_answered_in_order():
    messages, _ = chat_messages(
        [
            {"role": "assistant", "function_call": {"name": "a", "arguments": "{}"}},
            {"role": "function", "name": "a", "content": "1"},
            {"role": "assistant", "function_call": {"name": "a", "arguments": "{}"}},
            {"role": "function", "name": "a", "content": "2"},
        ]
    )
    assert [message.answers for message in messages] == ["", "call-1", "", "call-2"]
    assert list(Transcript(messages).problems()) == []


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"id": "x"}, "`messages` is missing"),
        ("text", "expected a list of messages"),
        ([3], "message 1 is not an object"),
        ([{"role": "wizard"}], "unknown role 'wizard'"),
        ([{"role": ["user"]}], "unknown role"),
        ([{"role": "user", "content": [3]}], "neither text nor an object"),
        ([{"role": "assistant", "content": [{"type": "tool_use", "name": "x"}]}], "belongs to another API"),
        ([{"role": "assistant", "tool_calls": {"a": 1}}], "tool_calls must be a list"),
        ([{"role": "assistant", "tool_calls": ["x"]}], "a tool call must be an object"),
        ([{"role": "assistant", "tool_calls": [{"id": "x"}]}], "has no tool name"),
    ],
)
def test_what_is_no_transcript_is_refused_with_its_line(tmp_path, record, message):
    file = lines(tmp_path / "runs.jsonl", [{"role": "user", "content": "fine"}], record)
    with pytest.raises(ConfigError, match=message) as error:
        in_process(file)
    assert error.value.where == "runs.jsonl:2"


def test_what_is_not_read_and_what_cannot_be_is_noted(tmp_path):
    file = lines(
        tmp_path / "runs.jsonl",
        {"id": "a", "messages": [{"role": "user", "content": "x", "weight": 1, "audio": None}]},
        {"id": "b", "messages": []},
        {"id": "c", "messages": [{"role": "tool", "tool_call_id": "c9", "content": "x"}]},
    )
    found = read_transcripts(file)
    assert [each.name for each in found.transcripts] == ["a", "c"]
    assert found.notes == (
        "runs.jsonl: runs.jsonl:2: no messages; excluded",
        "runs.jsonl: c: message 1 answers a tool call that does not exist or was answered before",
        "runs.jsonl: unused message fields, with the number of transcripts that have them: weight (1)",
    )


def test_the_same_id_twice_is_refused(tmp_path):
    record = {"id": "a", "messages": [{"role": "user", "content": "x"}]}
    with pytest.raises(ConfigError, match="two transcripts have this name"):
        read_transcripts(lines(tmp_path / "runs.jsonl", record, record))


def test_a_json_file_is_one_transcript(tmp_path):
    file = tmp_path / "run.json"
    file.write_text(json.dumps([{"role": "user", "content": "x"}], indent=2))
    assert [each.name for each in read_transcripts(file).transcripts] == ["run.json"]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAME = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=6)
ARGUMENTS = st.dictionaries(NAME, st.integers() | TEXT | st.none() | st.booleans(), max_size=3).map(json.dumps)
MESSAGES = st.one_of(
    st.builds(Message, st.sampled_from(["system", "user"]), TEXT, attachments=st.lists(NAME, max_size=2).map(tuple)),
    st.builds(
        Message,
        st.just("assistant"),
        TEXT,
        TEXT,
        st.lists(st.builds(ToolCall, NAME, NAME, ARGUMENTS | TEXT.filter(bool)), max_size=2).map(tuple),
    ),
    st.builds(Message, st.just("tool"), TEXT, answers=NAME, tool=NAME, error=TEXT),
)


@settings(deadline=None)
@given(messages=st.lists(MESSAGES, max_size=6).map(tuple))
def test_what_we_write_ourselves_is_read_back_as_it_was(messages):
    found, unread = chat_messages(json.loads(Transcript(messages).text))
    assert found == messages
    assert unread == set()


PIECES = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"role"',
    b":",
    b'"user"',
    b",",
    b'"messages"',
    b"\n",
    b'"content"',
    b"\\ud800",
    b"1",
]


@settings(deadline=None, max_examples=300)
@given(content=st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=40).map(b"".join))
def test_any_bytes_are_transcripts_or_an_error_with_its_place(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("hostile") / "runs.jsonl"
    path.write_bytes(content)
    found, where = attempted(path)
    assert where.startswith("runs.jsonl")
    assert all(isinstance(each, Transcript) and each.messages for each in found)


def attempted(path):
    """Returns the transcripts, and where it was said that something is wrong."""
    try:
        return in_process(path, limits=TranscriptLimits(depth=5, line=200))[0], path.name
    except ConfigError as error:
        return [], error.where
