"""Task reversal: the wrong text wins, whatever was asked for."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.quads import quad_shares


def task_reversal(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of quads in which the wrong text won in both versions of the task, pooled and by ladder step.

    Formula: reversed / quads. A version has a winner if the same text won in both orders. It takes a judge that reads
    the task to get it wrong both times: a coin scores 1/16. Level: quad, asked in both orders of both versions; repeats
    are averaged. Bounds: 0 to 1, higher is worse. Not given if the design has no crossed ladder. Undefined without a
    quad answered in both orders of both versions. Interval: cluster-Wilson over tasks.
    """
    return quad_shares(SPEC.name, tallies, arm, Family.LADDER, lambda tally: tally.reversed)


SPEC = MeasureSpec(
    name="task-reversal",
    title="Task reversal",
    about="How often it prefers the wrong one of the same two answers under both versions of a task.",
    worse="higher",
    compute=task_reversal,
)
