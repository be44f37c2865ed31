"""How the user's own data is presented, what its plan will count, and the truth about it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from umpirical.domain.digests import Json, digest
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale, JudgeKind
from umpirical.domain.stimuli import ORIGINAL, Expectation, FlippedVerdict, GivenLabel, SameVerdict, Stimulus
from umpirical.domain.tallies import CallTally, ChangeTally, GoldTally, RepeatTally, Tallies
from umpirical.domain.trials import Order, Presentation, Presented, Trial
from umpirical.judges.judge import Capabilities
from umpirical.judges.prompt import columns_of, fence
from umpirical.judges.simulated.examiner import ExaminerKey, Truth, words_ratio
from umpirical.judges.simulated.profiles import EXAMINER_PROFILES
from umpirical.judges.spec import JudgeSpec
from umpirical.protocols.protocol import PlannedCounts
from umpirical.runs.plan import Design
from umpirical.stats.simulation.examiner import Kind
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, Alters, Perturbation


@dataclass(frozen=True)
class StressDesign(Design):
    """Every text in every variant; more often where the judge's own noise has to be told from a change of the text."""

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
    """For each text, by id: those of these tests that changed it. It is asked with their prompts, too."""

    def as_json(self) -> Json:
        plain = StressDesign()
        names = ("original_repeats", "changed_repeats", "seeds", "first_seed", "sampling", "test_prompts")
        # Default values are left out, so that a design keeps its id when new fields are added.
        own = {name: getattr(self, name) for name in names if getattr(self, name) != getattr(plain, name)}
        return {"repeats": self.repeats, "variants": self.variants, **own}

    def most_ways(self) -> int:
        times = max(self.repeats, self.changed_repeats, self.original_repeats)
        prompts = 1 + len(self.test_prompts)
        return len(self.variants) * (len(Order) * times * prompts + self.seeds + len(self.sampling))

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
        for variant in self.variants if orders else ():
            prompts = self._prompts(stimulus) if variant == self.variants[0] else ("",)
            for prompt in prompts:
                for repeat in range(self._times(stimulus)):
                    for order in orders:
                        yield Presentation(order, variant, repeat, prompt=prompt)
            for repeat in range(self.seeds if original else 0):
                yield Presentation(Order.AB, variant, repeat, seed=self.first_seed + repeat)
            for place, sampling in enumerate(self.sampling if original else ()):
                # Numbered on from the repeats: parameters that are the judge's own are one more call, not the same one.
                yield Presentation(Order.AB, variant, self.original_repeats + place, sampling=sampling)

    def _prompts(self, stimulus: Stimulus) -> tuple[str, ...]:
        """Returns the prompts that a text is asked with: a verdict is compared only with one that the same gave."""
        own = stimulus.family if stimulus.family in self.test_prompts else ""
        return (own, *(test for test in self.compared.get(stimulus.id, ()) if test != own))

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
    """Maps task, variant, test and original to how often it is asked in that way."""
    times: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Maps variant, prompt and text to how often it is asked in the same words."""
    prompts: dict[tuple[str, str], str] = field(default_factory=dict)
    """Maps variant and changed text to the prompt that it is asked with."""
    texts: dict[tuple[str, str, str, str], _Text] = field(default_factory=dict)
    """Maps task, variant, test and text to what is counted about it; not to the text itself, of which there are
    many."""

    def add(self, trial: Trial, stimulus: Stimulus) -> None:
        task, variant, test = stimulus.cluster, trial.presentation.variant, stimulus.family
        prompt = trial.presentation.prompt
        self.calls[task, variant, test] += 1
        if test == ORIGINAL and not prompt:
            self.repeats[task, variant, _way(trial.presentation), stimulus.id] += 1
        self.times[variant, prompt, stimulus.id] += _way(trial.presentation) == "stability"
        self.prompts[variant, stimulus.id] = prompt
        key = (task, variant, test, stimulus.id)
        if key not in self.texts:
            self.texts[key] = _Text(stimulus.parent, stimulus.gold, stimulus.expectation)

    def tallies(self) -> Tallies:
        """Returns the tallies of a judge that always gives every item the first label."""
        first = self.scale.labels[0] if self.scale.labels else f"{self.scale.low:g}"
        score = self.scale.score(first)
        return Tallies(
            calls=tuple(
                CallTally(task, variant, test, "", None, planned=count, graded=count)
                for (task, variant, test), count in self.calls.items()
            ),
            changes=tuple(self._changes()),
            repeats=tuple(
                RepeatTally(task, variant, test, "", ((first, count),), () if score is None else (score,), 1, count)
                for (task, variant, test, _), count in self.repeats.items()
                if count > 1
            ),
            golds=tuple(
                GoldTally(task, variant, test, "", text.gold, first, self.scale.score(text.gold), score, 1.0)
                for (task, variant, test, _), text in self.texts.items()
                if text.gold
            ),
            scale=self.scale,
        )

    def _changes(self) -> list[ChangeTally]:
        found = []
        for (task, variant, test, name), text in self.texts.items():
            if test != ORIGINAL and isinstance(text.expectation, SameVerdict | FlippedVerdict):
                kind = text.expectation.kind
                prompt = self.prompts[variant, name]
                again = min(self.times[variant, prompt, each] for each in (text.parent, name)) > 1
                found.append(ChangeTally(task, variant, test, "", kind, pairs=1, golden=1, retested=int(again)))
        return found


# The answer key of a stress study: the truth about every text. Only a simulated examiner is given it.


_KINDS: Mapping[Alters, Kind] = {
    "format": "format",
    "wording": "paraphrase",
    "cue": "cue",
    "own-words": "own-words",
    "own-claim": "own-claim",
    "other": "none",
}


def answer_key(judge: JudgeSpec, stimuli: Iterable[Stimulus]) -> ExaminerKey:
    """Returns the truth about every text, for a simulated judge that answers by it."""
    if judge.model is None or judge.model.name not in EXAMINER_PROFILES or judge.scale is None:
        message = "this simulated judge supports only the built-in test cases, not your own data"
        raise UsageError(message, fix=f"use one of {', '.join(EXAMINER_PROFILES)}")
    scale = judge.scale
    # A judge that is only opened to render its questions looks nothing up.
    key = cache(lambda: truth_of(stimuli, scale, columns_of(judge)))

    def look_up(text: str, *, fence: str) -> Truth:
        return key()(text, fence=fence)

    return look_up


def truth_of(stimuli: Iterable[Stimulus], scale: GradeScale, columns: Collection[str] = ()) -> ExaminerKey:
    """Returns a function from a text and the mark around it to the truth about it.

    `columns` are those of the data that the judge is shown: the mark depends on them too.
    """
    known: dict[tuple[str, str], Truth] = {}
    for shown, truth in truths(stimuli, scale, columns):
        # Two rows may have the same task and text but different labels, or a changed text may equal another row's text.
        # A judge that sees only the text can give only one answer, so the first row decides.
        known.setdefault((shown.first, fence(shown)), truth)

    def look_up(text: str, *, fence: str) -> Truth:
        return known[text, fence]

    return look_up


def truths(
    stimuli: Iterable[Stimulus], scale: GradeScale, columns: Collection[str] = ()
) -> Iterator[tuple[Presented, Truth]]:
    """Yields every text as it is shown, with what is known about it.

    `stimuli` is iterated over several times, because a text may come before its original.
    """
    known = {test.name: test for test in map(_known, {stimulus.family for stimulus in stimuli}) if test}
    from_others = {name for test in known.values() for name in (test.against, *getattr(test, "over", ()))}
    sources = {stimulus.id: stimulus for stimulus in stimuli if stimulus.family in {ORIGINAL, *from_others}}
    for stimulus in stimuli:
        *_, original = chain = list(_chain(stimulus, sources))
        before = _kinds(chain[1:])
        held = {name: stimulus.columns[name] for name in columns}
        truth = _truth(stimulus, original, scale, _kinds(chain), before)
        yield Presented(stimulus.task, stimulus.candidates[0], None, columns=held), truth


def _known(test: str) -> Perturbation | None:
    return PERTURBATIONS.get(test) if test in PERTURBATIONS.names() else None


def _chain(stimulus: Stimulus, sources: Mapping[str, Stimulus]) -> Iterator[Stimulus]:
    """Yields a text, what it is compared with, what that is compared with, and so on to the original."""
    yield stimulus
    # A text that was written for its own label has no original to be compared with.
    while stimulus.family != ORIGINAL and not isinstance(stimulus.expectation, GivenLabel):
        if stimulus.parent not in sources:
            raise ValueError(f"stimulus {stimulus.id} of {stimulus.family} was made from none of the originals")
        stimulus = sources[stimulus.parent]
        yield stimulus


def _kinds(chain: Sequence[Stimulus]) -> tuple[Kind, ...]:
    """Returns what was done to the first text: what another test did is left out if it is compared with that."""
    found, instead = list[Kind](), ""
    for stimulus in chain:
        if stimulus.family != instead:
            found.append(kind_of(stimulus.family))
        test = _known(stimulus.family)
        instead = test.against if test else ""
    return tuple(kind for kind in found if kind != "none")


def kind_of(test: str) -> Kind:
    """Returns what a test does to a text, as far as it matters to a simulated examiner: its perturbation says so.

    `none` for the originals, and for a test whose perturbation is not installed here.
    """
    known = _known(test)
    return _KINDS[known.alters] if known else "none"


def _truth(
    stimulus: Stimulus, original: Stimulus, scale: GradeScale, kinds: tuple[Kind, ...], before: tuple[Kind, ...]
) -> Truth:
    start, text = original.candidates[0], stimulus.candidates[0]
    return Truth(
        level=_level(original, scale),
        required=_level(stimulus, scale),
        test=stimulus.family,
        # By task and text, so that a repeated row is one item.
        item=digest("examined text", [original.task, start]),
        words_ratio=words_ratio(start, text),
        kinds=kinds,
        before=before,
    )


def _level(stimulus: Stimulus, scale: GradeScale) -> float | None:
    """Returns the level in steps of the scale; None for an item without a label."""
    if not stimulus.gold:
        return None
    if scale.labels and stimulus.gold not in scale.labels:
        message = f"the label {stimulus.gold!r} is not on the judge's scale: {', '.join(scale.labels)}"
        raise UsageError(message, fix="set the judge's scale to the scale of the labels")
    # For simulated judges, a scale without order has its labels in the order in which they are named.
    return float(scale.labels.index(stimulus.gold)) if scale.labels else float(stimulus.gold) - float(scale.low or 0.0)
