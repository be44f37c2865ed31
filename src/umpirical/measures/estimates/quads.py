"""Quads: the same two texts under two versions of a task, each in both orders."""

from collections.abc import Callable, Sequence

from umpirical.domain.measures import Measure, Result
from umpirical.domain.tallies import QuadTally, Tallies
from umpirical.measures.estimates.rates import Counted, clustered_rate

NO_QUAD = "no quad has an answer in both orders of both versions"

UNANSWERED = "without an answer in both orders of both versions"


def quad_tallies(tallies: Tallies, arm: str, family: str) -> list[QuadTally]:
    return [tally for tally in tallies.quads if tally.arm == arm and tally.family == family]


def quad_shares(
    name: str, tallies: Tallies, arm: str, family: str, score: Callable[[QuadTally], float]
) -> list[Measure]:
    """A share of the quads of a family: of all of them, then by step. Nothing if the design has none."""
    chosen = quad_tallies(tallies, arm, family)
    if not chosen:
        return []
    steps = sorted({tally.delta for tally in chosen})
    return [
        Measure(name, quad_share(chosen, score), arm),
        *(Measure(name, quad_share([t for t in chosen if t.delta == step], score), arm, f"{step:g}") for step in steps),
    ]


def quad_share(chosen: Sequence[QuadTally], score: Callable[[QuadTally], float]) -> Result:
    return clustered_rate(
        [Counted(tally.cluster, score(tally), tally.quads) for tally in chosen],
        unit="quad",
        empty=NO_QUAD,
        left_out=incomplete_quads(chosen),
        lost=sum(tally.lost for tally in chosen),
    )


def incomplete_quads(chosen: Sequence[QuadTally]) -> dict[str, int]:
    """Quads left out, by reason."""
    count = sum(tally.incomplete for tally in chosen)
    return {UNANSWERED: count} if count else {}
