"""Carrier following: the preference goes where the user's own context goes."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.quads import quad_shares


def carrier_following(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of quads of the user's own answers in which the right text won under both contexts, pooled and by step.

    Formula: following / quads. A figure is changed in the context and in the answer; a version, here a context, has a
    winner if the same text won in both orders. Tier 2, never pooled with tier 1. Level: quad, asked in both orders of
    both versions; repeats are averaged. Bounds: 0 to 1, lower is worse. Not given if the design has no crossed
    carriers. Undefined without a quad answered in both orders of both versions. Interval: cluster-Wilson over tasks.
    """
    return quad_shares(SPEC.name, tallies, arm, Family.CARRIER_FIGURES, lambda tally: tally.following)


SPEC = MeasureSpec(
    name="carrier-following",
    title="Carrier following",
    about="How often it prefers the form of a real answer that agrees with the context, under both of two contexts.",
    worse="lower",
    compute=carrier_following,
)
