"""Gates on what the candidates state."""

import re
from collections.abc import Mapping, Sequence

from umpirical.domain.stimuli import GateResult, Stimulus
from umpirical.stimuli.controlled.ladder.transforms import canonical
from umpirical.stimuli.controlled.layouts import PROSE, member, statements
from umpirical.stimuli.controlled.materials import Materials
from umpirical.stimuli.controlled.task_checks import check_tasks, check_twins
from umpirical.stimuli.controlled.tasks import Task

_OTHER_BLANK = re.compile(r"[^\S \n]")
"""A blank that no transform makes."""


def sound_tasks(materials: Materials) -> GateResult:
    """Every sentence states what it should and nothing else, fillers state nothing, requests give nothing away."""
    problems = [*check_tasks(materials.tasks), *check_twins(materials.twins + materials.figures)]
    looked_at = f"{len(materials.of_each())} tasks"
    return result("sound-tasks", problems, looked_at, "no problem in any task")


def checkers_agree(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """The programmatic checkers find in every candidate the level it was made to have."""
    problems = []
    for stimulus in stimuli:
        found = tuple(tasks[stimulus.task_id].level(text) for text in stimulus.candidates)
        if found != stimulus.levels:
            problems.append(f"stimulus {stimulus.id}: made for levels {stimulus.levels}, found {found}")
    return result("checkers-agree", problems, f"{2 * len(stimuli)} candidates", "every candidate at its planned level")


def superset(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """The better candidate states all that the lesser one states, and more."""
    problems, pairs = [], 0
    for stimulus in stimuli:
        if stimulus.family in ("ladder", "figures", "conflict"):
            pairs += 1
            one, other = map(tasks[stimulus.task_id].stated, stimulus.candidates)
            if not (one < other or other < one):
                problems.append(f"stimulus {stimulus.id}: neither candidate states all that the other states")
    return result("superset", problems, f"{pairs} pairs with a better candidate", "it states all the other states")


def no_leak(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """Nothing in a candidate but the sentences of its task: no winner, no level, no mark of where it comes from."""
    own = {task.id: _own_sentences(task) for task in tasks.values()}
    problems = []
    for stimulus in stimuli:
        known = own[stimulus.task_id]
        for text in filter(str.strip, stimulus.candidates):
            parts = statements(text, tasks[stimulus.task_id].layout)
            if foreign := [part for part in parts if canonical(part) not in known]:
                problems.append(f"stimulus {stimulus.id}: {foreign[0]!r} is not from its task")
            elif text != text.strip() or _OTHER_BLANK.search(text):
                problems.append(f"stimulus {stimulus.id}: blanks that no transform makes")
        if stimulus.task != tasks[stimulus.task_id].prompt:
            problems.append(f"stimulus {stimulus.id}: the task shown is not that of {stimulus.task_id}")
    return result("no-leak", problems, f"{len(stimuli)} stimuli", "nothing shown but the task and its own sentences")


def _own_sentences(task: Task) -> set[str]:
    texts = [text for fact in task.facts for text in (*fact.forms, *fact.fillers)]
    return {canonical(text if task.layout == PROSE else member(text)) for text in texts}


def result(name: str, problems: Sequence[str], looked_at: str, allowed: str) -> GateResult:
    """Passed if there is no problem; else the first one, and how many there are."""
    if not problems:
        return GateResult(name, passed=True, found=f"{looked_at}, no problem", allowed=allowed)
    more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    return GateResult(name, passed=False, found=f"{problems[0]}{more} ({looked_at})", allowed=allowed)
