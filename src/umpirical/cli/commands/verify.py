"""`umpirical verify`."""

from pathlib import Path

import click

from umpirical.cli.terminal import say, say_json

__all__ = ["command"]


@click.command("verify")
@click.argument("target")
@click.option(
    "--record",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A published datasheet or report of the run; default: the one in its folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def command(target: str, record: Path | None, as_json: bool) -> int:  # noqa: FBT001
    """Hold everything that a run has on disk to its digests, to its plan, and to what was published about it.

    TARGET is the folder of a run, the name of a run or a judge, or a study's folder or file: then all of its runs are
    verified. Makes no calls, and changes nothing. Exits with 1 if anything is not what was written.
    """
    from umpirical.study.run_targets import find_runs
    from umpirical.study.verification import verify_run

    folders = find_runs(target).runs
    if len(folders) != 1 and record is not None:
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
