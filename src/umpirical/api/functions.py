"""The functions of the Python API that measure."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umpirical.api.counts import measure_counts
from umpirical.api.options import (
    DatasheetKeywords,
    PairsKeywords,
    RunKeywords,
    Scale,
    StressKeywords,
    TermKeywords,
    of_data,
    of_judge,
    of_study,
)
from umpirical.api.results import Measures, Report
from umpirical.api.studies import datasheet_study, pairs_study, stress_study
from umpirical.api.twins import twin_of
from umpirical.domain.errors import UmpiricalError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import measure_all
from umpirical.protocols.catalogue import read_record
from umpirical.protocols.protocol import Study
from umpirical.reports.record import Record, measure_record
from umpirical.store.snapshots import started
from umpirical.study.file import load_study
from umpirical.study.results import finished_run
from umpirical.study.run import measure_judges, plan_runs
from umpirical.study.trust import agree_if

if TYPE_CHECKING:
    from umpirical.api.verdicts import MeasuredVerdicts
    from umpirical.protocols.datasheet.record import Datasheet
    from umpirical.protocols.pairs.record import PairsReport
    from umpirical.protocols.stress.record import StressReport


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
    terms = options.terms(lambda run, error: lost.update({run.judge.name: error}), fresh=fresh)
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
