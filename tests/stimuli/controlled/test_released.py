"""The sets that ship with the package are what the tasks, recipes and makers give, and every gate was tried on them."""

from dataclasses import asdict, replace

import pytest

from tests.stimuli.released import SIZES, folder_of, gates, made, materials_for
from umpirical.protocols.datasheet.stimuli import RELEASED, released_set
from umpirical.stimuli.controlled.datasheet_set import recipe
from umpirical.store.stimulus_sets import StimulusSet


@pytest.mark.heavy
@pytest.mark.parametrize("size", SIZES)
def test_a_released_set_is_made_again_byte_for_byte_and_passes_every_gate(size):
    released, again = StimulusSet(folder_of(size)), made(size)
    assert [stimulus.id for stimulus in released] == [stimulus.id for stimulus in again]
    assert list(released) == again, "a field that is not in the ids differs: run `just released`"
    found = [asdict(gate) for gate in gates(size, again, released)]
    assert found == released.manifest["gates"]
    assert all(gate["passed"] for gate in found if gate["blocks"])


def test_nothing_else_ships():
    assert sorted(folder.name for folder in RELEASED.iterdir()) == sorted(folder_of(size).name for size in SIZES)


def test_a_set_is_found_only_by_all_that_it_is_made_of():
    materials, size = materials_for("screen"), recipe("screen")
    found = released_set(materials, size, 1)
    assert found is not None
    assert found.count == 184
    assert released_set(materials, size, 2) is None
    assert released_set(materials, replace(size, vacuum=3), 1) is None
    other = replace(materials.twins[0].versions[0], prompt="another prompt")
    twin = replace(materials.twins[0], versions=(other, materials.twins[0].versions[1]))
    assert released_set(replace(materials, twins=(twin, *materials.twins[1:])), size, 1) is None
