"""Task-blind preference: the same text wins, whatever was asked for."""

from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.quads import quad_shares


def task_blind_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of quads in which the same text won in both versions of the task, pooled and by ladder step.

    Formula: blind / quads. A version has a winner if the same text won in both orders. The text is right under one
    version and wrong under the other, so its own appeal decided and not the task; a coin scores 1/8. Level: quad, asked
    in both orders of both versions; repeats are averaged. Bounds: 0 to 1, higher is worse. Not given if the design has
    no crossed ladder. Undefined without a quad answered in both orders of both versions. Interval: cluster-Wilson over
    tasks.
    """
    return quad_shares(SPEC.name, tallies, arm, Family.LADDER, lambda tally: tally.blind)


SPEC = MeasureSpec(
    name="task-blind-preference",
    title="Task-blind preference",
    about="How often it prefers the same one of two answers under both versions of a task, each better under one.",
    worse="higher",
    compute=task_blind_preference,
)
