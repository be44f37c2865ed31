"""`umpirical schema`."""

import click

from umpirical.cli.terminal import say

__all__ = ["command"]


@click.command("schema")
@click.argument("what", type=click.Choice(["config", "datasheet"]))
def command(what: str) -> None:
    """Print the JSON Schema of a study file (config) or of a datasheet record (datasheet)."""
    if what == "datasheet":
        from umpirical.reports.schema import datasheet_schema

        say(datasheet_schema().rstrip("\n"))
        return
    import json

    from umpirical.study.files import StudySpec

    say(json.dumps(StudySpec.model_json_schema(), indent=1))
