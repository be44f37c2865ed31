"""How many calls a judge takes, and the limit on what a study file may ask for."""

from collections.abc import Iterable
from itertools import islice
from typing import Any

from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import Stimulus
from umpirical.judges.spec import JudgeSpec
from umpirical.protocols.protocol import Study
from umpirical.runs.plan import Design
from umpirical.store.stimulus_sets import StimulusSet

MAX_CALLS = 1_000_000
"""Most calls to one judge, unless a person allows more: a line in a study file must not take hours and the disk."""


def refuse_too_many(
    study: Study[Any], judge: JudgeSpec, stimuli: StimulusSet, design: Design, *, planned: int | None
) -> None:
    """Raises UsageError if a judge would take more calls than allowed. Counts them only where it must.

    `planned` is how many trials the plan has, if there is one.
    """
    most, ways = study.max_calls, design.most_ways()
    if most is None or (planned is not None and planned <= most):
        return
    if planned is not None:
        raise _too_many(judge, most)
    if ways is None or ways * stimuli.count > most:
        count_calls(study, judge, stimuli, design)


def count_calls(study: Study[Any], judge: JudgeSpec, stimuli: Iterable[Stimulus], design: Design) -> int:
    """Counts the calls that a judge takes, no further than allowed. Raises UsageError if a study asks for more."""
    most = study.max_calls
    ways = (way for each in stimuli for way in design.presentations(each, judge.capabilities, judge.kind))
    count = sum(1 for _ in (ways if most is None else islice(ways, most + 1)))
    if most is not None and count > most:
        raise _too_many(judge, most)
    return count


def _too_many(judge: JudgeSpec, most: int) -> UsageError:
    return UsageError(
        f"judge {judge.name} would take more than {most:,} calls",
        fix="lower the repeats or the size of the study, or allow more on purpose: --max-calls N",
    )
