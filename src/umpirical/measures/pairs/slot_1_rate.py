"""Slot 1 rate: how often slot 1 is named where neither answer is better."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import equal_pairs, slot_share


def slot_1_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of calls on pairs of equal quality that named slot 1.

    Formula: slot 1 calls / (2 · pairs). Each content sits in each slot once, so a judge without position bias names
    both slots equally often. Level: call. Bounds: 0 to 1; bad where it differs from the rate of slot 2.
    Undefined without a pair answered in both orders, or where slots were not counted, as in published counts.
    Interval: cluster-Wilson over tasks.
    """
    return [Measure(SPEC.name, slot_share(equal_pairs(tallies, arm), lambda tally: tally.slot_1_calls), arm)]


SPEC = MeasureSpec(
    name="slot-1-rate",
    title="Slot 1 rate",
    about="How often it names slot 1 between two equally good answers.",
    worse="depends",
    compute=slot_1_rate,
)
