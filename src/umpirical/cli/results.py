"""Commands about measured runs: report, runs, compare, jury, readouts, gate, verify and export. None makes a call."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.measure import INCOMPLETE, RESUMES, SETTLES, exit_code, policy_option, tell_next
from umpirical.cli.options import in_dollars
from umpirical.cli.terminal import remark, say, say_json, say_next, short_path, tell_runner
from umpirical.domain.readouts import TARGET

if TYPE_CHECKING:
    from umpirical.reports.gate import GateDecision
    from umpirical.study.results import FinishedRun
    from umpirical.study.verification import Check


@click.command("report")
@click.argument("target")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write to; default: the run's.")
@policy_option
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def report_command(target: str, out: Path | None, policy: str, as_json: bool) -> int:  # noqa: FBT001
    """Reread the responses of a run and write its datasheet or its stress report. Makes no calls.

    TARGET is the folder of a run, the name of a run or a judge, or a study's folder or file: then all of its runs are
    reread. Judges of stress tests are reported side by side.
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
        say(finished.decision.line)
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
        raise UsageError("the study's protocol has no report on several judges", fix="umpirical report RUN --json")
    if together is None:
        return exit_code(results)
    records, page = together
    if as_json:
        import json

        say_json(json.dumps([json.loads(record.model_dump_json()) for record in records], indent=1))
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
            remark(f"{run.name} is left out: {error}")
            continue
        results.append(finished)
        if not as_json:
            say(f"{run.name}:")
            if finished.decision:
                say(f"  {finished.decision.line}")
            for finding in finished.findings:
                say(f"  {finding}")
            say(f"  {short_path(finished.documents.html)}")
            tell_next(finished)
    return results


# `umpirical runs`.


@click.command("runs")
@click.argument("target", default=".")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def runs_command(target: str, as_json: bool) -> None:  # noqa: FBT001
    """List the runs of a study, and the progress of each.

    TARGET is a study's folder or file, the folder of a run, or the name of a run or a judge.
    """
    from umpirical.study.results import find_runs, list_runs, run_first

    found = find_runs(target)
    names = {run.name for run in found.runs}
    states = [state for state in list_runs(found.study) if found.whole or state.name in names]
    if as_json:
        import json

        say_json(json.dumps([asdict(state) for state in states], indent=1, default=str))
        return
    for state in states:
        if state.damage:
            say(f"{state.name}  DAMAGED: {state.damage}")
            continue
        failed = f", {state.failed:,} failed" if state.failed else ""
        unsure = f" (${state.uncertain:.4f} uncertain)" if state.uncertain else ""
        failed += f", ${state.booked:.4f} booked{unsure}" if state.booked else ""
        done = "  ".join(filter(None, (state.document, state.decision))) or "not measured yet"
        say(f"{state.name}  {state.created}  {state.answered:,}/{state.trials:,} answered{failed}  {done}")
    if not states:
        say(f"no runs yet: {run_first(found.study)}")


# `umpirical compare`.


@click.command("compare")
@click.argument("targets", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "--policy",
    metavar="NAME",
    help="What to hold judges to: ranking, adjudication (or release), ci-smoke, claim, or a .yaml file. "
    "Default: the one that the runs were made for.",
)
@click.option("--reference", metavar="NAME", help="A judge that stands as a ceiling, never as truth.")
@click.option(
    "--margin",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="The difference that does not matter. Default: 0.05 for shares.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder; default: in the study.")
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def compare_command(
    targets: tuple[str, ...],
    policy: str | None,
    reference: str | None,
    margin: float | None,
    out: Path | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Compare judges on the same stimuli, each with each, and say which to take for which use. Makes no calls.

    RUN is the folder of a run, the name of a run or a judge, or a study's folder or file: then all of its runs are
    compared. A judge is called better only if the difference stands among all pairs of judges and all limits. Runs of
    stress tests may be of several studies: judges of one study are compared, and studies stand side by side.
    """
    from umpirical.api.results import compare_targets
    from umpirical.reports.comparison import letter

    remark("reading the runs")
    found = compare_targets(targets, policy=policy, reference=reference, margin=margin)
    documents = found.save(out)
    for name in found.left_out:
        remark(f"{name} is left out: nothing has been asked yet")
    if as_json:
        say_json(found.json())
        return
    say("; ".join(f"{letter(place)} is {name}" for place, name in enumerate(found.judges)))
    for line in found.lines:
        say(line)
    for path in (documents.json, documents.html, documents.markdown):
        say(short_path(path))


# `umpirical jury`.


@click.command("jury")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option("--rule", help="majority, weighted or dawid-skene. Default: majority; with --choose, the best of all.")
@click.option("--choose", is_flag=True, help="Choose the best three to seven of the judges.")
@click.option(
    "--budget", metavar="USD", callback=in_dollars, help="With --choose: the most that 1,000 verdicts may cost."
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder; default: juries, in the study.")
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def jury_command(
    targets: tuple[str, ...],
    rule: str | None,
    choose: bool,  # noqa: FBT001
    budget: Decimal | None,
    out: Path | None,
    as_json: bool,  # noqa: FBT001
) -> int:
    """Make one judge of several that were measured on the same stimuli, and write its datasheet. Makes no calls.

    A TARGET is the folder of a run, the name of a run or a judge, or a study's folder or file: then all of its runs.

    What a rule learns, or the choice of the jury, is settled on one half of the task families. Every figure is then
    about the other half. Exits like `umpirical report`, with what the policy says of the jury.
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


# `umpirical readouts`.


@click.command("readouts")
@click.argument("target")
@click.option(
    "--target", "rate", default=TARGET, type=click.FloatRange(0, 0.5), help="Acceptable rate of false preferences."
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder; default: readouts in the run's.")
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def readouts_command(target: str, rate: float, out: Path | None, as_json: bool) -> None:  # noqa: FBT001
    """Read the responses of a run in every way they allow, and write a datasheet for each. Makes no calls.

    TARGET is the folder of a run, the name of a run or a judge, or a study's folder or file; it must have one run.

    The readouts are: text, what the parser reads; logprob, the most likely label; both-orders, what both orders agree
    on; order-averaged, the log-odds averaged over both orders. One is recommended: it is chosen on one half of the
    tasks and reported on the other.
    """
    from umpirical.api.extras import write_readouts
    from umpirical.reports.record import record_json
    from umpirical.study.results import find_run

    measured = write_readouts(find_run(target), out=out, target=rate)
    if as_json:
        say_json(record_json(measured.readouts))
        return
    for sentence in measured.readouts.recommendation.sentences:
        say(sentence)
    for row in measured.readouts.rows:
        if row.why_not:
            say(f"not available: {row.name}, since {row.why_not}")
    if measured.readouts.how_to_record:
        say(measured.readouts.how_to_record)
    documents = measured.documents
    for path in (documents.json, documents.html, documents.markdown):
        say(path)


# `umpirical gate`.


MARGIN = 0.05


@click.command("gate")
@click.argument("target")
@policy_option
@click.option("--baseline", metavar="RUN", help="An earlier run, or its record, that the judge may not be worse than.")
@click.option(
    "--margin", type=float, default=MARGIN, show_default=True, help="How much worse a measure may be before it counts."
)
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write JUnit's XML to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print the decision as JSON.")
def gate_command(
    target: str,
    policy: str,
    baseline: str | None,
    margin: float,
    junit: Path | None,
    as_json: bool,  # noqa: FBT001
) -> int:
    """Hold a measured judge to a policy, and to an earlier run of it, for a pipeline. Makes no calls, needs no key.

    TARGET is the folder of a run, the name of a run or a judge, a study's folder or file with one run, or a published
    record (datasheet.json). The responses of a run are read again; its documents stay as they are.

    Exits with 0 if the judge may be used, 3 if it is refused, 4 if there is not enough data, 5 if the run can be
    resumed, and 7 if it is worse than the baseline. On GitHub, it also adds to the job's summary, and annotates.
    """
    from umpirical.study.results import gate_and_next

    gate, command = gate_and_next(target, policy=policy, baseline=baseline, margin=margin)
    if as_json:
        say_json(gate.model_dump_json(indent=1))
    else:
        _show_gate(gate)
        say_next(command, RESUMES if gate.exit_code == INCOMPLETE else SETTLES)
    if junit is not None:
        from umpirical.reports.ci import render_junit
        from umpirical.store.files import write_text

        junit.parent.mkdir(parents=True, exist_ok=True)
        write_text(junit, render_junit(gate))
    _tell_github(gate)
    return gate.exit_code


def _show_gate(gate: "GateDecision") -> None:
    from umpirical.text.inert import one_line

    def line(text: str) -> None:
        say(one_line(text))

    line(f"{gate.judge}: {gate.line}")
    words = {"pass": "PASS", "fail": "FAIL", "open": "OPEN", "noted": "note"}
    for limit in gate.limits:
        say(f"  {words[limit.effect]}  {one_line(f'{limit.title} {limit.allowed}: {limit.why}')}")
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
            # What the gate found stands, whether or not anybody sees it there.
            remark(f"the summary of the job could not be written: {error}")
    for command_line in render_annotations(gate) if annotate else ():
        tell_runner(command_line)


# `umpirical verify`.


@click.command("verify")
@click.argument("target")
@click.option(
    "--record",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A published datasheet or report of the run; default: the one in its folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def verify_command(target: str, record: Path | None, as_json: bool) -> int:  # noqa: FBT001
    """Hold everything that a run has on disk to its digests, to its plan, and to what was published about it.

    TARGET is the folder of a run, the name of a run or a judge, or a study's folder or file: then all of its runs are
    verified. It may also be the JSON of a claim, which is held to the files beside it. Makes no calls, and changes
    nothing. Exits with 1 if anything is not what was written.
    """
    from umpirical.claims.statement import is_claim

    if is_claim(Path(target)):
        return _verify_claim(Path(target), as_json=as_json)
    from umpirical.study.results import find_runs, run_first
    from umpirical.study.verification import verify_run

    found = find_runs(target)
    folders = found.runs
    if len(folders) != 1 and record is not None:
        raise click.UsageError("--record needs a single run")
    broken, told = 0, list[dict[str, object]]()
    for folder in folders:
        if not as_json:
            say(f"{folder.name}:")
        for check in verify_run(folder, record=record):
            broken += not check.holds
            told.append({"run": folder.name, **asdict(check)})
            if not as_json:
                _say_check(check)
    if as_json:
        import json

        say_json(json.dumps(told, indent=1))
    elif not folders:
        say(f"no runs yet: {run_first(found.study)}")
    return 1 if broken else 0


def _verify_claim(path: Path, *, as_json: bool) -> int:
    from umpirical.claims.statement import absent_files, verify_claim

    checks = list(verify_claim(path))
    absent = absent_files(path) if checks[0].holds else []
    if as_json:
        import json

        say_json(json.dumps({"checks": [asdict(check) for check in checks], "not_checked": absent}, indent=1))
        return 0 if all(check.holds for check in checks) else 1
    say(f"{path.name}:")
    for check in checks:
        _say_check(check)
    for name in absent:
        say(f"  absent   {name:<14}  not beside the claim, and not checked")
    return 0 if all(check.holds for check in checks) else 1


def _say_check(check: "Check") -> None:
    say(f"  {'ok     ' if check.holds else 'DAMAGED'}  {check.part:<14}  {check.found}")


# `umpirical export`.


@click.command("export")
@click.argument("target")
@click.option(
    "--to",
    "form",
    type=click.Choice(["inspect", "inspect-transcripts"]),
    required=True,
    help="A log for `inspect view`: of the answers, or of the transcripts that a judge of agents was shown.",
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="The file to write; default: in the run's."
)
def export_command(target: str, form: str, out: Path | None) -> int:
    """Write a run for another tool: the question, the answer and the outcome of every trial, or what was judged.

    TARGET is the folder of a run, the name of a run or a judge, or a study's folder or file; it must have one run.

    A call that failed is a sample with an error. Makes no calls, and needs no key.
    """
    from umpirical.registry import load_integration
    from umpirical.study.results import find_run

    run = find_run(target)
    ending = form.removeprefix("inspect")
    path, samples = load_integration(form, "exports")(run, out or run / f"{run.resolve().name}{ending}.eval")
    say(f"{path}: {samples:,} samples")
    say(f"  inspect view --log-dir {path.parent}")
    return 0
