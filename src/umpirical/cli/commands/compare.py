"""`umpirical compare`."""

from pathlib import Path

import click

from umpirical.cli.terminal import remark, say, say_json, short_path


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
def command(  # each an option
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
    from umpirical.api.comparisons import compare_targets
    from umpirical.reports.comparisons.words import letter

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
