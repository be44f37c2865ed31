"""`umpirical report`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.measurement import exit_code, policy_option
from umpirical.cli.terminal import remark, say, say_json, short_path

if TYPE_CHECKING:
    from umpirical.study.results import FinishedRun


@click.command("report")
@click.argument("target")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write to; default: the run's.")
@policy_option
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def command(target: str, out: Path | None, policy: str, as_json: bool) -> int:  # noqa: FBT001
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
    return results
