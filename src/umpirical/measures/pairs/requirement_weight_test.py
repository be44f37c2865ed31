"""Whether all requirements weigh the same."""

from umpirical.domain.measures import Estimate, Measure, Result, Undefined
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.requirements import Weighed, weigh


def requirement_weight_test(tallies: Tallies, arm: str) -> list[Measure]:
    """P-value of the inequality of the weights, if all requirements weigh the same.

    Formula: Hotelling's T² of the log weights with their task-jackknife covariance, on 4 and G - 4 degrees of freedom
    for five requirements and G tasks. Level: task; counts are those of the weights. Bounds: 0 to 1; small values
    speak against equal weights. Not given if the design has no such pairs.
    Undefined if no call named a winner, all tasks answered alike, or there are too few tasks.
    Interval: none, since it is a test and not an estimate.
    """
    found = weigh(tallies, arm)
    return [] if found is None else [Measure(SPEC.name, _test(found), arm)]


def _test(found: Weighed | Undefined) -> Result:
    if isinstance(found, Undefined):
        return found
    p = found.weights.equality_p
    if p is None:
        return Undefined(f"{found.tasks} tasks are too few to test {len(found.places)} weights", found.left_out)
    return Estimate(p, found.named, found.calls, "call", None, found.tasks, left_out=found.left_out)


SPEC = MeasureSpec(
    name="requirement-weight-test",
    title="Equal requirement weights, p",
    about="How surprising weights this unequal would be if all requirements counted alike.",
    worse="depends",
    compute=requirement_weight_test,
    scale="p-value",
)
