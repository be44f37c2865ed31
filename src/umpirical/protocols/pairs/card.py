"""The report on labelled pairs as a card."""

from collections.abc import Iterator

from umpirical.protocols.pairs.page import page_of
from umpirical.protocols.pairs.record import PairsReport
from umpirical.reports import numbers
from umpirical.reports.card import Card, judge_fields, measured_cell, plain, render_card


def render_pairs_markdown(report: PairsReport) -> str:
    """Renders the card of one judge."""
    card = Card(
        protocol="pairs",
        title=f"Labelled pairs: {plain(report.judge.name)}",
        lead=list(_lead(report)),
        table=lambda room: _table(report, room=room),
        fields={"format": report.format, **judge_fields(report)},
    )
    return render_card(card, report, lambda: report.model_dump_json(indent=1) + "\n")


def _lead(report: PairsReport) -> Iterator[str]:
    decision = report.decision
    yield f"**{decision.title}.** {plain(' '.join(decision.sentences))}"
    yield ""
    yield from (f"- {plain(finding)}" for finding in report.findings)
    shown = decision.weak_at if len(decision.weak_at) <= MOST_WEAK else decision.weak_at[: MOST_WEAK - 1]
    yield from (f"- Weak at {plain(part)}." for part in shown)
    if more := len(decision.weak_at) - len(shown):
        yield f"- Weak at {numbers.count(more)} other parts, in the JSON record."
    yield ""


MOST_WEAK = 8
"""Weak parts that a card names: a public set may have dozens of subsets."""


def _table(report: PairsReport, *, room: int) -> Iterator[str]:
    page = page_of(report)
    yield f"| pairs | {' | '.join(page.titles)} |"
    yield f"| --- |{' ---: |' * len(page.titles)}"
    for row in (page.accuracy[0], *page.lengths, *page.accuracy[1:])[: max(1, room - 4)]:
        yield f"| {plain(row.name)} | {' | '.join(map(measured_cell, row.measures))} |"
    yield ""
