"""How the user's own data is presented, and what its plan will count."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from umpirical.domain.digests import Json
from umpirical.domain.scales import GradeScale, JudgeKind
from umpirical.domain.stimuli import ORIGINAL, Expectation, FlippedVerdict, GivenLabel, SameVerdict, Stimulus
from umpirical.domain.tallies import CallTally, ChangeTally, GoldTally, RepeatTally, Tallies
from umpirical.domain.trials import Order, Presentation, Trial
from umpirical.judges.judge import Capabilities
from umpirical.protocols.protocol import PlannedCounts
from umpirical.runs.plan import Design


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
    sampling: tuple[str, ...] = ()
    """Parameters of sampling, as JSON; an original is asked once more with each."""
    test_prompts: tuple[str, ...] = ()
    """The tests that the judge has a prompt of its own for."""
    compared: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """For each original, by id: those of these tests that changed it. It is asked with their prompts, too."""

    def as_json(self) -> Json:
        plain = StressDesign()
        names = ("original_repeats", "changed_repeats", "seeds", "first_seed", "sampling", "test_prompts")
        # Default values are left out, so that a design keeps its id when new fields are added.
        own = {name: getattr(self, name) for name in names if getattr(self, name) != getattr(plain, name)}
        return {"repeats": self.repeats, "arms": self.arms, **own}

    def most_ways(self) -> int:
        times = max(self.repeats, self.changed_repeats, self.original_repeats)
        prompts = 1 + len(self.test_prompts)
        return len(self.arms) * (len(Order) * times * prompts + self.seeds + len(self.sampling))

    def over(self, stimuli: Iterable[Stimulus]) -> "StressDesign":
        if not self.test_prompts:
            return self
        compared: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for stimulus in stimuli:
            if stimulus.family in self.test_prompts and not isinstance(stimulus.expectation, GivenLabel):
                compared[stimulus.parent][stimulus.family] = None
        return replace(self, compared={original: tuple(tests) for original, tests in compared.items()})

    def presentations(
        self, stimulus: Stimulus, capabilities: Capabilities, kind: JudgeKind = "grade"
    ) -> Iterator[Presentation]:
        original = stimulus.family == ORIGINAL
        orders = self.orders(stimulus, capabilities, kind)
        for arm in self.arms if orders else ():
            prompts = self._prompts(stimulus) if arm == self.arms[0] else ("",)
            for prompt in prompts:
                for repeat in range(self._times(stimulus)):
                    for order in orders:
                        yield Presentation(order, arm, repeat, prompt=prompt)
            for repeat in range(self.seeds if original else 0):
                yield Presentation(Order.UV, arm, repeat, seed=self.first_seed + repeat)
            for place, sampling in enumerate(self.sampling if original else ()):
                # Numbered on from the repeats: parameters that are the judge's own are one more call, not the same one.
                yield Presentation(Order.UV, arm, self.original_repeats + place, sampling=sampling)

    def _prompts(self, stimulus: Stimulus) -> tuple[str, ...]:
        """Returns the prompts that a text is asked with: a verdict is compared only with one that the same gave."""
        if stimulus.family == ORIGINAL:
            return ("", *self.compared.get(stimulus.id, ()))
        return (stimulus.family if stimulus.family in self.test_prompts else "",)

    def _times(self, stimulus: Stimulus) -> int:
        if stimulus.family == ORIGINAL:
            return self.original_repeats
        if isinstance(stimulus.expectation, SameVerdict):
            return max(self.repeats, self.changed_repeats)
        return self.repeats


def _way(presentation: Presentation) -> str:
    """Returns the test that a repeat of an original is for."""
    if presentation.sampling:
        return "sampling"
    return "stability" if presentation.seed is None else "seeds"


class _Text(NamedTuple):
    """What is counted about a text."""

    parent: str
    gold: str
    expectation: Expectation


@dataclass(slots=True)
class PlannedStress(PlannedCounts):
    """What a plan asks about each item."""

    scale: GradeScale
    calls: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    repeats: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    """Maps task, arm, test and original to how often it is asked in that way."""
    times: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Maps arm, prompt and text to how often it is asked in the same words."""
    prompts: dict[tuple[str, str], str] = field(default_factory=dict)
    """Maps arm and changed text to the prompt that it is asked with."""
    texts: dict[tuple[str, str, str, str], _Text] = field(default_factory=dict)
    """Maps task, arm, test and text to what is counted about it; not to the text itself, of which there are many."""

    def add(self, trial: Trial, stimulus: Stimulus) -> None:
        task, arm, test = stimulus.cluster, trial.presentation.arm, stimulus.family
        prompt = trial.presentation.prompt
        self.calls[task, arm, test] += 1
        if test == ORIGINAL and not prompt:
            self.repeats[task, arm, _way(trial.presentation), stimulus.id] += 1
        self.times[arm, prompt, stimulus.id] += _way(trial.presentation) == "stability"
        self.prompts[arm, stimulus.id] = prompt
        key = (task, arm, test, stimulus.id)
        if key not in self.texts:
            self.texts[key] = _Text(stimulus.parent, stimulus.gold, stimulus.expectation)

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
                GoldTally(task, arm, test, "", text.gold, first, self.scale.score(text.gold), score, 1.0)
                for (task, arm, test, _), text in self.texts.items()
                if text.gold
            ),
            scale=self.scale,
        )

    def _changes(self) -> list[ChangeTally]:
        found = []
        for (task, arm, test, name), text in self.texts.items():
            if test != ORIGINAL and isinstance(text.expectation, SameVerdict | FlippedVerdict):
                kind = text.expectation.kind
                prompt = self.prompts[arm, name]
                again = min(self.times[arm, prompt, each] for each in (text.parent, name)) > 1
                found.append(ChangeTally(task, arm, test, "", kind, pairs=1, golden=1, retested=int(again)))
        return found
