"""Whether a judge's reasoning and its verdict say the same."""

from dataclasses import dataclass

from umpirical.domain.judgments import Grade, Outcome, ReasoningFinding, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.trials import Presentation
from umpirical.judges.answers import AnswerReader
from umpirical.judges.statements import Statements


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
        self._statements: dict[AnswerReader, Statements] = {}

    def check(self, response: Response, presentation: Presentation, outcome: Outcome | None) -> Reasoned | None:
        """Returns what the reasoning of a verdict says; None without a verdict, or without a reasoning."""
        if not isinstance(outcome, Verdict):
            return None
        reader = self._reader.under(presentation)
        text = reader.reasoning(response.text or "")
        if not text:
            return None
        if reader not in self._statements:
            # Where labels are swapped, `the first answer` may be the first one or the one that is called so.
            ordinals = presentation.layout is None
            self._statements[reader] = Statements(reader.scale, reader.words, ordinals=ordinals)
        stated = self._statements[reader].last(text)
        if stated is None:
            return Reasoned(text, "states-none", None)
        return Reasoned(text, "agrees" if stated == outcome.value else "contradicts", stated)
