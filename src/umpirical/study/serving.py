"""The serving control: the same questions, asked one at a time and amid many others.

A server that computes several answers together may answer a question differently for what else it is asked at the time,
also at temperature 0. What then differs is the serving, and not the judge. A few questions of the plan are asked

    alone    one call in flight
    again    the same, once more: what changes here changes whatever else is asked
    amid     with as many calls in flight as the study allows, other questions before and after them

None of these answers is put into the run: no measure counts them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from itertools import chain, cycle, islice
from typing import Any, Literal, get_args

from umpirical.domain.errors import SpendRefused, UsageError
from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Trial
from umpirical.judges.judge import Judge
from umpirical.judges.label_logprobs import read_tokens
from umpirical.models.money import FREE, Ledger, Meter, Pricer
from umpirical.models.prices import UNPRICED, PricedModel, WorstCase, no_price
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import Calling
from umpirical.runs.loop import run_on_loop
from umpirical.runs.plan import request_for
from umpirical.runs.run import Run
from umpirical.runs.workers import Workers
from umpirical.stats.intervals import wilson
from umpirical.store.files import write_text
from umpirical.study.estimate import is_unseen

Way = Literal["alone", "again", "amid"]
"""How a question is asked."""

FILE = "serving.json"
"""In the folder of a run: what the last control found."""

GIVE_UP_AFTER = 3
"""Failures in a row after which no more is asked: there is nothing to compare."""

_Question = tuple[Trial, Stimulus]


@dataclass(frozen=True, slots=True)
class ServingPlan:
    """What is asked of one judge, and what it can cost."""

    run: Run
    pricer: Pricer
    questions: tuple[_Question, ...]
    """Those whose answers are compared."""
    company: tuple[_Question, ...]
    """Those that are asked around them: half before, half after."""
    concurrency: int
    at_most: Decimal
    """US dollars, for calls with a known price."""
    unseen: bool
    """Whether the price is unknown here."""

    @property
    def calls(self) -> int:
        return len(get_args(Way)) * len(self.questions) + len(self.company)


@dataclass(frozen=True, slots=True)
class Changed:
    """How many answers differ from those to the same questions asked alone the first time."""

    pairs: int
    """Questions that were answered both times."""
    excluded: int
    """Questions that were not."""
    texts: int
    readings: int
    """Answers that are read otherwise: another verdict, or one where there was none."""
    logprob_pairs: int
    """Of the pairs, those with log-probabilities."""
    logprobs: int
    """Of these, those whose log-probabilities are not the same to the last digit."""
    largest_shift: float | None
    """The largest difference of a token's log-probability, in nats, as far as both say the same; None if unknown."""

    def interval(self, count: int, of: int) -> tuple[float, float] | None:
        """Returns the 95 % interval of a share; None if there is nothing to share."""
        if not of:
            return None
        low, high = wilson(count, of)
        return low, high


@dataclass(frozen=True, slots=True)
class Serving:
    """What was found for one judge."""

    judge: str
    concurrency: int
    served_by: tuple[str, ...]
    again: Changed
    amid: Changed
    cached: Mapping[Way, float | None]
    """Share of the tokens of the questions that the server had in its cache; None if it does not say."""
    answers: tuple[Mapping[str, str | None], ...]
    """Of each question: its trial, and the text of each answer."""

    def as_json(self) -> dict[str, Any]:
        said: dict[str, Any] = asdict(self)
        for way, changed in (("again", self.again), ("amid", self.amid)):
            said[way] |= {
                "texts_interval": changed.interval(changed.texts, changed.pairs),
                "readings_interval": changed.interval(changed.readings, changed.pairs),
                "logprobs_interval": changed.interval(changed.logprobs, changed.logprob_pairs),
            }
        return said | {"verdict": self.verdict, "asked_at": datetime.now(UTC).isoformat(timespec="seconds")}

    @property
    def verdict(self) -> str:
        """What the figures say, in a sentence."""
        if not self.amid.pairs or not self.again.pairs:
            return "no result: too few questions were answered in each condition"
        if self.again.texts:
            return (
                "answers change even if the same question is repeated without other calls, because of sampling or a "
                "cache. This check cannot separate the effect of other calls from that"
            )
        if self.amid.texts:
            return (
                "the judge repeats its answers without other calls, but not with them. The difference comes from the "
                "server, not the judge, and affects repeats and stability"
            )
        high = wilson(0, self.amid.pairs).high
        moved = ", although log-probabilities move" if self.amid.logprobs else ""
        return f"no answer changed{moved}; up to {high:.0%} of answers may change without showing in so few questions"


def plan_serving(run: Run, pricer: Pricer | None, *, questions: int, concurrency: int) -> ServingPlan:
    """Chooses the questions, and prices them. Raises for a judge that cannot be asked so, or has no bounded price."""
    if run.simulated or run.judge.capabilities.stateful:
        why = "it is simulated" if run.simulated else "its calls are always made one at a time"
        raise UsageError(
            f"judge {run.judge.name}: {why}, so server load cannot change its answers", fix="omit this judge"
        )
    if run.judge.model is not None and run.judge.model.batch:
        raise UsageError(f"judge {run.judge.name} is called only in batches", fix="remove batch from its model")
    if concurrency < 2:
        raise UsageError("with only one call at a time there is no server load", fix="raise the study's concurrency")
    chosen, others = _chosen(run, questions)
    company = tuple(islice(cycle(others or chosen), 2 * concurrency))
    plan = ServingPlan(run, pricer or FREE, chosen, company, concurrency, Decimal(0), is_unseen(run.judge, pricer))
    return replace(plan, at_most=_at_most(plan, pricer))


def call_serving(plan: ServingPlan, ledger: Ledger, settled: Callable[[Outcome, Response], None]) -> Serving:
    """Asks, compares, and writes what was found beside the run; nothing is put into it.

    `settled` hears of every answer.
    """
    answers = run_on_loop(_ask(plan, Meter(plan.pricer, ledger), settled))
    found = _compared(plan, answers)
    write_text(plan.run.folder / FILE, json.dumps(found.as_json(), indent=1) + "\n")
    return found


def _chosen(run: Run, most: int) -> tuple[tuple[_Question, ...], tuple[_Question, ...]]:
    """Returns questions from all over the first shard, each with another prompt, and the others there."""
    found: dict[str, _Question] = {}
    for trial, part in run.store.plan_shard(0):
        found.setdefault(trial.prompt_id, (trial, run.stimuli.part(part)[trial.stimulus_id]))
    every = list(found.values())
    places = sorted({place * len(every) // most for place in range(most)}) if len(every) > most else range(len(every))
    chosen = set(places)
    return tuple(every[place] for place in places), tuple(q for place, q in enumerate(every) if place not in chosen)


def _at_most(plan: ServingPlan, pricer: Pricer | None) -> Decimal:
    model, worst = plan.run.judge.model, WorstCase()
    if model is None or pricer is UNPRICED:
        return Decimal(0)
    if pricer is None:
        raise no_price(PricedModel.of(model))
    judge = plan.run.call.open_judge()
    for question, times in [*((q, len(get_args(Way))) for q in plan.questions), *((q, 1) for q in plan.company)]:
        request = request_for(judge, question[1], question[0].presentation)
        assert isinstance(request, ChatRequest)  # noqa: S101  # it is asked of a model
        worst.add(worst.of(request, pricer), model, times=times)
    if worst.refusal is not None or worst.at_most is None:
        raise worst.refusal or SpendRefused(f"the cost of judge {plan.run.judge.name} has no upper limit")
    return worst.at_most.quantize(Decimal("0.0001"), ROUND_CEILING)


_Answers = dict[Way, dict[str, Response]]


async def _ask(plan: ServingPlan, meter: Meter, settled: Callable[[Outcome, Response], None]) -> _Answers:
    half, answers = len(plan.company) // 2, _Answers()
    for way in get_args(Way):
        company = plan.company if way == "amid" else ()
        workers, before, after = plan.concurrency if company else 1, company[:half], company[half:]
        judge = plan.run.call.open_judge(Calling(workers, meter))
        try:
            answers[way] = await _ask_all(judge, plan.questions, workers, before, after, settled)
        finally:
            await judge.close()
    return answers


async def _ask_all(
    judge: Judge,
    questions: Sequence[_Question],
    workers: int,
    before: Sequence[_Question],
    after: Sequence[_Question],
    settled: Callable[[Outcome, Response], None],
) -> dict[str, Response]:
    """Returns the answers to the questions; of what is asked before and after them, nothing is kept."""
    asking = Workers(workers, give_up_after=GIVE_UP_AFTER, fix="check that the judge answers")
    found: dict[str, Response] = {}

    async def ask(turn: tuple[_Question, bool]) -> None:
        (trial, stimulus), kept = turn
        request = request_for(judge, stimulus, trial.presentation)
        response = await judge.ask(request, trial_id=trial.id)
        if kept:
            found[trial.id] = response
        settled(judge.read(response, trial.presentation), response)
        asking.settled(response.failure_detail if response.failure else None)

    company = ((question, False) for question in before), ((question, False) for question in after)
    await asking.work_through(chain(company[0], ((question, True) for question in questions), company[1]), ask)
    return found


def _compared(plan: ServingPlan, answers: _Answers) -> Serving:
    judge = plan.run.call.open_judge()
    trials = [trial for trial, _ in plan.questions]
    return Serving(
        plan.run.judge.name,
        plan.concurrency,
        tuple(sorted({each.served_by for found in answers.values() for each in found.values() if each.served_by})),
        again=_changed(judge, trials, answers["alone"], answers["again"]),
        amid=_changed(judge, trials, answers["alone"], answers["amid"]),
        cached={way: _cached([answers[way][trial.id] for trial in trials]) for way in get_args(Way)},
        answers=tuple(
            {"trial": trial.id, **{way: answers[way][trial.id].text for way in get_args(Way)}} for trial in trials
        ),
    )


def _changed(
    judge: Judge, trials: Sequence[Trial], before: Mapping[str, Response], after: Mapping[str, Response]
) -> Changed:
    pairs = [(trial, before[trial.id], after[trial.id]) for trial in trials]
    both = [(trial, one, two) for trial, one, two in pairs if one.failure is None and two.failure is None]
    scored = [(one, two) for _, one, two in both if one.logprobs and two.logprobs]
    shifts = [shift for one, two in scored for shift in _shifts(one, two)]
    return Changed(
        pairs=len(both),
        excluded=len(pairs) - len(both),
        texts=sum(one.text != two.text for _, one, two in both),
        readings=sum(
            _reading(judge.read(one, trial.presentation)) != _reading(judge.read(two, trial.presentation))
            for trial, one, two in both
        ),
        logprob_pairs=len(scored),
        logprobs=sum(one.logprobs != two.logprobs for one, two in scored),
        largest_shift=max(shifts, default=None),
    )


def _reading(outcome: Outcome) -> tuple[str, str]:
    match outcome:
        case Verdict(value=value):
            return "verdict", str(value)
        case Abstained():
            return "abstained", ""
        case Unparsed():
            return "unparsed", ""
        case Failed(kind=kind):
            return "failed", kind


def _shifts(one: Response, two: Response) -> Iterator[float]:
    """Yields by how much the log-probability of each token moves, until the answers part."""
    for first, second in zip(read_tokens(one.logprobs) or (), read_tokens(two.logprobs) or (), strict=False):
        if first.text != second.text:
            return
        yield abs(first.logprob - second.logprob)


def _cached(responses: Sequence[Response]) -> float | None:
    counted = [each.usage for each in responses if each.usage.cached_tokens is not None and each.usage.input_tokens]
    if not counted:
        return None
    return sum(each.cached_tokens or 0 for each in counted) / sum(each.input_tokens or 0 for each in counted)
