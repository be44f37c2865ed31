"""Effects of the layout on pairs with nothing to prefer: of the slot, of the label, of the list, of the tie's place."""

from collections.abc import Callable, Sequence

import numpy as np

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import LayoutTally, Tallies
from umpirical.measures.estimates.rates import ONE_TASK
from umpirical.stats.clusters import student
from umpirical.stats.crossing import contrast, crossed_effects
from umpirical.stats.jackknife import Jackknife

EFFECTS = ("slot", "label", "list")
"""The coefficients, in order."""

PARTS = {Family.DELTA0: "", Family.VACUUM: "identical"}
"""The families that are looked at, each separately, and the names of their parts: equal pairs, and identical ones."""

NOT_VARIED = "the labels and the list of answers were not varied, as with a prompt or a function of one's own"
NOT_ANSWERED = "no pair with nothing to prefer was answered in every order"
NOT_APART = "the answered pairs do not tell slot, label and list apart"
ON_ONE_TASK = "without one of the tasks, the answered pairs do not tell the effects apart"
NO_TIES = "no answer was a tie, so its place in the list shows nothing"


def layout_measures(
    name: str, tallies: Tallies, arm: str, effect: Callable[[Sequence[LayoutTally]], Result]
) -> list[Measure]:
    """Returns the effect on equal pairs, and, where there are any, on pairs of identical answers."""
    chosen = {family: [t for t in tallies.layouts if t.arm == arm and t.family == family] for family in PARTS}
    return [
        Measure(name, effect(found), arm, PARTS[family])
        for family, found in chosen.items()
        if found or family == Family.DELTA0
    ]


def crossed_effect(tallies: Sequence[LayoutTally], effect: str) -> Result:
    """Returns one coefficient of (share of slot 1 - share of slot 2) on 1, the label's sign and the list's sign."""
    left_out, answered = _left_out(tallies), [tally for tally in tallies if tally.pairs]
    if why := _why_not(tallies, answered):
        return Undefined(why, left_out=left_out)
    pairs = sum(tally.pairs for tally in answered)
    found = crossed_effects(
        [tally.cluster for tally in answered],
        [[1, tally.label_sign, tally.list_sign] for tally in answered],
        [tally.pairs for tally in answered],
        [tally.difference for tally in answered],
    )
    # One pair that went from one end to the other would move the estimate by this much.
    return _result(
        found,
        EFFECTS.index(effect),
        method="least squares, jackknife over tasks",
        pairs=pairs,
        least=2 / pairs,
        answered=answered,
        left_out=left_out,
    )


def tie_place_effect_of(tallies: Sequence[LayoutTally]) -> Result:
    """Returns the tie rate where the tie is named first minus that where it is named last."""
    left_out, answered = _left_out(tallies), [tally for tally in tallies if tally.pairs]
    if why := _why_not(tallies, answered):
        return Undefined(why, left_out=left_out)
    if not any(tally.ties for tally in answered):
        return Undefined(NO_TIES, left_out=left_out)
    units = [[tally.pairs * (tally.tie_place == place) for tally in answered] for place in (0, 2)]
    ties = [[tally.ties * (tally.tie_place == place) for tally in answered] for place in (0, 2)]
    pairs = sum(map(sum, units))
    if not all(map(sum, units)):
        return Undefined("no answered pair named the tie first, or none named it last", left_out=left_out)
    found = contrast([tally.cluster for tally in answered], (ties[0], units[0]), (ties[1], units[1]))
    return _result(
        found,
        None,
        method="difference of rates, jackknife over tasks",
        pairs=pairs,
        least=1 / min(map(sum, units)),
        answered=answered,
        left_out=left_out,
    )


def _why_not(tallies: Sequence[LayoutTally], answered: Sequence[LayoutTally]) -> str:
    if not answered:
        return NOT_ANSWERED if tallies else NOT_VARIED
    return ONE_TASK if len({tally.cluster for tally in answered}) < 2 else ""


def _left_out(tallies: Sequence[LayoutTally]) -> dict[str, int]:
    incomplete = sum(tally.incomplete for tally in tallies)
    return {"incomplete": incomplete} if incomplete else {}


def _result(  # each by its name
    found: Jackknife,
    place: int | None,
    *,
    method: str,
    pairs: int,
    least: float,
    answered: Sequence[LayoutTally],
    left_out: dict[str, int],
) -> Result:
    value, error = (float(each if place is None else each[place]) for each in (found.value, found.standard_error))
    clusters = len({tally.cluster for tally in answered})
    if not np.isfinite(value):
        return Undefined(NOT_APART, left_out=left_out)
    if not np.isfinite(error):
        return Undefined(ON_ONE_TASK, left_out=left_out)
    # Tasks that all agree have no spread, which does not make them certain.
    half = student(clusters, 0.95) * max(error, least)
    return Estimate(
        value=value,
        numerator=value * pairs,
        denominator=pairs,
        unit="pair",
        interval=Interval(max(-1.0, value - half), min(1.0, value + half), method),
        clusters=clusters,
        left_out=left_out,
    )
