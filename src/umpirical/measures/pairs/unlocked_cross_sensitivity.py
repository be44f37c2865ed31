"""Unlocked cross-sensitivity: taste for a wording, where the slot leaves room for any."""

from umpirical.domain.measures import Measure, Result, Undefined
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import UNANSWERED, equal_pairs
from umpirical.measures.estimates.rates import Counted, clustered_rate

FEWEST = 20
"""With fewer pairs that the slot did not decide, the share says nothing about wordings."""


def unlocked_cross_sensitivity(tallies: Tallies, arm: str) -> list[Measure]:
    """Of the pairs of equal quality that the slot did not decide, the share in which the same content won both orders.

    Formula: stable / (pairs - positional), which is stable cross-sensitivity / (1 - positional false preference). A
    judge that always follows the slot has no stable pair, and stable cross-sensitivity would praise it for that.
    Level: canonical pair of equal quality that is not positional; repeats are averaged. Bounds: 0 to 1; bad where the
    task does not ask for a form. Undefined with fewer than 20 such pairs. Interval: cluster-Wilson over tasks.
    """
    return [Measure(SPEC.name, _share(tallies, arm), arm)]


def _share(tallies: Tallies, arm: str) -> Result:
    equal = equal_pairs(tallies, arm)
    found = clustered_rate(
        [Counted(tally.cluster, tally.stable, tally.pairs - tally.positional) for tally in equal],
        unit="pair",
        empty="in every pair answered in both orders, the same slot won both times",
        left_out={UNANSWERED: sum(tally.incomplete for tally in equal)},
        lost=sum(tally.lost for tally in equal),
    )
    free = sum(tally.pairs - tally.positional for tally in equal)
    if isinstance(found, Undefined) or free >= FEWEST:
        return found
    reason = f"the slot did not decide {free:g} pairs only: fewer than {FEWEST} say nothing about wordings"
    return Undefined(reason, left_out=found.left_out)


SPEC = MeasureSpec(
    name="unlocked-cross-sensitivity",
    title="Unlocked cross-sensitivity",
    about="Where it does not follow the slot, how often it prefers the same one of two equally good wordings.",
    worse="depends",
    compute=unlocked_cross_sensitivity,
)
