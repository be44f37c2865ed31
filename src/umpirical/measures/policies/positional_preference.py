"""Positional preference: the same slot wins in both orders of a pair, one of whose runs is better."""

from umpirical.domain.measures import Measure
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MeasureSpec
from umpirical.measures.estimates.policies import policy_pair_shares


def positional_preference(tallies: Tallies, arm: str) -> list[Measure]:
    """Share of pairs of runs in which the same slot won in both orders, so that the run changed.

    Formula: positional / pairs. A judge that always names one slot scores 1, a coin that never ties 1/2. Level: pair
    of runs under one policy, asked in both orders; repeats are averaged. Bounds: 0 to 1, higher is worse. Undefined
    without two clusters of pairs answered in both orders. Interval: cluster-Wilson over transcripts.
    """
    return policy_pair_shares(SPEC.name, tallies, arm, lambda tally: tally.positional)


SPEC = MeasureSpec(
    name="positional-preference",
    title="Positional preference",
    about="How often it names the same slot in both orders of two runs, one of which is better.",
    worse="higher",
    compute=positional_preference,
    protocols=("agent",),
)
