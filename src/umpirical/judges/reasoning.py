"""Whether a judge's reasoning and its verdict say the same."""

from dataclasses import dataclass
from functools import cache

from umpirical.domain.judgments import Grade, Outcome, ReasoningFinding, Verdict
from umpirical.domain.layouts import Layout
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.trials import Presentation
from umpirical.judges.answers import AnswerReader
from umpirical.judges.statements import Statements

__all__ = ["Reasoned", "ReasoningCheck"]


@dataclass(frozen=True, slots=True)
class Reasoned:
    """The reasoning of one answer, held against its verdict."""

    text: str
    """The reasoning itself."""
    finding: ReasoningFinding
    stated: Choice | Grade | None
    """What it says outright; None if nothing."""


class ReasoningCheck:
    """Holds the reasoning of answers against the verdicts read from them. Pure, as reading is."""

    version = 1
    """Incremented with every change that could find another statement."""

    def __init__(self, reader: AnswerReader) -> None:
        self._reader = reader
        self._statements = cache(self._statements_under)

    def check(self, response: Response, presentation: Presentation, outcome: Outcome | None) -> Reasoned | None:
        """Returns what the reasoning of a verdict says; None without a verdict, or without a reasoning."""
        if not isinstance(outcome, Verdict):
            return None
        text = self._reader.under(presentation.layout).reasoning(response.text or "")
        if not text:
            return None
        stated = self._statements(presentation.layout).last(text)
        if stated is None:
            return Reasoned(text, "states-none", None)
        return Reasoned(text, "agrees" if stated == outcome.value else "contradicts", stated)

    def _statements_under(self, layout: Layout | None) -> Statements:
        reader = self._reader.under(layout)
        # Where labels are swapped, `the first answer` may be the first one or the one that is called so.
        return Statements(reader.scale, reader.words, ordinals=layout is None)
