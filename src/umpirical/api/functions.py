"""The functions of the Python API: those that measure, and those that make something of what was measured."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from umpirical.api.options import (
    DatasheetKeywords,
    PairsKeywords,
    RunKeywords,
    Scale,
    StressKeywords,
    TermKeywords,
    in_dollars,
    of_data,
    of_file,
    of_judge,
    of_study,
)
from umpirical.api.results import ComparedJudges, JuryReport, Measures, Report, compare_targets
from umpirical.api.studies import datasheet_study, pairs_study, stress_study
from umpirical.api.verdicts import measure_counts
from umpirical.claims.correction import CorrectionOptions, correct_file
from umpirical.domain.errors import UmpiricalError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import measure_all
from umpirical.protocols.catalogue import read_record
from umpirical.protocols.protocol import Study
from umpirical.reports.gate import GateDecision
from umpirical.reports.record import Record, measure_record
from umpirical.reports.regressions import MARGIN
from umpirical.runs.loop import STOPPER, Stopper
from umpirical.store.snapshots import started
from umpirical.study.file import load_study
from umpirical.study.results import finished_run, gate_run
from umpirical.study.run import measure_judges, plan_runs
from umpirical.study.trust import agree_if

if TYPE_CHECKING:
    from umpirical.api.verdicts import MeasuredVerdicts
    from umpirical.claims.record import Claim, Correction
    from umpirical.protocols.datasheet.record import Datasheet
    from umpirical.protocols.pairs.record import PairsReport
    from umpirical.protocols.stress.record import StressReport


P = ParamSpec("P")
T = TypeVar("T")


def twin_of(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
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


# The functions of the Python API that measure.


@of_judge(DatasheetKeywords)
def datasheet(judge: object, options: DatasheetKeywords) -> "Report[Datasheet]":
    """Measures a judge on controlled stimuli: dark current, the quality ladder, both orders, the criterion.

    `judge` is a function or any judge object, the name of a judge in the study file of `folder`, a file with a judge in
    it (judge.yaml), a path (module:function), a model (provider/model), simulated:NAME, or a mapping with the keys that
    a judge has in a study file. A function is called with the task and the two candidates, and answers "1", "2", "tie"
    or "abstain"; with `scale`, it is called with the task and one response, and answers with a grade. An exception that
    it raises is counted as the outcome of that call, and so is a call that takes longer than `deadline` seconds (120,
    unless the judge's file says otherwise). `name` is what the report calls the judge; `kind` is compare or grade, and
    follows from `scale` if left out.

    `size` is screen (336 calls), paper (620), standard (1,368) or full (2,640). `arms` are further tie instructions:
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
    [report] = _measured(datasheet_study([judge], options), (), options)
    return report


@of_data(StressKeywords)
def stress(
    judge: object, data: str | Path | Iterable[Mapping[str, Any]], options: StressKeywords
) -> "Report[StressReport]":
    """Measures a judge that grades on changed versions of your own responses, which should get the same verdict.

    `data` is a CSV, JSON Lines or Parquet file, or rows as mappings. `response`, `label` and `task` name its columns;
    columns that you leave out are guessed, and so is `scale`. `sample` is the number of rows to take; by default, all.
    `rubric` and `instruction` become part of the prompt of a model; a function has its own. `tests` are perturbations
    that a program makes, plus stability or seeds; those that a model writes need a study file. Originals are asked
    `repeats` times and, if that is more than once, changed texts twice, which shows the judge's own noise. The other
    parameters are those of `datasheet`.
    """
    [report] = _measured(stress_study(judge, data, options), (), options)
    return report


@of_data(PairsKeywords)
def pairs(
    judge: object, data: str | Path | Iterable[Mapping[str, Any]], options: PairsKeywords
) -> "Report[PairsReport]":
    """Measures a judge that compares on labelled pairs: in both orders, and after harmless edits of one answer.

    `data` is a CSV, JSON Lines or Parquet file, or rows as mappings. `chosen`, `rejected` and `task` name its columns,
    and `strata` those by which results are split; columns that you leave out are found by their names in RewardBench:
    chosen, rejected, prompt, subset. `sample` is the number of rows to take; by default, all. `edits` are perturbations
    that a program makes in one answer at a time; an empty list makes none. `policy` has limits to hold the judge to:
    accuracy, same_slot, changes, without_verdict. Everything is asked `repeats` times, and two or more show the judge's
    own noise. The other parameters are those of `datasheet`.
    """
    [report] = _measured(pairs_study(judge, data, options), (), options)
    return report


@of_study(RunKeywords)
def run(study: str | Path, options: RunKeywords) -> list[Report[Record]]:
    """Measures the judges of a study file (or of the one in a folder) as `umpirical run` does; one report for each.

    `study` is the file or its folder. `judges` are the names of those to measure; by default, all.
    `outside` allows the study's dataset to be outside its folder; `fresh` reuses no answers from earlier runs;
    `max_calls` is the most calls that one judge may take, a million by default. The other parameters are those of
    `datasheet`. A judge that cannot be asked does not stop the others: its error is raised when they are measured.
    """
    agree = agree_if(trust=options.trust)
    loaded = load_study(Path(study), agree, outside=options.outside, max_calls=options.max_calls)
    return _measured(loaded, options.judges, options, fresh=options.fresh)


def kept_report(study: Study[Any]) -> Report[Any] | None:
    """Measures what has been answered in a study of one judge, and sends nothing; None if there is nothing yet."""
    [run] = plan_runs(study, ())
    if not started(run.store):
        return None
    finished = finished_run(run.folder)
    return Report(finished.protocol, finished.record, run.folder)


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


def _measured(
    study: Study[Any], judges: Sequence[str], options: TermKeywords, *, fresh: bool = False
) -> list[Report[Any]]:
    """Measures judges. One that cannot be asked does not stop the others; its error is raised at the end."""
    lost: dict[str, UmpiricalError] = {}
    terms = options.terms(lambda judge, error: lost.update({judge: error}), fresh=fresh)
    finished = measure_judges(study, judges, terms)
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


# The functions of the Python API that make something of what was measured. None of them makes a call.


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


def compare(
    *judges: str | Path | Report[Any],
    policy: str | Mapping[str, Any] | None = None,
    reference: str | None = None,
    margin: float | None = None,
) -> ComparedJudges[Any]:
    """Compares judges that were measured on the same stimuli, each with each. Makes no calls.

    `judges` are reports that `datasheet` or `run` returned, folders or names of runs, names of judges, or studies, of
    which all runs are compared. `policy` is the one to hold them to, by default the one that the runs were made for.
    `reference` is the name of a judge that stands as a ceiling: it is never picked, and it is no truth. `margin` is the
    difference between two shares that does not matter, by default 0.05, and 0.02 for lost answers.

    Runs on different controlled stimuli are refused, and so is a run whose files are not what was written. Runs of
    stress tests may be of several studies, which stand side by side; they take neither a policy nor a reference.
    """
    return compare_targets(judges, policy=policy, reference=reference, margin=margin)


def jury(
    runs: Iterable[str | Path],
    *,
    rule: str | None = None,
    choose: bool = False,
    budget: Decimal | float | str | None = None,
    folder: str | Path | None = None,
) -> JuryReport:
    """Makes one judge of several that were measured on the same stimuli, and measures it. Makes no calls.

    `runs` are folders of runs, as in `Report.folder`; a study's folder stands for all of its runs. `rule` is majority,
    weighted or dawid-skene. With `choose`, the best three to seven judges are chosen, by the best rule if none is
    given, and `budget` is the most dollars that 1,000 verdicts may cost. What is learned or chosen is settled on one
    half of the task families, and every figure is then about the other half. The datasheet and the jury's record are
    written below `folder`: by default `juries` in the study or, if the runs are of several, in the working directory.
    """
    from umpirical.protocols.datasheet.jury import seat_jury
    from umpirical.protocols.datasheet.protocol import DATASHEET
    from umpirical.study.results import find_runs, shared_study

    found = [run for target in runs for run in find_runs(target).runs]
    place = shared_study(found) / "juries" if folder is None else Path(folder)
    seated = seat_jury(found, place, rule=rule, choose=choose, budget=in_dollars("budget", budget))
    return JuryReport(DATASHEET, seated.datasheet, seated.documents.json.parent, seated.jury)


@of_file(CorrectionOptions)
def correct(file: str | Path, options: CorrectionOptions) -> "Correction":
    """Corrects a win rate, a pass rate or a mean score for the errors of the judge that it rests on. Makes no calls.

    `file` is a CSV, JSON Lines or Parquet table of verdicts. `estimate` is win-rate, pass-rate or mean-score; a mean
    score needs the ends of its `scale`, such as "1..5". `columns` are those of the table by role: verdict, label, item,
    cluster, system. `labels` says how the labelled rows were chosen: "random", for PPI++, or "by-label", for Rogan and
    Gladen's estimator. Where there are no labels, `record` is the judge's datasheet, for bounds of a win rate, or its
    stress report, for a pass rate; or `sensitivity` and `specificity` are counts such as "45/50". `step` is the least
    difference that counts, in requirements, for bounds.

    The result has a record for each system, what is assumed, and undefined estimates with their reason.
    """
    return correct_file(Path(file), options)


def claim(result: "Correction | str | Path", *, datasheet: str | Path, evidence: str | Path | None = None) -> "Claim":
    """Joins a corrected estimate and the datasheet of its judge into one statement to publish. Makes no calls.

    `result` is what `correct` returned, or the JSON that `umpirical correct` wrote. `datasheet` is the judge's run, to
    whose responses the record is held, or the JSON of the record alone. `evidence` is a run of the same judge on
    labelled pairs or responses; leave it out if `datasheet` is such a run. The claim has sentences, assumptions and
    digests.
    """
    from umpirical.claims.documents import read_correction
    from umpirical.claims.record import Correction
    from umpirical.claims.statement import make_claim, read_judge

    correction = result if isinstance(result, Correction) else read_correction(Path(result))
    return make_claim(correction, read_judge(datasheet), None if evidence is None else read_judge(evidence))


claim_async = twin_of(claim)
compare_async = twin_of(compare)
correct_async = twin_of(correct)
gate_async = twin_of(gate)
jury_async = twin_of(jury)
