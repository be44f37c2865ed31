"""Excess stability: stable pairs beyond what chance produces."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.chance import Excess, excess_measures, two_tasks


def excess_stable(tallies: Tallies, arm: str) -> list[Measure]:
    """Stable cross-sensitivity minus its chance level: preference for a wording, as distinct from noise.

    Formula: stable / pairs - 2 p1 p2, with p1 and p2 the rates of slot 1 and slot 2 over calls; the product is taken
    over calls of different tasks. A judge that answers at random with these rates scores 0. Where prompts were
    repeated, also `against repeats`: stable pairs over all crossings of a pair's repeats, minus the rate at which two
    answers to one prompt name different slots; 0 if swapping does no more than asking again.
    Level: canonical pair of equal quality. Bounds: -.5 to 1; 0 is chance, above it is worse.
    Undefined with fewer than three tasks, or where slots were not counted, as in published counts.
    Interval: cluster-Wilson limits of the share, joined with a task jackknife of the product of slot rates or with
    the limits of the repeats' rate.
    """
    return excess_measures(SPEC.name, tallies, arm, _STABLE)


# The same content sits in slot 1 in one order and in slot 2 in the other.
_STABLE = Excess(
    counted=lambda tally: tally.stable,
    crossed=lambda uv_1, uv_2, vu_1, vu_2: uv_1 * vu_2 + uv_2 * vu_1,
    repeated=lambda first, second: 2 * first * second,
    expected=lambda first, second, calls: 2 * two_tasks(first, second, calls),
)

SPEC = MeasureSpec(
    name="excess-stable",
    title="Excess stability",
    about="How much more often than by chance it prefers the same wording in both orders.",
    worse="depends",
    compute=excess_stable,
    scale="difference",
)
