"""Plans: which messages are to change and how, as a planner names them, within bounds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from umpirical.domain.transcripts import Transcript
from umpirical.stimuli.transcripts.rewriting.answers import Unusable, json_object, word
from umpirical.stimuli.transcripts.rewriting.commissions import Objective, Rewriting
from umpirical.stimuli.transcripts.rewriting.questions import numbered, object_schema, question, spelled

EDITABLE = ("assistant", "tool")
"""The roles whose messages may change. What the user and the system said is the task."""

LONGEST_CHANGE = 2_000
"""The most characters of what is to change in a message."""

_AIMS: Mapping[Objective, str] = {
    "violate": "So the agent has to do worse in what this item asks for, and in nothing else.",
    "satisfy": "So the agent has to do better in what this item asks for, and in nothing else.",
}


@dataclass(frozen=True, slots=True)
class Step:
    """One message that is to change."""

    message: int
    """Its number, counted from 1."""
    change: str
    """What is to change in it."""
    repair: bool = False
    """Whether a program asked for it, because the message depended on what another step changed."""


def editable(transcript: Transcript) -> tuple[int, ...]:
    """Returns the numbers of the messages that may be changed."""
    return tuple(number for number, message in enumerate(transcript.messages, 1) if message.role in EDITABLE)


def planner_prompt(commission: Rewriting) -> str:
    return question(
        "plan",
        {
            "rubric": commission.rubric.words,
            "transcript": numbered(commission.transcript.messages),
            "item": commission.item.shown,
            "target": json.dumps(commission.target, ensure_ascii=False),
            "scale": commission.item.labels,
            "aim": _AIMS[commission.objective],
            "most": str(commission.terms.most_steps),
            "numbers": ", ".join(map(str, editable(commission.transcript))),
        },
    )


def plan_schema(transcript: Transcript, *, most: int) -> str:
    """JSON Schema of a plan."""
    step = object_schema(
        {"message": {"type": "integer", "enum": list(editable(transcript))}, "change": {"type": "string"}}
    )
    steps = {"type": "array", "items": step, "minItems": 1, "maxItems": most}
    return spelled(object_schema({"steps": steps}))


def read_plan(text: str, transcript: Transcript, *, most: int) -> tuple[Step, ...]:
    """Returns the steps, in the order of the messages. Raises Unusable for a plan that breaks a bound.

    No plan is cut to fit: one that names too much is no plan for a small change.
    """
    found = json_object(text).get("steps")
    if not isinstance(found, list):
        raise Unusable("no list of steps")
    if not 1 <= len(found) <= most:
        raise Unusable(f"too many steps: {len(found)}, at most {most}" if found else "no step")
    steps = sorted((_step(each, transcript) for each in found), key=lambda step: step.message)
    if len({step.message for step in steps}) < len(steps):
        raise Unusable("a message twice")
    return tuple(steps)


def _step(found: Any, transcript: Transcript) -> Step:  # noqa: ANN401  # a planner may write anything
    if not isinstance(found, dict):
        raise Unusable("a step that is no object")
    number, change = found.get("message"), word(found, "change").strip()
    if type(number) is not int or not 1 <= number <= len(transcript.messages):
        raise Unusable(f"a message that is not there: {number!r} of {len(transcript.messages)}"[:200])
    if (role := transcript.messages[number - 1].role) not in EDITABLE:
        raise Unusable(f"a message that must stay: {number}, of the {role}")
    if not 1 <= len(change) <= LONGEST_CHANGE:
        raise Unusable(f"too long a change: {len(change):,} characters" if change else "a step without a change")
    return Step(number, change)


def repair(number: int, outdated: Sequence[str]) -> Step:
    """Returns the step that brings a message up to date with what was changed before it."""
    values = json.dumps(list(outdated), ensure_ascii=False)
    change = (
        "Earlier messages were changed. This one still has what they no longer say: "
        f"{values}. Change it so that it fits what now comes before it, and has none of that any more."
    )
    return Step(number, change, repair=True)
