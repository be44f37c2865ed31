"""Traces as OpenTelemetry's collectors write them."""

import json

import pytest

from umpirical.datasets.transcripts.files import read_transcripts
from umpirical.datasets.transcripts.sources import TranscriptSource
from umpirical.datasets.transcripts.spans import read_spans
from umpirical.domain.errors import ConfigError
from umpirical.domain.transcripts import Message, ToolCall

USER = {"role": "user", "parts": [{"type": "text", "content": "1+2?"}]}
CALL = {
    "role": "assistant",
    "parts": [
        {"type": "reasoning", "content": "Add."},
        {"type": "tool_call", "id": "c1", "name": "add", "arguments": {"x": 1, "y": 2}},
    ],
    "finish_reason": "tool_call",
}
SENT_AGAIN = {"role": "assistant", "parts": CALL["parts"][1:]}
ANSWER = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "3"}]}
LAST = {"role": "assistant", "parts": [{"type": "text", "content": "3"}], "finish_reason": "stop"}
SYSTEM = [{"type": "text", "content": "Be exact."}]

EXPECTED = (
    Message("system", "Be exact."),
    Message("user", "1+2?"),
    Message("assistant", reasoning="Add.", calls=(ToolCall("c1", "add", '{"x": 1, "y": 2}'),)),
    Message("tool", "3", answers="c1", tool="add"),
    Message("assistant", "3"),
)


def typed(value):
    """A value as OTLP writes it."""
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case list():
            return {"arrayValue": {"values": [typed(each) for each in value]}}
        case dict():
            return {"kvlistValue": {"values": attributes(value)}}
        case _:
            return {"stringValue": value}


def attributes(values):
    return [{"key": name, "value": typed(value)} for name, value in values.items()]


def span(start, told, said, *, operation="chat", trace="t1", text=json.dumps, **more):
    return {
        "traceId": trace,
        "spanId": f"s{start}",
        "startTimeUnixNano": str(start),
        "attributes": attributes(
            {
                "gen_ai.operation.name": operation,
                "gen_ai.system_instructions": text(SYSTEM),
                "gen_ai.input.messages": text(told),
                "gen_ai.output.messages": text(said),
                **more,
            }
        ),
    }


def as_it_is(value):
    return value if isinstance(value, str) else json.dumps(value)


def trace(*spans):
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes({"service.name": "agent", "retries": 2})},
                "scopeSpans": [{"scope": {"name": "x"}, "spans": list(spans)}],
            }
        ]
    }


def read(path, document):
    path.write_text(json.dumps(document))
    notes = []
    return list(read_spans(TranscriptSource(path, path.name), notes.append)), notes


AGENT = (
    span(2, [USER, SENT_AGAIN, ANSWER], [LAST], **{"agent.kind": "calculator"}),
    span(1, [USER], [CALL]),
    span(0, [USER], [LAST], operation="invoke_agent"),
)


def test_the_last_call_of_a_model_has_it_all_and_earlier_ones_have_the_thoughts(tmp_path):
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(trace(*AGENT)))
    found = read_transcripts(file, strata=["agent.kind", "retries"], columns=["service.name"])
    [transcript] = found.transcripts
    assert transcript.messages == EXPECTED
    assert transcript.name == "t1"
    assert transcript.strata == {"agent.kind": "calculator", "retries": "2"}
    assert transcript.columns == {"service.name": "agent"}
    assert found.notes == ()


def test_a_trace_may_be_spread_over_lines_and_a_line_may_have_several(tmp_path):
    file = tmp_path / "traces.jsonl"
    other = span(5, [USER], [LAST], trace="t2")
    file.write_text("\n".join(json.dumps(trace(*spans)) for spans in (AGENT[:1], (other, AGENT[1]))))
    found = read_transcripts(file)
    assert [each.name for each in found.transcripts] == ["t1", "t2"]
    assert found.transcripts[0].messages == EXPECTED


def test_values_may_be_structured_instead_of_text(tmp_path):
    spans = [span(1, [USER], [CALL], text=lambda value: value)]
    [transcript], notes = read(tmp_path / "trace.json", trace(*spans))
    assert transcript.messages == EXPECTED[:3]
    assert notes == []


def test_a_call_that_is_no_beginning_of_the_last_one_is_noted(tmp_path):
    stranger = {"role": "user", "parts": [{"type": "text", "content": "Something else."}]}
    spans = [span(1, [stranger], [LAST]), span(2, [USER], [LAST])]
    [transcript], [note] = read(tmp_path / "trace.json", trace(*spans))
    assert [message.text for message in transcript.messages] == ["Be exact.", "1+2?", "3"]
    assert note.startswith("t1: 1 of 2 model calls are excluded")


def test_the_first_of_several_choices_is_read_and_the_others_are_noted(tmp_path):
    [transcript], [note] = read(tmp_path / "trace.json", trace(span(1, [USER], [LAST, CALL])))
    assert transcript.messages == (*EXPECTED[:2], EXPECTED[-1])
    assert note == "t1: the last call has 2 choices; only the first is used"


def test_several_answers_in_one_message_and_what_is_no_text(tmp_path):
    calls = [{"type": "tool_call", "name": name} for name in ("a", "b")]
    answers = [{"type": "tool_call_response", "result": {"n": n}} for n in (1, 2)]
    things = [
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "aGVsbG8="},
        {"type": "uri", "modality": "video", "uri": "gs://bucket/x.mp4"},
        {"type": "file", "modality": "image", "file_id": "f1"},
    ]
    told = [
        {"role": "user", "parts": things},
        {"role": "assistant", "parts": calls},
        {"role": "tool", "parts": answers},
    ]
    [transcript], _ = read(tmp_path / "trace.json", trace(span(1, told, [LAST])))
    _, user, assistant, one, two, _ = transcript.messages
    assert user.attachments == (
        "image/png, 5 bytes, sha256 2cf24dba5fb0a30e",
        "video at gs://bucket/x.mp4",
        "image at f1",
    )
    assert [call.id for call in assistant.calls] == ["call-1", "call-2"]
    assert (one.answers, one.tool, one.text) == ("call-1", "a", '{"n": 1}')
    assert (two.answers, two.tool, two.text) == ("call-2", "b", '{"n": 2}')


def test_older_programs_write_events(tmp_path):
    calls = [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"x": 1, "y": 2}'}}]
    events = [
        ("gen_ai.system.message", {"content": "Be exact."}),
        ("gen_ai.user.message", {"content": "1+2?"}),
        ("gen_ai.assistant.message", {"tool_calls": calls}),
        ("gen_ai.tool.message", {"id": "c1", "content": "3"}),
        ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"content": "3"}}),
    ]
    old = {
        "traceId": "t1",
        "spanId": "s1",
        "attributes": attributes({"gen_ai.operation.name": "chat"}),
        "events": [{"name": name, "attributes": attributes(body)} for name, body in events],
    }
    [transcript], _ = read(tmp_path / "trace.json", trace(old))
    assert [each.as_json() | {"reasoning": ""} for each in transcript.messages] == [
        each.as_json() | {"reasoning": ""} for each in EXPECTED
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"resourceSpans": 3}, "resourceSpans is not a list"),
        ({"resourceSpans": [{}]}, "scopeSpans is not a list"),
        (trace({"traceId": "t", "spanId": "s"}), "none of its 1 spans contains messages"),
        (trace(span(1, 3, [])), "the messages are not a list"),
        (trace(span(1, [{"role": "wizard"}], [])), "unknown role 'wizard'"),
        (trace(span(1, [{"role": "user", "parts": [3]}], [])), "a part of a message is not an object"),
        (trace(span(1, "[" * 100, [], text=as_it_is)), "nested more than 64"),
        (trace(span(1, "{", [], text=as_it_is)), "not valid JSON"),
    ],
)
def test_what_is_no_trace_of_a_model_is_refused(tmp_path, document, message):
    with pytest.raises(ConfigError, match=message) as error:
        read(tmp_path / "trace.json", document)
    assert error.value.where == "trace.json"
