"""Change rate: a change that should not matter changes the verdict."""

from collections.abc import Sequence

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import ChangeTally, Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.changes import NO_VERDICTS, change_tallies, unpaired
from umpirical.measures.estimates.items import by_part, item_rate, shares_by_task


def change_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the verdict on the changed text differs from the judge's own verdict on the original), by test.

    Formula: changed / pairs; where either text was asked several times, the share of all combinations of answers that
    differ. No gold label enters. A judge that answers one text differently from one call to the next changes its
    verdict without any change of the text: read the excess change beside it. Only for tests that should leave the
    verdict as it is. Level: item with a verdict on both texts. Bounds: 0 to 1, higher is worse. Not given if the study
    has no such test. Undefined where no item has both verdicts. Interval: cluster-Wilson over clusters of items.
    """
    return by_part(SPEC.name, change_tallies(tallies, arm, "same-verdict"), arm, _rate)


def _rate(chosen: Sequence[ChangeTally]) -> Result:
    hits, misses = shares_by_task((tally.cluster, tally.changed, tally.pairs) for tally in chosen)
    return item_rate(hits, misses, empty=NO_VERDICTS, left_out=unpaired(chosen))


SPEC = MeasureSpec(
    name="change-rate",
    title="Change rate",
    about="How often its verdict changes with a change of the text that should not matter.",
    worse="higher",
    compute=change_rate,
    kinds=("compare", "grade"),
    protocols=("stress", "pairs"),
)
