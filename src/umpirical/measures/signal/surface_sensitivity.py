"""Surface sensitivity: the judge's own taste."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.signal import parameter_measure


def surface_sensitivity(tallies: Tallies, arm: str) -> list[Measure]:
    """Spread of the stable taste for one wording over another, on the scale of the noise: tau of the latent rule.

    Formula: tie-aware signal-detection model; eta ~ N(0, tau²) belongs to the pair and is the same in both orders (see
    `resolution`). Unlike stable pairs, it does not come about by chance alone.
    Model-based: read it with the goodness of fit.
    Level: canonical pair, over all tier 1 families except pairs of unlike requirements.
    Bounds: 0 and above, higher is worse.
    Undefined where all calls were answered alike or with one size of difference.
    Interval: task jackknife with Student's t, on the square; at 0, the wider of it and profile likelihood.
    """
    return parameter_measure(
        SPEC.name, tallies, arm, part=lambda found: found.surface, held="no pair was answered twice"
    )


SPEC = MeasureSpec(
    name="surface-sensitivity",
    title="Surface sensitivity",
    about="How much taste for wording sways it, on the scale of its noise.",
    worse="higher",
    compute=surface_sensitivity,
    scale="latent",
)
