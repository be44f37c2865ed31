"""Readouts side by side as one HTML file and as a card, both pure functions of their record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from umpirical.protocols.datasheet.readouts.record import ReadoutRow, Readouts, measure_in, shown_measures
from umpirical.protocols.datasheet.readouts.sheets import band_words
from umpirical.reports import numbers
from umpirical.reports.card import plain, quoted
from umpirical.reports.pages import environment
from umpirical.reports.record import EstimateRecord, MeasureRecord


@dataclass(frozen=True, slots=True)
class Table:
    """Readouts by measures."""

    id: str
    title: str
    heads: tuple[str, ...]
    lines: "tuple[Line, ...]"


@dataclass(frozen=True, slots=True)
class Line:
    """One readout in a table: a cell for each measure shown."""

    row: ReadoutRow
    band: str
    cells: tuple[MeasureRecord | None, ...]


def render_readouts_html(readouts: Readouts) -> str:
    """Renders the page. The same record gives the same text, which can always be encoded as UTF-8."""
    made = [row for row in readouts.rows if not row.why_not]
    shown = shown_measures(made)
    # At equal quality, a difference in ties is the difference in false preferences with the sign reversed.
    fewer = [key for key in shown if key != ("tie-rate", "0")]
    tables = (
        Table("reported", "On the tasks for reporting", *_table(made, "reported_on", shown)),
        Table("chosen", "On the tasks for choosing", *_table(made, "chosen_on", shown)),
        Table("less", "Less the readout text, on the tasks for reporting", *_table(made[1:], "against_text", fewer)),
    )
    return (
        environment("umpirical.protocols.datasheet")
        .get_template("readouts.html")
        .render(readouts=readouts, shown=tables)
    )


def render_readouts_markdown(readouts: Readouts) -> str:
    """Renders the card."""
    return "\n".join(_card(readouts)) + "\n"


def _card(readouts: Readouts) -> Iterator[str]:
    made = [row for row in readouts.rows if not row.why_not]
    shown = shown_measures(made)
    yield from ("---", f"format: {quoted(readouts.format)}", f"judge: {quoted(readouts.judge.name)}")
    yield from (f"run: {quoted(readouts.run.id)}", "---", "", f"# Readouts of {plain(readouts.judge.name)}", "")
    if not readouts.complete:
        yield from ("**Incomplete run: not every planned trial has a response.**", "")
    yield from (f"- {plain(sentence)}" for sentence in readouts.recommendation.sentences)
    if readouts.how_to_record:
        yield f"- {plain(readouts.how_to_record)}"
    counts = (numbers.count(len(tasks)) for tasks in (readouts.reporting_tasks, readouts.calibration_tasks))
    yield from ("", "On {} tasks; tie band and choice come from {} others.".format(*counts), "")
    heads, lines = _table(made, "reported_on", shown)
    yield f"| readout | tie band | {' | '.join(plain(head) for head in heads)} |"
    yield f"| --- | --- |{' --- |' * len(heads)}"
    for line in lines:
        yield f"| {line.row.name} | {line.band} | {' | '.join(plain(_cell(cell)) for cell in line.cells)} |"
    for row in readouts.rows:
        if row.why_not:
            yield from ("", f"Not made: {row.name}, since {plain(row.why_not)}.")


def _table(
    rows: Sequence[ReadoutRow], half: str, shown: Sequence[tuple[str, str]]
) -> tuple[tuple[str, ...], tuple[Line, ...]]:
    """Returns the column heads and lines for one half of the tasks."""
    titles = {measure.name: measure.title for row in rows for measure in row.reported_on}
    heads = (titles.get(name, name) + (f" at {numbers.part(stratum)}" if stratum else "") for name, stratum in shown)
    lines = (
        Line(
            row,
            "none" if row.band is None else band_words(row.band),
            tuple(measure_in(getattr(row, half), name, stratum) for name, stratum in shown),
        )
        for row in rows
    )
    return tuple(heads), tuple(lines)


def _cell(measure: MeasureRecord | None) -> str:
    if measure is None:
        return "not measured"
    if not isinstance(measure.result, EstimateRecord):
        return f"undefined: {measure.result.reason}"
    estimate = measure.result
    return f"{numbers.measured_value(measure, estimate)} {numbers.measured_interval(measure, estimate.interval)}"
