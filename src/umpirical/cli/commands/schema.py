"""`umpirical schema`."""

import click

from umpirical.cli.terminal import say, say_json

__all__ = ["command"]


@click.command("schema")
@click.argument("what")
def command(what: str) -> None:
    """Print the JSON Schema of a study file (WHAT: config), a policy file (policy) or a record.

    A record is named by its protocol: datasheet, stress, or a plugin's; that of `umpirical compare` is comparison.
    """
    import json

    from umpirical.protocols.catalogue import PROTOCOLS
    from umpirical.study.file import study_schema

    if what == "comparison":
        from umpirical.api.extras import comparison_schema

        say_json(comparison_schema().rstrip("\n"))
        return
    if what == "policy":
        for schema in filter(None, (protocol.policy_schema() for protocol in PROTOCOLS)):
            say(schema.rstrip("\n"))
        return
    say_json(json.dumps(study_schema(), indent=1) if what == "config" else PROTOCOLS.get(what).schema().rstrip("\n"))
