"""The tasks that ship, and the program that checks them."""

from dataclasses import replace

import pytest

from umpirical.domain.errors import ConfigError
from umpirical.stimuli.checking import check_task
from umpirical.stimuli.tasks import Fact, Requirement, Task, builtin_tasks, read_task
from umpirical.store.yaml_files import parse_yaml

TASKS = builtin_tasks()

SOUND = Task(
    "t",
    "d",
    "Name the colour and the size.",
    (
        Requirement("colour", (Fact(("red",), ("It is red.", "Red it is."), ("It is nice.", "Nice it is.")),)),
        Requirement("size", (Fact(("tall",), ("It is tall.", "Tall it is."), ("It is there.", "There it is.")),)),
    ),
)


def with_fact(**changes):
    first, second = SOUND.requirements
    return replace(SOUND, requirements=(replace(first, facts=(replace(first.facts[0], **changes),)), second))


def test_there_are_enough_tasks_of_enough_kinds():
    assert len(TASKS) >= 12
    assert len({task.domain for task in TASKS}) >= 6
    assert len({task.id for task in TASKS}) == len({task.prompt for task in TASKS}) == len(TASKS)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_every_task_that_ships_is_sound(task):
    assert list(check_task(task)) == []
    assert len(task.requirements) == 5
    assert len({requirement.name for requirement in task.requirements}) == 5


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_every_sentence_slot_can_be_worded_in_several_ways(task):
    for requirement in task.requirements:
        for fact in requirement.facts:
            assert len(set(fact.forms)) == len(fact.forms) >= 4
            assert len(set(fact.fillers)) == len(fact.fillers) >= 4


@pytest.mark.parametrize(
    ("task", "problem"),
    [
        (SOUND, None),
        (with_fact(forms=("It is blue.", "Red it is.")), "'It is blue.' does not state ('red',)"),
        (with_fact(forms=("Red, tall one.", "Red it is.")), "'Red, tall one.' states ('tall',) too"),
        (with_fact(fillers=("It is RED.", "Nice it is.")), "the filler 'It is RED.' states ('red',)"),
        (with_fact(fillers=("It is tall.", "Nice it is.")), "the filler 'It is tall.' states ('tall',)"),
        (with_fact(forms=("It is very red.", "Red it is.")), "differ in length: [3, 4] words"),
        (with_fact(fillers=("It is ever so nice.", "Nice it is.")), "differ in length: [3, 5] words"),
        (replace(SOUND, prompt="Say that it is Red."), "the prompt gives ('red',) away"),
    ],
)
def test_a_planted_mistake_is_found_and_named(task, problem):
    found = list(check_task(task))
    assert found == [] if problem is None else len(found) == 1
    assert problem is None or problem in found[0]


def test_a_requirement_is_met_only_if_all_of_its_facts_are_stated():
    both = Requirement("both", tuple(fact for requirement in SOUND.requirements for fact in requirement.facts))
    assert not both.met_in("It is red.")
    assert both.met_in("It is red. It is TALL.")
    assert replace(SOUND, requirements=(both, *SOUND.requirements)).level("Tall.") == 1


def test_a_phrase_check_wants_every_phrase():
    fact = Fact(("3 pm", "Monday"), (), ())
    assert [fact.stated_in(text) for text in ("Monday, 3 PM", "at 3 pm", "monday")] == [True, False, False]


@pytest.mark.parametrize(
    "text",
    [
        "id: t\n",
        "id: t\ndomain: d\nprompt: p\nrequirements: 5\n",
        "id: t\ndomain: d\nprompt: p\nrequirements: [{name: a}]\n",
        "id: t\ndomain: d\nprompt: p\nrequirements: [{name: a, facts: [{check: [x], forms: [y]}]}]\n",
    ],
)
def test_what_is_no_task_is_refused_with_the_name_of_its_file(text):
    with pytest.raises(ConfigError, match=r"t\.yaml:1: not a task"):
        read_task(parse_yaml(text, name="t.yaml"))
