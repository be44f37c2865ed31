"""Same answer in both orders: the order does not touch the choice."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.natural import natural_shares


def same_answer_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs in which the same answer won in both orders.

    Formula: stable / pairs. With the same-slot rate, the one-order rate and the no-winner rate it sums to 1. Level:
    natural pair, asked in both orders; repeats are averaged. Bounds: 0 to 1, lower is worse. Undefined without two
    clusters of pairs answered in both orders. Interval: cluster-Wilson over tasks.
    """
    return natural_shares(SPEC.name, tallies, arm, lambda tally: tally.stable)


SPEC = MeasureSpec(
    name="same-answer-rate",
    title="Same answer in both orders",
    about="How often it names the same answer in both orders: the part of its choices that the order does not touch.",
    worse="lower",
    compute=same_answer_rate,
    protocols=("pairs",),
)
