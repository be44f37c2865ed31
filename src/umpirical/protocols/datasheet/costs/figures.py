"""The figures of one option: its price, what a point of accuracy costs, and what a narrower interval would."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from umpirical.measures.estimates.rates import PLANNING_CORRELATION
from umpirical.protocols.datasheet.costs.options import Option
from umpirical.protocols.datasheet.costs.record import CurveStep, PointPrice
from umpirical.reports.prices import Basis, PriceRecord, no_price
from umpirical.reports.record import EstimateRecord, UndefinedRecord
from umpirical.stats.precision import clusters_needed

BASELINE_ACCURACY = 0.5
"""Of always saying that it is a tie: no way of answering without reading does better. Always naming one slot gives a
quarter."""

HALF_WIDTHS = (0.10, 0.05, 0.03, 0.02, 0.01)

TINY = Decimal("0.000001")


def option_price(option: Option, prices: Sequence[PriceRecord], shared: int) -> PriceRecord:
    """Returns what the verdicts of a readout or a jury cost, by what the calls of its judges cost.

    It is asked for the `shared` calls: a jury by as many calls to each member, a readout of both orders for half as
    many verdicts.
    """
    if option.kind == "judge":
        return prices[option.judges[0]]
    each = [prices[place] for place in option.judges]
    unknown = [price for price in each if price.per_call is None]
    if unknown:
        return no_price(unknown[0].why_not)
    least, most = (sum((price.per_call[end] for price in each if price.per_call), Decimal(0)) for end in (0, 1))
    dollars = least * shared / 1000, most * shared / 1000
    verdicts = int(option.verdicts)
    bases: set[Basis] = {price.basis for price in each}
    return PriceRecord(
        basis="booked" if "booked" in bases else "answers" if "answers" in bases else "free",
        dollars=dollars,
        calls=shared * len(each),
        verdicts=verdicts,
        per_call=(least / len(each), most / len(each)),
        per_1000=(_tiny(dollars[0] * 1000 / verdicts), _tiny(dollars[1] * 1000 / verdicts)) if verdicts else None,
        why_not="" if verdicts else "no call gave a verdict",
    )


def point_price(price: PriceRecord, accuracy: EstimateRecord | UndefinedRecord) -> PointPrice:
    """Returns dollars for a point of accuracy above the baseline: dollars per 1,000 verdicts over points."""
    if isinstance(accuracy, UndefinedRecord):
        return PointPrice(why_not=accuracy.reason)
    if price.per_1000 is None:
        return PointPrice(why_not=price.why_not)
    above = accuracy.value - BASELINE_ACCURACY
    if above <= 0:
        return PointPrice(why_not="it is no more often right than who always says that it is a tie")
    ends = accuracy.interval
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    return PointPrice(
        least=_over(price.per_1000[0], above),
        most=_over(price.per_1000[1], above),
        low=None if high is None else _over(price.per_1000[0], high - BASELINE_ACCURACY),
        high=None if low is None or low <= BASELINE_ACCURACY else _over(price.per_1000[1], low - BASELINE_ACCURACY),
    )


def cost_curve(
    price: PriceRecord, accuracy: EstimateRecord | UndefinedRecord, calls: int
) -> tuple[list[CurveStep], str]:
    """Returns what intervals of some widths take, or why that cannot be said.

    So many families of the size that they have here, with units of a family as alike as they are here. The rate is the
    middle of the interval, which is never 0 or 1. `calls` are those of the whole run: a family more is asked
    everything that the others were.
    """
    if isinstance(accuracy, UndefinedRecord):
        return [], accuracy.reason
    ends = accuracy.interval
    if ends is None or ends.low is None or ends.high is None:
        return [], "its accuracy has no interval"
    each = accuracy.denominator / accuracy.clusters
    steps = []
    for width in HALF_WIDTHS:
        families = clusters_needed(
            (ends.low + ends.high) / 2, width, per_cluster=each, correlation=_correlation(accuracy, each)
        )
        asked = -(-calls * families // accuracy.clusters)
        dollars = None if price.per_call is None else (_cost(price.per_call[0], asked), _cost(price.per_call[1], asked))
        steps.append(CurveStep(half_width=width, families=families, calls=asked, dollars=dollars))
    return steps, ""


def _correlation(accuracy: EstimateRecord, each: float) -> float:
    """Returns how alike calls of a family are, by the design effect; what every plan assumes where none is known."""
    if accuracy.design_effect is None or each <= 1:
        return PLANNING_CORRELATION
    return min(1.0, max(0.0, (accuracy.design_effect - 1) / (each - 1)))


def _cost(per_1000: Decimal, calls: int) -> Decimal:
    return _tiny(per_1000 * calls / 1000)


def _over(dollars: Decimal, share: float) -> Decimal:
    return _tiny(dollars / (100 * Decimal(repr(share))))


def _tiny(dollars: Decimal) -> Decimal:
    return dollars.quantize(TINY, ROUND_HALF_UP)
