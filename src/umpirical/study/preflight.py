"""The preflight: a few calls that show whether a judge's answers can be read, before the whole run is agreed to.

They are the run's own trials, and their answers are kept in its journal: nothing is asked twice. If a judge gives no
answer, its server's own words are in the message: what to do about it is a guess from them, and the person decides.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Protocol
from urllib.parse import urlsplit

from umpirical.domain.errors import JudgeUnreadable
from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Trial
from umpirical.judges.judge import Judge, Request
from umpirical.judges.object_judge import ObjectRequest
from umpirical.judges.prompt import prompt_text
from umpirical.judges.reply_formats import format_words, guessed_format
from umpirical.judges.spec import JudgeSpec
from umpirical.models.money import FREE, Ledger, Meter, Pricer
from umpirical.models.prices import WorstCase
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import Calling, ModelSpec
from umpirical.runs.judgments import reader_of
from umpirical.runs.loop import run_on_loop
from umpirical.runs.plan import request_for
from umpirical.runs.run import Run
from umpirical.store.batches import trials_in_flight
from umpirical.store.snapshots import snapshot
from umpirical.study.estimate import PlanEstimate, is_unseen
from umpirical.text.inert import plain_address

_STATUS = re.compile(r"\bHTTP (\d{3})\b")

_VERSION = re.compile(r"/v\d+(?:/|$)")

_FORMAT_WORDS = ("response_format", "json_schema", "structured output", "guided", "grammar")
"""Words by which servers name what they are asked for with a constrained answer."""


def address_of(judge: JudgeSpec) -> str:
    """Returns whom a judge asks: the address without a name or a password in it, the model, the program or the code."""
    url = judge.http.url if judge.http else judge.model.base_url if judge.model else None
    return judge.made_of[1] if url is None else plain_address(url)


def remedy(judge: JudgeSpec, failure: Failed) -> str:
    """Returns the one thing to do about a failure that recurs."""
    model = judge.model
    if judge.http and failure.kind == "connection":
        return f"start the endpoint, or correct url: {address_of(judge)} cannot be reached"
    if model is None:
        return "call the judge by hand with a task and candidates, fix the error, then run the same command again"
    found = _STATUS.search(failure.detail)
    status = int(found[1]) if found else None
    again = "then run the same command again; stored answers are reused"
    return f"{_what_to_do(judge, model, failure, status)}, {again}"


def _what_to_do(judge: JudgeSpec, model: ModelSpec, failure: Failed, status: int | None) -> str:
    address = address_of(judge)
    if judge.loads_model and failure.kind != "timeout":
        return "check the engine message above: the folder or name of the model, its model_args, or the memory"
    match failure.kind, status:
        case "connection", _:
            found = f"start the server, or correct base_url: {address} cannot be reached"
        case "timeout", _:
            found = f"use a faster server, or raise the model's timeout above {model.timeout:g} s"
        case "rate-limited", _:
            found = "wait, or lower the concurrency of the study"
        case _, 401 | 403:
            found = _key_remedy(model, address)
        case _, 404 | 405:
            found = _path_remedy(model, address)
        case _, 400 | 422 | 501 if any(words in failure.detail.lower() for words in _FORMAT_WORDS):
            found = "the server does not support JSON schemas: add  answer: {constrained: false}  to the judge"
        case _:
            found = "check that the judge answers and that its key is right"
    return found


def _key_remedy(model: ModelSpec, address: str) -> str:
    if model.api_key_env is None and model.base_url is not None:
        return (
            f"{address} requires a key: put it in an environment variable, and set api_key_env to the name of the "
            "variable"
        )
    variable = model.api_key_env or "the provider's environment variable"
    return f"put a key that {address} accepts into {variable}"


def _path_remedy(model: ModelSpec, address: str) -> str:
    parts = urlsplit(model.base_url or "")
    # An address with a query, such as Azure's, says its version there.
    if model.base_url and not parts.query and not _VERSION.search(parts.path):
        return f"most servers need /v1 at the end: base_url: {address.rstrip('/')}/v1"
    return f"check that {address} is right, and that the model is named {model.name} there"


# The calls, and how their answers are read.


CALLS = 4
"""Most calls of a preflight: enough to tell a judge that is never read from one that sometimes is not."""

GIVE_UP = 2
"""After this many calls without an answer, no further one is made: the server refuses."""

ATTEMPTS = 3
"""Most attempts at a call: a person waits, and what is wrong with a server is rarely mended within seconds."""

LONGEST = 120
"""Characters of an answer that a message shows."""

SHARD = 0
"""The shard that the calls are taken from."""


@dataclass(frozen=True, slots=True)
class PreflightPlan:
    """What is asked of one judge, and what it can cost."""

    run: Run
    pricer: Pricer
    trials: tuple[tuple[Trial, Stimulus], ...]
    calls: int
    """Those that have no answer yet."""
    at_most: Decimal
    """US dollars, for calls with a known price."""
    unseen: bool
    """Whether the price is unknown here."""


@dataclass(frozen=True, slots=True)
class PreflightCall:
    """One call, and how its answer was read."""

    prompt: str
    """What the judge was shown."""
    response: Response
    outcome: Outcome

    @property
    def readable(self) -> bool:
        return isinstance(self.outcome, Verdict | Abstained)


@dataclass(frozen=True, slots=True)
class Preflight:
    """The calls of one judge's preflight."""

    judge: str
    calls: tuple[PreflightCall, ...]
    spec: JudgeSpec

    def check(self) -> None:
        """Raises JudgeUnreadable, with the remedy, if fewer than half of the answers can be read."""
        lost = [call for call in self.calls if not call.readable]
        if not lost or 2 * len(lost) <= len(self.calls):
            return
        counted = f"judge {self.judge}: {len(lost)} of {len(self.calls)} preflight calls"
        if silent := [call.outcome for call in lost if isinstance(call.outcome, Failed)]:
            why = f"{silent[0].kind}: {silent[0].detail}"
            raise JudgeUnreadable(
                f"{counted} got no answer from {address_of(self.spec)} ({why})", fix=remedy(self.spec, silent[0])
            )
        said = (lost[0].response.text or "")[:LONGEST]
        raise JudgeUnreadable(
            f"{counted} got an answer that is not on its scale, such as {said!r}", fix=_remedy(self.spec, lost)
        )


def _remedy(judge: JudgeSpec, lost: Sequence[PreflightCall]) -> str:
    if all(call.response.ending == "cut" for call in lost):
        return "the answers were cut off: raise decoding.max_tokens of the judge"
    if judge.scale is None and not judge.answer.model_fields_set:
        guess = guessed_format([call.response.text or "" for call in lost])
        if guess is not None and all(call.response.ending == "whole" for call in lost):
            said = ", ".join(f"{word} means {label}" for word, label in guess.labels.items() if word != label)
            return (
                f"add  {format_words(guess)}  if that is how to parse them{f' ({said})' if said else ''}; in a study "
                "file, say so under `answer` of the judge"
            )
    if judge.callable:
        known = ", ".join((*(judge.scale.labels if judge.scale else Choice), "abstain"))
        return (
            f"have {judge.callable} return one of {known}, or describe its answers under answer; to run it as it is, "
            "use --no-preflight"
        )
    reasons = dict.fromkeys(call.outcome.why for call in lost if isinstance(call.outcome, Unparsed))
    return (
        f"{'; '.join(reasons)}. Change the prompt so that the judge ends with exactly one answer on its scale, or set "
        "the right scale and answer format; to run it as it is, use --no-preflight"
    )


class Preflighting(Protocol):
    """The person, or the flags, before whom a preflight is held."""

    def agree(self, plans: Sequence[PreflightPlan], whole: PlanEstimate) -> Decimal | None:
        """Agrees to the price of the preflights, given that of everything; returns the budget until then, or raises."""
        ...

    def show(self, found: Preflight) -> None:
        """Shows what was asked, what came back, and how it was read."""
        ...


def plan_preflight(run: Run, pricer: Pricer | None) -> PreflightPlan | None:
    """Returns the calls to make; None if there is nothing to find out.

    That is so for a simulated judge, for one that Inspect asks in batches, which may take a day, and for a run that has
    answers already, or batches at a provider. Answers of an earlier preflight are read again, and not asked for again.
    """
    batched = run.judge.model is not None and run.judge.model.batch
    reused = any((run.folder / "reused").glob(f"shard={SHARD}/*.parquet"))
    if run.simulated or batched or reused or run.store.sealed() or not run.trials:
        return None
    if trials_in_flight(run.folder):
        return None
    trials = _chosen(run)
    answers = _answers(run)
    if answers.keys() - {trial.id for trial, _ in trials}:
        return None
    pending = [entry for entry in trials if entry[0].id not in answers]
    unseen = is_unseen(run.judge, pricer)
    return PreflightPlan(run, pricer or FREE, trials, len(pending), _at_most(run, pricer, pending), unseen)


def call_preflight(plan: PreflightPlan, ledger: Ledger) -> Preflight:
    """Makes the calls one after another, and keeps their answers in the run's journal."""
    run = plan.run
    with run.store.locked():
        run_on_loop(_ask(plan, Calling(1, Meter(plan.pricer, ledger), attempts=ATTEMPTS)))
    with snapshot(run.store) as now:
        known = now.responses(SHARD)
    judge, read = run.call.open_judge(), reader_of(run.judge)
    calls = tuple(
        PreflightCall(
            _text(request_for(judge, stimulus, trial.presentation)),
            known[trial.id],
            read(known[trial.id], trial.presentation),
        )
        for trial, stimulus in plan.trials
        if trial.id in known
    )
    return Preflight(run.judge.name, calls, run.judge)


async def _ask(plan: PreflightPlan, calling: Calling) -> None:
    run = plan.run
    judge: Judge = run.call.open_judge(calling)
    journal = run.store.open_journal()
    answered = {response.trial_id for response in journal.responses(SHARD) if response.failure is None}
    silent = 0
    try:
        for trial, stimulus in plan.trials:
            if trial.id in answered or silent == GIVE_UP:
                continue
            response = await judge.ask(request_for(judge, stimulus, trial.presentation), trial_id=trial.id)
            journal.commit([(SHARD, 0, response)])
            silent += response.failure is not None
            if response.failure == "connection":
                # Nobody is there, whatever is asked.
                break
    finally:
        journal.close()
        await judge.close()


def _chosen(run: Run) -> tuple[tuple[Trial, Stimulus], ...]:
    """Returns the first trial of each family of the first shard, then others, each about another text."""
    found: dict[str, tuple[Trial, Stimulus]] = {}
    families: set[str] = set()
    others: list[tuple[Trial, Stimulus]] = []
    for trial, stimulus in _planned(run):
        if trial.stimulus_id in found or any(trial.stimulus_id == other.stimulus_id for other, _ in others):
            continue
        if stimulus.family in families:
            others = [*others, (trial, stimulus)][:CALLS]
        else:
            families.add(stimulus.family)
            found[trial.stimulus_id] = (trial, stimulus)
        if len(found) == CALLS:
            break
    return (*found.values(), *others)[:CALLS]


def _planned(run: Run) -> Iterator[tuple[Trial, Stimulus]]:
    """Yields the first shard; what shows a blank candidate comes last, since it says little to a reader."""
    blank = []
    for trial, part in run.store.plan_shard(SHARD):
        stimulus = run.stimuli.part(part)[trial.stimulus_id]
        if all(text.strip() for text in stimulus.candidates):
            yield trial, stimulus
        else:
            blank.append((trial, stimulus))
    yield from blank


def _answers(run: Run) -> dict[str, Response]:
    """Returns the answers in the journal, by trial."""
    with snapshot(run.store) as now:
        found = now.responses(SHARD)
    return {trial_id: response for trial_id, response in found.items() if response.failure is None}


def _at_most(run: Run, pricer: Pricer | None, pending: Sequence[tuple[Trial, Stimulus]]) -> Decimal:
    model, worst = run.judge.model, WorstCase()
    if model is None:
        return Decimal(0)
    judge = run.call.open_judge()
    for trial, stimulus in pending:
        request = request_for(judge, stimulus, trial.presentation)
        assert isinstance(request, ChatRequest)  # noqa: S101  # it is asked of a model
        worst.add(worst.of(request, pricer), model)
    return (worst.at_most or Decimal(0)).quantize(Decimal("0.0001"), ROUND_CEILING)


def _text(request: Request) -> str:
    """Returns what a judge is shown; a function of the user's own writes its own prompt, and is shown the parts."""
    if isinstance(request, ChatRequest):
        return request.messages[0].content if len(request.messages) == 1 else prompt_text(request.messages)
    if isinstance(request, ObjectRequest):
        return request.text()
    return str(request.payload())
