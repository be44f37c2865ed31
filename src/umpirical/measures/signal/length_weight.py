"""Length weight: the pull of length."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.signal import parameter_measure


def length_weight(tallies: Tallies, arm: str) -> list[Measure]:
    """Pull towards the longer answer, per unit of log length ratio: w of the latent rule.

    Formula: tie-aware signal-detection model (see `resolution`); twice the length moves the evidence by w·log 2.
    Divided by the resolution, it is the price of length in requirements. Model-based: to be read with the goodness of
    fit. Level: canonical pair, over all tier 1 families except pairs of unlike requirements.
    Bounds: none; 0 is right, below 0 is a pull towards the shorter.
    Undefined where the design has no pairs of unequal length, or all calls were answered alike or with one size of
    difference. Interval: task jackknife with Student's t.
    """
    return parameter_measure(
        SPEC.name,
        tallies,
        arm,
        part=lambda found: found.length_weight,
        held="the design has no pairs of unequal length",
    )


SPEC = MeasureSpec(
    name="length-weight",
    title="Length weight",
    about="How strongly length pulls it, apart from content; below 0, towards the shorter answer.",
    worse="depends",
    compute=length_weight,
    scale="latent",
)
