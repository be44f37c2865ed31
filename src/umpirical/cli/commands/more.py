"""`umpirical more`."""

from decimal import Decimal

import click

from umpirical.cli.consent import Terms, spending_options
from umpirical.cli.measurement import exit_code, measure_more
from umpirical.cli.terminal import MAKING_STIMULI, remark, say_json
from umpirical.cli.trust import terminal_trust, trust_option


@click.command("more")
@click.argument("target")
@spending_options
@trust_option
@click.option("--concurrency", default=16, type=click.IntRange(1, 4096), help="Calls in flight at a time.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(  # noqa: PLR0913, PLR0917  # each an option
    target: str,
    yes: bool,  # noqa: FBT001
    max_cost: Decimal | None,
    prices: tuple[str, ...],
    allow_unpriced: bool,  # noqa: FBT001
    trust: bool,  # noqa: FBT001
    concurrency: int,
    as_json: bool,  # noqa: FBT001
) -> int:
    """Ask just what would settle what a run leaves open, and write one datasheet of both.

    TARGET is the folder of a run, the name of a run or a judge, or a study's folder or file; it must have one run.

    The possible cost is shown first. Answers of the run are reused, and each follow-up may err half as often as the
    look before it, since a second look gives chance a second try.
    """
    from umpirical.study.results import find_run
    from umpirical.study.run import follow_run

    remark(MAKING_STIMULI)
    planned, words = follow_run(find_run(target), terminal_trust(given=trust))
    for line in words:
        remark(f"  {line}")
    results = measure_more(
        planned, Terms(yes, max_cost, prices, allow_unpriced), concurrency=concurrency, quiet=as_json
    )
    if as_json:
        import json

        say_json(json.dumps([result.summary() for result in results], indent=1))
    return exit_code(results)
