"""Vacuum stimuli: nothing to compare, so any preference is the judge's own."""

from collections.abc import Iterator

from umpirical.domain.stimuli import NoPreference, Stimulus
from umpirical.stats.seeds import generator
from umpirical.stimuli.ladder.answers import draw_answer
from umpirical.stimuli.tasks import Task

__all__ = ["vacuum_stimuli"]

MAKER = "vacuum/1"

WHITESPACE = (("   ", "\n\n"), (" \n ", "\t\t"), ("\n", "      "), ("\t", " \n\n "))

IDENTICAL_PER_TASK = 3


def vacuum_stimuli(task: Task, *, index: int, seed: int) -> Iterator[Stimulus]:
    """Per task: two empty answers, two blank ones that differ only in blanks, and three pairs of identical answers.

    Both orders of an equal pair are one prompt, so a task gives 1 + 2 + 3 distinct prompts.
    """
    yield _stimulus(task, ("", ""), "empty", None)
    yield _stimulus(task, WHITESPACE[index % len(WHITESPACE)], "whitespace", None)
    for turn in range(IDENTICAL_PER_TASK):
        # Levels 0 to 5 all come up over the tasks.
        level = (index + 2 * turn) % (len(task.requirements) + 1)
        rng = generator(seed, "vacuum", task.id, str(turn))
        answer, _ = draw_answer(task, index=index, level=level, rng=rng)
        yield _stimulus(task, (answer, answer), "identical", level)


def _stimulus(task: Task, candidates: tuple[str, str], stratum: str, base: int | None) -> Stimulus:
    return Stimulus(
        task_id=task.id,
        task=task.prompt,
        candidates=candidates,
        expectation=NoPreference(),
        maker=MAKER,
        family="vacuum",
        stratum=stratum,
        base=base,
    )
