"""Consent: nothing that may cost money is sent before a person has seen the price and agreed to it."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from umpirical.cli.terminal import confirm, remark
from umpirical.domain.bills import dollars_of

if TYPE_CHECKING:
    from umpirical.models.prices import TokenPrices
    from umpirical.store.budget import Booked
    from umpirical.study.spending import Spending


@dataclass(frozen=True, slots=True)
class Terms:
    """What the user agreed to in advance, on the command line."""

    yes: bool
    max_cost: Decimal | None
    prices: tuple[str, ...]
    allow_unpriced: bool

    def price_overrides(self) -> "dict[str, TokenPrices]":
        """The prices given with --price, by model."""
        from umpirical.models.prices import parse_price

        return dict(map(parse_price, self.prices))


price_option = click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="NAME=IN,OUT",
    help="Price of the model NAME, in dollars per million tokens; can be given several times.",
)


def in_dollars(ctx: click.Context, param: click.Parameter, value: str | None) -> Decimal | None:
    """Parses an exact amount of money."""
    if value is None:
        return None
    amount = dollars_of(value)
    if amount is None:
        raise click.BadParameter(f"{value!r} is not an amount of dollars, such as 2.50", ctx=ctx, param=param)
    return amount


def spending_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of every command that may spend: `yes`, `max_cost`, `prices`, `allow_unpriced`."""
    options = [
        click.option("--yes", is_flag=True, help="Send calls without asking first."),
        click.option(
            "--max-cost",
            metavar="USD",
            callback=in_dollars,
            help="The budget in US dollars: all that the study may ever spend on what is asked here. What earlier "
            "commands and other processes have spent counts.",
        ),
        price_option,
        click.option(
            "--allow-unpriced", is_flag=True, help="Also ask models whose price is unknown. No budget limits them."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def agree(
    terms: Terms, *, most: Decimal, booked: "Booked", unseen: str = "", refused: str = "nothing was sent"
) -> Decimal | None:
    """Asks for consent if calls may be billed, after showing what would be sent. Returns the budget, or None.

    `most` is the most that calls with a known price can cost; `booked` is what is booked in the same budget already;
    `unseen` says what else would be sent, if anything; `refused` says what a refusal means.
    """
    from umpirical.domain.errors import SpendRefused
    from umpirical.models.money import booked_line
    from umpirical.study.spending import enough

    if not most and not unseen:
        return terms.max_cost
    needed = enough(booked, most) if most else None
    budget = terms.max_cost if terms.max_cost is not None else needed
    if most and booked.total:
        remark(f"{booked_line(booked, budget)}; this may cost up to ${most} more.")
    if budget is not None and needed is not None and budget < needed:
        remark(f"The budget of ${budget} is below that: the run may stop there, and can be resumed.")
    if not sys.stdin.isatty():
        _need_flags(terms, most, needed)
    elif not terms.yes and not confirm(_question(terms, booked, most, unseen)):
        raise SpendRefused(refused)
    return budget


def _need_flags(terms: Terms, most: Decimal, needed: Decimal | None) -> None:
    """Without a terminal nobody can be asked, so the answers must be given as flags."""
    from umpirical.domain.errors import SpendRefused

    missing = [] if terms.yes else ["--yes"]
    if most and terms.max_cost is None:
        missing.append(f"--max-cost {needed}")
    if missing:
        amount = f"up to ${most} would be spent" if most else "calls whose price is unknown here would be sent"
        raise SpendRefused(f"{amount}, and nobody is present to agree", fix=f"add {' '.join(missing)}")


def _question(terms: Terms, booked: "Booked", most: Decimal, unseen: str) -> str:
    if not most:
        return f"Send {unseen}?"
    more = most if terms.max_cost is None else max(Decimal(0), terms.max_cost - booked.total)
    return f"Spend up to ${more}" + (f", and send {unseen}?" if unseen else "?")


def tell_spent(spending: "Spending") -> None:
    """Prints what was spent, what is booked in all, and what a server did wrong; nothing if nothing was spent."""
    from umpirical.domain.bills import BILLING_FAULTS
    from umpirical.models.money import booked_line

    now = spending.now
    if now.total:
        remark(f"spent: ${now.total:.4f}; {booked_line(spending.booked(), spending.cap)}")
    for fault, count in now.faults.items():
        remark(f"  {BILLING_FAULTS[fault]}: {count:,}")
