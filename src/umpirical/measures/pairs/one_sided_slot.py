"""One-sided commits by slot: the position bias that hides among them."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import one_sided_share


def one_sided_slot(tallies: Tallies, arm: str) -> list[Measure]:
    """The share of one-sided commits at equal quality whose winner sat in slot 1.

    Formula: one-sided in slot 1 / one-sided. A judge that leans to one slot but often ties has few positional pairs and
    many one-sided ones; this share shows the lean. Without a lean it is one half, so read the interval against .5.
    Pooled, and by the transform that makes the two answers differ.
    Level: canonical pair of equal quality with a winner in exactly one order. Bounds: 0 to 1; both ends are bad.
    Undefined without a one-sided commit. Interval: cluster-Wilson over tasks.
    """
    return one_sided_share(SPEC.name, tallies, arm, lambda tally: tally.one_sided_slot_1)


SPEC = MeasureSpec(
    name="one-sided-slot",
    title="One-sided commits in slot 1",
    about="Where it names a winner in one order only, how often that is slot 1; one half means no lean to a slot.",
    worse="depends",
    compute=one_sided_slot,
)
