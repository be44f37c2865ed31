"""Lapse: answers that have nothing to do with the question."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.signal import parameter_measure


def lapse(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of calls answered at random, as far as wrong answers to easy pairs show it.

    Formula: tie-aware signal-detection model; with this probability the answer is any of the three (see `resolution`).
    A weak prior, worth eight calls without a lapse, keeps it low where there are few easy pairs. Model-based: read it
    with the goodness of fit. Level: canonical pair, over all tier 1 families except pairs of unlike requirements.
    Bounds: 0 to 1, higher is worse. Undefined where all calls were answered alike or with one size of difference.
    Interval: task jackknife with Student's t on the arcsine of the root, or the curvature of likelihood and prior if
    that is wider; at 0, the wider of jackknife and profile likelihood.
    """
    return parameter_measure(SPEC.name, tallies, arm, part=lambda found: found.lapse)


SPEC = MeasureSpec(
    name="lapse",
    title="Lapse",
    about="How often it answers at random, as errors on easy pairs show.",
    worse="higher",
    compute=lapse,
    scale="latent",
)
