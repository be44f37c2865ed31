"""Effects of the layout on a judge: position, label, list order and the place of the tie.

They are measured on pairs of equally good or identical answers.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import LayoutTally, Tallies
from umpirical.measures.catalogue import MeasureFamily, Part
from umpirical.measures.estimates.rates import ONE_TASK
from umpirical.stats.differences import contrast, crossed_effects
from umpirical.stats.intervals import student

EFFECTS = ("slot", "label", "list")
"""The coefficients, in order."""

PARTS = {Family.EQUAL: "", Family.BLANK: "identical"}
"""The families that are looked at, each separately, and the names of their parts: equal pairs, and identical ones."""

NOT_VARIED = "labels and list order were not varied, as for your own prompt or function"
NOT_ANSWERED = "no pair of equally good answers was answered in every order"
NOT_APART = "the answered pairs do not distinguish position, label and list order"
ON_ONE_TASK = "without one of the tasks, the answered pairs do not distinguish the effects"
NO_TIES = "no verdict was a tie, so its place in the list has no effect to measure"


class Effect(NamedTuple):
    """An effect as estimated, before its interval."""

    value: float
    error: float
    """Its standard error by the jackknife."""
    least: float
    """The least standard error: tasks that all agree have no spread, which does not make them certain."""
    pairs: int
    method: str


def layout_effects(
    tallies: Tallies, variant: str, effect: Callable[[Sequence[LayoutTally]], Effect | str]
) -> list[Part]:
    """The effect on equal pairs, and, where there are any, on pairs of identical answers.

    `effect` takes tallies of at least two tasks, all of them with answered pairs, and may give a reason instead.
    """
    chosen = {family: [t for t in tallies.layouts if t.variant == variant and t.family == family] for family in PARTS}
    return [
        Part(_result(found, effect), PARTS[family])
        for family, found in chosen.items()
        if found or family == Family.EQUAL
    ]


def _result(tallies: Sequence[LayoutTally], effect: Callable[[Sequence[LayoutTally]], Effect | str]) -> Result:
    incomplete = sum(tally.incomplete for tally in tallies)
    missing = {"incomplete": incomplete} if incomplete else {}
    answered = [tally for tally in tallies if tally.pairs]
    if not answered:
        return Undefined(NOT_ANSWERED if tallies else NOT_VARIED, excluded=missing)
    clusters = len({tally.cluster for tally in answered})
    found = ONE_TASK if clusters < 2 else effect(answered)
    if isinstance(found, str):
        return Undefined(found, excluded=missing)
    if not np.isfinite(found.value) or not np.isfinite(found.error):
        return Undefined(ON_ONE_TASK if np.isfinite(found.value) else NOT_APART, excluded=missing)
    half = student(clusters, 0.95) * max(found.error, found.least)
    limits = Interval(max(-1.0, found.value - half), min(1.0, found.value + half), method=found.method)
    numerator = found.value * found.pairs
    return Estimate(found.value, numerator, found.pairs, "pair", limits, clusters, excluded=missing)


def crossed_effect(answered: Sequence[LayoutTally], effect: str) -> Effect:
    """One coefficient of (share of position 1 - share of position 2) on 1, the label's sign and the list's sign."""
    found = crossed_effects(
        [tally.cluster for tally in answered],
        [[1, tally.label_sign, tally.list_sign] for tally in answered],
        [tally.pairs for tally in answered],
        [tally.difference for tally in answered],
    )
    place, pairs = EFFECTS.index(effect), sum(tally.pairs for tally in answered)
    value, error = (float(each[place]) for each in (found.value, found.standard_error))
    # One pair that went from one end to the other would move the estimate by the least error.
    return Effect(value, error, 2 / pairs, pairs, "least squares, jackknife over tasks")


CROSSED = MeasureFamily(
    layout_effects,
    scale="difference",
    contract=(
        "Level: pair; repeats of a pair are averaged. Also for `identical` answers, which have only one order. Bounds: "
        "-1 to 1; 0 means no effect. Undefined if the layout was not varied (your own prompt or function), with only "
        "one task, and if the answered pairs do not distinguish the three effects. Interval: delete-one-task jackknife "
        "with Student's t; its standard error is at least that of one pair moved from one end to the other."
    ),
)

LAYOUT = MeasureFamily(layout_effects, scale="difference")


@CROSSED.measure(
    "Position effect",
    "How much more often it names the first of two equally good answers than the second, whatever their labels.",
    worse="depends",
)
def slot_effect(answered: Sequence[LayoutTally]) -> Effect:
    """First position minus second position, with the effects of labels and list order removed.

    Formula: b0 of the least-squares fit d = b0 + b1 a + b2 q over pairs of equal quality. Here d is the share of a
    pair's calls that name position 1 minus the share that name position 2; a is 1 if position 1 has the first label and
    -1 if it has the second; q is 1 if the option of position 1 is listed first and -1 if it is listed last. A positive
    value is a preference for the answer shown first. Reference: ours; a 2 x 2 factorial over pairs.
    """
    return crossed_effect(answered, "slot")


@CROSSED.measure(
    "Label effect",
    "How much more often it names the answer labeled 1, A, X or first than the other, in either position.",
    worse="depends",
)
def label_effect(answered: Sequence[LayoutTally]) -> Effect:
    """First label minus second label, in whichever positions they are.

    Formula: b1 of the least-squares fit d = b0 + b1 a + b2 q, as in `slot-effect`: half the difference between d with
    the first label in position 1 and d with the second label there. A positive value is a preference for the first
    label (1, A, X, first). Reference: ours; a 2 x 2 factorial over pairs.
    """
    return crossed_effect(answered, "label")


@CROSSED.measure(
    "List effect",
    "How much more often it names the answer whose option is listed first than the other.",
    worse="depends",
)
def list_effect(answered: Sequence[LayoutTally]) -> Effect:
    """Option listed first minus option listed second, whichever positions they name.

    Formula: b2 of the least-squares fit d = b0 + b1 a + b2 q, as in `slot-effect`: half the difference between d with
    the option of position 1 listed first and d with that of position 2 listed first. A positive value is a preference
    for the option listed first. Reference: ours; a 2 x 2 factorial over pairs.
    """
    return crossed_effect(answered, "list")


@LAYOUT.measure(
    "Tie place effect",
    "How much more often it ties when the tie is listed before the answers than when it is listed after them.",
    worse="depends",
)
def tie_place_effect(answered: Sequence[LayoutTally]) -> Effect | str:
    """Tie rate with the tie listed before both answers, minus the tie rate with it listed after both.

    Formula: sum of tie shares / pairs with the tie first, minus the same with the tie last, over pairs of equal
    quality; pairs with the tie in between are not used. An abstention is not a tie. A positive value means more ties if
    the tie is listed first. Level: pair; repeats of a pair are averaged. Also for `identical` answers. Bounds: -1 to 1;
    0 means no effect. Undefined if the layout was not varied, with only one task, without a pair in both places, and if
    no answer was a tie, as under forced choice. Interval: delete-one-task jackknife with Student's t; its standard
    error is at least that of one more pair in the place that has fewer. Reference: ours.
    """
    if not any(tally.ties for tally in answered):
        return NO_TIES
    units = [[tally.pairs * (tally.tie_place == place) for tally in answered] for place in (0, 2)]
    ties = [[tally.ties * (tally.tie_place == place) for tally in answered] for place in (0, 2)]
    if not all(map(sum, units)):
        return "no answered pair listed the tie first, or none listed it last"
    found = contrast([tally.cluster for tally in answered], (ties[0], units[0]), (ties[1], units[1]))
    value, error, least = float(found.value), float(found.standard_error), 1 / min(map(sum, units))
    return Effect(value, error, least, sum(map(sum, units)), "difference of rates, jackknife over tasks")
