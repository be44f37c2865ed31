"""Measures the judges of a study: plan, price, preflight, agree, call, report.

The command line, the Python API and the pytest plugin all measure through `measure_judges`, each with its own `Terms`:
the price always precedes the spending, and one budget holds for all judges of a command.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from typing import Protocol as Interface

from umpirical.domain.bills import Bill
from umpirical.domain.digests import Json
from umpirical.domain.errors import SpendRefused, Terminated, UmpiricalError
from umpirical.models.money import FREE, CapReached, Ledger, Meter, Pricer
from umpirical.models.outage import Outages
from umpirical.models.prices import UNPRICED, TokenPrices
from umpirical.models.spec import Calling
from umpirical.protocols.catalogue import protocol_of_run
from umpirical.protocols.protocol import AsksInRounds, FollowsUp, JurySpec, Study
from umpirical.runs.executor import (
    LOCAL,
    RAY,
    EndsEarly,
    ExecutorFactory,
    Told,
    Watcher,
    asks_elsewhere,
    check_judge,
    check_through,
    factory_of,
    price_asked,
)
from umpirical.runs.plan import extend_plan
from umpirical.runs.processes import helpful_processes
from umpirical.runs.run import Run, open_run
from umpirical.runs.together import why_alone
from umpirical.store.lock import one_at_a_time
from umpirical.store.reuse import excluded_runs, reused_counts
from umpirical.study.estimate import PlanEstimate, estimate_run, pricers_of
from umpirical.study.jury import refuse_juries, seat_jury
from umpirical.study.preflight import Preflighting, PreflightPlan, call_preflight, plan_preflight
from umpirical.study.prepare import PlanOptions, prepare_run
from umpirical.study.results import FinishedRun, finished_run
from umpirical.study.spending import Spending, judge_account, recorded_bill
from umpirical.study.trust import Agree, agree_to_none, ensure_judge_trusted, ensure_trusted

# The terms of a command.

PATIENCE = 15 * 60.0


class Watch(Watcher, AbstractContextManager["Watch"], Interface):
    """A watcher that is shown while a run is in progress."""


@dataclass(frozen=True, slots=True)
class CallOptions:
    """What makes the calls of a command."""

    executor: str = LOCAL
    processes: int | None = None
    """Of this machine, or actors of a cluster; None for as many as help."""
    log: Callable[[str], None] = lambda _: None
    """Receives a sentence about a judge that cannot be called in as many processes as were requested."""
    through: str = ""
    """URI of the object storage by which machines share the run, if they do not share its folder."""
    patience: float = PATIENCE
    """Seconds for which an outage of a server is waited for."""

    def check_through(self) -> None:
        """Raises UsageError for a URI that is none, or that has credentials in it."""
        check_through(self.through)

    @property
    def factory(self) -> ExecutorFactory:
        return factory_of(self.executor, self.through)

    def processes_for(self, run: Run, calling: Calling) -> int:
        elsewhere = asks_elsewhere(self.executor)
        several = elsewhere or (self.processes or 1) > 1
        if several and (why := why_alone(run.call, calling)):
            self.log(f"judge {run.judge.name} runs in one process: {why}")
        elif several and not elsewhere and run.judge.loads_model:
            self.log(
                f"judge {run.judge.name} runs in one process, because its model is loaded once; --executor {RAY} loads "
                "one per GPU"
            )
        return self.processes or helpful_processes(
            run.call, calls=run.trials, concurrency=calling.concurrency, simulated=run.simulated
        )


Consent = Callable[[PlanEstimate], Decimal | None]
"""Receives the estimate of what is left to call, without simulated judges; returns the budget, or raises."""

Lose = Callable[[str, UmpiricalError], None]
"""Receives the name of a judge that could not be measured, and why; the others are measured all the same."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a command may spend, whom it trusts, how it calls judges, and who is told about it.

    Built once at the front door and passed down.
    """

    consent: Consent
    watch: Callable[[str, int, Ledger], Watch]
    """Opens the progress of a run, by its judge, its number of trials and its ledger."""
    agree: Agree = agree_to_none
    """Agrees to what a study would do on this machine."""
    prices: Mapping[str, TokenPrices] = field(default_factory=dict)
    """Prices of models, in place of the known ones."""
    allow_unpriced: bool = False
    """Whether models whose price is unknown may be called."""
    calls: CallOptions = CallOptions()
    fresh: bool = False
    """Whether to plan new runs that reuse no answers from earlier ones."""
    preflight: Preflighting | None = None
    """With one, a few calls of each judge come first, and JudgeUnreadable is raised if its answers cannot be read."""
    planned: Callable[[str], None] | None = None
    """Receives remarks on the planned runs, line by line."""
    spent: Callable[[Spending], None] = lambda _: None
    """Receives what was spent, however the command ends."""
    lose: Lose | None = None
    """Receives a judge of several that could not be measured; without it, the error is raised."""


# The story of a command.


def measure_judges(study: Study[Any], judges: Sequence[str], terms: Terms) -> Iterator[FinishedRun]:
    """Measures the named judges, or all, one after another, once the price has been agreed to.

    If there are several judges, what is wrong with one of them does not stop the others.
    """
    # Before anything is made: an executor that is not there, or that cannot call one of the judges, or not in this way.
    _ = terms.calls.factory
    for judge in study.chosen(judges):
        check_judge(terms.calls.executor, judge)
    runs = plan_runs(study, judges, fresh=terms.fresh)
    if terms.planned is not None:
        for line in planning_remarks(study, runs):
            terms.planned(line)
    finished = []
    for each in measure_runs(runs, study.spec.concurrency, terms):
        finished.append(each)
        yield each
    for jury in study.spec.juries:
        if not judges or jury.name in judges:
            yield from _as_one(study, jury, finished, terms)


def _as_one(study: Study[Any], jury: JurySpec, measured: Sequence[FinishedRun], terms: Terms) -> Iterator[FinishedRun]:
    """Yields the vote of judges that have been asked as a judge, unless a member lacks answers: that is told by it."""
    folders = {each.record.judge.name: each.folder for each in measured if each.record.complete}
    if lacking := [name for name in jury.members if name not in folders]:
        if terms.planned is not None:
            terms.planned(f"jury {jury.name} is not tested: {', '.join(lacking)} must be complete first")
        return
    runs = [folders[name] for name in jury.members]
    seated = seat_jury(runs, study.folder / "juries", name=jury.name, rule=jury.rule)
    yield FinishedRun(seated.record.parent, seated.protocol, seated.report, seated.documents, jury=seated.jury)


def measure_runs(runs: Sequence[Run], concurrency: int, terms: Terms) -> Iterator[FinishedRun]:
    """Completes planned runs one after another, once the price has been agreed to."""
    command = _Command(runs, concurrency, terms)
    whole = command.estimate()
    for each in whole.runs:
        if each.calls and each.refusal:
            raise SpendRefused(f"judge {each.judge}: {each.refusal}", fix=each.fix)
    try:
        if command.preflight(whole):
            whole = command.estimate()
        if not command.left:
            return
        command.spending.cap = terms.consent(whole)
        for run, pricer in command.left:
            if finished := command.complete(run, pricer):
                yield finished
    except CapReached as reached:
        raise command.spending.go_on(reached, command.estimate().bound) from None
    finally:
        terms.spent(command.spending)


class _Command:
    """The runs that one command completes, their prices, what it spends, and the judges that it has lost."""

    def __init__(self, runs: Sequence[Run], concurrency: int, terms: Terms) -> None:
        single = pricers_of(runs, terms.prices, allow_unpriced=terms.allow_unpriced)
        # A preflight makes single calls, whatever comes after it.
        self._single = list(zip(runs, single, strict=True))
        self._priced = [(run, price_asked(terms.calls.executor, pricer)) for run, pricer in self._single]
        self._concurrency, self._terms = concurrency, terms
        self._lost: set[str] = set()
        self.spending = spending_of(self._priced)

    @property
    def left(self) -> list[tuple[Run, Pricer | None]]:
        """The runs that are not lost, each with its price."""
        return [(run, pricer) for run, pricer in self._priced if run.name not in self._lost]

    def estimate(self) -> PlanEstimate:
        """Prices what is left to call, without simulated judges."""
        real = [(run, pricer) for run, pricer in self.left if not run.simulated]
        rows = tuple(estimate_run(run, pricer, concurrency=self._concurrency) for run, pricer in real)
        return PlanEstimate(rows, self.spending.booked())

    def preflight(self, whole: PlanEstimate) -> bool:
        """Holds the preflights of all judges that need one; returns whether there were any."""
        preflight = self._terms.preflight
        if preflight is None:
            return False
        plans = [plan for run, pricer in self._single if (plan := plan_preflight(run, pricer)) is not None]
        if not plans:
            return False
        self.spending.cap = preflight.agree(plans, whole) if any(plan.calls for plan in plans) else None
        for plan in plans:
            with self._contained(plan.run):
                self._hold(plan, preflight)
        return True

    def _hold(self, plan: PreflightPlan, preflight: Preflighting) -> None:
        ledger = self.spending.ledger(judge_account(plan.run.judge.name), plan.run.name)
        try:
            result = call_preflight(plan, ledger)
        finally:
            ledger.close()
        preflight.show(result)
        result.check()

    def complete(self, run: Run, pricer: Pricer | None) -> FinishedRun | None:
        """Makes the calls of a run and measures it; None if its judge is lost."""
        ledger = self.spending.ledger(judge_account(run.judge.name), run.name)
        self.spending.note(run.folder)
        with self._contained(run):
            return complete_run(
                run,
                self._concurrency,
                lambda name, total: self._terms.watch(name, total, ledger),
                meter=Meter(pricer or FREE, ledger),
                calls=self._terms.calls,
            )
        return None

    @contextmanager
    def _contained(self, run: Run) -> Iterator[None]:
        """Contains what is wrong with one judge of several. What concerns the money of all of them is not contained."""
        try:
            yield
        except (CapReached, SpendRefused, Terminated):
            raise
        except UmpiricalError as error:
            if self._terms.lose is None or len(self._priced) == 1:
                raise
            self._lost.add(run.name)
            self._terms.lose(run.judge.name, error)


# The steps of the story.


def plan_runs(study: Study[Any], judges: Sequence[str], *, fresh: bool = False) -> list[Run]:
    """Plans the runs of the named judges, or of all; if `fresh`, new runs that reuse no answers from earlier ones."""
    chosen, options = study.chosen(judges), PlanOptions(fresh=fresh)
    refuse_juries(study)
    with one_at_a_time(study.folder):
        stimuli = study.protocol.stimuli(study)
        return [prepare_run(study, judge, stimuli=stimuli, options=options) for judge in chosen]


def planning_remarks(study: Study[Any], planned: Sequence[Run]) -> Iterator[str]:
    """Yields the protocol's one-line remark on the stimuli, and from which runs answers are taken over."""
    if planned and (line := study.protocol.stimuli_line(planned[0].stimuli)):
        yield line
    for run in planned:
        if tests := run.judge.test_prompts:
            yield f"{run.judge.name}: uses a special prompt for {', '.join(tests)}"
        for name, found in sorted(reused_counts(run.store).items()):
            yield f"{run.judge.name}: {found:,} answers are reused from run {name}"
        for name, damage in sorted(excluded_runs(run.store).items()):
            yield f"{run.judge.name}: no answers are reused from run {name}: {damage}"


def follow_run(folder: Path, agree: Agree) -> tuple[Run, tuple[str, ...]]:
    """Plans a run that asks what would settle what a run leaves open; returns it, and what it asks more of.

    The run says who is asked, so this raises NotTrusted unless `agree` agrees to that. The stimuli begin with those of
    the run, whose answers are reused, so the judge is measured on both.
    """
    run = open_run(folder)
    ensure_judge_trusted(run.judge, run.call.folder, agree)
    protocol = protocol_of_run(run.store)
    if not isinstance(protocol, FollowsUp):
        raise FollowsUp.missing(protocol)
    follow_up = protocol.more(run, protocol.report(run))
    ensure_trusted(follow_up.study, agree)
    with one_at_a_time(follow_up.study.folder):
        options = PlanOptions(about={**follow_up.about, "command": f"umpirical extend runs/{run.folder.name}"})
        more = prepare_run(follow_up.study, run.judge, stimuli=follow_up.stimuli, options=options)
    return more, follow_up.words


def spending_of(priced: Sequence[tuple[Run, Pricer | None]]) -> Spending:
    """Returns the accounts of the judges whose calls have a price."""
    accounts: dict[str, Callable[[], Bill]] = {}
    for run, pricer in priced:
        if run.judge.model is not None and pricer is not None and pricer is not FREE and pricer is not UNPRICED:
            name, folder = run.judge.name, run.call.folder
            accounts[judge_account(name)] = partial(recorded_bill, folder, name, pricer)
    return Spending(priced[0][0].call.folder if priced else Path(), accounts)


def next_shards(run: Run, watcher: Watcher) -> range:
    """Plans the next round of a run that stops as soon as it is decided, and returns its shards; none if it is over."""
    protocol = protocol_of_run(run.store)
    if not isinstance(protocol, AsksInRounds) or "looks" not in run.manifest:
        return range(0)
    following = protocol.next_round(run)
    if not following.stimuli:
        if run.most_trials > run.trials or (following.capped and "capped" not in run.manifest):
            capped: dict[str, Json] = {"capped": run.most_trials} if following.capped else {}
            run.store.write_manifest({**run.manifest, "most_trials": run.trials, **capped})
            if isinstance(watcher, EndsEarly):
                watcher.ended()
        return range(0)
    if isinstance(watcher, Told):
        watcher.told(following.how_far)
    return extend_plan(run.store, run.call.open_judge(), run.stimuli, protocol.design_of(run), set(following.stimuli))


def complete_run(
    run: Run,
    concurrency: int,
    watch: Callable[[str, int], Watch],
    *,
    meter: Meter | None = None,
    calls: CallOptions | None = None,
) -> FinishedRun:
    """Calls what is left, then measures and writes the documents. The ledger of `meter` is closed before that."""
    meter, calls = meter or Meter(FREE, Ledger()), calls or CallOptions()
    calling = Calling(concurrency, meter, outages=Outages(calls.patience))
    if run.store.has_depot() and not calls.through:
        calls.log(f"run {run.name} may have answers in object storage: add the same --through to collect them")
    calling = replace(calling, processes=calls.processes_for(run, calling))
    executor = calls.factory(calling)
    try:
        with watch(run.judge.name, run.most_trials) as watcher:
            executor.run(range(run.shards), run.call, run.store, watcher)
            while shards := next_shards(run, watcher):
                executor.run(shards, run.call, run.store, watcher)
    finally:
        meter.ledger.close()
    return finished_run(run.folder)
