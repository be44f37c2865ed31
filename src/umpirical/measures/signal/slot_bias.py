"""Slot bias: the pull of a place."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.signal import parameter_measure


def slot_bias(tallies: Tallies, arm: str) -> list[Measure]:
    """Pull towards slot 1, in standard deviations of the judge's noise: b of the latent rule.

    Formula: tie-aware signal-detection model; b is added to the evidence whatever sits in slot 1 (see `resolution`).
    Unlike the rates of the slots it uses all pairs, and does not shrink as the tie rate rises.
    Model-based: read it with the goodness of fit.
    Level: canonical pair, over all tier 1 families except pairs of unlike requirements.
    Bounds: none; 0 is right, below 0 is a pull towards slot 2.
    Undefined where all calls were answered alike or with one size of difference.
    Interval: task jackknife with Student's t.
    """
    return parameter_measure(SPEC.name, tallies, arm, part=lambda found: found.slot_bias)


SPEC = MeasureSpec(
    name="slot-bias",
    title="Slot bias",
    about="How strongly it is pulled towards slot 1, whatever is in it; below 0, towards slot 2.",
    worse="depends",
    compute=slot_bias,
    scale="latent",
)
