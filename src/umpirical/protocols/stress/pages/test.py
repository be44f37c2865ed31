"""The contents of the page for one test of one judge."""

from collections.abc import Sequence
from dataclasses import dataclass

from umpirical.protocols.stress.heat_map import HeatCell, own_measures
from umpirical.protocols.stress.pages.diffs import Stretch, compare_words, show_text
from umpirical.protocols.stress.policy import ANY_DIFFERENCE, TestKind
from umpirical.protocols.stress.record import CellVerdict, StressMeasure, StressReport, StressTest, WorstItem
from umpirical.protocols.stress.tables import GroupTable, by_group

EXPECTED: dict[TestKind, str] = {
    "same-verdict": "The verdict on the changed text should be the judge's own verdict on the original.",
    "flipped-verdict": "The verdict should move from that on the original to the label that the changed text requires.",
    "repeats": "The same request, asked again, should be answered alike. Whether the answer is right is no part of it.",
    "given-label": "The verdict should be the label that the text was written for.",
    "original": "The verdict on the user's own text should be its gold label.",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """One of the worst items, as the page shows it."""

    item: WorstItem
    text: tuple[Stretch, ...]
    """A diff if the text was changed, otherwise the text."""
    is_diff: bool
    same: bool
    """Whether both texts are in the record and do not differ."""


@dataclass(frozen=True, slots=True)
class StressPage:
    """The parts of the page, in order."""

    key: str
    """The judge's name on the index."""
    report: StressReport
    test: StressTest
    verdict: CellVerdict
    cell: HeatCell
    expected: str
    measures: tuple[StressMeasure, ...]
    strata: GroupTable | None
    worst: tuple[Shown, ...]
    others: tuple[tuple[str, str], ...]
    """The same test of the other judges: name and file."""


def stress_page(
    report: StressReport, test: StressTest, *, key: str, cell: HeatCell, others: Sequence[tuple[str, str]] = ()
) -> StressPage:
    """Returns the page of one test."""
    return StressPage(
        key=key,
        report=report,
        test=test,
        verdict=next(one for one in report.verdicts if one.test == test.name),
        cell=cell,
        expected=_expected(report, test),
        measures=tuple(measure for measure in own_measures(report, test.name) if not measure.group),
        strata=by_group(report, test),
        worst=tuple(_shown(item) for item in report.worst if item.test == test.name),
        others=tuple(others),
    )


def _expected(report: StressReport, test: StressTest) -> str:
    """Says what the judge should do and, on an interval scale, what counts as a different verdict."""
    is_about_change = report.scale.kind == "interval" and test.kind in {"same-verdict", "repeats"}
    return f"{EXPECTED[test.kind]} {ANY_DIFFERENCE}" if is_about_change else EXPECTED[test.kind]


def _shown(item: WorstItem) -> Shown:
    both = bool(item.original and item.changed)
    same = both and item.original == item.changed
    if both and not same:
        return Shown(item, compare_words(item.original, item.changed), is_diff=True, same=False)
    return Shown(item, show_text(item.changed or item.original), is_diff=False, same=same)
