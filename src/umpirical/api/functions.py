"""The functions of the Python API: those that measure, and those that make something of what was measured."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from umpirical.api.data import Data, data_file
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
from umpirical.api.results import ComparedJudges, JuryReport, Measures, Report, Verification, compare_targets
from umpirical.api.studies import datasheet_study, pairs_study, stress_study
from umpirical.api.verdicts import measure_counts
from umpirical.claims.correction import CorrectionOptions, correct_file
from umpirical.domain.errors import UmpiricalError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import measure_all
from umpirical.progress import tell
from umpirical.protocols.catalogue import read_record
from umpirical.protocols.protocol import Study
from umpirical.reports.gate import GateDecision
from umpirical.reports.record import Record, measure_record
from umpirical.reports.regressions import MARGIN
from umpirical.runs.loop import STOPPER, Stopper
from umpirical.store.snapshots import started
from umpirical.study.file import load_study
from umpirical.study.results import find_run, finished_run, gate_run
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
    """The same function in a thread, so that the event loop is not blocked. If canceled, answers so far are kept."""

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
    twin.__doc__ = f"The awaitable form of `{function.__name__}`. If canceled, the answers received so far are kept."
    return twin


# The functions of the Python API that measure.


@of_judge(DatasheetKeywords)
def datasheet(judge: object, options: DatasheetKeywords) -> "Report[Datasheet]":
    """Test a judge on questions with known correct answers, and return its datasheet.

    `judge` is a function or judge object, a model (`openai/gpt-4o`), a path (`module:function`), a file (`judge.yaml`),
    `simulated:NAME`, the name of a judge in the study file of `folder`, or a mapping with the keys of a judge in a
    study file. A function gets the task and two candidates and returns "1", "2", "tie" or "abstain". With `scale`, it
    gets the task and one response and returns a grade. An exception or a call longer than `deadline` seconds (120 by
    default) counts as a failed call. `answer` sets how other replies are parsed, with the keys of `answer` in a study
    file. `name` is the judge's name in the report. `kind` is compare or grade; with `scale`, grade is the default.

    The run asks in rounds, stops as soon as the verdict under `policy` is reached, and asks at most `max_calls`.
    `policy` is a shipped one ("ranking" by default), a .yaml file or a mapping with its keys. With `size`, the run asks
    everything: screen (336 calls), paper (620), standard (1,368) or full (2,640). `until` overrides this: "asked" or
    "decided". `variants` adds prompts: strict and forced-choice (about ties), prompt-complexity (a short prompt and two
    longer ones). `design` names a whole design: "paper" asks what the Dark Current paper asks. Each question is asked
    `repeats` times. `seed` draws the test cases.

    Replies are stored in `folder`, and the same call resumes an interrupted one. `concurrency` is the number of calls
    in flight, `executor` makes them, `processes` share them, and `progress` shows a bar. Paid calls need `max_cost`,
    the spending cap in US dollars for this judge in `folder`, earlier runs included. Without it, an error states the
    price and nothing is sent. `prices` are dollars per million tokens in and out, by model. `allow_unpriced` permits
    models with unknown prices. Four preflight calls check that replies can be parsed; if not,
    `umpirical.domain.errors.JudgeUnreadable` shows what came back. Set `preflight` to False to skip them. If a
    server goes down during the run, the run waits for it, up to `wait_for_server` minutes.

    A study file or judge file can name servers, API keys and code to run. The first time,
    `umpirical.domain.errors.NotTrusted` lists them and stops; `trust` approves them.
    """
    [report] = _measured(datasheet_study([judge], options), (), options)
    return report


@of_data(StressKeywords)
def stress(judge: object, data: Data, options: StressKeywords) -> "Report[StressReport]":
    """Test a grading judge on changed versions of your own responses, which should get the same verdict.

    `data` is a CSV, JSON Lines or Parquet file, a data frame, or rows as mappings. `response`, `label` and `task` name
    its columns; omitted columns are guessed, and so is `scale`. `sample` limits the number of rows. `rubric` and
    `instruction` become part of a model's prompt; a function has its own. `tests` are perturbations that a program
    makes, plus stability or seeds; perturbations that a model writes need a study file. Originals are asked `repeats`
    times. With more than one, changed texts are asked twice, which measures the judge's own noise. The other parameters
    are those of `datasheet`.
    """
    [report] = _measured(stress_study(judge, data, options), (), options)
    return report


@of_data(PairsKeywords)
def pairs(judge: object, data: Data, options: PairsKeywords) -> "Report[PairsReport]":
    """Test a comparing judge on labeled pairs, in both orders and after harmless edits of one answer.

    `data` is a CSV, JSON Lines or Parquet file, a data frame, or rows as mappings. `chosen`, `rejected` and `task` name
    its columns, and `strata` names those that split the results. Rows with the same value in `cluster`, by default the
    same task, are not independent. Omitted columns are found by RewardBench's names: chosen, rejected,
    prompt, subset. `sample` limits the number of rows. `edits` are perturbations that a program makes in one answer at
    a time; an empty list makes none. `policy` sets thresholds: accuracy, same_position, changes, without_verdict. Each
    pair is asked `repeats` times; two or more measure the judge's own noise. The other parameters are those of
    `datasheet`.
    """
    [report] = _measured(pairs_study(judge, data, options), (), options)
    return report


@of_study(RunKeywords)
def run(study: str | Path, options: RunKeywords) -> list[Report[Record]]:
    """Test the judges of a study file as `umpirical run` does, and return one report for each.

    `study` is the file or its folder. `judges` selects judges by name; by default, all. `outside` allows the study to
    read files outside its folder. `fresh` reuses no earlier replies. `max_calls` is the most calls to one judge, a
    million by default. The other parameters are those of `datasheet`. A judge that fails does not stop the others: its
    error is raised at the end.
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
    """Read a stored record. `path` is a JSON file or the folder of a run. Makes no calls."""
    found = read_record(Path(path))
    return Report(found.protocol, found.record, found.run)


def measure(
    counts: Tallies | Mapping[str, Any], *, kind: JudgeKind = "compare", protocol: str = "datasheet"
) -> Measures:
    """Compute measures from counts, such as those published in a paper. Makes no calls.

    `counts` are tallies, or a mapping such as `{"pairs": [{"cluster": "t1", "variant": "baseline", ...}]}` with the
    fields of `umpirical.domain.tallies.Tallies`. `kind` (compare or grade) and `protocol` (datasheet or stress) select
    the measures. A measure whose counts are missing is undefined, with the reason.
    """
    if isinstance(counts, Tallies):
        found = measure_all(counts, kind=kind, protocol=protocol)
    else:
        found = measure_counts(counts, kind=kind, protocol=protocol)
    return Measures(measure_record(spec, measure) for spec, measure in found)


def measure_verdicts(
    file: Data,
    *,
    form: str | None = None,
    columns: Mapping[str, str] | None = None,
    kind: JudgeKind | None = None,
    scale: Scale | str | None = None,
) -> "list[MeasuredVerdicts]":
    """Measure verdicts in a file that judges gave in the past; one result for each judge in it.

    `file` is an Inspect log, results of DeepEval, promptfoo or MLflow, a file of MT-Bench, Arena-Hard or JudgeBench, or
    a table: a file, a data frame, or rows as mappings. `form` names the format if it cannot be recognized. `columns`
    are a table's columns by role: verdict, item, order, repeat, label, judge, task. `kind` is compare or grade. `scale`
    lists all possible grades; by default, those in the file. Each result also lists what past verdicts can and cannot
    show.
    """
    from umpirical.api.studies import grade_scale
    from umpirical.api.verdicts import measure_file
    from umpirical.datasets.verdicts.formats import read_verdicts
    from umpirical.datasets.verdicts.past_verdicts import Asking, parse_scale

    said = parse_scale(scale) if isinstance(scale, str) else None if scale is None else grade_scale(scale)
    with TemporaryDirectory(prefix="umpirical-data-") as folder:
        path = data_file(file, Path(folder))
        return measure_file(read_verdicts(path, Asking(dict(columns or {}), kind, said), form), said)


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
        first.add_note(
            f"the other judges are measured: judges={list(measured)!r} returns their reports without new calls"
        )
    return first


# The functions of the Python API that make something of what was measured. None of them makes a call.


def gate(
    run: str | Path,
    *,
    policy: str | Mapping[str, Any] = "",
    baseline: str | Path | None = None,
    margin: float = MARGIN,
) -> GateDecision:
    """Pass or fail a tested judge against a policy and an optional baseline, as `umpirical gate` does. Makes no calls.

    `run` is a run folder, the name of a run or a judge, the folder of a study with one run, or a JSON record. For a
    run, measures are computed again from the stored replies. `policy` is the name of a shipped policy, a .yaml file, or
    a mapping with the keys of such a file; by default, the run's own. `baseline` is an earlier run or record on the
    same test cases: a checked measure that is significantly worse by more than `margin` is a regression. The result has
    a `verdict`, an `exit_code`, every check with its `effect`, and the rows of the baseline.
    """
    return gate_run(run, policy=policy, baseline=baseline, margin=margin)


def compare(
    *judges: str | Path | Report[Any],
    policy: str | Mapping[str, Any] | None = None,
    reference: str | None = None,
    margin: float | None = None,
) -> ComparedJudges[Any]:
    """Compare judges on the same test cases, each with each. Makes no calls.

    `judges` are reports from `datasheet` or `run`, folders or names of runs, names of judges, or studies (all of their
    runs). `policy` is the policy to check, by default the runs' own. `reference` names a judge to show as a ceiling: it
    is never picked and is not ground truth. `margin` is the largest difference that does not matter, by default 0.05,
    and 0.02 for missing answers.

    Runs on different test cases are rejected, and so are runs with damaged files. Stress tests may come from several
    studies. Stress tests and labeled pairs take no policy and no reference.
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
    """Combine several judges tested on the same test cases into one, and test it. Makes no calls.

    `runs` are run folders, such as `Report.folder`, or studies (all of their runs). `rule` is majority, weighted or
    dawid-skene; ordinal grades also have median, and interval grades only mean. With `choose`, the best three to seven
    judges are selected, with the best rule if you name none, and `budget` is the most dollars that 1,000 verdicts may
    cost. Weights and members are selected on half of the task families, prompts, items or transcripts; all results are
    about the other half. The report and the jury's record are written below `folder`, by default `juries` in the study,
    or in the working directory for runs of several studies.
    """
    from umpirical.study.jury import seat_jury
    from umpirical.study.results import find_runs, shared_study

    found = [run for target in runs for run in find_runs(target).runs]
    place = shared_study(found) / "juries" if folder is None else Path(folder)
    seated = seat_jury(found, place, rule=rule, choose=choose, budget=in_dollars("budget", budget))
    return JuryReport(seated.protocol, seated.report, seated.documents.json.parent, seated.jury)


@of_file(CorrectionOptions)
def correct(file: Data, options: CorrectionOptions) -> "Correction":
    """Adjust a win rate, pass rate or mean score for the judge's errors. Makes no calls.

    `file` is a CSV, JSON Lines or Parquet table of verdicts, a data frame, or rows as mappings. `estimate` is win-rate,
    pass-rate or mean-score; a mean score needs the ends of its `scale`, such as "1..5". `columns` are the table's
    columns by role: verdict, label, item, cluster, system. `labels` states how labeled rows were chosen: "random"
    (PPI++) or "by-label" (Rogan-Gladen). Without labels, give `record`, the judge's datasheet (bounds of a win rate) or
    stress report (a pass rate), or counts such as "45/50" as `sensitivity` and `specificity`. `step` is the smallest
    difference in requirements that counts, for bounds.

    The result has a record for each system, its assumptions, and a reason for each undefined estimate.
    """
    with TemporaryDirectory(prefix="umpirical-data-") as folder:
        return correct_file(data_file(file, Path(folder)), options)


def claim(result: "Correction | str | Path", *, datasheet: str | Path, evidence: str | Path | None = None) -> "Claim":
    """Publish a corrected estimate together with its judge's datasheet. Makes no calls.

    `result` is the result of `correct`, or the JSON file that `umpirical correct` wrote. `datasheet` is the judge's
    run, whose record is checked against its replies, or the JSON record alone. `evidence` is a run of the same judge on
    labeled pairs or responses; omit it if `datasheet` is such a run. The claim has sentences, assumptions and digests.
    """
    from umpirical.claims.documents import read_correction
    from umpirical.claims.record import Correction
    from umpirical.claims.statement import make_claim, read_judge

    correction = result if isinstance(result, Correction) else read_correction(Path(result))
    return make_claim(correction, read_judge(datasheet), None if evidence is None else read_judge(evidence))


def export(report: str | Path | Report[Any], *, to: str, out: str | Path | None = None) -> Path:
    """Measure a run again, write its results for other programs, and return the file. Makes no calls.

    `report` is a report, a run folder, the name of a run or a judge, or the folder of a study with one run. `to` is
    measures or judgments (tables), methods (a section for a paper), model-card, pdf, png, inspect or
    inspect-transcripts. `out` is the file, of a table .csv or .parquet; by default, it is written to the run folder.
    """
    from umpirical.study.exports import export_results

    return export_results(_run_of(report), to, None if out is None else Path(out)).path


def publish(
    report: str | Path | Report[Any],
    folder: str | Path,
    *,
    texts: bool | None = None,
    judgments: bool = False,
    license: str = "",  # noqa: A002
) -> Path:
    """Write a run to a new `folder` that readers can verify without the run, and return it. Makes no calls.

    `report` is as in `export`. `texts` says whether to publish the texts that were judged; by default, only those of
    built-in test cases. `judgments` adds every verdict, which built-in test cases always have. `license` is that of
    your texts and results. The judge's full replies, server addresses and key names are never published.
    """
    from umpirical.claims.packages import new_folder, prepare

    new_folder(Path(folder))
    release = prepare(_run_of(report), texts=texts, judgments=judgments, license=license)
    for line in release.lines():
        tell(line)
    release.write(Path(folder))
    return Path(folder)


def verify(target: str | Path | Report[Any], *, record: str | Path | None = None) -> Verification:
    """Check files against their checksums and each other, as `umpirical verify` does. Changes nothing, makes no calls.

    `target` is a report, a run folder, the name of a run or a judge, a study (all of its runs), the JSON file of a
    claim, or a folder that `publish` wrote. `record` is a published record of a single run. The result has `holds` and
    every check.
    """
    from umpirical.claims.verification import subjects

    named = target.own_folder() if isinstance(target, Report) else target
    found = subjects(named, record=None if record is None else Path(record))
    checks = {subject.name: tuple(subject.checks) for subject in found}
    return Verification(checks, {name: why for subject in found for name, why in subject.not_checked().items()})


def _run_of(report: str | Path | Report[Any]) -> Path:
    return report.own_folder() if isinstance(report, Report) else find_run(report)


claim_async = twin_of(claim)
compare_async = twin_of(compare)
correct_async = twin_of(correct)
export_async = twin_of(export)
gate_async = twin_of(gate)
jury_async = twin_of(jury)
publish_async = twin_of(publish)
verify_async = twin_of(verify)
