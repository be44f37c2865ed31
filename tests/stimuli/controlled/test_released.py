"""The sets that ship with the package are what the tasks, recipes and makers give, and every gate was tried on them."""

from dataclasses import replace

import pytest

from tests.stimuli.built import built
from tests.stimuli.released import SIZES, about, folder_of, gates, made
from umpirical.protocols.datasheet import stimuli
from umpirical.protocols.datasheet.stimuli import RELEASED, build_stimuli, released_set, write_stimulus_set
from umpirical.stimuli.controlled import datasheet_set
from umpirical.stimuli.controlled.datasheet_set import DECIDED, RECIPES
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.study.file import parse_study

JUDGE = "judges: [{name: any, model: {adapter: simulated, name: careful}}]"


def study_of(folder, more=""):
    return parse_study(f"study: s\n{more}\n{JUDGE}\n", folder)


@pytest.mark.heavy
@pytest.mark.parametrize("size", SIZES)
def test_a_released_set_is_made_again_byte_for_byte_and_passes_every_gate(size):
    released, again = StimulusSet(folder_of(size)), list(built(size)) if size in RECIPES else made(size)
    assert [stimulus.id for stimulus in released] == [stimulus.id for stimulus in again]
    assert list(released) == again, "a field that is not in the ids differs: run `just released`"
    tried = gates(size, again, released)
    # Of the small sets, those that block nothing pass too.
    assert all(gate.passed for gate in tried if gate.blocks or size in ("screen", "paper"))
    assert about(size, tried).items() <= released.manifest.items(), "run `just released`"


def test_nothing_else_ships():
    assert sorted(folder.name for folder in RELEASED.iterdir()) == sorted(folder_of(size).name for size in SIZES)


def test_a_study_of_the_built_in_tasks_takes_the_released_set_and_makes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(stimuli, "datasheet_stimuli", None)
    monkeypatch.setattr(stimuli, "chosen_materials", None)
    study = study_of(tmp_path)
    kept = write_stimulus_set(study)
    assert kept.folder == tmp_path / "stimuli" / folder_of(DECIDED).name
    assert list(kept) == build_stimuli(study, DECIDED, seed=1)[0]
    assert len(kept.manifest["gates"]) == 16
    assert "made_of" not in kept.manifest


@pytest.mark.parametrize("more", ["seed: 2", "tasks: [jam-batch]", "design: {graded: filler}"])
def test_any_other_study_makes_its_own(tmp_path, more):
    study = study_of(tmp_path, more)
    assert released_set(study, study.spec.design.size, study.spec.seed) is None


def test_a_changed_task_recipe_or_maker_is_no_released_set(tmp_path, monkeypatch):
    study, recipes = study_of(tmp_path), datasheet_set.RECIPES
    assert released_set(study, "screen", 1).count == 184
    with monkeypatch.context() as changed:
        changed.setitem(recipes, "screen", replace(recipes["screen"], vacuum=3))
        assert released_set(study, "screen", 1) is None
    with monkeypatch.context() as changed:
        changed.setattr(stimuli, "MAKERS", [*stimuli.MAKERS, "another/1"])
        assert released_set(study, "screen", 1) is None
    with monkeypatch.context() as changed:
        changed.setattr(stimuli, "families_digest", lambda: "another text")
        assert released_set(study, "screen", 1) is None
    assert released_set(study, "screen", 1).count == 184
