"""`umpirical schema`."""

import click

from umpirical.cli.terminal import say

__all__ = ["command"]


@click.command("schema")
@click.argument("what", type=click.Choice(["config", "datasheet", "stress"]))
def command(what: str) -> None:
    """Print the JSON Schema of a study file (config), of a datasheet record or of a stress record."""
    if what == "stress":
        from umpirical.reports.stress.record import stress_schema

        say(stress_schema().rstrip("\n"))
        return
    if what == "datasheet":
        from umpirical.reports.schema import datasheet_schema

        say(datasheet_schema().rstrip("\n"))
        return
    import json

    from umpirical.study.files import StudySpec

    say(json.dumps(StudySpec.model_json_schema(), indent=1))
