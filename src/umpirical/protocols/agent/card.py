"""The agent report as a card."""

from collections.abc import Iterator

from umpirical.protocols.agent.page import page_of
from umpirical.protocols.agent.record import AgentReport
from umpirical.reports.card import Card, judge_fields, measured_cell, plain, render_card


def render_agent_markdown(report: AgentReport) -> str:
    """Renders the card of one judge of agents."""
    card = Card(
        protocol="agent",
        title=f"Judge of agents: {plain(report.judge.name)}",
        lead=list(_lead(report)),
        table=lambda room: _table(report, room=room),
        fields={"format": report.format, **judge_fields(report)},
    )
    return render_card(card, report, lambda: report.model_dump_json(indent=1) + "\n")


def _lead(report: AgentReport) -> Iterator[str]:
    decision = report.decision
    yield f"**{decision.title}.** {plain(' '.join(decision.sentences))}"
    yield ""
    yield from (f"- {plain(finding)}" for finding in report.findings)
    yield from (f"- Weak at {plain(part)}." for part in decision.weak_at)
    yield ""


def _table(report: AgentReport, *, room: int) -> Iterator[str]:
    page = page_of(report)
    yield f"| {'pairs' if report.judge.kind == 'compare' else 'texts'} | {' | '.join(page.titles)} |"
    yield f"| --- |{' ---: |' * len(page.titles)}"
    for row in page.edits[: max(1, room - 4)]:
        yield f"| {plain(row.name)} | {' | '.join(map(measured_cell, row.measures))} |"
    yield ""
    # A card is one screen: of each item that is graded in levels, it has the row of all texts.
    if page.levels and room > len(page.edits) + len(page.levels) + 8:
        yield f"| graded in levels | {' | '.join(page.levels[0].titles)} |"
        yield f"| --- |{' ---: |' * len(page.levels[0].titles)}"
        for shown in page.levels:
            yield f"| {plain(shown.item.name)} | {' | '.join(map(measured_cell, shown.rows[0].measures))} |"
        yield ""
