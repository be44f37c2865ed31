"""Figure-blind preference: the same figures win, whatever was given."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.quads import quad_shares


def figure_blind_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of quads of figures in which the same text won under both sets of givens, pooled and by step.

    Formula: blind / quads. A version, here a table of givens, has a winner if the same text won in both orders. Never
    pooled with the ladder of requests. Level: quad, asked in both orders of both versions; repeats are averaged.
    Bounds: 0 to 1, higher is worse. Not given if the design has no ladder of figures. Undefined without a quad answered
    in both orders of both versions. Interval: cluster-Wilson over tasks.
    """
    return quad_shares(SPEC.name, tallies, arm, Family.FIGURES, lambda tally: tally.blind)


SPEC = MeasureSpec(
    name="figure-blind-preference",
    title="Figure-blind preference",
    about="How often it prefers the same answer under both sets of givens, though its figures are right under one.",
    worse="higher",
    compute=figure_blind_preference,
)
