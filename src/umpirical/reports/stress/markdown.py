"""The stress report as a card: one screen of Markdown for one judge. The JSON record is the whole."""

from collections.abc import Iterator
from hashlib import sha256

from umpirical.reports import numbers
from umpirical.reports.markdown import plain, quoted
from umpirical.reports.stress.findings import TITLES
from umpirical.reports.stress.heat_map import HeatCell, HeatMap, HeatRow, heat_map
from umpirical.reports.stress.record import StressReport, render_stress_json
from umpirical.reports.stress.reviewing import agreement_words, review_words

__all__ = ["MOST_LINES", "render_stress_markdown"]

MOST_LINES = 60
LONGEST = 600
"""Characters of a finding."""
MOST_TROUBLE = 4


def render_stress_markdown(report: StressReport) -> str:
    """The card of one judge. The same record gives the same text; it can always be encoded as UTF-8."""
    heat = heat_map([report])
    before = [*_front_matter(report), *_heading(report), *_findings(report), *_review(report)]
    after = [*_trouble(report), f"SHA-256 of the JSON record: {_digest(report)}"]
    return "\n".join([*before, *_tests(heat, room=MOST_LINES - len(before) - len(after)), *after]) + "\n"


def _front_matter(report: StressReport) -> Iterator[str]:
    fields = {
        "format": report.format,
        "judge": report.judge.name,
        "model": report.judge.model,
        "dataset": report.dataset.name,
        "run": report.run.id,
        "fingerprint": report.judge.fingerprint,
    }
    yield "---"
    for name, value in fields.items():
        yield f"{name}: {quoted(value)}"
    yield from ("---", "")


def _heading(report: StressReport) -> Iterator[str]:
    yield from (f"# Stress report: {plain(report.judge.name)} on {plain(report.dataset.name)}", "")
    if not report.complete:
        yield from ("**Incomplete run: not every planned trial has a response.**", "")


def _findings(report: StressReport) -> Iterator[str]:
    for finding in report.findings:
        words = finding.words if len(finding.words) <= LONGEST else f"{finding.words[:LONGEST]} …"
        yield f"- {TITLES[finding.kind]}: {plain(words)}"
    if not report.findings:
        yield "Nothing was found."
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


def _trouble(report: StressReport) -> Iterator[str]:
    if not report.trouble:
        yield from ("Every response was read as a verdict or an abstention.", "")
        return
    yield from ("Answers that are no verdict:", "")
    for kind in report.trouble[:MOST_TROUBLE]:
        yield f"- {numbers.count(kind.count)} {kind.outcome}: {plain(kind.why)}"
    if more := sum(kind.count for kind in report.trouble[MOST_TROUBLE:]):
        yield f"- {numbers.count(more)} of other kinds, in the JSON record."
    yield ""


def _digest(report: StressReport) -> str:
    try:
        return f"`{sha256(render_stress_json(report).encode()).hexdigest()}`"
    except ValueError:
        # Half of a surrogate pair cannot be written as JSON; the card is still worth reading.
        return "none, since the record holds text that cannot be written as JSON."
