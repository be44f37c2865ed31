"""Measures side by side, for the pages: by judge, and by the user's strata."""

from collections.abc import Sequence
from dataclasses import dataclass

from umpirical.protocols.stress.heat_map import own_measures
from umpirical.protocols.stress.policy import TestKind
from umpirical.protocols.stress.record import StressMeasure, StressReport, StressTest
from umpirical.reports.record import EstimateRecord

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
        if any(isinstance(one.result, EstimateRecord) for (_, its), one in found.items() if its == name)
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
