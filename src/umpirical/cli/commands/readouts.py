"""`umpirical readouts`."""

from pathlib import Path

import click

from umpirical.cli.terminal import say, say_json
from umpirical.domain.readouts import TARGET


@click.command("readouts")
@click.argument("target")
@click.option(
    "--target", "rate", default=TARGET, type=click.FloatRange(0, 0.5), help="Acceptable rate of false preferences."
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder; default: readouts in the run's.")
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def command(target: str, rate: float, out: Path | None, as_json: bool) -> None:  # noqa: FBT001
    """Read the responses of a run in every way they allow, and write a datasheet for each. Makes no calls.

    TARGET is the folder of a run, the name of a run or a judge, or a study's folder or file; it must have one run.

    The readouts are: text, what the parser reads; logprob, the most likely label; both-orders, what both orders agree
    on; order-averaged, the log-odds averaged over both orders. One is recommended: it is chosen on one half of the
    tasks and reported on the other.
    """
    from umpirical.api.extras import render_readouts_json, write_readouts
    from umpirical.study.results import find_run

    measured = write_readouts(find_run(target), out=out, target=rate)
    if as_json:
        say_json(render_readouts_json(measured.readouts))
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
