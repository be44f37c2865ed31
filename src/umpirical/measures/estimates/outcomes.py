"""Pairs with their contents: who was named, whichever slot it sat in."""

from collections.abc import Collection
from typing import NamedTuple

from umpirical.domain.tallies import OutcomeTally, Tallies
from umpirical.measures.estimates.pairs import UNANSWERED

__all__ = ["Named", "incomplete_pairs", "named"]


class Named(NamedTuple):
    """Calls by the content they named, over all pairs of a tally."""

    u: int
    v: int
    tie: int

    @property
    def calls(self) -> int:
        return self.u + self.v + self.tie


def named(tally: OutcomeTally) -> Named:
    """By content: u sits in slot 1 of order uv and in slot 2 of order vu."""
    uv_1, uv_2, uv_tie, vu_1, vu_2, vu_tie = tally.counts
    return Named(tally.pairs * (uv_1 + vu_2), tally.pairs * (uv_2 + vu_1), tally.pairs * (uv_tie + vu_tie))


def incomplete_pairs(tallies: Tallies, arm: str, families: Collection[str] = ()) -> dict[str, int]:
    """Pairs left out of `families` (of all, if none is named), by reason."""
    count = sum(t.incomplete for t in tallies.pairs if t.arm == arm and (not families or t.family in families))
    return {UNANSWERED: count} if count else {}
