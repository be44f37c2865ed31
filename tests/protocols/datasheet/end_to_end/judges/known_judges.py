"""Judges whose every answer is known by hand, as a user would write them."""

from umpirical.stimuli.controlled.datasheet_set import RECIPES
from umpirical.stimuli.controlled.materials import builtin_materials

# The tasks of a smaller size are the first of a larger one.
TASKS = {
    task.prompt: task for task in builtin_materials("crossed", max(size.tasks for size in RECIPES.values())).all_tasks
}


def oracle(task: str, first: str, second: str) -> str:
    """Always right: it counts the requirements met."""
    one, two = (TASKS[task].level(text) for text in (first, second))
    return "1" if one > two else "2" if two > one else "tie"


def always_first(task: str, first: str, second: str) -> str:
    return "1"


def always_tie(task: str, first: str, second: str) -> str:
    return "tie"


def alphabetical(task: str, first: str, second: str) -> str:
    """A stable preference that has nothing to do with quality; nothing to prefer between equals."""
    return "tie" if first.strip() == second.strip() else "1" if first < second else "2"


def timid(task: str, first: str, second: str) -> dict[str, str]:
    """Names the better answer only when it sits in position 1."""
    return {"verdict": "1"} if oracle(task, first, second) == "1" else {"verdict": "tie"}


def abstaining(task: str, first: str, second: str) -> str:
    return "abstain"


def rambling(task: str, first: str, second: str) -> str:
    """Answers half of the tasks, and rambles about the rest."""
    return oracle(task, first, second) if len(task) % 2 else "I think candidate 1 is the better one, or 2."


def breaking(task: str, first: str, second: str) -> str:
    raise RuntimeError("the judge broke")
