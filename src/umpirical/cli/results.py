"""Commands about measured runs: report, list, compare, jury, rescore, gate, verify and export. None makes a call."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.measure import INCOMPLETE, RESUMES, SETTLES, exit_code, policy_option, tell_next
from umpirical.cli.options import in_dollars, out_option
from umpirical.cli.terminal import remark, say, say_check, say_json, say_next, say_verdict, short_path, tell_runner
from umpirical.domain.scoring_methods import TARGET

if TYPE_CHECKING:
    from umpirical.reports.gate import GateDecision
    from umpirical.study.results import FinishedRun
    from umpirical.study.verification import Check


@click.command("report")
@click.argument("target")
@out_option("the run's")
@policy_option
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def report_command(target: str, out: Path | None, policy: str, as_json: bool) -> int:  # noqa: FBT001
    """Write the report of a run again from its stored replies.

    TARGET is a run folder, the name of a run or a judge, or a study (all of its runs).
    """
    from umpirical.study.results import find_runs

    found = find_runs(target)
    if found.whole:
        return _report_study(found.study, out, policy, as_json=as_json)
    if len(found.runs) == 1:
        return _report_run(found.runs[0], out, policy, as_json=as_json)
    from umpirical.study.results import measured_runs

    results = _report_each(measured_runs(found.study, among=found.runs), out, policy, as_json=as_json)
    if as_json:
        say_json(f"[{','.join(result.text() for result in results)}]")
    return exit_code(results)


def _report_run(run: Path, out: Path | None, policy: str, *, as_json: bool) -> int:
    from umpirical.study.results import finished_run

    finished = finished_run(run, out=out, policy=policy)
    if as_json:
        say_json(finished.text())
        return exit_code([finished])
    if finished.decision:
        say_verdict(finished.decision.verdict, finished.decision.line)
    for finding in finished.findings:
        say(finding)
    documents = finished.documents
    for path in (documents.json, documents.html, documents.markdown):
        say(short_path(path))
    tell_next(finished, indent="")
    return exit_code([finished])


def _report_study(study: Path, out: Path | None, policy: str, *, as_json: bool) -> int:
    from umpirical.domain.errors import UsageError
    from umpirical.study.results import measured_runs, write_side_by_side

    results = _report_each(measured_runs(study), None, policy, as_json=as_json)
    together = write_side_by_side(study, out=out)
    if together is None and as_json:
        raise UsageError("this kind of study has no report on several judges", fix="umpirical report RUN --json")
    if together is None:
        return exit_code(results)
    records, page = together
    if as_json:
        import json

        say_json([json.loads(record.model_dump_json()) for record in records])
        return exit_code(results)
    say(f"all judges side by side:  {short_path(page)}")
    return exit_code(results)


def _report_each(runs: Sequence[Path], out: Path | None, policy: str, *, as_json: bool) -> "list[FinishedRun]":
    """Rereads several runs, and shows each; `out` has a folder for each of them."""
    from umpirical.domain.errors import StoreError
    from umpirical.study.results import finished_run

    results = []
    for run in runs:
        try:
            finished = finished_run(run, out=None if out is None else out / run.name, policy=policy)
        except StoreError as error:
            # One broken record is no reason to report nothing at all.
            remark(f"{run.name} is excluded: {error}")
            continue
        results.append(finished)
        if not as_json:
            say(f"{run.name}:")
            if finished.decision:
                say_verdict(finished.decision.verdict, finished.decision.line, indent="  ")
            for finding in finished.findings:
                say(f"  {finding}")
            say(f"  {short_path(finished.documents.html)}")
            tell_next(finished)
    return results


# `umpirical list`.


@click.command("list")
@click.argument("target", default=".")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def list_command(target: str, as_json: bool) -> None:  # noqa: FBT001
    """List the runs of a study with their progress and verdicts.

    TARGET is a study, a run folder, or the name of a run or a judge.
    """
    from umpirical.study.results import find_runs, list_runs, run_first

    found = find_runs(target)
    names = {run.name for run in found.runs}
    states = [state for state in list_runs(found.study) if found.whole or state.name in names]
    if as_json:
        say_json([asdict(state) for state in states])
        return
    for state in states:
        if state.damage:
            say(f"{state.name}  DAMAGED: {state.damage}")
            continue
        failed = f", {state.failed:,} failed" if state.failed else ""
        unsure = f" (${state.uncertain:.4f} uncertain)" if state.uncertain else ""
        failed += f", ${state.spent:.4f} spent{unsure}" if state.spent else ""
        done = "  ".join(filter(None, (state.document, state.decision))) or "no report yet"
        say(f"{state.name}  {state.created}  {state.answered:,}/{state.trials:,} answered{failed}  {done}")
    if not states:
        say(f"no runs yet: {run_first(found.study)}")


# `umpirical compare`.


@click.command("compare")
@click.argument("targets", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "--policy",
    metavar="NAME",
    help="Acceptance policy: ranking, adjudication, ci-smoke, claim, or a .yaml file. Default: the runs'.",
)
@click.option("--reference", metavar="NAME", help="Show this judge as a reference ceiling (not as ground truth).")
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="The largest difference that does not matter. Default: 0.05 (5 percentage points).",
)
@out_option("in the study")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def compare_command(
    targets: tuple[str, ...],
    policy: str | None,
    reference: str | None,
    margin: float | None,
    out: Path | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Compare judges on the same test cases and say which to use for what.

    RUN is a run folder, the name of a run or a judge, or a study (all of its runs). A judge is called better only if
    the difference is significant after correction for all pairs of judges and all checks. Stress tests from several
    studies appear side by side.
    """
    from umpirical.api.results import compare_targets

    remark("reading the runs")
    found = compare_targets(targets, policy=policy, reference=reference, margin=margin)
    documents = found.save(out)
    for name in found.excluded:
        remark(f"{name} is excluded: it has no replies yet")
    if as_json:
        say_json(found.json())
        return
    for line in found.lines:
        say(line)
    for path in (documents.json, documents.html, documents.markdown):
        say(short_path(path))


# `umpirical jury`.


@click.command("jury")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option(
    "--rule", help="majority, weighted, dawid-skene, median or mean. Default: by scale, or the best one with --choose."
)
@click.option("--choose", is_flag=True, help="Choose the best three to seven of the judges.")
@click.option("--budget", metavar="USD", callback=in_dollars, help="With --choose: the most 1,000 verdicts may cost.")
@out_option("juries, in the study")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def jury_command(
    targets: tuple[str, ...],
    rule: str | None,
    choose: bool,  # noqa: FBT001
    budget: Decimal | None,
    out: Path | None,
    as_json: bool,  # noqa: FBT001
) -> int:
    """Combine several tested judges into one, and write its report.

    TARGET is a run folder, the name of a run or a judge, or a study (all of its runs).

    The default rule is majority, for ordinal grades median and for interval grades mean. Weights and members are
    selected on half of the task families, prompts, items or transcripts. All results are about the held-out half. Exit
    codes are those of `umpirical report`.
    """
    from umpirical.api.extras import seat_jury
    from umpirical.reports.record import record_json
    from umpirical.study.results import find_runs, shared_study

    runs = [run for target in targets for run in find_runs(target).runs]
    remark("reading the runs")
    seated = seat_jury(runs, out or shared_study(runs) / "juries", rule=rule, choose=choose, budget=budget)
    decision = seated.decision
    if as_json:
        say_json(record_json(seated.jury))
    else:
        if decision is not None:
            say(f"{seated.jury.name}: {decision.line}")
        for finding in seated.jury.findings:
            say(finding)
        for path in (seated.record, seated.documents.json, seated.documents.html, seated.documents.markdown):
            say(short_path(path))
    return decision.exit_code if decision else 0


# `umpirical rescore`.


@click.command("rescore")
@click.argument("target")
@click.option(
    "--target", "rate", default=TARGET, type=click.FloatRange(0, 0.5), help="Acceptable false preference rate."
)
@out_option("`scoring-methods`, in the run")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def rescore_command(target: str, rate: float, out: Path | None, as_json: bool) -> None:  # noqa: FBT001
    """Score a run in every way its replies allow, and write a datasheet for each.

    TARGET is a run folder, the name of a run or a judge, or a study with one run.

    The scoring methods: text (the parsed reply), logprob (the most likely label), both-orders (only what both orders
    agree on) and order-averaged (log-odds averaged over both orders). The recommended one is chosen on half of the
    tasks and reported on the other half.
    """
    from umpirical.api.extras import write_scoring_methods
    from umpirical.reports.record import record_json
    from umpirical.study.results import find_run

    measured = write_scoring_methods(find_run(target), out=out, target=rate)
    if as_json:
        say_json(record_json(measured.scoring_methods))
        return
    for sentence in measured.scoring_methods.recommendation.sentences:
        say(sentence)
    for row in measured.scoring_methods.rows:
        if row.why_not:
            say(f"not available: {row.name} ({row.why_not})")
    if measured.scoring_methods.how_to_record:
        say(measured.scoring_methods.how_to_record)
    documents = measured.documents
    for path in (documents.json, documents.html, documents.markdown):
        say(path)


# `umpirical gate`.


MARGIN = 0.05

WORST_FIRST = (INCOMPLETE, 3, 7, 4)
"""Which of several judges' exit codes counts."""


@click.command("gate")
@click.argument("target")
@policy_option
@click.option("--baseline", metavar="RUN", help="An earlier run or its record. Fail if the judge is worse.")
@click.option(
    "--margin",
    type=float,
    default=MARGIN,
    show_default=True,
    help="How much worse a measure may be before it counts as a regression.",
)
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write JUnit XML to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print the decision as JSON.")
def gate_command(
    target: str,
    policy: str,
    baseline: str | None,
    margin: float,
    junit: Path | None,
    as_json: bool,  # noqa: FBT001
) -> int:
    """Pass or fail a tested judge in CI, against a policy and an optional baseline. Needs no API key.

    TARGET is a run folder, the name of a run or a judge, a published record (datasheet.json), or a study: then the
    newest run of each judge has to pass. For a run, every measure is computed again from the stored replies.

    Exit codes: 0 pass, 3 fail, 4 inconclusive, 5 incomplete, 7 worse than the baseline. On GitHub it also writes a job
    summary and annotations.
    """
    from umpirical.study.results import gates_and_next

    gates: list[GateDecision] = []
    for gate, command in gates_and_next(target, policy=policy, baseline=baseline, margin=margin):
        gates.append(gate)
        if not as_json:
            _show_gate(gate)
            say_next(command, RESUMES if gate.exit_code == INCOMPLETE else SETTLES)
        _tell_github(gate)
    if as_json:
        told = [gate.model_dump_json(indent=1) for gate in gates]
        say_json(told[0] if len(told) == 1 else f"[{','.join(told)}]")
    if junit is not None:
        from umpirical.reports.ci import render_junit
        from umpirical.store.files import write_text

        junit.parent.mkdir(parents=True, exist_ok=True)
        write_text(junit, render_junit(gates))
    codes = {gate.exit_code for gate in gates}
    return next(code for code in (*WORST_FIRST, 0) if code in codes)


def _show_gate(gate: "GateDecision") -> None:
    from umpirical.text.inert import one_line

    def line(text: str) -> None:
        say(one_line(text))

    line(f"{gate.judge}: {gate.line}")
    for check in gate.checks:
        # The reason of a check that was measured has the threshold in it.
        named = check.title if check.allowed in check.why else f"{check.title} {check.allowed}"
        say_check(check.effect, one_line(f"{named}: {check.why}"))
    if gate.policy_line:
        line(gate.policy_line)
    if gate.baseline is None:
        return
    worse = len(gate.baseline.worse)
    line(
        f"Against {gate.baseline.run}: {worse or 'none'} of {len(gate.baseline.rows)} measures shown to be worse by "
        f"more than {gate.baseline.margin:g}"
    )
    for row in gate.baseline.rows:
        say(f"  {'WORSE' if row.standing == 'worse' else '     '}  {one_line(f'{row.title}: {row.words}')}")


def _tell_github(gate: "GateDecision") -> None:
    """Adds to the summary of a job, and annotates it, where there is one."""
    summary, annotate = os.environ.get("GITHUB_STEP_SUMMARY"), os.environ.get("GITHUB_ACTIONS") == "true"
    if not (summary or annotate):
        return
    from umpirical.reports.ci import render_annotations, render_summary

    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(render_summary(gate))
        except OSError as error:
            # The verdict is the same, whether or not it can be shown there.
            remark(f"cannot write the job summary: {error}")
    for command_line in render_annotations(gate) if annotate else ():
        tell_runner(command_line)


# `umpirical verify`.


@click.command("verify")
@click.argument("target")
@click.option(
    "--record",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A published datasheet or report of the run. Default: the one in its folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def verify_command(target: str, record: Path | None, as_json: bool) -> int:  # noqa: FBT001
    """Check a run's files against their checksums, its plan and its published report. Changes nothing.

    TARGET is a run folder, the name of a run or a judge, a study (all of its runs), or the JSON file of a claim, which
    is checked against the files beside it, or a folder that `umpirical publish` wrote, which is checked without its
    run. Exits with 1 if anything differs.
    """
    from umpirical.claims.verification import subjects
    from umpirical.study.results import find_runs, run_first

    found, told = subjects(target, record=record), list[list["Check"]]()
    for subject in found:
        if not as_json:
            say(f"{subject.name}:")
        told.append([])
        for check in subject.checks:
            told[-1].append(check)
            if not as_json:
                _say_check(check)
        for name, why in {} if as_json else subject.not_checked().items():
            say(f"  not checked  {name:<14}  {why}")
    if as_json and found and found[0].kind != "run":
        say_json({"checks": [asdict(check) for check in told[0]], "not_checked": found[0].not_checked()})
    elif as_json:
        each = zip(found, told, strict=True)
        say_json([{"run": subject.name, **asdict(check)} for subject, checks in each for check in checks])
    elif not found:
        say(f"no runs yet: {run_first(find_runs(target).study)}")
    return 0 if all(check.holds for checks in told for check in checks) else 1


def _say_check(check: "Check") -> None:
    say(f"  {'ok     ' if check.holds else 'DAMAGED'}  {check.part:<14}  {check.found}")


# `umpirical export`.


@click.command("export")
@click.argument("target")
@click.option(
    "--to",
    "form",
    type=click.Choice(
        ["measures", "judgments", "methods", "model-card", "pdf", "png", "inspect", "inspect-transcripts", "mlflow"]
    ),
    required=True,
    help="Table of measures or judgments, a methods section for a paper, Hugging Face model card, PDF of the report, "
    "PNG of its first screen, an Inspect log (of the replies, or of the transcripts shown to an agent judge), or a run "
    "of the MLflow server in MLFLOW_TRACKING_URI.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write; of a table, .csv or .parquet. Default: in the run folder.",
)
def export_command(target: str, form: str, out: Path | None) -> int:
    """Write a run's results for other programs.

    TARGET is a run folder, the name of a run or a judge, or a study with one run. PDF and PNG need Chromium or Chrome.
    In an Inspect log, failed calls become samples with an error.
    """
    from umpirical.study.exports import export_results
    from umpirical.study.results import find_run

    run = find_run(target)
    if form == "mlflow":
        if out is not None:
            raise click.UsageError("MLflow gets a run, not a file: remove --out")
        from umpirical.registry import load_integration

        remark("measuring the run and sending it to MLflow")
        say(load_integration(form, "exports")(run))
        return 0
    printed = " and printing its report" if form in {"pdf", "png"} else ""
    remark("reading the run" if form == "inspect-transcripts" else f"measuring the run{printed}")
    exported = export_results(run, form, out)
    say(f"{short_path(exported.path)}: {exported.what}")
    if form.startswith("inspect"):
        say(f"  inspect view --log-dir {exported.path.parent}")
    return 0
