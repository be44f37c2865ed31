"""Both-orders sensitivity: what is left of sensitivity if both orders must agree."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import by_step, ladder_pairs, pair_share


def both_orders_sensitivity(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the better answer is named in both orders), one measure per ladder step.

    Formula: pairs whose better content won in both orders / pairs. The sensitivity of a judge that is asked in both
    orders and believed only where they agree; it is at most target sensitivity, which counts single calls.
    Level: canonical pair, asked in both orders; repeats are averaged. Bounds: 0 to 1, lower is worse.
    Undefined without a pair answered in both orders. Interval: cluster-Wilson over tasks.
    """
    chosen = ladder_pairs(tallies, arm)
    return by_step(SPEC.name, chosen, arm, lambda step: pair_share(step, lambda tally: tally.both_correct))


SPEC = MeasureSpec(
    name="both-orders-sensitivity",
    title="Both-orders sensitivity",
    about="How often it names the better answer in both orders, by the size of the difference.",
    worse="lower",
    compute=both_orders_sensitivity,
)
