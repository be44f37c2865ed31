"""Neither-version preference: no winner under either version of the task."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.quads import quad_shares


def neither_version_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of quads in which no version of the task has a winner, pooled and by ladder step.

    Formula: neither / quads. A version has a winner if the same text won in both orders; a tie, an abstention or two
    winners leave it without one. A coin scores 1/4, a judge that always names one slot 1. Level: quad, asked in both
    orders of both versions; repeats are averaged. Bounds: 0 to 1, higher is worse. Not given if the design has no
    crossed ladder. Undefined without a quad answered in both orders of both versions. Interval: cluster-Wilson over
    tasks.
    """
    return quad_shares(SPEC.name, tallies, arm, Family.LADDER, lambda tally: tally.neither)


SPEC = MeasureSpec(
    name="neither-version-preference",
    title="Neither-version preference",
    about="How often it has no preference that survives the swap under either version of a task.",
    worse="higher",
    compute=neither_version_preference,
)
