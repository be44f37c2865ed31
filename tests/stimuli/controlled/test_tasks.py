"""The tasks that ship, the program that checks them, and what it takes to add one: a file."""

import json
import re
from dataclasses import replace
from importlib.resources import files
from itertools import combinations

import pytest

from tests.stimuli.own_tasks import FAMILY, PARAMETERS, SINGLE, write_own_study
from umpirical.cli import main
from umpirical.domain.errors import ConfigError
from umpirical.stimuli.controlled.task_checks import check_task, check_tasks
from umpirical.stimuli.controlled.tasks import Fact, Requirement, Task, builtin_tasks, read_tasks
from umpirical.store.yaml_files import parse_yaml
from umpirical.text.words import shared_triples, word_triples

TASKS = builtin_tasks()
FAMILIES = {name: [task for task in TASKS if task.family == name] for name in dict.fromkeys(t.family for t in TASKS)}

SOUND = Task(
    "t",
    "f",
    "d",
    "Name the colour and the size.",
    (
        Requirement("colour", (Fact(("red",), ("It is red.", "Red it is."), ("It is nice.", "Nice it is.")),)),
        Requirement("size", (Fact(("tall",), ("It is tall.", "Tall it is."), ("It is there.", "There it is.")),)),
    ),
)


# The tasks that ship.


def test_there_are_enough_tasks_of_enough_kinds():
    assert len(TASKS) >= 100
    assert len(FAMILIES) == 24
    assert len({task.domain for task in TASKS}) >= 6
    assert len({task.id for task in TASKS}) == len({task.prompt for task in TASKS}) == len(TASKS)


def test_nothing_is_wrong_with_any_of_them():
    assert list(check_tasks(list(TASKS))) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_every_task_has_five_requirements_of_four_facts_in_four_wordings(family):
    for task in FAMILIES[family]:
        assert len({requirement.name for requirement in task.requirements}) == len(task.requirements) == 5
        assert {len(requirement.facts) for requirement in task.requirements} == {4}
        for fact in task.facts:
            assert len(set(fact.forms)) == len(fact.forms) >= 4
            assert len(set(fact.fillers)) == len(fact.fillers) >= 4


@pytest.mark.parametrize("family", FAMILIES)
def test_a_parameter_is_one_word_and_every_one_is_filled_in(family):
    path = files("umpirical.stimuli.controlled.ladder") / "families" / f"{family}.yaml"
    sets = parse_yaml(path.read_text(encoding="utf-8"), name=path.name).data["parameters"]
    names = set(sets[0])
    assert all(set(values) == names for values in sets)
    assert all(re.fullmatch(r"\S+", values[name]) for values in sets for name in names)
    unfilled = {f"{{{name}}}" for name in names}
    for task in FAMILIES[family]:
        texts = [task.prompt, *(text for fact in task.facts for text in (*fact.check, *fact.forms, *fact.fillers))]
        assert not any(mark in text for text in texts for mark in unfilled)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_prompts_of_a_family_are_not_one_prompt(family):
    triples = [word_triples(task.prompt) for task in FAMILIES[family]]
    assert len(triples) >= 2
    assert max(shared_triples(one, other) for one, other in combinations(triples, 2)) < 0.8


# Checking.


def with_fact(**changes):
    first, second = SOUND.requirements
    return replace(SOUND, requirements=(replace(first, facts=(replace(first.facts[0], **changes),)), second))


def with_requirements(*requirements):
    return replace(SOUND, requirements=requirements)


COLOUR, SIZE = SOUND.requirements
AGE = Fact(("7",), ("7 it is.", "It is 7."), ("So it is.", "It is so."))


@pytest.mark.parametrize(
    ("task", "problem"),
    [
        (SOUND, None),
        (with_fact(forms=("It is blue.", "Red it is.")), "'It is blue.' does not state ('red',)"),
        (with_fact(forms=("It is reddish.", "Red it is.")), "'It is reddish.' does not state ('red',)"),
        (with_fact(forms=("Red, tall one.", "Red it is.")), "'Red, tall one.' states ('tall',) too"),
        (with_fact(fillers=("It is RED.", "Nice it is.")), "the filler 'It is RED.' states ('red',)"),
        (with_fact(fillers=("It is tall.", "Nice it is.")), "the filler 'It is tall.' states ('tall',)"),
        (with_fact(forms=("It is very red.", "Red it is.")), "differ in length: [3, 4] words"),
        (with_fact(fillers=("It is ever so nice.", "Nice it is.")), "differ in length: [3, 5] words"),
        (with_fact(forms=("Red. Is red.", "Red it is.")), "'Red. Is red.' is not one sentence"),
        (with_fact(fillers=("It is nice", "Nice it is.")), "'It is nice' is not one sentence"),
        (with_fact(fillers=("It\nis nice.", "Nice it is.")), r"'It\nis nice.' is not one sentence"),
        (with_fact(forms=("It is red.", "It is red.")), "('red',) needs at least two forms and two fillers"),
        (with_fact(fillers=("It is nice.",)), "('red',) needs at least two forms and two fillers"),
        (replace(SOUND, prompt="Say that it is Red."), "the prompt gives ('red',) away"),
        (with_requirements(COLOUR), "a ladder needs at least two requirements"),
        (with_requirements(COLOUR, replace(SIZE, facts=(*SIZE.facts, AGE))), "the same number of facts, not [1, 2]"),
    ],
)
def test_a_planted_mistake_is_found_and_named(task, problem):
    found = list(check_task(task))
    assert len(found) == (problem is not None)
    assert problem is None or problem in found[0]


def test_tasks_with_nearly_the_same_prompt_are_found():
    words = [f"word{n}" for n in range(40)]
    one, other = (replace(SOUND, id=name, prompt=" ".join([name, *words])) for name in ("one", "other"))
    apart = replace(SOUND, id="apart", prompt=" ".join(reversed(words)))
    [problem] = check_tasks([one, other, apart])
    assert "tasks one and other are near-duplicates" in problem
    assert list(check_tasks([one, apart])) == []


def test_two_tasks_of_one_name_are_found():
    assert list(check_tasks([SOUND, SOUND])) == ["two tasks are named t"]


# What a text states.


def test_the_level_of_a_text_is_the_share_of_facts_it_states():
    both = Requirement("both", (*COLOUR.facts, *SIZE.facts))
    task = replace(SOUND, requirements=(both, both))
    assert SOUND.level("It is red.") == 1
    assert task.level("It is red.") == 1
    assert with_requirements(both, replace(both, facts=(COLOUR.facts[0],) * 2)).grain == 2
    assert SOUND.level("Nothing of the sort.") == SOUND.level("") == 0
    assert SOUND.stated("Tall it is.\nIt is RED.") == {0, 1}


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Monday, 3 PM.", True),
        ("- on monday at 3 pm", True),
        ("at 3 pm", False),
        ("Mondays at 3 pm", False),
        ("On Monday. At 3 pm.", False),
        ("On Monday\nat 3 pm", False),
        ("", False),
    ],
)
def test_a_fact_is_stated_by_one_sentence_with_all_its_phrases_as_whole_words(text, stated):
    assert Fact(("3 pm", "Monday"), (), ()).stated_in(text) is stated


def test_a_phrase_may_be_made_of_signs():
    assert Fact(("===",), (), ()).stated_in("Use === there.")
    assert Fact(("a.ok",), (), ()).stated_in("See a.ok first.")
    assert not Fact(("a.ok",), (), ()).stated_in("See a-ok first.")


# Files.


def test_braces_that_name_no_parameter_stay_as_they_are():
    text = FAMILY.replace("of {owner} gets tuna", "of {owner} gets {x} tuna")
    [ida, *_] = read_tasks(parse_yaml(text, name="own.yaml"))
    assert ida.facts[0].forms[0] == "The cat of Ida gets {x} tuna for dinner."


def test_a_family_makes_a_task_of_each_set_of_parameters_and_a_file_without_them_one():
    tasks = read_tasks(parse_yaml(FAMILY, name="own.yaml"))
    assert [(task.id, task.family, task.domain) for task in tasks] == [
        (f"cat-note.{name}", "cat-note", "household") for name in ("ida", "omar", "june")
    ]
    [single] = read_tasks(parse_yaml(SINGLE, name="own.yaml"))
    assert single == replace(tasks[0], id="cat-note")


@pytest.mark.parametrize(
    "text",
    [
        "id: t\n",
        "id: t\ndomain: d\nprompt: p\nrequirements: 5\n",
        "id: t\ndomain: d\nprompt: p\nrequirements: []\n",
        "id: t\ndomain: d\nprompt: p\nrequirements: [{name: a}]\n",
        "id: t\ndomain: d\nprompt: p\nrequirements: [a, b]\n",
        "id: t\ndomain: d\nprompt: p\nrequirements: [{name: a, facts: []}]\n",
        "id: t\ndomain: d\nprompt: p\nrequirements: [{name: a, facts: [{check: [x], forms: [y]}]}]\n",
        FAMILY.replace("check: [tuna]", "check: tuna"),
        FAMILY.replace("check: [tuna]", "check: []"),
        FAMILY.replace(PARAMETERS, "parameters: 3\n"),
        FAMILY.replace(PARAMETERS, "parameters: [ida, omar]\n"),
        FAMILY.replace("{id: omar, ", "{"),
    ],
)
def test_what_is_no_task_is_refused_with_the_name_of_its_file(text):
    with pytest.raises(ConfigError, match=r"own\.yaml:1: not a task"):
        read_tasks(parse_yaml(text, name="own.yaml"))


def umpirical(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return stop.value.code


@pytest.mark.parametrize(
    ("text", "words"), [("requirements: 5\n", "not a task"), ("- 1\n", "mapping"), ("id: [\n", "own.yaml")]
)
def test_a_study_with_a_file_that_is_no_task_is_refused_with_its_name(tmp_path, capsys, text, words):
    assert umpirical("check", write_own_study(tmp_path, text)) == 2
    err = capsys.readouterr().err
    assert "own.yaml" in err
    assert words in err


@pytest.mark.parametrize(
    ("text", "tasks"),
    [(FAMILY, ["cat-note.ida", "cat-note.omar", "cat-note.june"]), (SINGLE, ["cat-note"])],
    ids=["with parameters", "without"],
)
def test_adding_a_task_is_one_file(tmp_path, capsys, text, tasks):
    study = write_own_study(tmp_path, text)
    assert umpirical("check", study, "--json") == 0
    checked = json.loads(capsys.readouterr().out)
    assert all(gate["passed"] for gate in checked["gates"])
    assert checked["calls"] == {"any": 15 * len(tasks)}
    assert umpirical("run", study, "--json") == 0
    [summary] = json.loads(capsys.readouterr().out)
    assert (summary["complete"], summary["trials"]) == (True, 15 * len(tasks))
    datasheet = json.loads((tmp_path / "runs" / summary["run"] / "datasheet.json").read_text())
    assert sorted(datasheet["run"]["tasks"]) == sorted(tasks)
    steps = {row["delta"] for row in datasheet["audit"] if row["family"] == "ladder"}
    assert steps == {0.5, 1, 2}
