"""`umpirical correct`."""

from pathlib import Path

import click

from umpirical.cli.terminal import say, say_json

COLUMNS = {
    "verdict": "what the judge said: win, tie, loss (or 1, tie, 2); pass, fail; or a score",
    "label": "what a person said, where there is one",
    "item": "what was judged: each stands there once",
    "cluster": "what rows have in common, if they are not independent",
    "system": "the system that was judged, if there are several",
}


def _column_options(command: click.decorators.FC) -> click.decorators.FC:
    for role, about in reversed(COLUMNS.items()):
        command = click.option(f"--{role}", f"{role}_column", metavar="COLUMN", help=f"Column with {about}.")(command)
    return command


@click.command("correct")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--estimate", type=click.Choice(["win-rate", "pass-rate", "mean-score"]), required=True, help="What is estimated."
)
@_column_options
@click.option("--scale", default="", help="Ends of the scale of a mean score: 1..5.")
@click.option(
    "--labels",
    type=click.Choice(["random", "by-label"]),
    default="random",
    help="How labelled rows were chosen: at random, or so many of each label.",
)
@click.option(
    "--record",
    metavar="RUN",
    help="Without labels: the judge's datasheet (win rates) or stress report (pass rates), or its run.",
)
@click.option("--sensitivity", default="", metavar="K/N", help="Without labels: passing rows that it passes, 45/50.")
@click.option("--specificity", default="", metavar="K/N", help="Without labels: failing rows that it fails, 90/100.")
@click.option("--step", default=1.0, type=click.FloatRange(0.25, 5), help="For bounds: the least difference.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write to; default: FILE's.")
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def command(  # noqa: PLR0913, PLR0917  # each an option
    file: Path,
    estimate: str,
    scale: str,
    labels: str,
    record: str | None,
    sensitivity: str,
    specificity: str,
    step: float,
    out: Path | None,
    as_json: bool,  # noqa: FBT001
    **said: str,
) -> int:
    """Correct a win rate, a pass rate or a mean score that rests on a judge's verdicts, in FILE. Makes no calls.

    FILE is a table (CSV, JSON Lines, Parquet). With labels on a random sample of its rows, the estimate is corrected by
    PPI++; with so many rows of each label, or with error rates from elsewhere, by Rogan and Gladen's estimator; with a
    datasheet alone, there are bounds and no estimate. Exits with 4 if a system has no corrected estimate.
    """
    from umpirical.claims.correction import Asked, correct_file
    from umpirical.claims.documents import correction_lines, write_correction
    from umpirical.claims.record import render_correction_json
    from umpirical.reports.record import UndefinedRecord

    columns = {role: column for role in COLUMNS if (column := said[f"{role}_column"]) is not None}
    asked = Asked(estimate, columns, scale, labels, record, sensitivity, specificity, step)  # type: ignore[arg-type]  # click has checked them
    correction = correct_file(file, asked)
    written = write_correction(correction, out or file.parent, file.stem)
    if as_json:
        say_json(render_correction_json(correction))
    else:
        for line in correction_lines(correction):
            say(line)
        say("\nWhat this assumes:")
        for sentence in correction.assumptions:
            say(f"  - {sentence}")
        for path in written:
            say(path)
    return 4 if any(isinstance(system.corrected, UndefinedRecord) for system in correction.systems) else 0
