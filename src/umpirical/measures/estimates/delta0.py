"""Shares of the pairs of equal quality: all of them, and by the transform that makes the two answers differ."""

from collections.abc import Callable, Iterable, Sequence

from umpirical.domain.measures import Measure, Result, Undefined
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.estimates.pairs import UNANSWERED, pair_share
from umpirical.measures.estimates.rates import Counted, clustered_rate

__all__ = ["UNKNOWN_SLOTS", "equal_pairs", "one_sided_share", "share_by_transform", "slot_share", "slots_known"]

UNKNOWN_SLOTS = "which slot was named is not known for all calls"


def equal_pairs(tallies: Tallies, arm: str) -> list[PairTally]:
    return [tally for tally in tallies.pairs if tally.arm == arm and tally.family == "delta0"]


def share_by_transform(name: str, tallies: Tallies, arm: str, score: Callable[[PairTally], float]) -> list[Measure]:
    """A share of the pairs of equal quality; `score` is its numerator in one tally."""
    return _by_transform(name, equal_pairs(tallies, arm), arm, lambda chosen: pair_share(chosen, score))


def one_sided_share(name: str, tallies: Tallies, arm: str, score: Callable[[PairTally], int]) -> list[Measure]:
    """A share of the one-sided commits at equal quality."""

    def share(chosen: Sequence[PairTally]) -> Result:
        return clustered_rate(
            [Counted(tally.task_id, score(tally), tally.one_sided) for tally in chosen],
            unit="pair",
            empty="no pair had a winner in exactly one order",
            left_out=_incomplete(chosen),
        )

    return _by_transform(name, equal_pairs(tallies, arm), arm, share)


def slot_share(tallies: Iterable[PairTally], score: Callable[[PairTally], int]) -> Result:
    """A share of the calls, two per pair."""
    chosen = list(tallies)
    if not slots_known(chosen):
        return Undefined(UNKNOWN_SLOTS, left_out=_incomplete(chosen))
    return clustered_rate(
        [Counted(tally.task_id, score(tally), 2 * tally.pairs) for tally in chosen],
        unit="call",
        empty="no pair has an answer in both orders",
        left_out={reason: 2 * count for reason, count in _incomplete(chosen).items()},
    )


def slots_known(chosen: Iterable[PairTally]) -> bool:
    """Whether each named winner is counted by slot as well, which published counts seldom are."""
    return all(
        tally.slot_1_calls + tally.slot_2_calls == 2 * (tally.stable + tally.positional) + tally.one_sided
        for tally in chosen
    )


def _by_transform(
    name: str, chosen: Sequence[PairTally], arm: str, result: Callable[[Sequence[PairTally]], Result]
) -> list[Measure]:
    transforms = sorted({tally.stratum for tally in chosen if tally.stratum})
    return [
        Measure(name, result(chosen), arm),
        *(Measure(name, result([t for t in chosen if t.stratum == part]), arm, part) for part in transforms),
    ]


def _incomplete(chosen: Iterable[PairTally]) -> dict[str, int]:
    return {UNANSWERED: sum(tally.incomplete for tally in chosen)}
