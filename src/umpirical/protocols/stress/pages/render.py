"""The stress report as a folder of HTML files: no script, nothing fetched, text from outside shown as inert text."""

from collections.abc import Sequence

from umpirical.domain.errors import UsageError
from umpirical.protocols.stress.heat_map import SIGNS
from umpirical.protocols.stress.pages.index import IndexPage, index_page, unaccounted
from umpirical.protocols.stress.pages.names import INDEX
from umpirical.protocols.stress.pages.test import stress_page
from umpirical.protocols.stress.pass_rates import shade
from umpirical.protocols.stress.policy import ANY_DIFFERENCE
from umpirical.protocols.stress.record import StressReport
from umpirical.protocols.stress.words import allowed_words, interval_words, unit_words, value_words
from umpirical.reports.pages import Section, environment, render_sections, sections_of

SECTIONS = tuple(
    Section(name, ("stress",), file=f"{name}.html")
    for name in (
        "findings",
        "heat",
        "seen",
        "rates",
        "agreement",
        "stimuli",
        "review",
        "answers",
        "conditions",
        "claims",
    )
)
"""The sections of the index, in order."""


def render_stress_pages(reports: Sequence[StressReport]) -> dict[str, str]:
    """Returns pages by file name: an index of all judges, and a page for every test of each judge.

    The same reports give the same text, which can always be encoded as UTF-8.
    """
    if not reports:
        raise UsageError("there is no stress report to show", fix="Run the stress tests first: umpirical run")
    index = index_page(reports)
    templates, values = environment("umpirical.protocols.stress"), _values(index)
    sections = render_sections(templates, sections_of("stress", SECTIONS), reports, values)
    page = templates.get_template("index.html").render(**values, sections=sections)
    return {INDEX: page, **_test_pages(index)}


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
            template = environment("umpirical.protocols.stress").get_template("test.html")
            pages[cell.href] = template.render(**_values(page))
    return pages


def _values(page: object) -> dict[str, object]:
    """Returns the values that every template of these pages receives."""
    return {
        "page": page,
        "several": len(page.judges) > 1 if isinstance(page, IndexPage) else False,
        "index": INDEX,
        "signs": SIGNS,
        "unaccounted": unaccounted,
        "any_difference": ANY_DIFFERENCE,
        "value_words": value_words,
        "interval_words": interval_words,
        "unit_words": unit_words,
        "allowed_words": allowed_words,
        "shade": shade,
    }
