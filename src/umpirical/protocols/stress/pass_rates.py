"""How often each judge gives the expected label, test by test: the tables of the Judge Reliability Harness.

Summaries over tests or judges describe these tests and judges. They have no interval, since neither is a sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import fsum, sqrt
from typing import Protocol

from umpirical.protocols.stress.heat_map import own_measures
from umpirical.protocols.stress.record import StressMeasure, StressTest, WriterSpendRecord
from umpirical.reports.record import EstimateRecord, SpendRecord

SHADES = 5
"""How many shades of a cell there are. The number in the cell is what tells."""

CLOSENESS = ("agreement-ccc", "pearson", "spearman", "mean-absolute-error")
"""How close grades come to the expected ones, on a scale with an order."""


class Tested(Protocol):
    """What the tables are made from: a judge's report, or what a comparison keeps of it."""

    @property
    def tests(self) -> list[StressTest]: ...

    @property
    def measures(self) -> list[StressMeasure]: ...

    @property
    def spend(self) -> SpendRecord | None: ...

    @property
    def writing(self) -> list[WriterSpendRecord]: ...


@dataclass(frozen=True, slots=True)
class Spread:
    """Rates of several tests, or of several judges."""

    count: int
    mean: float
    deviation: float | None
    """Standard deviation, with one degree of freedom less than there are rates; None for a single one."""
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Closeness:
    """How close one judge comes in one test."""

    judge: str
    test: str
    cells: tuple[StressMeasure | None, ...]
    """In the order of `CLOSENESS`."""


@dataclass(frozen=True, slots=True)
class PassRates:
    """Judges by tests."""

    rows: tuple[tuple[StressTest, tuple[StressMeasure | None, ...], Spread | None], ...]
    """Each test, with a cell for each judge and the spread over judges."""
    by_judge: tuple[Spread | None, ...]
    """For each judge, the spread over its tests; None for one without any rate."""
    per_point: tuple[Decimal | None, ...]
    """For each judge, US dollars for a percentage point of its mean rate; None if either is not known or is 0."""
    per_point_with_stimuli: tuple[Decimal | None, ...]
    """The same with what writing and validating the stimuli cost; None if that is not known either."""
    closeness: tuple[Closeness, ...]


def pass_rates(reports: Sequence[Tested], keys: Sequence[str]) -> PassRates:
    """Returns the tables of these reports, whose judges are called `keys`. The originals are not a test."""
    tests = {test.name: test for report in reports for test in report.tests if test.kind != "original"}
    rows = []
    for name, test in tests.items():
        cells = tuple(_measure(report, name, "accuracy") for report in reports)
        if spread := _spread(cells):
            rows.append((test, cells, spread))
    by_judge = tuple(_spread([cells[place] for _, cells, _ in rows]) for place in range(len(reports)))
    return PassRates(
        rows=tuple(rows),
        by_judge=by_judge,
        per_point=tuple(_per_point(report, spread) for report, spread in zip(reports, by_judge, strict=True)),
        per_point_with_stimuli=tuple(
            _per_point(report, spread, writing=_writing(report))
            for report, spread in zip(reports, by_judge, strict=True)
        ),
        closeness=tuple(_closeness(reports, keys, [test for test, _, _ in rows])),
    )


def shade(measure: StressMeasure | None) -> str:
    """Returns the class of a cell's shade, from 0 for the least rates to `SHADES` - 1; empty without a rate."""
    if measure is None or not isinstance(measure.result, EstimateRecord):
        return ""
    return f"shade-{min(int(measure.result.value * SHADES), SHADES - 1)}"


def _measure(report: Tested, test: str, name: str) -> StressMeasure | None:
    found = (one for one in own_measures(report, test) if one.name == name and not one.group)
    return next(found, None)


def _spread(cells: Sequence[StressMeasure | None]) -> Spread | None:
    rates = [cell.result.value for cell in cells if cell is not None and isinstance(cell.result, EstimateRecord)]
    if not rates:
        return None
    mean = fsum(rates) / len(rates)
    squares = fsum((rate - mean) ** 2 for rate in rates)
    deviation = sqrt(squares / (len(rates) - 1)) if len(rates) > 1 else None
    return Spread(len(rates), mean, deviation, min(rates), max(rates))


def _per_point(report: Tested, spread: Spread | None, *, writing: Decimal | None = Decimal(0)) -> Decimal | None:
    cost = report.spend.cost if report.spend else None
    if cost is None or writing is None or not spread or not spread.mean:
        return None
    return (cost + writing) / Decimal(str(100 * spread.mean)) if cost + writing else None


def _writing(report: Tested) -> Decimal | None:
    """Returns what all writers of the stimuli cost; None if that of one is not known."""
    costs = [spent.cost for spent in report.writing]
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None


def _closeness(reports: Sequence[Tested], keys: Sequence[str], tests: Sequence[StressTest]) -> list[Closeness]:
    found = [
        Closeness(key, test.title, tuple(_measure(report, test.name, name) for name in CLOSENESS))
        for key, report in zip(keys, reports, strict=True)
        for test in tests
    ]
    return [row for row in found if any(cell is not None for cell in row.cells)]
