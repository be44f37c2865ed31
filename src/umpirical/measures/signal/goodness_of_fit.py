"""Goodness of fit: whether the measures of the model can be trusted."""

from umpirical.domain.measures import Estimate, Measure, Result, Undefined
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import incomplete_pairs
from umpirical.measures.estimates.signal import FAMILIES, model_outcomes, pair_counts, signal_estimates
from umpirical.stats.signal_check import goodness_of_fit as check_fit


def goodness_of_fit(tallies: Tallies, arm: str) -> list[Measure]:
    """P-value of the distance between the answers and the fitted model, if the model holds.

    Formula: Pearson's chi-squared over cells (difference by order by answer), scaled for what the calls of one task
    share. Level: canonical pair, over all tier 1 families except pairs of unlike requirements. Bounds: 0 to 1; small
    values say that resolution, criterion and the other measures of the model cannot be relied on. Undefined where the
    model cannot be fitted, or leaves no degrees of freedom. Interval: none, since it is a test and not an estimate.
    """
    return [Measure(SPEC.name, _test(tallies, arm), arm)]


def _test(tallies: Tallies, arm: str) -> Result:
    missing = incomplete_pairs(tallies, arm, FAMILIES)
    found = signal_estimates(tallies, arm)
    if isinstance(found, str):
        return Undefined(found, left_out=missing)
    chosen = model_outcomes(tallies, arm)
    check = check_fit(pair_counts(chosen, sorted({tally.cluster for tally in chosen})), found.fit)
    if check is None:
        return Undefined("too few answers for a test: no degrees of freedom are left", left_out=missing)
    return Estimate(check.p, found.fit.pairs, int(found.fit.pairs), "pair", None, found.clusters, left_out=missing)


SPEC = MeasureSpec(
    name="goodness-of-fit",
    title="Goodness of fit, p",
    about="How surprising its answers would be if the model behind resolution and criterion held.",
    worse="lower",
    compute=goodness_of_fit,
    scale="p-value",
)
