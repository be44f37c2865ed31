"""The plan: every trial once, and nothing of what will be sent."""

from itertools import pairwise

import pytest

from tests.stimuli.built import built
from umpirical.domain.digests import digest
from umpirical.domain.stimuli import NoPreference, Stimulus
from umpirical.domain.trials import Order
from umpirical.judges.factory import build_judge
from umpirical.judges.judge import prompt_id, trial_id
from umpirical.judges.prompt import resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import Calling
from umpirical.runs import plan as planning
from umpirical.runs.plan import Design, shown, write_plan
from umpirical.store.runs import RunStore
from umpirical.store.stimulus_sets import write_stimuli


def judge_in(folder, **changes):
    (folder / "strict.md").write_text("Strictly: {{task}} {{first}} {{second}}")
    spec = {
        "name": "j",
        "model": {"adapter": "openai-compatible", "name": "m", "base_url": "http://127.0.0.1:9/v1"},
        "prompts": {"baseline": "builtin:compare", "strict": "strict.md"},
    }
    spec = resolve_prompts(JudgeSpec.model_validate(spec | changes), folder)
    return build_judge(spec, folder=folder, calling=Calling(answer_key=lambda: len, seed=1))


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """The whole datasheet of one judge, two variants, two repeats."""
    folder = tmp_path_factory.mktemp("study")
    judge = judge_in(folder)
    stimuli = write_stimuli(folder / "stimuli", built("standard"))
    design = Design(repeats=2, variants=judge.variants)
    store = RunStore(folder / "run")
    count = write_plan(store, judge, stimuli, design)
    return judge, stimuli, design, store, count


def trials_of(store):
    return [trial for shard in range(store.plan_size()[1]) for trial, _ in store.plan_shard(shard)]


def test_the_plan_holds_every_presentation_of_every_stimulus_once(planned):
    judge, stimuli, design, store, count = planned
    trials = trials_of(store)
    expected = {(s.id, way) for s in stimuli for way in (design).presentations(s, judge.capabilities)}
    assert {(trial.stimulus_id, trial.presentation) for trial in trials} == expected
    assert len(trials) == len(expected) == count == store.plan_size()[0]
    assert len({trial.id for trial in trials}) == count


def test_the_ways_to_show_a_stimulus_are_in_one_shard_but_for_one_where_it_ends(planned):
    *_, store, _ = planned
    found, order = {}, []
    shards = store.plan_size()[1]
    for shard in range(shards):
        for trial, _ in store.plan_shard(shard):
            found.setdefault(trial.stimulus_id, set()).add(shard)
            order.append(trial.stimulus_id)
    # Side by side: each begins where the one before ends.
    assert sum(one != two for one, two in pairwise(order)) == len(found) - 1
    assert sum(len(where) > 1 for where in found.values()) <= shards - 1


def test_shards_are_full_but_for_the_last(planned):
    *_, store, count = planned
    sizes = [len(list(store.plan_shard(shard))) for shard in range(store.plan_size()[1])]
    assert sizes[:-1] == [planning.SHARD_SIZE] * (len(sizes) - 1)
    assert sum(sizes) == count > planning.SHARD_SIZE


def test_repeats_share_a_prompt_and_orders_and_variants_do_not(planned):
    *_, store, count = planned
    trials = trials_of(store)
    prompts = {}
    for trial in trials:
        way = trial.presentation
        prompts.setdefault((trial.stimulus_id, way.order, way.variant), set()).add(trial.prompt_id)
    assert all(len(found) == 1 for found in prompts.values())
    assert len({trial.prompt_id for trial in trials}) == len(prompts) == count / 2


def test_the_ids_are_those_of_what_will_be_sent(planned):
    judge, stimuli, _, store, _ = planned
    for trial, part in list(store.plan_shard(0))[::50]:
        stimulus = stimuli.part(part)[trial.stimulus_id]
        way = trial.presentation
        prompt = prompt_id(judge.request(shown(stimulus, way.order), way))
        assert trial.prompt_id == prompt
        assert trial.id == trial_id(prompt, repeat=way.repeat)


def test_no_text_of_any_prompt_is_in_the_plan(tmp_path):
    judge = judge_in(tmp_path)
    mark = "MARKED"
    stimulus = Stimulus("t", f"{mark} task", (f"{mark} u", f"{mark} v"), NoPreference(), "m", "equal")
    store = RunStore(tmp_path / "run")
    write_plan(store, judge, write_stimuli(tmp_path / "stimuli", [stimulus]), Design(variants=judge.variants))
    for path in (tmp_path / "run").rglob("*"):
        assert path.is_dir() or mark.encode() not in path.read_bytes()
    rows = [repr(row) for row in store.plan_shard(0)]
    assert len(rows) == 4
    assert not any(mark in row or "candidate" in row for row in rows)


def test_the_same_plan_is_written_again_from_the_same_stimuli(planned, tmp_path):
    judge, stimuli, design, store, count = planned
    again = RunStore(tmp_path / "run")
    assert write_plan(again, judge, stimuli, design) == count
    assert trials_of(again) == trials_of(store)


def test_a_trial_knows_the_part_its_stimulus_is_in(tmp_path, monkeypatch):
    monkeypatch.setattr("umpirical.store.stimulus_sets.PART_SIZE", 2)
    judge = judge_in(tmp_path)
    stimuli = write_stimuli(
        tmp_path / "stimuli", [Stimulus("t", f"{n}", ("u", "v"), NoPreference(), "m", "f") for n in range(5)]
    )
    store = RunStore(tmp_path / "run")
    assert write_plan(store, judge, stimuli, Design(), shard_size=3) == 10
    assert store.plan_size() == (10, 4)
    for shard in range(4):
        for trial, part in store.plan_shard(shard):
            assert trial.stimulus_id in stimuli.part(part)


@pytest.mark.parametrize(
    ("capabilities", "orders"),
    [({}, {Order.AB, Order.BA}), ({"order_controllable": False}, {Order.AB})],
)
def test_the_plan_leaves_out_what_the_judge_cannot_be_asked(tmp_path, capabilities, orders):
    judge = judge_in(tmp_path, capabilities=capabilities | {"accepts_empty": False})
    stimuli = write_stimuli(tmp_path / "stimuli", built("screen"))
    store = RunStore(tmp_path / "run")
    write_plan(store, judge, stimuli, Design())
    trials = trials_of(store)
    by_id = {stimulus.id: stimulus for stimulus in stimuli}
    assert {trial.presentation.order for trial in trials} == orders
    asked = [by_id[trial.stimulus_id] for trial in trials]
    assert {stimulus.stratum for stimulus in asked if stimulus.family == "blank"} == {"identical"}
    assert {stimulus.family for stimulus in asked} == {"blank", "equal", "graded", "figures", "conflict"}


@pytest.mark.parametrize("prompt", ["0123456789abcdef", "Größe9", "漢字", "", "a b", 'a"b', "a\\b", "a\nb", "\ud800"])
@pytest.mark.parametrize("repeat", [0, 7, 1000])
def test_the_id_of_a_trial_is_a_digest_like_any_other(prompt, repeat):
    assert trial_id(prompt, repeat=repeat) == digest("trial", [prompt, repeat])


def test_a_plan_says_how_many_questions_each_shard_asks(tmp_path):
    """Two stimuli that are shown alike share their questions, which the first shard asks."""
    judge, store = judge_in(tmp_path), RunStore(tmp_path / "run")
    alike = [Stimulus(f"t{n}", "task", ("u", "v"), NoPreference(), "m", "f") for n in range(3)]
    other = [Stimulus("t9", "another", ("u", "v"), NoPreference(), "m", "f")]
    write_plan(store, judge, write_stimuli(tmp_path / "stimuli", [*alike, *other]), Design(), shard_size=3)
    assert [store.asked(shard) for shard in range(3)] == [2, 0, 2]
    assert [store.count_asked(shard) for shard in range(3)] == [2, 0, 2]
