"""Shares of canonical pairs, the common shape of the order-reversal measures."""

from collections.abc import Callable, Iterable

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.rates import Counted, clustered_rate

__all__ = ["delta0_share", "pair_share"]


def delta0_share(name: str, tallies: Tallies, arm: str, score: Callable[[PairTally], float]) -> list[Measure]:
    """A share of the pairs of equal quality; `score` is its numerator in one tally."""
    chosen = [tally for tally in tallies.pairs if tally.arm == arm and tally.family == "delta0"]
    return [Measure(name, pair_share(chosen, score), arm)]


def pair_share(tallies: Iterable[PairTally], score: Callable[[PairTally], float]) -> Result:
    """The mean of `score` over pairs, each pair asked in both orders."""
    chosen = list(tallies)
    return clustered_rate(
        [Counted(tally.task_id, score(tally), tally.pairs) for tally in chosen],
        unit="pair",
        empty="no pair has an answer in both orders",
        left_out={"without an answer in both orders": sum(tally.incomplete for tally in chosen)},
    )
