"""A comparison as one HTML file and as one screen of Markdown, pure functions of its record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from umpirical.domain.measures import Estimate
from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet import comparison_charts as charts
from umpirical.protocols.datasheet.comparison import Comparison, SideRecord
from umpirical.protocols.datasheet.costs import Costs
from umpirical.protocols.protocol import Documents, write_documents
from umpirical.reports import numbers
from umpirical.reports.charts import DotCell, NotDrawn, dot_cell
from umpirical.reports.comparison import (
    MOST_JUDGES,
    STYLES,
    DifferenceRecord,
    Matrix,
    Overview,
    letter,
    matrices,
    overview,
)
from umpirical.reports.decision import TITLES
from umpirical.reports.pages import environment, measured_cell, plain, quoted
from umpirical.reports.policy import at
from umpirical.reports.record import CheckRecord, MeasureRecord, record_json

MOST_HINTS = 40

COLUMNS = (
    ("dark-current", "", "Blank-input preference"),
    ("raw-false-preference", "", "False preference"),
    ("stable-cross-sensitivity", "", "Wording bias"),
    ("positional-false-preference", "", "Position bias"),
    ("target-sensitivity", "1", "Accuracy at Δ1"),
    ("target-sensitivity", "5", "Accuracy at Δ5"),
    ("detection-threshold", "", "Δ75"),
)
"""Those of the Dark Current paper's Table 3."""


@dataclass(frozen=True, slots=True)
class JudgeView:
    """One judge on the page."""

    sign: str
    style: int
    side: SideRecord
    measures: list[MeasureRecord]
    """Those of its own prompt."""
    cells: list[MeasureRecord | None]
    """Those of the table."""
    price: str

    @property
    def name(self) -> str:
        return self.side.judge.name


@dataclass(frozen=True, slots=True)
class PairRow:
    """One difference between two judges, with both values."""

    record: DifferenceRecord
    values: tuple[MeasureRecord | None, MeasureRecord | None]
    difference: MeasureRecord
    cell: DotCell | NotDrawn


@dataclass(frozen=True, slots=True)
class Figures:
    """The charts of all judges."""

    axes: charts.Plane | NotDrawn
    ladders: charts.Ladders | NotDrawn
    bars: charts.Bars | NotDrawn
    orders: charts.Plane | NotDrawn


@dataclass(frozen=True, slots=True)
class CostView:
    """Cost and accuracy on the page."""

    record: Costs
    plane: charts.CostPlane | NotDrawn
    curves: charts.CostCurves | NotDrawn


def render_comparison_html(comparison: Comparison) -> str:
    """Renders the page of a comparison. The same record gives the same text, which can always be encoded as UTF-8."""
    judges = judge_views(comparison)
    hints = [one for one in comparison.differences if one.words.endswith("ahead") or one.words == "differs"]
    return (
        environment("umpirical.protocols.datasheet")
        .get_template("comparison.html")
        .render(
            comparison=comparison,
            judges=judges,
            columns=COLUMNS,
            titles=TITLES,
            figures=_figures(judges),
            costs=_costs(comparison.costs) if comparison.costs else None,
            overview=_overview(comparison),
            matrices=_matrices(comparison),
            pairs=_pairs(comparison) if len(judges) == 2 else [],
            hints=hints[:MOST_HINTS],
            more_hints=len(hints) - MOST_HINTS,
            checks=_checks(comparison.judges),
            settings=list(_settings(comparison.judges)),
            margins=list(dict.fromkeys(one.margin for one in comparison.differences)),
            letter=letter,
            at=at,
        )
    )


def judge_views(comparison: Comparison) -> list[JudgeView]:
    """Returns the judges with their signs, and what is shown of each."""
    options = comparison.costs.options if comparison.costs else []
    free = {one.judges[0] for one in options if one.kind == "judge" and one.price.basis == "free"}
    return [_view(place, side, free=place in free) for place, side in enumerate(comparison.judges)]


def _view(place: int, side: SideRecord, *, free: bool) -> JudgeView:
    variants = [measure.variant for measure in side.measures]
    own = BASELINE if BASELINE in variants else min(variants, default="")
    measures = [measure for measure in side.measures if measure.variant == own]
    found = {(measure.name, measure.stratum): measure for measure in measures}
    price = side.spend.cost_per_1000 if side.spend else None
    return JudgeView(
        sign=letter(place),
        style=place % STYLES,
        side=side,
        measures=measures,
        cells=[found.get((name, stratum)) for name, stratum, _ in COLUMNS],
        price="free" if free else "unknown" if price is None else numbers.dollars(price),
    )


def _figures(judges: Sequence[JudgeView]) -> Figures:
    marked = [charts.Marked(judge.sign, judge.style, judge.measures) for judge in judges]
    scs = ("stable-cross-sensitivity", "wording bias")
    return Figures(
        axes=charts.plane(
            marked,
            title="Blank-input preference and wording bias",
            across=("dark-current", "blank-input preference"),
            up=scs,
            size=("target-sensitivity", "1", "accuracy at Δ1"),
        ),
        ladders=charts.ladder_curves(marked),
        bars=charts.equal_quality_bars(list(_every_variant(judges))),
        orders=charts.plane(
            marked,
            title="Position bias and wording bias",
            across=("positional-false-preference", "position bias"),
            up=scs,
        ),
    )


def _costs(costs: Costs) -> CostView:
    options = [
        charts.Priced(
            sign=one.sign,
            style=one.judges[0] % STYLES,
            mark=one.kind,
            front=one.standing == "front",
            dollars=one.price.per_1000,
            accuracy=one.accuracy if isinstance(one.accuracy, Estimate) else None,
            curve=[(step.half_width, step.dollars[1] if step.dollars else None) for step in one.curve],
        )
        for one in costs.options
    ]
    judges = [option for option in options if option.mark == "judge"]
    return CostView(costs, charts.cost_plane(options, baseline=costs.baseline), charts.cost_curves(judges))


def _every_variant(judges: Sequence[JudgeView]) -> Iterator[charts.Marked]:
    """Yields each judge under its own prompt, then under each of its others."""
    for judge in judges:
        yield charts.Marked(judge.sign, judge.style, judge.measures)
        own = judge.measures[0].variant if judge.measures else ""
        for variant in dict.fromkeys(measure.variant for measure in judge.side.measures if measure.variant != own):
            measures = [measure for measure in judge.side.measures if measure.variant == variant]
            if any(measure.name == "no-preference" for measure in measures):
                yield charts.Marked(f"{judge.sign} {variant}", judge.style, measures)


def _overview(comparison: Comparison) -> Overview:
    return overview([one for one in comparison.differences if one.family == "primary"], len(comparison.judges))


def _matrices(comparison: Comparison) -> list[Matrix]:
    return matrices([one for one in comparison.differences if one.family == "primary"], len(comparison.judges))


def _pairs(comparison: Comparison) -> list[list[PairRow]]:
    """Returns the rows of two judges, those of one measure together."""
    known = [{(m.name, m.variant, m.stratum): m for m in side.measures} for side in comparison.judges]
    rows = []
    for one in comparison.differences:
        key = (one.measure, one.variant, one.stratum)
        difference = MeasureRecord(
            name=one.measure, title=one.title, about=one.about, worse=one.worse, variant=one.variant,
            stratum=one.stratum,
            scale="difference" if one.scale == "rate" else one.scale, result=one.difference,
        )  # fmt: skip
        values = known[one.first].get(key), known[one.second].get(key)
        rows.append(PairRow(one, values, difference, dot_cell(difference)))
    return [list(group) for _, group in groupby(rows, key=lambda row: (row.record.measure, row.record.variant))]


def _checks(sides: Sequence[SideRecord]) -> list[tuple[CheckRecord, list[str]]]:
    """Returns every check of the policy with each judge's verdict, under the judges' own prompts only."""
    held = [{(one.measure, one.stratum): one for one in side.checks if one.variant == BASELINE} for side in sides]
    every = {key: one for each in reversed(held) for key, one in each.items()}
    return [(one, [each[key].verdict if key in each else "N/A" for each in held]) for key, one in every.items()]


def _settings(sides: Sequence[SideRecord]) -> Iterator[tuple[str, list[str]]]:
    """Yields the settings in which the judges differ."""
    for name in ("kind", "model", "fingerprint", "scale"):
        yield from _if_different(name, [getattr(side.judge, name) or "none" for side in sides])
    for name in dict.fromkeys(name for side in sides for name in side.judge.decoding):
        yield from _if_different(name, [numbers.setting(side.judge.decoding.get(name)) for side in sides])
    prompts = [(side.judge.instruction, tuple(side.judge.prompts.items())) for side in sides]
    yield from _if_different("prompt", [f"prompt {1 + prompts.index(each)}" for each in prompts])


def _if_different(name: str, values: list[str]) -> Iterator[tuple[str, list[str]]]:
    if len(set(values)) > 1:
        yield name, values


MOST_FINDINGS = 12
MOST_COST_FINDINGS = 4


def render_comparison_markdown(comparison: Comparison) -> str:
    """Renders the card of a comparison. The same record gives the same encodable text."""
    return "\n".join(_card(comparison)) + "\n"


def _card(comparison: Comparison) -> Iterator[str]:
    judges = judge_views(comparison)
    yield from ("---", f"format: {quoted(comparison.format)}", f"policy: {quoted(comparison.policy)}")
    yield from (f"judges: {quoted(numbers.count(len(judges)))}", "---", "")
    yield from (f"# {numbers.count(len(judges))} judges compared", "")
    if incomplete := [judge.sign for judge in judges if not judge.side.complete]:
        yield from (f"**Incomplete runs: {', '.join(incomplete)}.**", "")
    for pick in comparison.picks:
        yield f"- For {plain(pick.policy)}: **{plain(pick.title)}**. {plain(' '.join(pick.sentences))}"
    yield ""
    yield from (f"- {plain(finding)}" for finding in comparison.findings[:MOST_FINDINGS])
    if comparison.costs:
        yield from (f"- {plain(finding)}" for finding in comparison.costs.findings[:MOST_COST_FINDINGS])
    head = ["", "judge", "verdict", *(title for _, _, title in COLUMNS), "1,000 calls"]
    yield from ("", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}")
    for judge in judges[:MOST_JUDGES]:
        decision = judge.side.decision.title if judge.side.decision else "none"
        name = f"{judge.name} (reference)" if judge.side.reference else judge.name
        cells = [
            judge.sign,
            plain(name),
            decision,
            *(measured_cell(cell, undefined="undefined") for cell in judge.cells),
            judge.price,
        ]
        yield f"| {' | '.join(cells)} |"
    if (more := len(judges) - MOST_JUDGES) > 0:
        yield from ("", f"And {numbers.count(more)} more in the JSON record.")


def write_comparison(comparison: Comparison, folder: Path) -> Documents:
    """Writes the record, and the documents that are pure functions of it."""
    json, html = record_json(comparison), render_comparison_html(comparison)
    return write_documents(folder, "comparison", json, html, render_comparison_markdown(comparison))
