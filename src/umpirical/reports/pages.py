"""Pages and cards: a record as HTML, section by section, and as one screen of Markdown.

Text from outside is inert, whatever a template does.

A section is a view of the record and adds nothing to it. A protocol lists the sections of its page in order; a plugin's
section goes where it asks to. Every template is rendered alike: text is escaped and inert, and unformatted numbers are
refused.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import Any

import jinja2
from jinja2 import ChoiceLoader, Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined, Template
from jinja2.bccache import Bucket
from markupsafe import Markup

from umpirical.domain.bills import BILLING_FAULTS
from umpirical.domain.measures import Estimate
from umpirical.measures.catalogue import EVERY_PROTOCOL
from umpirical.registry import Registry
from umpirical.reports import charts, numbers
from umpirical.reports.decision import PartsDecision, VerdictRecord
from umpirical.reports.overview import Screen
from umpirical.reports.record import MeasureRecord, Record, TroubleRecord, record_json
from umpirical.reports.smallest_differences import record_words
from umpirical.store.memory import kept_folder
from umpirical.text.inert import inert, one_line


@cache
def environment(package: str) -> Environment:
    """Returns the templates of a package, and those that every page uses.

    Escaping is on whatever the template's name, and `_output` sees every value.
    """
    # To compile the templates of one page takes longer than to fill them.
    compiled = kept_folder(f"templates-{jinja2.__version__}")
    templates = Environment(
        bytecode_cache=_Compiled(str(compiled)) if compiled else None,
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("umpirical.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_output,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.globals.update(numbers=numbers, dot_cell=charts.dot_cell, billing_faults=BILLING_FAULTS)
    return templates


class _Compiled(FileSystemBytecodeCache):
    """Templates that were compiled before. A disk that is full or read-only stops no report.

    Their names say nothing of how they were compiled, so those that do not escape are neither kept nor taken.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        if _escapes(bucket.environment):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        if _escapes(bucket.environment):
            with suppress(OSError):
                super().dump_bytecode(bucket)


def _escapes(templates: Environment) -> bool:
    return templates.autoescape is True and templates.finalize is _output


def _output(value: object) -> object:
    """Returns what a template may print: text, made inert, and whole numbers.

    A float must be formatted by `numbers`, and None is a case that the template failed to handle.
    """
    if isinstance(value, float | bool) or value is None:
        raise TypeError(f"a template printed {value!r}; format it with umpirical.reports.numbers")
    # Markup is the output of a macro, whose parts have already passed through here.
    return inert(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_TITLE = re.compile(r"<h2[^>]*>(.*?)</h2>", re.DOTALL)

_TAG = re.compile(r"<[^>]*>")

Records = Sequence[Any]
"""The records of a page: one for a datasheet, one for each judge if several are shown side by side."""


def _always(_: Records) -> bool:
    return True


def _nothing(_: Records) -> Mapping[str, object]:
    return {}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: one part of the data, with its measures in the order of the columns."""

    name: str
    measures: tuple[MeasureRecord | None, ...]


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


def section_table(
    protocol: str, *names: str, shown: Mapping[str, Callable[[Records], bool]] | None = None
) -> tuple[Section, ...]:
    """Returns the sections of a protocol's page, in order, each with the template of its name.

    `PROTOCOL-decision`, `-audit`, `-claims` and `-identity` have templates that protocols share. `shown` says for some
    of them whether records have anything to show.
    """
    shared = {f"{protocol}-{part}": f"plain-{part}" for part in ("decision", "audit", "claims", "identity")}
    return tuple(
        Section(
            name, (protocol,), file=f"sections/{shared.get(name, name)}.html", shown=(shown or {}).get(name, _always)
        )
        for name in names
    )


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
class Fold:
    """A section that is folded until it is wanted."""

    title: Markup
    body: Markup


def folds_of(sections: Sequence[Markup]) -> list[Fold]:
    """Returns rendered sections to be folded, each under its own heading; those with nothing in them are dropped."""
    shown = ((_TITLE.search(section), section) for section in sections if section.strip())
    # The headings are parts of what was rendered, so they have been escaped.
    return [Fold(Markup(_TAG.sub("", found[1])).strip() if found else Markup("More"), body) for found, body in shown]  # noqa: S704


def card_lines(protocol: str, record: Any) -> list[str]:  # noqa: ANN401  # of whichever protocol
    """Returns the lines that plugins' sections add to the card of a record."""
    return [line for section in SECTIONS if section.is_for(protocol) for line in section.card(record)]


def render_page(
    protocol: str,
    sections: Sequence[Section],
    records: Records,
    values: Mapping[str, object],
    *,
    template: str = "page.html",
) -> str:
    """Renders a page of a protocol: its sections and those of plugins, in the frame of `template`."""
    templates = environment(f"umpirical.protocols.{protocol}")
    shown = render_sections(templates, sections_of(protocol, sections), records, values)
    return templates.get_template(template).render(**values, folds=folds_of(shown))


def render_plain_page(
    protocol: str,
    title: str,
    sections: Sequence[Section],
    record: Record,
    page: object,
    screen: Screen,
) -> str:
    """Renders the page of one judge whose record ends in a decision on data that has parts.

    `title` names the kind of record, `page` has its parts in the form that the templates need, and `screen` its
    first screen.
    """
    run = record.run
    values = {
        "sheet": record,
        "judge": record.judge,
        "run": run,
        "page": page,
        "screen": screen,
        "kind": title,
        "counts": {**screen.counts, "calls": run.trials},
    }
    return render_page(protocol, sections, [record], values, template="plain-page.html")


# The card: a record as one screen of Markdown, for a repository or a model page. The JSON record is complete.


MOST_LINES = 60
MOST_TROUBLE = 5

_PUNCTUATION = re.compile(r"[\\`*_\[\]|~#!$]")
_BLOCK_START = re.compile(r"^(\d*)([-+=:.)])(?=[\s:]|$)")
_AUTOLINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_FRONT_MATTER = re.compile(rf"[<>&\[\]`|]|{_AUTOLINK.pattern}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Card:
    """What a protocol puts on a card; the rest is the same for all protocols."""

    protocol: str
    title: str
    lead: Sequence[str]
    """Lines above the table: what was decided and found."""
    table: Callable[[int], Iterable[str]]
    """Returns the lines of the table, given how many lines fit."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Front matter, besides what every card has."""


def _fields(card: Card, record: Record) -> dict[str, str]:
    """Returns the front matter: the format of the record, and whose it is."""
    judge = record.judge
    known = {"format": record.format, "judge": judge.name, "model": judge.model}
    return {**known, **card.fields, "run": record.run.id, "fingerprint": judge.fingerprint}


def measured_cell(measure: MeasureRecord | None, *, undefined: str = "–") -> str:
    """Returns a measure with its interval for a table; a dash if there is none."""
    if measure is None:
        return "–"
    if not isinstance(measure.result, Estimate):
        return undefined
    interval = numbers.measured_interval(measure, measure.result.interval)
    return plain(f"{numbers.measured_value(measure, measure.result)} {interval}")


def measure_table(first: str, titles: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """Yields a table with a row for each part of the data, and a column for each measure."""
    yield f"| {first} | {' | '.join(titles)} |"
    yield f"| --- |{' ---: |' * len(titles)}"
    for row in rows:
        yield f"| {plain(row.name)} | {' | '.join(map(measured_cell, row.measures))} |"
    yield ""


def decided_lead(decision: VerdictRecord) -> Iterator[str]:
    """Yields what was decided, as the first lines of a card."""
    policy, said = plain(decision.policy_name), plain(" ".join(decision.sentences))
    yield from (f"**{decision.title}** (policy {policy}): {said}", "")


def decision_lead(decision: PartsDecision, findings: Sequence[str], *, most_weak: int | None = None) -> Iterator[str]:
    """Yields what was decided, what was found and where the judge is weak; of the weak parts `most_weak` lines."""
    yield from decided_lead(decision)
    yield from (f"- {plain(finding)}" for finding in findings)
    weak = decision.weak_at
    shown = weak if most_weak is None or len(weak) <= most_weak else weak[: most_weak - 1]
    yield from (f"- Weak in {plain(part)}." for part in shown)
    if more := len(weak) - len(shown):
        yield f"- Weak in {numbers.count(more)} other parts. See the JSON record."
    yield ""


def render_card(card: Card, record: Record) -> str:
    """Renders the card of a record. The same record gives the same encodable text."""
    added = card_lines(card.protocol, record)
    before = [*_front_matter(_fields(card, record)), *_heading(card.title, complete=record.complete), *card.lead]
    after = [*added, *([""] if added else []), *_smallest(record), *_trouble(record.trouble)]
    after.append(f"SHA-256 of the JSON record: {_digest(record)}")
    return "\n".join([*before, *card.table(MOST_LINES - len(before) - len(after)), *after]) + "\n"


def _front_matter(fields: Mapping[str, str]) -> Iterator[str]:
    yield "---"
    for name, value in fields.items():
        yield f"{name}: {quoted(value)}"
    yield from ("---", "")


def _heading(title: str, *, complete: bool) -> Iterator[str]:
    yield from (f"# {title}", "")
    if not complete:
        yield from ("**Incomplete run: some planned calls have no response.**", "")


def _smallest(record: Record) -> Iterator[str]:
    if said := record_words(record):
        yield from (plain(" ".join(said)), "")


def _trouble(kinds: Sequence[TroubleRecord]) -> Iterator[str]:
    yield from ("## Unusable replies", "")
    shown = kinds if len(kinds) <= MOST_TROUBLE else kinds[: MOST_TROUBLE - 1]
    for kind in shown:
        yield f"- {numbers.count(kind.count)} {kind.outcome}: {plain(kind.why)}"
    if len(kinds) > len(shown):
        more = sum(kind.count for kind in kinds[len(shown) :])
        yield f"- {numbers.count(more)} of {numbers.count(len(kinds) - len(shown))} other kinds. See the JSON record."
    if not kinds:
        yield "None. Every reply was a verdict or an abstention."
    yield ""


def _digest(record: Record) -> str:
    try:
        return f"`{sha256(record_json(record).encode()).hexdigest()}`"
    except ValueError:
        # Half of a surrogate pair cannot be written as JSON; the card is still worth reading.
        return "none, because the record contains text that cannot be written as JSON."


def plain(text: str) -> str:
    """Returns foreign text as one line of Markdown, shown literally: no markup, no cell or line break, no link."""
    line = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _PUNCTUATION.sub(r"\\\g<0>", line)
    line = _AUTOLINK.sub(lambda found: f"&#{ord(found[0])};", line)
    return _BLOCK_START.sub(r"\1\\\2", line)


def quoted(text: str) -> str:
    """Returns foreign text as a YAML scalar, which is harmless even where front matter is rendered as Markdown."""
    return _FRONT_MATTER.sub(lambda found: f"\\u{ord(found[0]):04X}", json.dumps(inert(text), ensure_ascii=False))
