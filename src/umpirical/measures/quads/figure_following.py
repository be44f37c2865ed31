"""Figure following: the preference goes where the givens go."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.quads import quad_shares


def figure_following(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of quads of figures in which the right text won under both sets of givens, pooled and by step.

    Formula: following / quads. A version, here a table of givens, has a winner if the same text won in both orders. A
    judge that does not check figures against the givens cannot follow them. Never pooled with the ladder of requests.
    Level: quad, asked in both orders of both versions; repeats are averaged. Bounds: 0 to 1, lower is worse. Not given
    if the design has no ladder of figures. Undefined without a quad answered in both orders of both versions. Interval:
    cluster-Wilson over tasks.
    """
    return quad_shares(SPEC.name, tallies, arm, Family.FIGURES, lambda tally: tally.following)


SPEC = MeasureSpec(
    name="figure-following",
    title="Figure following",
    about="How often it prefers the answer with more right figures under both of two sets of givens.",
    worse="lower",
    compute=figure_following,
)
