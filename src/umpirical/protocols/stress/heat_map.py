"""The heat map: every test of every judge as one cell with a number, its interval, n and a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from umpirical.domain.trials import BASELINE
from umpirical.protocols.stress.pages.names import judge_keys, page_name
from umpirical.protocols.stress.policy import NO_LIMIT, TestKind, allowed, limit_words
from umpirical.protocols.stress.record import CellVerdict, StressMeasure, StressReport, StressTest
from umpirical.protocols.stress.words import interval_words, unanswered_words, value_words
from umpirical.reports import numbers
from umpirical.reports.record import EstimateRecord, LimitVerdict
from umpirical.reports.significance import survivors

SIGNS: dict[LimitVerdict, str] = {"PASS": "✓", "FAIL": "✗", "INCONCLUSIVE": "?", "N/A": "–"}

GROUPS: tuple[tuple[str, str, tuple[TestKind, ...]], ...] = (
    (
        "Should change nothing",
        "How many more verdicts change than on asking the same again, and how far grades move on average.",
        ("same-verdict",),
    ),
    (
        "Should change the verdict",
        "How many verdicts move as the changed text requires.",
        ("flipped-verdict",),
    ),
    ("Asked again", "How many pairs of answers to one request differ.", ("repeats",)),
    ("Agreement with gold", "How many texts get their gold label.", ("original", "given-label")),
)

FIGURES: dict[TestKind, tuple[tuple[str, ...], ...]] = {
    "same-verdict": (("excess-change", "change-rate"), ("shift-equivalence", "grade-shift")),
    "flipped-verdict": (("flip-detection",),),
    "repeats": (("flip-rate",),),
    "original": (("accuracy",), ("weighted-kappa",)),
    "given-label": (("accuracy",), ("weighted-kappa",)),
}
"""What a cell shows: the first measure of each list that was measured."""

_LABELS = {
    "excess-change": "more changed",
    "change-rate": "changed",
    "shift-equivalence": "grades",
    "grade-shift": "grades",
    "flip-detection": "seen",
    "flip-rate": "differ",
    "accuracy": "exact",
    "weighted-kappa": "weighted κ",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in a cell."""

    value: str
    label: str
    interval: str
    n: str


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One test of one judge."""

    href: str
    verdict: LimitVerdict
    sign: str
    figures: tuple[Figure, ...]
    note: str
    """Why there is no number, or how many units would settle it."""
    survives: bool
    """Whether it is a FAIL that survives a correction for the number of cells."""


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One test, with a cell for each judge; None for a judge that it was not run on."""

    test: StressTest
    cells: tuple[HeatCell | None, ...]


@dataclass(frozen=True, slots=True)
class HeatGroup:
    """Tests that require the same of a judge."""

    title: str
    explained: str
    rows: tuple[HeatRow, ...]


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Tests by judges."""

    judges: tuple[str, ...]
    groups: tuple[HeatGroup, ...]
    tested: int
    """Number of cells that were held to a limit."""
    failed: int
    surviving: int


def heat_map(reports: Sequence[StressReport]) -> HeatMap:
    """Returns every test that was run on a judge, in the order of the reports."""
    keys = judge_keys(reports)
    cells = [(key, test.name) for key, report in zip(keys, reports, strict=True) for test in report.tests]
    held = [cell for report in reports for cell in report.verdicts]
    alive = dict(zip(cells, survivors([cell.p_value for cell in held]), strict=True))
    tests = {test.name: test for report in reports for test in report.tests}
    groups = []
    for title, explained, kinds in GROUPS:
        chosen = [test for kind in kinds for test in tests.values() if test.kind == kind]
        rows = tuple(
            HeatRow(test, tuple(_cell(r, key, test, alive) for key, r in zip(keys, reports, strict=True)))
            for test in chosen
        )
        if rows:
            groups.append(HeatGroup(title, f"{explained} {_limits_of(reports, kinds[0])}", rows))
    shown = [cell for group in groups for row in group.rows for cell in row.cells if cell is not None]
    failed = [cell.survives for cell in shown if cell.verdict == "FAIL"]
    return HeatMap(tuple(keys), tuple(groups), sum(c.p_value is not None for c in held), len(failed), sum(failed))


class _Measured(Protocol):
    @property
    def measures(self) -> list[StressMeasure]: ...


def own_measures(report: _Measured, test: str) -> list[StressMeasure]:
    """Returns the measures of one test under the judge's own prompt, including strata."""
    return [measure for measure in report.measures if (measure.arm, measure.stratum) == (BASELINE, test)]


def _limits_of(reports: Sequence[StressReport], kind: TestKind) -> str:
    """States the limits in words, if they are the same for every judge."""
    words = {
        " and ".join(limit_words(one) for one in allowed(kind, margin=report.margin, scale=report.scale))
        for report in reports
    }
    if len(words) > 1:
        return "The limits differ between the judges; each page has its own."
    (limit,) = words
    return f"Passes at {limit}." if limit else "No limit is set."


def _cell(report: StressReport, key: str, test: StressTest, alive: dict[tuple[str, str], bool]) -> HeatCell | None:
    held = next((cell for cell in report.verdicts if cell.test == test.name), None)
    if held is None:
        return None
    found = {measure.name: measure for measure in own_measures(report, test.name) if not measure.group}
    figures = tuple(figure for names in FIGURES[test.kind] for figure in _figure(names, found))
    return HeatCell(
        href=page_name(key, test.name),
        verdict=held.verdict,
        sign=SIGNS[held.verdict],
        figures=figures,
        note=_note(held, found, shown=bool(figures)),
        survives=held.verdict == "FAIL" and alive[key, test.name],
    )


def _figure(names: Sequence[str], found: dict[str, StressMeasure]) -> list[Figure]:
    for name in names:
        measure = found.get(name)
        if measure is not None and isinstance(measure.result, EstimateRecord):
            limits = interval_words(measure, measure.result.interval)
            n = numbers.count(measure.result.denominator)
            return [Figure(value_words(measure, measure.result), _LABELS[name], limits, n)]
    return []


def _open(held: CellVerdict) -> str:
    if held.unanswered:
        return unanswered_words(held.unanswered)
    if held.needed is None or held.unit is None:
        return "more of the same would not settle it"
    settled = f"about {numbers.about(held.needed)} {numbers.units(held.unit, held.needed)} would settle it"
    return f"{settled}, leaning to a {held.leaning}"


def _note(held: CellVerdict, found: dict[str, StressMeasure], *, shown: bool) -> str:
    if held.verdict == "INCONCLUSIVE":
        return _open(held)
    if held.verdict == "N/A" and held.why != NO_LIMIT:
        return held.why
    if not held.parts and shown:
        return "no limit is set"
    if not shown:
        reasons = [m.result.reason for m in found.values() if not isinstance(m.result, EstimateRecord)]
        return reasons[0] if reasons else "not measured"
    return ""
