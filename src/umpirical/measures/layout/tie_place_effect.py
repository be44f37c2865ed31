"""Tie place effect: whether it ties more where the tie is the first of the answers than where it is the last."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.layouts import layout_measures, tie_place_effect_of


def tie_place_effect(tallies: Tallies, arm: str) -> list[Measure]:
    """Tie rate with the tie named before both candidates, minus the tie rate with it named after both.

    Formula: sum of tie shares / pairs where the tie comes first, minus the same where it comes last, over pairs of
    equal quality; pairs with the tie in between are not in it. An abstention is no tie. Positive: it ties more if
    the tie is named first. Level: pair; repeats of a pair are averaged. Also for `identical` answers. Bounds: -1 to
    1; 0 is no pull. Undefined where the layout was not varied, with one task, without a pair in both places, and
    where no answer was a tie, as under forced choice, whose list has none. Interval: delete-one-task jackknife with
    Student's t; its standard error is not below that of one pair more in the place that has fewer.
    Reference: ours.
    """
    return layout_measures(SPEC.name, tallies, arm, tie_place_effect_of)


SPEC = MeasureSpec(
    name="tie-place-effect",
    title="Tie place effect",
    about="How much more often it ties where the tie is named before the candidates than where it is named after them.",
    worse="depends",
    compute=tie_place_effect,
    scale="difference",
)
