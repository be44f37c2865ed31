"""The trials of a stress plan, counted as if a judge had answered everything and never changed its mind."""

from collections import Counter
from dataclasses import dataclass, field

from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL, FlippedVerdict, SameVerdict, Stimulus
from umpirical.domain.tallies import CallTally, ChangeTally, GoldTally, RepeatTally, Tallies
from umpirical.domain.trials import Trial

__all__ = ["PlannedStress"]


@dataclass(slots=True)
class PlannedStress:
    """What a plan asks of each item."""

    scale: GradeScale
    calls: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    repeats: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    """Task, arm, test and original, to how often it is asked in that way."""
    changed: dict[tuple[str, str, str, str], Stimulus] = field(default_factory=dict)

    def add(self, trial: Trial, stimulus: Stimulus) -> None:
        task, arm, test = stimulus.task_id, trial.presentation.arm, stimulus.family
        self.calls[task, arm, test] += 1
        if test == ORIGINAL:
            self.repeats[task, arm, "stability" if trial.presentation.seed is None else "seeds", stimulus.id] += 1
        self.changed[task, arm, test, stimulus.id] = stimulus

    def tallies(self) -> Tallies:
        """Of a judge that gives every item the first label, always."""
        first = self.scale.labels[0] if self.scale.labels else f"{self.scale.low:g}"
        score = self.scale.score(first)
        return Tallies(
            calls=tuple(
                CallTally(task, arm, test, "", None, planned=count, graded=count)
                for (task, arm, test), count in self.calls.items()
            ),
            changes=tuple(self._changes()),
            repeats=tuple(
                RepeatTally(task, arm, test, "", ((first, count),), () if score is None else (score,), 1, count)
                for (task, arm, test, _), count in self.repeats.items()
                if count > 1
            ),
            golds=tuple(
                GoldTally(task, arm, test, "", stimulus.gold, first, self.scale.score(stimulus.gold), score, 1.0)
                for (task, arm, test, _), stimulus in self.changed.items()
                if stimulus.gold
            ),
            scale=self.scale,
        )

    def _changes(self) -> list[ChangeTally]:
        found = []
        for (task, arm, test, _), stimulus in self.changed.items():
            if test != ORIGINAL and isinstance(stimulus.expectation, SameVerdict | FlippedVerdict):
                kind = stimulus.expectation.kind
                again = self.repeats.get((task, arm, "stability", stimulus.parent), 0) > 1
                found.append(ChangeTally(task, arm, test, "", kind, pairs=1, golden=1, retested=int(again)))
        return found
