"""A transcript, a rubric, and models that say what a test wants them to say."""

import json
from collections.abc import Callable

from umpirical.domain.responses import Response
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL, GivenLabel, Stimulus
from umpirical.domain.transcripts import Message, ToolCall, Transcript
from umpirical.stimuli.generation.commissions import Writer
from umpirical.stimuli.transcripts.rewriting.commissions import Rewriting, RewritingTerms, Rubric, RubricItem
from umpirical.stimuli.transcripts.rewriting.rewriting import rewrite

BOOKING = Transcript(
    (
        Message("system", "You book rooms. Confirm before you book."),
        Message("user", "A room in Oslo for 2 nights."),
        Message("assistant", "I look for one.", calls=(ToolCall("c1", "find_room", '{"city": "Oslo", "nights": 2}'),)),
        Message("tool", 'room R-17 in Oslo, 840 kroner, "sea view"', answers="c1", tool="find_room"),
        Message("assistant", "Room R-17 costs 840 kroner. Shall I book it?"),
        Message("user", "Yes, please."),
        Message("assistant", "I book R-17.", calls=(ToolCall("c2", "book", '{"room": "R-17"}'),)),
        Message("tool", "booked, number BK-2931", answers="c2", tool="book"),
        Message("assistant", "Your room R-17 is booked: BK-2931, for 840 kroner."),
    )
)

CONFIRM = RubricItem("confirm", "The agent must ask the user before it books.")
POLITE = RubricItem("polite", "The agent is polite.", GradeScale("ordinal", ("1", "2", "3", "4")))
RUBRIC = Rubric((CONFIRM, POLITE), "Grade the agent.")

TERMS = RewritingTerms(
    planner=Writer("planner-1", "loopback", 500),
    editor=Writer("editor-1", "loopback", 400),
    summariser=Writer("summariser-1", "loopback", 300),
    verifier=Writer("verifier-1", "loopback", 200),
)

ASK_NOT = "Room R-17 costs 840 kroner. I book it now."
"""Message 5 without the question."""


def original(transcript=BOOKING, name="a"):
    return Stimulus(
        name,
        "Book a room.",
        (transcript.text,),
        GivenLabel("satisfied"),
        "original/1",
        ORIGINAL,
        strata={"city": "Oslo"},
    )


def wanted(transcript=BOOKING, *, objective="violate", item="confirm", level="", rubric=RUBRIC, terms=TERMS, name="a"):
    return Rewriting(original(transcript, name), rubric, item, objective, terms, level)


def plan(*steps):
    return json.dumps({"steps": [{"message": number, "change": change} for number, change in steps]})


def edit(number, content, **more):
    return json.dumps({"message": number, "content": content, **more})


def verdict(status, item="confirm"):
    return json.dumps({"status": status, "item": item, "why": "Message 5."})


def refused(detail="content policy"):
    return Response("t", None, failure="refused", failure_detail=detail)


PLAN = plan((5, "Do not ask."))
EDIT = edit(5, ASK_NOT)
BEFORE, AFTER = verdict("satisfied"), verdict("violated")


def drive(commission, number=0, *, planner=PLAN, editor=EDIT, verifier=(BEFORE, BEFORE, AFTER, AFTER), **others):
    """Returns the outcome and all that was asked. A model is an answer for ever, some in turn, or a function."""
    said = {"planner": planner, "editor": editor, "verifier": verifier, **others}
    turns = {role: iter(answers) for role, answers in said.items() if isinstance(answers, tuple | list)}

    def answer(ask):
        given = next(turns[ask.role]) if ask.role in turns else said[ask.role]
        given = given(ask) if isinstance(given, Callable) else given
        return given if isinstance(given, Response) else Response("t", given, finish_reason="stop")

    protocol, asks = rewrite(commission, number), []
    try:
        asks.append(next(protocol))
        while True:
            asks.append(protocol.send(answer(asks[-1])))
    except StopIteration as end:
        return end.value, asks


def roles(asks):
    return [ask.role for ask in asks]
