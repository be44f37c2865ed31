"""A comparison as one HTML file and as a card, both pure functions of its record."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.comparison.record import Comparison, DifferenceRecord, SideRecord
from umpirical.reports import charts, numbers
from umpirical.reports.card import plain, quoted
from umpirical.reports.pages import environment
from umpirical.reports.record import EstimateRecord, LimitRecord, MeasureRecord, UndefinedRecord

__all__ = ["render_comparison_html", "render_comparison_markdown"]

MOST_ROWS = 40


@dataclass(frozen=True, slots=True)
class HeldLimit:
    """One limit of the policy on both sides."""

    name: str
    limit: LimitRecord
    verdicts: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """One difference, with its parts as measures so that they are formatted like any other measure."""

    record: DifferenceRecord
    first: MeasureRecord
    second: MeasureRecord
    difference: MeasureRecord
    cell: charts.DotCell | charts.NotDrawn


def render_comparison_html(comparison: Comparison) -> str:
    """Renders the page of a comparison. The same record gives the same text, which can always be encoded as UTF-8."""
    rows = [_row(one) for one in comparison.differences]
    groups = [list(group) for _, group in groupby(rows, key=lambda row: (row.record.measure, row.record.title))]
    return (
        environment("umpirical.protocols.datasheet")
        .get_template("comparison.html")
        .render(
            comparison=comparison,
            sides=(("First", comparison.first), ("Second", comparison.second)),
            groups=groups,
            limits=_limits(comparison),
            settings=list(_settings(comparison.first, comparison.second)),
            with_arms=len({(one.arm, one.second_arm) for one in comparison.differences}) > 1,
        )
    )


def render_comparison_markdown(comparison: Comparison) -> str:
    """Renders the card of a comparison, at most about 60 lines."""
    return "\n".join(_card(comparison)) + "\n"


def _card(comparison: Comparison) -> Iterator[str]:
    first, second = comparison.first, comparison.second
    yield from ("---", f"format: {quoted(comparison.format)}")
    yield from (f"first: {quoted(first.judge.name)}", f"second: {quoted(second.judge.name)}", "---", "")
    yield from (f"# {plain(first.judge.name)} against {plain(second.judge.name)}", "")
    for title, side in (("First", first), ("Second", second)):
        verdict = side.decision.title if side.decision else "no decision"
        yield f"- {title}: {plain(side.judge.name)}, **{verdict}**"
    yield from (f"- {plain(finding)}" for finding in comparison.findings)
    yield from ("", "| measure | first | second | second less first | |", "| --- | --- | --- | --- | --- |")
    for one in comparison.differences[:MOST_ROWS]:
        row = _row(one)
        part = f", {numbers.part(one.stratum)}" if one.stratum else ""
        cells = [_cell(measure) for measure in (row.first, row.second, row.difference)]
        yield f"| {plain(one.title + part)} | {' | '.join(cells)} | {one.words} |"
    if (more := len(comparison.differences) - MOST_ROWS) > 0:
        yield from ("", f"And {numbers.count(more)} more in the JSON record.")


def _cell(measure: MeasureRecord) -> str:
    result = measure.result
    if not isinstance(result, EstimateRecord):
        return plain(f"undefined: {result.reason}")
    return plain(f"{numbers.measured_value(measure, result)} {numbers.measured_interval(measure, result.interval)}")


def _row(one: DifferenceRecord) -> Row:
    first, second = _as_measure(one, one.first, one.arm), _as_measure(one, one.second, one.second_arm)
    difference = _as_measure(one, one.difference, one.second_arm)
    if one.scale == "rate":
        difference = difference.model_copy(update={"scale": "difference"})
    return Row(one, first, second, difference, charts.dot_cell(difference))


def _as_measure(one: DifferenceRecord, result: EstimateRecord | UndefinedRecord, arm: str) -> MeasureRecord:
    return MeasureRecord(
        name=one.measure, title=one.title, about=one.about, worse=one.worse, arm=arm, stratum=one.stratum,
        scale=one.scale, result=result,
    )  # fmt: skip


def _limits(comparison: Comparison) -> list[HeldLimit]:
    """Returns the limits of the judges' own prompts only: other arms may differ between the sides."""
    first, second = ({(held.measure, held.stratum): held for held in side.limits if held.arm == BASELINE}
                     for side in (comparison.first, comparison.second))  # fmt: skip
    return [
        HeldLimit(_limit_name(held), held, (_verdict(first.get(key)), _verdict(second.get(key))))
        for key, held in (second | first).items()
    ]


def _limit_name(held: LimitRecord) -> str:
    part = f" at {numbers.part(held.stratum)}" if held.stratum else ""
    return f"{held.title or held.measure}{part}"


def _verdict(held: LimitRecord | None) -> str:
    return held.verdict if held else "N/A"


def _settings(first: SideRecord, second: SideRecord) -> Iterator[tuple[str, str, str]]:
    """Yields the settings in which the two differ."""
    for name in ("kind", "model", "fingerprint", "scale"):
        one, two = getattr(first.judge, name), getattr(second.judge, name)
        if one != two:
            yield name, one or "none", two or "none"
    for name in dict.fromkeys([*first.judge.decoding, *second.judge.decoding]):
        one, two = first.judge.decoding.get(name), second.judge.decoding.get(name)
        if one != two:
            yield name, numbers.setting(one), numbers.setting(two)
    if (first.judge.instruction, first.judge.prompts) != (second.judge.instruction, second.judge.prompts):
        yield "prompt", "its own", "another"
    if first.run.stimuli != second.run.stimuli:
        yield "stimuli", first.run.stimuli, second.run.stimuli
