"""A comparison as one screen of Markdown."""

from collections.abc import Iterator

from umpirical.protocols.datasheet.comparison.pages import COLUMNS, judge_views
from umpirical.protocols.datasheet.comparison.record import Comparison
from umpirical.reports import numbers
from umpirical.reports.card import measured_cell, plain, quoted

MOST_JUDGES = 26
"""More are in the JSON record: a card is one screen."""

MOST_FINDINGS = 12
MOST_COST_FINDINGS = 4


def render_comparison_markdown(comparison: Comparison) -> str:
    """Renders the card of a comparison. The same record gives the same encodable text."""
    return "\n".join(_card(comparison)) + "\n"


def _card(comparison: Comparison) -> Iterator[str]:
    judges = judge_views(comparison)
    yield from ("---", f"format: {quoted(comparison.format)}", f"policy: {quoted(comparison.policy)}")
    yield from (f"judges: {quoted(numbers.count(len(judges)))}", "---", "")
    yield from (f"# {numbers.count(len(judges))} judges compared", "")
    if incomplete := [judge.sign for judge in judges if not judge.side.complete]:
        yield from (f"**Incomplete runs: {', '.join(incomplete)}.**", "")
    for pick in comparison.picks:
        yield f"- For {plain(pick.policy)}: **{plain(pick.title)}**. {plain(' '.join(pick.sentences))}"
    yield ""
    yield from (f"- {plain(finding)}" for finding in comparison.findings[:MOST_FINDINGS])
    if comparison.costs:
        yield from (f"- {plain(finding)}" for finding in comparison.costs.findings[:MOST_COST_FINDINGS])
    head = ["", "judge", "decision", *(title for _, _, title in COLUMNS), "1,000 calls"]
    yield from ("", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}")
    for judge in judges[:MOST_JUDGES]:
        decision = judge.side.decision.title if judge.side.decision else "none"
        name = f"{judge.name} (reference)" if judge.side.reference else judge.name
        cells = [
            judge.sign,
            plain(name),
            decision,
            *(measured_cell(cell, undefined="undefined") for cell in judge.cells),
            judge.price,
        ]
        yield f"| {' | '.join(cells)} |"
    if (more := len(judges) - MOST_JUDGES) > 0:
        yield from ("", f"And {numbers.count(more)} more in the JSON record.")
