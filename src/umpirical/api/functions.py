"""The functions of the Python API that measure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umpirical.api.amounts import in_dollars
from umpirical.api.counts import measure_counts
from umpirical.api.results import Measures, Report
from umpirical.api.studies import JudgeEntry, Scale, datasheet_study, pairs_study, stress_study
from umpirical.api.twins import twin_of
from umpirical.domain.errors import SpendRefused, UmpiricalError, UsageError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import measure_all
from umpirical.models.money import Ledger, booked_line
from umpirical.models.prices import TokenPrices
from umpirical.progress import tell, watch_run
from umpirical.protocols.catalogue import read_record
from umpirical.protocols.protocol import Study
from umpirical.reports.record import Record, measure_record
from umpirical.runs.executor import LOCAL, Unwatched
from umpirical.study.estimate import PlanEstimate
from umpirical.study.file import load_study
from umpirical.study.preflight import Preflight, PreflightPlan
from umpirical.study.run import Asking, Watch, measure_judges
from umpirical.study.spending import enough
from umpirical.study.trust import agree_if

if TYPE_CHECKING:
    from umpirical.api.verdicts import MeasuredVerdicts
    from umpirical.protocols.datasheet.record import Datasheet
    from umpirical.protocols.pairs.record import PairsReport
    from umpirical.protocols.stress.record import StressReport

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


def pairs(  # noqa: PLR0913  # each by its name
    judge: object,
    data: str | Path | Iterable[Mapping[str, Any]],
    *,
    chosen: str | None = None,
    rejected: str | None = None,
    task: str | None = None,
    strata: Sequence[str] | None = None,
    edits: Sequence[str] | None = None,
    policy: Mapping[str, Any] | None = None,
    repeats: int = 1,
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
) -> "Report[PairsReport]":
    """Measures a judge that compares on labelled pairs: in both orders, and after harmless edits of one answer.

    `data` is a CSV, JSON Lines or Parquet file, or rows as mappings. `chosen`, `rejected` and `task` name its columns,
    and `strata` those by which results are split; columns that you leave out are found by their names in RewardBench:
    chosen, rejected, prompt, subset. `sample` is the number of rows to take; by default, all. `edits` are perturbations
    that a program makes in one answer at a time; an empty list makes none. `policy` has limits to hold the judge to:
    accuracy, same_slot, changes, without_verdict. Everything is asked `repeats` times, and two or more show the judge's
    own noise. The other parameters are those of `datasheet`.
    """
    study = pairs_study(
        judge,
        data,
        Path(folder),
        agree=agree_if(trust=trust),
        columns={"chosen": chosen, "rejected": rejected, "task": task, "strata": strata},
        terms={"edits": edits, "policy": policy},
        repeats=repeats,
        sample=sample,
        seed=seed,
        concurrency=concurrency,
        entry=JudgeEntry(name, "compare", None, deadline),
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
    from umpirical.datasets.verdicts.past_verdicts import Asking, parse_scale

    said = parse_scale(scale) if isinstance(scale, str) else None if scale is None else grade_scale(scale)
    found = read_verdicts(Path(file), Asking(dict(columns or {}), kind, said), form)
    return measure_file(found, said)


datasheet_async = twin_of(datasheet)
stress_async = twin_of(stress)
pairs_async = twin_of(pairs)
run_async = twin_of(run)
load_async = twin_of(load)
measure_async = twin_of(measure)
measure_verdicts_async = twin_of(measure_verdicts)


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
        cap = in_dollars("max_cost", self.max_cost)
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
