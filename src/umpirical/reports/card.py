"""The card: a record as one screen of Markdown, for a repository or a model page. The JSON record is complete."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from umpirical.reports import numbers
from umpirical.reports.decision import PartsDecision
from umpirical.reports.pages import Row, card_lines
from umpirical.reports.record import EstimateRecord, MeasureRecord, Record, TroubleRecord, record_json
from umpirical.reports.smallest_differences import record_words
from umpirical.text.inert import inert, one_line

MOST_LINES = 60
MOST_TROUBLE = 5

_PUNCTUATION = re.compile(r"[\\`*_\[\]|~#!$]")
_BLOCK_START = re.compile(r"^(\d*)([-+=:.)])(?=\s|$)")
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
    if not isinstance(measure.result, EstimateRecord):
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


def decision_lead(decision: PartsDecision, findings: Sequence[str], *, most_weak: int | None = None) -> Iterator[str]:
    """Yields what was decided, what was found and where the judge is weak; of the weak parts `most_weak` lines."""
    yield f"**{decision.title}.** {plain(' '.join(decision.sentences))}"
    yield ""
    yield from (f"- {plain(finding)}" for finding in findings)
    weak = decision.weak_at
    shown = weak if most_weak is None or len(weak) <= most_weak else weak[: most_weak - 1]
    yield from (f"- Weak at {plain(part)}." for part in shown)
    if more := len(weak) - len(shown):
        yield f"- Weak at {numbers.count(more)} other parts, in the JSON record."
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
        yield from ("**Incomplete run: not every planned trial has a response.**", "")


def _smallest(record: Record) -> Iterator[str]:
    if said := record_words(record):
        yield from (plain(" ".join(said)), "")


def _trouble(kinds: Sequence[TroubleRecord]) -> Iterator[str]:
    yield from ("## Answers that are no verdict", "")
    shown = kinds if len(kinds) <= MOST_TROUBLE else kinds[: MOST_TROUBLE - 1]
    for kind in shown:
        yield f"- {numbers.count(kind.count)} {kind.outcome}: {plain(kind.why)}"
    if len(kinds) > len(shown):
        more = sum(kind.count for kind in kinds[len(shown) :])
        yield f"- {numbers.count(more)} of {numbers.count(len(kinds) - len(shown))} other kinds, in the JSON record."
    if not kinds:
        yield "None: every response was read as a verdict or an abstention."
    yield ""


def _digest(record: Record) -> str:
    try:
        return f"`{sha256(record_json(record).encode()).hexdigest()}`"
    except ValueError:
        # Half of a surrogate pair cannot be written as JSON; the card is still worth reading.
        return "none, since the record holds text that cannot be written as JSON."


def plain(text: str) -> str:
    """Returns foreign text as one line of Markdown, shown literally: no markup, no cell or line break, no link."""
    line = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _PUNCTUATION.sub(r"\\\g<0>", line)
    line = _AUTOLINK.sub(lambda found: f"&#{ord(found[0])};", line)
    return _BLOCK_START.sub(r"\1\\\2", line)


def quoted(text: str) -> str:
    """Returns foreign text as a YAML scalar, which is harmless even where front matter is rendered as Markdown."""
    return _FRONT_MATTER.sub(lambda found: f"\\u{ord(found[0]):04X}", json.dumps(inert(text), ensure_ascii=False))
