"""Accuracy with the chosen answer in slot 1."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.natural import natural_shares


def chosen_first_accuracy(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of labelled pairs in which the chosen answer was named while it was in slot 1.

    Formula: correct calls with the chosen answer in slot 1 / pairs. Level: natural pair, asked in both orders; repeats
    are averaged. Bounds: 0 to 1, lower is worse. Undefined without two clusters of pairs answered in both orders.
    Interval: cluster-Wilson over tasks.
    """
    return natural_shares(SPEC.name, tallies, arm, lambda tally: tally.slot_1_correct_calls)


SPEC = MeasureSpec(
    name="chosen-first-accuracy",
    title="Right with the chosen answer first",
    about="How often it names the chosen answer where that is in slot 1. A judge of slot 1 is always right here.",
    worse="lower",
    compute=chosen_first_accuracy,
    protocols=("pairs",),
)
