"""Verdicts on transcripts under a policy, and choices between two of them."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import PairTally, PolicyTally, QuadTally, Tallies
from umpirical.measures.estimates.items import by_part, item_rate, part_order, shares_by_task
from umpirical.measures.estimates.pairs import pair_share
from umpirical.measures.estimates.quads import quad_share

Count = Callable[[PolicyTally], float]

_Choice = TypeVar("_Choice", PairTally, QuadTally)


def policy_rate(  # the parts of a rate, each once
    name: str, tallies: Tallies, arm: str, hits: Count, texts: Count, missing: Count, *, empty: str, without: str
) -> list[Measure]:
    """A share of texts, for every edit and group that has such texts.

    `empty` is the reason given where none has a verdict; `without` says what those left out are without.
    """

    def result(chosen: Sequence[PolicyTally]) -> Result:
        shares = shares_by_task((tally.cluster, hits(tally), texts(tally)) for tally in chosen)
        return item_rate(*shares, empty=empty, left_out={without: sum(missing(tally) for tally in chosen)})

    asked = {
        (tally.test, tally.group) for tally in tallies.policies if tally.arm == arm and texts(tally) + missing(tally)
    }
    own = [tally for tally in tallies.policies if tally.arm == arm and (tally.test, tally.group) in asked]
    return by_part(name, own, arm, result)


def policy_pair_shares(name: str, tallies: Tallies, arm: str, score: Callable[[PairTally], float]) -> list[Measure]:
    """A share of the pairs of runs, each asked in both orders under one policy, for every edit and group."""
    return _by_edit(name, tallies.pairs, arm, lambda chosen: pair_share(chosen, score))


def policy_quad_shares(name: str, tallies: Tallies, arm: str, score: Callable[[QuadTally], float]) -> list[Measure]:
    """A share of the quads, each two runs in both orders under a policy and its opposite, for every edit and group."""
    return _by_edit(name, tallies.quads, arm, lambda chosen: quad_share(chosen, score))


def _by_edit(
    name: str, tallies: Iterable[_Choice], arm: str, result: Callable[[Sequence[_Choice]], Result]
) -> list[Measure]:
    """One measure for every edit and group there is. The family of such a pair is its edit, the stratum its group."""
    parts: dict[tuple[str, str], list[_Choice]] = {}
    for tally in tallies:
        if tally.arm == arm:
            parts.setdefault((tally.family, tally.stratum), []).append(tally)
    return [
        Measure(name, result(parts[edit, group]), arm, edit, group)
        for edit, group in sorted(parts, key=lambda part: part_order(*part))
    ]
