"""The datasheet as a card."""

from collections.abc import Iterator, Sequence

from umpirical.protocols.datasheet.page import Rating, ratings_of
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.reports import numbers
from umpirical.reports.card import Card, plain, render_card
from umpirical.reports.decision import DecisionRecord
from umpirical.reports.record import EstimateRecord, LimitRecord

MAX_FINDINGS = 8


def render_markdown(datasheet: Datasheet) -> str:
    """Renders the card of a datasheet."""
    judge = datasheet.judge
    card = Card(
        protocol="datasheet",
        title=f"Judge datasheet: {plain(judge.name)}",
        lead=[*_decision(datasheet), *_findings(datasheet.findings)],
        table=lambda room: _ratings(datasheet, room=room),
    )
    return render_card(card, datasheet)


def _decision(datasheet: Datasheet) -> Iterator[str]:
    decision = datasheet.decision
    if decision is None:
        return
    yield from (f"**{decision.title}.** {plain(' '.join(decision.sentences))}", "")
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
    """Yields as many rows as fit, those with a limit first; the JSON record has them all."""
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
