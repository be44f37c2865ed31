"""A comparison under stress as one screen of Markdown."""

from collections.abc import Iterator

from umpirical.protocols.stress.comparison.pages import Standing, spread_words, study_views
from umpirical.protocols.stress.comparison.record import StressComparison
from umpirical.reports import numbers
from umpirical.reports.card import plain, quoted
from umpirical.reports.comparisons.words import letter

MOST_JUDGES = 26
"""More are in the JSON record: a card is one screen."""

MOST_STUDIES = 8

MOST_FINDINGS = 24


def render_stress_comparison_markdown(comparison: StressComparison) -> str:
    """Renders the card. The same record gives the same encodable text."""
    return "\n".join(_card(comparison)) + "\n"


def _card(comparison: StressComparison) -> Iterator[str]:
    views, judges = study_views(comparison), comparison.judges
    yield from ("---", f"format: {quoted(comparison.format)}", f"judges: {quoted(numbers.count(len(judges)))}")
    yield from (f"studies: {quoted(numbers.count(len(views)))}", "---", "")
    yield from (f"# {numbers.count(len(judges))} {numbers.units('judge', len(judges))} under stress", "")
    yield from (f"- {plain(finding)}" for finding in comparison.findings[:MOST_FINDINGS])
    if (more := len(comparison.findings) - MOST_FINDINGS) > 0:
        yield f"- And {numbers.count(more)} more in the JSON record."
    head = ["", "judge", *(plain(view.title) for view in views[:MOST_STUDIES])]
    yield from ("", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}")
    for place, judge in enumerate(judges[:MOST_JUDGES]):
        cells = [_cell(view.standings[place]) for view in views[:MOST_STUDIES]]
        yield f"| {' | '.join([letter(place), plain(judge.name), *cells])} |"


def _cell(standing: Standing | None) -> str:
    if standing is None:
        return "not run"
    verdicts = ", ".join(f"{numbers.count(times)} {verdict}" for _, verdict, times in standing.verdicts)
    return f"{verdicts}; {spread_words(standing.spread)}" if standing.spread else verdicts
