"""`umpirical claim`."""

from pathlib import Path

import click

from umpirical.cli.terminal import say, say_json


@click.command("claim")
@click.argument("result", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--datasheet",
    required=True,
    metavar="RUN",
    help="The judge's run, by folder or name, or the JSON of its record alone.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder to write to; default: RESULT's.")
@click.option("--json", "as_json", is_flag=True, help="Print the record.")
def command(result: Path, datasheet: str, out: Path | None, as_json: bool) -> int:  # noqa: FBT001
    """Join RESULT, a corrected estimate, and the datasheet of its judge into one statement to publish. Makes no calls.

    RESULT is the JSON that `umpirical correct` wrote. A record in its run's folder is held to the responses first; one
    by itself is taken as published, and the claim says so. `umpirical verify CLAIM.json` checks the claim later on.
    """
    from umpirical.claims.documents import read_correction, write_claim
    from umpirical.claims.record import render_claim_json
    from umpirical.claims.statement import make_claim, read_judge

    claim = make_claim(read_correction(result), read_judge(datasheet))
    stem = result.name.removesuffix(".json").removesuffix(".corrected")
    written = write_claim(claim, out or result.parent, stem)
    if as_json:
        say_json(render_claim_json(claim))
        return 0
    for sentence in claim.sentences:
        say(sentence)
    say("\nWhat this assumes:")
    for sentence in (*claim.correction.assumptions, *claim.assumptions):
        say(f"  - {sentence}")
    for path in written:
        say(path)
    return 0
