"""The stimulus set of the datasheet is what the method asks for."""

from collections import Counter
from dataclasses import replace

import pytest

from umpirical.domain.stimuli import GivenWinner, NoPreference
from umpirical.domain.trials import Order
from umpirical.judges.prompting import fence
from umpirical.runs.design import shown
from umpirical.stimuli.checking import check_stimuli
from umpirical.stimuli.datasheet_set import candidate_levels, datasheet_stimuli
from umpirical.stimuli.ladder.answers import chain
from umpirical.stimuli.tasks import builtin_tasks

TASKS = builtin_tasks()
STIMULI = list(datasheet_stimuli(TASKS, seed=1))
BY_ID = {task.id: task for task in TASKS}


def of(family):
    return [stimulus for stimulus in STIMULI if stimulus.family == family]


def sentences(task, text):
    """An answer taken apart into the sentences of its task."""
    facts = [fact for requirement in task.requirements for fact in requirement.facts]
    known = sorted((s for fact in facts for s in (*fact.forms, *fact.fillers)), key=len, reverse=True)
    found = []
    while text:
        found.append(next(sentence for sentence in known if text.startswith(sentence)))
        text = text.removeprefix(found[-1]).removeprefix(" ")
    return found


# Counts.


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_every_task_has_the_whole_ladder(task):
    mine = [stimulus for stimulus in STIMULI if stimulus.task_id == task.id]
    steps = Counter(stimulus.delta for stimulus in mine if stimulus.family == "ladder")
    assert steps == {1: 5, 2: 4, 3: 3, 4: 2, 5: 1}
    assert sorted(stimulus.base for stimulus in mine if stimulus.family == "delta0") == [0, 1, 2, 3, 4, 5]
    for delta in range(1, 6):
        bases = [s.base for s in mine if s.family == "ladder" and s.delta == delta]
        assert sorted(bases) == list(range(6 - delta))


def test_every_stimulus_is_there_once():
    assert len({stimulus.id for stimulus in STIMULI}) == len(STIMULI)


def test_there_are_enough_distinct_vacuum_prompts_in_three_classes():
    prompts = {
        (stimulus.stratum, shown(stimulus, order)) for stimulus in of("vacuum") for order in (Order.UV, Order.VU)
    }
    count = Counter(stratum for stratum, _ in prompts)
    assert len(prompts) >= 60
    assert set(count) == {"empty", "whitespace", "identical"}
    assert len({fence(prompt) for _, prompt in prompts}) >= 48


def test_vacuum_candidates_leave_nothing_to_compare():
    for stimulus in of("vacuum"):
        u, v = stimulus.candidates
        match stimulus.stratum:
            case "empty":
                assert u == v == ""
            case "whitespace":
                assert u != v
                assert not u.strip()
                assert not v.strip()
            case "identical":
                assert u == v
                assert u.strip()
        assert stimulus.expectation == NoPreference()


def test_identical_answers_come_in_every_quality():
    assert {stimulus.base for stimulus in of("vacuum") if stimulus.stratum == "identical"} == set(range(6))


# Candidates.


def test_the_programmatic_checkers_agree_with_every_planned_level():
    assert list(check_stimuli(TASKS, STIMULI)) == []


@pytest.mark.parametrize("family", ["delta0", "ladder"])
def test_the_candidates_of_a_pair_differ_in_every_sentence(family):
    for stimulus in of(family):
        u, v = (sentences(BY_ID[stimulus.task_id], text) for text in stimulus.candidates)
        assert len(u) == len(v) >= 5
        assert not set(u) & set(v)


def test_the_candidates_of_every_pair_have_equally_many_words():
    for stimulus in of("delta0") + of("ladder"):
        u, v = stimulus.candidates
        assert len(u.split()) == len(v.split())


def test_the_expected_winner_is_the_better_candidate_by_the_planned_difference():
    for stimulus in of("ladder"):
        task = BY_ID[stimulus.task_id]
        levels = [task.level(text) for text in stimulus.candidates]
        winner = stimulus.expectation.candidate
        assert (levels[1 - winner], levels[winner]) == (stimulus.base, stimulus.base + stimulus.delta)


def test_the_better_content_is_u_about_as_often_as_v():
    winners = Counter(stimulus.expectation.candidate for stimulus in of("ladder"))
    assert 0.35 <= winners[0] / winners.total() <= 0.65


@pytest.mark.parametrize("start", range(7))
def test_over_any_five_tasks_each_requirement_stands_at_each_rank_once(start):
    rows = [chain(TASKS[0], index) for index in range(start, start + 5)]
    for rank in range(5):
        assert sorted(row[rank] for row in rows) == [0, 1, 2, 3, 4]


def test_no_requirement_is_always_the_one_that_makes_the_difference():
    marginal = Counter()
    for stimulus in of("ladder"):
        if stimulus.delta == 1:
            task = BY_ID[stimulus.task_id]
            met = [{r.name for r in task.requirements if r.met_in(text)} for text in stimulus.candidates]
            [name] = met[0] ^ met[1]
            marginal[task.id, name] += 1
    assert len(marginal) == 5 * len(TASKS)
    assert set(marginal.values()) == {1}


# Seeds.


def test_the_same_seed_rebuilds_the_same_set_and_another_seed_another():
    again = [stimulus.id for stimulus in datasheet_stimuli(TASKS, seed=1)]
    assert again == [stimulus.id for stimulus in STIMULI]
    other = list(datasheet_stimuli(TASKS, seed=2))
    assert list(check_stimuli(TASKS, other)) == []
    pairs = {stimulus.candidates for stimulus in of("delta0") + of("ladder")}
    same = sum(stimulus.candidates in pairs for stimulus in other)
    assert same < len(pairs) / 20


# Planted mistakes.


def planted(stimulus, **changes):
    return list(check_stimuli(TASKS, [replace(stimulus, **changes)]))


def test_swapped_candidates_are_found():
    stimulus = of("ladder")[0]
    [problem] = planted(stimulus, candidates=stimulus.candidates[::-1])
    assert "planned levels" in problem


def test_a_wrong_winner_a_wrong_step_and_a_wrong_base_are_found():
    stimulus = next(s for s in of("ladder") if s.delta == 2)
    assert planted(stimulus, expectation=GivenWinner(1 - stimulus.expectation.candidate))
    assert planted(stimulus, delta=1.0)
    assert planted(stimulus, base=stimulus.base + 1)
    assert planted(of("delta0")[0], base=3)


def test_an_answer_that_is_better_in_one_thing_and_worse_in_another_is_found():
    task = TASKS[0]
    one, two, three = (r.facts[0].forms[0] for r in task.requirements[:3])
    stimulus = next(s for s in of("ladder") if s.task_id == task.id)
    mixed = replace(stimulus, candidates=(one, f"{two} {three}"), expectation=GivenWinner(1), base=1, delta=1.0)
    [problem] = check_stimuli(TASKS, [mixed])
    assert "does not meet all that the lesser one meets" in problem


def test_the_levels_of_the_candidates_follow_from_the_expectation():
    ladder = next(s for s in of("ladder") if s.base == 1 and s.delta == 3)
    assert candidate_levels(replace(ladder, expectation=GivenWinner(0))) == (4.0, 1.0)
    assert candidate_levels(replace(ladder, expectation=GivenWinner(1))) == (1.0, 4.0)
    assert candidate_levels(of("vacuum")[0]) == (0.0, 0.0)
