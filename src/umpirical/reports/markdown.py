"""The datasheet as a card: one screen of Markdown, for a repository or a model page. The JSON record is the whole."""

import json
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256

from umpirical.reports import numbers
from umpirical.reports.decision import TITLES
from umpirical.reports.page import Rating, ratings_of
from umpirical.reports.record import Datasheet, EstimateRecord, TroubleRecord, render_json
from umpirical.reports.record_verdicts import DecisionRecord, LimitRecord
from umpirical.text.inert import inert

__all__ = ["plain", "quoted", "render_markdown"]

MOST_LINES = 60
MAX_FINDINGS = 8
MAX_TROUBLE = 5

_PUNCTUATION = re.compile(r"[\\`*_\[\]|~#!$]")
_BLOCK_START = re.compile(r"^(\d*)([-+=:.)])(?=\s|$)")
_AUTOLINK = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_FRONT_MATTER = re.compile(rf"[<>&\[\]`|]|{_AUTOLINK.pattern}", re.IGNORECASE)


def render_markdown(datasheet: Datasheet) -> str:
    """The card of a datasheet. The same record gives the same text; it can always be encoded as UTF-8."""
    before = [*_front_matter(datasheet), *_heading(datasheet), *_decision(datasheet), *_findings(datasheet.findings)]
    after = [*_trouble(datasheet.trouble), f"SHA-256 of the JSON record: {_digest(datasheet)}"]
    ratings = _ratings(datasheet, room=MOST_LINES - len(before) - len(after))
    return "\n".join([*before, *ratings, *after]) + "\n"


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
        yield f"{name}: {quoted(value)}"
    yield from ("---", "")


def _heading(datasheet: Datasheet) -> Iterator[str]:
    yield from (f"# Judge datasheet: {plain(datasheet.judge.name)}", "")
    if not datasheet.complete:
        yield from ("**Incomplete run: not every planned trial has a response.**", "")


def _decision(datasheet: Datasheet) -> Iterator[str]:
    decision = datasheet.decision
    if decision is None:
        return
    yield from (f"**{TITLES[decision.verdict]}.** {plain(' '.join(decision.sentences))}", "")
    for title, items in _lists(decision):
        if items:
            yield f"- {title}: {plain(' '.join(items))}"
    if datasheet.profile:
        yield f"- Profile sketch: {plain(datasheet.profile.name)}"
    if datasheet.spend and datasheet.spend.cost_per_1000 is not None:
        # A dollar sign starts a formula in some Markdown.
        yield f"- Cost of 1,000 calls: {plain(numbers.dollars(datasheet.spend.cost_per_1000))}"
    yield ""


def _lists(decision: DecisionRecord) -> tuple[tuple[str, list[str]], ...]:
    return (
        ("Good for", decision.good_for),
        ("Not for", decision.not_for),
        ("Use it like this", decision.use_like_this),
        ("Not measured", decision.not_measured),
    )


def _findings(findings: Sequence[str]) -> Iterator[str]:
    yield from ("## What was found", "")
    shown = findings if len(findings) <= MAX_FINDINGS else findings[: MAX_FINDINGS - 1]
    for finding in shown:
        yield f"- {plain(finding)}"
    if len(findings) > len(shown):
        yield f"- And {numbers.count(len(findings) - len(shown))} more in the JSON record."
    if not findings:
        yield "None of the stated rules has anything to say about these measures."
    yield ""


def _ratings(datasheet: Datasheet, *, room: int) -> Iterator[str]:
    """As many rows as there is room for, those with a limit first; the JSON record has them all."""
    yield from ("## Ratings", "")
    if not datasheet.measures:
        yield from ("Nothing was measured.", "")
        return
    arms = dict.fromkeys(measure.arm for measure in datasheet.measures)
    rows = [(arm, row) for arm in arms for row in ratings_of(datasheet, arm)]
    rows.sort(key=lambda row: row[1].limit is None)
    shown = rows[: max(0, room - 7)]
    with_arm = len(arms) > 1
    yield ("| arm " if with_arm else "") + "| measure | k/n | value | interval | limit | verdict |"
    yield ("| --- " if with_arm else "") + "| --- | ---: | ---: | --- | --- | --- |"
    for arm, row in shown:
        yield (f"| {plain(arm)} " if with_arm else "") + f"| {' | '.join([*_cells(row), *_held(row.limit)])} |"
    if more := len(datasheet.measures) - sum(row.measure is not None for _, row in shown):
        yield from ("", f"And {numbers.count(more)} more measures in the JSON record.")
    yield ""


def _cells(row: Rating) -> Iterator[str]:
    about = row.measure or row.limit
    assert about is not None  # noqa: S101  # a rating is about a measure, a limit or both
    title = about.title or (row.limit.measure if row.limit else "")
    yield plain(title) + (f", {plain(numbers.part(about.stratum))}" if about.stratum else "")
    result = row.measure.result if row.measure else None
    if row.measure is None or result is None:
        yield from ("–", "–", "not measured")
    elif not isinstance(result, EstimateRecord):
        yield from ("–", "Undefined", plain(result.reason))
    else:
        yield f"{numbers.measured_counts(row.measure, result)} {result.unit}s"
        yield numbers.measured_value(row.measure, result)
        yield numbers.measured_interval(row.measure, result.interval)


def _held(limit: LimitRecord | None) -> Iterator[str]:
    if limit is None:
        yield from ("", "REPORT")
        return
    yield numbers.limit(limit.kind, limit.value)
    more = "" if limit.more_needed is None or limit.unit is None else (
        f", about {numbers.about(limit.more_needed)} more {numbers.units(limit.unit, limit.more_needed)}"
    )  # fmt: skip
    yield f"{limit.verdict}{more}"


def _trouble(kinds: Sequence[TroubleRecord]) -> Iterator[str]:
    yield from ("## Answers that are no verdict", "")
    shown = kinds if len(kinds) <= MAX_TROUBLE else kinds[: MAX_TROUBLE - 1]
    for kind in shown:
        yield f"- {numbers.count(kind.count)} {kind.outcome}: {plain(kind.why)}"
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


def plain(text: str) -> str:
    """Foreign text as one line of Markdown that shows what it says: no markup, no cell or line break, no link."""
    line = " ".join(inert(text).split())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _PUNCTUATION.sub(r"\\\g<0>", line)
    line = _AUTOLINK.sub(lambda found: f"&#{ord(found[0])};", line)
    return _BLOCK_START.sub(r"\1\\\2", line)


def quoted(text: str) -> str:
    """Foreign text as a YAML scalar, which is harmless too where front matter is taken for Markdown."""
    return _FRONT_MATTER.sub(lambda found: f"\\u{ord(found[0]):04X}", json.dumps(inert(text), ensure_ascii=False))
