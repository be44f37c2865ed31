"""One attempt at rewriting a transcript, through all stages: settled, planned, edited, checked, verified or dropped.

A protocol without I/O: it yields what is to be asked and is sent what came back. Its driver takes care of money,
records and repetition. Whatever fails at any stage is dropped with the reason, and never becomes a stimulus.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from umpirical.domain.digests import digest
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import CheckResult
from umpirical.domain.transcripts import Transcript
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.stimuli.asks import Ask
from umpirical.stimuli.transcripts.rewriting.answers import Unusable, written
from umpirical.stimuli.transcripts.rewriting.coherence import checks, dependents
from umpirical.stimuli.transcripts.rewriting.commissions import Rewriting, RewritingRole
from umpirical.stimuli.transcripts.rewriting.edits import (
    Edit,
    edit_schema,
    editor_prompt,
    edits_between,
    read_edit,
    replaced,
    share_changed,
)
from umpirical.stimuli.transcripts.rewriting.plan import (
    EDITABLE,
    LONGEST_CHANGE,
    Step,
    plan_schema,
    planner_prompt,
    read_plan,
    repair,
)
from umpirical.stimuli.transcripts.rewriting.questions import mark_of
from umpirical.stimuli.transcripts.rewriting.summary import Summary, summary_prompt, what_came_before
from umpirical.stimuli.transcripts.rewriting.verification import Vote, agreed, verifying

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
            raise _Drop(Dropped("original", "the original is no transcript", str(error))) from None
        if problem := next(original.problems(), ""):
            raise _Drop(Dropped("original", "the original is not sound", problem))
        if not any(message.role in EDITABLE for message in original.messages):
            raise _Drop(Dropped("original", "the original has no message of the agent's"))
        return original

    def _settled(self, original: Transcript) -> Generator[Ask, Response, tuple[Vote, ...]]:
        """Asks what the original deserves: a change is one only if it is known what was there before."""
        votes = yield from self._votes(original, about_original(self.commission))
        status = agreed(votes, agree=self.terms.agree)
        if status is None:
            raise _Drop(Dropped("original", "the verifiers do not agree on the original", _said(votes), votes=votes))
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
            detail = f"{len(left)} messages, at most {self.terms.most_repairs}"
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
        request = ChatRequest(writer.model, (Message("user", prompt),), decoding, schema)
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
        raise _Drop(Dropped(stage, f"the {stage}'s answer is of no use ({cause})", detail, draft)) from None


def _not_verified(votes: Sequence[Vote]) -> str:
    if all(vote.status is None for vote in votes):
        return "the verifiers gave no verdict"
    return "the verifiers do not confirm the target"


def _said(votes: Sequence[Vote]) -> str:
    return ", ".join(vote.word if vote.by == "verifier" else f"{vote.word} by the fallback" for vote in votes)
