"""Estimates what a run will take, before anything is sent: calls, tokens, money, time and precision.

`at most` is a bound: the worst case of one attempt at every call. A retry may be billed too; it counts towards the
same budget as everything else. The precision follows from the whole plan, so it is kept beside the plan, and worked out
again by another version, with other measures, or for a judge that has changed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from decimal import ROUND_CEILING, Decimal
from importlib.metadata import version
from itertools import islice
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple

from umpirical.domain.digests import digest
from umpirical.domain.errors import StoreError, UsageError
from umpirical.domain.measures import Estimate
from umpirical.domain.responses import Response, Usage
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import BASELINE, Presentation, Trial
from umpirical.judges.spec import JudgeSpec
from umpirical.measures.catalogue import MEASURES, measure_all
from umpirical.measures.estimates.rates import PLANNING_CORRELATION
from umpirical.models.money import FREE, Pricer, most_input_tokens
from umpirical.models.prices import (
    UNPRICED,
    PricedModel,
    TokenPrices,
    WorstCase,
    no_price,
    pricer_for,
)
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import ModelSpec
from umpirical.protocols.catalogue import protocol_of_run
from umpirical.protocols.protocol import AsksInRounds, PlannedCounts
from umpirical.reports.forecast import settling_units
from umpirical.runs.plan import request_for, trials_of
from umpirical.runs.run import Run
from umpirical.stats.precision import half_width
from umpirical.store.batches import trials_in_flight
from umpirical.store.budget import Booked
from umpirical.store.manifests import Damaged, read_manifest, write_manifest
from umpirical.store.reuse import answered_trials
from umpirical.store.runs import RunStore
from umpirical.store.snapshots import snapshot

PRECISION = "precision.json"
"""Where it is kept, in the folder of the plan."""

RATES = (0.1, 0.5)
"""The rate of a judge that is rarely wrong, and the rate at which an interval is widest."""


@dataclass(frozen=True, slots=True)
class Precision:
    """How precise a measure will be if everything is answered."""

    measure: str
    title: str
    variant: str
    stratum: str
    unit: str
    units: int
    tasks: int
    half_widths: tuple[float, ...]
    """Half-widths of the 95 % interval, one for each of `RATES`."""


def expected_precision(tallies: Tallies, *, kind: JudgeKind, protocol: str) -> Iterator[Precision]:
    """Yields the precision of every rate; the denominators are those that the measures themselves count."""
    for spec, measure in measure_all(tallies, kind=kind, protocol=protocol):
        result = measure.result
        if spec.scale != "rate" or not isinstance(result, Estimate) or result.censoring != "none":
            continue
        tasks, each = result.clusters, result.denominator / result.clusters
        yield Precision(
            measure.name,
            spec.title,
            measure.variant,
            measure.stratum,
            result.unit,
            result.denominator,
            tasks,
            tuple(half_width(p, clusters=tasks, per_cluster=each, correlation=PLANNING_CORRELATION) for p in RATES),
        )


def kept_precision(run: Run) -> tuple[Precision, ...] | None:
    """Returns what was worked out for this plan before; None if nothing was, or for another plan, judge or version."""
    path = _path(run)
    if not path.exists():
        return None
    kept = read_manifest(path)
    if kept.get("follows_from") != _basis(run):
        return None
    try:
        return tuple(Precision(**{**row, "half_widths": tuple(row["half_widths"])}) for row in kept["measures"])
    except (KeyError, TypeError) as error:
        raise Damaged(f"cannot read {path}: {error}", fix="delete it; Umpirical will compute it again") from None


def keep_precision(run: Run, measures: Sequence[Precision]) -> None:
    # Who may only read does without it.
    with suppress(OSError):
        write_manifest(_path(run), {"follows_from": _basis(run), "measures": [asdict(each) for each in measures]})


def _path(run: Run) -> Path:
    return run.folder / "plan" / PRECISION


def _basis(run: Run) -> str:
    """Returns the digest of everything that the precision follows from."""
    return digest(
        "precision",
        {
            "plan": run.store.plan_digest,
            "judge": str(run.manifest.get("fingerprint", "")),
            "measures": list(MEASURES.names()),
            "umpirical": version("umpirical"),
        },
    )


# Calls, tokens, money and time.


BYTES_PER_TOKEN = 4
"""Roughly true of English prose with any common tokenizer."""

CONSTRAINED_TOKENS = 15
"""Output tokens of a judge that can only fill in the answer schema."""

ASSUMED_SECONDS = 1.0
"""Assumed for one call if none has been recorded."""

ENOUGH_RECORDED = 10_000
"""How many recorded answers are read: more of them would hardly change a mean."""

Pricing = Literal["free", "priced", "unpriced", "unknown", "own-function", "own-program"]
"""`unpriced`: the price is unknown, and the user agreed. `own-function` and `own-program`: Umpirical sees no bill."""

UNSEEN: frozenset[Pricing] = frozenset({"unpriced", "own-program"})

OutputBasis = Literal["recorded", "constrained", "max-tokens", "none"]
"""What the expected output is based on: earlier answers of this model, the answer schema, or the limit."""

SecondsBasis = Literal["recorded", "assumed", "none"]
"""`none`: a simulated judge answers at once."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A number of tokens."""

    expected: int | None
    """None if there is nothing to base it on."""
    at_most: int | None
    """None if nothing bounds it."""


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """What one run will take."""

    run: str
    judge: str
    model: str
    trials: int
    answered: int
    """Trials that already have an answer and are not asked again."""
    calls: int
    input_tokens: Tokens | None
    """For all calls together; None for a judge that writes its own prompts."""
    output_tokens: Tokens | None
    """For one call."""
    output_basis: OutputBasis
    pricing: Pricing
    price_table: str
    expected: Decimal | None
    """US dollars; None if not known."""
    at_most: Decimal | None
    """US dollars; None if not known, or if nothing bounds it."""
    refusal: str
    """Why the run cannot start as it is; empty if it can."""
    fix: str
    """How to remove the refusal."""
    seconds: float
    seconds_basis: SecondsBasis
    concurrency: int
    precision: tuple[Precision, ...]
    stops_early: bool = False
    """Whether it stops as soon as the verdict is reached, so that it may take far fewer calls."""


@dataclass(frozen=True, slots=True)
class PlanEstimate:
    """What a command will take."""

    runs: tuple[RunEstimate, ...]
    booked: Booked = field(default_factory=Booked)
    """What its judges have already booked under the same budget."""

    @property
    def calls(self) -> int:
        return sum(run.calls for run in self.runs)

    @property
    def expected(self) -> Decimal | None:
        return _sum(run.expected for run in self.runs)

    @property
    def at_most(self) -> Decimal | None:
        """None as soon as one run has no bound."""
        return _sum(run.at_most for run in self.runs)

    @property
    def unit(self) -> Decimal:
        """What amounts are rounded to: cents, or hundredths of a cent if the total is below a dollar."""
        known = sum((run.at_most for run in self.runs if run.at_most is not None), Decimal(0))
        return Decimal("0.01") if known >= 1 else Decimal("0.0001")

    @property
    def bound(self) -> Decimal:
        """The total of `at most` as shown: the known bound of each judge, rounded up."""
        rows = (run.at_most.quantize(self.unit, ROUND_CEILING) for run in self.runs if run.at_most is not None)
        return sum(rows, Decimal(0))

    @property
    def unseen_calls(self) -> int:
        """Calls whose price is unknown here, and which no cap limits."""
        return sum(run.calls for run in self.runs if run.pricing in UNSEEN)

    @property
    def seconds(self) -> float:
        """The sum over the runs, since they run one after another."""
        return sum(run.seconds for run in self.runs)


def pricers_of(
    runs: Sequence[Run], overrides: Mapping[str, TokenPrices], *, allow_unpriced: bool = False
) -> list[Pricer | None]:
    """Returns the pricer of every run's judge, in order; None if a price is unknown and that is not allowed."""
    models = {run.judge.model.name for run in runs if run.judge.model}
    if stray := [name for name in overrides if name not in models]:
        raise UsageError(
            f"--price {stray[0]}: no judge uses this model", fix=f"models: {', '.join(sorted(models)) or 'none'}"
        )
    found = [pricer_for(PricedModel.of(run.judge.model), overrides) if run.judge.model else FREE for run in runs]
    return [UNPRICED if allow_unpriced and pricer is None else pricer for pricer in found]


def estimate_run(run: Run, pricer: Pricer | None, *, concurrency: int) -> RunEstimate:
    """Counts what is left to ask of a run, and prices it. Reads the plan and the responses; makes no calls."""
    spec, protocol = run.judge, protocol_of_run(run.store)
    # A simulated judge has no tokens to count and takes no time; a function writes its own prompts.
    model = None if run.simulated else spec.model
    recorded = _recorded(run, model) if model else _Recorded()
    precision = kept_precision(run)
    planned = protocol.planned(spec) if precision is None else None
    load = _load(run, pricer, planned)
    if planned is not None:
        precision = tuple(expected_precision(planned.tallies(), kind=spec.kind, protocol=protocol.name))
        keep_precision(run, precision)
    output, output_basis = _output(spec, model, load, recorded)
    workers = 1 if spec.capabilities.stateful else concurrency
    each, seconds_basis = _seconds(run, recorded)
    refusal = load.worst.refusal or (no_price(PricedModel.of(model)) if model and pricer is None else None)
    return RunEstimate(
        run=run.name,
        judge=spec.name,
        model=spec.made_of[1],
        trials=run.most_trials,
        answered=max(0, run.most_trials - load.calls),
        calls=load.calls,
        input_tokens=Tokens(load.expected_input(), load.most_input) if model else None,
        output_tokens=output,
        output_basis=output_basis,
        pricing=_pricing(spec, pricer),
        price_table=pricer.table if pricer and spec.model else "",
        expected=_expected(load, output, pricer) if spec.model else None,
        at_most=load.worst.at_most if spec.model else None,
        refusal=str(refusal) if refusal else "",
        fix=refusal.fix if refusal else "",
        seconds=load.calls * each / workers,
        seconds_basis=seconds_basis,
        concurrency=workers,
        precision=precision or (),
        stops_early=run.most_trials > run.trials,
    )


def is_unseen(spec: JudgeSpec, pricer: Pricer | None) -> bool:
    """Whether a person has to agree to calls without knowing their price.

    A function of their own is not asked about: who wrote it knows what it costs, and running it is agreed to elsewhere.
    """
    return _pricing(spec, pricer) in UNSEEN


def _pricing(spec: JudgeSpec, pricer: Pricer | None) -> Pricing:
    if spec.model is None:
        return "own-function" if spec.callable else "own-program"
    if pricer is None:
        return "unknown"
    return "unpriced" if pricer is UNPRICED else "free" if pricer is FREE else "priced"


class _Weight(NamedTuple):
    """What one prompt costs to ask."""

    size: int
    """Bytes of text."""
    most_input: int
    worst: Decimal | None


@dataclass(slots=True)
class _Load:
    """Totals over the trials of a run that are still to be asked."""

    calls: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    """How many calls have a prompt of this many bytes."""
    most_input: int = 0
    worst: WorstCase = field(default_factory=WorstCase)
    constrained: bool = False

    def add(self, weight: _Weight, model: ModelSpec) -> None:
        self.sizes[weight.size] += 1
        self.most_input += weight.most_input
        self.worst.add(weight.worst, model)

    def weigh(self, request: ChatRequest, pricer: Pricer | None) -> _Weight:
        texts = [*(message.content for message in request.messages), request.answer_schema]
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        self.constrained = bool(request.answer_schema)
        return _Weight(size, most_input_tokens(request), self.worst.of(request, pricer))

    def expected_input(self) -> int:
        return sum(ceil(size / BYTES_PER_TOKEN) * count for size, count in self.sizes.items())


def _load(run: Run, pricer: Pricer | None, planned: PlannedCounts | None) -> _Load:
    """Adds up what is left to ask; `planned` counts all trials, if they are to be counted."""
    load, judge, model = _Load(), run.call.open_judge(), run.judge.model
    stimulus_id, weights = "", dict[Presentation, _Weight]()
    for trial, stimulus, answered in _walk(run, everything=planned is not None):
        if planned is not None:
            planned.add(trial, stimulus)
        if answered:
            continue
        load.calls += 1
        if model is None:
            continue
        if trial.stimulus_id != stimulus_id:
            stimulus_id, weights = trial.stimulus_id, {}
        question = trial.presentation.question
        if question not in weights:
            request = request_for(judge, stimulus, trial.presentation)
            assert isinstance(request, ChatRequest)  # noqa: S101  # it is asked of a model
            weights[question] = load.weigh(request, pricer)
        load.add(weights[question], model)
    return load


def _walk(run: Run, *, everything: bool) -> Iterator[tuple[Trial, Stimulus, bool]]:
    """Yields planned trials, each with its stimulus and whether it has an answer, from here or from another run.

    What is in a batch at a provider counts as answered: it is not asked again, and its cost is booked already. Without
    `everything`, shards all of whose trials are answered are passed over.
    """
    flying = trials_in_flight(run.folder)
    for shard, answered in answered_trials(run.store):
        if answered is None and not everything:
            continue
        known = None if answered is None else answered | flying
        for trial, part in run.store.plan_shard(shard):
            yield trial, run.stimuli.part(part)[trial.stimulus_id], known is None or trial.id in known
    for trial, part in _further(run):
        yield trial, run.stimuli.part(part)[trial.stimulus_id], False


def _further(run: Run) -> Iterator[tuple[Trial, int]]:
    """Yields the trials that later rounds may ask, each with the part of the stimulus set that its stimulus is in."""
    protocol = protocol_of_run(run.store)
    if run.most_trials == run.trials or not isinstance(protocol, AsksInRounds):
        return
    planned = {trial.stimulus_id for shard in range(run.shards) for trial, _ in run.store.plan_shard(shard)}
    left = {stimulus.id for stimulus in run.stimuli} - planned
    yield from trials_of(run.call.open_judge(), run.stimuli, protocol.design_of(run), left)


@dataclass(frozen=True, slots=True)
class _Recorded:
    """Means over the answers of the same model in this study; None if there are no answers."""

    output_tokens: float | None = None
    seconds: float | None = None


def _recorded(run: Run, model: ModelSpec) -> _Recorded:
    answers = list(islice(_answers(run, model), ENOUGH_RECORDED))
    tokens = [answer.usage.output_tokens for answer in answers if answer.usage.output_tokens is not None]
    seconds = [answer.latency_ms / 1000 for answer in answers if answer.latency_ms > 0]
    return _Recorded(fmean(tokens) if tokens else None, fmean(seconds) if seconds else None)


def _seconds(run: Run, recorded: _Recorded) -> tuple[float, SecondsBasis]:
    """Returns the seconds of one call, and what they are based on."""
    if run.simulated:
        return 0.0, "none"
    return (ASSUMED_SECONDS, "assumed") if recorded.seconds is None else (recorded.seconds, "recorded")


def _answers(run: Run, model: ModelSpec) -> Iterator[Response]:
    """Yields the answers of this model, on this server, in any run of the study that can be read."""
    for path in sorted(run.store.folder.parent.glob("*/run.json")):
        store = RunStore(path.parent)
        # An estimate can do without a damaged run, which whoever reads it names.
        with suppress(StoreError):
            known = store.manifest["judge"].get("model") or {}
            if any(known.get(key) != getattr(model, key) for key in ("adapter", "name", "base_url")):
                continue
            with snapshot(store) as now:
                for _, responses in now.walk():
                    # An answer reused from another run is counted in that run.
                    yield from (answer for answer in responses.values() if answer.failure is None and answer.attempts)


def _output(
    spec: JudgeSpec, model: ModelSpec | None, load: _Load, recorded: _Recorded
) -> tuple[Tokens | None, OutputBasis]:
    """Returns the tokens of one answer, and what they are based on."""
    if model is None:
        return None, "none"
    limit = spec.decoding.max_tokens
    if recorded.output_tokens is not None:
        return Tokens(ceil(recorded.output_tokens), limit), "recorded"
    # A reasoning in the schema may be of any length.
    if load.constrained and not spec.answer.reasoning:
        return Tokens(min(CONSTRAINED_TOKENS, limit or CONSTRAINED_TOKENS), limit), "constrained"
    return Tokens(limit, limit), "max-tokens" if limit else "none"


def _expected(load: _Load, output: Tokens | None, pricer: Pricer | None) -> Decimal | None:
    """Adds up the cost call by call, as it is billed: the price may depend on a call's length."""
    if pricer is None or pricer is UNPRICED:
        return None
    if pricer is FREE:
        return Decimal(0)
    if output is None or output.expected is None:
        return None
    return _sum(
        _times(pricer.cost(Usage(ceil(size / BYTES_PER_TOKEN), output.expected)), count)
        for size, count in load.sizes.items()
    )


def _times(cost: Decimal | None, count: int) -> Decimal | None:
    return None if cost is None else cost * count


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    total = Decimal(0)
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


# Plans to a question: how much would have to be asked for a limit to be settled, whatever a named size has.


SHARES = (0.0, 0.25, 0.5, 0.75)
"""How near the limit the judge may truly be, as a share of the way from the best there is to the limit."""

_QUESTION = re.compile(r"\s*([a-z0-9-]{1,64})(?:@([^\s<>=]{1,64}))?\s*(<=|>=)\s*(\d{0,9}\.?\d{0,9})\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Question:
    """Whether a rate is within a limit."""

    measure: str
    stratum: str
    kind: Literal["at_most", "at_least"]
    threshold: float

    def true_values(self) -> list[float]:
        """Returns rates on the right side of the limit, from the best to one that is near it."""
        best = 0.0 if self.kind == "at_most" else 1.0
        return [round(best + share * (self.threshold - best), 9) for share in SHARES]


@dataclass(frozen=True, slots=True)
class Needed:
    """What settles a question if the judge's true rate is this one."""

    true: float
    units: int | None
    """None if no number is enough."""
    tasks: int | None
    """With as many units in each as the plan has."""
    in_each: int | None
    """Units in each of the planned tasks that would do instead; None if no number is enough."""
    calls: int | None
    """Of a design like the planned one, with so many tasks."""
    dollars: Decimal | None
    """Expected, for all of them; None if no price is known, or nothing is left to ask that would show it."""


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """A question to one judge, beside what its plan has."""

    judge: str
    question: Question
    power: float
    unit: str
    units: int
    """Of the plan."""
    tasks: int
    each: float
    """Units of a task."""
    needed: tuple[Needed, ...]


def parse_question(text: str) -> Question:
    """Reads `dark-current<=0.05`, or `target-sensitivity@5>=0.9` for a part of the design."""
    found = _QUESTION.fullmatch(text)
    try:
        limit = float(found[4]) if found else -1.0
    except ValueError:
        limit = -1.0
    if found is None or not 0 < limit < 1:
        raise UsageError(
            f"invalid question {text[:80]!r}", fix='write it as "dark-current<=0.05" or "target-sensitivity@5>=0.9"'
        )
    return Question(found[1], found[2] or "", "at_most" if found[3] == "<=" else "at_least", limit)


def plan_question(run: RunEstimate, question: Question, *, power: float) -> QuestionPlan:
    """Returns what would settle a question, in designs of more or fewer tasks like those of the planned run.

    Units of a task are assumed to correlate as in every plan. That the design keeps its proportions is assumed too:
    twice the pairs of one kind are twice the calls.
    """
    row = _question_row(run.precision, question)
    each = row.units / row.tasks
    effect = max(1.0, 1 + (each - 1) * PLANNING_CORRELATION)
    planned = run.calls + run.answered
    price = Decimal(0) if run.pricing == "free" else None
    if run.expected is not None and run.calls:
        price = run.expected / run.calls
    needed = []
    for true in question.true_values():
        units = settling_units(true, question.threshold, effect=effect, units=0, power=power)
        tasks = None if units is None else max(2, ceil(units / each))
        calls = None if tasks is None else ceil(planned * tasks / row.tasks)
        dollars = None if calls is None or price is None else price * calls
        independent = settling_units(true, question.threshold, effect=1.0, units=0, power=power)
        needed.append(Needed(true, units, tasks, _in_each(independent, row.tasks), calls, dollars))
    return QuestionPlan(run.judge, question, power, row.unit, row.units, row.tasks, each, tuple(needed))


def _in_each(independent: int | None, tasks: int) -> int | None:
    """Returns the units in each of so many tasks that are worth so many independent units; None if none are.

    With n units in each of G tasks, the design effect is 1 + (n - 1) r, so that G n / (1 + (n - 1) r) of them are
    independent: never more than G / r.
    """
    if independent is None or independent * PLANNING_CORRELATION >= tasks:
        return None
    return ceil(independent * (1 - PLANNING_CORRELATION) / (tasks - independent * PLANNING_CORRELATION))


def _question_row(measures: Sequence[Precision], question: Question) -> Precision:
    named = [row for row in measures if row.measure == question.measure and row.variant == BASELINE]
    for row in named:
        if row.stratum == question.stratum:
            return row
    if named:
        parts = ", ".join(row.stratum or "the whole" for row in named)
        raise UsageError(f"{question.measure} has no part {question.stratum!r}", fix=f"choose one of: {parts}")
    known = ", ".join(dict.fromkeys(row.measure for row in measures))
    raise UsageError(f"this plan has no rate {question.measure!r}", fix=f"choose one of: {known}")
