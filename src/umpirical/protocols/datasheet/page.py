"""The datasheet as one HTML file: the record regrouped, nothing added.

First an overview that fits on two screens, then everything, folded: a link to a folded part opens it. It has no script,
fetches nothing, and shows text from outside as inert text.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from typing import Any

from umpirical.domain.measures import Estimate, Interval
from umpirical.domain.trials import BASELINE
from umpirical.measures.catalogue import MEASURES, Scale
from umpirical.measures.estimates.pairs import CONTROLS
from umpirical.protocols.datasheet import charts, reading
from umpirical.protocols.datasheet.charts import LevelGrades, levels
from umpirical.protocols.datasheet.overview import overview_of
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.spec import SHELF
from umpirical.protocols.datasheet.tiles import anchors, worst_part
from umpirical.reports import numbers
from umpirical.reports.charts import NotDrawn
from umpirical.reports.decision import DecisionRecord
from umpirical.reports.facts import OUTCOMES, unbalanced
from umpirical.reports.overview import Overview, blank_words
from umpirical.reports.pages import (
    Card,
    Section,
    decided_lead,
    environment,
    folds_of,
    plain,
    render_card,
    render_sections,
    sections_of,
)
from umpirical.reports.parts import part_words
from umpirical.reports.record import AuditRow, CheckRecord, MeasureRecord, PartRecord

ONLY_OF = {"position_1": "compare", "position_2": "compare", "tie": "compare", "graded": "grade"}
"""Outcomes that only one kind of judge has. The other kind has no such column, unless something is in it."""

FITTED = ("latent", "p-value", "ratio")
"""Scales of fitted parameters, which are shown in one table and not among the ratings."""

CURVE = ("target-sensitivity", "detection-threshold")
LAYOUT = {
    "slot-effect": "Position",
    "label-effect": "Label",
    "list-effect": "List order",
    "tie-place-effect": "Place of the tie",
}
"""Effects of the layout, which are shown in one table and not among the ratings, and what each is the effect of."""
FOLLOWING = (
    "task-following",
    "task-blind-preference",
    "task-reversal",
    "one-version-preference",
    "neither-version-preference",
)
"""The five that sum to 1, which are shown in one table."""
FIGURES = ("figure-sensitivity", "figure-following", "figure-blind-preference")
FINE = "fine-sensitivity"
STABLE, POSITIONAL = "stable-cross-sensitivity", "positional-false-preference"


def _section(name: str, **options: Any) -> Section:  # noqa: ANN401  # those of a section
    return Section(name, ("datasheet",), file=f"sections/{name}.html", **options)


SECTIONS = (
    _section("ratings"),
    _section("decision"),
    _section("conditions"),
    _section(
        "following", shown=lambda sheets: any(measure.name in (*FOLLOWING, *FIGURES) for measure in sheets[0].measures)
    ),
    _section("curve"),
    _section("equal", shown=lambda sheets: sheets[0].judge.kind == "compare"),
    _section("grades", shown=lambda sheets: sheets[0].judge.kind == "grade"),
    _section("criterion"),
    _section("model", shown=lambda sheets: any(_is_fitted(measure) for measure in sheets[0].measures)),
    _section("smallest", shown=lambda sheets: bool(sheets[0].smallest_differences)),
    _section("stimuli"),
    _section("failures"),
    _section("trouble"),
    _section("reasoning", shown=lambda sheets: sheets[0].reasoning is not None),
    _section("audit"),
    _section("spend"),
    _section("claims"),
    _section("identity"),
    _section("reproduce"),
    _section("terms"),
)
"""The folded sections of the page, in order."""


@dataclass(frozen=True, slots=True)
class Rating:
    """One row of the ratings: a measure, the check it is held to, or both."""

    measure: MeasureRecord | None
    """None for a check on something that was not measured."""
    check: CheckRecord | None


@dataclass(frozen=True, slots=True)
class Transform:
    """What one surface transform does at equal quality."""

    name: str
    stable: MeasureRecord | None
    positional: MeasureRecord | None


@dataclass(frozen=True, slots=True)
class LayoutEffect:
    """What one factor of the layout does on pairs with nothing to prefer."""

    factor: str
    about: str
    equal: MeasureRecord | None
    """On equally good answers."""
    identical: MeasureRecord | None


@dataclass(frozen=True, slots=True)
class Control:
    """What the judge does with pairs that are no surface transforms of each other and have no better answer either."""

    name: str
    parts: tuple[MeasureRecord | None, ...]
    """In the order of the decomposition."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Everything that was measured in one variant."""

    name: str
    ratings: tuple[tuple[Rating, ...], ...]
    """The headline measures, grouped by measure."""
    groups: tuple[tuple[MeasureRecord, ...], ...]
    """All measures in the order of the record, grouped by name and meaning."""
    curve: charts.Curve | NotDrawn
    steps: tuple[MeasureRecord, ...]
    stack: charts.Stack | NotDrawn
    parts: tuple[MeasureRecord, ...]
    transforms: tuple[Transform, ...]
    layout: tuple[LayoutEffect, ...]
    """Empty where the layout was not varied."""
    following: tuple[MeasureRecord, ...]
    """Over all steps; empty where the ladder is not crossed."""
    figures: tuple[MeasureRecord, ...]
    fine: tuple[MeasureRecord, ...]
    """Fine differences, by size, by kind and by length; empty where the design has none."""
    controls: tuple[Control, ...]
    grades: charts.GradeChart | NotDrawn
    levels: tuple[LevelGrades, ...]
    by_key: dict[tuple[str, str], MeasureRecord]
    measures: tuple[MeasureRecord, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit rows with their sums."""

    rows: tuple[AuditRow, ...]
    """Steps of a ladder, each with its parts merged; the record keeps them apart."""
    outcomes: tuple[str, ...]
    totals: dict[str, int]
    wrong: tuple[AuditRow, ...]
    """Rows of the record whose outcomes do not add up to what was planned."""


@dataclass(frozen=True, slots=True)
class Page:
    """The parts of a datasheet in the form that the templates need."""

    overview: Overview
    variants: tuple[Variant, ...]
    by_variant: dict[str, dict[tuple[str, str], MeasureRecord]]
    """Every measure, by variant, name and part."""
    anchors: dict[tuple[str, str, str], str]
    """Where each check of the own prompt is, by prompt variant, measure and part."""
    titles: dict[str, str]
    """Titles of the measures, by name."""
    policy: str
    """The policy, with its digest."""
    audit: Audit
    methods: dict[tuple[float, str], int]
    planning_methods: dict[tuple[float, str], int]
    has_true_value: bool
    operating: charts.OperatingPlot | NotDrawn
    shifts: tuple[MeasureRecord, ...]
    fitted: tuple[tuple[MeasureRecord, ...], ...]
    """Each fitted parameter with its parts, once for each variant that has it."""
    failing: tuple[tuple[str, PartRecord], ...]
    """Where the judge fails: what it fails at, and the part, those that fail most clearly first."""


def render_html(datasheet: Datasheet) -> str:
    """Renders the page of a datasheet. The same record gives the same text, which can always be encoded as UTF-8."""
    templates = environment("umpirical.protocols.datasheet")
    values = {
        "sheet": datasheet,
        "judge": datasheet.judge,
        "run": datasheet.run,
        "page": page_of(datasheet),
        "true_value_words": true_value_words,
        "part_words": part_words,
        "reading": reading,
        "blank_words": blank_words,
    }
    sections = render_sections(templates, sections_of("datasheet", SECTIONS), [datasheet], values)
    return templates.get_template("page.html").render(**values, folds=folds_of(sections))


def page_of(datasheet: Datasheet) -> Page:
    """Returns the parts of a datasheet's page."""
    measures = datasheet.measures
    names = dict.fromkeys([*datasheet.run.variants, *(measure.variant for measure in measures)])
    by_variant = {name: [measure for measure in measures if measure.variant == name] for name in names}
    variants = tuple(_variant(datasheet, name, own) for name, own in by_variant.items())
    worst = [found for check in datasheet.checks if (found := worst_part(datasheet, check))]
    return Page(
        overview=overview_of(datasheet),
        anchors=anchors(datasheet),
        variants=variants,
        by_variant={variant.name: variant.by_key for variant in variants},
        titles={measure.name: measure.title for measure in measures},
        policy=SHELF.words(datasheet.policy) if datasheet.policy else "none",
        audit=_audit(datasheet.audit, datasheet.judge.kind),
        methods=_methods([*measures, *worst], "interval"),
        planning_methods=_methods(measures, "planning_interval"),
        has_true_value=any(measure.true_value is not None for measure in measures),
        operating=charts.operating_plot(by_variant),
        shifts=tuple(measure for measure in measures if _is_shift(measure)),
        fitted=_fitted(measures, list(names)),
        failing=_failing(datasheet.checks),
    )


MOST_FAILING = 6


def _failing(checks: Sequence[CheckRecord]) -> tuple[tuple[str, PartRecord], ...]:
    found = [(check.title, one) for check in checks if check.variant == BASELINE for one in check.failing]
    return tuple(sorted(found, key=lambda row: -row[1].bound)[:MOST_FAILING])


def ratings_of(datasheet: Datasheet, variant: str) -> list[Rating]:
    """Returns measures that have a check or cover the whole, in the order of the record; unmeasured checks come last.

    A probe shows only measures that have a check: the rest are in the table of all measures.
    """
    measures = [measure for measure in datasheet.measures if measure.variant == variant]
    held = {(check.measure, check.stratum): check for check in datasheet.checks if check.variant == variant}
    only_held = variant != BASELINE and held
    rows = [
        Rating(measure, check)
        for measure in measures
        for check in [held.get((measure.name, measure.stratum))]
        if check or (not only_held and _is_rated(measure))
    ]
    measured = {(measure.name, measure.stratum) for measure in measures}
    rest = (Rating(worst_part(datasheet, check), check) for key, check in held.items() if key not in measured)
    return [*rows, *rest]


def true_value_words(measure: MeasureRecord) -> str:
    """Says whether the true value lies inside the measured interval."""
    estimate = measure.result
    if measure.true_value is None or not isinstance(estimate, Estimate) or estimate.interval is None:
        return "no interval"
    low, high = estimate.interval.low, estimate.interval.high
    inside = (low is None or low <= measure.true_value) and (high is None or measure.true_value <= high)
    return "inside" if inside else "outside"


def _variant(datasheet: Datasheet, name: str, measures: Sequence[MeasureRecord]) -> Variant:
    in_parts = [part for part, _ in charts.PARTS]
    # Measures that have a check come first: they decide.
    held = {check.measure for check in datasheet.checks}
    ratings = sorted(ratings_of(datasheet, name), key=lambda rating: _of(rating) not in held)
    grades = [row for row in datasheet.grades if row.variant == name]
    return Variant(
        name=name,
        ratings=tuple(tuple(group) for _, group in groupby(ratings, key=_of)),
        groups=tuple(tuple(group) for _, group in groupby(measures, key=lambda m: (m.name, m.title, m.about))),
        curve=charts.psychometric_curve(measures),
        steps=tuple(sorted((m for m in measures if m.name in CURVE), key=_step)),
        stack=charts.decomposition(measures),
        parts=tuple(
            sorted((m for m in measures if m.name in in_parts and not m.stratum), key=lambda m: in_parts.index(m.name))
        ),
        transforms=_transforms(measures),
        layout=_layout(measures),
        following=_whole(measures, FOLLOWING),
        figures=_whole(measures, FIGURES),
        fine=tuple(measure for measure in measures if measure.name == FINE),
        controls=_controls(measures),
        grades=charts.grade_chart(grades),
        levels=tuple(levels(grades)),
        by_key={(measure.name, measure.stratum): measure for measure in measures},
        measures=tuple(measures),
    )


def _is_rated(measure: MeasureRecord) -> bool:
    return not (measure.stratum or measure.scale in FITTED or measure.name in LAYOUT or _is_shift(measure))


def _is_shift(measure: MeasureRecord) -> bool:
    """Whether it compares a variant with the baseline. A record may hold a measure that is not installed here."""
    return measure.name in MEASURES.names() and MEASURES.get(measure.name).between_variants


def _is_fitted(measure: MeasureRecord) -> bool:
    return measure.scale in FITTED and not _is_shift(measure)


def _step(measure: MeasureRecord) -> tuple[bool, float]:
    """Sorts steps by size, with measures of the whole curve after them."""
    try:
        return measure.name != CURVE[0], float(measure.stratum or "inf")
    except ValueError:
        return True, inf


def _of(rating: Rating) -> str:
    return rating.measure.name if rating.measure else rating.check.measure if rating.check else ""


def _transforms(measures: Sequence[MeasureRecord]) -> tuple[Transform, ...]:
    found = {(m.name, m.stratum): m for m in measures if m.name in {STABLE, POSITIONAL} and m.stratum}
    names = dict.fromkeys(stratum for _, stratum in found if stratum not in CONTROLS.values())
    return tuple(Transform(name, found.get((STABLE, name)), found.get((POSITIONAL, name))) for name in names)


def _whole(measures: Sequence[MeasureRecord], names: Sequence[str]) -> tuple[MeasureRecord, ...]:
    """Those of the named measures that cover all parts, in the order of the names."""
    found = {measure.name: measure for measure in measures if not measure.stratum}
    return tuple(found[name] for name in names if name in found)


def _layout(measures: Sequence[MeasureRecord]) -> tuple[LayoutEffect, ...]:
    found = {(m.name, m.stratum): m for m in measures if m.name in LAYOUT}
    if not any(isinstance(measure.result, Estimate) for measure in found.values()):
        return ()
    return tuple(
        LayoutEffect(factor, equal.about, equal, found.get((name, "identical")))
        for name, factor in LAYOUT.items()
        if (equal := found.get((name, "")))
    )


def _controls(measures: Sequence[MeasureRecord]) -> tuple[Control, ...]:
    found = {(measure.name, measure.stratum): measure for measure in measures}
    rows = (Control(name, tuple(found.get((part, name)) for part, _ in charts.PARTS)) for name in CONTROLS.values())
    return tuple(row for row in rows if any(row.parts))


def _fitted(measures: Sequence[MeasureRecord], variants: Sequence[str]) -> tuple[tuple[MeasureRecord, ...], ...]:
    rows: dict[str, list[MeasureRecord]] = {}
    for measure in measures:
        if _is_fitted(measure):
            rows.setdefault(measure.name, []).append(measure)
    strata = list(dict.fromkeys(measure.stratum for measure in measures))
    place = {stratum: index for index, stratum in enumerate(strata)}
    return tuple(
        tuple(sorted(row, key=lambda m: (place[m.stratum], variants.index(m.variant)))) for row in rows.values()
    )


def _audit(rows: Sequence[AuditRow], kind: str) -> Audit:
    totals: Counter[str] = Counter(dict.fromkeys(("planned", *OUTCOMES), 0))
    for row in rows:
        totals.update({column: getattr(row, column) for column in totals})
    shown = tuple(outcome for outcome in OUTCOMES if totals[outcome] or ONLY_OF.get(outcome, kind) == kind)
    return Audit(rows=_merged(rows), outcomes=shown, totals=dict(totals), wrong=unbalanced(rows))


def _merged(rows: Sequence[AuditRow]) -> tuple[AuditRow, ...]:
    """Merges the parts of families with several steps: parts times steps would be more rows than anyone reads."""
    steps: dict[tuple[str, str], set[float | None]] = {}
    for row in rows:
        steps.setdefault((row.variant, row.family), set()).add(row.delta)
    merged: dict[tuple[str, str, str, float | None], AuditRow] = {}
    for row in rows:
        stratum = "" if len(steps[row.variant, row.family]) > 1 else row.stratum
        key = (row.variant, row.family, stratum, row.delta)
        before = merged.get(key)
        sums = {n: getattr(row, n) + (getattr(before, n) if before else 0) for n in ("planned", *OUTCOMES)}
        merged[key] = row.model_copy(update={**sums, "stratum": stratum})
    return tuple(merged.values())


def _methods(measures: Sequence[MeasureRecord], which: str) -> dict[tuple[float, str], int]:
    """Numbers the methods of the intervals: 0 is the most common one, which needs no footnote mark."""
    estimates = [measure.result for measure in measures if isinstance(measure.result, Estimate)]
    intervals: list[Interval | None] = [getattr(estimate, which) for estimate in estimates]
    ways = Counter((interval.level, interval.method) for interval in intervals if interval)
    return {way: number for number, (way, _) in enumerate(ways.most_common())}


# The datasheet as a card.


MAX_FINDINGS = 8


def render_markdown(datasheet: Datasheet) -> str:
    """Renders the card of a datasheet."""
    judge = datasheet.judge
    card = Card(
        protocol="datasheet",
        title=f"Judge datasheet: {plain(judge.name)}",
        lead=[*_decision(datasheet), *_findings(datasheet.findings)],
        table=lambda room: _ratings(datasheet, room=room),
        fields={"policy": SHELF.words(datasheet.policy)} if datasheet.policy else {},
    )
    return render_card(card, datasheet)


def _decision(datasheet: Datasheet) -> Iterator[str]:
    decision = datasheet.decision
    if decision is None:
        return
    yield from decided_lead(decision)
    for title, items in _lists(decision):
        if items:
            yield f"- {title}: {plain(' '.join(items))}"
    if datasheet.profile:
        yield f"- Profile: {plain(datasheet.profile.name)}"
    if datasheet.spend and datasheet.spend.cost_per_1000 is not None:
        # A dollar sign starts a formula in some Markdown.
        yield f"- Cost of 1,000 calls: {plain(numbers.dollars(datasheet.spend.cost_per_1000))}"
    yield ""


def _lists(decision: DecisionRecord) -> tuple[tuple[str, list[str]], ...]:
    return (
        ("Good for", decision.good_for),
        ("Not for", decision.not_for),
        ("Recommended use", decision.use_like_this),
        ("Not measured", decision.not_measured),
    )


def _findings(findings: Sequence[str]) -> Iterator[str]:
    yield from ("## Key findings", "")
    shown = findings if len(findings) <= MAX_FINDINGS else findings[: MAX_FINDINGS - 1]
    for finding in shown:
        yield f"- {plain(finding)}"
    if len(findings) > len(shown):
        yield f"- And {numbers.count(len(findings) - len(shown))} more in the JSON record."
    if not findings:
        yield "None of the rules applies to these measures."
    yield ""


HELD_BY = (
    "The one-sided bound decides a check, with missing answers counted against the judge. Intervals are two-sided."
)
"""Why an interval may contain the threshold although the check passes, or the other way round."""


def _ratings(datasheet: Datasheet, *, room: int) -> Iterator[str]:
    """Yields as many rows as fit, those with a check first; the JSON record has them all."""
    yield from ("## Measures and checks", "")
    if not datasheet.measures:
        yield from ("Nothing was measured.", "")
        return
    variants = dict.fromkeys(measure.variant for measure in datasheet.measures)
    rows = [(variant, row) for variant in variants for row in ratings_of(datasheet, variant)]
    rows.sort(key=lambda row: row[1].check is None)
    shown = rows[: max(0, room - 7)]
    with_variant = len(variants) > 1
    yield ("| prompt variant " if with_variant else "") + "| measure | k/n | value | 95% interval | threshold | check |"
    yield ("| --- " if with_variant else "") + "| --- | ---: | ---: | --- | --- | --- |"
    for variant, row in shown:
        scale = row.measure.scale if row.measure else "rate"
        cells = [*_cells(row), *_held(row.check, scale)]
        yield (f"| {plain(variant)} " if with_variant else "") + f"| {' | '.join(cells)} |"
    if more := len(datasheet.measures) - sum(row.measure is not None for _, row in shown):
        yield from ("", f"And {numbers.count(more)} more measures in the JSON record. {HELD_BY}")
    elif datasheet.checks:
        yield from ("", HELD_BY)
    yield ""


def _cells(row: Rating) -> Iterator[str]:
    about = row.measure or row.check
    assert about is not None  # noqa: S101  # a rating is about a measure, a check or both
    title = about.title or (row.check.measure if row.check else "")
    yield plain(title) + (f", {plain(numbers.part(about.stratum))}" if about.stratum else "")
    result = row.measure.result if row.measure else None
    if row.measure is None or result is None:
        yield from ("–", "–", "not measured")
    elif not isinstance(result, Estimate):
        yield from ("–", "Undefined", plain(result.reason))
    else:
        yield f"{numbers.measured_counts(row.measure, result)} {result.unit}s"
        yield numbers.measured_value(row.measure, result)
        yield numbers.measured_interval(row.measure, result.interval)


def _held(check: CheckRecord | None, scale: Scale = "rate") -> Iterator[str]:
    if check is None:
        yield from ("", "REPORT")
        return
    yield numbers.threshold(check.kind, check.value, check.measure)
    more = "" if check.more_needed is None or check.unit is None else (
        f", about {numbers.about(check.more_needed)} more {numbers.units(check.unit, check.more_needed)}"
    )  # fmt: skip
    bound = "" if check.bound is None else f", bound {numbers.beside(check.bound, check.value, scale)}"
    yield f"{check.verdict}{bound}{more}"
