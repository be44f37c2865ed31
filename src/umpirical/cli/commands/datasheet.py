"""`umpirical datasheet`."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import click

from umpirical.cli.consent import Terms, spending_options
from umpirical.cli.measurement import exit_code, lost_summaries, measure, policy_option, preflight_option
from umpirical.cli.terminal import say, say_json
from umpirical.cli.trust import terminal_trust, trust_option


@click.command("datasheet")
@click.argument("judge")
@click.option("--against", metavar="OTHER", help="Another judge, to compare on one page with paired differences.")
@click.option("--size", default="standard", help="screen (336 calls), paper (620), standard (1,248) or full (2,496).")
@click.option("--arm", "arms", multiple=True, help="Also ask with this tie instruction: strict, forced-choice.")
@click.option("--repeats", default=1, type=click.IntRange(1, 100), help="Ask each question this many times.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), default=Path(), help="Where to keep it.")
@spending_options
@trust_option
@policy_option
@preflight_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(  # noqa: PLR0913, PLR0917  # each an option
    judge: str,
    against: str | None,
    size: str,
    arms: tuple[str, ...],
    repeats: int,
    folder: Path,
    yes: bool,  # noqa: FBT001
    max_cost: Decimal | None,
    prices: tuple[str, ...],
    allow_unpriced: bool,  # noqa: FBT001
    trust: bool,  # noqa: FBT001
    policy: str,
    no_preflight: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> int:
    """Measure the judge JUDGE and write its datasheet.

    JUDGE is the name of a judge in the study file here, a file with a judge in it (judge.yaml), a function
    (module:function), a model (provider/model), or simulated:NAME. The possible cost is shown first. If the
    run stops, the same command resumes it.
    """
    from umpirical.api.studies import datasheet_study
    from umpirical.domain.errors import UmpiricalError

    targets = [judge] if against is None else [judge, against]
    agree = terminal_trust(given=trust)
    study = replace(datasheet_study(targets, folder, agree=agree, size=size, arms=arms, repeats=repeats), policy=policy)
    terms, lost = Terms(yes, max_cost, prices, allow_unpriced), dict[str, UmpiricalError]()
    results = measure(study, [], terms, quiet=as_json, preflight=not no_preflight, lost=lost)
    summaries = [*(result.summary() for result in results), *lost_summaries(lost)]
    if against is not None and not lost:
        from umpirical.api.comparisons import compare_targets

        page = compare_targets([result.folder for result in results]).save().html
        summaries.append({"comparison": str(page)})
        if not as_json:
            say(f"  {page}")
    if as_json:
        import json

        say_json(json.dumps(summaries, indent=1))
    return exit_code(results, lost)
