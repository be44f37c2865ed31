"""The answer key of an agent study: what transcripts deserve under a rubric in words.

A policy of rules needs no key, since a simulated auditor reads the run and the rules itself.
"""

from collections.abc import Iterable

from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Presented
from umpirical.judges.prompt import fence
from umpirical.judges.simulated.auditor import AUDITOR_PROFILES, AuditorKey, Deserved
from umpirical.judges.simulated.pair_auditor import PAIR_AUDITOR_PROFILES
from umpirical.judges.spec import JudgeSpec


def answer_key(judge: JudgeSpec, stimuli: Iterable[Stimulus]) -> AuditorKey:
    """Returns what is known about each text. Raises UsageError for a simulated judge of other things."""
    known = PAIR_AUDITOR_PROFILES if judge.kind == "compare" else AUDITOR_PROFILES
    if judge.model is None or judge.model.name not in known:
        does = "compare" if judge.kind == "compare" else "read"
        raise UsageError(f"this simulated judge does not {does} transcripts", fix=f"use one of {', '.join(known)}")
    # What a program edited stands under two policies, and is in a quad.
    worded = {stimulus.id: stimulus for stimulus in stimuli if not stimulus.quad}
    return {_mark(stimulus): _deserved(stimulus, worded) for stimulus in worded.values()}


def _mark(stimulus: Stimulus) -> str:
    return fence(Presented(stimulus.task, stimulus.candidates[0], None))


def _deserved(stimulus: Stimulus, worded: dict[str, Stimulus]) -> Deserved:
    original = worded.get(stimulus.parent, stimulus)
    return Deserved(stimulus.gold, original.gold, original.candidates[0])
