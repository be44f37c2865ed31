"""Excess positionality: positional pairs beyond what the slot rates explain."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.chance import Excess, excess_measures, two_tasks


def excess_positional(tallies: Tallies, arm: str) -> list[Measure]:
    """Positional false preference minus its chance level.

    Formula: positional / pairs - (p1² + p2²), with p1 and p2 the rates of slot 1 and slot 2 over calls; the products
    are taken over calls of different tasks. A lean to one slot is already in p1 and p2: a value above 0 means that the
    favoured slot changes with the pair, one below 0 that the preference for a wording overrules the slot. Where prompts
    were repeated, also `against repeats`: positional pairs over all crossings of a pair's repeats, minus the rate at
    which two answers to one prompt name the same slot; the more the content matters, the further below 0.
    Level: canonical pair of equal quality. Bounds: -1 to .5; 0 is chance.
    Undefined with fewer than three tasks, or where slots were not counted, as in published counts.
    Interval: cluster-Wilson limits of the share, joined with a task jackknife of the product of slot rates or with
    the limits of the repeats' rate.
    """
    return excess_measures(SPEC.name, tallies, arm, _POSITIONAL)


_POSITIONAL = Excess(
    counted=lambda tally: tally.positional,
    crossed=lambda uv_1, uv_2, vu_1, vu_2: uv_1 * vu_1 + uv_2 * vu_2,
    repeated=lambda first, second: first * (first - 1) + second * (second - 1),
    expected=lambda first, second, calls: two_tasks(first, first, calls) + two_tasks(second, second, calls),
)

SPEC = MeasureSpec(
    name="excess-positional",
    title="Excess positionality",
    about="How much more often than its slot rates explain it names the same slot in both orders.",
    worse="depends",
    compute=excess_positional,
    scale="difference",
)
