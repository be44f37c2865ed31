"""`umpirical demo`."""

import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from umpirical.cli.terminal import MAKING_STIMULI, remark, say, say_json

if TYPE_CHECKING:
    from umpirical.study.demo import DemoResult


@click.command("demo")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write to; default: a new one.")
@click.option("--no-open", is_flag=True, help="Do not open the datasheets in a browser.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(out: Path | None, no_open: bool, as_json: bool) -> None:  # noqa: FBT001
    """Measure simulated judges, a sound one and six with a known defect: what was planted, and what was found.

    Needs no key and no network.
    """
    from umpirical.progress import watch_run
    from umpirical.study.demo import run_demo

    folder = out or Path(tempfile.mkdtemp(prefix="umpirical-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    results = []
    remark(MAKING_STIMULI)
    for result in run_demo(folder, watch_run):
        results.append(result)
        if not as_json:
            _show(result)
    if as_json:
        import json

        say_json(json.dumps([_summary(result) for result in results], indent=1))
        return
    from umpirical.view.gallery import write_gallery

    index = write_gallery(folder, folder / "gallery").index
    say(f"\nTheir datasheets, side by side:  {index}")
    say(f"Next:  umpirical compare {shlex.quote(str(folder))}  says which to take for which use;")
    say("  umpirical init my-study  writes a study file;  umpirical run my-study  measures your own judge.")
    if not no_open and sys.stdout.isatty():
        click.launch(str(index))


def _show(result: "DemoResult") -> None:
    from umpirical.reports.numbers import measured_interval, measured_value

    say(f"\n{result.judge}: {result.about}")
    if result.decision:
        say(f"  {result.decision.line}")
    records = {(measure.name, measure.stratum): measure for measure in result.record.measures}
    for found in result.defects:
        record = records[found.measure, found.stratum]
        part = f" at {found.stratum}" if found.stratum else ""
        say(
            f"  {record.title}{part}: planted {found.planted:.3f}, measured {measured_value(record, found.estimate)} "
            f"{measured_interval(record, found.estimate.interval)}  {'found' if found.inside else 'MISSED'}"
        )


def _summary(result: "DemoResult") -> dict[str, Any]:
    return {
        "judge": result.judge,
        "about": result.about,
        "decision": result.decision.verdict if result.decision else None,
        "datasheet": str(result.documents.json),
        "html": str(result.documents.html),
        "defects": [
            {
                "measure": found.measure,
                "stratum": found.stratum,
                "planted": found.planted,
                "measured": found.estimate.value,
                "interval": found.estimate.interval.model_dump() if found.estimate.interval else None,
                "inside": found.inside,
            }
            for found in result.defects
        ],
    }
