"""Bills: what calls cost, and what they may have cost."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Literal

BillingFault = Literal["unanswered", "uncounted", "undercounted", "overcharged", "abandoned"]

BILLING_FAULTS: Mapping[BillingFault, str] = {
    "unanswered": "failed attempts that the server may have processed",
    "uncounted": "replies without usable token counts",
    "undercounted": "replies that report fewer tokens than were sent and received",
    "overcharged": "calls that used more tokens than max_tokens allows, so the server ignores max_tokens",
    "abandoned": "processes that ended before they reported what they had spent",
}
"""Why a bill is uncertain, or larger than it could have been. A number goes with each."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What some attempts cost, in US dollars."""

    billed: Decimal = Decimal(0)
    """By the provider's own count, as far as that can be true."""
    uncertain: Decimal = Decimal(0)
    """The most that the rest can have cost: nobody knows what was billed."""
    billed_calls: int = 0
    uncertain_calls: int = 0
    faults: Mapping[BillingFault, int] = field(default_factory=dict)
    """How often each of them occurred."""

    @property
    def total(self) -> Decimal:
        """What is booked: never less than the true bill, as far as anyone can tell."""
        return self.billed + self.uncertain

    @classmethod
    def sum(cls, bills: Iterable["Bill"]) -> "Bill":
        every = list(bills)
        faults: Counter[BillingFault] = Counter()
        for bill in every:
            faults.update(bill.faults)
        return cls(
            sum((bill.billed for bill in every), Decimal(0)),
            sum((bill.uncertain for bill in every), Decimal(0)),
            sum(bill.billed_calls for bill in every),
            sum(bill.uncertain_calls for bill in every),
            dict(faults),
        )


def dollars_of(given: Decimal | float | str) -> Decimal | None:
    """Reads an exact amount of money, as a person or a program gives it; None for what is no amount."""
    try:
        amount = Decimal(str(given))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount >= 0 else None


@dataclass(frozen=True, slots=True)
class WritingEstimate:
    """What writing will take."""

    commissions: int
    settled: int
    """Commissions that are already written or given up."""
    fewest_calls: int
    """Calls if every first attempt is accepted by the first validators asked."""
    most_calls: int
    """Calls if every commission is given up."""
    expected: Decimal | None
    """US dollars for the fewest calls at their worst; None if no price is known."""
    at_most: Decimal | None
    """US dollars for the most calls at their worst."""
    tables: tuple[str, ...]
    """The tables that the prices come from."""
