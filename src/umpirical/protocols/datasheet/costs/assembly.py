"""Makes the cost section of a comparison from runs that have been read."""

from collections.abc import Iterator, Sequence

import numpy as np

from umpirical.judges.simulated.model import profile_of
from umpirical.protocols.datasheet.costs.figures import BASELINE_ACCURACY, cost_curve, option_price, point_price
from umpirical.protocols.datasheet.costs.front import Place, accuracy_differences, places
from umpirical.protocols.datasheet.costs.options import CallKeeper, Option, options_of, why_not_heard
from umpirical.protocols.datasheet.costs.record import CostRecord, Costs
from umpirical.protocols.datasheet.juries.figures import balanced_accuracy
from umpirical.protocols.datasheet.report import ReadRun
from umpirical.reports.comparisons.words import letter
from umpirical.reports.facts import quantile
from umpirical.reports.numbers import dollars, ratio
from umpirical.reports.prices import PriceRecord, price_of
from umpirical.reports.record import EstimateRecord, UndefinedRecord, result_record
from umpirical.stats.juries import Ballots
from umpirical.store.budget import Budget

NOTHING = Ballots(*(np.zeros(shape, dtype=np.int64) for shape in ((0, 0), 0, 0)))

STIMULI = (
    "The stimuli are made by program: writing and validating them cost nothing. Every judge has the same ones, so that "
    "they move no judge against another."
)


def costs_of(read: Sequence[ReadRun], kept: Sequence[CallKeeper], *, reference: int | None) -> Costs:
    """Returns cost and accuracy of the judges, their readouts, and juries of them; the reference is in no jury."""
    prices = [_price(one) for one in read]
    shared, options = options_of(read, kept, reference=reference)
    heard = {option.judges[0] for option in options if option.kind == "judge"}
    unheard = [
        _unheard(place, read[place], kept[place], prices[place]) for place in range(len(read)) if place not in heard
    ]
    ballots = shared.ballots if shared else NOTHING
    return assemble_costs(options, ballots, prices, [one.reading.planned for one in read], unheard)


def assemble_costs(
    options: Sequence[Option],
    ballots: Ballots,
    prices: Sequence[PriceRecord],
    planned: Sequence[int],
    unheard: Sequence[CostRecord] = (),
) -> Costs:
    """Returns the cost section: `prices` and `planned` calls are those of the judges, by place."""
    priced = [option_price(option, prices, len(ballots.truth)) for option in options]
    accuracies = [_accuracy(option, ballots) for option in options]
    differences = accuracy_differences(options, ballots)
    where = places(options, priced, accuracies, differences)
    found = [
        _record(option, price, accuracy, place, sum(planned[judge] for judge in option.judges))
        for option, price, accuracy, place in zip(options, priced, accuracies, where, strict=True)
    ]
    return Costs(
        baseline=BASELINE_ACCURACY,
        options=[*found, *unheard],
        differences=differences,
        stimuli=STIMULI,
        findings=list(_findings([*found, *unheard])),
    )


def _price(read: ReadRun) -> PriceRecord:
    bill = Budget(read.run.call.folder).bill_of(read.run.name)
    return price_of(read.reading.spent, bill, simulated=profile_of(read.run.judge) is not None)


def _accuracy(option: Option, ballots: Ballots) -> EstimateRecord | UndefinedRecord:
    speaks = option.speaks
    heard = Ballots(ballots.votes[speaks], ballots.truth[speaks], ballots.clusters[speaks])
    return result_record(balanced_accuracy(option.votes[speaks], heard))


def _record(
    option: Option,
    price: PriceRecord,
    accuracy: EstimateRecord | UndefinedRecord,
    place: Place,
    calls: int,
) -> CostRecord:
    curve, no_curve = cost_curve(price, accuracy, calls)
    latencies = sorted(option.latencies)
    letters = "+".join(letter(judge) for judge in option.judges)
    return CostRecord(
        kind=option.kind,
        sign=f"{letters} {option.readout}".strip(),
        name=option.name,
        judges=list(option.judges),
        calls_per_verdict=option.calls_per_verdict,
        price=price,
        accuracy=accuracy,
        per_point=point_price(price, accuracy),
        curve=curve,
        no_curve=no_curve,
        latency_p50_ms=quantile(latencies, 0.50),
        latency_p95_ms=quantile(latencies, 0.95),
        standing=place.standing,
        dominated_by=list(place.dominated_by),
        not_told_from=list(place.not_told_from),
    )


def _unheard(place: int, read: ReadRun, keeper: CallKeeper, price: PriceRecord) -> CostRecord:
    """A judge that has a price, and no balanced accuracy."""
    accuracy = UndefinedRecord(reason=why_not_heard(read, keeper) or "the judges share no calls")
    latencies = sorted(read.reading.spent.latencies)
    return CostRecord(
        kind="judge",
        sign=letter(place),
        name=read.run.judge.name,
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


def _findings(options: Sequence[CostRecord]) -> Iterator[str]:
    """Yields who is on the front, who is dominated, and who stands apart."""
    front = [one.sign for one in options if one.standing == "front"]
    if front:
        yield f"On the front of cost and balanced accuracy: {', '.join(front)}."
    dominated = [one for one in options if one.standing == "dominated"]
    for one in [one for one in dominated if one.kind == "judge"]:
        better = ", ".join(options[place].sign for place in one.dominated_by)
        verbs = ("costs", "is") if len(one.dominated_by) == 1 else ("cost", "are")
        yield f"{one.sign} is dominated: {better} {verbs[0]} no more, and {verbs[1]} shown to be more often right."
    if others := [one.sign for one in dominated if one.kind != "judge"]:
        yield f"Readouts and juries that are dominated: {', '.join(others)}."
    if unclear := [one.sign for one in options if one.standing == "not told apart"]:
        yield f"Not told from the front at this size of run: {', '.join(unclear)}."
    for one in options:
        if one.standing == "apart":
            reason = one.price.why_not or (one.accuracy.reason if one.accuracy.kind == "undefined" else "")
            yield f"{one.sign} stands apart: {reason}."
    points = [(most, one.sign) for one in options if one.kind == "judge" and (most := one.per_point.most)]
    if len(points) > 1:
        least, sign = min(points)
        yield (
            f"Of the judges, {sign} has the cheapest point of balanced accuracy above {ratio(BASELINE_ACCURACY)}: "
            f"{dollars(least)} for 1,000 verdicts."
        )
