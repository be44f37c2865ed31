"""No winner in either order."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.natural import natural_shares


def no_winner_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs without a winner in either order: ties, abstentions or one of each.

    Formula: no preference / pairs. Level: natural pair, asked in both orders; repeats are averaged. Bounds: 0 to 1.
    Undefined without two clusters of pairs answered in both orders. Interval: cluster-Wilson over tasks.
    """
    return natural_shares(SPEC.name, tallies, arm, lambda tally: tally.no_preference)


SPEC = MeasureSpec(
    name="no-winner-rate",
    title="No winner in either order",
    about="How often it names no winner in either order.",
    worse="depends",
    compute=no_winner_rate,
    protocols=("pairs",),
)
