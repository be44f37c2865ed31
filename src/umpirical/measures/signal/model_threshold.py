"""Detection threshold by the model: finer than the ladder's steps."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.signal import Bounded, bounded, parameter_measure
from umpirical.stats.signal_estimates import ParameterEstimate, SignalEstimates


def model_threshold(tallies: Tallies, arm: str) -> list[Measure]:
    """Delta75 by the model: the quality difference, in requirements, at which three calls in four name the better.

    Formula: root of the fitted correct rate, both orders together, at .75. It can lie below the first ladder step,
    where the isotonic threshold is censored; it is right-censored at the largest step if the rate is lower there.
    Model-based: read it with the goodness of fit. Level: canonical pair, over all tier 1 families except pairs of
    unlike requirements. Bounds: 0 to the largest step, higher is worse. Undefined where all calls were answered alike
    or with one size of difference, or where it hangs on a single task. Interval: task jackknife with Student's t, on
    the logarithm; at a bound, one-sided by profile likelihood. It has no upper limit where that would lie beyond the
    largest step, where the interval of the resolution holds 0, or where that of the lapse holds a rate at which the
    better is never named in three calls of four.
    """
    return parameter_measure(SPEC.name, tallies, arm, part=lambda found: found.threshold, known=_within_steps)


def _within_steps(found: ParameterEstimate, fit: SignalEstimates) -> Bounded:
    """A value between the steps stands also where nothing limits it from above."""
    if found.value is None:
        return fit.largest, "right"
    return bounded(found, fit) if found.low is None else (found.value, "none")


SPEC = MeasureSpec(
    name="model-threshold",
    title="Detection threshold by the model (Δ75)",
    about="The difference, in requirements met, that it sees three times in four, by the fitted model.",
    worse="higher",
    compute=model_threshold,
    scale="requirements",
)
