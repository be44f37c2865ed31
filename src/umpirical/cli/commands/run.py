"""`umpirical run`."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import click

from umpirical.cli.consent import Terms, spending_options
from umpirical.cli.measurement import exit_code, lost_summaries, measure, policy_option, preflight_option
from umpirical.cli.terminal import remark, say, say_json
from umpirical.cli.trust import calls_option, outside_option, trust_option, trusted_study


def _checked_uri(_: click.Context, __: click.Parameter, uri: str) -> str:
    """Refuses credentials before anything else: whoever is interrupted is shown the command line again."""
    if uri:
        from umpirical.store.objects import check_uri

        check_uri(uri)
    return uri


@click.command("run")
@click.argument("study", type=click.Path(path_type=Path), default=Path())
@click.option("--judge", "judges", multiple=True, help="Only this judge; can be given several times.")
@spending_options
@outside_option
@trust_option
@calls_option
@click.option("--fresh", is_flag=True, help="Start a new run that reuses no answers from earlier ones.")
@policy_option
@click.option(
    "--executor",
    metavar="NAME",
    help="How the judges are asked: local; ray, by actors of a Ray cluster; batch, by the provider's batches at half "
    "the price; or a plugin's. Default: local.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Processes of this machine, or actors of Ray, that share the calls. Default: as many as help, mostly 1.",
)
@click.option(
    "--through",
    default="",
    metavar="URI",
    callback=_checked_uri,
    help="Object storage, such as s3://bucket/prefix, for actors of Ray on machines that do not share the study's "
    "folder. Credentials come from the environment.",
)
@preflight_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(  # noqa: PLR0913, PLR0917  # each an option
    study: Path,
    judges: tuple[str, ...],
    yes: bool,  # noqa: FBT001
    max_cost: Decimal | None,
    prices: tuple[str, ...],
    allow_unpriced: bool,  # noqa: FBT001
    outside: bool,  # noqa: FBT001
    trust: bool,  # noqa: FBT001
    max_calls: int | None,
    fresh: bool,  # noqa: FBT001
    policy: str,
    executor: str | None,
    processes: int | None,
    through: str,
    no_preflight: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> int:
    """Measure the judges of the study STUDY (a file, or the folder it is in) and write their datasheets.

    The possible cost is shown first, and nothing is sent until you agree to it. A few calls come before the rest, with
    the prompt, the answers and how they were read; if fewer than half can be read, nothing more is sent. After an
    interruption, a failure or a reached budget, the same command resumes: what has an answer is not asked again. A
    judge that cannot be asked does not stop the others.

    Exits with 0 if the policy lets every judge be used, 3 if it refuses one, and 4 if there is not enough data on one.
    Stress tests have no policy: `umpirical gate` says by its exit code what came of them.
    """
    from umpirical.domain.errors import UmpiricalError
    from umpirical.study.results import write_side_by_side

    loaded = replace(trusted_study(study, trust=trust, outside=outside, max_calls=max_calls), policy=policy)
    terms, lost = Terms(yes, max_cost, prices, allow_unpriced), dict[str, UmpiricalError]()
    results = measure(
        loaded,
        judges,
        terms,
        fresh=fresh,
        executor=executor,
        processes=processes,
        through=through,
        quiet=as_json,
        preflight=not no_preflight,
        lost=lost,
    )
    if as_json:
        import json

        summaries = [*(result.summary() for result in results), *lost_summaries(lost)]
        say_json(json.dumps(summaries, indent=1))
    tell = remark if as_json else say
    if lost:
        measured = ", ".join(result.record.judge.name for result in results) or "none"
        tell(f"not measured: {', '.join(lost)}; measured: {measured}")
    if results and (together := write_side_by_side(loaded.folder, runs=[result.folder for result in results])):
        tell(f"all judges side by side:  {together[1]}")
    return exit_code(results, lost)
