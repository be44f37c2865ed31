"""The answer key of a stress study: the truth about every text, which only a simulated examiner is given."""

from collections.abc import Iterable, Iterator

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL, GivenLabel, Stimulus
from umpirical.domain.trials import Presented
from umpirical.judges.prompt import fence
from umpirical.judges.simulated.examiner import ExaminerKey, Truth, words_ratio
from umpirical.judges.simulated.examiner_profiles import EXAMINER_PROFILES
from umpirical.judges.spec import JudgeSpec

__all__ = ["answer_key", "truth_of", "truths"]


def answer_key(judge: JudgeSpec, stimuli: Iterable[Stimulus]) -> ExaminerKey:
    """The truth about every text, for a simulated judge that answers by it."""
    if judge.model is None or judge.model.name not in EXAMINER_PROFILES or judge.scale is None:
        message = "this simulated judge knows the controlled stimuli alone, and these are the user's own"
        raise UsageError(message, fix=f"use one of {', '.join(EXAMINER_PROFILES)}")
    return truth_of(stimuli, judge.scale)


def truth_of(stimuli: Iterable[Stimulus], scale: GradeScale) -> ExaminerKey:
    """From a text and the mark around it to the truth about it."""
    known: dict[tuple[str, str], Truth] = {}
    for shown, truth in truths(stimuli, scale):
        # Two rows may have one text in answer to one task, and two labels; or a changed text may be another row's own.
        # That is how the data is, and a judge that sees the text alone can but give one answer: by the first.
        known.setdefault((shown.first, fence(shown)), truth)

    def look_up(text: str, *, fence: str) -> Truth:
        return known[text, fence]

    return look_up


def truths(stimuli: Iterable[Stimulus], scale: GradeScale) -> Iterator[tuple[Presented, Truth]]:
    """Every text as it is shown, with what is known of it.

    `stimuli` is gone through twice: a text may come before its original.
    """
    originals = {stimulus.id: stimulus for stimulus in stimuli if stimulus.family == ORIGINAL}
    for stimulus in stimuli:
        # A text that was written for a label of its own has no original to be held against.
        alone = stimulus.family == ORIGINAL or isinstance(stimulus.expectation, GivenLabel)
        if not alone and stimulus.parent not in originals:
            raise ValueError(f"stimulus {stimulus.id} of {stimulus.family} was made from none of the originals")
        original = stimulus if alone else originals[stimulus.parent]
        yield Presented(stimulus.task, stimulus.candidates[0], None), _truth(stimulus, original, scale)


def _truth(stimulus: Stimulus, original: Stimulus, scale: GradeScale) -> Truth:
    before, text = original.candidates[0], stimulus.candidates[0]
    return Truth(
        level=_level(original, scale),
        required=_level(stimulus, scale),
        test=stimulus.family,
        # By task and text, so that a row that is there twice is one item.
        item=digest("examined text", [original.task, before]),
        words_ratio=words_ratio(before, text),
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
