"""Wrong choice: the lesser answer is named as the better one."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.pairs import by_step, ladder_pairs, pair_share


def wrong_choice_rate(tallies: Tallies, arm: str) -> list[Measure]:
    """P(the lesser answer is named), one measure per ladder step: what is neither correct nor a tie.

    Formula: wrong calls / (2 · pairs), both orders of a pair together. Level: canonical pair, scoring 0, one half or
    1. Bounds: 0 to 1, higher is worse. Undefined without a pair answered in both orders.
    Interval: cluster-Wilson over tasks. Reference: the Dark Current paper, equations 8 and 12.
    """
    chosen = ladder_pairs(tallies, arm)
    return by_step(SPEC.name, chosen, arm, lambda step: pair_share(step, lambda tally: tally.wrong_calls / 2))


SPEC = MeasureSpec(
    name="wrong-choice-rate",
    title="Wrong choice rate",
    about="How often it names the answer that meets fewer requirements, by the size of the difference.",
    worse="higher",
    compute=wrong_choice_rate,
)
