"""Runs the judges of a study."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from typing import Protocol as Interface

from umpirical.domain.bills import Bill
from umpirical.domain.errors import SpendRefused, UmpiricalError
from umpirical.judges.spec import JudgeSpec
from umpirical.models.adapters.catalogue import Calling
from umpirical.models.money import FREE, CapReached, Ledger, Meter, Pricer
from umpirical.models.prices import UNPRICED, TokenPrices
from umpirical.protocols.catalogue import protocol_of_run
from umpirical.protocols.protocol import FollowsUp, Study
from umpirical.runs.executor import (
    LOCAL,
    RAY,
    ExecutorFactory,
    Watcher,
    asks_elsewhere,
    check_judge,
    factory_of,
    price_asked,
)
from umpirical.runs.processes import helpful_processes
from umpirical.runs.run import Run, open_run
from umpirical.runs.together import why_alone
from umpirical.store.lock import one_at_a_time
from umpirical.study.estimate import PlanEstimate, estimate_run, pricers_of
from umpirical.study.preflight import Preflighting, ask_preflight, plan_preflight
from umpirical.study.prepare import prepare_run
from umpirical.study.results import FinishedRun, finished_run
from umpirical.study.spending import Spending, judge_account, recorded_bill
from umpirical.study.trust import Agree, ensure_judge_trusted, ensure_trusted


class Watch(Watcher, AbstractContextManager["Watch"], Interface):
    """A watcher that is shown while a run is in progress."""


def plan_runs(study: Study[Any], judges: Sequence[str], *, fresh: bool = False) -> list[Run]:
    """Plans the runs of the named judges, or of all; if `fresh`, new runs that reuse no answers from earlier ones."""
    chosen = _chosen(study, judges)
    with one_at_a_time(study.folder):
        stimuli = study.protocol.stimuli(study)
        return [prepare_run(study, judge, fresh=fresh, stimuli=stimuli) for judge in chosen]


def _chosen(study: Study[Any], judges: Sequence[str]) -> Sequence[JudgeSpec]:
    return [study.judge(name) for name in judges] if judges else study.spec.judges


@dataclass(frozen=True, slots=True)
class Asking:
    """What makes the calls of a command."""

    executor: str = LOCAL
    processes: int | None = None
    """Of this machine, or actors of a cluster; None for as many as help."""
    note: Callable[[str], None] = lambda _: None
    """Receives a sentence about a judge that cannot be asked in as many processes as were requested."""
    through: str = ""
    """URI of the object storage by which machines share the run, if they do not share its folder."""

    @property
    def factory(self) -> ExecutorFactory:
        return factory_of(self.executor, self.through)

    def processes_for(self, run: Run, calling: Calling) -> int:
        elsewhere = asks_elsewhere(self.executor)
        several = elsewhere or (self.processes or 1) > 1
        if several and (why := why_alone(run.call, calling)):
            self.note(f"judge {run.judge.name} is asked in one process: {why}")
        elif several and not elsewhere and run.judge.loads_model:
            self.note(
                f"judge {run.judge.name} is asked in one process: its model is loaded once; --executor {RAY} has one "
                "for each GPU"
            )
        return self.processes or helpful_processes(
            run.call, calls=run.trials, concurrency=calling.concurrency, simulated=run.simulated
        )


def complete_run(
    run: Run,
    concurrency: int,
    watch: Callable[[str, int], Watch],
    *,
    meter: Meter | None = None,
    asking: "Asking | None" = None,
) -> FinishedRun:
    """Asks what is left, then measures and writes the documents. The ledger of `meter` is closed before that."""
    meter, asking = meter or Meter(FREE, Ledger()), asking or Asking()
    calling = Calling(concurrency, meter)
    if run.store.has_depot() and not asking.through:
        asking.note(f"answers of run {run.name} may lie in object storage: --through, as before, takes them up")
    calling = replace(calling, processes=asking.processes_for(run, calling))
    chosen = asking.factory(calling)
    try:
        with watch(run.judge.name, run.trials) as watcher:
            chosen.run(range(run.shards), run.call, run.store, watcher)
    finally:
        meter.ledger.close()
    return finished_run(run.folder)


Lose = Callable[[Run, UmpiricalError], None]
"""Receives a run that could not be completed, and why: its judge is lost to the command, and the others are not."""

Consent = Callable[[PlanEstimate], Decimal | None]
"""Receives the estimate of what is left to ask, without simulated judges; returns the budget, or raises."""


def measure_judges(  # noqa: PLR0913  # each by its name
    study: Study[Any],
    judges: Sequence[str] = (),
    *,
    consent: Consent,
    watch: Callable[[str, int, Ledger], Watch],
    prices: Mapping[str, TokenPrices] | None = None,
    allow_unpriced: bool = False,
    fresh: bool = False,
    asking: Asking | None = None,
    planned: Callable[[list[Run]], None] = lambda _: None,
    preflight: Preflighting | None = None,
    tell: Callable[[Spending], None] = lambda _: None,
    lose: Lose | None = None,
) -> Iterator[FinishedRun]:
    """Measures the named judges, or all, one after another, once the price has been agreed to.

    With `preflight`, a few calls of each judge come first, and JudgeUnreadable is raised if its answers cannot be read.
    If there are several judges, what is wrong with one of them does not stop the others: `lose` receives it, and it is
    raised only without `lose`. `tell` receives what was spent, however it ends.

    The command line and the Python API both measure through this function: the price always precedes the spending, and
    one budget holds for all judges of the command.
    """
    asking = asking or Asking()
    # Before anything is made: an executor that is not there, or that cannot ask one of the judges, or not in this way.
    _ = asking.factory
    for judge in _chosen(study, judges):
        check_judge(asking.executor, judge)
    runs = plan_runs(study, judges, fresh=fresh)
    planned(runs)
    yield from ask_runs(
        runs,
        study.spec.concurrency,
        consent=consent,
        watch=watch,
        prices=prices,
        allow_unpriced=allow_unpriced,
        asking=asking,
        preflight=preflight,
        tell=tell,
        lose=lose,
    )


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
    followed = protocol.more(run, protocol.report(run))
    ensure_trusted(followed.study, agree)
    with one_at_a_time(followed.study.folder):
        more = prepare_run(followed.study, run.judge, stimuli=followed.stimuli, about=followed.about)
    return more, followed.words


def ask_runs(  # noqa: PLR0913  # each by its name
    runs: Sequence[Run],
    concurrency: int,
    *,
    consent: Consent,
    watch: Callable[[str, int, Ledger], Watch],
    prices: Mapping[str, TokenPrices] | None = None,
    allow_unpriced: bool = False,
    asking: Asking | None = None,
    preflight: Preflighting | None = None,
    tell: Callable[[Spending], None] = lambda _: None,
    lose: Lose | None = None,
) -> Iterator[FinishedRun]:
    """Completes planned runs one after another, once the price has been agreed to; `lose` as in `measure_judges`."""
    single = pricers_of(runs, prices or {}, allow_unpriced=allow_unpriced)
    pricers = [price_asked((asking or Asking()).executor, pricer) for pricer in single]
    priced = list(zip(runs, pricers, strict=True))
    spending, losing = spending_of(priced), _Losing(lose if len(runs) > 1 else None)

    def estimate() -> PlanEstimate:
        real = [(run, pricer) for run, pricer in priced if not run.simulated and run.name not in losing.lost]
        rows = tuple(estimate_run(run, pricer, concurrency=concurrency) for run, pricer in real)
        return PlanEstimate(rows, spending.booked())

    whole = estimate()
    _refuse(whole)
    try:
        # A preflight makes single calls, whatever comes after it.
        if preflight is not None and _fly(list(zip(runs, single, strict=True)), preflight, whole, spending, losing):
            whole = estimate()
        if len(losing.lost) == len(runs):
            return
        spending.cap = consent(whole)
        for run, pricer in priced:
            if run.name in losing.lost:
                continue
            ledger = spending.ledger(judge_account(run.judge.name), run.name)
            meter = Meter(pricer or FREE, ledger)
            spending.note(run.folder)
            finished = None
            with losing.contain(run):
                finished = complete_run(run, concurrency, _watched(watch, ledger), meter=meter, asking=asking)
            if finished is not None:
                yield finished
    except CapReached as reached:
        raise spending.go_on(reached, estimate().bound) from None
    finally:
        tell(spending)


class _Losing:
    """Contains what is wrong with one judge of several. What concerns the money of all of them is not contained."""

    def __init__(self, lose: Lose | None) -> None:
        self._lose = lose
        self.lost: set[str] = set()
        """Names of the runs that could not be completed."""

    @contextmanager
    def contain(self, run: Run) -> Iterator[None]:
        try:
            yield
        except (CapReached, SpendRefused):
            raise
        except UmpiricalError as error:
            if self._lose is None:
                raise
            self.lost.add(run.name)
            self._lose(run, error)


def spending_of(priced: Sequence[tuple[Run, Pricer | None]]) -> Spending:
    """Returns the accounts of the judges whose calls have a price."""
    accounts: dict[str, Callable[[], Bill]] = {}
    for run, pricer in priced:
        if run.judge.model is not None and pricer is not None and pricer is not FREE and pricer is not UNPRICED:
            name, folder = run.judge.name, run.call.folder
            accounts[judge_account(name)] = partial(recorded_bill, folder, name, pricer)
    return Spending(priced[0][0].call.folder if priced else Path(), accounts)


def _watched(watch: Callable[[str, int, Ledger], Watch], ledger: Ledger) -> Callable[[str, int], Watch]:
    return lambda name, total: watch(name, total, ledger)


def _refuse(estimate: PlanEstimate) -> None:
    for run in estimate.runs:
        if run.calls and run.refusal:
            raise SpendRefused(f"judge {run.judge}: {run.refusal}", fix=run.fix)


def _fly(
    priced: Sequence[tuple[Run, Pricer | None]],
    preflight: Preflighting,
    whole: PlanEstimate,
    spending: Spending,
    losing: _Losing,
) -> bool:
    """Holds the preflights of all judges that need one; returns whether there were any."""
    plans = [plan for run, pricer in priced if (plan := plan_preflight(run, pricer)) is not None]
    if not plans:
        return False
    spending.cap = preflight.agree(plans, whole) if any(plan.calls for plan in plans) else None
    for plan in plans:
        ledger = spending.ledger(judge_account(plan.run.judge.name), plan.run.name)
        with losing.contain(plan.run):
            try:
                found = ask_preflight(plan, ledger)
            finally:
                ledger.close()
            preflight.show(found)
            found.check()
    return True
