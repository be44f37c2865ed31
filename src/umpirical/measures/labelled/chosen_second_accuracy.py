"""Accuracy with the chosen answer in slot 2."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.natural import natural_shares


def chosen_second_accuracy(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of labelled pairs in which the chosen answer was named while it was in slot 2.

    Formula: correct calls with the chosen answer in slot 2 / pairs. Level: natural pair, asked in both orders; repeats
    are averaged. Bounds: 0 to 1, lower is worse. Undefined without two clusters of pairs answered in both orders.
    Interval: cluster-Wilson over tasks.
    """
    return natural_shares(SPEC.name, tallies, arm, lambda tally: tally.correct_calls - tally.slot_1_correct_calls)


SPEC = MeasureSpec(
    name="chosen-second-accuracy",
    title="Right with the chosen answer second",
    about="How often it names the chosen answer where that is in slot 2. A judge of slot 1 is never right here.",
    worse="lower",
    compute=chosen_second_accuracy,
    protocols=("pairs",),
)
