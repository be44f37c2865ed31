"""`umpirical run`."""

import sys
from contextlib import redirect_stdout
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.commands.plan import bound, price_option, show_plan
from umpirical.cli.terminal import inert, say

if TYPE_CHECKING:
    from umpirical.study.estimating import PlanEstimate, RunEstimate
    from umpirical.study.running import FinishedRun

__all__ = ["command"]


def _dollars(ctx: click.Context, param: click.Parameter, value: str | None) -> Decimal | None:
    """An amount of money, exact."""
    if value is None:
        return None
    try:
        amount = Decimal(value)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise click.BadParameter(f"{value!r} is not an amount of dollars, such as 2.50", ctx=ctx, param=param)
    return amount


@click.command("run")
@click.argument("study", type=click.Path(path_type=Path), default=Path())
@click.option("--judge", "judges", multiple=True, help="Only this judge; can be given several times.")
@click.option("--yes", is_flag=True, help="Do not ask before calls are sent.")
@click.option("--max-cost", metavar="USD", callback=_dollars, help="Never spend more than this, in US dollars.")
@price_option
@click.option("--allow-unpriced", is_flag=True, help="Also ask models whose price is not known. No cap holds them.")
@click.option("--fresh", is_flag=True, help="Start a new run that takes over no answer from an earlier one.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(  # noqa: PLR0913, PLR0917  # each an option
    study: Path,
    judges: tuple[str, ...],
    yes: bool,  # noqa: FBT001
    max_cost: Decimal | None,
    prices: tuple[str, ...],
    allow_unpriced: bool,  # noqa: FBT001
    fresh: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> int:
    """Measure the judges of the study STUDY (a file, or the folder it is in) and write their datasheets.

    What it may cost is shown, and nothing is sent before that is agreed to. Interrupted, failed or at its cap, the same
    command goes on where it stopped: what has an answer is not asked again.
    """
    from umpirical.cli.progress import watch_run
    from umpirical.models.prices import parse_price
    from umpirical.models.spending import FREE, Ledger, Meter
    from umpirical.study.estimating import PlanEstimate, estimate_run, pricers_of
    from umpirical.study.files import load_study
    from umpirical.study.running import complete_run, plan_runs

    loaded = load_study(study)
    concurrency = loaded.spec.concurrency
    planned = plan_runs(loaded, judges, fresh=fresh)
    pricers = pricers_of(planned, dict(map(parse_price, prices)), allow_unpriced=allow_unpriced)
    priced = list(zip(planned, pricers, strict=True))
    real = [estimate_run(run, pricer, concurrency=concurrency) for run, pricer in priced if not run.simulated]
    ledger = Ledger(_agree(PlanEstimate(tuple(real)), yes=yes, max_cost=max_cost))
    watch = partial(watch_run, ledger=ledger)
    results, code = [], 0
    for run, pricer in priced:
        # A judge of the user's own may print, and so does Inspect about batches; standard output is for results.
        with redirect_stdout(sys.stderr):
            result = complete_run(run, concurrency, watch, meter=Meter(pricer or FREE, ledger))
        results.append(result)
        code = max(code, 0 if result.enough else 5)
        if not as_json:
            _show(result)
    if ledger.spent:
        click.echo(f"spent: ${ledger.spent:.4f} of at most ${ledger.cap}", file=sys.stderr)
    if as_json:
        import json

        say(json.dumps([result.summary() for result in results], indent=1))
    return code


def _show(result: "FinishedRun") -> None:
    for finding in result.datasheet.findings:
        say(f"  {inert(finding)}")
    say(f"  {result.documents.html}")
    if not result.enough:
        say("  too many calls failed; run the same command again to ask them anew")


def _agree(estimate: "PlanEstimate", *, yes: bool, max_cost: Decimal | None) -> Decimal | None:
    """Shows what would be sent, and asks where somebody may send a bill for it. Returns the cap."""
    from umpirical.domain.errors import SpendRefused

    asked = [run for run in estimate.runs if run.calls]
    if not asked:
        return max_cost
    for run in asked:
        if run.refusal:
            raise SpendRefused(f"judge {run.judge}: {run.refusal}", fix=run.fix)
    show_plan(estimate, sys.stderr)
    most = bound(estimate)
    cap = most if max_cost is None else max_cost
    unseen = [run for run in asked if run.pricing in ("unpriced", "own-function")]
    if not most and not unseen:
        return max_cost
    if cap < most:
        click.echo(f"The cap of ${cap} is below that: the run may stop there, and can be resumed.", file=sys.stderr)
    if not sys.stdin.isatty():
        _need_flags(most, yes=yes, max_cost=max_cost)
    elif not yes and not click.confirm(_question(cap, most, unseen), err=True):
        raise SpendRefused("nothing was sent")
    return cap


def _need_flags(most: Decimal, *, yes: bool, max_cost: Decimal | None) -> None:
    """Without a terminal, what a person would be asked has to be said beforehand."""
    from umpirical.domain.errors import SpendRefused

    missing = [] if yes else ["--yes"]
    if most and max_cost is None:
        missing.append(f"--max-cost {most}")
    if missing:
        amount = f"up to ${most} would be spent" if most else "calls would be sent whose price is not seen here"
        raise SpendRefused(f"{amount}, and nobody is there to agree", fix=f"add {' '.join(missing)}")


def _question(cap: Decimal, most: Decimal, unseen: "list[RunEstimate]") -> str:
    calls = sum(run.calls for run in unseen)
    more = f"{calls:,} calls whose price is not seen here" if unseen else ""
    if not most:
        return f"Send {more}?"
    return f"Spend up to ${cap}" + (f", and send {more}?" if more else "?")
