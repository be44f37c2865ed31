"""All that a worker needs to ask: paths and a spec, nothing that is open. Any process can be given it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL, GivenLabel, Stimulus
from umpirical.domain.trials import Presented
from umpirical.judges.factory import AnswerKey, Calling, build_judge, simulated_profile
from umpirical.judges.judge import Judge
from umpirical.judges.prompt import fence
from umpirical.judges.simulated.examiner import ExaminerKey, Truth, words_ratio
from umpirical.judges.simulated.examiner_profiles import EXAMINER_PROFILES
from umpirical.judges.spec import JudgeSpec
from umpirical.stats.simulation.examiner import Kind
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, Alters
from umpirical.store.stimulus_sets import StimulusSet

__all__ = ["CallSpec", "examiner_truths", "kind_of"]

_KINDS: Mapping[Alters, Kind] = {"format": "format", "wording": "paraphrase", "cue": "cue", "other": "none"}


@dataclass(frozen=True)
class CallSpec:
    """Which judge is asked about which stimuli."""

    judge: JudgeSpec
    """With its prompts resolved."""
    folder: Path
    """Of the study, where a judge of the user's own is found."""
    stimuli: Path
    seed: int

    def open_stimuli(self) -> StimulusSet:
        return StimulusSet(self.stimuli)

    def open_judge(self, calling: Calling | None = None) -> Judge:
        return build_judge(self.judge, folder=self.folder, answer_key=self._key, seed=self.seed, calling=calling)

    @cached_property
    def _key(self) -> AnswerKey:
        model, scale = self.judge.model, self.judge.scale
        if model is None or model.adapter != "simulated":
            return _no_key
        # A name that is not known must not be answered with what another judge cannot do.
        simulated_profile(model.name, self.judge.kind)
        if scale is not None and model.name in EXAMINER_PROFILES:
            return examiner_key(self.open_stimuli(), scale.build())
        return answer_key(self.open_stimuli())


def answer_key(stimuli: "StimulusSet | list[Stimulus]") -> Callable[[str], float]:
    """The quality of every candidate, by its text. No judge but a simulated one is ever given it."""
    levels: dict[str, float] = {}
    for stimulus in stimuli:
        if stimulus.family == ORIGINAL:
            message = "this simulated judge knows the controlled stimuli alone, and these are the user's own"
            raise UsageError(message, fix=f"use one of {', '.join(EXAMINER_PROFILES)}")
        for text, level in zip(stimulus.candidates, stimulus.levels, strict=True):
            if levels.setdefault(text, level) != level:
                raise ValueError(f"one text has two levels, {levels[text]:g} and {level:g}: {text[:60]!r}")
    return levels.__getitem__


def examiner_key(stimuli: "StimulusSet | list[Stimulus]", scale: GradeScale) -> ExaminerKey:
    """The truth about every text of the user's own data. No judge but a simulated one is ever given it."""
    known: dict[tuple[str, str], Truth] = {}
    for shown, truth in examiner_truths(stimuli, scale):
        # Two rows may have one text in answer to one task, and two labels; or a changed text may be another row's own.
        # That is how the data is, and a judge that sees the text alone can but give one answer: by the first.
        known.setdefault((shown.first, fence(shown)), truth)

    def truth_of(text: str, *, fence: str) -> Truth:
        return known[text, fence]

    return truth_of


def examiner_truths(stimuli: "StimulusSet | list[Stimulus]", scale: GradeScale) -> Iterator[tuple[Presented, Truth]]:
    """Every text as it is shown, with what is known of it.

    `stimuli` is gone through twice: a text may come before its original.
    """
    originals = {stimulus.id: stimulus for stimulus in stimuli if stimulus.family == ORIGINAL}
    if not originals:
        message = "this simulated judge examines the user's own data, and these are controlled stimuli"
        raise UsageError(message, fix="use it in a study with a dataset")
    kinds: dict[str, Kind] = {}
    for stimulus in stimuli:
        # A text that was written for a label of its own has no original to be held against.
        alone = stimulus.family == ORIGINAL or isinstance(stimulus.expectation, GivenLabel)
        if not alone and stimulus.parent not in originals:
            raise ValueError(f"stimulus {stimulus.id} of {stimulus.family} was made from none of the originals")
        original = stimulus if alone else originals[stimulus.parent]
        if stimulus.family not in kinds:
            kinds[stimulus.family] = kind_of(stimulus.family)
        truth = _truth(stimulus, original, scale, kinds[stimulus.family])
        yield Presented(stimulus.task, stimulus.candidates[0], None), truth


def kind_of(test: str) -> Kind:
    """What a test does to a text, as far as a simulated examiner heeds it: its perturbation says so.

    `none` for the originals, and for a test whose perturbation is not installed here.
    """
    return _KINDS[PERTURBATIONS.get(test).alters] if test in PERTURBATIONS.names() else "none"


def _truth(stimulus: Stimulus, original: Stimulus, scale: GradeScale, kind: Kind) -> Truth:
    before, text = original.candidates[0], stimulus.candidates[0]
    return Truth(
        level=_level(original, scale),
        required=_level(stimulus, scale),
        test=stimulus.family,
        # By task and text, so that a row that is there twice is one item.
        item=digest("examined text", [original.task, before]),
        words_ratio=words_ratio(before, text),
        kind=kind,
    )


def _level(stimulus: Stimulus, scale: GradeScale) -> float | None:
    """In steps of the scale; None for an item without a label."""
    if not stimulus.gold:
        return None
    if scale.labels and stimulus.gold not in scale.labels:
        message = f"the label {stimulus.gold!r} is not on the judge's scale, which has {', '.join(scale.labels)}"
        raise UsageError(message, fix="give the judge the scale of the labels")
    # Simulated judges take the labels of a scale without order in the order in which they are named.
    return float(scale.labels.index(stimulus.gold)) if scale.labels else float(stimulus.gold) - float(scale.low or 0.0)


def _no_key(_: str) -> float:
    raise LookupError("only a simulated judge may look at the answer key")
