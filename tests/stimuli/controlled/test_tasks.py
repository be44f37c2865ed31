"""The tasks that ship, the program that checks them, and what it takes to add one: a file."""

import json
import re
from dataclasses import replace
from importlib.resources import files
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from tests.stimuli.own_tasks import (
    CROSSED,
    CROSSED_SETS,
    CROSSED_SINGLE,
    FAMILY,
    PARAMETERS,
    SINGLE,
    write_own_study,
)
from tests.trusting import trusting
from umpirical.cli import main
from umpirical.domain.errors import ConfigError
from umpirical.stimuli.controlled.family_files import (
    builtin_families,
    filler_tasks,
    load_family,
    read_family,
    read_tasks,
)
from umpirical.stimuli.controlled.tasks import (
    Fact,
    Requirement,
    Task,
    check_task,
    check_tasks,
    check_twins,
    joined,
    member,
    statements,
)
from umpirical.store.yaml_files import parse_yaml
from umpirical.text.words import shared_triples, word_triples

FILLER_TASKS = filler_tasks()
FILLER_FAMILIES = {task.family: [own for own in FILLER_TASKS if own.family == task.family] for task in FILLER_TASKS}
FAMILIES = {family.id: family for family in builtin_families()}

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


# The crossed families that ship.


def test_there_are_enough_families_of_enough_kinds():
    assert len(FAMILIES) == 48
    assert len({family.domain for family in FAMILIES.values()}) >= 14
    assert {family.language for family in FAMILIES.values()} == {"en", "de", "es"}
    assert sum(len(family.sets) for family in FAMILIES.values()) >= 200
    assert sum(bool(family.givens) for family in FAMILIES.values()) >= 24


@each("name", FAMILIES)
def test_nothing_is_wrong_with_any_twin_of_a_family(name):
    twins = list(FAMILIES[name].twins())
    assert list(check_twins(twins)) == []
    assert len({twin.id for twin in twins}) == len(twins)


@each("name", FAMILIES)
def test_a_version_asks_for_two_facts_of_each_of_five_requirements_and_its_other_for_the_rest(name):
    for turn in (0, 1):
        one, other = FAMILIES[name].asked(0, turn).versions
        assert [len(requirement.facts) for requirement in one.requirements] == [2] * 5
        assert [r.name for r in one.requirements] == [r.name for r in other.requirements] == [*FAMILIES[name].names]
        assert [fact.fillers for fact in one.facts] == [fact.forms for fact in other.facts]
        assert [fact.fillers for fact in other.facts] == [fact.forms for fact in one.facts]
        assert len({fact.check for fact in (*one.facts, *other.facts)}) == 20
        assert min(len(set(fact.forms)) for fact in (*one.facts, *other.facts)) >= 2


@each("name", FAMILIES)
def test_halves_take_turns_over_the_requirements_and_over_the_tasks(name):
    first, second = (FAMILIES[name].asked(0, turn) for turn in (0, 1))
    for one, other in ((first.versions[0], second.versions[1]), (first.versions[1], second.versions[0])):
        assert [fact.check for fact in one.facts] == [fact.check for fact in other.facts]
    facts = FAMILIES[name].data["requirements"]
    asked = [requirement["facts"][0]["asks"] for requirement in facts]
    # The first fact of a requirement is asked for in version A, in B, in A again.
    values = FAMILIES[name].data["parameters"][0]
    for number, text in enumerate(asked):
        filled = re.sub(r"\{(\w+)\}", lambda match: str(values.get(match[1], match[0])), text)
        assert filled in first.versions[number % 2].request


@each("name", FAMILIES)
def test_every_parameter_is_filled_in(name):
    family = FAMILIES[name]
    marks = {f"{{{parameter}}}" for parameter in family.data["parameters"][0]}
    for values in family.data["parameters"]:
        assert set(values) == set(family.data["parameters"][0])
    for place in range(len(family.sets)):
        for task in family.asked(place).versions:
            texts = [task.prompt, *(text for fact in task.facts for text in (*fact.check, *fact.forms))]
            assert not any(mark in text for text in texts for mark in marks)


@each("name", [name for name, family in FAMILIES.items() if family.givens])
def test_figures_are_exchanged_and_names_stay(name):
    family = FAMILIES[name]
    twin = family.figures(0, 1)
    if twin is None:
        pytest.skip("few of its facts are figures")
    one, other = twin.versions
    assert (one.version, other.version, twin.kind) == ("P", "Q", "figures")
    assert one.request == other.request
    assert one.prompt != other.prompt
    assert 4 <= len(one.facts) == len(other.facts) <= 10
    assert one.prompt.removesuffix(one.request) == family.asked(0).versions[0].prompt.removesuffix(
        family.asked(0).versions[0].request
    )


def test_most_families_with_figures_have_enough_of_them_for_a_ladder():
    with_givens = [family for family in FAMILIES.values() if family.givens]
    assert sum(family.figures(0, 1) is not None for family in with_givens) >= 0.8 * len(with_givens)


def test_a_family_without_figures_has_no_ladder_of_them():
    family = next(family for family in FAMILIES.values() if not family.givens)
    assert family.figures(0, 0) is None


def test_the_two_things_that_are_asked_of_a_requirement_are_joined_in_its_language():
    by_language = {family.language: family.asked(0).versions[0].request for family in FAMILIES.values()}
    assert {
        name for name, joint in (("en", " and "), ("de", " und "), ("es", " y ")) if joint in by_language[name]
    } == {
        "en",
        "de",
        "es",
    }


# The families with fillers that ship.


def test_there_are_enough_tasks_with_fillers():
    assert len(FILLER_TASKS) >= 100
    assert len(FILLER_FAMILIES) == 24
    assert len({task.domain for task in FILLER_TASKS}) >= 6
    ids, prompts = {task.id for task in FILLER_TASKS}, {task.prompt for task in FILLER_TASKS}
    assert len(ids) == len(prompts) == len(FILLER_TASKS)


def test_nothing_is_wrong_with_any_of_them():
    assert list(check_tasks(FILLER_TASKS)) == []


@each("family", FILLER_FAMILIES)
def test_every_task_has_five_requirements_of_four_facts_in_four_wordings(family):
    for task in FILLER_FAMILIES[family]:
        assert len({requirement.name for requirement in task.requirements}) == len(task.requirements) == 5
        assert {len(requirement.facts) for requirement in task.requirements} == {4}
        for fact in task.facts:
            assert len(set(fact.forms)) == len(fact.forms) >= 4
            assert len(set(fact.fillers)) == len(fact.fillers) >= 4


@each("family", FILLER_FAMILIES)
def test_a_parameter_is_one_word_and_every_one_is_filled_in(family):
    path = files("umpirical.stimuli.controlled") / "filler_families" / f"{family}.yaml"
    sets = parse_yaml(path.read_text(encoding="utf-8"), name=path.name).data["parameters"]
    names = set(sets[0])
    assert all(set(values) == names for values in sets)
    assert all(re.fullmatch(r"\S+", values[name]) for values in sets for name in names)
    unfilled = {f"{{{name}}}" for name in names}
    for task in FILLER_FAMILIES[family]:
        texts = [task.prompt, *(text for fact in task.facts for text in (*fact.check, *fact.forms, *fact.fillers))]
        assert not any(mark in text for text in texts for mark in unfilled)


@each("family", FILLER_FAMILIES)
def test_the_prompts_of_a_family_are_not_one_prompt(family):
    triples = [word_triples(task.prompt) for task in FILLER_FAMILIES[family]]
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


@each(
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


OWN = read_family(parse_yaml(CROSSED, name="own.yaml"))


def test_twins_of_one_name_and_families_of_one_prompt_are_found():
    twin = OWN.asked(0)
    assert list(check_twins([twin])) == []
    assert list(check_twins([twin, twin])) == ["two tasks are named cat-note.ida"]
    other = replace(twin, id="other", versions=tuple(replace(task, family="other") for task in twin.versions))
    [problem] = check_twins([twin, other])
    assert "are near-duplicates: their prompts share 100% of word triples" in problem


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("gets tuna for dinner", "gets some for dinner", "'The cat of Ida gets some for dinner.' does not state"),
        ("green one is", "green tuna is", "a fact of the other version, 'The green tuna is what Ida would fill.'"),
        ("which kind", "how much tuna", "the request gives ('tuna',) away"),
        ("          - Give the cat of {owner} tuna every time.\n", "", "needs at least two forms"),
        ("gets tuna for dinner.", "gets tuna. For dinner.", "is not one sentence"),
    ],
)
def test_a_planted_mistake_in_a_crossed_family_is_found_and_named(old, new, problem):
    assert old in CROSSED
    family = read_family(parse_yaml(CROSSED.replace(old, new), name="own.yaml"))
    assert any(problem in found for found in check_twins([family.asked(0)]))


def test_what_is_given_may_hold_an_answer_and_what_is_asked_may_not():
    given = read_family(parse_yaml(CROSSED.replace("Meals are at", "It eats tuna. Meals are at"), name="own.yaml"))
    assert list(check_twins([given.asked(0)])) == []


def test_the_number_of_a_list_item_is_no_figure_that_an_answer_could_state():
    one = (
        CROSSED.replace("meal: seven", "meal: '1'")
        .replace("meal: eight", "meal: '2'")
        .replace("meal: six", "meal: '3'")
    )
    assert list(check_twins([read_family(parse_yaml(one, name="own.yaml")).asked(0)])) == []


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


WORDLIKE = st.text(alphabet="ab_3é².' ", max_size=12)


@given(WORDLIKE.filter(bool), WORDLIKE)
def test_whole_words_are_those_of_a_pattern(phrase, text):
    pattern = re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)")
    for shown in (text, f"{text}{phrase}{text}", f"{text} {phrase}.{text}"):
        assert Fact((phrase,), (), ()).stated_by(shown) == (pattern.search(shown) is not None)


def test_a_phrase_may_be_made_of_signs():
    assert Fact(("===",), (), ()).stated_in("Use === there.")
    assert Fact(("a.ok",), (), ()).stated_in("See a.ok first.")
    assert not Fact(("a.ok",), (), ()).stated_in("See a-ok first.")


# Objects.


MEMBERS = ['"colour": "red"', '"size":  3', '"tall": true']
OBJECT = joined(MEMBERS, "json")


def test_the_statements_of_an_object_are_its_members_whatever_blanks_stand_between():
    assert json.loads(OBJECT) == {"colour": "red", "size": 3, "tall": True}
    expected = ['"colour": "red"', '"size": 3', '"tall": true']
    assert statements(OBJECT, "json") == statements(json.dumps(json.loads(OBJECT)), "json") == expected
    assert list(map(member, MEMBERS)) == expected


def test_a_member_that_comes_twice_hides_nothing():
    assert statements('{"a": 1, "a": 2}', "json") == ['"a": 1', '"a": 2']
    assert statements("", "json") == statements(" \n", "json") == []


def test_a_fact_is_stated_by_one_member_and_not_by_two():
    fact = Fact(('"size"', "3"), (), ())
    assert fact.stated_in(OBJECT, "json")
    assert not fact.stated_in('{"size": 4, "three": 3}', "json")


@pytest.mark.parametrize("text", ['"a": 1, "b": 2', "a: 1", "", '"a"', '{"a": 1}'])
def test_what_is_no_member_or_more_than_one_is_found(text):
    assert member('"a": 1') == '"a": 1'
    first, second = SOUND.requirements
    fact = replace(first.facts[0], forms=('"it": "red"', text), fillers=('"it": "big"', '"it": "old"'))
    task = replace(SOUND, layout="json", version="A", requirements=(replace(first, facts=(fact,)), second))
    assert any(f"{text!r} is not one member of an object" in found for found in check_task(task))


def test_answers_of_a_family_in_json_are_objects_with_every_fact():
    families = [family for family in FAMILIES.values() if family.layout == "json"]
    assert families
    for family in families:
        for task in family.asked(0).versions:
            text = joined([fact.forms[0] for fact in task.facts], "json")
            assert isinstance(json.loads(text), dict)
            assert task.stated(text) == set(range(10))
            assert task.level(text) == 5


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


def test_a_crossed_family_makes_a_twin_of_each_set_of_parameters_and_a_file_without_them_one():
    assert [(twin.id, twin.family, twin.domain, twin.kind) for twin in OWN.twins()] == [
        (f"cat-note.{name}", "cat-note", "household", "asked") for name in ("ida", "omar", "june")
    ]
    single = read_family(parse_yaml(CROSSED_SINGLE, name="own.yaml"))
    [twin] = single.twins()
    assert twin.id == "cat-note"
    assert [task.id for task in twin.versions] == ["cat-note.A", "cat-note.B"]
    assert [task.prompt for task in twin.versions] == [task.prompt for task in OWN.asked(0).versions]


def test_a_prompt_is_what_is_given_and_then_what_is_asked():
    [one, other] = OWN.asked(0).versions
    given = "Ida is away for nine days. Meals are at seven, and whatever the cat needs is in the attic."
    start = "Write a note for whoever looks after the cat of Ida. Say: "
    assert (
        one.prompt == f"{given}\n\n{start}(1) its food: which kind and which hour; (2) its box: how long and what tool."
    )
    assert (
        other.request == f"{start}(1) its food: which bowl and what to drink; (2) its box: what place and what filling."
    )


@pytest.mark.parametrize(("language", "joint"), [("de", "und"), ("es", "y")])
def test_a_language_joins_what_is_asked_in_its_own_way(language, joint):
    family = read_family(parse_yaml(f"language: {language}\n{CROSSED}", name="own.yaml"))
    assert f"which kind {joint} which hour" in family.asked(0).versions[0].request


def test_a_file_is_read_as_what_it_is(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(CROSSED)
    assert load_family(path) == OWN
    path.write_text(FAMILY)
    assert [task.id for task in load_family(path)] == ["cat-note.ida", "cat-note.omar", "cat-note.june"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("request:", "requests:", "requests: is not a key of a family"),
        ("domain: household\n", "", "'domain' is missing"),
        ("    about: its food\n", "", "'about' is missing"),
        ("asks: which kind", "ask: which kind", "ask: is not a key of a fact"),
        ("check: [tuna]", "check: tuna", "check: expected a list with something in it, got 'tuna'"),
        ("domain: household", "domain: household\nlayout: table", "layout: expected one of prose, json, got 'table'"),
        ("domain: household", "domain: household\nlanguage: fr", "language: expected one of en, de, es, got 'fr'"),
        ("domain: household", "domain: household\nreviewed: soon", "reviewed: expected true or false, got 'soon'"),
        ("givens: [meal, days]", "givens: [meal, weeks]", "'weeks' is missing"),
        (CROSSED_SETS, "parameters: 3\n", "not a task"),
        (CROSSED_SETS, "parameters: [ida, omar]\n", "not a task"),
        ("{id: omar, ", "{", "'id' is missing"),
        (CROSSED[CROSSED.index("      - asks: what tool") :], "", "box: expected four facts, got 3"),
    ],
)
def test_a_wrong_crossed_file_says_what_is_wrong_and_where(tmp_path, old, new, message):
    assert old in CROSSED
    path = tmp_path / "own.yaml"
    path.write_text(CROSSED.replace(old, new))
    with pytest.raises(ConfigError) as refused:
        load_family(path)
    assert str(refused.value).startswith("own.yaml:1: not a task")
    assert message in str(refused.value)


@each(
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
        main(trusting(arguments))
    return stop.value.code


@pytest.mark.parametrize(
    ("text", "words"), [("requirements: 5\n", "not a task"), ("- 1\n", "mapping"), ("id: [\n", "own.yaml")]
)
def test_a_study_with_a_file_that_is_no_task_is_refused_with_its_name(tmp_path, capsys, text, words):
    assert umpirical("check", write_own_study(tmp_path, text)) == 2
    err = capsys.readouterr().err
    assert "own.yaml" in err
    assert words in err


THREE = ["cat-note.ida", "cat-note.omar", "cat-note.june"]


@pytest.mark.parametrize(
    ("text", "tasks", "calls", "steps"),
    [
        # Of each task: two vacuum prompts, an equal pair, four pairs of the ladder; of every second one, a conflict.
        (FAMILY, THREE, 3 * 12 + 2, {0.5, 1, 2}),
        (SINGLE, ["cat-note"], 12, {1, 2, 0.5}),
        (CROSSED, THREE, 3 * 12 + 2, {0.5, 1, 2}),
        (CROSSED_SINGLE, ["cat-note"], 12, {1, 2}),
    ],
    ids=["fillers with parameters", "fillers without", "crossed with parameters", "crossed without"],
)
def test_adding_a_task_is_one_file(tmp_path, capsys, text, tasks, calls, steps):  # four of a row
    study = write_own_study(tmp_path, text)
    assert umpirical("check", study, "--json") == 0
    checked = json.loads(capsys.readouterr().out)
    assert all(gate["passed"] for gate in checked["gates"])
    assert checked["calls"] == {"any": calls}
    # So few calls decide nothing.
    assert umpirical("run", study, "--json") == 4
    [summary] = json.loads(capsys.readouterr().out)
    assert (summary["complete"], summary["trials"]) == (True, calls)
    datasheet = json.loads((tmp_path / "runs" / summary["run"] / "datasheet.json").read_text())
    assert datasheet["run"]["tasks"] == ["cat-note"]
    assert datasheet["stimuli"]["tasks"] == len(tasks)
    manifest = json.loads(next(tmp_path.glob("stimuli/*/manifest.json")).read_text())
    assert manifest["tasks"] == tasks
    assert {row["delta"] for row in datasheet["audit"] if row["family"] == "graded"} == steps
