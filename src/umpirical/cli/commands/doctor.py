"""`umpirical doctor`."""

import os
import platform
import shutil
from importlib.metadata import version
from pathlib import Path

import click

from umpirical.cli.terminal import say, say_json

PARTS = (
    "umpirical",
    "aiohttp",
    "click",
    "duckdb",
    "jinja2",
    "numpy",
    "pyarrow",
    "pydantic",
    "rich",
    "scipy",
    "stamina",
)


@click.command("doctor")
@click.argument("study", type=click.Path(path_type=Path), default=Path())
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(study: Path, as_json: bool) -> None:  # noqa: FBT001
    """Show versions, free disk space, and which of the keys that STUDY names are set. Never shows a key."""
    folder = study if study.is_dir() else study.parent
    facts: dict[str, str] = {"python": platform.python_version(), "platform": platform.platform(terse=True)}
    facts |= {part: version(part) for part in PARTS}
    facts["free disk"] = f"{shutil.disk_usage(folder).free / 1e9:.0f} GB"
    facts |= _keys(study)
    if as_json:
        import json

        say_json(json.dumps(facts, indent=1))
        return
    for name, value in facts.items():
        say(f"{name:<14} {value}")


def _keys(study: Path) -> dict[str, str]:
    from umpirical.protocols.protocol import STUDY_FILE
    from umpirical.study.file import read_study

    file = study / STUDY_FILE if study.is_dir() else study
    if not file.is_file():
        return {"study": "none here;  umpirical init  writes one"}
    variables = {judge.model.api_key_env for judge in read_study(file).spec.judges if judge.model}
    return {name: "set" if os.environ.get(name) else "not set" for name in sorted(filter(None, variables))}
