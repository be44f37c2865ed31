"""The datasheet as one HTML file: no script, nothing fetched, and text from outside shown as inert text."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from umpirical.reports import charts, numbers
from umpirical.reports.inert import inert
from umpirical.reports.record import AuditRow, Datasheet, EstimateRecord, IntervalRecord, MeasureRecord

__all__ = ["render_html"]

OUTCOMES = ("slot_1", "slot_2", "tie", "abstained", "unparsed", "failed", "unasked")


@dataclass(frozen=True, slots=True)
class Arm:
    """Everything measured under one arm."""

    name: str
    groups: tuple[tuple[MeasureRecord, ...], ...]
    """The measures in the order of the record, those of one name and meaning together."""
    curve: charts.Curve | charts.NotDrawn
    steps: tuple[MeasureRecord, ...]
    stack: charts.Stack | charts.NotDrawn
    parts: tuple[MeasureRecord, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit rows with their sums."""

    rows: tuple[AuditRow, ...]
    totals: dict[str, int]
    wrong: tuple[AuditRow, ...]
    """Rows whose outcomes do not add up to what was planned."""


def render_html(datasheet: Datasheet) -> str:
    """The page of a datasheet. The same record gives the same text; it can always be encoded as UTF-8."""
    return (
        environment()
        .get_template("page.html")
        .render(
            sheet=datasheet,
            arms=_arms(datasheet),
            audit=_audit(datasheet.audit),
            methods=_methods(datasheet.measures, "interval"),
            planning_methods=_methods(datasheet.measures, "planning_interval"),
            has_planted=any(measure.planted is not None for measure in datasheet.measures),
        )
    )


@cache
def environment() -> Environment:
    """The templates' environment: escaping is on whatever a template is called, and `_output` sees every value."""
    templates = Environment(
        loader=PackageLoader("umpirical.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_output,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.globals.update(
        numbers=numbers,
        dot_cell=charts.dot_cell,
        has_notes=_has_notes,
        row_count=lambda group: len(group) + sum(map(_has_notes, group)),
        planted_words=_planted_words,
        OUTCOMES=OUTCOMES,
    )
    return templates


def _output(value: object) -> object:
    """What a template may print: text, made inert, and whole numbers.

    A float has to come through `numbers`, and None is a value that someone forgot to think of.
    """
    if isinstance(value, float | bool) or value is None:
        raise TypeError(f"a template printed {value!r}; format it with umpirical.reports.numbers")
    # Markup is the output of a macro, whose parts have been here before.
    return inert(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _arms(datasheet: Datasheet) -> tuple[Arm, ...]:
    names = dict.fromkeys([*datasheet.run.arms, *(measure.arm for measure in datasheet.measures)])
    return tuple(_arm(name, [m for m in datasheet.measures if m.arm == name]) for name in names)


def _arm(name: str, measures: Sequence[MeasureRecord]) -> Arm:
    in_parts = [part for part, _ in charts.PARTS]
    return Arm(
        name=name,
        groups=tuple(tuple(group) for _, group in groupby(measures, key=lambda m: (m.name, m.title, m.about))),
        curve=charts.psychometric_curve(measures),
        steps=tuple(m for m in measures if m.name in {"target-sensitivity", "detection-threshold"}),
        stack=charts.decomposition(measures),
        parts=tuple(sorted((m for m in measures if m.name in in_parts), key=lambda m: in_parts.index(m.name))),
    )


def _audit(rows: Sequence[AuditRow]) -> Audit:
    totals: Counter[str] = Counter(dict.fromkeys(("planned", *OUTCOMES), 0))
    for row in rows:
        totals.update({column: getattr(row, column) for column in totals})
    wrong = tuple(row for row in rows if row.planned != sum(getattr(row, outcome) for outcome in OUTCOMES))
    return Audit(rows=tuple(rows), totals=dict(totals), wrong=wrong)


def _methods(measures: Sequence[MeasureRecord], which: str) -> dict[tuple[float, str], int]:
    """How the intervals were made, numbered: 0 for the most usual way, which needs no mark beside each of them."""
    estimates = [measure.result for measure in measures if isinstance(measure.result, EstimateRecord)]
    intervals: list[IntervalRecord | None] = [getattr(estimate, which) for estimate in estimates]
    ways = Counter((interval.level, interval.method) for interval in intervals if interval)
    return {way: number for number, (way, _) in enumerate(ways.most_common())}


def _has_notes(measure: MeasureRecord) -> bool:
    """Whether there is more to say of an estimate than fits beside it."""
    estimate = measure.result
    return isinstance(estimate, EstimateRecord) and bool(
        estimate.planning_interval or estimate.left_out or estimate.bounds
    )


def _planted_words(measure: MeasureRecord) -> str:
    """Whether the planted value lies inside the measured interval."""
    estimate = measure.result
    if measure.planted is None or not isinstance(estimate, EstimateRecord) or estimate.interval is None:
        return "no interval"
    low, high = estimate.interval.low, estimate.interval.high
    inside = (low is None or low <= measure.planted) and (high is None or measure.planted <= high)
    return "inside" if inside else "outside"
