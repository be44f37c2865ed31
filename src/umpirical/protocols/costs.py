"""Cost and accuracy of everything that could be taken, whatever the protocol: judges, ways to read them, and juries.

All of them are heard on the same calls whose right answer is known.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, NonNegativeInt

from umpirical.domain.judgments import Outcome
from umpirical.domain.measures import Estimate, Result, Undefined
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Trial
from umpirical.judges.simulated.model import profile_of
from umpirical.measures.estimates.rates import PLANNING_CORRELATION
from umpirical.protocols.jury import Asked, Member, SharedCalls, VoteKeeper, accuracy_of, gain_of, measure_of
from umpirical.reports.facts import quantile
from umpirical.reports.numbers import dollars, rate
from umpirical.reports.prices import Basis, Dollars, PriceRecord, no_price, price_of
from umpirical.reports.record import ResultRecord, Strict
from umpirical.reports.significance import LEVEL, difference_p, holm
from umpirical.stats.juries import NO_VOTE, TIE, Ballots, Votes, fitted
from umpirical.stats.precision import clusters_needed
from umpirical.store.budget import Budget

OptionKind = Literal["judge", "scoring_method", "jury"]

Standing = Literal["front", "dominated", "not told apart", "apart"]
"""`dominated`: another is no dearer, and shown to be more accurate. `not told apart`: another may be no dearer, and is
at least as accurate as measured, but is not shown to be both. `front`: neither. `apart`: price or accuracy is unknown.
"""


class PointPrice(Strict):
    """Dollars per 1,000 verdicts for each percentage point of balanced accuracy above the baseline."""

    least: Decimal | None = Field(default=None, description="At the measured accuracy and the lowest price.")
    most: Decimal | None = Field(default=None, description="At the measured accuracy and the highest price.")
    low: Decimal | None = Field(default=None, description="At the lowest price and the upper end of the accuracy.")
    high: Decimal | None = Field(
        default=None, description="At the highest price and the lower end; null if that is at the baseline."
    )
    why_not: str = Field(default="", description="Why there is none.")


class CurveStep(Strict):
    """The cost of an interval of this width for the accuracy, in a design like that of the run."""

    half_width: float
    families: int
    calls: int
    dollars: tuple[Decimal, Decimal] | None = Field(description="Lowest and highest; null if the price is unknown.")


class CostRecord(Strict):
    """One judge, scoring method or jury."""

    kind: OptionKind
    sign: str = Field(description="Its label on the page: `careful`, `careful both-orders`, `careful + coin + polite`.")
    name: str
    judges: list[NonNegativeInt] = Field(description="The places of the judges it calls.")
    calls_per_verdict: int
    price: PriceRecord
    accuracy: ResultRecord = Field(
        description="Balanced accuracy, on the calls that all judges were asked, except pairs of identical answers."
    )
    per_point: PointPrice
    curve: list[CurveStep] = Field(default=[], description="The cost curve: dollars by half-width of the interval.")
    no_curve: str = Field(default="", description="Why there is no curve.")
    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = Field(
        default=None, description="For a jury, the latency of the slowest member in each call."
    )
    standing: Standing
    dominated_by: list[NonNegativeInt] = Field(default=[], description="Places in `options`.")
    not_told_from: list[NonNegativeInt] = Field(default=[], description="Places in `options`.")


class AccuracyDifference(Strict):
    """The difference in balanced accuracy of two options, on the calls that both are reported on."""

    first: NonNegativeInt
    second: NonNegativeInt
    difference: ResultRecord = Field(description="The second minus the first.")
    adjusted_p: float | None = Field(description="With Holm's correction over all pairs of options.")


class Costs(Strict):
    """Cost and accuracy of all options, and the Pareto front."""

    baseline: float = Field(description="The balanced accuracy of always answering tie.")
    options: list[CostRecord]
    differences: list[AccuracyDifference]
    stimuli: str = Field(description="The cost of the test cases.")
    findings: list[str]


MOST_FOR_TRIOS = 5
"""Up to so many judges, every jury of three is shown; of more, the jury of all."""

MOST_NAMED = 3
"""Members of a jury that its label names."""

MOST_JUDGES = 15

MOST_CALLS = 100_000
"""Of one run: more are not held in memory side by side, and the judge has a price alone."""


@dataclass(slots=True)
class TimedKeeper(VoteKeeper):
    """The calls of one run, with the time that each took."""

    latencies: dict[Asked, float] = field(default_factory=dict)
    too_many: bool = False

    def keep(self, trial: Trial, stimulus: Stimulus, outcome: Outcome | None) -> Asked | None:
        self.too_many = self.too_many or len(self.calls) >= MOST_CALLS
        # Not `super()`: a dataclass with slots is another class than the one it was written as.
        return None if self.too_many else VoteKeeper.keep(self, trial, stimulus, outcome)

    def see(self, trial: Trial, stimulus: Stimulus, outcome: Outcome | None, response: Response | None) -> None:
        key = self.keep(trial, stimulus, outcome)
        if key is not None and response is not None and response.latency_ms:
            self.latencies[key] = response.latency_ms


@dataclass(frozen=True, slots=True)
class Option:
    """Something that gives verdicts on the shared calls."""

    kind: OptionKind
    name: str
    scoring_method: str
    judges: tuple[int, ...]
    """Places among the judges compared."""
    calls_per_verdict: int
    votes: Votes
    speaks: NDArray[np.bool_]
    """The calls that may speak for it."""
    verdicts: float
    """Verdicts that it gave for all shared calls, where each of its judges was asked once."""
    latencies: tuple[float, ...]


def judge_option(shared: SharedCalls, place: int, column: int) -> Option:
    """Returns a judge itself: `place` among all that are compared, `column` among those that are heard."""
    member, votes = shared.members[column], shared.ballots.votes[:, column]
    everything, given = np.ones(len(votes), dtype=bool), float(np.count_nonzero(votes != NO_VOTE))
    times = tuple(member.reading.spent.latencies)
    return Option("judge", member.name, "", (place,), 1, votes, everything, given, times)


def juries_of(shared: SharedCalls, jurors: Sequence[tuple[int, int]], kept: Sequence[TimedKeeper]) -> Iterator[Option]:
    """Yields juries that learn nothing from these calls: of all judges, and of three if they are few."""
    if not 3 <= len(jurors) <= MOST_JUDGES:
        return
    sizes = {len(jurors), 3} if len(jurors) <= MOST_FOR_TRIOS else {len(jurors)}
    fingerprints = [member.run.manifest["fingerprint"] for member in shared.members]
    for size in sorted(sizes):
        for members in combinations(jurors, size):
            columns, places = [column for column, _ in members], tuple(place for _, place in members)
            if len({fingerprints[column] for column in columns}) < size:
                # The same judge twice has one vote.
                continue
            votes = (
                fitted(shared.ballots, shared.ballots.scale.rules[0]).of(columns).verdicts(shared.ballots.of(columns))
            )
            yield Option(
                kind="jury",
                name=f"jury of {', '.join(shared.members[column].name for column in columns)}",
                scoring_method="",
                judges=places,
                calls_per_verdict=size,
                votes=votes,
                speaks=np.ones(len(votes), dtype=bool),
                verdicts=float(np.count_nonzero(votes != NO_VOTE)),
                latencies=_slowest(shared.asked, [kept[place] for place in places]),
            )


def _slowest(asked: Sequence[Asked], kept: Sequence[TimedKeeper]) -> tuple[float, ...]:
    """Returns the time of the slowest member in each call, as if all were asked at once."""
    return tuple(max(one.latencies[key] for one in kept) for key in asked if all(key in one.latencies for one in kept))


def baseline_of(ballots: Ballots) -> float:
    """Returns what the best constant answer comes to: no way of answering without reading does better.

    Of two candidates, that is always a tie, at one half. Always naming one position gives a quarter.
    """
    if ballots.scale.tie == TIE:
        return BASELINE_ACCURACY
    if not len(ballots.truth):
        return 0.0
    known = range(ballots.scale.classes) if ballots.scale.classes else [float(np.median(ballots.truth))]
    constant = [np.full(len(ballots.truth), each, dtype=float) for each in known]
    return max(float(ballots.scale.credit(each, ballots.truth).mean()) for each in constant)


BASELINE_ACCURACY = 0.5
"""Of two candidates: that of always saying that it is a tie."""

HALF_WIDTHS = (0.10, 0.05, 0.03, 0.02, 0.01)

TINY = Decimal("0.000001")


def option_price(option: Option, prices: Sequence[PriceRecord], shared: int) -> PriceRecord:
    """Returns what the verdicts of a scoring method or a jury cost, by what the calls of its judges cost.

    It is asked for the `shared` calls: a jury by as many calls to each member, a scoring method of both orders for
    half as many verdicts.
    """
    if option.kind == "judge":
        return prices[option.judges[0]]
    each = [prices[place] for place in option.judges]
    unknown = [price for price in each if price.per_call is None]
    if unknown:
        return no_price(unknown[0].why_not)
    least, most = (sum((price.per_call[end] for price in each if price.per_call), Decimal(0)) for end in (0, 1))
    dollars = least * shared / 1000, most * shared / 1000
    verdicts = int(option.verdicts)
    bases: set[Basis] = {price.basis for price in each}
    return PriceRecord(
        basis="spent" if "spent" in bases else "answers" if "answers" in bases else "free",
        dollars=dollars,
        calls=shared * len(each),
        verdicts=verdicts,
        per_call=(least / len(each), most / len(each)),
        per_1000=(_tiny(dollars[0] * 1000 / verdicts), _tiny(dollars[1] * 1000 / verdicts)) if verdicts else None,
        why_not="" if verdicts else "no call gave a verdict",
    )


def point_price(price: PriceRecord, accuracy: Result, baseline: float = BASELINE_ACCURACY) -> PointPrice:
    """Returns dollars for a point of accuracy above the baseline: dollars per 1,000 verdicts over points."""
    if isinstance(accuracy, Undefined):
        return PointPrice(why_not=accuracy.reason)
    if price.per_1000 is None:
        return PointPrice(why_not=price.why_not)
    above = accuracy.value - baseline
    if above <= 0:
        return PointPrice(why_not="it is not more accurate than always giving the same answer")
    ends = accuracy.interval
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    return PointPrice(
        least=_over(price.per_1000[0], above),
        most=_over(price.per_1000[1], above),
        low=None if high is None else _over(price.per_1000[0], high - baseline),
        high=None if low is None or low <= baseline else _over(price.per_1000[1], low - baseline),
    )


def cost_curve(
    price: PriceRecord, accuracy: Result, calls: int, *, is_rate: bool = True
) -> tuple[list[CurveStep], str]:
    """Returns what intervals of some widths take, or why that cannot be said.

    So many families of the size that they have here, with units of a family as alike as they are here. The rate is the
    middle of the interval, which is never 0 or 1. Where the accuracy is not a rate, its interval narrows with the root
    of the number of families. `calls` are those of the whole run: a family more is asked
    everything that the others were.
    """
    if isinstance(accuracy, Undefined):
        return [], accuracy.reason
    ends = accuracy.interval
    if ends is None or ends.low is None or ends.high is None:
        return [], "its accuracy has no interval"
    each = accuracy.denominator / accuracy.clusters
    steps = []
    for width in HALF_WIDTHS:
        families = ceil(accuracy.clusters * ((ends.high - ends.low) / 2 / width) ** 2)
        if is_rate:
            families = clusters_needed(
                (ends.low + ends.high) / 2, width, per_cluster=each, correlation=_correlation(accuracy, each)
            )
        asked = -(-calls * families // accuracy.clusters)
        dollars = None if price.per_call is None else (_cost(price.per_call[0], asked), _cost(price.per_call[1], asked))
        steps.append(CurveStep(half_width=width, families=families, calls=asked, dollars=dollars))
    return steps, ""


def _correlation(accuracy: Estimate, each: float) -> float:
    """Returns how alike calls of a family are, by the design effect; what every plan assumes where none is known."""
    if accuracy.design_effect is None or each <= 1:
        return PLANNING_CORRELATION
    return min(1.0, max(0.0, (accuracy.design_effect - 1) / (each - 1)))


def _cost(per_1000: Decimal, calls: int) -> Decimal:
    return _tiny(per_1000 * calls / 1000)


def _over(dollars: Decimal, share: float) -> Decimal:
    return _tiny(dollars / (100 * Decimal(repr(share))))


def _tiny(dollars: Decimal) -> Decimal:
    return dollars.quantize(TINY, ROUND_HALF_UP)


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
    found = [_difference(options[one], options[other], ballots) for one, other in pairs]
    p_values = holm([difference_p(each) if isinstance(each, Estimate) else None for each in found])
    return [
        AccuracyDifference(first=one, second=other, difference=each, adjusted_p=p)
        for (one, other), each, p in zip(pairs, found, p_values, strict=True)
    ]


def places(
    options: Sequence[Option],
    prices: Sequence[PriceRecord],
    accuracies: Sequence[Result],
    differences: Sequence[AccuracyDifference],
) -> list[Place]:
    """Returns where each option stands. One that lacks a price or an accuracy stands apart, and dominates nobody."""
    known = {
        place
        for place, (price, accuracy) in enumerate(zip(prices, accuracies, strict=True))
        if price.per_1000 is not None and isinstance(accuracy, Estimate)
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

    Two scoring methods of one judge share its bill, whatever that is: one is dearer by as many calls as it takes.
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
    if not isinstance(found.difference, Estimate):
        return None, False
    return turn * found.difference.value, found.adjusted_p is not None and found.adjusted_p < LEVEL


def _difference(one: Option, other: Option, ballots: Ballots) -> Result:
    """The second less the first, on the calls that may speak for both."""
    both = one.speaks & other.speaks
    return gain_of(other.votes[both], one.votes[both], ballots.where(both))


NOTHING = Ballots(np.zeros((0, 0)), np.zeros(0), np.zeros(0, dtype=np.int64))


def assemble_costs(  # noqa: PLR0913  # the parts of the section, each once
    options: Sequence[Option],
    ballots: Ballots,
    prices: Sequence[PriceRecord],
    planned: Sequence[int],
    names: Sequence[str],
    unheard: Sequence[CostRecord] = (),
    *,
    stimuli: str,
) -> Costs:
    """Returns the cost section: `prices`, `planned` calls and `names` are those of the judges, by place."""
    baseline = baseline_of(ballots)
    priced = [option_price(option, prices, len(ballots.truth)) for option in options]
    accuracies = [_accuracy(option, ballots) for option in options]
    differences = accuracy_differences(options, ballots)
    where = places(options, priced, accuracies, differences)
    found = [
        _record(option, price, accuracy, place, sum(planned[judge] for judge in option.judges), names, ballots)
        for option, price, accuracy, place in zip(options, priced, accuracies, where, strict=True)
    ]
    return Costs(
        baseline=baseline,
        options=[*found, *unheard],
        differences=differences,
        stimuli=stimuli,
        findings=list(_findings([*found, *unheard], measure_of(ballots), baseline)),
    )


def price_of_run(member: Member) -> PriceRecord:
    """Returns what a run has cost, by what was billed for it."""
    bill = Budget(member.run.call.folder).bill_of(member.run.name)
    return price_of(member.reading.spent, bill, simulated=profile_of(member.run.judge) is not None)


def _accuracy(option: Option, ballots: Ballots) -> Result:
    return accuracy_of(option.votes[option.speaks], ballots.where(option.speaks))


def _record(  # noqa: PLR0913, PLR0917  # likewise, of an option
    option: Option,
    price: PriceRecord,
    accuracy: Result,
    place: Place,
    calls: int,
    names: Sequence[str],
    ballots: Ballots,
) -> CostRecord:
    curve, no_curve = cost_curve(price, accuracy, calls, is_rate=not ballots.scale.span)
    latencies = sorted(option.latencies)
    members = " + ".join(names[judge] for judge in option.judges)
    if len(option.judges) > MOST_NAMED:
        members = f"jury of {len(option.judges)}"
    return CostRecord(
        kind=option.kind,
        sign=f"{members} {option.scoring_method}".strip(),
        name=option.name,
        judges=list(option.judges),
        calls_per_verdict=option.calls_per_verdict,
        price=price,
        accuracy=accuracy,
        per_point=point_price(price, accuracy, baseline_of(ballots)),
        curve=curve,
        no_curve=no_curve,
        latency_p50_ms=quantile(latencies, 0.50),
        latency_p95_ms=quantile(latencies, 0.95),
        standing=place.standing,
        dominated_by=list(place.dominated_by),
        not_told_from=list(place.not_told_from),
    )


def unheard_option(place: int, sign: str, member: Member, price: PriceRecord, why: str) -> CostRecord:
    """A judge that has a price and, for this reason, no accuracy."""
    accuracy = Undefined(reason=why or "the judges have no calls in common")
    latencies = sorted(member.reading.spent.latencies)
    return CostRecord(
        kind="judge",
        sign=sign,
        name=member.name,
        judges=[place],
        calls_per_verdict=1,
        price=price,
        accuracy=accuracy,
        per_point=point_price(price, accuracy),
        no_curve=accuracy.reason,
        latency_p50_ms=quantile(latencies, 0.50),
        latency_p95_ms=quantile(latencies, 0.95),
        standing="apart",
    )


def _findings(options: Sequence[CostRecord], measure: str, baseline: float) -> Iterator[str]:
    """Yields who is on the front, who is dominated, and who stands apart."""
    front = [one.sign for one in options if one.standing == "front"]
    if front:
        yield f"On the cost–accuracy Pareto front: {', '.join(front)}."
    if dominated := [one.sign for one in options if one.standing == "dominated" and one.kind == "judge"]:
        yield f"Another option costs no more and is significantly more accurate than: {', '.join(dominated)}."
    if unclear := [one.sign for one in options if one.standing == "not told apart"]:
        yield f"Not distinguishable from the front at this sample size: {', '.join(unclear)}."
    for one in options:
        # What is made of judges lacks what one of them lacks.
        if one.standing == "apart" and one.kind == "judge":
            reason = one.price.why_not or (one.accuracy.reason if one.accuracy.kind == "undefined" else "")
            yield f"{one.sign} is not ranked: {reason}."
    points = [(most, one.sign) for one in options if one.kind == "judge" and (most := one.per_point.most)]
    if len(points) > 1:
        least, sign = min(points)
        yield (
            f"Of the judges, {sign} has the lowest cost per point of {measure} above "
            f"{rate(baseline)}: {dollars(least)} per 1,000 verdicts."
        )
