"""The stress report as a folder of HTML files: no script, nothing fetched, text from outside shown as inert text."""

from collections.abc import Sequence

from umpirical.domain.errors import UsageError
from umpirical.reports import rendering
from umpirical.reports.stress.cell_page import stress_page
from umpirical.reports.stress.heat_map import SIGNS
from umpirical.reports.stress.index_page import IndexPage, index_page, unaccounted
from umpirical.reports.stress.naming import INDEX
from umpirical.reports.stress.policy import ANY_DIFFERENCE
from umpirical.reports.stress.record import StressReport
from umpirical.reports.stress.writing import allowed_words, interval_words, unit_words, value_words

__all__ = ["render_stress_pages"]


def render_stress_pages(reports: Sequence[StressReport]) -> dict[str, str]:
    """File name to page: an index of all judges, and a page for every test of each.

    The same reports give the same text; it can always be encoded as UTF-8.
    """
    if not reports:
        raise UsageError("there is no stress report to show", fix="Run the stress tests first: umpirical run")
    index = index_page(reports)
    return {INDEX: _render("stress/index.html", page=index), **_test_pages(index)}


def _test_pages(index: IndexPage) -> dict[str, str]:
    pages = {}
    rows = {row.test.name: row.cells for group in index.heat.groups for row in group.rows}
    for place, part in enumerate(index.judges):
        for test in part.report.tests:
            cells = rows[test.name]
            cell = cells[place]
            if cell is None:
                continue
            others = [
                (key, other.href)
                for number, (key, other) in enumerate(zip(index.heat.judges, cells, strict=True))
                if number != place and other is not None
            ]
            page = stress_page(part.report, test, key=part.key, cell=cell, others=others)
            pages[cell.href] = _render("stress/test.html", page=page)
    return pages


def _render(template: str, *, page: object) -> str:
    return (
        rendering.environment()
        .get_template(template)
        .render(
            page=page,
            index=INDEX,
            signs=SIGNS,
            unaccounted=unaccounted,
            any_difference=ANY_DIFFERENCE,
            value_words=value_words,
            interval_words=interval_words,
            unit_words=unit_words,
            allowed_words=allowed_words,
        )
    )
