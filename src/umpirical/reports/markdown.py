"""The datasheet as a card: one screen of Markdown, for a repository or a model page. The JSON record is the whole."""

import json
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import chain

from umpirical.reports import numbers
from umpirical.reports.inert import inert
from umpirical.reports.record import Datasheet, EstimateRecord, MeasureRecord, TroubleRecord, render_json

__all__ = ["render_markdown"]

# With the usual 23 measures these keep the card within 60 lines.
MAX_FINDINGS = 8
MAX_TROUBLE = 5

_PUNCTUATION = re.compile(r"[\\`*_\[\]|~#!$]")
_BLOCK_START = re.compile(r"^(\d*)([-+=:.)])(?=\s|$)")
_AUTOLINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_FRONT_MATTER = re.compile(rf"[<>&\[\]`|]|{_AUTOLINK.pattern}", re.IGNORECASE)


def render_markdown(datasheet: Datasheet) -> str:
    """The card of a datasheet. The same record gives the same text; it can always be encoded as UTF-8."""
    blocks: tuple[Iterator[str], ...] = (
        _front_matter(datasheet),
        _heading(datasheet),
        _findings(datasheet.findings),
        _ratings(datasheet.measures),
        _trouble(datasheet.trouble),
        iter([f"SHA-256 of the JSON record: {_digest(datasheet)}"]),
    )
    return "\n".join(chain.from_iterable(blocks)) + "\n"


def _front_matter(datasheet: Datasheet) -> Iterator[str]:
    fields = {
        "format": datasheet.format,
        "judge": datasheet.judge.name,
        "model": datasheet.judge.model,
        "run": datasheet.run.id,
        "fingerprint": datasheet.judge.fingerprint,
    }
    yield "---"
    for name, value in fields.items():
        yield f"{name}: {_quoted(value)}"
    yield from ("---", "")


def _heading(datasheet: Datasheet) -> Iterator[str]:
    yield from (f"# Judge datasheet: {_plain(datasheet.judge.name)}", "")
    if not datasheet.complete:
        yield from ("**Incomplete run: not every planned trial has a response.**", "")


def _findings(findings: Sequence[str]) -> Iterator[str]:
    yield from ("## What was found", "")
    shown = findings if len(findings) <= MAX_FINDINGS else findings[: MAX_FINDINGS - 1]
    for finding in shown:
        yield f"- {_plain(finding)}"
    if len(findings) > len(shown):
        yield f"- And {numbers.count(len(findings) - len(shown))} more in the JSON record."
    if not findings:
        yield "None of the stated rules has anything to say about these measures."
    yield ""


def _ratings(measures: Sequence[MeasureRecord]) -> Iterator[str]:
    yield from ("## Ratings", "")
    if not measures:
        yield from ("Nothing was measured.", "")
        return
    with_arm = len({measure.arm for measure in measures}) > 1
    yield ("| arm " if with_arm else "") + "| measure | k/n | value | interval |"
    yield ("| --- " if with_arm else "") + "| --- | ---: | ---: | --- |"
    for measure in measures:
        yield (f"| {_plain(measure.arm)} " if with_arm else "") + f"| {' | '.join(_cells(measure))} |"
    yield ""


def _cells(measure: MeasureRecord) -> Iterator[str]:
    yield _plain(measure.title) + (f", {_plain(numbers.part(measure.stratum))}" if measure.stratum else "")
    result = measure.result
    if not isinstance(result, EstimateRecord):
        yield from ("–", "Undefined", _plain(result.reason))
        return
    yield f"{numbers.measured_counts(measure, result)} {result.unit}s"
    yield numbers.measured_value(measure, result)
    yield numbers.measured_interval(measure, result.interval)


def _trouble(kinds: Sequence[TroubleRecord]) -> Iterator[str]:
    yield from ("## Answers that are no verdict", "")
    shown = kinds if len(kinds) <= MAX_TROUBLE else kinds[: MAX_TROUBLE - 1]
    for kind in shown:
        yield f"- {numbers.count(kind.count)} {kind.outcome}: {_plain(kind.why)}"
    if len(kinds) > len(shown):
        more = sum(kind.count for kind in kinds[len(shown) :])
        yield f"- {numbers.count(more)} of {numbers.count(len(kinds) - len(shown))} other kinds, in the JSON record."
    if not kinds:
        yield "None: every response was read as a verdict or an abstention."
    yield ""


def _digest(datasheet: Datasheet) -> str:
    try:
        return f"`{sha256(render_json(datasheet).encode()).hexdigest()}`"
    except ValueError:
        # Half of a surrogate pair cannot be written as JSON; the card is still worth reading.
        return "none, since the record holds text that cannot be written as JSON."


def _plain(text: str) -> str:
    """Foreign text as one line of Markdown that shows what it says: no markup, no cell or line break, no link."""
    line = " ".join(inert(text).split())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _PUNCTUATION.sub(r"\\\g<0>", line)
    line = _AUTOLINK.sub(lambda found: f"&#{ord(found[0])};", line)
    return _BLOCK_START.sub(r"\1\\\2", line)


def _quoted(text: str) -> str:
    """Foreign text as a YAML scalar, which is harmless too where front matter is taken for Markdown."""
    return _FRONT_MATTER.sub(lambda found: f"\\u{ord(found[0]):04X}", json.dumps(inert(text), ensure_ascii=False))
