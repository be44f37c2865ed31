"""Carrier-blind preference: the same text wins, whatever the user's context says."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.quads import quad_shares


def carrier_blind_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of quads of the user's own answers in which the same text won under both contexts, pooled and by step.

    Formula: blind / quads. A figure is changed in the context and in the answer; a version, here a context, has a
    winner if the same text won in both orders. Tier 2, never pooled with tier 1. Level: quad, asked in both orders of
    both versions; repeats are averaged. Bounds: 0 to 1, higher is worse. Not given if the design has no crossed
    carriers. Undefined without a quad answered in both orders of both versions. Interval: cluster-Wilson over tasks.
    """
    return quad_shares(SPEC.name, tallies, arm, Family.CARRIER_FIGURES, lambda tally: tally.blind)


SPEC = MeasureSpec(
    name="carrier-blind-preference",
    title="Carrier-blind preference",
    about="How often it prefers the same form of a real answer under two contexts, each of which agrees with another.",
    worse="higher",
    compute=carrier_blind_preference,
)
