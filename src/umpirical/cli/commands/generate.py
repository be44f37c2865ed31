"""`umpirical generate`."""

from decimal import ROUND_CEILING, Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.consent import Terms, agree, spending_options, tell_spent
from umpirical.cli.terminal import remark, say, say_json
from umpirical.cli.trust import outside_option, trust_option, trusted_study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from umpirical.models.prices import TokenPrices
    from umpirical.protocols.writing import Writing, WritingEstimate, Written
    from umpirical.store.budget import Booked

SHOWN = 5
"""How many kinds of failure are printed."""


@click.command("generate")
@click.argument("study", type=click.Path(path_type=Path), default=Path())
@spending_options
@outside_option
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(  # noqa: PLR0913, PLR0917  # each an option
    study: Path,
    yes: bool,  # noqa: FBT001
    max_cost: Decimal | None,
    prices: tuple[str, ...],
    allow_unpriced: bool,  # noqa: FBT001
    outside: bool,  # noqa: FBT001
    trust: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
) -> int:
    """Have a model write the stimuli of STUDY that a program cannot make; check and validate them.

    The possible cost is shown first, and nothing is sent until you agree to it. Each text is kept as soon as it
    arrives. After an interruption, a failure or a reached budget, the same command resumes: no text is written twice.
    """
    from umpirical.models.money import CapReached
    from umpirical.models.prices import pricer_of
    from umpirical.progress import watch_generation
    from umpirical.protocols.protocol import WritesStimuli
    from umpirical.study.spending import WRITERS, Spending, response_bill

    terms = Terms(yes, max_cost, prices, allow_unpriced)
    loaded = trusted_study(study, trust=trust, outside=outside)
    remark("reading the dataset and planning what to write")
    if not isinstance(loaded.protocol, WritesStimuli):
        raise WritesStimuli.missing(loaded.protocol)
    writing, overrides = loaded.protocol.writing(loaded), terms.price_overrides()
    _refuse_stray_prices(writing, overrides)
    pricers = {
        part: pricer_of(model, overrides, allow_unpriced=allow_unpriced) for part, model in writing.models.items()
    }
    spending = Spending(loaded.folder, {WRITERS: lambda: response_bill(writing.calls())})
    spending.cap = _agree(writing, writing.estimate(pricers), terms, spending.booked())
    ledger = spending.ledger(WRITERS)
    try:
        written = writing.write(pricers, ledger, partial(watch_generation, ledger=ledger))
    except CapReached as reached:
        ledger.close()
        raise spending.go_on(reached, writing.estimate(pricers).at_most or Decimal(0)) from None
    finally:
        ledger.close()
        tell_spent(spending)
    if as_json:
        _show_json(written)
    else:
        _show(written, study)
    return 5 if written.open else 0


def _refuse_stray_prices(writing: "Writing", overrides: "Mapping[str, TokenPrices]") -> None:
    from umpirical.domain.errors import UsageError

    known = {model.name for model in writing.models.values()}
    if stray := [name for name in overrides if name not in known]:
        raise UsageError(f"--price {stray[0]}: neither the generator nor the validator uses that model")


def _agree(writing: "Writing", estimate: "WritingEstimate", terms: Terms, booked: "Booked") -> Decimal | None:
    """Shows what may be sent and spent, and asks for consent if it may be billed. Returns the budget."""
    left = estimate.commissions - estimate.settled
    if not left:
        return terms.max_cost
    most = None if estimate.at_most is None else estimate.at_most.quantize(Decimal("0.0001"), ROUND_CEILING)
    price = f"at most ${most} ({', '.join(estimate.tables)})" if most else "free"
    price = "no price is known" if most is None else price
    done = f", {estimate.settled:,} already settled" if estimate.settled else ""
    names = ", ".join(dict.fromkeys(model.name for model in writing.models.values()))
    remark(f"generate: {left:,} stimuli{done}, with {names}")
    remark(f"  {estimate.fewest_calls:,} to {estimate.most_calls:,} calls, {price}")
    if estimate.expected:
        remark(f"  ${estimate.expected:.4f} if every first attempt is accepted")
    unseen = f"up to {estimate.most_calls:,} calls whose price is unknown here" if most is None else ""
    return agree(terms, most=most or Decimal(0), booked=booked, unseen=unseen)


def _show(written: "Written", study: Path) -> None:
    for test, made in written.made.items():
        asked = made.wanted - sum(made.skipped.values())
        by = ", by a simulated generator: a rehearsal" if made.simulated else ""
        say(f"{test}: {made.generated} of {asked} written in {made.attempts} attempts{by}")
        if made.sources:
            say(f"  {made.sources}")
        for level, words in made.levels.items():
            say(f"  level {level}: {words}")
        for reason, count in sorted(made.rejected.items(), key=lambda entry: -entry[1]):
            say(f"  rejected {count}: {reason}")
        for reason, count in made.skipped.items():
            say(f"  not requested {count}: {reason}")
        if made.given_up:
            say(f"  given up {made.given_up}: no attempt was accepted")
        if made.open:
            say(f"  open {made.open}: calls failed; run the same command again")
    for (kind, detail), count in sorted(written.failures.items(), key=lambda entry: -entry[1])[:SHOWN]:
        say(f"failed {count}: {kind}: {detail}")
    say(f"next:  umpirical generate {study}" if written.open or written.more else f"next:  umpirical run {study}")


def _show_json(written: "Written") -> None:
    import json
    from dataclasses import asdict

    say_json(json.dumps({test: asdict(made) for test, made in written.made.items()}, indent=1))
