"""Unparsed answers: answers that are not on the scale."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import EVERY_PROTOCOL, MeasureSpec
from umpirical.measures.estimates.rates import call_share


def unparsed_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of calls whose answer the judge's parser could not read.

    Formula: unparsed / asked. Level: call, of those asked. Bounds: 0 to 1, higher is worse. Undefined if nothing was
    asked. Interval: cluster-Wilson over tasks.
    """
    return call_share(SPEC.name, tallies, arm, lambda tally: tally.unparsed)


SPEC = MeasureSpec(
    name="unparsed-rate",
    title="Unparsed answers",
    about="How often its answer is not on its scale. Such an answer is never counted as a verdict.",
    worse="higher",
    compute=unparsed_rate,
    kinds=("compare", "grade"),
    protocols=(EVERY_PROTOCOL,),
)
