"""The first screen of a stress report: what the checks come to, in plain words, and failures to look at."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from umpirical.domain.measures import Estimate
from umpirical.domain.trials import BASELINE
from umpirical.protocols.steps import next_steps
from umpirical.protocols.stress.heat_map import page_name
from umpirical.protocols.stress.policy import TestKind, interval_words, value_words
from umpirical.protocols.stress.record import StressMeasure, StressReport, WorstItem
from umpirical.protocols.stress.verdicts import checks_held
from umpirical.reports.charts import NotDrawn
from umpirical.reports.checks import NO_VERDICT
from umpirical.reports.gate import HeldCheck
from umpirical.reports.overview import (
    CheckRow,
    DotRow,
    Failure,
    Overview,
    Step,
    first_screen,
    measured,
    more_words,
    one_of_each,
    short,
    short_diff,
    tile_of,
    worst_first,
)
from umpirical.reports.record import CheckVerdict, MeasureRecord
from umpirical.reports.tiles import Tile

TILES: Mapping[str, tuple[TestKind, ...]] = {
    "Same verdict": ("same-verdict",),
    "Changed verdict": ("flipped-verdict",),
    "Repeated requests": ("repeats",),
    "New texts": ("given-label",),
    "Agreement": ("original",),
}
"""The kinds of tests whose checks feed each tile; the last tile is about replies that could not be used."""

SAYS: Mapping[str, str] = {
    "excess-change": "{test}: its verdicts change by {value} more than when a request is repeated.",
    "change-rate": "{test}: it changes {value} of its verdicts, which should stay the same.",
    "shift-equivalence": "{test}: its grades move by {value} on average.",
    "grade-shift": "{test}: its grades move by {value} on average.",
    "flip-detection": "{test}: it detects only {value} of the changes.",
    "flip-rate": "Asked the same again, it gives another answer in {value} of pairs.",
    "weighted-kappa": "It agrees with your labels only {value} beyond chance, where 1 is perfect.",
    "krippendorff-alpha": "It agrees with your labels only {value} beyond chance, where 1 is perfect.",
    "agreement-beyond-length": "Beyond what length explains, its agreement with your labels is only {value} of 1.",
    "unparsed-rate": "{value} of its replies cannot be read.",
    "failure-rate": "{value} of its calls failed.",
}
"""What a judge that fails a check does, in plain words. {test} is what the texts were changed by."""

HINTS: Mapping[str, str] = {
    "excess-change": "tell it to ignore everything that the rubric does not name",
    "change-rate": "tell it to ignore everything that the rubric does not name",
    "shift-equivalence": "tell it to ignore everything that the rubric does not name",
    "flip-detection": "have it go through the rubric point by point",
    "flip-rate": "lower the temperature",
    "weighted-kappa": "give it examples with your labels",
    "krippendorff-alpha": "give it examples with your labels",
    "agreement-beyond-length": "tell it to ignore length",
    "unparsed-rate": "ask for a fixed reply format, such as one JSON field",
}
"""What may help a judge that fails a check most of all."""

GRADES = ("shift-equivalence", "grade-shift")


@dataclass(frozen=True, slots=True)
class StressScreen:
    """What the first screen says of one judge."""

    overview: Overview
    checks: tuple[CheckRow, ...]
    steps: tuple[Step, ...]
    dots: tuple[DotRow, ...]
    """A line for each test: the check that decides it."""


def tiles(report: StressReport) -> list[Tile]:
    """Returns the tiles of a judge, always all six."""
    return _tiles(report, rows_of(report))


def _tiles(report: StressReport, rows: Sequence[CheckRow]) -> list[Tile]:
    kinds = {test.name: test.kind for test in report.tests}
    made = {*kinds.values()}
    return [
        tile_of(
            name,
            [row for row in rows if kinds.get(row.part) in chosen],
            without="the policy has no check on it" if made & {*chosen} else "no such test was run",
        )
        for name, chosen in TILES.items()
    ] + [tile_of("Unusable replies", [row for row in rows if row.measure in NO_VERDICT])]


def rows_of(report: StressReport) -> list[CheckRow]:
    """Returns every check as the decision counts it, beside the value that it rests on."""
    found = {(one.stratum, one.name): one for one in report.measures if one.variant == BASELINE and not one.group}
    ends = {(cell.test, part.measure): (part.least, part.most) for cell in report.verdicts for part in cell.parts}
    ends |= {("", check.measure): (None, check.value) for check in report.answered}
    return [
        _row(report, check, found.get((check.stratum, check.measure)), ends.get((check.stratum, check.measure)), place)
        for place, check in enumerate(checks_held(report), start=1)
    ]


def _row(
    report: StressReport,
    check: HeldCheck,
    measure: StressMeasure | None,
    limits: tuple[float | None, float | None] | None,
    place: int,
) -> CheckRow:
    verdicts: dict[str, CheckVerdict] = {"fail": "FAIL", "pass": "PASS", "open": "INCONCLUSIVE"}
    verdict = check.verdict if check.verdict == "N/A" else verdicts.get(check.effect, check.verdict)
    span = report.scale.range
    seen = measured(
        measure,
        *(limits or (None, None)),
        check.allowed,
        ends=(-span, span) if span and measure and measure.scale == "steps" else (-1.0, 1.0) if measure else None,
        written=_written,
    )
    return CheckRow(
        measure=check.measure,
        part=check.stratum,
        title=check.title,
        about=check.title[:1].lower() + check.title[1:],
        verdict=verdict,
        decides=check.effect != "noted",
        threshold=check.allowed,
        why=check.why.removeprefix(f"{measure.title}: ") if measure else check.why,
        chance=verdict == "INCONCLUSIVE" and check.verdict == "FAIL",
        more=more_words(check.more_needed, check.unit) if verdict == "INCONCLUSIVE" else "",
        anchor=f"check-{place}",
        **seen,
    )


def _written(measure: MeasureRecord, estimate: Estimate) -> tuple[str, str]:
    unit = " grades" if measure.name in GRADES else ""
    return f"{value_words(measure, estimate)}{unit}", interval_words(measure, estimate.interval)


def screen_of(report: StressReport, key: str) -> StressScreen:
    """Returns what the first screen says of a judge, which the page calls `key`."""
    rows, titles = rows_of(report), {test.name: test.title for test in report.tests}

    def says(row: CheckRow) -> str:
        return SAYS.get(row.measure, "").replace("{test}", titles.get(row.part, row.part))

    return StressScreen(
        overview=first_screen(rows, report.decision, says, _tiles(report, rows), _failures(report, rows)),
        checks=tuple(rows),
        steps=tuple(
            next_steps(report, report.decision, rows, HINTS, data="Add items, or raise “sample” in the study file")
        ),
        dots=tuple(_dots(report, rows, key)),
    )


def _dots(report: StressReport, rows: Sequence[CheckRow], key: str) -> Iterable[DotRow]:
    for test in report.tests:
        held = worst_first([row for row in rows if row.part == test.name])
        href = page_name(key, test.name)
        if held and held[0].value:
            row = held[0]
            yield DotRow(test.title, row.cell, row.value, sign=row.sign, word=row.verdict, href=href)
        else:
            note = held[0].why if held else next(one.why for one in report.verdicts if one.test == test.name)
            yield DotRow(test.title, NotDrawn(note), "–", sign="–", word="N/A", href=href, note=note)


def _failures(report: StressReport, rows: Sequence[CheckRow]) -> list[Failure]:
    order = list(dict.fromkeys([row.part for row in worst_first(rows)] + [test.name for test in report.tests]))
    items = sorted(report.worst, key=lambda item: order.index(item.test))
    tests = {test.name: test for test in report.tests}
    chosen = one_of_each(items, lambda item: item.test)
    return [_failure(item, tests[item.test].title, tests[item.test].kind) for item in chosen]


def _failure(item: WorstItem, title: str, kind: TestKind) -> Failure:
    both = bool(item.original and item.changed)
    now, before = (", ".join(said) or "no verdict" for said in (item.verdicts_changed, item.verdicts_original))
    right = {
        "same-verdict": f"as before the change: {before}",
        "repeats": "the same answer each time",
    }.get(kind, item.required or item.gold or "unknown")
    return Failure(
        title=title,
        task="",
        answers=() if both else (("Text", short(item.changed or item.original)),),
        said=now if item.verdicts_changed else before,
        right=right,
        diff=short_diff(item.original, item.changed) if both else (),
    )
