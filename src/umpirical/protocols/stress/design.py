"""How the user's own data is presented, and what its plan will count."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from umpirical.domain.digests import Json
from umpirical.domain.scales import GradeScale, JudgeKind
from umpirical.domain.stimuli import ORIGINAL, FlippedVerdict, SameVerdict, Stimulus
from umpirical.domain.tallies import CallTally, ChangeTally, GoldTally, RepeatTally, Tallies
from umpirical.domain.trials import Order, Presentation, Trial
from umpirical.judges.judge import Capabilities
from umpirical.protocols.protocol import PlannedCounts
from umpirical.runs.plan import Design

__all__ = ["PlannedStress", "StressDesign"]


@dataclass(frozen=True)
class StressDesign(Design):
    """Every text in every arm; more often where the judge's own noise has to be told from a change of the text."""

    original_repeats: int = 1
    """How often an original of the user's own data is asked."""
    changed_repeats: int = 1
    """How often a changed text is asked whose verdict should stay: at least twice, if its own noise is to be known."""
    seeds: int = 0
    """How many more times an original is asked, each time with a seed of its own."""
    first_seed: int = 1
    """The first of these seeds; none of them is the judge's own, which would be the same request again."""

    def as_json(self) -> Json:
        plain = StressDesign()
        names = ("original_repeats", "changed_repeats", "seeds", "first_seed")
        # Default values are left out, so that a design keeps its id when new fields are added.
        own = {name: getattr(self, name) for name in names if getattr(self, name) != getattr(plain, name)}
        return {"repeats": self.repeats, "arms": self.arms, **own}

    def presentations(
        self, stimulus: Stimulus, capabilities: Capabilities, kind: JudgeKind = "grade"
    ) -> Iterator[Presentation]:
        original = stimulus.family == ORIGINAL
        orders = self.orders(stimulus, capabilities, kind)
        for arm in self.arms if orders else ():
            for repeat in range(self._times(stimulus)):
                for order in orders:
                    yield Presentation(order, arm, repeat)
            for repeat in range(self.seeds if original else 0):
                yield Presentation(Order.UV, arm, repeat, seed=self.first_seed + repeat)

    def _times(self, stimulus: Stimulus) -> int:
        if stimulus.family == ORIGINAL:
            return self.original_repeats
        if isinstance(stimulus.expectation, SameVerdict):
            return max(self.repeats, self.changed_repeats)
        return self.repeats


@dataclass(slots=True)
class PlannedStress(PlannedCounts):
    """What a plan asks about each item."""

    scale: GradeScale
    calls: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    repeats: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    """Maps task, arm, test and original to how often it is asked in that way."""
    times: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Maps arm and text to how often it is asked in the same words."""
    changed: dict[tuple[str, str, str, str], Stimulus] = field(default_factory=dict)

    def add(self, trial: Trial, stimulus: Stimulus) -> None:
        task, arm, test = stimulus.cluster, trial.presentation.arm, stimulus.family
        self.calls[task, arm, test] += 1
        if test == ORIGINAL:
            self.repeats[task, arm, "stability" if trial.presentation.seed is None else "seeds", stimulus.id] += 1
        self.times[arm, stimulus.id] += trial.presentation.seed is None
        self.changed[task, arm, test, stimulus.id] = stimulus

    def tallies(self) -> Tallies:
        """Returns the tallies of a judge that always gives every item the first label."""
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
                again = min(self.times[arm, stimulus.parent], self.times[arm, stimulus.id]) > 1
                found.append(ChangeTally(task, arm, test, "", kind, pairs=1, golden=1, retested=int(again)))
        return found
