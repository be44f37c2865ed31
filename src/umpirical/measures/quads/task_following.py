"""Task following: the preference goes where the task goes."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.quads import quad_shares


def task_following(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of quads in which the right text won in both versions of the task, pooled and by ladder step.

    Formula: following / quads. A version has a winner if the same text won in both orders. Whatever does not read the
    task cannot follow it: a coin scores 1/16. With task-blind preference, reversal, one version and neither it sums to
    1. Level: quad, asked in both orders of both versions; repeats are averaged. Bounds: 0 to 1, lower is worse. Not
    given if the design has no crossed ladder. Undefined without a quad answered in both orders of both versions.
    Interval: cluster-Wilson over tasks.
    """
    return quad_shares(SPEC.name, tallies, arm, Family.LADDER, lambda tally: tally.following)


SPEC = MeasureSpec(
    name="task-following",
    title="Task following",
    about="How often it prefers the right one of the same two answers under both versions of a task.",
    worse="lower",
    compute=task_following,
)
