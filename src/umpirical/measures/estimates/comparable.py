"""Rates that can be held against those of another judge, and those of the user's own items among them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from umpirical.domain.measures import Unit
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import ChangeTally, GoldTally, RepeatTally, Tallies
from umpirical.measures.estimates.changes import change_tallies
from umpirical.measures.estimates.rates import Counted
from umpirical.measures.estimates.repeats import repeat_tallies, repeated
from umpirical.stats.repeats import flip_chance

ROUNDING = 1e-9


class ComparableRate(NamedTuple):
    """One rate of one judge, by cluster, and the units that it lacks."""

    name: str
    stratum: str
    unit: Unit
    counts: list[Counted]
    missing: float

    @property
    def missing_share(self) -> float:
        everything = self.missing + sum(count.denominator for count in self.counts)
        return self.missing / everything if everything else 0.0


def item_rates(tallies: Tallies, arm: str) -> Iterator[ComparableRate]:
    """Yields, by test, the rates of a judge on the user's own items: all items, without groups."""
    changes = [tally for tally in change_tallies(tallies, arm, "same-verdict") if not tally.group]
    for test, same in _by_test(changes):
        yield _of_changes("change-rate", test, same, lambda t: t.changed, lambda t: t.pairs)
    changes = [tally for tally in change_tallies(tallies, arm, "flipped-verdict") if not tally.group]
    for test, flipped in _by_test(changes):
        yield _of_changes("flip-detection", test, flipped, lambda t: t.moved, lambda t: t.golden)
    for test, repeats in _by_test(tally for tally in repeat_tallies(tallies, arm) if not tally.group):
        yield _of_repeats(test, repeats)
    golds = [tally for tally in tallies.golds if tally.arm == arm and not tally.group]
    for test, labelled in _by_test(golds):
        yield _of_golds(test, labelled, tallies.scale)


_Tally = TypeVar("_Tally", ChangeTally, RepeatTally, GoldTally)


def _by_test(tallies: Iterable[_Tally]) -> list[tuple[str, list[_Tally]]]:
    found: dict[str, list[_Tally]] = {}
    for tally in tallies:
        found.setdefault(tally.test, []).append(tally)
    return sorted(found.items())


def _of_changes(
    name: str,
    test: str,
    chosen: Sequence[ChangeTally],
    score: Callable[[ChangeTally], float],
    among: Callable[[ChangeTally], int],
) -> ComparableRate:
    counts = [Counted(tally.cluster, score(tally), among(tally)) for tally in chosen]
    return ComparableRate(name, test, "item", counts, sum(tally.incomplete for tally in chosen))


def _of_repeats(test: str, chosen: Sequence[RepeatTally]) -> ComparableRate:
    kept, left_out, _ = repeated(chosen)
    counts = [Counted(t.cluster, t.items * flip_chance([count for _, count in t.answers]), t.items) for t in kept]
    return ComparableRate("flip-rate", test, "item", counts, sum(left_out.values()))


def _of_golds(test: str, chosen: Sequence[GoldTally], scale: GradeScale | None) -> ComparableRate:
    given = [tally for tally in chosen if tally.given]
    counts = [Counted(tally.cluster, tally.items * _is_right(tally, scale), tally.items) for tally in given]
    return ComparableRate("accuracy", test, "item", counts, sum(tally.items for tally in chosen if not tally.given))


def _is_right(tally: GoldTally, scale: GradeScale | None) -> bool:
    """Whether the verdict is the gold label; numbers are compared, not how they are written."""
    if scale is None or scale.kind != "interval" or tally.given_score is None or tally.gold_score is None:
        return tally.given == tally.gold
    return abs(tally.given_score - tally.gold_score) < ROUNDING
