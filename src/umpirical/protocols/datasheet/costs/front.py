"""Who is on the front of cost and accuracy, and who is only not told from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.measures.estimates.rates import ONE_TASK
from umpirical.protocols.datasheet.costs.options import Option
from umpirical.protocols.datasheet.costs.record import AccuracyDifference, Standing
from umpirical.reports.prices import Dollars, PriceRecord
from umpirical.reports.record import EstimateRecord, UndefinedRecord, result_record
from umpirical.reports.significance import LEVEL, difference_p, holm
from umpirical.stats.differences import paired_difference
from umpirical.stats.juries import Ballots, fair_shares

Cheaper = Literal["yes", "perhaps", "no"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where one option stands."""

    standing: Standing
    dominated_by: tuple[int, ...] = ()
    not_told_from: tuple[int, ...] = ()


def accuracy_differences(options: Sequence[Option], ballots: Ballots) -> list[AccuracyDifference]:
    """Returns the difference of every two options, with one correction for all of them."""
    pairs = list(combinations(range(len(options)), 2))
    found = [result_record(_difference(options[one], options[other], ballots)) for one, other in pairs]
    p_values = holm([difference_p(each) if isinstance(each, EstimateRecord) else None for each in found])
    return [
        AccuracyDifference(first=one, second=other, difference=each, adjusted_p=p)
        for (one, other), each, p in zip(pairs, found, p_values, strict=True)
    ]


def places(
    options: Sequence[Option],
    prices: Sequence[PriceRecord],
    accuracies: Sequence[EstimateRecord | UndefinedRecord],
    differences: Sequence[AccuracyDifference],
) -> list[Place]:
    """Returns where each option stands. One that lacks a price or an accuracy stands apart, and dominates nobody."""
    known = {
        place
        for place, (price, accuracy) in enumerate(zip(prices, accuracies, strict=True))
        if price.per_1000 is not None and isinstance(accuracy, EstimateRecord)
    }
    leads = {(one.first, one.second): one for one in differences}

    def no_dearer(one: int, other: int) -> Cheaper:
        same = options[one].judges == options[other].judges
        return _no_dearer(prices[one].per_1000, prices[other].per_1000, same_judges=same)

    return [_place(place, known, no_dearer, leads) for place in range(len(prices))]


def _place(
    place: int,
    known: set[int],
    no_dearer: Callable[[int, int], Cheaper],
    leads: dict[tuple[int, int], AccuracyDifference],
) -> Place:
    if place not in known:
        return Place("apart")
    shown: list[int] = []
    open_ones: list[int] = []
    for other in sorted(known - {place}):
        ahead, sure = _lead(other, place, leads)
        cheaper = no_dearer(other, place)
        if cheaper == "no" or (ahead is not None and ahead < 0):
            continue
        surely = cheaper == "yes" and sure and ahead is not None and ahead > 0
        (shown if surely else open_ones).append(other)
    if shown:
        return Place("dominated", tuple(shown), tuple(open_ones))
    return Place("not told apart" if open_ones else "front", (), tuple(open_ones))


def _no_dearer(one: Dollars | None, other: Dollars | None, *, same_judges: bool) -> Cheaper:
    """Whether one costs no more than the other: perhaps, if that depends on what was billed.

    Two readouts of one judge share its bill, whatever that is: one is dearer by as many calls as it takes.
    """
    if one is None or other is None:
        return "no"
    if same_judges:
        return "yes" if one[1] <= other[1] else "no"
    if one[0] > other[1]:
        return "no"
    return "yes" if one[1] <= other[0] else "perhaps"


def _lead(one: int, other: int, leads: dict[tuple[int, int], AccuracyDifference]) -> tuple[float | None, bool]:
    """Returns by how much one option is ahead of another, and whether that is shown."""
    found, turn = (leads[one, other], -1) if one < other else (leads[other, one], 1)
    if not isinstance(found.difference, EstimateRecord):
        return None, False
    return turn * found.difference.value, found.adjusted_p is not None and found.adjusted_p < LEVEL


def _difference(one: Option, other: Option, ballots: Ballots) -> Result:
    """The second less the first, on the calls that may speak for both."""
    both = one.speaks & other.speaks
    common = Ballots(ballots.votes[both], ballots.truth[both], ballots.clusters[both])
    first, second = (fair_shares(option.votes[both], common) for option in (one, other))
    if len(first[1]) < 2:
        return Undefined(ONE_TASK)
    found, calls = paired_difference(*second, *first), int(both.sum())
    limits = Interval(found.low, found.high, "cluster-Wilson limits of both, joined over families")
    return Estimate(found.value, found.value * calls, calls, "call", limits, found.clusters)
