"""Demand: how many questions a commission takes at least and at most, and the longest that each can be."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from umpirical.domain.transcripts import Message as TranscriptMessage
from umpirical.domain.transcripts import Transcript
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.stimuli.transcripts.rewriting.commissions import Rewriting, RewritingRole
from umpirical.stimuli.transcripts.rewriting.edits import edit_schema, editor_prompt
from umpirical.stimuli.transcripts.rewriting.plan import LONGEST_CHANGE, Step, editable, plan_schema, planner_prompt
from umpirical.stimuli.transcripts.rewriting.questions import numbered
from umpirical.stimuli.transcripts.rewriting.rewriting import about_original
from umpirical.stimuli.transcripts.rewriting.summary import Summary, summary_prompt
from umpirical.stimuli.transcripts.rewriting.verification import verifier_prompt, vote_schema

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
        for demand in _verdicts(commission, original, fewest=terms.agree, most=terms.votes):
            yield replace(demand, shared=f"{demand.role} {about_original(commission)}")
    yield Demand("planner", _planner_request(commission), 1, attempts)
    yield Demand("summariser", _request(commission, "summariser", _summary_prompt(commission)), 0, edits)
    yield Demand("editor", _editor_request(commission), 1, edits)
    yield from _verdicts(commission, grown, fewest=terms.agree, most=attempts * terms.votes)


def _verdicts(commission: Rewriting, transcript: Transcript, *, fewest: int, most: int) -> Iterator[Demand]:
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


def _summary_prompt(commission: Rewriting) -> str:
    return summary_prompt(Summary(_longest(commission, "summariser")), _grown(commission).messages)


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
