"""Pairs of answers on the ladder, and pairs of equal quality."""

from collections.abc import Iterator

from umpirical.domain.stimuli import Expectation, GivenWinner, NoPreference, Stimulus
from umpirical.stats.seeds import generator, uniform
from umpirical.stimuli.ladder.answers import draw_pair
from umpirical.stimuli.tasks import Task

__all__ = ["delta0_stimuli", "ladder_stimuli"]

MAKER = "ladder/1"


def delta0_stimuli(task: Task, *, index: int, seed: int) -> Iterator[Stimulus]:
    """One pair per level: the same requirements met, in other words."""
    for level in range(len(task.requirements) + 1):
        rng = generator(seed, "delta0", task.id, str(level))
        u, v = draw_pair(task, index=index, levels=(level, level), rng=rng)
        yield _stimulus(task, (u, v), NoPreference(), step=(level, 0))


def ladder_stimuli(task: Task, *, index: int, seed: int) -> Iterator[Stimulus]:
    """Every pair of levels: the better answer meets all that the lesser one meets, and `delta` requirements more."""
    top = len(task.requirements)
    for delta in range(1, top + 1):
        for base in range(top + 1 - delta):
            place = f"{base}+{delta}"
            rng = generator(seed, "ladder", task.id, place)
            # The better content is u in half of the pairs, so that canonical order tells nothing either.
            winner = int(uniform(seed, "winner", task.id, place) < 0.5)
            levels = (base, base + delta) if winner else (base + delta, base)
            pair = draw_pair(task, index=index, levels=levels, rng=rng)
            yield _stimulus(task, pair, GivenWinner(winner), step=(base, delta))


def _stimulus(task: Task, pair: tuple[str, str], expectation: Expectation, *, step: tuple[int, int]) -> Stimulus:
    base, delta = step
    return Stimulus(
        task_id=task.id,
        task=task.prompt,
        candidates=pair,
        expectation=expectation,
        maker=MAKER,
        family="ladder" if delta else "delta0",
        delta=float(delta),
        base=base,
    )
