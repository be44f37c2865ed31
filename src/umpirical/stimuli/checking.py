"""Are the stimuli what they claim to be: checked by program, before anything is asked."""

from collections.abc import Iterator, Sequence

from umpirical.domain.stimuli import Stimulus
from umpirical.stimuli.datasheet_set import candidate_levels
from umpirical.stimuli.tasks import Fact, Task

__all__ = ["check_stimuli", "check_task"]


def check_task(task: Task) -> Iterator[str]:
    """What is wrong with a task, in words."""
    facts = [fact for requirement in task.requirements for fact in requirement.facts]
    for fact in facts:
        others = [other for other in facts if other is not fact]
        yield from (
            f"task {task.id}: {text!r} does not state {fact.check}" for text in fact.forms if not fact.stated_in(text)
        )
        yield from (
            f"task {task.id}: {text!r} states {other.check} too"
            for text in fact.forms
            for other in others
            if other.stated_in(text)
        )
        yield from (
            f"task {task.id}: the filler {text!r} states {stated.check}"
            for text in fact.fillers
            for stated in facts
            if stated.stated_in(text)
        )
        if min(len(set(fact.forms)), len(set(fact.fillers))) < 2:
            yield f"task {task.id}: {fact.check} needs at least two forms and two fillers"
        if len(lengths := _word_counts(fact)) > 1:
            yield f"task {task.id}: sentences for {fact.check} differ in length: {sorted(lengths)} words"
        if fact.stated_in(task.prompt):
            yield f"task {task.id}: the prompt gives {fact.check} away"


def check_stimuli(tasks: Sequence[Task], stimuli: Sequence[Stimulus]) -> Iterator[str]:
    """Planned levels against what the programmatic checkers find, and dominance on every ladder pair."""
    by_id = {task.id: task for task in tasks}
    for stimulus in stimuli:
        task = by_id[stimulus.task_id]
        found = tuple(float(task.level(text)) for text in stimulus.candidates)
        if found != candidate_levels(stimulus):
            yield f"stimulus {stimulus.id}: planned levels {candidate_levels(stimulus)}, found {found}"
        if stimulus.family == "ladder" and not _dominates(task, stimulus.candidates):
            yield f"stimulus {stimulus.id}: the better answer does not meet all that the lesser one meets"


def _dominates(task: Task, candidates: tuple[str, ...]) -> bool:
    met = [{r.name for r in task.requirements if r.met_in(text)} for text in candidates]
    return met[0] < met[1] or met[1] < met[0]


def _word_counts(fact: Fact) -> set[int]:
    return {len(sentence.split()) for sentence in (*fact.forms, *fact.fillers)}
