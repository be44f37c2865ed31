"""Criterion: how much evidence the judge wants before it names a winner."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.signal import parameter_measure


def criterion(tallies: Tallies, arm: str) -> list[Measure]:
    """How much evidence it takes to name a winner, in standard deviations of the judge's noise: c of the latent rule.

    Formula: tie-aware signal-detection model; a winner is named where |X| > c (see `resolution`).
    Model-based: read it with the goodness of fit.
    Level: canonical pair, over all tier 1 families except pairs of unlike requirements.
    Bounds: 0 and above; neither direction is bad in itself.
    Undefined where all calls were answered alike or with one size of difference.
    Interval: task jackknife with Student's t; at 0, the wider of it and profile likelihood.
    """
    return parameter_measure(SPEC.name, tallies, arm, part=lambda found: found.criterion)


SPEC = MeasureSpec(
    name="criterion",
    title="Criterion",
    about="How much evidence it takes before it names a winner instead of a tie.",
    worse="depends",
    compute=criterion,
    scale="latent",
)
