"""`umpirical gate`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.measurement import policy_option
from umpirical.cli.terminal import remark, say, say_json

if TYPE_CHECKING:
    from umpirical.reports.gate import GateDecision

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
def command(  # each an option
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
    from umpirical.study.results import gate_run

    gate = gate_run(target, policy=policy, baseline=baseline, margin=margin)
    if as_json:
        say_json(gate.model_dump_json(indent=1))
    else:
        _show(gate)
        _say_next(gate, target)
    if junit is not None:
        from umpirical.reports.junit import render_junit
        from umpirical.store.files import write_text

        junit.parent.mkdir(parents=True, exist_ok=True)
        write_text(junit, render_junit(gate))
    _tell_github(gate)
    return gate.exit_code


def _show(gate: "GateDecision") -> None:
    from umpirical.text.inert import one_line

    def line(text: str) -> None:
        # A runner of a pipeline takes a line that begins with a command for one.
        say(one_line(text).replace("##[", "## ["))

    line(f"{gate.judge}: {gate.line}")
    words = {"pass": "PASS", "fail": "FAIL", "open": "OPEN", "noted": "note"}
    for limit in gate.limits:
        say(f"  {words[limit.effect]}  {one_line(f'{limit.title} {limit.allowed}: {limit.why}')}")
    if gate.baseline is None:
        return
    worse = len(gate.baseline.worse)
    line(
        f"Against {gate.baseline.run}: {worse or 'none'} of {len(gate.baseline.rows)} measures shown to be worse by "
        f"more than {gate.baseline.margin:g}"
    )
    for row in gate.baseline.rows:
        say(f"  {'WORSE' if row.standing == 'worse' else '     '}  {one_line(f'{row.title}: {row.words}')}")


def _say_next(gate: "GateDecision", target: str) -> None:
    """Prints the command that would settle what is open. A record by itself can be asked nothing."""
    if Path(target).suffix == ".json":
        return
    if gate.verdict == "not-enough-data" and gate.protocol == "datasheet":
        say(f"next:  umpirical more {target}  asks just what would settle it")
    if gate.verdict == "incomplete":
        say("next:  umpirical run  resumes it, in the study's folder")


def _tell_github(gate: "GateDecision") -> None:
    """Adds to the summary of a job, and annotates it, where there is one."""
    summary, annotate = os.environ.get("GITHUB_STEP_SUMMARY"), os.environ.get("GITHUB_ACTIONS") == "true"
    if not (summary or annotate):
        return
    from umpirical.reports.github import render_annotations, render_summary

    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(render_summary(gate))
        except OSError as error:
            # What the gate found stands, whether or not anybody sees it there.
            remark(f"the summary of the job could not be written: {error}")
    for command_line in render_annotations(gate) if annotate else ():
        # A runner reads both streams, and standard output is for results.
        remark(command_line)
