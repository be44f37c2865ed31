"""`umpirical verify`."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.terminal import say, say_json

if TYPE_CHECKING:
    from umpirical.study.verification import Check


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
    verified. It may also be the JSON of a claim, which is held to the files beside it. Makes no calls, and changes
    nothing. Exits with 1 if anything is not what was written.
    """
    from umpirical.claims.statement import is_claim

    if is_claim(Path(target)):
        return _verify_claim(Path(target), as_json=as_json)
    from umpirical.study.results import find_runs
    from umpirical.study.verification import verify_run

    folders = find_runs(target).runs
    if len(folders) != 1 and record is not None:
        raise click.UsageError("--record needs a single run")
    broken, told = 0, list[dict[str, object]]()
    for folder in folders:
        if not as_json:
            say(f"{folder.name}:")
        for check in verify_run(folder, record=record):
            broken += not check.holds
            told.append({"run": folder.name, **asdict(check)})
            if not as_json:
                _say_check(check)
    if as_json:
        import json

        say_json(json.dumps(told, indent=1))
    elif not folders:
        say("no runs yet;  umpirical run  starts one")
    return 1 if broken else 0


def _verify_claim(path: Path, *, as_json: bool) -> int:
    from umpirical.claims.statement import absent_files, verify_claim

    checks = list(verify_claim(path))
    absent = absent_files(path) if checks[0].holds else []
    if as_json:
        import json

        say_json(json.dumps({"checks": [asdict(check) for check in checks], "not_checked": absent}, indent=1))
        return 0 if all(check.holds for check in checks) else 1
    say(f"{path.name}:")
    for check in checks:
        _say_check(check)
    for name in absent:
        say(f"  absent   {name:<14}  not beside the claim, and not checked")
    return 0 if all(check.holds for check in checks) else 1


def _say_check(check: "Check") -> None:
    say(f"  {'ok     ' if check.holds else 'DAMAGED'}  {check.part:<14}  {check.found}")
