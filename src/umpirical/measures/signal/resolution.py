"""Resolution: what the judge can see, whatever it is told about ties."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.signal import parameter_measure


def resolution(tallies: Tallies, arm: str) -> list[Measure]:
    """How far one requirement moves the evidence, in standard deviations of the judge's noise: k of the latent rule.

    Formula: tie-aware signal-detection model, X = s(k·delta + w·log length ratio + eta) + b + eps with eps ~ N(0, 1);
    slot 1 if X > c, slot 2 if X < -c, else tie. Instructions that move the criterion alone leave it where it is.
    Model-based: read it with the goodness of fit.
    Level: canonical pair, over all tier 1 families except pairs of unlike requirements.
    Bounds: none; lower is worse, and 0 is blind. Right-censored where nothing limits it from above.
    Undefined where all calls were answered alike or with one size of difference.
    Interval: task jackknife with Student's t; at a bound, one-sided by profile likelihood.
    """
    return parameter_measure(SPEC.name, tallies, arm, part=lambda found: found.resolution)


SPEC = MeasureSpec(
    name="resolution",
    title="Resolution",
    about="How clearly it sees one missing requirement, whatever its readiness to tie: d′ per requirement.",
    worse="lower",
    compute=resolution,
    scale="latent",
)
