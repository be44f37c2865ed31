"""Sections of a page: what a protocol's page shows, in order, and where a plugin's section goes.

A section is a view of the record and adds nothing to it. Its template is rendered like all others: text is escaped and
inert, and unformatted numbers are refused.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, Template
from markupsafe import Markup

from umpirical.measures.catalogue import EVERY_PROTOCOL
from umpirical.registry import Registry

_HEADING = re.compile(r'<h2 id="([\w-]+)"[^>]*>(.*?)</h2>', re.DOTALL)

_TAG = re.compile(r"<[^>]*>")

Records = Sequence[Any]
"""The records of a page: one for a datasheet, one for each judge if several are shown side by side."""


def _always(_: Records) -> bool:
    return True


def _nothing(_: Records) -> Mapping[str, object]:
    return {}


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a page. A plugin's is registered under the entry point `umpirical.sections`."""

    name: str
    """Distinguishes it from the other sections of its page."""
    protocols: tuple[str, ...]
    """The protocols whose pages it is part of, by name; or EVERY_PROTOCOL."""
    file: str = ""
    """File name of its template in the protocol's own package."""
    source: str = ""
    """The template itself, for a section that comes from elsewhere."""
    shown: Callable[[Records], bool] = _always
    """Whether these records have anything for it to show."""
    view: Callable[[Records], Mapping[str, object]] = _nothing
    """Returns what its template receives as `view`, besides what all sections receive."""
    after: str = ""
    """The section that it follows; empty to come last."""
    card: Callable[[Any], Sequence[str]] = lambda _: ()
    """Lines for the Markdown card of one record."""

    def is_for(self, protocol: str) -> bool:
        return protocol in self.protocols or EVERY_PROTOCOL in self.protocols

    def template(self, templates: Environment) -> Template:
        return templates.get_template(self.file) if self.file else templates.from_string(self.source)


SECTIONS: Registry[Section] = Registry("sections", {}, noun="report section")
"""Sections that plugins add. A protocol lists its own sections itself."""


def sections_of(protocol: str, own: Sequence[Section]) -> list[Section]:
    """Returns a protocol's own sections in order, with every plugin's section in its place."""
    sections = list(own)
    for section in SECTIONS:
        if section.is_for(protocol):
            names = [each.name for each in sections]
            sections.insert(names.index(section.after) + 1 if section.after in names else len(names), section)
    return sections


def render_sections(
    templates: Environment, sections: Sequence[Section], records: Records, values: Mapping[str, object]
) -> list[Markup]:
    """Renders the sections that have anything to show; each of them receives `values`."""
    # Each section is escaped when it is rendered, so the page around it can insert it unchanged.
    return [
        Markup(section.template(templates).render(**values, records=records, view=section.view(records)))  # noqa: S704
        for section in sections
        if section.shown(records)
    ]


@dataclass(frozen=True, slots=True)
class Heading:
    """A section of a page, for its contents."""

    anchor: Markup
    title: Markup


def contents_of(sections: Sequence[Markup]) -> list[Heading]:
    """Returns the headings of rendered sections that can be jumped to, those of plugins among them."""
    found = (match for section in sections for match in _HEADING.finditer(section))
    # Both are parts of what was rendered, so they have been escaped, and what is marked up in a heading is taken out.
    return [Heading(Markup(match[1]), Markup(_TAG.sub("", match[2])).strip()) for match in found]  # noqa: S704


def card_lines(protocol: str, record: Any) -> list[str]:  # noqa: ANN401  # of whichever protocol
    """Returns the lines that plugins' sections add to the card of a record."""
    return [line for section in SECTIONS if section.is_for(protocol) for line in section.card(record)]
