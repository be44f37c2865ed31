"""`umpirical verify`."""

from pathlib import Path

import click

from umpirical.cli.terminal import say, say_json

__all__ = ["command"]


@click.command("verify")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--record",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A published datasheet or report of the run; default: the one in its folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def command(run: Path, record: Path | None, as_json: bool) -> int:  # noqa: FBT001
    """Hold everything that RUN has on disk to its digests, to its plan, and to what was published about it.

    RUN may also be the folder of a study: all of its runs are verified. Makes no calls, and changes nothing. Exits with
    1 if anything is not what was written.
    """
    from umpirical.study.verification import verify_run

    whole = not (run / "run.json").exists() and (run / "runs").is_dir()
    folders = sorted(path.parent for path in (run / "runs").glob("*/run.json")) if whole else [run]
    if whole and record is not None:
        raise click.UsageError("--record needs a single run")
    broken, told = 0, []
    for folder in folders:
        if not as_json:
            say(f"{folder.name}:")
        for check in verify_run(folder, record=record):
            broken += not check.holds
            told.append({"run": folder.name, "part": check.part, "holds": check.holds, "found": check.found})
            if not as_json:
                say(f"  {'ok     ' if check.holds else 'DAMAGED'}  {check.part:<14}  {check.found}")
    if as_json:
        import json

        say_json(json.dumps(told, indent=1))
    elif not folders:
        say("no runs yet;  umpirical run  starts one")
    return 1 if broken else 0
