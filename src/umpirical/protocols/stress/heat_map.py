"""Tables of the pages: the heat map, pass rates, and measures side by side."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import fsum, sqrt
from typing import Protocol

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Estimate
from umpirical.domain.trials import BASELINE
from umpirical.protocols.stress.policy import (
    NO_MORE,
    NO_THRESHOLD,
    TestKind,
    allowed,
    check_words,
    interval_words,
    unanswered_words,
    value_words,
)
from umpirical.protocols.stress.record import CellVerdict, StressMeasure, StressReport, StressTest, WriterSpendRecord
from umpirical.reports import numbers
from umpirical.reports.record import CheckVerdict, SpendRecord
from umpirical.reports.significance import survivors

SIGNS: dict[CheckVerdict, str] = {"PASS": "✓", "FAIL": "✗", "INCONCLUSIVE": "?", "N/A": "–"}

GROUPS: tuple[tuple[str, str, tuple[TestKind, ...]], ...] = (
    (
        "Verdict should stay the same",
        "How many more verdicts change than when a request is repeated, and how far grades move on average.",
        ("same-verdict",),
    ),
    (
        "Verdict should change",
        "How many verdicts change as the changed text requires.",
        ("flipped-verdict",),
    ),
    ("Repeated requests", "How many pairs of answers to one request differ.", ("repeats",)),
    ("Agreement with labels", "How many texts get their gold label.", ("original", "given-label")),
)

FIGURES: dict[TestKind, tuple[tuple[str, ...], ...]] = {
    "same-verdict": (("excess-change", "change-rate"), ("shift-equivalence", "grade-shift")),
    "flipped-verdict": (("flip-detection",),),
    "repeats": (("flip-rate",),),
    "original": (("accuracy",), ("weighted-kappa", "krippendorff-alpha"), ("agreement-beyond-length",)),
    "given-label": (("accuracy",), ("weighted-kappa",)),
}
"""What a cell shows: the first measure of each list that was measured."""

_LABELS = {
    "excess-change": "more changed",
    "change-rate": "changed",
    "shift-equivalence": "grades",
    "grade-shift": "grades",
    "flip-detection": "detected",
    "flip-rate": "differ",
    "accuracy": "exact",
    "weighted-kappa": "weighted κ",
    "krippendorff-alpha": "α",
    "agreement-beyond-length": "beyond length",
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
    verdict: CheckVerdict
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
    """Number of cells that were held to a check."""
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
            groups.append(HeatGroup(title, f"{explained} {_checks_of(reports, kinds[0])}", rows))
    shown = [cell for group in groups for row in group.rows for cell in row.cells if cell is not None]
    failed = [cell.survives for cell in shown if cell.verdict == "FAIL"]
    return HeatMap(tuple(keys), tuple(groups), sum(c.p_value is not None for c in held), len(failed), sum(failed))


class _Measured(Protocol):
    @property
    def measures(self) -> list[StressMeasure]: ...


def own_measures(report: _Measured, test: str) -> list[StressMeasure]:
    """Returns the measures of one test under the judge's own prompt, including strata."""
    return [measure for measure in report.measures if (measure.variant, measure.stratum) == (BASELINE, test)]


def _checks_of(reports: Sequence[StressReport], kind: TestKind) -> str:
    """States the thresholds in words, if they are the same for every judge."""
    words = {
        " and ".join(
            check_words(one)
            for one in allowed(kind, margin=report.margin, scale=report.scale, policy=report.own_policy)
        )
        for report in reports
    }
    if len(words) > 1:
        return "Thresholds differ between judges; see each page."
    (check,) = words
    return f"Threshold: {check}." if check else "No threshold is set."


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
        if measure is not None and isinstance(measure.result, Estimate):
            ends = interval_words(measure, measure.result.interval)
            n = numbers.count(measure.result.denominator)
            return [Figure(value_words(measure, measure.result), _LABELS[name], ends, n)]
    return []


def _open(held: CellVerdict) -> str:
    if held.unanswered:
        return unanswered_words(held.unanswered)
    if held.needed is None or held.unit is None:
        return NO_MORE
    needed = f"needs about {numbers.about(held.needed)} {numbers.units(held.unit, held.needed)}"
    return f"{needed}, leans toward a {held.leaning}"


def _note(held: CellVerdict, found: dict[str, StressMeasure], *, shown: bool) -> str:
    if held.verdict == "INCONCLUSIVE":
        return _open(held)
    if held.verdict == "N/A" and held.why != NO_THRESHOLD:
        return held.why
    if not held.parts and shown:
        return "no threshold is set"
    if not shown:
        reasons = [m.result.reason for m in found.values() if not isinstance(m.result, Estimate)]
        return reasons[0] if reasons else "not measured"
    return ""


# How often each judge gives the expected label, test by test: the tables of the Judge Reliability Harness.


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
    if measure is None or not isinstance(measure.result, Estimate):
        return ""
    return f"shade-{min(int(measure.result.value * SHADES), SHADES - 1)}"


def _measure(report: Tested, test: str, name: str) -> StressMeasure | None:
    found = (one for one in own_measures(report, test) if one.name == name and not one.group)
    return next(found, None)


def _spread(cells: Sequence[StressMeasure | None]) -> Spread | None:
    rates = [cell.result.value for cell in cells if cell is not None and isinstance(cell.result, Estimate)]
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


# Measures side by side, for the pages: by judge, and by the user's strata.


HEADLINES: dict[TestKind, tuple[str, ...]] = {
    "same-verdict": ("change-rate", "excess-change", "grade-shift"),
    "flipped-verdict": ("flip-detection", "right-on-both"),
    "repeats": ("flip-rate", "modal-share", "repeat-icc"),
    "given-label": ("accuracy", "mean-absolute-error", "grade-bias", "weighted-kappa"),
    "original": ("accuracy", "mean-absolute-error", "grade-bias", "weighted-kappa"),
}
"""The measures that are shown by stratum; the record has every measure by stratum."""


@dataclass(frozen=True, slots=True)
class SideRow:
    """One measure, with a cell for each judge."""

    measure: StressMeasure
    """The measure of the first judge that has it, for its title and meaning."""
    cells: tuple[StressMeasure | None, ...]


@dataclass(frozen=True, slots=True)
class GroupTable:
    """Strata by measures."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, tuple[StressMeasure | None, ...]], ...]
    """The stratum, and a cell for each measure. The first row covers all items."""


def side_by_side(
    reports: Sequence[StressReport], kind: TestKind, *, also: Sequence[StressTest] = ()
) -> tuple[tuple[StressTest, tuple[SideRow, ...]], ...]:
    """Returns the tests of a kind and those in `also`, with every measure over all items, in report order."""
    tests = {test.name: test for report in reports for test in report.tests if test.kind == kind}
    tests |= {test.name: test for test in also}
    return tuple((test, rows) for name, test in tests.items() if (rows := _rows(reports, name)))


def _rows(reports: Sequence[StressReport], test: str) -> tuple[SideRow, ...]:
    rows: dict[str, dict[int, StressMeasure]] = {}
    for place, report in enumerate(reports):
        for measure in own_measures(report, test):
            if not measure.group:
                rows.setdefault(measure.name, {})[place] = measure
    places = range(len(reports))
    return tuple(SideRow(next(iter(row.values())), tuple(map(row.get, places))) for row in rows.values())


def by_group(report: StressReport, test: StressTest) -> GroupTable | None:
    """Returns the headline measures of a test by stratum; None without strata. An empty column is left out."""
    found = {(measure.group, measure.name): measure for measure in own_measures(report, test.name)}
    groups = list(dict.fromkeys(group for group, _ in found if group))
    names = [
        name
        for name in HEADLINES[test.kind]
        if any(isinstance(one.result, Estimate) for (_, its), one in found.items() if its == name)
    ]
    if not groups or not names:
        return None
    titles = {measure.name: measure.title for measure in found.values()}
    return GroupTable(
        titles=tuple(titles[name] for name in names),
        rows=tuple(
            (group or "all items", tuple(found.get((group, name)) for name in names)) for group in ("", *groups)
        ),
    )


# File names that are safe everywhere, whatever a judge or a test is called

INDEX = "index.html"


LONGEST = 60
"""Most characters of a name; a file name has room for two of them and the extension."""


def page_name(judge: str, test: str) -> str:
    """Returns the file name for one test of one judge.

    >>> page_name("gpt-4o", "label-flip"), page_name("../GPT 4o", "label-flip")
    ('gpt-4o--label-flip.html', 'gpt-4o-47ea215b--label-flip.html')
    """
    return f"{_safe(judge)}--{_safe(test)}.html"


def judge_keys(reports: Sequence[StressReport]) -> list[str]:
    """Returns distinct names for the reports: the judge's name, with its run if a judge occurs twice."""
    times = Counter(report.judge.name for report in reports)
    keys = [r.judge.name if times[r.judge.name] == 1 else f"{r.judge.name} {r.run.id}" for r in reports]
    if repeated := [key for key, number in Counter(keys).items() if number > 1]:
        raise UsageError(f"the same run is named twice: {', '.join(repeated)}", fix="name each run once")
    return keys


def _safe(name: str) -> str:
    """Keeps lower-case letters, digits and single hyphens; a name with any other character gets a digest.

    So does a name that looks as if it already had a digest.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST].strip("-")
    if plain and plain == name and not re.search(r"-[0-9a-f]{8}$", name):
        return plain
    return f"{plain or 'x'}-{digest('file name', name)[:8]}"
