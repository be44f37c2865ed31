"""Failed calls: calls without an answer."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import EVERY_PROTOCOL, MeasureSpec
from umpirical.measures.estimates.rates import call_share


def failure_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of calls that ended in an error or a refusal, after retries.

    Formula: failed / asked. Level: call, of those asked. Bounds: 0 to 1, higher is worse. Undefined if nothing was
    asked. Interval: cluster-Wilson over tasks.
    """
    return call_share(SPEC.name, tallies, arm, lambda tally: tally.failed)


SPEC = MeasureSpec(
    name="failure-rate",
    title="Failed calls",
    about="How often there was no answer at all. A failure is never counted as a verdict.",
    worse="higher",
    compute=failure_rate,
    kinds=("compare", "grade"),
    protocols=(EVERY_PROTOCOL,),
)
