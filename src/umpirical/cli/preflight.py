"""Shows a preflight on the terminal, and asks for consent to it."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from umpirical.cli.consent import Terms, agree
from umpirical.cli.terminal import remark

if TYPE_CHECKING:
    from umpirical.domain.judgments import Outcome
    from umpirical.study.estimate import PlanEstimate
    from umpirical.study.preflight import Preflight, PreflightPlan

LONGEST = 600
"""Characters of a prompt or an answer that are shown."""


class TerminalPreflight:
    """Holds preflights before the person at the terminal, or before the flags of the command."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.held = False
        """Whether any call was tried."""

    def agree(self, plans: "Sequence[PreflightPlan]", whole: "PlanEstimate") -> Decimal | None:
        from umpirical.study.spending import enough

        calls, most = sum(plan.calls for plan in plans), sum((plan.at_most for plan in plans), Decimal(0))
        unseen = sum(plan.calls for plan in plans if plan.unseen)
        terms, price = self.terms, f", at most ${most}" if most else ""
        remark(f"preflight: {calls} calls show whether answers can be read{price}; they are kept")
        if not sys.stdin.isatty():
            # Nobody can be asked twice, so the flags have to cover everything.
            most, unseen = whole.bound, whole.unseen_calls
        elif terms.max_cost is not None:
            terms = replace(terms, max_cost=min(terms.max_cost, enough(whole.booked, most)))
        unknown = f"{unseen:,} calls whose price is unknown here" if unseen else ""
        return agree(terms, most=most, booked=whole.booked, unseen=unknown)

    def show(self, found: "Preflight") -> None:
        self.held = True
        remark(f"judge {found.judge}")
        for number, call in enumerate(found.calls):
            if number == 0:
                remark(_block("prompt", call.prompt))
            answer = call.response.text if call.response.text is not None else "(none)"
            remark(_block("answer", answer))
            remark(f"  read as: {_read(call.outcome)}")


def _block(title: str, text: str) -> str:
    shown = text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\n[...]\n{text[-LONGEST // 2 :]}"
    lines = "\n".join(f"    {line}" for line in shown.splitlines() or [""])
    return f"  {title}:\n{lines}"


def _read(outcome: "Outcome") -> str:
    from umpirical.domain.judgments import Abstained, Failed, Unparsed, Verdict

    match outcome:
        case Verdict(value=value):
            return f"{value}"
        case Abstained():
            return "abstained"
        case Unparsed(why=why):
            return f"nothing, {why}"
        case Failed(kind=kind, detail=detail):
            return f"nothing, {kind}: {detail}"
