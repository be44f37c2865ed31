"""Resolution shift: whether an instruction changes what the judge can see."""

from math import isfinite

from umpirical.domain.measures import Estimate, Interval, Measure, Result, Undefined
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.differences import BASELINE
from umpirical.measures.estimates.pairs import NO_VERDICTS, incomplete_pairs
from umpirical.measures.estimates.rates import ONE_TASK
from umpirical.measures.estimates.signal import model_outcomes, pair_counts
from umpirical.stats.signal_compare import parameter_difference


def resolution_shift(tallies: Tallies, arm: str) -> list[Measure]:
    """Resolution of the arm minus that of the baseline: 0 if the instruction moves the criterion only.

    Formula: k of the tie-aware signal-detection model in the arm, less k in the baseline (see `resolution`).
    Model-based: read it with the goodness of fit of both. Level: canonical pair, over all tier 1 families except pairs
    of unlike requirements; the denominator counts the arm's. Bounds: none, lower is worse. Not given for the baseline
    itself. Undefined where the model cannot be fitted in both arms, or a resolution has no limit in one of them.
    Interval: task jackknife with Student's t, a task being left out of both arms at once.
    """
    return [] if arm == BASELINE else [Measure(SPEC.name, _shift(tallies, arm), arm)]


def _shift(tallies: Tallies, arm: str) -> Result:
    missing = incomplete_pairs(tallies, arm)
    here, there = model_outcomes(tallies, arm), model_outcomes(tallies, BASELINE)
    tasks = sorted({tally.cluster for tally in (*here, *there)})
    if len(tasks) < 2 or not here or not there:
        return Undefined(ONE_TASK if len(tasks) == 1 else NO_VERDICTS, left_out=missing)
    try:
        found = parameter_difference(pair_counts(there, tasks), pair_counts(here, tasks), parameter="resolution")
    except ValueError as error:
        return Undefined(str(error), left_out=missing)
    if not isfinite(found.standard_error) or found.standard_error == 0:
        return Undefined("it hangs on a single task, or no task moves it: there is no spread to go by", missing)
    pairs = sum(tally.pairs for tally in here)
    limits = Interval(found.low, found.high, "model-based, task jackknife of both arms at once")
    return Estimate(found.value, pairs, pairs, "pair", limits, len(tasks), left_out=missing)


SPEC = MeasureSpec(
    name="resolution-shift",
    title="Resolution shift",
    about="How much more clearly it sees one missing requirement than under the baseline instruction.",
    worse="lower",
    compute=resolution_shift,
    scale="latent",
    between_arms=True,
)
