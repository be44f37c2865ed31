"""Options that commands share, and consent: nothing is sent before a person has agreed to it and its price."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from umpirical.cli.terminal import confirm, remark
from umpirical.domain.bills import dollars_of

if TYPE_CHECKING:
    from umpirical.domain.judgments import Outcome
    from umpirical.models.prices import TokenPrices
    from umpirical.protocols.protocol import Study
    from umpirical.store.budget import Booked
    from umpirical.study.estimate import PlanEstimate
    from umpirical.study.preflight import Preflight, PreflightPlan
    from umpirical.study.spending import Spending
    from umpirical.study.trust import Agree, Asked


def gathered(name: str, kind: type, *options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds options to a command, which receives their values as one argument: `name`, a dataclass of type `kind`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_one_argument(**given: Any) -> Any:  # noqa: ANN401  # what click has parsed
            own = {field.name: given.pop(field.name) for field in fields(kind) if field.name in given}
            return command(**given, **{name: kind(**own)})

        function: Callable[..., Any] = with_one_argument
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


@dataclass(frozen=True, slots=True)
class SpendingFlags:
    """What the user agreed to in advance, on the command line."""

    yes: bool
    max_cost: Decimal | None
    prices: tuple[str, ...]
    allow_unpriced: bool

    def price_overrides(self) -> "dict[str, TokenPrices]":
        from umpirical.models.prices import parse_price

        return dict(map(parse_price, self.prices))


price_option = click.option(
    "--price",
    "prices",
    multiple=True,
    metavar="NAME=IN,OUT",
    help="Price of model NAME in dollars per million tokens. Repeatable.",
)


def out_option(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns the option for the folder that a command writes to."""
    place = click.Path(path_type=Path, file_okay=False)
    return click.option("--out", type=place, help=f"Folder to write to. Default: {default}.")


def in_dollars(ctx: click.Context, param: click.Parameter, value: str | None) -> Decimal | None:
    if value is None:
        return None
    amount = dollars_of(value)
    if amount is None:
        raise click.BadParameter(f"{value!r} is not a dollar amount, such as 2.50", ctx=ctx, param=param)
    return amount


spending_options = gathered(
    "flags",
    SpendingFlags,
    click.option("--yes", is_flag=True, help="Skip the confirmation prompt."),
    click.option(
        "--max-cost",
        metavar="USD",
        callback=in_dollars,
        help="Stop before spending more than this on the study, earlier runs included.",
    ),
    price_option,
    click.option(
        "--allow-unpriced",
        is_flag=True,
        help="Allow models with unknown prices. The spending cap does not apply to them.",
    ),
)
"""The options of every command that may spend, as `flags`."""


def agree(
    flags: SpendingFlags, *, most: Decimal, booked: "Booked", unseen: str = "", refused: str = "nothing was sent"
) -> Decimal | None:
    """Asks for consent if calls may be billed, after showing what would be sent. Returns the budget, or None.

    `most` is the most that calls with a known price can cost; `booked` is what is booked in the same budget already;
    `unseen` says what else would be sent, if anything; `refused` says what a refusal means.
    """
    from umpirical.domain.errors import SpendRefused
    from umpirical.models.money import booked_line
    from umpirical.study.spending import enough

    if not most and not unseen:
        return flags.max_cost
    needed = enough(booked, most) if most else None
    budget = flags.max_cost if flags.max_cost is not None else needed
    if most and booked.total:
        remark(f"{booked_line(booked, budget)}; this may cost up to ${most} more.")
    if budget is not None and needed is not None and budget < needed:
        remark(f"The cap of ${budget} is lower: the run may stop there. You can resume it.")
    if not sys.stdin.isatty():
        _need_flags(flags, most, needed)
    elif not flags.yes and not confirm(_question(flags, booked, most, unseen)):
        raise SpendRefused(refused)
    return budget


def _need_flags(flags: SpendingFlags, most: Decimal, needed: Decimal | None) -> None:
    """Without a terminal there is nobody to ask: the flags have to say it all."""
    from umpirical.domain.errors import SpendRefused

    missing = [] if flags.yes else ["--yes"]
    if most and flags.max_cost is None:
        missing.append(f"--max-cost {needed}")
    if missing:
        amount = f"up to ${most} would be spent" if most else "calls whose price is unknown here would be sent"
        raise SpendRefused(
            f"{amount}, and this is not a terminal where you could agree", fix=f"add {' '.join(missing)}"
        )


def _question(flags: SpendingFlags, booked: "Booked", most: Decimal, unseen: str) -> str:
    if not most:
        return f"Send {unseen}?"
    more = most if flags.max_cost is None else max(Decimal(0), flags.max_cost - booked.total)
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


# Asking whether a study may do what it would do, before any of it is done.


SHOWN = 40
"""How many lines of the list are printed; nobody reads more, and the rest is of the kind of the last."""

outside_option = click.option("--outside", is_flag=True, help="Allow the study to read files outside its folder.")

trust_option = click.option(
    "--trust", is_flag=True, help="Approve the study's servers, API keys, code and data without prompting."
)

calls_option = click.option(
    "--max-calls",
    type=click.IntRange(1),
    metavar="N",
    help="Most calls to one judge. Default: 1,000,000.",
)


@dataclass(frozen=True, slots=True)
class StudyFlags:
    """A study, and what the user allows it in advance."""

    study: Path
    outside: bool
    trust: bool
    max_calls: int | None = None

    def load(self) -> "Study[Any]":
        """Reads the study for use, once a person has agreed to what it would do."""
        from umpirical.study.file import load_study

        agree = terminal_trust(given=self.trust)
        return load_study(self.study, agree, outside=self.outside, max_calls=self.max_calls)


study_argument = click.argument("study", type=click.Path(path_type=Path), default=Path())

study_options = gathered("source", StudyFlags, study_argument, outside_option, trust_option, calls_option)
"""The study of a command and what it is allowed, as `source`."""


def terminal_trust(*, given: bool) -> "Agree":
    """Returns what asks the person at the terminal, unless they agreed in advance."""

    def agree(asked: "Asked") -> bool:
        _show_powers(asked, remark)
        if given:
            return True
        return sys.stdin.isatty() and confirm("Approve this study, and remember it for this folder?")

    return agree


def _show_powers(asked: "Asked", tell: Callable[[object], None]) -> None:
    lines = asked.lines()
    tell(asked.heading)
    for line in lines[:SHOWN]:
        tell(f"  - {line}")
    if len(lines) > SHOWN:
        tell(f"  - and {len(lines) - SHOWN} more like the last")


# Shows a preflight on the terminal, and asks for consent to it.


LONGEST = 600
"""Characters of a prompt or an answer that are shown."""


class TerminalPreflight:
    """Holds preflights before the person at the terminal, or before the flags of the command."""

    def __init__(self, flags: SpendingFlags) -> None:
        self.flags = flags
        self.held = False
        """Whether any call was tried."""

    def agree(self, plans: "Sequence[PreflightPlan]", whole: "PlanEstimate") -> Decimal | None:
        from umpirical.study.spending import enough

        calls, most = sum(plan.calls for plan in plans), sum((plan.at_most for plan in plans), Decimal(0))
        unseen = sum(plan.calls for plan in plans if plan.unseen)
        flags, price = self.flags, f", at most ${most}" if most else ""
        remark(f"preflight: {calls} calls to check that replies can be parsed{price}; they count toward the run")
        if not sys.stdin.isatty():
            # Nobody can be asked twice, so the flags have to cover everything.
            most, unseen = whole.bound, whole.unseen_calls
        elif flags.max_cost is not None:
            flags = replace(flags, max_cost=min(flags.max_cost, enough(whole.booked, most)))
        unknown = f"{unseen:,} calls whose price is unknown here" if unseen else ""
        return agree(flags, most=most, booked=whole.booked, unseen=unknown)

    def show(self, found: "Preflight") -> None:
        self.held = True
        remark(f"judge {found.judge}")
        for number, call in enumerate(found.calls):
            if number == 0:
                remark(_block("prompt", call.prompt))
            answer = call.response.text if call.response.text is not None else "(none)"
            remark(_block("reply", answer))
            remark(f"  parsed as: {_read_as(call.outcome)}")


def _block(title: str, text: str) -> str:
    shown = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\n[...]\n{text[-LONGEST // 2 :]}"
    lines = "\n".join(f"    {line}" for line in shown.splitlines() or [""])
    return f"  {title}:\n{lines}"


def _read_as(outcome: "Outcome") -> str:
    from umpirical.domain.judgments import Abstained, Failed, Unparsed, Verdict

    match outcome:
        case Verdict(value=value):
            return f"{value}"
        case Abstained():
            return "abstained"
        case Unparsed(why=why):
            return f"nothing, {why}"
        case Failed(kind=kind, detail=detail):
            return f"nothing, {kind}: {detail}"
