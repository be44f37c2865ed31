"""The report on labelled pairs as a card."""

from collections.abc import Iterator

from umpirical.protocols.pairs.page import page_of
from umpirical.protocols.pairs.record import PairsMeasure, PairsReport
from umpirical.reports import numbers
from umpirical.reports.card import Card, plain, render_card
from umpirical.reports.record import EstimateRecord

__all__ = ["render_pairs_markdown"]


def render_pairs_markdown(report: PairsReport) -> str:
    """Renders the card of one judge."""
    card = Card(
        protocol="pairs",
        title=f"Labelled pairs: {plain(report.judge.name)}",
        lead=list(_lead(report)),
        table=lambda room: _table(report, room=room),
        fields={
            "format": report.format,
            "judge": report.judge.name,
            "model": report.judge.model,
            "run": report.run.id,
            "fingerprint": report.judge.fingerprint,
        },
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
        yield f"| {plain(row.name)} | {' | '.join(_cell(measure) for measure in row.measures)} |"
    yield ""


def _cell(measure: PairsMeasure | None) -> str:
    if measure is None or not isinstance(measure.result, EstimateRecord):
        return "–"
    interval = numbers.measured_interval(measure, measure.result.interval)
    return plain(f"{numbers.measured_value(measure, measure.result)} {interval}")
