"""The stimulus set of the datasheet: vacuum, equal quality, and the ladder, task by task."""

from collections.abc import Iterator, Sequence

from umpirical.domain.stimuli import GivenWinner, Stimulus
from umpirical.stimuli.ladder.pairs import delta0_stimuli, ladder_stimuli
from umpirical.stimuli.tasks import Task
from umpirical.stimuli.vacuum import vacuum_stimuli

__all__ = ["candidate_levels", "datasheet_stimuli"]


def datasheet_stimuli(tasks: Sequence[Task], *, seed: int) -> Iterator[Stimulus]:
    for index, task in enumerate(tasks):
        yield from vacuum_stimuli(task, index=index, seed=seed)
        yield from delta0_stimuli(task, index=index, seed=seed)
        yield from ladder_stimuli(task, index=index, seed=seed)


def candidate_levels(stimulus: Stimulus) -> tuple[float, ...]:
    """The quality of each candidate, by construction. Blank candidates meet nothing."""
    base, delta = float(stimulus.base or 0), stimulus.delta or 0.0
    match stimulus.expectation:
        case GivenWinner(candidate=winner):
            return tuple(base + delta if place == winner else base for place in range(len(stimulus.candidates)))
        case _:
            return tuple(base for _ in stimulus.candidates)
