"""The contents of the index: the reports of all judges regrouped, with nothing added."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from umpirical.protocols.review_record import ReviewRecord
from umpirical.protocols.stress.findings import REPEATED, TITLES
from umpirical.protocols.stress.heat_map import HeatMap, heat_map
from umpirical.protocols.stress.pages.names import judge_keys
from umpirical.protocols.stress.pass_rates import PassRates, pass_rates
from umpirical.protocols.stress.record import DatasetRecord, MadeRecord, StressReport, StressTest, WriterSpendRecord
from umpirical.protocols.stress.tables import GroupTable, SideRow, by_group, side_by_side
from umpirical.reports import numbers
from umpirical.reports.record import AuditRow

OUTCOMES = ("graded", "abstained", "unparsed", "failed", "unasked")


Shared = TypeVar("Shared")

Sharing = tuple[tuple[str, ...], Shared]
"""Judges, and what they have in common."""


@dataclass(frozen=True, slots=True)
class JudgePart:
    """What the index says about a single judge."""

    key: str
    report: StressReport
    findings: tuple[tuple[str, str, str], ...]
    """Kind, title and words."""
    strata: GroupTable | None
    """Agreement with gold by stratum."""
    totals: dict[str, int]
    wrong: tuple[AuditRow, ...]
    """Rows of the audit whose outcomes do not add up to what was planned."""


@dataclass(frozen=True, slots=True)
class IndexPage:
    """The parts of the index, in order."""

    title: str
    lead: str
    """What was done, in one line."""
    heat: HeatMap
    judges: tuple[JudgePart, ...]
    tests: tuple[Sharing[tuple[StressTest, ...]], ...]
    """How the stimuli were made, once for all judges that were shown the same."""
    datasets: tuple[Sharing[DatasetRecord], ...]
    rates: PassRates
    """How often each judge gives the expected label, by test."""
    writing: tuple[Sharing[tuple[WriterSpendRecord, ...]], ...]
    """What writing the stimuli took; empty for judges whose stimuli no model wrote."""
    reviews: tuple[Sharing[ReviewRecord | None], ...]
    """None for judges whose texts were not reviewed."""
    agreement: tuple[tuple[StressTest, tuple[SideRow, ...]], ...]
    """By test, the user's own texts first."""
    stability: tuple[tuple[StressTest, tuple[SideRow, ...]], ...]
    policy: tuple[str, ...]
    """The sentences of all judges, each once."""
    non_claims: tuple[str, ...]


def index_page(reports: Sequence[StressReport]) -> IndexPage:
    """Returns the index of these reports."""
    keys = judge_keys(reports)
    return IndexPage(
        title=", ".join(dict.fromkeys(report.dataset.name for report in reports)),
        lead=_lead(reports),
        heat=heat_map(reports),
        judges=tuple(_judge(key, report) for key, report in zip(keys, reports, strict=True)),
        tests=_shared(keys, [tuple(report.tests) for report in reports]),
        datasets=_shared(keys, [report.dataset for report in reports]),
        rates=pass_rates(reports, keys),
        writing=_shared(keys, [tuple(report.writing) for report in reports]),
        reviews=_shared(keys, [report.review for report in reports]),
        agreement=(*side_by_side(reports, "original"), *side_by_side(reports, "given-label")),
        stability=side_by_side(reports, "repeats", also=_repeated(reports)),
        policy=tuple(dict.fromkeys(sentence for report in reports for sentence in report.policy)),
        non_claims=tuple(dict.fromkeys(sentence for report in reports for sentence in report.non_claims)),
    )


def unaccounted(test: StressTest) -> int:
    """Returns how many wanted stimuli have no record; negative if more are recorded than were wanted."""
    if test.kind in {"original", "repeats"}:
        return 0  # originals are shown as they are: nothing had to be made
    made = test.made
    return made.wanted - made.proved - made.accepted - made.given_up - made.unchanged - sum(made.skipped.values())


def _repeated(reports: Sequence[StressReport]) -> list[StressTest]:
    """Returns repeats that were asked only for the sake of other tests."""
    measured = {measure.stratum for report in reports for measure in report.measures if measure.name == "flip-rate"}
    tests = {test.name for report in reports for test in report.tests}
    about = "Originals asked several times, to tell a change from the judge's own noise."
    return [
        StressTest(name=name, title=title, about=about, kind="repeats", made=MadeRecord(wanted=0))
        for name, title in REPEATED.items()
        if name in measured - tests
    ]


def _lead(reports: Sequence[StressReport]) -> str:
    judges, tests = len(reports), len({test.name for report in reports for test in report.tests})
    sampled = dict.fromkeys(numbers.count(report.dataset.sampled) for report in reports)
    items = f"{' or '.join(sampled)} of the user's own items"
    counted = f"{numbers.count(judges)} {numbers.units('judge', judges)}"
    return f"{counted} under {numbers.count(tests)} {numbers.units('test', tests)}, made from {items}."


def _judge(key: str, report: StressReport) -> JudgePart:
    original = next((test for test in report.tests if test.kind == "original"), None)
    columns = ("planned", *OUTCOMES)
    return JudgePart(
        key=key,
        report=report,
        findings=tuple((one.kind, TITLES[one.kind], one.words) for one in report.findings),
        strata=by_group(report, original) if original else None,
        totals={column: sum(getattr(row, column) for row in report.audit) for column in columns},
        wrong=tuple(r for r in report.audit if r.planned != sum(getattr(r, outcome) for outcome in OUTCOMES)),
    )


def _shared(keys: Sequence[str], values: Sequence[Shared]) -> tuple[Sharing[Shared], ...]:
    """Returns each distinct value once, with the judges that have it: judges of one study share most values."""
    seen: list[Sharing[Shared]] = []
    for key, value in zip(keys, values, strict=True):
        place = next((number for number, (_, other) in enumerate(seen) if other == value), None)
        if place is None:
            seen.append(((key,), value))
        else:
            seen[place] = ((*seen[place][0], key), value)
    return tuple(seen)
