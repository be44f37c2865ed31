"""The functions of the Python API."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from umpirical.api.counts import measure_counts
from umpirical.api.results import JuryReport, Measures, Report
from umpirical.api.studies import JudgeEntry, Scale, datasheet_study, stress_study
from umpirical.domain.errors import SpendRefused, UmpiricalError, UsageError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import measure_all
from umpirical.models.money import Ledger, booked_line
from umpirical.models.prices import TokenPrices
from umpirical.progress import tell, watch_run
from umpirical.protocols.records import read_record
from umpirical.protocols.study import Study
from umpirical.reports.gate import GateDecision
from umpirical.reports.record import Record, measure_record
from umpirical.reports.regressions import MARGIN
from umpirical.runs.executor import LOCAL, Unwatched
from umpirical.runs.loop import STOPPER, Stopper
from umpirical.study.estimate import PlanEstimate
from umpirical.study.file import load_study
from umpirical.study.gate import gate_run
from umpirical.study.preflight import Preflight, PreflightPlan
from umpirical.study.run import Asking, Watch, measure_judges
from umpirical.study.spending import enough
from umpirical.study.trust import agree_if

if TYPE_CHECKING:
    from umpirical.api.verdicts import MeasuredVerdicts
    from umpirical.claims.record import Claim, Correction, LabelSample
    from umpirical.datasets.verdicts.targets import Estimand
    from umpirical.protocols.datasheet.record import Datasheet
    from umpirical.protocols.stress.record import StressReport

__all__ = [
    "claim",
    "claim_async",
    "correct",
    "correct_async",
    "datasheet",
    "datasheet_async",
    "gate",
    "gate_async",
    "jury",
    "jury_async",
    "load",
    "load_async",
    "measure",
    "measure_async",
    "measure_verdicts",
    "measure_verdicts_async",
    "run",
    "run_async",
    "stress",
    "stress_async",
]

P = ParamSpec("P")
T = TypeVar("T")

FOLDER = "umpirical-runs"
"""Where runs are kept, unless a folder is named."""


def datasheet(  # noqa: PLR0913  # each by its name
    judge: object,
    *,
    size: str = "standard",
    arms: Sequence[str] = (),
    repeats: int = 1,
    name: str | None = None,
    kind: JudgeKind | None = None,
    scale: Scale | None = None,
    seed: int = 1,
    folder: str | Path = FOLDER,
    concurrency: int = 16,
    deadline: float | None = None,
    max_cost: Decimal | float | str | None = None,
    prices: Mapping[str, tuple[float, float]] | None = None,
    allow_unpriced: bool = False,
    executor: str = LOCAL,
    processes: int | None = None,
    progress: bool = True,
    preflight: bool = True,
    trust: bool = False,
) -> "Report[Datasheet]":
    """Measures a judge on controlled stimuli: dark current, the quality ladder, both orders, the criterion.

    `judge` is a function or any judge object, the name of a judge in the study file of `folder`, a file with a judge in
    it (judge.yaml), a path (module:function), a model (provider/model), simulated:NAME, or a mapping with the keys that
    a judge has in a study file. A function is called with the task and the two candidates, and answers "1", "2", "tie"
    or "abstain"; with `scale`, it is called with the task and one response, and answers with a grade. An exception that
    it raises is counted as the outcome of that call, and so is a call that takes longer than `deadline` seconds (120,
    unless the judge's file says otherwise). `name` is what the report calls the judge; `kind` is compare or grade, and
    follows from `scale` if left out.

    `size` is screen (336 calls), paper (620), standard (1,248) or full (2,496). `arms` are further tie instructions:
    strict, forced-choice. Everything is asked `repeats` times. The stimuli are drawn by `seed`.

    Answers are kept in `folder`, and the same call resumes an earlier one. `concurrency` is the number of calls made at
    a time, `executor` is what makes them, in so many `processes` of this machine (by default, as many as help, which is
    1 for most judges), and `progress` shows a bar meanwhile. Calls that may be billed need `max_cost`, in US dollars:
    without it, an error states the price and nothing is sent. It is the budget for the judge in `folder`, with
    everything that earlier calls and other processes have spent. `prices` are dollars per million tokens in and out, by
    model; `allow_unpriced` permits calls to a model whose price is unknown. First, four calls show whether the judge's
    answers can be read: if not, `umpirical.domain.errors.JudgeUnreadable` says what came back and what to do. Without
    `preflight`, such a judge is measured as it is.

    A study file or a judge file says whom to send to, with which key, and what code to run, and a folder may come with
    answers. The first time, `umpirical.domain.errors.NotTrusted` lists that, and nothing is done; `trust` agrees to it.
    """
    study = datasheet_study(
        [judge],
        Path(folder),
        agree=agree_if(trust=trust),
        size=size,
        arms=arms,
        repeats=repeats,
        seed=seed,
        concurrency=concurrency,
        entry=JudgeEntry(name, kind, scale, deadline),
    )
    [report] = _measured(study, (), _Terms(max_cost, prices, allow_unpriced, executor, processes, progress, preflight))
    return report


def stress(  # noqa: PLR0913  # each by its name
    judge: object,
    data: str | Path | Iterable[Mapping[str, Any]],
    *,
    rubric: str = "",
    instruction: str = "",
    response: str | None = None,
    label: str | None = None,
    task: str | None = None,
    scale: Scale | None = None,
    tests: Sequence[str] | None = None,
    repeats: int = 3,
    sample: int | None = None,
    name: str | None = None,
    seed: int = 1,
    folder: str | Path = FOLDER,
    concurrency: int = 16,
    deadline: float | None = None,
    max_cost: Decimal | float | str | None = None,
    prices: Mapping[str, tuple[float, float]] | None = None,
    allow_unpriced: bool = False,
    executor: str = LOCAL,
    processes: int | None = None,
    progress: bool = True,
    preflight: bool = True,
    trust: bool = False,
) -> "Report[StressReport]":
    """Measures a judge that grades on changed versions of your own responses, which should get the same verdict.

    `data` is a CSV, JSON Lines or Parquet file, or rows as mappings. `response`, `label` and `task` name its columns;
    columns that you leave out are guessed, and so is `scale`. `sample` is the number of rows to take; by default, all.
    `rubric` and `instruction` become part of the prompt of a model; a function has its own. `tests` are perturbations
    that a program makes, plus stability or seeds; those that a model writes need a study file. Originals are asked
    `repeats` times and, if that is more than once, changed texts twice, which shows the judge's own noise. The other
    parameters are those of `datasheet`.
    """
    study = stress_study(
        judge,
        data,
        Path(folder),
        agree=agree_if(trust=trust),
        texts={"rubric": rubric, "instruction": instruction},
        columns={"response": response, "label": label, "task": task},
        scale=scale,
        tests=tests,
        repeats=repeats,
        sample=sample,
        seed=seed,
        concurrency=concurrency,
        entry=JudgeEntry(name, "grade", None, deadline),
    )
    [report] = _measured(study, (), _Terms(max_cost, prices, allow_unpriced, executor, processes, progress, preflight))
    return report


def run(  # noqa: PLR0913  # each by its name
    study: str | Path,
    *,
    judges: Sequence[str] = (),
    outside: bool = False,
    max_cost: Decimal | float | str | None = None,
    prices: Mapping[str, tuple[float, float]] | None = None,
    allow_unpriced: bool = False,
    max_calls: int | None = None,
    fresh: bool = False,
    executor: str = LOCAL,
    processes: int | None = None,
    progress: bool = True,
    preflight: bool = True,
    trust: bool = False,
) -> list[Report[Record]]:
    """Measures the judges of a study file (or of the one in a folder) as `umpirical run` does; one report for each.

    `study` is the file or its folder. `judges` are the names of those to measure; by default, all.
    `outside` allows the study's dataset to be outside its folder; `fresh` reuses no answers from earlier runs;
    `max_calls` is the most calls that one judge may take, a million by default. The other parameters are those of
    `datasheet`. A judge that cannot be asked does not stop the others: its error is raised when they are measured.
    """
    loaded = load_study(Path(study), agree_if(trust=trust), outside=outside, max_calls=max_calls)
    terms = _Terms(max_cost, prices, allow_unpriced, executor, processes, progress, preflight)
    return _measured(loaded, judges, terms, fresh=fresh)


def load(path: str | Path) -> Report[Record]:
    """Reads a stored record. Makes no calls. `path` is a JSON file, or the folder of a measured run."""
    found = read_record(Path(path))
    return Report(found.protocol, found.record, found.run)


def gate(
    run: str | Path,
    *,
    policy: str | Mapping[str, Any] = "",
    baseline: str | Path | None = None,
    margin: float = MARGIN,
) -> GateDecision:
    """Holds a measured judge to a policy, and to an earlier run of it, as `umpirical gate` does. Makes no calls.

    `run` is the folder of a run, the name of a run or a judge, a study's folder with one run, or a JSON file with
    a record. The responses of a run are read again. `policy` is a shipped one by its name, a .yaml file, or
    a mapping with the keys of such a file; by default, the one that the run was made for. `baseline` is an earlier run
    or record on the same stimuli: a measure that the policy limits, and that is shown to be worse by more than
    `margin`, is a regression. The decision has a `verdict`, an `exit_code`, every limit with its `effect`, and the rows
    of the baseline.
    """
    return gate_run(run, policy=policy, baseline=baseline, margin=margin)


def measure(
    counts: Tallies | Mapping[str, Any], *, kind: JudgeKind = "compare", protocol: str = "datasheet"
) -> Measures:
    """Computes measures from counts, such as those published in a paper. Makes no calls, and needs no run.

    `counts` are tallies, or a mapping such as {"pairs": [{"cluster": "t1", "arm": "baseline", ...}]}: the fields of
    `umpirical.domain.tallies.Tallies` and of the tallies in it. `kind` is the judge's, compare or grade, and `protocol`
    is datasheet or stress: they decide which measures there are. A measure that depends on a count which the mapping
    does not have is undefined, and says so.
    """
    if isinstance(counts, Tallies):
        found = measure_all(counts, kind=kind, protocol=protocol)
    else:
        found = measure_counts(counts, kind=kind, protocol=protocol)
    return Measures(measure_record(spec, measure) for spec, measure in found)


def measure_verdicts(
    file: str | Path,
    *,
    form: str | None = None,
    columns: Mapping[str, str] | None = None,
    kind: JudgeKind | None = None,
    scale: Scale | str | None = None,
) -> "list[MeasuredVerdicts]":
    """Measures verdicts that judges gave in the past, as they stand in a file; one result for each judge in it.

    `file` is a log of Inspect's, the results of DeepEval, promptfoo or MLflow, a file of MT-Bench, Arena-Hard or
    JudgeBench, or a table. `form` is the format, if the file does not show it. `columns` are those of a table by role:
    verdict, item, order, repeat, label, judge, task. `kind` is compare or grade. `scale` has all grades that could have
    been given; by default, those that were. Each result also says what such data can and cannot tell.
    """
    from umpirical.api.studies import grade_scale
    from umpirical.api.verdicts import measure_file
    from umpirical.datasets.verdicts.formats import read_verdicts
    from umpirical.datasets.verdicts.past_verdict import Asking
    from umpirical.datasets.verdicts.scales import parse_scale

    said = parse_scale(scale) if isinstance(scale, str) else None if scale is None else grade_scale(scale)
    found = read_verdicts(Path(file), Asking(dict(columns or {}), kind, said), form)
    return measure_file(found, said)


def jury(
    runs: Iterable[str | Path],
    *,
    rule: str | None = None,
    choose: bool = False,
    budget: Decimal | float | str | None = None,
    folder: str | Path = "juries",
) -> JuryReport:
    """Makes one judge of several that were measured on the same stimuli, and measures it. Makes no calls.

    `runs` are folders of runs, as in `Report.folder`; a study's folder stands for all of its runs. `rule` is majority,
    weighted or dawid-skene. With `choose`, the best three to seven judges are chosen, by the best rule if none is
    given, and `budget` is the most dollars that 1,000 verdicts may cost. What is learned or chosen is settled on one
    half of the task families, and every figure is then about the other half.
    """
    from umpirical.protocols.datasheet.juries.jury import seat_jury
    from umpirical.protocols.datasheet.protocol import DATASHEET
    from umpirical.study.run_targets import find_runs

    found = [run for target in runs for run in find_runs(target).runs]
    seated = seat_jury(found, Path(folder), rule=rule, choose=choose, budget=_dollars("budget", budget))
    return JuryReport(DATASHEET, seated.datasheet, seated.documents.json.parent, seated.jury)


def correct(  # noqa: PLR0913  # each by its name
    file: str | Path,
    *,
    estimate: "Estimand",
    columns: Mapping[str, str] | None = None,
    scale: str = "",
    labels: "LabelSample" = "random",
    record: str | Path | None = None,
    sensitivity: str = "",
    specificity: str = "",
    step: float = 1.0,
) -> "Correction":
    """Corrects a win rate, a pass rate or a mean score for the errors of the judge that it rests on. Makes no calls.

    `file` is a CSV, JSON Lines or Parquet table of verdicts. `estimate` is win-rate, pass-rate or mean-score; a mean
    score needs the ends of its `scale`, such as "1..5". `columns` are those of the table by role: verdict, label, item,
    cluster, system. `labels` says how the labelled rows were chosen: "random", for PPI++, or "by-label", for Rogan and
    Gladen's estimator. Where there are no labels, `record` is the judge's datasheet, for bounds of a win rate, or its
    stress report, for a pass rate; or `sensitivity` and `specificity` are counts such as "45/50". `step` is the least
    difference that counts, in requirements, for bounds.

    The result has a record for each system, what is assumed, and undefined estimates with their reason.
    """
    from umpirical.claims.correction import Asked, correct_file

    asked = Asked(estimate, dict(columns or {}), scale, labels, record, sensitivity, specificity, step)
    return correct_file(Path(file), asked)


def claim(result: "Correction | str | Path", *, datasheet: str | Path) -> "Claim":
    """Joins a corrected estimate and the datasheet of its judge into one statement to publish. Makes no calls.

    `result` is what `correct` returned, or the JSON that `umpirical correct` wrote. `datasheet` is the judge's run, to
    whose responses the record is held, or the JSON of the record alone. The claim has sentences, assumptions, digests.
    """
    from umpirical.claims.documents import read_correction
    from umpirical.claims.judge_records import read_judge
    from umpirical.claims.record import Correction
    from umpirical.claims.statement import make_claim

    correction = result if isinstance(result, Correction) else read_correction(Path(result))
    return make_claim(correction, read_judge(datasheet))


def _twin(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """The same function in a thread, so that the event loop is not blocked. If cancelled, answers so far are kept."""

    @wraps(function)
    async def twin(*args: P.args, **kwargs: P.kwargs) -> T:
        stopper = Stopper()

        def work() -> T:
            STOPPER.set(stopper)
            return function(*args, **kwargs)

        working = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            return await asyncio.shield(working)
        except asyncio.CancelledError:
            stopper.stop()
            with suppress(BaseException):
                await working
            raise

    twin.__name__ = twin.__qualname__ = f"{function.__name__}_async"
    twin.__doc__ = f"The awaitable form of `{function.__name__}`. If cancelled, the answers received so far are kept."
    return twin


datasheet_async = _twin(datasheet)
jury_async = _twin(jury)
stress_async = _twin(stress)
run_async = _twin(run)
load_async = _twin(load)
gate_async = _twin(gate)
measure_async = _twin(measure)
measure_verdicts_async = _twin(measure_verdicts)
correct_async = _twin(correct)
claim_async = _twin(claim)


@dataclass(frozen=True, slots=True)
class _Terms:
    """How a judge is asked, and what that may cost."""

    max_cost: Decimal | float | str | None
    prices: Mapping[str, tuple[float, float]] | None
    allow_unpriced: bool
    executor: str
    processes: int | None
    progress: bool
    preflight: bool

    def consent(self, estimate: PlanEstimate) -> Decimal | None:
        cap = _dollars("max_cost", self.max_cost)
        if estimate.bound and cap is None:
            booked = f"; {booked_line(estimate.booked, None)} already" if estimate.booked.total else ""
            raise SpendRefused(
                f"{estimate.calls:,} calls may cost up to ${estimate.bound}, and no budget has been agreed to{booked}",
                fix=f"pass max_cost={enough(estimate.booked, estimate.bound)}, or less: no call is sent that might "
                "exceed it",
            )
        return cap

    def overrides(self) -> dict[str, TokenPrices]:
        given = (self.prices or {}).items()
        return {name: TokenPrices(*(Decimal(str(price)) for price in each)) for name, each in given}

    def asking(self) -> Asking:
        if self.processes is not None and self.processes < 1:
            raise UsageError(f"processes is {self.processes}", fix="pass processes=1, or more")
        return Asking(self.executor, self.processes, tell if self.progress else lambda _: None)

    def watch(self, name: str, total: int, ledger: Ledger) -> Watch:
        return watch_run(name, total, ledger) if self.progress else Unwatched()


def _dollars(name: str, given: Decimal | float | str | None) -> Decimal | None:
    try:
        amount = None if given is None else Decimal(str(given))
    except InvalidOperation:
        amount = Decimal("NaN")
    if amount is None or (amount.is_finite() and amount >= 0):
        return amount
    raise UsageError(f"{name} is {given!r}", fix=f"give an amount in US dollars, such as {name}=5")


class _Preflights:
    """Holds preflights under the caller's terms: whoever agrees to everything agrees to a few calls of it."""

    def __init__(self, terms: _Terms) -> None:
        self._terms = terms

    def agree(self, _: Sequence[PreflightPlan], whole: PlanEstimate) -> Decimal | None:
        return self._terms.consent(whole)

    def show(self, found: Preflight) -> None: ...


def _measured(study: Study[Any], judges: Sequence[str], terms: _Terms, *, fresh: bool = False) -> list[Report[Any]]:
    """Measures judges. One that cannot be asked does not stop the others; its error is raised at the end."""
    lost: dict[str, UmpiricalError] = {}
    finished = measure_judges(
        study,
        judges,
        consent=terms.consent,
        watch=terms.watch,
        prices=terms.overrides(),
        allow_unpriced=terms.allow_unpriced,
        fresh=fresh,
        asking=terms.asking(),
        preflight=_Preflights(terms) if terms.preflight else None,
        lose=lambda run, error: lost.update({run.judge.name: error}),
    )
    reports = [Report(run.protocol, run.record, run.folder) for run in finished]
    if lost:
        raise _told_all(lost, [report.judge for report in reports])
    return reports


def _told_all(lost: Mapping[str, UmpiricalError], measured: Sequence[str]) -> UmpiricalError:
    """Returns the first error, with notes on the others and on the judges that were measured all the same."""
    first, *others = lost.values()
    for other in others:
        first.add_note(f"and: {other}; what to do: {other.fix}" if other.fix else f"and: {other}")
    if measured:
        first.add_note(f"measured and kept: judges={list(measured)!r} returns their reports, and asks nothing")
    return first
