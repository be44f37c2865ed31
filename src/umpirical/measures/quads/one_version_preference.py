"""One-version preference: a winner under one version of the task only."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.quads import quad_shares


def one_version_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of quads in which exactly one version of the task has a winner, pooled and by ladder step.

    Formula: one version / quads. A version has a winner if the same text won in both orders; a tie, an abstention or
    two winners leave it without one. A coin scores 1/2. Level: quad, asked in both orders of both versions; repeats are
    averaged. Bounds: 0 to 1, neither direction is bad in itself. Not given if the design has no crossed ladder.
    Undefined without a quad answered in both orders of both versions. Interval: cluster-Wilson over tasks.
    """
    return quad_shares(SPEC.name, tallies, arm, Family.LADDER, lambda tally: tally.one_version)


SPEC = MeasureSpec(
    name="one-version-preference",
    title="One-version preference",
    about="How often it has a preference that survives the swap under one version of a task and none under the other.",
    worse="depends",
    compute=one_version_preference,
)
