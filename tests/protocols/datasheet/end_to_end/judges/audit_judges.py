"""Judges whose worth is known, sound ones and bad ones, as a user would write them.

They look the answer key up where they need it, so a bad one is bad in exactly the way that its name says.
"""

import re
from collections import Counter
from functools import cache
from hashlib import sha256
from math import log
from statistics import median

from umpirical.domain.stimuli import Stimulus
from umpirical.stimuli.controlled.datasheet_set import RECIPES
from umpirical.stimuli.controlled.family_files import filler_tasks
from umpirical.stimuli.controlled.fine import fine_stimuli
from umpirical.stimuli.controlled.materials import builtin_materials
from umpirical.stimuli.controlled.tasks import Task
from umpirical.text.sentences import sentences_at_every_stop

MATERIALS = builtin_materials("crossed", RECIPES["full"].tasks)


class FineTask(Task):
    """A task whose answers have to be worked out."""

    def level(self, text: str) -> float:
        [family] = [family for family in MATERIALS.worked if family.id == self.family]
        return family.right_in(self.prompt, text) / len(family.cases_in(self.prompt))


def _fine(stimulus: Stimulus) -> Task:
    return FineTask(
        stimulus.task_id, stimulus.task_family, "", stimulus.task, (), request=stimulus.task, version=stimulus.version
    )


TASKS = {task.prompt: task for task in MATERIALS.all_tasks} | {
    stimulus.task: _fine(stimulus) for stimulus in fine_stimuli(MATERIALS.worked, RECIPES["full"].fine, seed=1)
}

TYPICAL = median(map(len, TASKS))
"""Characters of a task."""

UNREADABLE = "Both have their merits, and 1 is not 2."


def perfect(task: str, first: str, second: str) -> str:
    """Counts the requirements met."""
    return _named(*(TASKS[task].level(text) for text in (first, second)))


def lapsing(task: str, first: str, second: str) -> str:
    """Guesses in one call of a hundred."""
    return (
        at_random(task, first, second) if _luck("lapse", task, first, second) < 0.01 else perfect(task, first, second)
    )


# Judges that answer without reading.


def at_random(task: str, first: str, second: str) -> str:
    return ("1", "2", "tie")[int(3 * _luck("guess", task, first, second))]


def always_tie(task: str, first: str, second: str) -> str:
    return "tie"


def position_1(task: str, first: str, second: str) -> str:
    return "1"


def abstaining(task: str, first: str, second: str) -> str:
    return "abstain"


def upside_down(task: str, first: str, second: str) -> str:
    """Names the lesser answer."""
    return perfect(task, second, first)


# Judges whose answers cannot be read.


def never_read(task: str, first: str, second: str) -> str:
    return UNREADABLE


def half_read(task: str, first: str, second: str) -> str:
    """Excellent wherever it can be read, which is in every second call."""
    return UNREADABLE if _luck("read", task, first, second) < 0.5 else perfect(task, first, second)


def hides_its_taste(task: str, first: str, second: str) -> str:
    """Keeps to one wording in .60 of equal pairs, and can hardly ever be read when it does."""
    said = perfect(task, first, second)
    if said != "tie" or not _words(first + second) or first == second:
        return said
    if _luck("taste", task, *sorted((first, second))) >= 0.60:
        return "tie"
    return UNREADABLE if _luck("hidden", task, first, second) < 0.95 else _named(second, first)


# Judges that go by length.


def likes_length(task: str, first: str, second: str) -> str:
    """Names anything that is 15 % longer, and is perfect among answers of about equal lengths."""
    one, two = (len(_words(text)) for text in (first, second))
    return _named(one, two) if max(one, two) >= 1.15 * min(one, two) and one != two else perfect(task, first, second)


def right_on_longer_tasks(task: str, first: str, second: str) -> str:
    """Perfect on the longer half of the tasks; on the others it sees no difference."""
    return perfect(task, first, second) if len(task) > TYPICAL else "tie"


def right_if_longer(task: str, first: str, second: str) -> str:
    """Perfect where the better answer is no shorter; elsewhere it sees no difference."""
    said = perfect(task, first, second)
    one, two = len(first), len(second)
    return "tie" if (said == "1" and one < two) or (said == "2" and two < one) else said


# Judges that look at the texts, and never at the task.


def idle(task: str, first: str, second: str) -> str:
    """Names the text with fewer idle sentences."""
    one, two = (sum(said in _idle_sentences() for said in sentences_at_every_stop(text)) for text in (first, second))
    return _named(two, one)


def bag_of_words(task: str, first: str, second: str) -> str:
    """Adds up how much more often each word stands in a statement of fact than in an idle one."""
    weights = _weights()
    return _named(*(round(sum(weights.get(word, 0.0) for word in _words(text)), 9) for text in (first, second)))


def texts_only(task: str, first: str, second: str) -> str:
    """Knows what the first version of every task asks for, by heart, and takes every task for that version."""
    return _named(*(_first_version(task).level(text) for text in (first, second)))


# Judges that grade one answer.


def perfect_grader(task: str, answer: str) -> str:
    """From no requirement met, 1, to all five, 5."""
    return str(1 + round(TASKS[task].level(answer) * 4 / 5))


def grades_at_random(task: str, answer: str) -> str:
    return str(1 + int(5 * _luck("grade", task, answer)))


def grades_upside_down(task: str, answer: str) -> str:
    return str(6 - int(perfect_grader(task, answer)))


def always_3(task: str, answer: str) -> str:
    return "3"


def grades_half_read(task: str, answer: str) -> str:
    return UNREADABLE if _luck("read", task, answer) < 0.5 else perfect_grader(task, answer)


def grades_texts_only(task: str, answer: str) -> str:
    return perfect_grader(_first_version(task).prompt, answer)


def _named(one: float | str, two: float | str) -> str:
    """The position with more."""
    return "tie" if one == two else "1" if one > two else "2"  # type: ignore[operator]  # both are of one kind


def _luck(*parts: str) -> float:
    """From 0 to 1, the same whenever the same is shown."""
    return int.from_bytes(sha256("\0".join(parts).encode()).digest()[:8], "big") / 2**64


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _first_version(task: str) -> Task:
    twin = TASKS[task].id.rpartition(".")[0]
    return next(known for known in TASKS.values() if known.id in {f"{twin}.A", f"{twin}.P"})


@cache
def _idle_sentences() -> frozenset[str]:
    return frozenset(said for task in filler_tasks() for fact in task.facts for said in fact.fillers)


@cache
def _weights() -> dict[str, float]:
    """By word, the log of how many statements of fact it stands in for each idle one."""
    facts = [fact for task in filler_tasks() for fact in task.facts]
    stated = Counter(word for fact in facts for text in fact.forms for word in set(_words(text)))
    idle = Counter(word for fact in facts for text in fact.fillers for word in set(_words(text)))
    return {word: log((stated[word] + 1) / (idle[word] + 1)) for word in stated | idle}
