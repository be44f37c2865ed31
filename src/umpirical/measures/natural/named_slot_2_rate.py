"""Slot 2 named: a lean to the second slot."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.natural import natural_slots


def named_slot_2_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of calls that named slot 2.

    Formula: slot 2 calls / (2 · pairs). Level: call, two to a natural pair. Bounds: 0 to 1. Undefined without two
    clusters of pairs answered in both orders. Interval: cluster-Wilson over tasks.
    """
    return natural_slots(SPEC.name, tallies, arm, lambda tally: tally.slot_2_calls)


SPEC = MeasureSpec(
    name="named-slot-2-rate",
    title="Slot 2 named",
    about="How often it names slot 2.",
    worse="depends",
    compute=named_slot_2_rate,
    protocols=("pairs",),
)
