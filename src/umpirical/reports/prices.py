"""What a thousand verdicts of a judge cost: dollars over verdicts, and never 0 by accident.

The dollars are what the run has spent over all commands, retries and failed calls. The verdicts are those of the calls
that were made here: a failed or unreadable answer is paid for and gives none, and a reused answer was paid for in
another run, so that it counts neither above nor below the line.
"""

from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from pydantic import Field

from umpirical.domain.bills import Bill
from umpirical.reports.record import Strict
from umpirical.runs.judgments import Spent

Basis = Literal["spent", "answers", "free", "none"]

Dollars = tuple[Decimal, Decimal]
"""The least and the most that something cost: they differ if nobody knows what was billed."""

FREE: Dollars = (Decimal(0), Decimal(0))

TINY = Decimal("0.000001")


class PriceRecord(Strict):
    """What the verdicts of a judge cost."""

    basis: Basis = Field(
        description="`spent`: from the study's budget; `answers`: as the replies state; `free`; `none`: unknown."
    )
    dollars: Dollars | None = Field(description="The lowest and highest cost of the calls; null if unknown.")
    calls: int = Field(description="Calls made, excluding reused replies.")
    verdicts: int = Field(description="Verdicts from these calls.")
    reused: int = Field(default=0, description="Replies reused from other runs, not counted here.")
    per_call: Dollars | None = Field(description="Dollars per 1,000 calls.")
    per_1000: Dollars | None = Field(description="Dollars per 1,000 verdicts; null if unknown.")
    why_not: str = Field(default="", description="Why the price is unknown.")


def price_of(spent: Spent, bill: Bill | None, *, simulated: bool = False) -> PriceRecord:
    """Returns what 1,000 verdicts cost. `bill` is what the run has spent; None if no call had a price.

    A simulated judge is free: nothing is sent, so its answers say nothing of a price.
    """
    if not spent.asked:
        reused = "every reply was reused from another run, which paid for it"
        return no_price(reused if spent.reused else "no call was made", spent)
    dollars, basis, why_not = _dollars(spent, bill, simulated=simulated)
    if dollars is None:
        return no_price(why_not, spent)
    return PriceRecord(
        basis=basis,
        dollars=dollars,
        calls=spent.asked,
        verdicts=spent.verdicts,
        reused=spent.reused,
        per_call=_thousand(dollars, spent.asked),
        per_1000=_thousand(dollars, spent.verdicts) if spent.verdicts else None,
        why_not="" if spent.verdicts else "no call gave a verdict",
    )


def no_price(why_not: str, spent: Spent | None = None) -> PriceRecord:
    """Returns that a price is not known, and why."""
    counts = (0, 0, 0) if spent is None else (spent.asked, spent.verdicts, spent.reused)
    calls, verdicts, reused = counts
    return PriceRecord(
        basis="none", dollars=None, calls=calls, verdicts=verdicts, reused=reused, per_call=None, per_1000=None,
        why_not=why_not,
    )  # fmt: skip


def _dollars(spent: Spent, bill: Bill | None, *, simulated: bool) -> tuple[Dollars | None, Basis, str]:
    if simulated:
        return FREE, "free", ""
    unpriced = spent.calls - spent.priced
    if unpriced > (bill.uncertain_calls if bill else 0):
        # What was asked without a price is in no budget: a sum of the rest would pass for the whole.
        return None, "none", f"the cost of {unpriced:,} of {spent.asked:,} calls is unknown"
    if bill is None:
        return (spent.cost, spent.cost), "answers" if spent.cost else "free", ""
    # A budget that was lost or moved has spent less than the answers themselves say.
    return (max(bill.billed, spent.cost), max(bill.total, spent.cost)), "spent" if bill.total else "free", ""


def _thousand(dollars: Dollars, number: int) -> Dollars:
    least, most = ((amount * 1000 / number).quantize(TINY, ROUND_HALF_UP) for amount in dollars)
    return least, most
