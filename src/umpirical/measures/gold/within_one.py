"""Within one step: the grade is the gold grade or next to it."""

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.gold import GoldItems, gold_measures, gold_rate
from umpirical.measures.estimates.items import NO_ORDER, span


def within_one(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the grade is at most one step from the gold grade).

    Formula: items with |given - gold| <= 1 step / items. Level: item with a gold label and a verdict. Bounds: 0 to 1,
    lower is worse; on short scales a judge that always gives the middle does well. Undefined on a scale without order,
    on a scale of a single step, where nothing is further off, and without two clusters of items. Interval:
    cluster-Wilson over clusters of items; the bounds count items without a verdict as outside, and as within.
    """
    return gold_measures(SPEC.name, tallies, arm, _within)


def _within(items: GoldItems) -> Result:
    if not items.ordered:
        return items.undefined(NO_ORDER)
    if span(items.scale) <= 1:
        return items.undefined("the scale is one step long: every verdict is within one step")
    near = abs(items.given_score - items.gold_score) <= 1 + 1e-9
    return gold_rate(items, near)


SPEC = MeasureSpec(
    name="within-one",
    title="Within one step",
    about="How often its grade is at most one step from the gold grade.",
    worse="lower",
    compute=within_one,
    kinds=("grade",),
    protocols=("stress",),
)
