"""A comparison as one HTML file and as one screen of Markdown, pure functions of its record."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from umpirical.domain.measures import Estimate
from umpirical.domain.trials import BASELINE
from umpirical.protocols.costs import Costs
from umpirical.protocols.datasheet import comparison_charts as charts
from umpirical.protocols.datasheet.comparison import Comparison, PickRecord, SideRecord, names_of
from umpirical.protocols.protocol import Documents, write_documents
from umpirical.reports import numbers
from umpirical.reports.charts import DotCell, NotDrawn, dot_cell, found, share
from umpirical.reports.comparison import (
    MOST_JUDGES,
    STYLES,
    DifferenceRecord,
    Matrix,
    Overview,
    Sense,
    matrices,
    overview,
    sense_of,
)
from umpirical.reports.decision import TITLES
from umpirical.reports.pages import environment, measured_cell, plain, quoted
from umpirical.reports.policy import at
from umpirical.reports.record import CheckRecord, MeasureRecord, record_json
from umpirical.stats.intervals import wilson

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

PAPER_STEPS = {"1", "2", "3", "4", "5"}
PAPER_ROWS = (*COLUMNS, ("tie-rate", "0", "Ties between equal answers"), ("tie-rate", "1", "Ties at Δ1"))
"""The paper's Table 3, and the ties of its Table 4."""
BY_CALL = {"dark-current", "raw-false-preference", "target-sensitivity", "tie-rate"}
"""What the paper counts by calls. It has no intervals for the rest."""


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


@dataclass(frozen=True, slots=True)
class PickCard:
    """One recommendation, and the policies under which it is given."""

    title: str
    picked: int
    picks: tuple[PickRecord, ...]
    sentences: tuple[tuple[str, str], ...]
    """Each with the policies that it is said of; none if it is said of all."""


@dataclass(frozen=True, slots=True)
class SideRow:
    """One check of two judges, side by side."""

    check: CheckRecord
    verdicts: tuple[str, str]
    values: tuple[MeasureRecord | None, MeasureRecord | None]
    sense: Sense
    """What the second is, compared with the first."""
    difference: MeasureRecord | None = None
    cell: DotCell | NotDrawn | None = None
    p_value: float | None = None


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
    moves: charts.Plane | None
    """None if no judge was asked with two prompts."""


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One measure as the Dark Current paper reports it: by calls, as if each were drawn by itself."""

    title: str
    measure: MeasureRecord | None
    calls: str
    interval: str


@dataclass(frozen=True, slots=True)
class CostView:
    """Cost and accuracy on the page."""

    record: Costs
    plane: charts.CostPlane | NotDrawn
    curves: charts.CostCurves | NotDrawn
    is_free: bool
    """Whether nothing has a price above 0, so that cost decides nothing."""


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
            paper=paper_tables(judges),
            costs=_costs(comparison.costs) if comparison.costs else None,
            cards=pick_cards(comparison.picks),
            sides=side_by_side(comparison) if len(judges) == 2 else [],
            again=len({judge.side.judge.name for judge in judges}) == 1,
            senses=SENSES,
            overview=_overview(comparison),
            matrices=_matrices(comparison),
            pairs=_pairs(comparison) if len(judges) == 2 else [],
            hints=hints[:MOST_HINTS],
            more_hints=len(hints) - MOST_HINTS,
            checks=_checks(comparison.judges),
            settings=list(_settings(comparison.judges)),
            margins=list(dict.fromkeys(one.margin for one in comparison.differences)),
            names=names_of(comparison.judges),
            at=at,
        )
    )


def judge_views(comparison: Comparison) -> list[JudgeView]:
    """Returns the judges with their signs, and what is shown of each."""
    options = comparison.costs.options if comparison.costs else []
    free = {one.judges[0] for one in options if one.kind == "judge" and one.price.basis == "free"}
    names = names_of(comparison.judges)
    return [_view(place, names[place], side, free=place in free) for place, side in enumerate(comparison.judges)]


def _view(place: int, name: str, side: SideRecord, *, free: bool) -> JudgeView:
    variants = [measure.variant for measure in side.measures]
    own = BASELINE if BASELINE in variants else min(variants, default="")
    measures = [measure for measure in side.measures if measure.variant == own]
    known = {(measure.name, measure.stratum): measure for measure in measures}
    price = side.spend.cost_per_1000 if side.spend else None
    return JudgeView(
        sign=name,
        style=place % STYLES,
        side=side,
        measures=measures,
        cells=[known.get((name, stratum)) for name, stratum, _ in COLUMNS],
        price="free" if free else "unknown" if price is None else numbers.dollars(price),
    )


def _figures(judges: Sequence[JudgeView]) -> Figures:
    marked = [charts.Marked(judge.sign, judge.style, judge.measures) for judge in judges]
    variants = [_variants(judge) for judge in judges]
    scs = ("stable-cross-sensitivity", "", "wording bias")
    seen = ("target-sensitivity", "1", "accuracy at Δ1")
    moves = charts.plane(
        [each for own in variants if len(own) > 1 for each in own],
        title="Prompt variants by false preference and accuracy",
        across=("raw-false-preference", "", "false preference"),
        up=seen,
        moves=[(own[0].sign, other.sign) for own in variants for other in own[1:]],
    )
    return Figures(
        axes=charts.plane(
            marked,
            title="Blank-input preference and wording bias",
            across=("dark-current", "", "blank-input preference"),
            up=scs,
            size=seen,
        ),
        ladders=charts.ladder_curves(marked),
        bars=charts.equal_quality_bars([each for own in variants for each in own]),
        orders=charts.plane(
            marked,
            title="Position bias and wording bias",
            across=("positional-false-preference", "", "position bias"),
            up=scs,
        ),
        moves=moves if isinstance(moves, charts.Plane) and moves.arrows else None,
    )


def paper_tables(judges: Sequence[JudgeView]) -> list[tuple[charts.Marked, list[PaperRow]]]:
    """Returns the paper's figures of each judge under each prompt, if the ladder has just the paper's steps."""
    steps = [{m.stratum for m in judge.measures if m.name == "target-sensitivity"} for judge in judges]
    if any(each != PAPER_STEPS for each in steps):
        return []
    return [(one, list(_paper_rows(one.measures))) for judge in judges for one in _variants(judge)]


def _paper_rows(measures: Sequence[MeasureRecord]) -> Iterator[PaperRow]:
    for name, stratum, title in PAPER_ROWS:
        measure = found(measures, name, stratum)
        estimate = share(measure)
        if estimate is None:
            yield PaperRow(title, measure, "", "")
            continue
        # A pair is two calls, one in each order.
        by = 2 if name in BY_CALL and estimate.unit == "pair" else 1
        hits, of = by * estimate.numerator, by * estimate.denominator
        interval = numbers.interval(*wilson(hits, of)) if name in BY_CALL else ""
        yield PaperRow(title, measure, f"{numbers.count(hits)}/{numbers.count(of)}", interval)


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
    is_free = all(option.dollars is not None and not option.dollars[1] for option in options)
    plane = charts.cost_plane(options, baseline=costs.baseline)
    return CostView(costs, plane, charts.cost_curves(judges), is_free)


def _variants(judge: JudgeView) -> list[charts.Marked]:
    """Returns the judge under its own prompt, then under each of its others."""
    own, marked = judge.measures[0].variant if judge.measures else "", []
    for variant in dict.fromkeys([own, *(measure.variant for measure in judge.side.measures)]):
        measures = [measure for measure in judge.side.measures if measure.variant == variant]
        if variant == own or any(measure.name == "no-preference" for measure in measures):
            sign = judge.sign if variant == own else f"{judge.sign} {variant}"
            marked.append(charts.Marked(sign, judge.style, measures))
    return marked


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
        difference = _difference_measure(one)
        values = known[one.first].get(key), known[one.second].get(key)
        rows.append(PairRow(one, values, difference, dot_cell(difference)))
    return [list(group) for _, group in groupby(rows, key=lambda row: (row.record.measure, row.record.variant))]


def pick_cards(picks: Sequence[PickRecord]) -> list[PickCard]:
    """Returns the recommendations, those that are the same once."""
    groups: dict[str, list[PickRecord]] = {}
    for pick in picks:
        groups.setdefault(pick.title, []).append(pick)
    return [PickCard(title, len(group[0].picked), tuple(group), _said(group)) for title, group in groups.items()]


def _said(picks: Sequence[PickRecord]) -> tuple[tuple[str, str], ...]:
    """Returns the sentences of a group of policies, each once, with the policies that say it."""
    said: dict[str, list[str]] = {}
    for pick in picks:
        said.setdefault(" ".join(pick.sentences), []).append(pick.policy)
    everyone = len(picks)
    return tuple(("" if len(names) == everyone else ", ".join(names), words) for words, names in said.items() if words)


SENSES: Mapping[Sense, tuple[str, str]] = {
    "worse": ("▼ worse", "fail"),
    "differs": ("≠ different", "plain"),
    "undecided": ("? inconclusive", "plain"),
    "not comparable": ("not compared", "plain"),
    "equivalent": ("= equivalent", "inconclusive"),
    "better": ("▲ better", "pass"),
}
"""What the second judge is, in words and with the class of its color; what got worse comes first."""


def side_by_side(comparison: Comparison) -> list[SideRow]:
    """Returns the checks of two judges: first those in which the second is worse, the largest difference first."""
    known = [{(m.name, m.stratum): m for m in side.measures if m.variant == BASELINE} for side in comparison.judges]
    differences = {(one.measure, one.stratum): one for one in comparison.differences if one.variant == BASELINE}
    rows = [_side_row(check, verdicts, known, differences) for check, verdicts in _checks(comparison.judges)]
    return sorted(rows, key=_how_bad)


def _side_row(
    check: CheckRecord,
    verdicts: Sequence[str],
    known: Sequence[Mapping[tuple[str, str], MeasureRecord]],
    differences: Mapping[tuple[str, str], DifferenceRecord],
) -> SideRow:
    key = check.measure, check.stratum
    values, one = (known[0].get(key), known[1].get(key)), differences.get(key)
    held = verdicts[0], verdicts[1]
    if one is None:
        return SideRow(check, held, values, "not comparable")
    difference = _difference_measure(one)
    return SideRow(check, held, values, sense_of(one, one.second), difference, dot_cell(difference), one.adjusted_p)


def _how_bad(row: SideRow) -> tuple[int, float]:
    result = row.difference.result if row.difference else None
    change = result.value if isinstance(result, Estimate) else 0.0
    worse = change if row.check.kind == "at_most" else -change
    return [*SENSES].index(row.sense), -worse


def _difference_measure(one: DifferenceRecord) -> MeasureRecord:
    """Returns a difference as a measure, so that it is written and drawn as one."""
    return MeasureRecord(
        name=one.measure, title=one.title, about=one.about, worse=one.worse, variant=one.variant, stratum=one.stratum,
        scale="difference" if one.scale == "rate" else one.scale, result=one.difference,
    )  # fmt: skip


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
    for card in pick_cards(comparison.picks):
        said = " ".join(f"{names}: {words}" if names else words for names, words in card.sentences)
        yield f"- For {plain(', '.join(pick.policy for pick in card.picks))}: **{plain(card.title)}**. {plain(said)}"
    yield ""
    yield from (f"- {plain(finding)}" for finding in comparison.findings[:MOST_FINDINGS])
    if comparison.costs:
        yield from (f"- {plain(finding)}" for finding in comparison.costs.findings[:MOST_COST_FINDINGS])
    head = ["judge", "verdict", *(title for _, _, title in COLUMNS), "1,000 calls"]
    yield from ("", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}")
    for judge in judges[:MOST_JUDGES]:
        decision = judge.side.decision.title if judge.side.decision else "none"
        name = f"{judge.sign} (reference)" if judge.side.reference else judge.sign
        cells = [
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
