"""The datasheet as one HTML file: no script, nothing fetched, and text from outside shown as inert text."""

from umpirical.reports.decision import TITLES
from umpirical.reports.page import page_of, planted_words
from umpirical.reports.record import Datasheet
from umpirical.reports.rendering import environment

__all__ = ["render_html"]


def render_html(datasheet: Datasheet) -> str:
    """The page of a datasheet. The same record gives the same text; it can always be encoded as UTF-8."""
    page = page_of(datasheet)
    return (
        environment()
        .get_template("page.html")
        .render(sheet=datasheet, page=page, verdict_titles=TITLES, planted_words=planted_words)
    )
