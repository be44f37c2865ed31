"""The stimulus set of each size is what the method asks for."""

from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from scipy.stats import chi2_contingency

from tests.cases import each
from tests.stimuli.built import built, materials_of, tasks_of
from tests.stimuli.own_tasks import CROSSED
from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import GivenWinner, NoPreference
from umpirical.judges.judge import Capabilities
from umpirical.runs.plan import Design, shown
from umpirical.stimuli.controlled.datasheet_set import RECIPES, datasheet_stimuli, recipe
from umpirical.stimuli.controlled.family_files import builtin_families, filler_tasks, read_family
from umpirical.stimuli.controlled.ladder import quads
from umpirical.stimuli.controlled.ladder.pairs import PairMaker, bases, chain
from umpirical.stimuli.controlled.ladder.quads import QuadMaker, RequestBalance
from umpirical.stimuli.controlled.ladder.transforms import TRANSFORMS, canonical, length_gap
from umpirical.stimuli.controlled.materials import builtin_materials, crossed_materials
from umpirical.stimuli.controlled.tasks import statements
from umpirical.stimuli.controlled.trivial import Balancer
from umpirical.store.yaml_files import parse_yaml

SIZES = list(RECIPES)
TASKS = {task_id: task for size in SIZES for task_id, task in tasks_of(size).items()}
FIRST = builtin_families()[0].asked(0).versions[0]
FILLER = filler_tasks()[0]
PAIRS = ("equal", "graded", "figures", "equal-subset")


def of(size, *families):
    return [stimulus for stimulus in built(size) if stimulus.family in families]


def calls(stimuli):
    """Every call of a judge that can be asked anything: the stimulus, and what is shown."""
    ways = ((stimulus, (Design()).presentations(stimulus, Capabilities())) for stimulus in stimuli)
    return [(stimulus, shown(stimulus, way.order)) for stimulus, found in ways for way in found]


# How much.


@pytest.mark.parametrize(
    ("size", "most", "least"),
    [("screen", 340, 330), ("paper", 620, 620), ("standard", 1370, 1366), ("full", 2640, 2600)],
)
def test_a_size_takes_as_many_calls_as_it_says(size, most, least):
    found = len(calls(built(size)))
    assert found == RECIPES[size].calls
    assert least <= found <= most
    tasks = {stimulus.twin for stimulus in built(size) if stimulus.family not in {"figures", "fine"}}
    assert len(tasks) == RECIPES[size].tasks


@pytest.mark.parametrize("ladder", ["crossed", "filler"])
def test_the_papers_design_is_the_papers_call_by_call(ladder):
    asked = [stimulus for stimulus, _ in calls(built("paper", ladder=ladder))]
    counts = Counter(stimulus.family for stimulus in asked)
    assert counts == {"blank": 120, "equal": 120, "graded": 300, "equal-subset": 40, "length": 40}
    steps = Counter(stimulus.delta for stimulus in asked if stimulus.family == "graded")
    assert steps == {1: 100, 2: 80, 3: 60, 4: 40, 5: 20}


def test_on_the_papers_own_ladder_every_task_has_every_pair_of_levels_and_an_equal_pair_at_each():
    for task in tasks_of("paper", "filler").values():
        mine = [stimulus for stimulus in built("paper", ladder="filler") if stimulus.task_id == task.id]
        ladder = sorted((s.base, s.base + s.delta) for s in mine if s.family == "graded")
        assert ladder == [(low, high) for low in range(6) for high in range(low + 1, 6)]
        assert sorted(s.base for s in mine if s.family == "equal") == [0, 1, 2, 3, 4, 5]


def test_every_size_but_the_first_look_has_the_controls():
    families = {size: {stimulus.family for stimulus in built(size)} for size in SIZES}
    everything = {"blank", "equal", "graded", "figures", "equal-subset", "length", "conflict"}
    assert families["standard"] == families["full"] == everything | {"fine"}
    assert families["paper"] == everything - {"figures", "conflict"}
    assert families["screen"] == everything - {"equal-subset", "length"}


@pytest.mark.parametrize("size", ["screen", "standard", "full"])
def test_checks_are_set_at_one_requirement_and_at_five_and_these_are_asked_about_most(size):
    steps = Counter(stimulus.delta for stimulus in of(size, "graded"))
    assert set(steps) == {0.5, 1, 2, 3, 4, 5} - set(RECIPES[size].unshown)
    assert steps[1] == steps[5] == 4 * min(steps.values())


# Quads.


def test_the_quad_that_the_module_tells_of_is_made_so():
    [twin] = [family.asked(0) for family in builtin_families() if family.id == "jam-batch"]
    one, other = QuadMaker(twin, 0, 1, RequestBalance()).quad(2.0, 0, rank=1)
    first, second = reversed(one.candidates)
    assert one.candidates == other.candidates
    assert [version.stated(first) for version in twin.versions] == [frozenset(range(8)), frozenset({8, 9})]
    assert [version.stated(second) for version in twin.versions] == [frozenset(range(4)), frozenset(range(4, 10))]
    found = [(each.expectation.candidate, each.base, each.delta, each.stratum) for each in (one, other)]
    assert found == [(1, 2.0, 2.0, "register"), (0, 1.0, 2.0, "register")]
    slot = twin.versions[0].facts[4]
    assert all(f'"{text}"' in quads.__doc__ for text in (slot.forms[0], slot.fillers[0]))


@pytest.mark.parametrize("size", SIZES)
def test_a_quad_shows_two_texts_under_two_versions_and_the_better_one_changes(size):
    quads = defaultdict(list)
    for stimulus in of(size, "graded", "figures"):
        quads[stimulus.family, stimulus.crossed_pair].append(stimulus)
    for one, other in quads.values():
        assert one.candidates == other.candidates
        assert {one.version, other.version} in ({"A", "B"}, {"P", "Q"})
        assert one.expectation.candidate == 1 - other.expectation.candidate
        assert (one.twin, one.delta, one.cluster) == (other.twin, other.delta, other.cluster)


@pytest.mark.parametrize("size", SIZES)
def test_versions_differ_in_the_request_or_in_the_figures_alone(size):
    for twin in materials_of(size).twins:
        one, other = twin.versions
        assert one.prompt.removesuffix(one.request) == other.prompt.removesuffix(other.request)
        assert one.request != other.request
    for twin in materials_of(size).figures:
        one, other = twin.versions
        assert one.request == other.request
        assert one.prompt != other.prompt


@pytest.mark.parametrize("size", SIZES)
def test_whatever_else_is_made_of_a_task_shows_its_versions_in_turn(size):
    shown_versions = Counter(s.version for s in built(size) if s.family not in ("graded", "figures"))
    assert abs(shown_versions["A"] - shown_versions["B"]) <= 0.1 * shown_versions.total()


@pytest.mark.parametrize("size", SIZES)
def test_every_stimulus_is_there_once(size):
    assert len({stimulus.id for stimulus in built(size)}) == len(built(size))


def test_a_size_that_is_not_known_is_answered_with_those_that_are():
    with pytest.raises(UsageError, match="invalid size 'huge'") as refused:
        recipe("huge")
    assert refused.value.fix == "choose screen, paper, standard, full"


# Vacuum.


@pytest.mark.parametrize("size", SIZES)
def test_vacuum_prompts_are_distinct_and_of_three_classes(size):
    asked = [(stimulus.stratum, prompt) for stimulus, prompt in calls(of(size, "blank"))]
    assert len(asked) == len({prompt for _, prompt in asked}) == RECIPES[size].tasks * RECIPES[size].vacuum >= 48
    classes = Counter(stratum for stratum, _ in asked)
    assert set(classes) == {"empty", "whitespace", "identical"}
    assert min(classes.values()) >= 10


@pytest.mark.parametrize("size", SIZES)
def test_vacuum_candidates_leave_nothing_to_compare(size):
    for stimulus in of(size, "blank"):
        u, v = stimulus.candidates
        match stimulus.stratum:
            case "empty":
                assert u == v == ""
            case "whitespace":
                assert u != v
                assert not (u + v).strip()
            case "identical":
                assert u == v
                assert u.strip()
        assert stimulus.expectation == NoPreference()


@pytest.mark.parametrize("size", SIZES)
def test_identical_answers_come_in_every_quality(size):
    assert {s.base for s in of(size, "blank") if s.stratum == "identical"} == {0, 1, 2, 3, 4, 5}


# What the candidates state.


@pytest.mark.parametrize("size", SIZES)
def test_the_checkers_find_every_planned_level(size):
    # A test of their own checks fine differences.
    for stimulus in (one for one in built(size) if one.family != "fine"):
        found = tuple(TASKS[stimulus.task_id].level(text) for text in stimulus.candidates)
        assert found == stimulus.levels


@pytest.mark.parametrize("size", SIZES)
def test_the_better_candidate_states_all_that_the_lesser_one_states(size):
    for stimulus in of(size, "graded", "figures", "conflict"):
        states = [TASKS[stimulus.task_id].stated(text) for text in stimulus.candidates]
        winner = stimulus.expectation.candidate
        assert states[1 - winner] < states[winner]


@pytest.mark.parametrize("size", SIZES)
def test_equal_candidates_state_the_same(size):
    for stimulus in of(size, "equal", "length"):
        one, other = map(TASKS[stimulus.task_id].stated, stimulus.candidates)
        assert one == other
        assert stimulus.expectation == NoPreference()


def test_the_levels_of_the_candidates_follow_from_the_expectation():
    ladder = next(s for s in of("paper", "graded") if s.base == 1 and s.delta == 3)
    assert replace(ladder, expectation=GivenWinner(0)).levels == (4.0, 1.0)
    assert replace(ladder, expectation=GivenWinner(1)).levels == (1.0, 4.0)
    assert of("paper", "blank")[0].levels == (0.0, 0.0)


# What the design rotates.


@pytest.mark.parametrize("start", range(7))
def test_over_any_five_tasks_each_requirement_stands_at_each_rank_once(start):
    task = FIRST
    rows = [[place // task.grain for place in chain(task, index)[:: task.grain]] for index in range(start, start + 5)]
    for rank in range(5):
        assert sorted(row[rank] for row in rows) == [0, 1, 2, 3, 4]


@each("index", range(20))
@each(("task", "grain"), [(FIRST, 2), (FILLER, 4)])
def test_a_chain_takes_in_one_requirement_after_the_other_and_every_fact_once(task, grain, index):
    places = chain(task, index)
    assert sorted(places) == list(range(5 * grain))
    rows = [places[start : start + grain] for start in range(0, 5 * grain, grain)]
    assert all(len({place // grain for place in row}) == 1 for row in rows)


def test_the_first_fact_of_a_requirement_is_not_always_the_same_one():
    assert {chain(FIRST, index)[0] % 2 for index in range(0, 20, 5)} == {0, 1}


def marginal_requirement(stimulus):
    task = TASKS[stimulus.task_id]
    one, other = map(task.stated, stimulus.candidates)
    [requirement] = {place // task.grain for place in one ^ other}
    return requirement


@pytest.mark.parametrize("size", ["standard", "full"])
def test_no_requirement_is_mostly_the_one_that_makes_the_difference(size):
    found = Counter(marginal_requirement(s) for s in of(size, "graded") if s.delta == 1)
    assert set(found) == {0, 1, 2, 3, 4}
    assert max(found.values()) <= 0.4 * found.total()


@pytest.mark.parametrize("size", SIZES)
def test_every_step_starts_from_low_and_high_levels_alike(size):
    started = defaultdict(Counter)
    for stimulus in of(size, "graded"):
        started[stimulus.delta][stimulus.base] += 1
    for delta, found in started.items():
        allowed = bases(FIRST, delta)
        assert set(found) <= set(allowed)
        # A quad starts low in one version and high in the other.
        assert max(found.values()) <= -(-found.total() // len(allowed)) + 4
        assert min(found) <= 1
        assert max(found) >= max(allowed) - 1


@pytest.mark.parametrize("size", SIZES)
def test_the_better_content_is_u_exactly_as_often_as_v(size):
    winners = Counter(stimulus.expectation.candidate for stimulus in of(size, "graded", "figures"))
    assert winners[0] == winners[1]


# What differs between the candidates.


@pytest.mark.parametrize("size", SIZES)
def test_the_candidates_of_a_pair_differ_in_every_sentence(size):
    for stimulus in of(size, *PAIRS):
        task = TASKS[stimulus.task_id]
        u, v = ([canonical(part) for part in statements(text, task.layout)] for text in stimulus.candidates)
        assert len(u) == len(v) == len(task.facts)
        assert not set(u) & set(v)


@pytest.mark.parametrize("size", SIZES)
def test_the_candidates_of_a_pair_are_equally_long(size):
    for s in of(size, *PAIRS):
        assert length_gap(*s.candidates, TASKS[s.task_id].layout) <= (4 if s.crossed_pair else 0)


@pytest.mark.parametrize("size", SIZES)
def test_transforms_are_as_frequent_at_equal_quality_as_on_the_ladder(size):
    equal, ladder = (Counter(stimulus.stratum for stimulus in of(size, family)) for family in ("equal", "graded"))
    # None of them is rare but spelling, which finds little to work on and passes to its neighbour.
    assert set(equal) | {"spelling"} == set(ladder) == set(TRANSFORMS)
    table = [[found[name] for name in TRANSFORMS] for found in (equal, ladder)]
    assert chi2_contingency(table).pvalue > 0.05
    common = [[count for name, count in zip(TRANSFORMS, row, strict=True) if name != "spelling"] for row in table]
    assert min(map(min, common)) >= sum(map(sum, table)) / 2 / len(TRANSFORMS) / 4


def test_transforms_are_as_frequent_at_small_steps_as_at_large_ones():
    found = defaultdict(Counter)
    for stimulus in of("full", "graded"):
        found[stimulus.delta][stimulus.stratum] += 1
    assert chi2_contingency([[row[name] for name in TRANSFORMS] for row in found.values()]).pvalue > 0.01


# Length and requirements set against each other.


def test_a_subset_pair_meets_one_requirement_each_and_not_the_same_one():
    pairs = of("full", "equal-subset")
    for stimulus in pairs:
        met = [{place // 2 for place in TASKS[stimulus.task_id].stated(text)} for text in stimulus.candidates]
        one, other = (int(number) - 1 for number in stimulus.stratum.split("-"))
        assert met == [{one}, {other}]
        assert (stimulus.delta, stimulus.base, stimulus.expectation) == (0.0, 1.0, NoPreference())
    assert len({stimulus.stratum for stimulus in pairs}) == 10


def parts(stimulus):
    layout = TASKS[stimulus.task_id].layout
    return [statements(text, layout) for text in stimulus.candidates]


def extra(long, short):
    return f"+{len(long) / len(short) - 1:.0%}"


ROUNDED = {"+20%": "+25%", "+30%": "+25%"}
"""Ten statements have no quarter."""


def test_a_length_pair_states_the_same_and_u_is_longer_by_what_nobody_asked_for():
    pairs = of("full", "length")
    for stimulus in pairs:
        long, short = parts(stimulus)
        assert ROUNDED.get(extra(long, short), extra(long, short)) == stimulus.stratum
        assert len(set(long)) == len(long)
    strata = Counter(stimulus.stratum for stimulus in pairs)
    assert set(strata) == {"+25%", "+50%", "+100%"}
    assert max(strata.values()) - min(strata.values()) <= 1
    assert len({stimulus.base for stimulus in pairs}) >= 4


def test_in_a_conflict_pair_u_is_better_by_one_requirement_and_v_is_longer():
    pairs = of("full", "conflict")
    for stimulus in pairs:
        short, long = parts(stimulus)
        assert ROUNDED.get(extra(long, short), extra(long, short)) == stimulus.stratum
        assert (stimulus.delta, stimulus.expectation) == (1.0, GivenWinner(0))
        assert len(set(long)) == len(long)
    assert Counter(stimulus.stratum for stimulus in pairs) == {"+25%": 48, "+50%": 48, "+100%": 16, "+200%": 32}
    assert len({stimulus.base for stimulus in pairs}) >= 3


@pytest.mark.parametrize("size", ["screen", "standard", "full"])
def test_the_longest_answer_is_three_times_as_long_and_says_less_of_what_was_asked(size):
    tasks = tasks_of(size)
    for stimulus in (pair for pair in of(size, "conflict") if pair.stratum == "+200%"):
        better, longer = stimulus.candidates
        assert 2.4 < len(longer) / len(better) < 3.6
        stated = [tasks[stimulus.task_id].stated(text) for text in stimulus.candidates]
        assert stated[1] < stated[0]
        # The shorter one states nothing that was not asked for.
        assert len(stated[0]) == len(parts(stimulus)[0])


def test_a_task_of_two_requirements_has_no_room_for_an_answer_three_times_as_long():
    task = next(iter(tasks_of("screen").values()))
    small = PairMaker(replace(task, requirements=task.requirements[:2]), 0, 1, Balancer())
    assert not small.has_room("+200%")
    assert small.far("+100%", 0, rank=0).base == 0


def test_figures_are_asked_at_the_largest_step_of_as_many_families_as_checks_need():
    largest = [stimulus for stimulus in of("standard", "figures") if stimulus.delta == 5]
    assert len({stimulus.crossed_pair for stimulus in largest}) == len({stimulus.cluster for stimulus in largest}) == 23


def test_standard_begins_with_the_pairs_that_it_had_when_answers_to_it_were_recorded():
    whole = replace(RECIPES["standard"], unshown=())
    made = list(datasheet_stimuli(builtin_materials("crossed", whole.tasks), whole, seed=1))[:672]
    assert digest("pairs", [(stimulus.task, *stimulus.candidates) for stimulus in made])[:16] == "1a8c52055f045806"
    shown = [stimulus for stimulus in made if stimulus.family != "graded" or stimulus.delta in {1, 3, 5}]
    assert [stimulus.id for stimulus in built("standard")[: len(shown)]] == [stimulus.id for stimulus in shown]


def test_length_and_conflict_pairs_come_in_every_domain():
    domains = {task.domain for task in tasks_of("full").values()}
    for family in ("length", "conflict"):
        assert {TASKS[s.task_id].domain for s in of("full", family)} == domains


# Seeds and tasks.


def test_the_same_seed_gives_the_same_ids_and_another_seed_other_texts():
    again = datasheet_stimuli(materials_of("screen"), RECIPES["screen"], seed=1)
    assert [s.id for s in again] == [s.id for s in built("screen")]
    texts = {text for stimulus in of("screen", "equal", "graded") for text in stimulus.candidates}
    other = {text for s in built("screen", 2) if s.family in ("equal", "graded") for text in s.candidates}
    assert len(other & texts) < len(texts) / 100


@pytest.mark.parametrize("ladder", ["crossed", "filler"])
def test_tasks_are_taken_from_every_family_before_a_second_one_is_taken_from_any(ladder):
    everything = builtin_materials(ladder, 10_000)
    families = len({task.family for task in everything.of_each()})
    for count in (10, families, families + 5, 100):
        chosen = builtin_materials(ladder, count)
        taken = Counter(task.family for task in chosen.of_each())
        assert len(chosen.ids) == len(set(chosen.ids)) == count
        assert len(taken) == min(count, families)
        assert max(taken.values()) - min(taken.values()) <= 1 or count > 3 * families


def test_a_family_of_the_users_own_gets_every_control():
    family = read_family(parse_yaml(CROSSED, name="own.yaml"))
    materials = crossed_materials([(family, place % 3) for place in range(12)])
    found = Counter(s.family for s in datasheet_stimuli(materials, RECIPES["full"], seed=1))
    assert (found["equal-subset"], found["length"], found["conflict"]) == (6, 6, 12 + 6)


def test_the_two_ladders_share_no_stimulus():
    assert not {s.id for s in built("screen")} & {s.id for s in built("screen", ladder="filler")}
