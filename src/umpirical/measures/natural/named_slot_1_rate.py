"""Slot 1 named: a lean to the first slot."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.natural import natural_slots


def named_slot_1_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of calls that named slot 1.

    Formula: slot 1 calls / (2 · pairs). Level: call, two to a natural pair. Bounds: 0 to 1. Undefined without two
    clusters of pairs answered in both orders. Interval: cluster-Wilson over tasks.
    """
    return natural_slots(SPEC.name, tallies, arm, lambda tally: tally.slot_1_calls)


SPEC = MeasureSpec(
    name="named-slot-1-rate",
    title="Slot 1 named",
    about="How often it names slot 1. Each answer was in each slot once, so a sound judge names both equally often.",
    worse="depends",
    compute=named_slot_1_rate,
    protocols=("pairs",),
)
