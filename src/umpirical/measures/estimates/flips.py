"""Texts changed so that the verdict should change, where both gold labels are known."""

from collections.abc import Callable, Sequence

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import ChangeTally, Tallies
from umpirical.measures.estimates.changes import change_tallies, unpaired
from umpirical.measures.estimates.item_rates import item_rate, shares_by_task
from umpirical.measures.estimates.own_data import by_part

__all__ = ["flipped_share"]


def flipped_share(name: str, tallies: Tallies, arm: str, count: Callable[[ChangeTally], float]) -> list[Measure]:
    """A share of the items of each test that should change the verdict; `count` gives the numerator."""

    def result(chosen: Sequence[ChangeTally]) -> Result:
        missing = unpaired(chosen)
        if unlabelled := sum(tally.pairs - tally.golden for tally in chosen):
            missing["without a gold label for both texts"] = unlabelled
        hits, misses = shares_by_task((tally.task_id, count(tally), tally.golden) for tally in chosen)
        empty = "no item has a verdict and a gold label on both texts"
        return item_rate(hits, misses, empty=empty, left_out=missing)

    return by_part(name, change_tallies(tallies, arm, "flipped-verdict"), arm, result)
