"""`umpirical schema`."""

import click

from umpirical.cli.terminal import say

__all__ = ["command"]


@click.command("schema")
@click.argument("what")
def command(what: str) -> None:
    """Print the JSON Schema of a study file (WHAT: config) or of a record (datasheet, stress, or a plugin's)."""
    import json

    from umpirical.protocols.catalogue import PROTOCOLS
    from umpirical.study.file import study_schema

    say(json.dumps(study_schema(), indent=1) if what == "config" else PROTOCOLS.get(what).schema().rstrip("\n"))
