"""Estimates how precise every measure of a plan will be, before anything is asked."""

from collections.abc import Iterator
from dataclasses import dataclass

from umpirical.domain.measures import Estimate
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import measure_all
from umpirical.measures.estimates.rates import PLANNING_CORRELATION
from umpirical.stats.precision import half_width

__all__ = ["RATES", "Precision", "expected_precision"]

RATES = (0.1, 0.5)
"""The rate of a judge that is rarely wrong, and the rate at which an interval is widest."""


@dataclass(frozen=True, slots=True)
class Precision:
    """How precise a measure will be if everything is answered."""

    measure: str
    title: str
    arm: str
    stratum: str
    unit: str
    units: int
    tasks: int
    half_widths: tuple[float, ...]
    """Half-widths of the 95 % interval, one for each of `RATES`."""


def expected_precision(tallies: Tallies, *, kind: JudgeKind, protocol: str) -> Iterator[Precision]:
    """Yields the precision of every rate; the denominators are those that the measures themselves count."""
    for spec, measure in measure_all(tallies, kind=kind, protocol=protocol):
        result = measure.result
        if spec.scale != "rate" or not isinstance(result, Estimate) or result.censoring != "none":
            continue
        tasks, each = result.clusters, result.denominator / result.clusters
        yield Precision(
            measure.name,
            spec.title,
            measure.arm,
            measure.stratum,
            result.unit,
            result.denominator,
            tasks,
            tuple(half_width(p, clusters=tasks, per_cluster=each, correlation=PLANNING_CORRELATION) for p in RATES),
        )
