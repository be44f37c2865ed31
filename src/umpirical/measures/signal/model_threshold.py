"""Detection threshold by the model: finer than the ladder's steps."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.signal import parameter_measure

__all__ = ["SPEC", "model_threshold"]


def model_threshold(tallies: Tallies, arm: str) -> list[Measure]:
    """Delta75 by the model: the quality difference, in requirements, at which three calls in four name the better.

    Formula: root of the fitted correct rate, both orders together, at .75. It can lie below the first ladder step,
    where the isotonic threshold is censored. Model-based: read it with the goodness of fit. Level: canonical pair, over
    all tier 1 families except pairs of unlike requirements. Bounds: 0 and above, higher is worse. Undefined where all
    calls were answered alike or with one size of difference, or where the rate never reaches .75. Interval: task
    jackknife with Student's t, on the logarithm; at a bound, one-sided by profile likelihood.
    """
    return parameter_measure(SPEC.name, tallies, arm, part=lambda found: found.threshold, held="it was not fitted")


SPEC = MeasureSpec(
    name="model-threshold",
    title="Detection threshold by the model (Δ75)",
    about="The difference, in requirements met, that it sees three times in four, by the fitted model.",
    worse="higher",
    compute=model_threshold,
    scale="requirements",
)
