"""The stress report as a card, for one judge."""

from collections.abc import Iterator

from umpirical.protocols.review_record import agreement_words, review_words
from umpirical.protocols.stress.findings import TITLES
from umpirical.protocols.stress.heat_map import HeatCell, HeatMap, HeatRow, heat_map
from umpirical.protocols.stress.record import StressReport
from umpirical.reports import numbers
from umpirical.reports.card import Card, plain, render_card

LONGEST = 600
"""Most characters of a finding."""


def render_stress_markdown(report: StressReport) -> str:
    """Renders the card of one judge."""
    heat = heat_map([report])
    card = Card(
        protocol="stress",
        title=f"Stress report: {plain(report.judge.name)} on {plain(report.dataset.name)}",
        lead=[*_findings(report), *_writing(report), *_review(report)],
        table=lambda room: _tests(heat, room=room),
        fields={"dataset": report.dataset.name},
    )
    return render_card(card, report)


def _findings(report: StressReport) -> Iterator[str]:
    for finding in report.findings:
        words = finding.words if len(finding.words) <= LONGEST else f"{finding.words[:LONGEST]} …"
        yield f"- {TITLES[finding.kind]}: {plain(words)}"
    if not report.findings:
        yield "Nothing was found."
    yield ""


def _writing(report: StressReport) -> Iterator[str]:
    """Yields what the stimuli cost, besides what the judge did."""
    for spent in report.writing:
        cost = "cost not known" if spent.cost is None else numbers.dollars(spent.cost)
        calls = f"{numbers.count(spent.calls)} {numbers.units('call', spent.calls)}"
        yield f"- Stimuli, {spent.role}: {calls} to {plain(spent.model)}, {cost}."
    if report.writing:
        yield ""


def _review(report: StressReport) -> Iterator[str]:
    if report.review is not None:
        yield f"- Review: {plain(review_words(report.review))}."
        yield f"- {plain(agreement_words(report.review))}."
        yield ""


def _tests(heat: HeatMap, *, room: int) -> Iterator[str]:
    rows = [row for group in heat.groups for row in group.rows]
    yield from ("| test | verdict | value | interval | n |", "| --- | --- | ---: | --- | ---: |")
    shown = rows[: max(0, room - 7)]
    for row in shown:
        yield f"| {' | '.join(_cells(row))} |"
    if len(rows) > len(shown):
        yield from ("", f"And {numbers.count(len(rows) - len(shown))} more tests in the JSON record.")
    marked = "; † survives Benjamini and Hochberg’s procedure at 5 %" if heat.failed else ""
    yield from ("", f"Cells are exploratory, each looked at by itself{marked}.", "")


def _cells(row: HeatRow) -> Iterator[str]:
    (cell,) = row.cells
    yield plain(row.test.title)
    if cell is None or not cell.figures:
        yield from (_word(cell), "–", plain(cell.note) if cell else "not run", "–")
        return
    yield _word(cell)
    first = cell.figures[0]
    yield "; ".join(f"{figure.value} {figure.label}" for figure in cell.figures)
    yield plain("; ".join(figure.interval for figure in cell.figures))
    yield first.n


def _word(cell: HeatCell | None) -> str:
    return "N/A" if cell is None else f"{cell.verdict}{' †' if cell.survives else ''}"
