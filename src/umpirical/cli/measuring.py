"""Measuring judges from the command line: show what it takes, ask whether that is wanted, ask the judges."""

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from umpirical.cli.commands.plan import bound, price_option, show_plan, tell_review
from umpirical.cli.terminal import MAKING_STIMULI, inert, say

if TYPE_CHECKING:
    from umpirical.study.estimating import PlanEstimate, RunEstimate
    from umpirical.study.files import Study
    from umpirical.study.running import FinishedRun

__all__ = ["Terms", "exit_code", "measure", "need_flags", "spending_options"]


@dataclass(frozen=True, slots=True)
class Terms:
    """What was agreed to beforehand, on the command line."""

    yes: bool
    max_cost: Decimal | None
    prices: tuple[str, ...]
    allow_unpriced: bool


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


def spending_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that may spend: `yes`, `max_cost`, `prices`, `allow_unpriced`."""
    options = [
        click.option("--yes", is_flag=True, help="Do not ask before calls are sent."),
        click.option("--max-cost", metavar="USD", callback=_dollars, help="Never spend more than this, in US dollars."),
        price_option,
        click.option(
            "--allow-unpriced", is_flag=True, help="Also ask models whose price is not known. No cap holds them."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def measure(
    study: "Study", judges: Sequence[str], terms: Terms, *, fresh: bool = False, quiet: bool = False
) -> "list[FinishedRun]":
    """Measures the judges named, or all, once the price was shown and agreed to."""
    from umpirical.cli.progress import watch_run
    from umpirical.models.money import FREE, Ledger, Meter
    from umpirical.models.prices import parse_price
    from umpirical.study.estimating import PlanEstimate, estimate_run, pricers_of
    from umpirical.study.running import complete_run, plan_runs

    concurrency = study.spec.concurrency
    click.echo(MAKING_STIMULI, err=True)
    planned = plan_runs(study, judges, fresh=fresh)
    tell_review(planned)
    pricers = pricers_of(planned, dict(map(parse_price, terms.prices)), allow_unpriced=terms.allow_unpriced)
    priced = list(zip(planned, pricers, strict=True))
    real = [estimate_run(run, pricer, concurrency=concurrency) for run, pricer in priced if not run.simulated]
    ledger = Ledger(_agree(PlanEstimate(tuple(real)), yes=terms.yes, max_cost=terms.max_cost))
    watch = partial(watch_run, ledger=ledger)
    results = []
    for run, pricer in priced:
        # A judge of the user's own may print, and so does Inspect about batches; standard output is for results.
        with redirect_stdout(sys.stderr):
            result = complete_run(run, concurrency, watch, meter=Meter(pricer or FREE, ledger))
        results.append(result)
        if not quiet:
            _show(result)
    if ledger.spent:
        click.echo(f"spent: ${ledger.spent:.4f} of at most ${ledger.cap}", file=sys.stderr)
    return results


def exit_code(results: "Sequence[FinishedRun]") -> int:
    """0, or 5 if a run is not complete."""
    return 0 if all(result.enough for result in results) else 5


def _show(result: "FinishedRun") -> None:
    for finding in result.findings:
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
        need_flags(most, yes=yes, max_cost=max_cost)
    elif not yes and not click.confirm(_question(cap, most, unseen), err=True):
        raise SpendRefused("nothing was sent")
    return cap


def need_flags(most: Decimal, *, yes: bool, max_cost: Decimal | None) -> None:
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
