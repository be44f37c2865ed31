"""`umpirical serving`."""

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.consent import Terms, agree, spending_options, tell_spent
from umpirical.cli.terminal import MAKING_STIMULI, remark, say, say_json
from umpirical.cli.trust import calls_option, outside_option, trust_option, trusted_study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from umpirical.study.serving import Changed, Serving, ServingPlan
    from umpirical.study.spending import Spending


@click.command("serving")
@click.argument("study", type=click.Path(path_type=Path), default=Path())
@click.option("--judge", "judges", multiple=True, help="Only this judge; can be given several times.")
@click.option(
    "--questions",
    default=20,
    type=click.IntRange(2, 1000),
    metavar="N",
    help="Questions whose answers are compared; each is asked three times. Default: 20.",
)
@spending_options
@outside_option
@trust_option
@calls_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(  # noqa: PLR0913, PLR0917  # each an option
    study: Path,
    judges: tuple[str, ...],
    questions: int,
    yes: bool,  # noqa: FBT001
    max_cost: Decimal | None,
    prices: tuple[str, ...],
    allow_unpriced: bool,  # noqa: FBT001
    outside: bool,  # noqa: FBT001
    trust: bool,  # noqa: FBT001
    max_calls: int | None,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Count the answers that change with what else a server is asked at the time, for judges of the study STUDY.

    A few questions of the plan are asked alone, alone once more, and amid as many other calls as the study has in
    flight. What differs between the last two is the serving, not the judge. The possible cost is shown first. These
    answers enter no measure: they are written to serving.json beside the run.
    """
    from umpirical.progress import watch_run
    from umpirical.study.estimate import pricers_of
    from umpirical.study.run import plan_runs, spending_of
    from umpirical.study.serving import ask_serving, plan_serving
    from umpirical.study.spending import judge_account

    terms = Terms(yes, max_cost, prices, allow_unpriced)
    loaded = trusted_study(study, trust=trust, outside=outside, max_calls=max_calls)
    remark(MAKING_STIMULI)
    runs = plan_runs(loaded, judges)
    pricers = pricers_of(runs, terms.price_overrides(), allow_unpriced=allow_unpriced)
    priced = list(zip(runs, pricers, strict=True))
    plans = [
        plan_serving(run, pricer, questions=questions, concurrency=loaded.spec.concurrency) for run, pricer in priced
    ]
    spending = spending_of(priced)
    found: list[Serving] = []
    spending.cap = _consent(plans, spending, terms)
    try:
        for plan in plans:
            ledger = spending.ledger(judge_account(plan.run.judge.name), "serving")
            try:
                with watch_run(plan.run.judge.name, plan.calls, ledger) as watcher:
                    found.append(ask_serving(plan, ledger, watcher.settled))
            finally:
                ledger.close()
            if not as_json:
                _show(found[-1])
    finally:
        tell_spent(spending)
    if as_json:
        import json

        say_json(json.dumps([each.as_json() for each in found], indent=1))


def _consent(plans: "Sequence[ServingPlan]", spending: "Spending", terms: Terms) -> Decimal | None:
    """Shows what would be sent, and asks for consent if it may be billed. Returns the budget."""
    for plan in plans:
        price = f", at most ${plan.at_most}" if plan.at_most else ""
        remark(
            f"judge {plan.run.judge.name}: {plan.calls:,} calls, {len(plan.questions)} questions three times and "
            f"{len(plan.company)} for company{price}; up to {plan.concurrency} in flight"
        )
    most = sum((plan.at_most for plan in plans), Decimal(0))
    unseen = sum(plan.calls for plan in plans if plan.unseen)
    unknown = f"{unseen:,} calls whose price is unknown here" if unseen else ""
    return agree(terms, most=most, booked=spending.booked(), unseen=unknown)


def _show(found: "Serving") -> None:
    say(f"judge {found.judge}")
    for server in found.served_by:
        say(f"  served by {server}")
    say("  compared with the first answer of a question that was asked alone:")
    _show_changed("asked alone again", found.again)
    _show_changed(f"amid up to {found.concurrency} calls", found.amid)
    if any(share is not None for share in found.cached.values()):
        shares = (f"{way} {'not said' if share is None else f'{share:.0%}'}" for way, share in found.cached.items())
        say(f"  tokens of the questions read from a cache: {', '.join(shares)}")
    say(f"  {found.verdict}.")


def _show_changed(title: str, changed: "Changed") -> None:
    parts = [
        _share("texts changed", changed, changed.texts, changed.pairs),
        _share("read otherwise", changed, changed.readings, changed.pairs),
    ]
    if changed.logprob_pairs:
        shift = "" if changed.largest_shift is None else f", by up to {changed.largest_shift:.3g} nats"
        parts.append(_share("log-probabilities moved", changed, changed.logprobs, changed.logprob_pairs) + shift)
    if changed.left_out:
        parts.append(f"{changed.left_out} left out without an answer")
    say(f"    {title}: {'; '.join(parts)}")


def _share(words: str, changed: "Changed", count: int, of: int) -> str:
    bounds = changed.interval(count, of)
    return f"{words} {count} of {of}" + ("" if bounds is None else f" (95 %: {bounds[0]:.0%} to {bounds[1]:.0%})")
