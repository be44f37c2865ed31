"""The conformance kit for report sections: one call in a test checks everything that a section promises.

- card: a name in kebab case, at least one protocol, and one template;
- something: it shows something of the given records;
- the same again: the same records give the same text, and the records are left unchanged;
- inert: whatever is in a record is shown as text, and adds no tag, no attribute and no address;
- closed: no script, no external style sheet, nothing that is fetched;
- balanced: every opened tag is closed, so that the page around it stays intact;
- short: it adds only a few lines to the card of a record, and text from a record stays within its line
  (`umpirical.reports.pages.plain` ensures that).
"""

from collections.abc import Sequence
from typing import Any, Literal, NoReturn, TypeVar

from pydantic import BaseModel

from umpirical.registry import KEBAB_CASE
from umpirical.reports.pages import Section, environment, render_sections
from umpirical.reports.record import Record
from umpirical.testing.markup import HARMLESS, HIDDEN, PAYLOADS, Tag, active, shape

Filled = TypeVar("Filled", bound=BaseModel)

Promise = Literal["card", "something", "the same again", "inert", "closed", "balanced", "short"]
"""What the message of a failed check can name."""

MOST_LINES = 10


def check_section(section: Section, records: Sequence[Record], *, package: str = "umpirical.reports") -> None:
    """Raises AssertionError, naming the promise, for the first one that does not hold.

    `records` are some records of a protocol that it is for: measured, say, by `umpirical.datasheet("simulated:coin")`.
    `package` is where its template is, for a section that has it in a file.
    """
    _card(section)
    render = _Rendering(section, package)
    before = [record.model_dump_json() for record in records]
    text = render(records)
    if not text.strip():
        _broken("something", "it shows nothing of the given records")
    if render(records) != text:
        _broken("the same again", "rendering it again gives a different text")
    if [record.model_dump_json() for record in records] != before:
        _broken("the same again", "it changed the records")
    if found := active(text, part=True):
        _broken("closed", f"a section has no {found}")
    _shape(text)
    harmless = _shape(render([_filled(record, HARMLESS) for record in records]))
    for payload in PAYLOADS:
        infected = render([_filled(record, payload) for record in records])
        if _shape(infected) != harmless or HIDDEN.search(infected):
            _broken("inert", f"{payload!r} in a record became part of the page")
    for record in records:
        _short(section.card(record))
        for payload in PAYLOADS:
            _short(section.card(_filled(record, payload)))


class _Rendering:
    def __init__(self, section: Section, package: str) -> None:
        self._section, self._templates = section, environment(package)

    def __call__(self, records: Sequence[Any]) -> str:
        return "".join(render_sections(self._templates, [self._section], records, {}))


def _card(section: Section) -> None:
    if not KEBAB_CASE.fullmatch(section.name):
        _broken("card", f"{section.name!r} is not a name in kebab case")
    if not section.protocols:
        _broken("card", "it names no protocol")
    if bool(section.file) == bool(section.source):
        _broken("card", "it needs exactly one template: a file or the source")


def _shape(text: str) -> list[Tag]:
    try:
        return shape(text)
    except ValueError as error:
        _broken("balanced", str(error))


def _short(lines: Sequence[str]) -> None:
    if len(lines) > MOST_LINES:
        _broken("short", f"{len(lines)} lines on the card; the limit is {MOST_LINES}")
    if broken := [line for line in lines if "\n" in line or HIDDEN.search(line)]:
        _broken("short", f"{broken[0]!r} is not a single line")


def _filled(record: Filled, text: str) -> Filled:
    """The record with this text in place of every text that comes from outside: names, words, examples."""
    return record.model_copy(update={name: _value(getattr(record, name), text) for name in type(record).model_fields})


def _value(value: Any, text: str) -> Any:  # noqa: ANN401  # whatever a record holds
    match value:
        case BaseModel():
            return _filled(value, text)
        case str():
            return text
        case list() | tuple():
            return type(value)(_value(each, text) for each in value)
        case dict():
            return {key: _value(each, text) for key, each in value.items()}
        case _:
            return value


def _broken(promise: Promise, why: str) -> NoReturn:
    raise AssertionError(f"{promise}: {why}")
