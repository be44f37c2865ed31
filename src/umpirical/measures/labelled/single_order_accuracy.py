"""Accuracy with one order: what a benchmark reports that asks each pair once."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.natural import natural_slots


def single_order_accuracy(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of calls that named the chosen answer, over both orders: the naive accuracy, at which a coin scores 1/2.

    Formula: correct calls / (2 · pairs). A judge that always names one slot scores 1/2. Level: call, two to a natural
    pair. Bounds: 0 to 1, lower is worse. Undefined without two clusters of pairs answered in both orders. Interval:
    cluster-Wilson over tasks.
    """
    return natural_slots(SPEC.name, tallies, arm, lambda tally: tally.correct_calls)


SPEC = MeasureSpec(
    name="single-order-accuracy",
    title="Right in one order, on average",
    about="How often it names the chosen answer if each pair is asked once, in an order drawn at random.",
    worse="lower",
    compute=single_order_accuracy,
    protocols=("pairs",),
)
