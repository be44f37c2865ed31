"""What becomes of a natural pair when its two answers change places.

That a judge keeps to one of two natural answers is no fault, so these are no false preferences, and none of them
belongs to a protocol: they are given for verdicts of the past, of which only the orders are known.
"""

from collections.abc import Callable
from functools import partial

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import pair_share, slot_share

__all__ = ["NATURAL", "SPECS"]

NATURAL = "natural"
"""The family of such pairs."""


def _share(name: str, score: Callable[[PairTally], float], tallies: Tallies, arm: str) -> list[Measure]:
    """Share of the pairs, each asked in both orders; undefined without such a pair. Interval: cluster-Wilson."""
    return [Measure(name, pair_share(_natural(tallies, arm), score), arm)]


def _slots(name: str, score: Callable[[PairTally], float], tallies: Tallies, arm: str) -> list[Measure]:
    """Share of the calls, two to a pair; undefined without a pair in both orders. Interval: cluster-Wilson."""
    return [Measure(name, slot_share(_natural(tallies, arm), score), arm)]


def _natural(tallies: Tallies, arm: str) -> list[PairTally]:
    return [tally for tally in tallies.pairs if tally.arm == arm and tally.family == NATURAL]


SPECS = (
    MeasureSpec(
        "same-answer-rate",
        "Same answer in both orders",
        "How often it names the same answer in both orders: the part of its choices that the order does not touch.",
        "lower",
        partial(_share, "same-answer-rate", lambda tally: tally.stable),
    ),
    MeasureSpec(
        "same-slot-rate",
        "Same slot in both orders",
        "How often it names the same slot in both orders, so that the answer changes with the order alone.",
        "higher",
        partial(_share, "same-slot-rate", lambda tally: tally.positional),
    ),
    MeasureSpec(
        "one-order-rate",
        "A winner in one order only",
        "How often it names a winner in one order and none in the other.",
        "higher",
        partial(_share, "one-order-rate", lambda tally: tally.one_sided),
    ),
    MeasureSpec(
        "no-winner-rate",
        "No winner in either order",
        "How often it names no winner in either order.",
        "depends",
        partial(_share, "no-winner-rate", lambda tally: tally.no_preference),
    ),
    MeasureSpec(
        "named-slot-1-rate",
        "Slot 1 named",
        "How often it names slot 1. Each answer was in each slot once, so a sound judge names both equally often.",
        "depends",
        partial(_slots, "named-slot-1-rate", lambda tally: tally.slot_1_calls),
    ),
    MeasureSpec(
        "named-slot-2-rate",
        "Slot 2 named",
        "How often it names slot 2.",
        "depends",
        partial(_slots, "named-slot-2-rate", lambda tally: tally.slot_2_calls),
    ),
)
