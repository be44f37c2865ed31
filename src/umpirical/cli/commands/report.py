"""`umpirical report`."""

from pathlib import Path

import click

from umpirical.cli.measurement import exit_code, policy_option
from umpirical.cli.terminal import remark, say, say_json

__all__ = ["command"]


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write to; default: the run's.")
@policy_option
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def command(run: Path, out: Path | None, policy: str, as_json: bool) -> int:  # noqa: FBT001
    """Reread the responses of RUN and write its datasheet or its stress report. Makes no calls.

    RUN may also be the folder of a study: all of its runs are reread. Judges of stress tests are reported side by side.
    """
    if not (run / "run.json").is_file() and (run / "runs").is_dir():
        return _report_study(run, out, policy, as_json=as_json)
    return _report_run(run, out, policy, as_json=as_json)


def _report_run(run: Path, out: Path | None, policy: str, *, as_json: bool) -> int:
    from umpirical.study.run import finished_run

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
        say(path)
    return exit_code([finished])


def _report_study(study: Path, out: Path | None, policy: str, *, as_json: bool) -> int:
    from umpirical.domain.errors import StoreError, UsageError
    from umpirical.study.run import finished_run, measured_runs, write_side_by_side

    results = []
    for run in measured_runs(study):
        try:
            finished = finished_run(run, policy=policy)
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
    say(page)
    return exit_code(results)
