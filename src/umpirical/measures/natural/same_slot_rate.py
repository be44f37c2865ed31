"""Same slot in both orders: the answer changes with the order alone."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.natural import natural_shares


def same_slot_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs in which the same slot won in both orders, so that the answer changed.

    Formula: positional / pairs. What the datasheet calls a positional false preference where nothing is better. Level:
    natural pair, asked in both orders; repeats are averaged. Bounds: 0 to 1, higher is worse. Undefined without two
    clusters of pairs answered in both orders. Interval: cluster-Wilson over tasks.
    """
    return natural_shares(SPEC.name, tallies, arm, lambda tally: tally.positional)


SPEC = MeasureSpec(
    name="same-slot-rate",
    title="Same slot in both orders",
    about="How often it names the same slot in both orders, so that the answer changes with the order alone.",
    worse="higher",
    compute=same_slot_rate,
    protocols=("pairs",),
)
