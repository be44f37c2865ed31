"""Measuring judges from the command line: show what a run takes, get consent, then ask the judges."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from umpirical.cli.commands.plan import show_plan, tell_planned
from umpirical.cli.consent import Terms, agree, tell_spent
from umpirical.cli.preflight import TerminalPreflight
from umpirical.cli.terminal import MAKING_STIMULI, complain, remark, say, short_path

if TYPE_CHECKING:
    from umpirical.domain.errors import UmpiricalError
    from umpirical.protocols.protocol import Study
    from umpirical.runs.run import Run
    from umpirical.study.estimate import PlanEstimate
    from umpirical.study.results import FinishedRun

policy_option = click.option(
    "--policy",
    default="",
    metavar="NAME",
    help="What to hold judges to: ranking, adjudication (or release), ci-smoke, claim, or a .yaml file. "
    "Default: as the study says.",
)

preflight_option = click.option(
    "--no-preflight", is_flag=True, help="Do not try a few calls first to see whether answers can be read."
)


def measure(  # noqa: PLR0913  # each by its name
    study: "Study[Any]",
    judges: Sequence[str],
    terms: Terms,
    *,
    fresh: bool = False,
    executor: str | None = None,
    processes: int | None = None,
    through: str = "",
    quiet: bool = False,
    preflight: bool = False,
    lost: "dict[str, UmpiricalError] | None" = None,
) -> "list[FinishedRun]":
    """Measures the named judges, or all, once the price has been shown and agreed to; after a preflight, if asked.

    What is wrong with one of several judges is printed, put into `lost` by its name, and does not stop the rest.
    """
    from umpirical.progress import watch_run
    from umpirical.runs.executor import LOCAL
    from umpirical.study.run import Asking, measure_judges

    def lose(run: "Run", error: "UmpiricalError") -> None:
        complain(str(error), error.fix)
        told[run.judge.name] = error

    told = {} if lost is None else lost
    remark(MAKING_STIMULI)
    trying = TerminalPreflight(terms)
    return tell_runs(
        measure_judges(
            study,
            judges,
            consent=lambda estimate: _consent(estimate, trying),
            watch=watch_run,
            prices=terms.price_overrides(),
            allow_unpriced=terms.allow_unpriced,
            fresh=fresh,
            asking=Asking(executor or LOCAL, processes, remark, through),
            planned=lambda runs: tell_planned(study, runs),
            preflight=trying if preflight else None,
            tell=tell_spent,
            lose=lose,
        ),
        quiet=quiet,
    )


def measure_more(run: "Run", terms: Terms, *, concurrency: int, quiet: bool = False) -> "list[FinishedRun]":
    """Measures a planned follow-up, once the price has been shown and agreed to."""
    from umpirical.progress import watch_run
    from umpirical.study.run import ask_runs

    trying = TerminalPreflight(terms)
    return tell_runs(
        ask_runs(
            [run],
            concurrency,
            consent=lambda estimate: _consent(estimate, trying),
            watch=watch_run,
            prices=terms.price_overrides(),
            allow_unpriced=terms.allow_unpriced,
            tell=tell_spent,
        ),
        quiet=quiet,
    )


def tell_runs(measured: "Iterator[FinishedRun]", *, quiet: bool) -> "list[FinishedRun]":
    """Measures runs one after another, and shows each."""
    results: list[FinishedRun] = []
    while (result := _next(measured)) is not None:
        results.append(result)
        if not quiet:
            _show(result)
    return results


def _next(measured: "Iterator[FinishedRun]") -> "FinishedRun | None":
    """Measures the next judge with prints redirected: a user's judge may print, but standard output is for results.

    Inspect, too, prints about batches.
    """
    with redirect_stdout(sys.stderr):
        return next(measured, None)


def exit_code(results: "Sequence[FinishedRun]", lost: "Mapping[str, UmpiricalError] | None" = None) -> int:
    """What lost judges say; else 5 if a run is not complete, 3 if a judge is refused, 4 if one is open, else 0."""
    codes = {result.exit_code for result in results} | {error.exit_code for error in (lost or {}).values()}
    return next((code for code in (1, 2, 5, 3, 4) if code in codes), 0)


def lost_summaries(lost: "Mapping[str, UmpiricalError]") -> list[dict[str, Any]]:
    """Returns summaries of judges that could not be measured, for the program that started the runs."""
    return [{"judge": judge, "complete": False, "error": str(error), "fix": error.fix} for judge, error in lost.items()]


def _show(result: "FinishedRun") -> None:
    from umpirical.reports.smallest_differences import record_words

    if result.decision:
        say(f"  {result.decision.line}")
    for finding in result.findings:
        say(f"  {finding}")
    for words in record_words(result.record):
        say(f"  {words}")
    say(f"  {short_path(result.documents.html)}")
    if result.open_to_more:
        say(f"  next:  umpirical more {short_path(result.folder)}  asks just what would settle it")
    if not result.enough:
        say("  too many calls failed; run the same command again to retry them")


def _consent(estimate: "PlanEstimate", trying: TerminalPreflight) -> Decimal | None:
    """Shows what would be sent, and asks for consent if it may be billed. Returns the budget."""
    terms = trying.terms
    if not estimate.calls:
        return terms.max_cost
    show_plan(estimate, sys.stderr)
    unseen = estimate.unseen_calls
    return agree(
        terms,
        most=estimate.bound,
        booked=estimate.booked,
        unseen=f"{unseen:,} calls whose price is unknown here" if unseen else "",
        refused="nothing more was sent; the answers of the preflight are kept" if trying.held else "nothing was sent",
    )
