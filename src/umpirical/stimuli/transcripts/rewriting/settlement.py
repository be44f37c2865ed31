"""What a rewriting came to, and how much asking it may take."""

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Attempt, GivenLabel, Stimulus
from umpirical.domain.transcripts import Message as TranscriptMessage
from umpirical.domain.transcripts import Transcript
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.stimuli.asks import Ask
from umpirical.stimuli.transcripts.rewriting.commissions import Rewriting, RewritingRole, numbered
from umpirical.stimuli.transcripts.rewriting.edits import (
    LONGEST_CHANGE,
    Step,
    edit_schema,
    editable,
    editor_prompt,
    plan_schema,
    planner_prompt,
)
from umpirical.stimuli.transcripts.rewriting.rewriting import (
    Dropped,
    Rewritten,
    Stage,
    Summary,
    Vote,
    about_original,
    agreed,
    rewrite,
    summary_prompt,
    verifier_prompt,
    vote_schema,
)

# Settlement of an attempt at rewriting: a stimulus with its evidence, or a rejection for a reason that is counted.


STATUS = "level of the original"
"""The evidence of what verifiers agreed that the original deserves, for an item with more than two labels."""


def attempt(commission: Rewriting, number: int) -> Generator[Ask, Response, Attempt]:
    return settled(commission, number, (yield from rewrite(commission, number)))


def settled(commission: Rewriting, number: int, outcome: Rewritten | Dropped) -> Attempt:
    stimulus = _stimulus(commission, number, outcome) if isinstance(outcome, Rewritten) else None
    return Attempt(
        commission=commission.id,
        test=commission.test,
        number=number,
        temperature=commission.terms.temperature(number),
        text="" if outcome.transcript is None else outcome.transcript.text,
        checks=outcome.checks,
        opinions=tuple(vote.word for vote in outcome.votes),
        rejected=f"{outcome.stage}: {outcome.words}" if isinstance(outcome, Dropped) else "",
        stimulus=stimulus,
    )


def stage_of(rejected: Attempt) -> Stage | None:
    """Returns the stage at which an attempt was dropped; None if it was not."""
    stages: tuple[Stage, ...] = get_args(Stage)
    return next((stage for stage in stages if rejected.rejected.startswith(f"{stage}: ")), None)


def is_final(rejected: Attempt) -> bool:
    """Whether another attempt would end in the same way: what is wrong with the original stays wrong."""
    return stage_of(rejected) == "original"


def _stimulus(commission: Rewriting, number: int, made: Rewritten) -> Stimulus:
    source, terms = commission.source, commission.terms
    evidence = {f"check {result.check}": result.found for result in made.checks}
    evidence |= {
        "commission": commission.id,
        "planner": f"{terms.planner.model}, temperature {terms.temperature(number):g}, attempt {number + 1}",
        "editor": terms.editor.model,
        "steps": json.dumps([[step.message, step.change, step.repair] for step in made.steps], ensure_ascii=False),
        "share of characters changed": f"{made.share:.4f}",
        "verdicts on the original": _verdicts(commission, made.original),
        "verdicts": _verdicts(commission, made.votes),
        "item": commission.aimed_at,
    }
    # Of two labels, the one that is not the target is that of the original.
    if commission.item.scale.kind == "ordinal" and (status := agreed(made.original, agree=terms.agree)) is not None:
        evidence[STATUS] = status
    return Stimulus(
        task_id=source.task_id,
        task=source.task,
        candidates=(made.transcript.text,),
        expectation=GivenLabel(commission.target),
        maker=commission.maker,
        family=commission.test,
        stratum=commission.aimed_at,
        parent=source.id,
        gold=commission.target,
        gold_from="construction",
        evidence=evidence,
        strata=source.strata,
        columns=source.columns,
    )


def _verdicts(commission: Rewriting, votes: Sequence[Vote]) -> str:
    """Returns who said what, so that a reader sees whether a fallback decided."""
    writers = {role: commission.terms.writer(role).model for role in commission.terms.roles}
    return "; ".join(f"{writers[vote.by]}: {vote.word}" for vote in votes)


# Demand: how many questions a commission takes at least and at most, and the longest that each can be.

BYTES_PER_TOKEN = 6
"""Most bytes of a token in a text that a model writes."""

BYTES_PER_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class Demand:
    """Questions of one kind."""

    role: RewritingRole
    request: ChatRequest
    """As long as it can be."""
    fewest: int
    """Questions if the first attempt is verified at once, with one step."""
    most: int
    """Questions if every attempt goes to its end, and every answer is a refusal or a disagreement."""
    shared: str = ""
    """Commissions that share a demand of this name make it once; empty for a demand of its own."""


def demands(commission: Rewriting, *, tried: int = 0) -> Iterator[Demand]:
    """Yields what the attempts that are left may ask, by kind. Nothing if the original is no sound transcript."""
    try:
        original = commission.transcript
    except ValueError:
        return
    if next(original.problems(), "") or not editable(original):
        return
    terms, attempts = commission.terms, commission.terms.attempts - tried
    edits = attempts * _edits(commission)
    grown = _grown(commission)
    # What was said about the original is known once an attempt was made.
    if not tried:
        for demand in _verdict_demands(commission, original, fewest=terms.agree, most=terms.votes):
            yield replace(demand, shared=f"{demand.role} {about_original(commission)}")
    yield Demand("planner", _planner_request(commission), 1, attempts)
    summary = summary_prompt(Summary(_longest(commission, "summariser")), grown.messages)
    yield Demand("summariser", _request(commission, "summariser", summary), 0, edits)
    yield Demand("editor", _editor_request(commission), 1, edits)
    yield from _verdict_demands(commission, grown, fewest=terms.agree, most=attempts * terms.votes)


def _verdict_demands(commission: Rewriting, transcript: Transcript, *, fewest: int, most: int) -> Iterator[Demand]:
    prompt, schema = verifier_prompt(commission, transcript), vote_schema(commission.rubric, commission.item)
    yield Demand("verifier", _request(commission, "verifier", prompt, schema), fewest, most)
    if commission.terms.fallback is not None:
        yield Demand("fallback", _request(commission, "fallback", prompt, schema), 0, most)


def _planner_request(commission: Rewriting) -> ChatRequest:
    schema = plan_schema(commission.transcript, most=commission.terms.most_steps)
    return _request(commission, "planner", planner_prompt(commission), schema)


def _editor_request(commission: Rewriting) -> ChatRequest:
    """The message that takes most to show, with as much before it as there can be, and as much after it."""
    original, terms = commission.transcript, commission.terms
    number = max(editable(original), key=lambda place: len(_shown_alone(commission, place).encode()))
    following = max(len(numbered([message]).encode()) for message in original.messages)
    after = TranscriptMessage("assistant", "x" * max(following, len(_longest(commission, "editor"))))
    draft = Transcript((*original.messages[:number], after))
    before = "x" * max(BYTES_PER_CHARACTER * terms.verbatim, len(_longest(commission, "summariser")))
    step = Step(number, "x" * (BYTES_PER_CHARACTER * LONGEST_CHANGE))
    prompt = editor_prompt(commission, draft, step, before=before)
    return _request(commission, "editor", prompt, edit_schema(original.messages[number - 1], number))


def _shown_alone(commission: Rewriting, number: int) -> str:
    until = Transcript(commission.transcript.messages[:number])
    message = until.messages[number - 1]
    return editor_prompt(commission, until, Step(number, ""), before="") + edit_schema(message, number)


def _grown(commission: Rewriting) -> Transcript:
    """The original with as much besides as editors can have added."""
    added = TranscriptMessage("assistant", _longest(commission, "editor") * _edits(commission))
    return Transcript((*commission.transcript.messages, added))


def _edits(commission: Rewriting) -> int:
    """The most edits of one attempt: no message is edited twice."""
    terms = commission.terms
    return min(terms.most_steps + terms.most_repairs, len(editable(commission.transcript)))


def _longest(commission: Rewriting, role: RewritingRole) -> str:
    return "x" * (commission.terms.writer(role).max_tokens * BYTES_PER_TOKEN)


def _request(commission: Rewriting, role: RewritingRole, prompt: str, schema: str = "") -> ChatRequest:
    writer = commission.terms.writer(role)
    return ChatRequest(writer.model, (Message("user", prompt),), Decoding(max_tokens=writer.max_tokens), schema)
