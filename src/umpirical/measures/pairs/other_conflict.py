"""Other conflict: what is left of raw false preference when every named part is taken out."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import share_by_transform
from umpirical.measures.estimates.rates import DIGITS


def other_conflict(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs of equal quality that are neither stable, positional, one-sided nor without preference.

    Formula: (pairs - stable - positional - one-sided - no preference) / pairs: the pairs behind the paper's
    residual, RFP0 - SCS - PFP - OSC/2. A guard: if every answer of a pair is a slot, a tie or an abstention, which
    counts as no preference, it is 0 by construction, as in every run counted here; published counts may hold other
    kinds. Our raw false preference counts the named parts only. Pooled, and by transform. Level: canonical pair of
    equal quality, asked in both orders. Bounds: 0 to 1; any is bad. Undefined without a pair answered in both
    orders. Interval: cluster-Wilson over tasks.
    Reference: the Dark Current paper, equations 6 and 7.
    """
    return share_by_transform(SPEC.name, tallies, arm, _other)


def _other(tally: PairTally) -> float:
    """Rounded, since shares of repeats sum to a whole only nearly."""
    return round(tally.pairs - tally.stable - tally.positional - tally.one_sided - tally.no_preference, DIGITS)


SPEC = MeasureSpec(
    name="other-conflict",
    title="Other conflict",
    about="How often a pair of equally good answers has an outcome with no other name; 0 unless something is amiss.",
    worse="higher",
    compute=other_conflict,
    symbol="Other",
)
