"""The answer key of the controlled stimuli: the quality of every candidate. Only a simulated judge is given it."""

from collections.abc import Callable, Iterable

from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import Stimulus
from umpirical.judges.simulated.examiner_profiles import EXAMINER_PROFILES
from umpirical.judges.simulated.pair_auditor import PAIR_AUDITOR_PROFILES
from umpirical.judges.spec import JudgeSpec


def answer_key(judge: JudgeSpec, stimuli: Iterable[Stimulus]) -> Callable[[str, str], float]:
    """Returns a function from a task and a candidate to its quality, for a simulated judge that answers by it."""
    if judge.kind == "grade" and judge.model is not None and judge.model.name in EXAMINER_PROFILES:
        message = "this simulated judge works on the user's own data, but these are controlled stimuli"
        raise UsageError(message, fix="use it in a study with a dataset")
    if judge.kind == "compare" and judge.model is not None and judge.model.name in PAIR_AUDITOR_PROFILES:
        message = "this simulated judge compares runs of agents, but these are controlled stimuli"
        raise UsageError(message, fix="use it in a study with transcripts")
    return quality_of(stimuli)


def quality_of(stimuli: Iterable[Stimulus]) -> Callable[[str, str], float]:
    """Returns a function from what a prompt says before its candidates, and a candidate, to the requirements it meets.

    One text may be good under one task and not under another, so the task is looked up in what was said.
    """
    levels: dict[str, dict[str, float]] = {}
    for stimulus in stimuli:
        for text, level in zip(stimulus.candidates, stimulus.levels, strict=True):
            known = levels.setdefault(text, {})
            if known.setdefault(stimulus.task, level) != level:
                raise ValueError(f"one text has two levels, {known[stimulus.task]:g} and {level:g}: {text[:60]!r}")

    def quality(said: str, text: str) -> float:
        known = levels[text]
        if len(set(known.values())) == 1:
            return next(iter(known.values()))
        return next(level for task, level in known.items() if task in said)

    return quality
