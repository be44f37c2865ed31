"""Logs of Inspect's, written by Inspect's own writer."""

from pathlib import Path

from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalError,
    EvalLog,
    EvalResults,
    EvalSample,
    EvalSampleLimit,
    EvalSpec,
    condense_sample,
    write_eval_log,
)
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentData,
    ContentImage,
    ContentReasoning,
    ContentText,
    ContentToolUse,
)
from inspect_ai.tool import ToolCall, ToolCallError

LONG = "The longest line of the manual. " * 200
"""Long enough for Inspect to store it apart, as an attachment."""

PICTURE = "data:image/png;base64,aGVsbG8="


def agent_messages():
    """Every kind of message, with everything that a message may have."""
    return [
        ChatMessageSystem(content="Be careful."),
        ChatMessageUser(content=[ContentText(text="How long is it?"), ContentImage(image=PICTURE)]),
        ChatMessageAssistant(
            content=[ContentReasoning(reasoning="I have to look."), ContentText(text="Looking.")],
            tool_calls=[
                ToolCall(id="c1", function="read", arguments={"path": "manual.txt", "lines": [1, 2]}),
                ToolCall(id="c2", function="run", arguments={"cmd": "ls"}),
            ],
        ),
        ChatMessageTool(content=LONG, tool_call_id="c1", function="read"),
        ChatMessageTool(
            content="", tool_call_id="c2", function="run", error=ToolCallError(type="timeout", message="too slow")
        ),
        ChatMessageAssistant(
            content=[
                ContentText(text="Searching."),
                ContentToolUse(
                    tool_type="web_search", id="w1", name="web_search", arguments='{"query": "x"}', result="found"
                ),
                ContentReasoning(reasoning="gAAAA", redacted=True, summary="A summary."),
                ContentReasoning(reasoning="gBBBB", redacted=True),
                ContentData(data={"a": 1}),
                ContentText(text="Done."),
            ]
        ),
    ]


def sample(name="a", messages=None, *, epoch=1, metadata=None, **more):
    found = EvalSample(
        id=name,
        epoch=epoch,
        input="q",
        target="t",
        messages=agent_messages() if messages is None else messages,
        metadata=metadata or {},
        **more,
    )
    return condense_sample(found)


def failed(name, message="boom"):
    return sample(name, error=EvalError(message=message, traceback="", traceback_ansi=""))


def limited(name):
    return sample(name, limit=EvalSampleLimit(type="token", limit=10))


def write_log(path: Path, samples, *, told=None, status="success") -> Path:
    names = list(dict.fromkeys(each.id for each in samples))
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="arithmetic",
        dataset=EvalDataset(name="d", samples=len(names), sample_ids=names),
        model="none/none",
        config=EvalConfig(epochs=max((each.epoch for each in samples), default=1)),
    )
    count = len(samples) if told is None else told
    results = EvalResults(total_samples=count, completed_samples=count)
    write_eval_log(EvalLog(eval=spec, samples=samples, status=status, results=results), str(path))
    return path
