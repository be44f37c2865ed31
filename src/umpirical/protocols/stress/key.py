"""The answer key of a stress study: the truth about every text. Only a simulated examiner is given it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL, GivenLabel, Stimulus
from umpirical.domain.trials import Presented
from umpirical.judges.prompt import columns_of, fence
from umpirical.judges.simulated.examiner import ExaminerKey, Truth, words_ratio
from umpirical.judges.simulated.profiles import EXAMINER_PROFILES
from umpirical.judges.spec import JudgeSpec
from umpirical.stats.simulation.examiner import Kind
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, Alters

_KINDS: Mapping[Alters, Kind] = {"format": "format", "wording": "paraphrase", "cue": "cue", "other": "none"}


def answer_key(judge: JudgeSpec, stimuli: Iterable[Stimulus]) -> ExaminerKey:
    """Returns the truth about every text, for a simulated judge that answers by it."""
    if judge.model is None or judge.model.name not in EXAMINER_PROFILES or judge.scale is None:
        message = "this simulated judge knows only the controlled stimuli, but these are the user's own"
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

    `stimuli` is iterated over twice, because a text may come before its original.
    """
    originals = {stimulus.id: stimulus for stimulus in stimuli if stimulus.family == ORIGINAL}
    kinds: dict[str, Kind] = {}
    for stimulus in stimuli:
        # A text that was written for its own label has no original to be compared with.
        alone = stimulus.family == ORIGINAL or isinstance(stimulus.expectation, GivenLabel)
        if not alone and stimulus.parent not in originals:
            raise ValueError(f"stimulus {stimulus.id} of {stimulus.family} was made from none of the originals")
        original = stimulus if alone else originals[stimulus.parent]
        if stimulus.family not in kinds:
            kinds[stimulus.family] = kind_of(stimulus.family)
        truth = _truth(stimulus, original, scale, kinds[stimulus.family])
        held = {name: stimulus.columns[name] for name in columns}
        yield Presented(stimulus.task, stimulus.candidates[0], None, columns=held), truth


def kind_of(test: str) -> Kind:
    """Returns what a test does to a text, as far as it matters to a simulated examiner: its perturbation says so.

    `none` for the originals, and for a test whose perturbation is not installed here.
    """
    return _KINDS[PERTURBATIONS.get(test).alters] if test in PERTURBATIONS.names() else "none"


def _truth(stimulus: Stimulus, original: Stimulus, scale: GradeScale, kind: Kind) -> Truth:
    before, text = original.candidates[0], stimulus.candidates[0]
    return Truth(
        level=_level(original, scale),
        required=_level(stimulus, scale),
        test=stimulus.family,
        # By task and text, so that a repeated row is one item.
        item=digest("examined text", [original.task, before]),
        words_ratio=words_ratio(before, text),
        kind=kind,
    )


def _level(stimulus: Stimulus, scale: GradeScale) -> float | None:
    """Returns the level in steps of the scale; None for an item without a label."""
    if not stimulus.gold:
        return None
    if scale.labels and stimulus.gold not in scale.labels:
        message = f"the label {stimulus.gold!r} is not on the judge's scale, which has {', '.join(scale.labels)}"
        raise UsageError(message, fix="give the judge the scale of the labels")
    # For simulated judges, a scale without order has its labels in the order in which they are named.
    return float(scale.labels.index(stimulus.gold)) if scale.labels else float(stimulus.gold) - float(scale.low or 0.0)
