"""One rewriting from its summary to its last vote: what is asked next, and what verifiers said."""

import json
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from umpirical.domain.digests import digest
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import CheckResult
from umpirical.domain.transcripts import Message, Transcript
from umpirical.models.requests import ChatRequest, Decoding
from umpirical.models.requests import Message as ChatMessage
from umpirical.stimuli.asks import Ask
from umpirical.stimuli.generation.checks import chat_around
from umpirical.stimuli.transcripts.rewriting.commissions import (
    Rewriting,
    RewritingRole,
    Rubric,
    RubricItem,
    Unusable,
    json_object,
    mark_of,
    numbered,
    question,
    spelled,
    word,
    written,
)
from umpirical.stimuli.transcripts.rewriting.edits import (
    EDITABLE,
    LONGEST_CHANGE,
    Edit,
    Step,
    checks,
    dependents,
    edit_schema,
    editor_prompt,
    edits_between,
    plan_schema,
    planner_prompt,
    read_edit,
    read_plan,
    repair,
    replaced,
    share_changed,
)
from umpirical.text.json_texts import object_schema

# What an editor reads of everything before a message: all of it if that is short, else a running summary.


NOTHING = "(Nothing came before.)"


@dataclass(frozen=True, slots=True)
class Summary:
    """What was summarised."""

    text: str = ""
    upto: int = 0
    """The number of the last message that it covers; 0 if it covers none."""


def what_came_before(draft: Transcript, number: int, *, verbatim: int) -> str | None:
    """Returns everything before a message; None if that is more than an editor is to read in full."""
    before = numbered(draft.messages[: number - 1])
    if len(before) > verbatim:
        return None
    return before or NOTHING


def summary_prompt(summary: Summary, messages: Sequence[Message]) -> str:
    """Shows the summary so far and the messages since, as they now are."""
    return question(
        "summarise",
        {
            "summary": summary.text or NOTHING,
            "messages": numbered(messages, first=summary.upto + 1),
        },
    )


# Verification: verdicts of a model that sees the rubric and the whole transcript, and neither the plan nor the aim.

Trouble = Literal["unread", "refused", "failed"]
"""Why there is no verdict: the answer could not be read, was refused, or the call failed."""

By = Literal["verifier", "fallback"]

LONGEST_WHY = 1_000


@dataclass(frozen=True, slots=True)
class Vote:
    """What was said about a transcript."""

    status: str | None
    """A label of the item; None if there is no verdict, which agrees with nothing."""
    why: str = ""
    by: By = "verifier"
    trouble: Trouble | None = None
    """Set exactly if there is no verdict."""

    def __post_init__(self) -> None:
        if (self.status is None) != (self.trouble is not None):
            raise ValueError("a vote needs either a verdict or a reason why there is none")

    @property
    def word(self) -> str:
        """The verdict, or why there is none, marked so that it passes for no label."""
        return self.status if self.status is not None else f"({self.trouble})"


@dataclass(frozen=True, slots=True)
class Asked:
    """One verdict that is asked for."""

    by: By
    place: int
    """Which of the votes it is, counted from 0."""
    prompt: str
    schema: str


def verifier_prompt(commission: Rewriting, transcript: Transcript) -> str:
    return question(
        "verify",
        {
            "rubric": commission.rubric.words,
            "transcript": transcript.text,
            "item": commission.item.shown,
            "scale": commission.item.labels,
            "name": json.dumps(commission.item.name, ensure_ascii=False),
        },
    )


def vote_schema(rubric: Rubric, item: RubricItem) -> str:
    """JSON Schema of a verdict. Every item of the rubric may be named, so that an answer about another one shows."""
    return spelled(
        object_schema(
            {
                "item": {"type": "string", "enum": [each.name for each in rubric.items]},
                "why": {"type": "string"},
                "status": {"type": "string", "enum": list(item.scale.labels)},
            }
        )
    )


def verifying(commission: Rewriting, transcript: Transcript) -> Generator[Asked, Response, tuple[Vote, ...]]:
    """Asks for one verdict after the other, until they decide. Where the verifier refuses, its fallback is asked."""
    terms, votes = commission.terms, list[Vote]()
    prompt, schema = verifier_prompt(commission, transcript), vote_schema(commission.rubric, commission.item)
    while not _decided(votes, terms.votes, terms.agree):
        said = read_vote((yield Asked("verifier", len(votes), prompt, schema)), commission.item)
        if said.trouble == "refused" and terms.fallback is not None:
            said = read_vote((yield Asked("fallback", len(votes), prompt, schema)), commission.item, by="fallback")
        votes.append(said)
    return tuple(votes)


def agreed(votes: Sequence[Vote], *, agree: int) -> str | None:
    """Returns the label on which enough votes agree; None if there is none."""
    label, count = _leading(votes)
    return label if count >= agree else None


def read_vote(response: Response, item: RubricItem, *, by: By = "verifier") -> Vote:
    """Returns what was said about an item. Whatever is no verdict on this very item is no vote, and never a pass."""
    if response.text is None:
        declined = response.failure in ("refused", "rejected")
        return Vote(None, response.failure_detail[:LONGEST_WHY], by, "refused" if declined else "failed")
    if response.ending == "refused" or chat_around(response.text).startswith("a refusal"):
        return Vote(None, response.text[:LONGEST_WHY], by, "refused")
    try:
        status, why = _verdict(json_object(written(response)), item)
    except Unusable as problem:
        return Vote(None, str(problem)[:LONGEST_WHY], by, "unread")
    return Vote(status, why[:LONGEST_WHY], by)


def _verdict(found: Mapping[str, Any], item: RubricItem) -> tuple[str, str]:
    """Returns the label that was given, and the reason."""
    if found.keys() != {"item", "status", "why"}:
        raise Unusable("unexpected fields")
    if word(found, "item") != item.name:
        raise Unusable("a verdict on a different item")
    # A label of figures may be a JSON number.
    number = type(found["status"]) is int
    status = str(found["status"]) if number else word(found, "status")
    alike = [label for label in item.scale.labels if label.casefold() == status.casefold()]
    if status not in alike and len(alike) != 1:
        raise Unusable(f"unknown verdict: {status[:60]!r}")
    return status if status in alike else alike[0], word(found, "why")


def _decided(votes: Sequence[Vote], most: int, agree: int) -> bool:
    _, count = _leading(votes)
    return count >= agree or count + most - len(votes) < agree


def _leading(votes: Sequence[Vote]) -> tuple[str, int]:
    counts = Counter(vote.status for vote in votes if vote.status is not None)
    return counts.most_common(1)[0] if counts else ("", 0)


# One attempt at rewriting a transcript, through all stages: settled, planned, edited, checked, verified or dropped.
#
# A protocol without I/O: it yields what is to be asked and is sent what came back. Its driver takes care of money,
# records and repetition. Whatever fails at any stage is dropped with the reason, and never becomes a stimulus.

Stage = Literal["original", "planner", "summariser", "editor", "coherence", "verifier"]

Asking = Generator[Ask, Response, "Rewritten | Dropped"]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A transcript that passed every check and was verified."""

    transcript: Transcript
    steps: tuple[Step, ...]
    """What was planned, and what was repaired because it depended on that."""
    edits: tuple[Edit, ...]
    """Every message that changed, with its diff."""
    share: float
    """The share of characters that were changed, from 0 to 1: the smaller, the closer to the original."""
    checks: tuple[CheckResult, ...]
    original: tuple[Vote, ...]
    """What was said about the original."""
    votes: tuple[Vote, ...]
    """What was said about the result."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """An attempt that came to nothing."""

    stage: Stage
    """Where it ended. If that is the original, another attempt would end there too."""
    reason: str
    """The same words for the same cause, so that they can be counted."""
    detail: str = ""
    transcript: Transcript | None = None
    """As far as it was rewritten; None if nothing was."""
    checks: tuple[CheckResult, ...] = ()
    votes: tuple[Vote, ...] = ()
    """What was said at the stage where it ended."""

    @property
    def words(self) -> str:
        """Why it was dropped; what comes before the colon is the same for the same cause."""
        return (f"{self.reason}: {self.detail}" if self.detail else self.reason)[:1000]


def rewrite(commission: Rewriting, number: int) -> Asking:
    """Attempt `number` at a commission, counted from 0.

    A failure that may pass must not be sent in: the attempt is then abandoned, and made again another time.
    """
    try:
        return (yield from _Attempt(commission, number).made())
    except _Drop as drop:
        return drop.dropped


class _Drop(Exception):
    """Ends an attempt, however deep in its stages."""

    def __init__(self, dropped: Dropped) -> None:
        super().__init__(dropped.words)
        self.dropped = dropped


@dataclass
class _Attempt:
    """One attempt and what it has come to so far."""

    commission: Rewriting
    number: int

    def __post_init__(self) -> None:
        self.terms = self.commission.terms
        self.temperature = self.terms.temperature(self.number)
        self.asked = 0

    def made(self) -> Generator[Ask, Response, Rewritten]:
        original = self._sound()
        settled = yield from self._settled(original)
        plan = yield from self._planned(original)
        draft, plan = yield from self._edited(original, plan)
        results = checks(original, draft, [step.message for step in plan])
        if failed := [result for result in results if not result.passed]:
            detail = "; ".join(f"{result.check}: {result.found}" for result in failed)
            raise _Drop(Dropped("coherence", f"check {failed[0].check}", detail, draft, results))
        votes = yield from self._votes(draft, f"{self.commission.id} attempt {self.number}")
        if agreed(votes, agree=self.terms.agree) != self.commission.target:
            raise _Drop(Dropped("verifier", _not_verified(votes), _said(votes), draft, results, votes))
        edits, share = edits_between(original, draft), share_changed(original, draft)
        return Rewritten(draft, plan, edits, share, results, settled, votes)

    # Before anything is paid for.

    def _sound(self) -> Transcript:
        try:
            original = self.commission.transcript
        except ValueError as error:
            raise _Drop(Dropped("original", "the original is not a transcript", str(error))) from None
        if problem := next(original.problems(), ""):
            raise _Drop(Dropped("original", "the original is not consistent", problem))
        if not any(message.role in EDITABLE for message in original.messages):
            raise _Drop(Dropped("original", "the original has no message by the agent"))
        return original

    def _settled(self, original: Transcript) -> Generator[Ask, Response, tuple[Vote, ...]]:
        """Asks what the original deserves: a change is one only if it is known what was there before."""
        votes = yield from self._votes(original, about_original(self.commission))
        status = agreed(votes, agree=self.terms.agree)
        if status is None:
            raise _Drop(Dropped("original", "the verifiers disagree about the original", _said(votes), votes=votes))
        if not self.commission.leads_on(status):
            reason = f"the original is not {self.commission.opposite} than the target"
            raise _Drop(Dropped("original", reason, f"{status}, by {_said(votes)}", votes=votes))
        return votes

    def _planned(self, original: Transcript) -> Generator[Ask, Response, tuple[Step, ...]]:
        schema = plan_schema(original, most=self.terms.most_steps)
        said = yield self._ask("planner", planner_prompt(self.commission), schema)
        with _as_drop("planner"):
            return read_plan(written(said), original, most=self.terms.most_steps)

    # Message by message.

    def _edited(
        self, original: Transcript, plan: tuple[Step, ...]
    ) -> Generator[Ask, Response, tuple[Transcript, tuple[Step, ...]]]:
        """Follows the plan, and repairs once what it left behind in later messages."""
        draft = yield from self._followed(original, plan)
        repairs = self._repairs(original, draft, plan)
        draft = yield from self._followed(draft, repairs)
        return draft, tuple(sorted((*plan, *repairs), key=lambda step: step.message))

    def _followed(self, draft: Transcript, steps: tuple[Step, ...]) -> Generator[Ask, Response, Transcript]:
        summary = Summary()
        for step in steps:
            before = what_came_before(draft, step.message, verbatim=self.terms.verbatim)
            if before is None:
                summary = yield from self._summarised(draft, summary, step.message - 1)
                before = summary.text
            prompt = editor_prompt(self.commission, draft, step, before=before)
            said = yield self._ask("editor", prompt, edit_schema(draft.messages[step.message - 1], step.message))
            with _as_drop("editor", draft):
                text = written(said)
                if mark_of(prompt) in text:
                    raise Unusable("marks of its prompt")
                draft = replaced(draft, step.message, read_edit(text, draft, step.message))
        return draft

    def _summarised(self, draft: Transcript, summary: Summary, upto: int) -> Generator[Ask, Response, Summary]:
        said = yield self._ask("summariser", summary_prompt(summary, draft.messages[summary.upto : upto]))
        with _as_drop("summariser", draft):
            return Summary(written(said).strip(), upto)

    def _repairs(self, original: Transcript, draft: Transcript, plan: tuple[Step, ...]) -> tuple[Step, ...]:
        """Returns the steps that bring later messages up to date. Drops what cannot be repaired."""
        left, planned = dependents(original, draft), {step.message for step in plan}
        for number, values in left.items():
            why = ""
            if number in planned:
                why = "was edited, and still has"
            elif draft.messages[number - 1].role not in EDITABLE:
                why = "is not the agent's, and has"
            if why:
                detail = f"message {number} {why} {', '.join(values)}"
                raise _Drop(Dropped("coherence", "a later message cannot be repaired", detail, draft))
        if len(left) > self.terms.most_repairs:
            detail = f"{len(left)} messages; the limit is {self.terms.most_repairs}"
            raise _Drop(Dropped("coherence", "too many later messages depend on the edits", detail, draft))
        repairs = tuple(repair(number, values) for number, values in left.items())
        if any(len(step.change) > LONGEST_CHANGE for step in repairs):
            raise _Drop(Dropped("coherence", "too much of a later message depends on the edits", "", draft))
        return repairs

    # Questions.

    def _votes(self, transcript: Transcript, about: str) -> Generator[Ask, Response, tuple[Vote, ...]]:
        protocol = verifying(self.commission, transcript)
        try:
            asked = next(protocol)
            while True:
                place = f"{about} vote {asked.place}"
                decoding = self._decoding(asked.by, self.terms.verifier_temperature, place)
                asked = protocol.send((yield self._ask_at(asked.by, place, asked.prompt, decoding, asked.schema)))
        except StopIteration as end:
            votes: tuple[Vote, ...] = end.value
            return votes

    def _ask(self, role: RewritingRole, prompt: str, schema: str = "") -> Ask:
        self.asked += 1
        place = f"{self.commission.id} attempt {self.number} question {self.asked}"
        return self._ask_at(role, place, prompt, self._decoding(role, self.temperature, place), schema)

    def _ask_at(self, role: RewritingRole, place: str, prompt: str, decoding: Decoding, schema: str) -> Ask:
        writer = self.terms.writer(role)
        request = ChatRequest(writer.model, (ChatMessage("user", prompt),), decoding, schema)
        return Ask(digest("rewriting call", [role, writer.endpoint, place, request.payload()]), role, request)

    def _decoding(self, role: RewritingRole, temperature: float, place: str) -> Decoding:
        # Every question has its own seed, so that a second one at the same temperature does not repeat the first.
        seed = int(digest("rewriting seed", [role, place])[:7], 16)
        return Decoding(temperature, max_tokens=self.terms.writer(role).max_tokens, seed=seed)


def about_original(commission: Rewriting) -> str:
    """Returns what names the questions about an original: they depend on neither the objective nor the attempt.

    So they are asked once for all commissions that want something made of the same transcript, under the same item.
    """
    return digest("original", [commission.source.candidates[0], commission.rubric.as_json(), commission.aimed_at])


@contextmanager
def _as_drop(stage: Stage, draft: Transcript | None = None) -> Iterator[None]:
    """Drops the attempt if an answer is of no use."""
    try:
        yield
    except Unusable as problem:
        cause, _, detail = str(problem).partition(": ")
        raise _Drop(Dropped(stage, f"cannot use the {stage}'s answer ({cause})", detail, draft)) from None


def _not_verified(votes: Sequence[Vote]) -> str:
    if all(vote.status is None for vote in votes):
        return "the verifiers gave no verdict"
    return "the verifiers do not confirm the target"


def _said(votes: Sequence[Vote]) -> str:
    return ", ".join(vote.word if vote.by == "verifier" else f"{vote.word} by the fallback" for vote in votes)
