"""`umpirical schema`."""

import click

from umpirical.cli.terminal import say, say_json


@click.command("schema")
@click.argument("what")
def command(what: str) -> None:
    """Print the JSON Schema of a study file (WHAT: config), a policy file (policy) or a record.

    A record is named by its protocol: datasheet, stress, pairs, agent, or a plugin's. Others are comparison,
    stress-comparison, jury, correction and claim.
    """
    import json

    from umpirical.api.schemas import OTHERS, schema_of
    from umpirical.domain.errors import UsageError
    from umpirical.protocols.catalogue import PROTOCOLS
    from umpirical.protocols.protocol import DecidesByPolicy
    from umpirical.study.file import study_schema

    if (found := schema_of(what)) is not None:
        say_json(found.rstrip("\n"))
        return
    if what == "policy":
        for protocol in PROTOCOLS:
            if isinstance(protocol, DecidesByPolicy) and (schema := protocol.policy_schema()):
                say(schema.rstrip("\n"))
        return
    if what == "config":
        say_json(json.dumps(study_schema(), indent=1))
        return
    if what not in PROTOCOLS.names():
        known = ["config", "policy", *PROTOCOLS.names(), *OTHERS]
        raise UsageError(f"nothing that has a schema is called {what!r}", fix=f"name one of {', '.join(known)}")
    say_json(PROTOCOLS.get(what).schema().rstrip("\n"))
